"""Every statement that the code names is in the catalogue, and those about clocks read well."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import forensics
from forensics.model import texts
from forensics.model.facts import ClockOffset
from forensics.model.source import Ref
from forensics.report.statements import Statements, catalogue

CODE = Path(forensics.__file__).parent
TABLES = "summary|times|impact|mechanism|ruled_out|alert|recurrence|noise|clue|why\\.[a-z_]+|open|row|act|title|unfilled"
NAMED = sorted(
    {
        match[1]
        for part in ("report", "findings")
        for path in (CODE / part).rglob("*.py")
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
    assert "1 line about" in Statements("en", "UTC").say("why.oom.killed", {"n": 1, "who": []})
    assert "2 lines about" in Statements("en", "UTC").say("why.oom.killed", {"n": 2, "who": ["node"]})


@pytest.mark.parametrize("language", texts.languages())
def test_a_duration_inside_brackets_opens_none(language: str) -> None:
    """Brackets do not nest: a duration inside some shows its larger units without its own."""
    nested = []
    for table, rows in catalogue(language).items():
        for name, text in rows.items():
            depth = 0
            for piece in re.split(r"(\{\{.*?\}\}|\{%.*?%\}|[()])", text):
                depth += (piece == "(") - (piece == ")")
                if depth > 0 and re.search(r"\|\s*(?:secs|between)\b(?!\(inside=true\))", piece):
                    nested.append(f"{table}.{name}: {piece}")

    assert nested == []
    say = Statements(language, "UTC")
    assert (say.secs(542), say.secs(542, inside=True)) == ("542 s (9 min 2 s)", "542 s = 9 min 2 s")


def test_the_end_of_a_span_repeats_no_date() -> None:
    """On the day of its start an end is a time of day; on another, or with another offset, it has both."""
    say = Statements("en", "Europe/Paris")
    start = 1_792_886_400_000_000  # 2026-10-25 02:00 in summer time

    assert say.at(start) == "2026-10-25 02:00:00 +02:00"
    assert say.till(start + 60_000_000, start) == "02:01:00"
    assert say.till(start + 3_600_000_000, start) == "2026-10-25 02:00:00 +01:00"
    assert say.till(start + 86_400_000_000, start) == "2026-10-26 01:00:00 +01:00"


def test_a_count_shows_its_bounds() -> None:
    """A count that is known between two numbers shows both, in the form of the language."""
    assert [Statements("en", "UTC").count(edges) for edges in ((26, 27), (26, 26), (26, None))] == [
        "26 to 27",
        "26",
        "26",
    ]
    assert Statements("pt-BR", "UTC").count((1026, 1027)) == "1.026 a 1.027"


@pytest.mark.parametrize(
    ("offset_s", "uncertainty_s", "english", "portuguese"),
    [
        (-0.0004, 0.0001, "clock agrees with that of gateway within 0.01 s", "relógio concorda com o de gateway em até 0,01 s"),
        (-0.02, 0.01, "clock 0.02 s (±0.01 s) behind that of gateway", "relógio 0,02 s (±0,01 s) atrasado"),
    ],
)  # fmt: skip
def test_clocks_that_differ_by_less_than_is_shown_agree(
    offset_s: float, uncertainty_s: float, english: str, portuguese: str
) -> None:
    """0 s behind is not behind."""
    offset = ClockOffset(0, 1, offset_s, uncertainty_s, "requests", 9, (Ref(0, 1), Ref(1, 1)))

    for tag, words in (("en", english), ("pt-BR", portuguese)):
        said = Statements(tag, "UTC").say("title.offset", {"offset": offset, "source": "gateway"})
        assert said.startswith(words)
