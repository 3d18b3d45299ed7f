"""Did clients wait for a server connection of the pooler?

Its pages show who waits at an instant. Its log shows each period's time of waiting per second, which is added up over all clients and is counted when a
wait ends: so a period may show nothing while many wait, and the one after it the whole of it. A line ends its period, which begins with the line
before: one that lies partly inside the incident is an average of both, and is told as that; it counts neither as inside nor as outside.

Reference: https://www.pgbouncer.org/usage.html (avg_wait_time)
"""

from __future__ import annotations

import json
from statistics import median
from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.model.facts import Facts, Incidents, PoolerPeriod, Poolers, PoolerStats, PoolState
from forensics.model.plug import Analysis
from forensics.model.source import Ref

if TYPE_CHECKING:
    from forensics.model.digest import Evidence
    from forensics.model.known import Known

STATS = "pgbouncer.stats"
LATE_US = 60_000_000
"""The wait is counted in the period in which it ends, and the default period is a minute."""
HOLE = 1.5
"""A line that comes later than this many usual periods after the one before does not end a period that long."""
PLACES = ("inside", "partly", "after")
"""How a period lies to the incident, beside ``outside`` and ``unknown``."""

Row = dict[str, Any]


def poolers(evidence: Evidence, known: Known, facts: Facts) -> Poolers:
    """Return every pool that a page shows, and the periods of each log around the primary incident."""
    del known
    rows = evidence["poolers"].sort("ts", "source", "line", nulls_last=True)
    primary = facts[Incidents].primary()
    if primary is None:
        return Poolers(tuple(map(state, rows.to_dicts())), ())
    end = primary.end or facts[Incidents].last or primary.start
    hits = evidence["hits"].filter((pl.col("signature") == STATS) & pl.col("ts").is_not_null())
    found = [
        compared(str(service), part.to_dicts())
        for (service,), part in placed(hits, primary.start, end).group_by("service", maintain_order=True)
    ]
    stats = sorted(
        (one for one in found if one), key=lambda one: (-max(each.wait_s for each in one.worst), one.service)
    )
    return Poolers(tuple(map(state, rows.to_dicts())), tuple(stats))


def state(row: Row) -> PoolState:
    """Describe one pool."""
    return PoolState(
        at=row["ts"],
        dated=row["dated"],
        pool=row["pool"],
        clients=row["clients_active"] or 0,
        waiting=row["clients_waiting"] or 0,
        servers=row["servers_active"] or 0,
        idle=row["servers_idle"] or 0,
        longest_wait_s=row["longest_wait_s"],
        size=row["size"],
        ref=Ref(row["source"], row["line"]),
    )


def placed(hits: pl.DataFrame, lo: int, hi: int) -> pl.DataFrame:
    """Return lines of statistics in time order, with the ``start`` of the period that each ends, and how that lies to a span (``where``).

    A period begins with the line before of the same process; behind a hole, or where there is none, the usual time before its end.
    """
    end, start = pl.col("ts"), pl.col("start")
    gap = end - end.shift().over("service", "pid")
    usual = gap.median().over("service")
    begun = pl.when(gap <= HOLE * usual).then(end - gap).otherwise((end - usual).round().cast(pl.Int64))
    where = (
        pl.when(end <= lo).then(pl.lit("outside"))
        .when(start.is_null()).then(pl.when(end <= hi + LATE_US).then(pl.lit("partly")).otherwise(pl.lit("unknown")))
        .when(start < hi).then(pl.when((start >= lo) & (end <= hi)).then(pl.lit("inside")).otherwise(pl.lit("partly")))
        .otherwise(pl.when(end <= hi + LATE_US).then(pl.lit("after")).otherwise(pl.lit("outside")))
    )  # fmt: skip
    rows = hits.sort("service", "ts", "source", "line").with_columns(start=begun)
    return rows.with_columns(where=where)


def compared(service: str, rows: list[Row]) -> PoolerStats | None:
    """Compare the periods at the incident with the others; None where none touches it."""
    told: dict[str, list[tuple[Row, Row]]] = {}
    for row in rows:
        told.setdefault(row["where"], []).append((row, json.loads(row["parameters"])))
    worst = tuple(worst_of(where, told[where]) for where in PLACES if where in told)
    outside = [said for _, said in told.get("outside", ())]
    if not worst:
        return None
    return PoolerStats(
        service=service,
        inside=len(told.get("inside", ())),
        worst=worst,
        wait_outside=median(int(one["wait_us"]) for one in outside) / 1e6 if outside else None,
        query_outside_ms=median(int(one["query_us"]) for one in outside) / 1000 if outside else None,
    )


def worst_of(where: str, periods: list[tuple[Row, Row]]) -> PoolerPeriod:
    """Return the period in which clients waited most, the first of equals."""
    worst, said = max(periods, key=lambda one: (int(one[1]["wait_us"]), -one[0]["ts"]))
    return PoolerPeriod(
        where=where,
        start=worst["start"],
        end=worst["ts"],
        wait_s=int(said["wait_us"]) / 1e6,
        query_ms=max(int(one["query_us"]) for _, one in periods) / 1000,
        ref=Ref(worst["source"], worst["line"]),
    )


PLUG = Analysis(
    name="poolers",
    question="Did clients wait for a server connection of the pooler?",
    gives=Poolers,
    run=poolers,
    needs=(Incidents,),
)
