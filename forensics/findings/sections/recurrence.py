"""How often it happened, over what the coverage allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forensics.findings.primary import edge_refs, in_window, main_pool, replicas
from forensics.model.facts import Coverage, Daily, Incidents
from forensics.model.finding import Finding, Grade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.findings.signals import Signals


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
        rows = in_window(signals, pool)
        mine = replicas(signals, pool)
        names = {group.service for group in mine}
        days_ = {
            item.date
            for item in signals.facts[Daily].items
            if item.signature == pool.signature and item.service in names
        }
        yield Finding(
            "recurrence.sum",
            "recurrence",
            Grade.DERIVED,
            {
                "inside": int(rows["sure"].sum()),
                "total": sum(group.failures for group in mine),
                "days": len(days_),
                "least": any(group.bound == "at_least" for group in mine),
            },
            pool.refs[:2],
            formula="window + outside = all",
        )
