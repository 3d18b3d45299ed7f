"""Did clients wait for a server connection of the pooler?

Its pages show who waits at an instant. Its log shows each period's time of waiting per second, which is added up over all clients and is counted when a
wait ends: so a period may show nothing while many wait, and the one after it the whole of it.

Reference: https://www.pgbouncer.org/usage.html (avg_wait_time)
"""

from __future__ import annotations

import json
from statistics import median
from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.model.facts import Facts, Incidents, Poolers, PoolerStats, PoolState
from forensics.model.plug import Analysis
from forensics.model.source import Ref

if TYPE_CHECKING:
    from forensics.model.digest import Evidence
    from forensics.model.known import Known

STATS = "pgbouncer.stats"
LATE_US = 60_000_000
"""The wait is counted in the period in which it ends, and the default period is a minute."""

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
        periods(str(service), part.sort("ts", "line").to_dicts(), primary.start, end + LATE_US)
        for (service,), part in hits.group_by("service", maintain_order=True)
    ]
    stats = sorted((one for one in found if one), key=lambda one: (-one.wait_inside, one.service))
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


def periods(service: str, rows: list[Row], lo: int, hi: int) -> PoolerStats | None:
    """Compare the periods that end inside with the others; None where none does."""
    told = [(row, json.loads(row["parameters"])) for row in rows]
    inside = [(row, said) for row, said in told if lo <= row["ts"] <= hi]
    outside = [said for row, said in told if not lo <= row["ts"] <= hi]
    if not inside:
        return None
    worst, said = max(inside, key=lambda one: (int(one[1]["wait_us"]), -one[0]["ts"]))
    return PoolerStats(
        service=service,
        inside=len(inside),
        wait_inside=int(said["wait_us"]) / 1e6,
        wait_outside=median(int(one["wait_us"]) for one in outside) / 1e6 if outside else None,
        query_inside_ms=max(int(one["query_us"]) for _, one in inside) / 1000,
        query_outside_ms=median(int(one["query_us"]) for one in outside) / 1000 if outside else None,
        at=worst["ts"],
        ref=Ref(worst["source"], worst["line"]),
    )


PLUG = Analysis(
    name="poolers",
    question="Did clients wait for a server connection of the pooler?",
    gives=Poolers,
    run=poolers,
    needs=(Incidents,),
)
