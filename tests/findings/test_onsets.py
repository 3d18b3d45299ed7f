"""What an event that people know of is near to: the nearest onset, not always the incident's start."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from findings_evidence import API, HI, LO, SECOND, SERVER, Draft, signals, stall

from forensics.findings.sections.clues import clues
from forensics.model.known import KnownEvent
from forensics.report.statements import Statements

if TYPE_CHECKING:
    from forensics.findings.signals import Signals

REFUSED = LO + 120 * SECOND
POOL = "sqlalchemy.queuepool-timeout"


@pytest.mark.parametrize(
    ("at", "english", "portuguese"),
    [
        (
            REFUSED - 3 * SECOND,
            "lies 3 s before the first failure of postgres (PostgreSQL: connection limit reached), 2026-11-29 12:12:00 +00:00: close in time; nothing in these inputs ties them together",
            "ocorre 3 s antes da primeira falha de postgres (PostgreSQL: limite de conexões atingido), 2026-11-29 12:12:00 +00:00: próximos no tempo; nada nestas entradas os liga",
        ),
        (
            LO + 50 * SECOND,
            "lies 10 s before the first failure of api (SQLAlchemy pool: no connection became free in time), 2026-11-29 12:11:00 +00:00: close in time;",
            "ocorre 10 s antes da primeira falha de api (",
        ),
        (
            LO + 4 * SECOND,
            "lies 4 s after the start of incident 1: close in time;",
            "ocorre 4 s depois do início do incidente 1: próximos no tempo;",
        ),
        (
            LO - 700 * SECOND,
            "lies 700 s (11 min 40 s) before the start of incident 1: nothing in these inputs ties them together",
            "antes do início do incidente 1: nada nestas entradas os liga",
        ),
        (
            HI + 100 * SECOND,
            "lies 280 s (4 min 40 s) after the first failure of postgres (",
            "ocorre 280 s (4 min 40 s) depois da primeira falha de postgres (",
        ),
    ],
)
def test_a_clue_counts_from_what_it_is_near_to(at: int, english: str, portuguese: str) -> None:
    """A deploy 3 s before the first refusal is told as that, wherever the incident began; that nothing ties them is all that is said."""
    draft = Draft()
    draft.fail(POOL, n=3)
    draft.fail("postgres.too-many-clients", SERVER, n=4, at=REFUSED)
    found = told_of(draft, at)
    (clue,) = [one for one in clues(found) if one.key == "clue.event"]

    assert english in Statements("en", "UTC").say(clue.key, clue.values)
    assert portuguese in Statements("pt-BR", "UTC").say(clue.key, clue.values)
    assert clue.refs == (clue.values["onset"].ref,)


def test_a_stall_is_an_onset() -> None:
    """Of two onsets at one instant the incident's start names both; a stall that begins later stands for itself."""
    draft = Draft()
    one = stall(draft)
    draft.put(replace(one, start=LO + 60 * SECOND, end=LO + 90 * SECOND))
    (clue,) = [one for one in clues(told_of(draft, LO + 55 * SECOND)) if one.key == "clue.event"]

    assert f"lies 5 s before {API} stood still, 2026-11-29 12:11:00 +00:00:" in Statements("en", "UTC").say(
        clue.key, clue.values
    )


def told_of(draft: Draft, at: int) -> Signals:
    """Return what the rules see of a draft with one event that the case file states."""
    found = signals(draft)
    return replace(found, known=replace(found.known, events=(KnownEvent(at, "deploy", "v2"),)))
