"""How full was the resource before, during and after?

Between two samples nothing is known: a plateau is told by its first and last sample and their period. A gauge that was looked at again and again, each
time into a file of its own (``activity-0940.txt``, ``activity-0941.txt``), is one gauge: the names differ in digits alone, and the files cover one
time after another, in the order of their digits.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.model.facts import Facts, Incident, Incidents, Samples, SampleSeries
from forensics.model.frames import middle, most
from forensics.model.plug import Analysis
from forensics.model.source import Ref

if TYPE_CHECKING:
    from forensics.model.digest import Evidence
    from forensics.model.known import Known
    from forensics.model.source import Source

SECOND = 1_000_000
DIGITS = re.compile(r"[0-9]{1,18}")
CLOCK = 4
"""Digits of a time of day: fewer may count servers."""
SEVERAL = 3
"""Numbered files from which they are taken for one gauge without a time in their names."""
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
    gauges = joined(table, evidence.sources)
    made = [
        one(str(series), part.sort("ts", "source", "line"), facts)
        for (_, series), part in table.join(gauges, on=["source", "series"], maintain_order="left").group_by(
            "gauge", "series", maintain_order=True
        )
    ]
    unique: dict[tuple[float, float | None], SampleSeries] = {}
    for item in made:
        key = (item.peak, item.limit)
        if key not in unique or item.n > unique[key].n:
            unique[key] = item
    return Samples(tuple(sorted(unique.values(), key=lambda item: (-item.n, item.series))))


def joined(table: pl.DataFrame, sources: tuple[Source, ...]) -> pl.DataFrame:
    """Return source and series with ``gauge``, the first of the sources in which they are the same gauge."""
    spans = table.group_by("source", "series").agg(
        first=pl.col("ts").min(), last=pl.col("ts").max(), limit=pl.col("limit").max()
    )
    families: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in spans.sort("series", "first", "source").iter_rows(named=True):
        source = sources[row["source"]]
        folder, _, file = source.name.rpartition("/")
        row["digits"] = DIGITS.findall(file)
        families.setdefault((row["series"], source.transport, folder, DIGITS.sub("#", file)), []).append(row)
    for rows in families.values():
        whole = len(rows) > 1 and in_turn(rows)
        for row in rows:
            row["gauge"] = rows[0]["source"] if whole else row["source"]
    found = [row for rows in families.values() for row in rows]
    return pl.DataFrame(
        [{key: row[key] for key in ("source", "series", "gauge")} for row in found],
        schema={"source": table.schema["source"], "series": pl.String, "gauge": pl.Int64},
    )


def in_turn(rows: list[dict[str, Any]]) -> bool:
    """Do files in time order tell of one gauge, one after another? Two of them need digits that may be a time, since ``db1`` and ``db2`` are two servers."""
    after = all(one["last"] < other["first"] for one, other in pairwise(rows))
    numbered = all(numbers(one) < numbers(other) for one, other in pairwise(rows))
    limits = {row["limit"] for row in rows} - {None}
    timely = len("".join(rows[0]["digits"])) >= CLOCK
    return after and numbered and len(limits) <= 1 and (timely or len(rows) >= SEVERAL)


def numbers(row: dict[str, Any]) -> list[int]:
    """Return the numbers in the name of a row's file."""
    return [int(part) for part in row["digits"]]


def one(name: str, rows: pl.DataFrame, facts: Facts) -> SampleSeries:
    """Describe one gauge around the first incident, and around the primary one."""
    first = next(iter(facts[Incidents].items), None)
    before, _, after, _ = around(rows, first, facts)
    primary = facts[Incidents].primary()
    p_before, p_peak, p_after, plateau = around(rows, primary, facts)
    peak = highest(rows) or {}
    chart = rows if primary is None else rows.filter(near(primary, facts))
    places = {"before": p_before, "peak": p_peak or peak, "after": p_after, "all_peak": peak}
    gaps = rows["ts"].diff().drop_nulls()
    period = middle(gaps.filter(gaps >= AT_ONCE))
    return SampleSeries(
        series=name, period_s=None if period is None else round(period / SECOND, 3), before=before["value"] if before else None, peak=peak["value"], after=after["value"] if after else None,
        limit=most(rows["limit"]), around=tuple(chart.select("ts", "value").iter_rows()), incident_before=pair(p_before), incident_peak=pair(p_peak), incident_after=pair(p_after), plateau=plateau,
        refs={key: Ref(row["source"], row["line"]) for key, row in places.items() if row}, n=rows.height,
    )  # fmt: skip


def highest(rows: pl.DataFrame) -> dict[str, Any] | None:
    """Return the first of the highest samples."""
    return first_of(rows.filter(pl.col("value") == pl.col("value").max()))


def first_of(rows: pl.DataFrame) -> dict[str, Any] | None:
    """Return the first row, None where there is none."""
    return rows.row(0, named=True) if rows.height else None


def settled(rows: pl.DataFrame, half: float | None) -> dict[str, Any] | None:
    """Return the sample nearest to an incident that is not part of its plateau.

    A pool is full before its first wait runs out, and empties after its last: the nearest sample may still, or already,
    lie on the plateau, above half the rise.
    """
    off = None if half is None else first_of(rows.filter(pl.col("value") < half))
    return off or first_of(rows)


def pair(row: dict[str, Any] | None) -> tuple[int, float] | None:
    """Return when and how much."""
    return (row["ts"], row["value"]) if row else None


def near(incident: Incident, facts: Facts) -> pl.Expr:
    """Tell instants in the incident or in as much time around it."""
    end = incident.end or facts[Incidents].last or incident.start
    margin = max(600 * SECOND, end - incident.start)
    return pl.col("ts").is_between(incident.start - margin, end + margin)


def around(
    rows: pl.DataFrame, incident: Incident | None, facts: Facts
) -> tuple[dict[str, Any] | None, dict[str, Any] | None, dict[str, Any] | None, tuple[int, int, int] | None]:
    """Return the last sample before an incident, its peak, the first after it, and the plateau at the peak."""
    if incident is None:
        return None, None, None, None
    end = incident.end or facts[Incidents].last or incident.start
    earlier, later = rows.filter(pl.col("ts") <= incident.start).reverse(), rows.filter(pl.col("ts") > end)
    inside = rows.filter((pl.col("ts") > incident.start) & (pl.col("ts") <= end))
    peak = highest(inside)
    outside = middle(pl.concat([earlier["value"], later["value"]]))
    half = (outside + peak["value"]) / 2 if outside is not None and peak else None
    before = settled(earlier, half)
    after = settled(later, half) if incident.end is not None else None
    at_peak = inside.filter(pl.col("value") == peak["value"])["ts"] if peak else inside["ts"].clear()
    return before, peak, after, (at_peak[0], at_peak[-1], len(at_peak)) if len(at_peak) else None


PLUG = Analysis(
    name="samples",
    question="How full was the resource before, during and after?",
    gives=Samples,
    run=samples,
    needs=(Incidents,),
)
