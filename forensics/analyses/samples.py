"""How full was the resource before, during and after?

Between two samples nothing is known: a plateau is told by its first and last sample and their period.
"""

from __future__ import annotations

from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.model.facts import Facts, Incident, Incidents, Samples, SampleSeries
from forensics.model.plug import Analysis
from forensics.model.source import Ref

if TYPE_CHECKING:
    from forensics.model.digest import Evidence
    from forensics.model.known import Known

SECOND = 1_000_000
AT_ONCE = SECOND
"""Samples closer than this are one look at the gauge, asked in two ways."""


def samples(evidence: Evidence, known: Known, facts: Facts) -> Samples:
    """Return every gauge once; two sources of the same gauge are told as one, the one with more samples."""
    del known
    table = (
        evidence["samples"]
        .filter(pl.col("ts").is_not_null() & pl.col("value").is_not_null())
        .sort("source", "ts", "line")
    )
    made = [
        one(str(series), part.sort("ts", "line").to_dicts(), facts)
        for (_, series), part in table.group_by("source", "series", maintain_order=True)
    ]
    unique: dict[tuple[float, float | None], SampleSeries] = {}
    for item in made:
        key = (item.peak, item.limit)
        if key not in unique or item.n > unique[key].n:
            unique[key] = item
    return Samples(tuple(sorted(unique.values(), key=lambda item: (-item.n, item.series))))


def one(name: str, rows: list[dict[str, Any]], facts: Facts) -> SampleSeries:
    """Describe one gauge around the first incident, and around the primary one."""
    times = [row["ts"] for row in rows]
    gaps = [b - a for a, b in pairwise(times) if b - a >= AT_ONCE]
    first = next(iter(facts[Incidents].items), None)
    before, _, after, _ = around(rows, first, facts)
    primary = facts[Incidents].primary()
    p_before, p_peak, p_after, plateau = around(rows, primary, facts)
    peak = max(rows, key=lambda row: (row["value"], -row["ts"]))
    limits = [row["limit"] for row in rows if row["limit"] is not None]
    chart = tuple(
        (row["ts"], row["value"]) for row in rows if primary is None or near(row["ts"], primary, facts)
    )
    refs = {
        key: Ref(row["source"], row["line"])
        for key, row in (
            ("before", p_before),
            ("peak", p_peak or peak),
            ("after", p_after),
            ("all_peak", peak),
        )
        if row
    }
    return SampleSeries(
        series=name, period_s=round(median(gaps) / SECOND, 3) if gaps else None, before=before["value"] if before else None, peak=peak["value"], after=after["value"] if after else None,
        limit=max(limits) if limits else None, around=chart, incident_before=pair(p_before), incident_peak=pair(p_peak), incident_after=pair(p_after), plateau=plateau, refs=refs, n=len(rows),
    )  # fmt: skip


def settled(rows: list[dict[str, Any]], half: float | None) -> dict[str, Any] | None:
    """Return the sample nearest to an incident that is not part of its plateau.

    A pool is full before its first wait runs out, and empties after its last: the nearest sample may still, or already,
    lie on the plateau, above half the rise.
    """
    off = next((row for row in rows if half is not None and row["value"] < half), None)
    return off or next(iter(rows), None)


def pair(row: dict[str, Any] | None) -> tuple[int, float] | None:
    """Return when and how much."""
    return (row["ts"], row["value"]) if row else None


def near(ts: int, incident: Incident, facts: Facts) -> bool:
    """Does an instant lie in the incident or in as much time around it?"""
    end = incident.end or facts[Incidents].last or incident.start
    margin = max(600 * SECOND, end - incident.start)
    return incident.start - margin <= ts <= end + margin


def around(
    rows: list[dict[str, Any]], incident: Incident | None, facts: Facts
) -> tuple[dict[str, Any] | None, dict[str, Any] | None, dict[str, Any] | None, tuple[int, int, int] | None]:
    """Return the last sample before an incident, its peak, the first after it, and the plateau at the peak."""
    if incident is None:
        return None, None, None, None
    end = incident.end or facts[Incidents].last or incident.start
    inside = [row for row in rows if incident.start < row["ts"] <= end]
    peak = max(inside, key=lambda row: (row["value"], -row["ts"]), default=None)
    earlier, later = (
        [row for row in reversed(rows) if row["ts"] <= incident.start],
        [row for row in rows if row["ts"] > end],
    )
    outside = [row["value"] for row in (*earlier, *later)]
    half = (median(outside) + peak["value"]) / 2 if outside and peak else None
    before, after = settled(earlier, half), settled(later, half) if incident.end is not None else None
    at_peak = [row["ts"] for row in inside if peak and row["value"] == peak["value"]]
    return before, peak, after, (at_peak[0], at_peak[-1], len(at_peak)) if at_peak else None


PLUG = Analysis(
    name="samples",
    question="How full was the resource before, during and after?",
    gives=Samples,
    run=samples,
    needs=(Incidents,),
)
