"""What the server's own work and its slow statements weigh: nothing where there was as much of it outside the incident."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forensics.findings.signals import MINUTE
from forensics.model.facts import Upkeeps
from forensics.model.finding import Finding, Grade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.findings.signals import Signals
    from forensics.model.facts import Deadlock, Upkeep

MORE = 3.0
"""Rate inside against that outside from which work weighs: less is how such work scatters over a day."""
FEWEST = 2
"""One piece of work has no rate."""
STALLED_S = 1.0
"""A checkpoint that waits for the disk as long as this, and ten times as long as usual, tells of the disk."""
LONGER = 10.0
LONG_S = 60.0
"""Autovacuum of a table for as long as this can be felt on its disk."""


def more_often(one: Upkeep) -> bool:
    """Was there clearly more of it inside than outside? Without an outside to compare with, there is no telling."""
    return (
        one.inside >= FEWEST
        and one.per_hour_outside is not None
        and one.per_hour_inside >= MORE * one.per_hour_outside
    )


def weighs(one: Upkeep) -> bool:
    """Is a kind of work worth a word?"""
    if one.kind == "checkpoint":
        waited = (one.sync_s or 0) >= STALLED_S and (one.sync_s or 0) >= LONGER * (one.usual_sync_s or 0)
        return waited or more_often(one)
    if one.kind == "autovacuum":
        return one.waiters > 0 or ((one.longest_s or 0) >= LONG_S and (one.outside == 0 or more_often(one)))
    return slow(one)


def slow(one: Upkeep) -> bool:
    """Do slow statements belong to the incident? Those that are as frequent outside do not."""
    return one.kind == "statement" and (one.per_hour_outside is None or more_often(one) or one.outside == 0)


def findings(signals: Signals, section: str) -> Iterator[Finding]:
    """Yield what belongs to a section: what held a lock, slow statements and deadlocks are mechanism, coincidences are clues."""
    for one in signals.facts[Upkeeps].items:
        if not weighs(one):
            continue
        if one.kind == "autovacuum" and one.waiters:
            if section == "mechanism":
                yield Finding("mechanism.autovacuum", section, Grade.VERIFIED, {"upkeep": one}, one.refs)
        elif one.kind == "statement":
            if section == "mechanism":
                yield Finding("mechanism.statements", section, Grade.VERIFIED, {"upkeep": one}, one.refs)
        elif section == "clues":
            yield Finding("clue.upkeep", section, Grade.CLUE, {"upkeep": one}, one.refs)
    if section == "mechanism" and (near := deadlocks_near(signals)):
        refs = tuple(one.ref for one in near)
        yield Finding(
            "mechanism.deadlocks", section, Grade.VERIFIED, {"n": len(near), "first": near[0]}, refs[:4]
        )


def deadlocks_near(signals: Signals) -> list[Deadlock]:
    """Return the deadlocks that touch the incident."""
    lo, hi = signals.window
    return [one for one in signals.facts[Upkeeps].deadlocks if lo - MINUTE <= one.at <= hi + MINUTE]
