"""The JSON Schema of ``report.json``, shipped as package data.

Reference: https://json-schema.org/draft/2020-12
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any


def schema() -> dict[str, Any]:
    """Load the JSON Schema (2020-12) of ``forensics.report/1``; each call returns a fresh copy."""
    text = files("forensics.report").joinpath("report.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded
