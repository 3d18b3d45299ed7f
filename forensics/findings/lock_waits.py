"""Who waited for whom, by the server's log: a part of the mechanism in the incident or where there is none, elsewhere a clue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forensics.findings.signals import MINUTE, SECOND
from forensics.model.facts import Locks
from forensics.model.finding import Finding, Grade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.findings.signals import Signals
    from forensics.model.facts import LockGroup, LockWait

MOST = 3
"""Holders that are named in the mechanism."""
FAR = 2
"""Holders that are named of waits outside the incident."""


def apart(signals: Signals, first: int, last: int) -> float | None:
    """Return how far a span lies before (negative) or after the incident, in seconds; None where they touch, or where there is no incident."""
    lo, hi = signals.window
    if signals.primary is None or (first <= hi + MINUTE and last >= lo - MINUTE):
        return None
    return (last - lo if last < lo else first - hi) / SECOND


def apart_of(signals: Signals, group: LockGroup) -> float | None:
    """Return how far the nearest wait of a group lies from the incident; None where one touches it, or where there is no incident.

    The waits count, not the span from the first to the last: of a holder without a name they may lie hours apart.
    """
    every = [apart(signals, one.began, one.last) for one in group.waits]
    return None if None in every else min((one for one in every if one is not None), key=abs, default=None)


def touching(signals: Signals) -> list[LockWait]:
    """Return the waits that overlap the incident, with a minute around it, each once however many lines tell of it."""
    return [
        wait
        for group in signals.facts[Locks].groups
        for wait in group.waits
        if apart(signals, wait.began, wait.last) is None
    ]


def told(signals: Signals) -> list[LockGroup]:
    """Return the lock waits that touch the incident, all where there is none, the holder with most waiters first."""
    return [one for one in signals.facts[Locks].groups if apart_of(signals, one) is None]


def findings(signals: Signals, section: str) -> Iterator[Finding]:
    """Yield who waited for whom, and what is known of the holder: in ``mechanism`` or, outside the incident, in ``clues``."""
    near = told(signals)
    far = [one for one in signals.facts[Locks].groups if one not in near]
    for group in near[:MOST] if section == "mechanism" else far[:FAR]:
        yield Finding(
            "mechanism.locks",
            section,
            Grade.VERIFIED if section == "mechanism" else Grade.CLUE,
            {
                "group": group,
                "n": len(group.waiters),
                "apart": apart_of(signals, group),
                "seen": group.seen_waiting,
            },
            (*group.refs[:3], *group.holder_refs[:1], *(one.member.ref for one in group.seen[:2])),
        )
