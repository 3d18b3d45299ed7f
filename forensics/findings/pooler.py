"""What a pooler's pages and statistics tell: whether its clients waited for a server connection, and whether the server was slower meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forensics.findings.signals import SECOND
from forensics.model.facts import Poolers
from forensics.model.finding import Finding, Grade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.findings.signals import Signals
    from forensics.model.facts import PoolerStats, PoolState

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


def queued(signals: Signals) -> list[PoolerStats]:
    """Return the statistics that show far more waiting inside the incident than outside."""
    return [
        one
        for one in signals.facts[Poolers].stats
        if one.wait_inside >= WAITED
        and (one.wait_outside is None or one.wait_inside >= TIMES * one.wait_outside)
    ]


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
    for stats in queued(signals)[:1]:
        slower = (
            stats.query_outside_ms is not None
            and stats.query_inside_ms >= SLOWER * stats.query_outside_ms > 0
        )
        yield Finding(
            "mechanism.pooler_stats",
            section,
            Grade.VERIFIED,
            {"stats": stats, "slower": slower},
            (stats.ref,),
        )
