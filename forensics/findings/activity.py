"""What snapshots of a database's sessions tell: an instant each, the one that shows most of the incident first.

A snapshot inside the incident is part of the mechanism; one outside, or without an instant, is a clue at most: it says nothing about the incident's
own instants. Where there is no incident it is told for itself. The summary and the timeline have it in any case. Sessions of a pool that are plainly
idle are counted and never named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forensics.findings.signals import SECOND
from forensics.model.facts import Sessions
from forensics.model.finding import Finding, Grade, Moment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.findings.signals import Signals
    from forensics.model.facts import Snapshot

BLOCKERS = 2
"""Heads of queues that are named."""
ROWS = 3
"""Snapshots that are rows of the timeline."""
REFS = 4


def told(signals: Signals) -> Snapshot | None:
    """Return the snapshot that tells most: of those inside the incident the one with most waits, else the nearest, an undated one last."""
    lo, hi = signals.window
    inside = signals.snapshots
    if inside:
        return max(inside, key=weight)
    every = signals.facts[Sessions].snapshots
    dated = [one for one in every if one.at is not None]
    if signals.primary is None:
        return max(dated or every, key=weight, default=None)
    if dated:
        return min(dated, key=lambda one: max(lo - (one.at or 0), (one.at or 0) - hi))
    return next(iter(every), None)


def section_of(signals: Signals, snapshot: Snapshot) -> str:
    """Return where a snapshot belongs: ``mechanism`` inside the incident, or where there is none, else ``clues``."""
    return "mechanism" if signals.primary is None or snapshot in signals.snapshots else "clues"


def weight(snapshot: Snapshot) -> tuple[int, float, int, int]:
    """Order snapshots by how much they show: waits, then the oldest idle transaction, then sessions; the first of equals."""
    oldest = max((one.age_s or 0 for one in snapshot.idlers), default=0)
    return snapshot.waiting, oldest, snapshot.total, -(snapshot.at or 0)


def findings(signals: Signals, section: str) -> Iterator[Finding]:
    """Yield what the snapshot that tells most says, if it belongs to a section (``mechanism`` or ``clues``)."""
    snapshot = told(signals)
    if snapshot is None:
        return
    if section == ("mechanism" if signals.primary is None else "clues"):
        yield from elsewhere(signals, snapshot, section)
    if section != section_of(signals, snapshot):
        return
    values: dict[str, Any] = {"snapshot": snapshot, "apart": apart(signals, snapshot)}
    clue = section == "clues"
    if snapshot.total:
        more = len(signals.facts[Sessions].snapshots) - 1
        grade = Grade.CLUE if clue else Grade.VERIFIED
        yield Finding("mechanism.sessions", section, grade, {**values, "more": more}, (snapshot.ref,))
    if signals.facts[Sessions].candidates(snapshot):
        yield idle(signals, snapshot, section)
    for blocker in snapshot.blockers[:BLOCKERS]:
        grade = Grade.CLUE if clue else Grade.VERIFIED
        yield Finding(
            "mechanism.blocker", section, grade, {**values, "blocker": blocker}, blocker.refs[:REFS]
        )


def idle(signals: Signals, snapshot: Snapshot, section: str) -> Finding:
    """Name the transactions of a snapshot that were idle for longer than the threshold."""
    candidates = signals.facts[Sessions].candidates(snapshot)
    return Finding(
        "mechanism.idle_in_transaction",
        section,
        Grade.CLUE if section == "clues" else Grade.DERIVED,
        {
            "snapshot": snapshot,
            "apart": apart(signals, snapshot),
            "idlers": candidates,
            "threshold": signals.facts[Sessions].idle_s,
        },
        tuple(one.ref for one in candidates[:REFS]),
        alternatives=("a transaction that is meant to be long",),
    )


def elsewhere(signals: Signals, shown: Snapshot, section: str) -> Iterator[Finding]:
    """Name long idle transactions of another snapshot where the one that is told has none: the oldest."""
    sessions = signals.facts[Sessions]
    others = [one for one in sessions.snapshots if one is not shown and sessions.candidates(one)]
    if others and not sessions.candidates(shown):
        yield idle(signals, max(others, key=weight), section)


def summary(signals: Signals) -> Iterator[Finding]:
    """Say in one sentence what a snapshot shows that lies in no incident."""
    snapshot = told(signals)
    if snapshot is None or not snapshot.total or snapshot in signals.snapshots:
        return
    values = {"snapshot": snapshot, "apart": apart(signals, snapshot)}
    yield Finding("summary.snapshot", "summary", Grade.VERIFIED, values, (snapshot.ref,))


def apart(signals: Signals, snapshot: Snapshot) -> float | None:
    """Return how far a snapshot lies before (negative) or after the incident, in seconds; None inside, without either, or undated."""
    if signals.primary is None or snapshot.at is None:
        return None
    lo, hi = signals.window
    if lo - SECOND <= snapshot.at <= hi + SECOND:
        return None
    return (snapshot.at - (lo if snapshot.at < lo else hi)) / SECOND


def moments(signals: Signals) -> Iterator[Moment]:
    """Yield the snapshots that show most, in time order: those inside the incident, else the one that is told; all are candidates where there is no incident."""
    shown = told(signals)
    every = signals.snapshots if signals.primary else signals.facts[Sessions].snapshots
    found = every or tuple(filter(None, [shown]))
    dated = sorted((one for one in found if one.at is not None and one.total), key=weight)[-ROWS:]
    for snapshot in dated:
        assert snapshot.at is not None
        values = {"snapshot": snapshot}
        yield Moment(snapshot.at, "snapshot", None, "row.snapshot", values, Grade.VERIFIED, (snapshot.ref,))
