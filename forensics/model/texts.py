"""Where the report's texts lie, and the languages that they are in.

A language is there when it has a table of statements, ``templates/statements/TAG.toml``; English is the language that
templates, hypotheses and signatures are written in, every other one also has ``templates/locale/TAG.po``.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

ENGLISH = "en"


def root() -> Traversable:
    """Return the folder of the templates: the wheel's package data, else the checkout's ``templates/``."""
    packed = files("forensics") / "_templates"
    return packed if packed.is_dir() else Path(__file__).parents[2] / "templates"


def languages() -> tuple[str, ...]:
    """Return the tags of all languages, English first."""
    tags = {file.name.removesuffix(".toml") for file in (root() / "statements").iterdir()}
    return (ENGLISH, *sorted(tags - {ENGLISH}))
