"""What snapshots of a database's sessions tell: an instant each, the one that shows most of the incident first.

A snapshot inside the incident is part of the mechanism; one outside, or without an instant, is a clue at most: it says nothing about the incident's
own instants. Sessions of a pool that are plainly idle are counted and never named.
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
    if dated:
        return min(dated, key=lambda one: max(lo - (one.at or 0), (one.at or 0) - hi))
    return next(iter(every), None)


def weight(snapshot: Snapshot) -> tuple[int, float, int, int]:
    """Order snapshots by how much they show: waits, then the oldest idle transaction, then sessions; the first of equals."""
    oldest = max((one.age_s or 0 for one in snapshot.idlers), default=0)
    return snapshot.waiting, oldest, snapshot.total, -(snapshot.at or 0)


def findings(signals: Signals, section: str) -> Iterator[Finding]:
    """Yield what the snapshot that tells most says, if it belongs to a section (``mechanism`` or ``clues``)."""
    snapshot = told(signals)
    if snapshot is None:
        return
    if section != ("mechanism" if snapshot in signals.snapshots else "clues"):
        if section == "clues" and not signals.facts[Sessions].candidates(snapshot):
            yield from elsewhere(signals, snapshot)
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


def elsewhere(signals: Signals, shown: Snapshot) -> Iterator[Finding]:
    """Name long idle transactions of another snapshot where the one that is told has none: the oldest, as a clue."""
    others = [
        one
        for one in signals.facts[Sessions].snapshots
        if one is not shown and signals.facts[Sessions].candidates(one)
    ]
    if others:
        yield idle(signals, max(others, key=weight), "clues")


def apart(signals: Signals, snapshot: Snapshot) -> float | None:
    """Return how far a snapshot lies before (negative) or after the incident, in seconds; None inside, without either, or undated."""
    if signals.primary is None or snapshot.at is None:
        return None
    lo, hi = signals.window
    if lo - SECOND <= snapshot.at <= hi + SECOND:
        return None
    return (snapshot.at - (lo if snapshot.at < lo else hi)) / SECOND


def moments(signals: Signals) -> Iterator[Moment]:
    """Yield snapshots inside the incident that show most, in time order; none where the timeline has no incident."""
    for snapshot in sorted(signals.snapshots, key=weight)[-ROWS:]:
        if signals.primary is not None and snapshot.at is not None:
            yield Moment(
                snapshot.at,
                "snapshot",
                None,
                "row.snapshot",
                {"snapshot": snapshot},
                Grade.VERIFIED,
                (snapshot.ref,),
            )
