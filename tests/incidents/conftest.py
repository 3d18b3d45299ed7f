"""Tests of whole reports: the goldens' module lies one folder above, the path language beside."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [folder for folder in (str(HERE), str(HERE.parent)) if folder not in sys.path]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of one incident in one process: each reads the whole incident once."""
    import golden

    known = frozenset(golden.names())
    for item in items:
        values = getattr(item, "callspec", None)
        for value in values.params.values() if values else ():
            if isinstance(value, str) and value in known:
                item.add_marker(pytest.mark.xdist_group(value))
                break
