"""How often it happened, over what the coverage allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forensics.findings.primary import called, edge_refs, in_window, main_pool, replicas, sum_max
from forensics.findings.signals import replica_of
from forensics.model.facts import Coverage, Daily, Incidents
from forensics.model.finding import Finding, Grade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.findings.signals import Signals
    from forensics.model.facts import FailureGroup


def recurrence(signals: Signals) -> Iterator[Finding]:
    """Say what the coverage allows, then how often it happened."""
    cover = signals.facts[Coverage].of(signals.unit)
    if cover is None:
        return
    days = signals.facts[Daily].days
    yield Finding(
        "recurrence.coverage",
        "recurrence",
        Grade.VERIFIED,
        {
            "service": cover.service,
            "name": replica_of(cover.service),
            "replicas": len(signals.fleet),
            "first": cover.first,
            "last": cover.last,
            "partial": [day for day, cut in days if cut],
        },
        (cover.first_ref, cover.last_ref),
    )
    others = [item for item in signals.facts[Incidents].items if item is not signals.primary]
    if others:
        refs = tuple(ref for item in others for ref in edge_refs(item)[:1])
        yield Finding(
            "recurrence.others",
            "recurrence",
            Grade.DERIVED,
            {"n": len(others), "incidents": others},
            refs[:4],
        )
    pool = main_pool(signals)
    if pool is not None and signals.primary is not None:
        yield summed(signals, pool)


def summed(signals: Signals, pool: FailureGroup) -> Finding:
    """Say how the failures of the main pool lie in the window and outside of it, each number with its upper bound where it has one."""
    rows = in_window(signals, pool)
    mine = replicas(signals, pool)
    names = {group.service for group in mine}
    inside, total = int(rows["sure"].sum()), sum(group.failures for group in mine)
    most = sum_max(mine)
    days = {
        item.date
        for item in signals.facts[Daily].items
        if item.signature == pool.signature and item.service in names
    }
    return Finding(
        "recurrence.sum",
        "recurrence",
        Grade.DERIVED,
        {
            **called(signals, pool),
            "title": signals.known.signatures[pool.signature].title,
            "inside": (inside, None if most is None else rows.height),
            "outside": (total - inside, None if most is None else most - rows.height),
            "total": (total, most),
            "days": len(days),
            "least": any(group.bound == "at_least" for group in mine),
        },
        pool.refs[:2],
        formula="window + outside = all",
    )
