"""Failures of one kind are one row of the timeline until something turned."""

from __future__ import annotations

from typing import Any

from forensics.findings.timeline import joined
from forensics.model.finding import Grade, Moment
from forensics.model.source import Ref

SECOND = 1_000_000


def failed(at: int, until: int, n: int, service: str = "api") -> Moment:
    """Return a row of failures."""
    values = {"n": n, "most": n + 1, "title": "T", "until": until * SECOND, "signature": "os.no-space"}
    refs = (Ref(0, at), Ref(0, until))
    return Moment(at * SECOND, "failures", service, "row.failures", values, Grade.VERIFIED, refs)


def event(at: int, kind: str, title: str) -> Moment:
    """Return a row of something else."""
    return Moment(at * SECOND, kind, "api", "row.lifecycle", {"title": title}, Grade.VERIFIED, (Ref(1, at),))


def said(rows: list[Moment]) -> list[Any]:
    """Return when each row is and how many failures it counts."""
    return [(row.at // SECOND, row.values.get("n"), row.values.get("most")) for row in rows]


def test_bursts_of_one_kind_are_one_row_with_count_and_span() -> None:
    """Three bursts are seven failures from the first to the last; those of another service are their own."""
    rows = joined([failed(1, 2, 2), failed(30, 31, 2), failed(40, 41, 9, "web"), failed(90, 95, 3)])
    assert said(rows) == [(1, 7, 10), (40, 9, 10)]
    assert rows[0].values["until"] == 95 * SECOND
    assert rows[0].refs == (Ref(0, 1), Ref(0, 95))


def test_what_turned_begins_a_new_row_and_its_repeats_do_not() -> None:
    """A restart parts the failures before it from those after; the tenth of a loop does not, and a sample never does."""
    rows = joined(
        [
            failed(1, 2, 2),
            event(10, "start", "started"),
            failed(20, 21, 2),
            event(30, "start", "started"),
            event(31, "sample", "s"),
            failed(40, 41, 3),
        ]
    )
    assert said([row for row in rows if row.kind == "failures"]) == [(1, 2, 3), (20, 5, 7)]
