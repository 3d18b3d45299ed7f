"""What a pooler's pages and statistics tell: whether its clients waited for a server connection, and whether the server was slower meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forensics.findings.signals import SECOND
from forensics.model.facts import Poolers
from forensics.model.finding import Finding, Grade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.findings.signals import Signals
    from forensics.model.facts import PoolerPeriod, PoolerStats, PoolState

WAITED = 0.5
"""Seconds of waiting in each second from which clients of a pooler queue: less is what opening a connection takes."""
TIMES = 10
"""Waiting inside is this many times that outside, or the pooler is always like that."""
SLOWER = 3
"""A server is slower if queries take this many times as long."""


def inside(signals: Signals) -> list[PoolState]:
    """Return the pools that were shown inside the primary incident and in which clients waited, most first."""
    lo, hi = signals.window
    return sorted(
        (
            one
            for one in signals.facts[Poolers].states
            if signals.primary and one.waiting and one.at is not None and lo - SECOND <= one.at <= hi + SECOND
        ),
        key=lambda one: (-one.waiting, one.at or 0, one.pool),
    )


def queued(signals: Signals) -> list[tuple[PoolerStats, PoolerPeriod]]:
    """Return the statistics that show far more waiting at the incident than outside, with the period that shows it best: one wholly inside, if any does."""
    found = []
    for one in signals.facts[Poolers].stats:
        least = max(WAITED, TIMES * (one.wait_outside or 0))
        found += [(one, period) for period in one.worst if period.wait_s >= least][:1]
    return found


def findings(signals: Signals, section: str) -> Iterator[Finding]:
    """Yield what belongs to a section: inside the incident the mechanism, else the pool with most waits as a clue."""
    shown = inside(signals)
    if section == "clues":
        others = [one for one in signals.facts[Poolers].states if one.waiting]
        if others and not shown:
            most = max(others, key=lambda one: one.waiting)
            yield Finding(
                "mechanism.pooler",
                section,
                Grade.CLUE,
                {"state": most, "outside": signals.primary is not None},
                (most.ref,),
            )
        return
    for one in shown[:1]:
        yield Finding(
            "mechanism.pooler", section, Grade.VERIFIED, {"state": one, "outside": False}, (one.ref,)
        )
    for stats, period in queued(signals)[:1]:
        slower = stats.query_outside_ms is not None and period.query_ms >= SLOWER * stats.query_outside_ms > 0
        yield Finding(
            "mechanism.pooler_stats",
            section,
            Grade.VERIFIED,
            {"stats": stats, "period": period, "slower": slower},
            (period.ref,),
        )
