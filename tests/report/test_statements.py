"""Every statement that the code names is in the catalogue, and those about clocks read well."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import forensics
from forensics.report.statements import Statements, catalogue

CODE = Path(forensics.__file__).parent
TABLES = (
    "summary|times|impact|mechanism|alert|recurrence|noise|clue|why\\.[a-z_]+|open|row|act|title|unfilled"
)
NAMED = sorted(
    {
        match[1]
        for part in ("report", "findings")
        for path in (CODE / part).glob("*.py")
        for match in re.finditer(rf'"((?:{TABLES})\.[a-z_]+)"', path.read_text(encoding="utf-8"))
    }
)


def test_some_are_named() -> None:
    """The pattern above finds what it should."""
    assert {"title.offset", "title.lag", "title.undated"} <= set(NAMED)


@pytest.mark.parametrize("name", NAMED)
def test_named_statements_exist(name: str) -> None:
    """A statement that is missing would be found by a user."""
    table, _, key = name.rpartition(".")

    assert key in catalogue("en").get(table, {}), name


def test_one_line_is_no_lines() -> None:
    """Where there is one of a thing, its name is in the singular."""
    assert "1 line about" in Statements("en", "UTC").say("why.oom.killed", {"n": 1})
    assert "2 lines about" in Statements("en", "UTC").say("why.oom.killed", {"n": 2})
