"""Which requests were answered, but late? Counted where access lines state how long each took, against what their routes usually take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from forensics.model import names
from forensics.model.facts import Facts, Incidents, SlowRequests, SlowService
from forensics.model.frames import middle, passing
from forensics.model.plug import Analysis
from forensics.model.schema import ROWS_PER_MINUTE, SLOW_MS
from forensics.model.source import Ref

if TYPE_CHECKING:
    from forensics.model.digest import Evidence
    from forensics.model.known import Known

SECOND = 1_000_000
MINUTE = 60 * SECOND
USUAL = 0.05
"""Share of a route's requests outside of incidents from which a long one is its usual: streams, exports and long polls take their time."""
FEWEST = 5
"""Requests of a route outside of incidents from which it has a usual."""
BASE = pl.col("service").str.replace(names.REPLICA, "${1}")
"""The service of which a row's is a replica."""
ROUTE = ["service", "method", "route"]


def slow(evidence: Evidence, known: Known, facts: Facts) -> SlowRequests:
    """Return requests of the primary incident that took a second or more on routes that usually answer faster."""
    del known
    primary = facts[Incidents].primary()
    if primary is None or not evidence["slow"].height:
        return SlowRequests((), SLOW_MS / 1000)
    last = facts[Incidents].last or primary.start
    spans = [(item.start, item.end or last) for item in facts[Incidents].items]
    usual = usually(evidence["routes"], spans)
    quick = usual.filter((pl.col("timed") >= FEWEST) & (pl.col("slow") < USUAL * pl.col("timed")))
    end = primary.end or last
    rows = evidence["slow"].filter(pl.col("ts").is_between(primary.start, end + 5 * SECOND))
    rows = told_once(rows.join(quick, on=ROUTE, how="inner", nulls_equal=True), evidence["formats"])
    counted = evidence["routes"].filter(in_minutes(primary.start, end)).group_by(base=BASE)
    shown = dict(counted.agg(n=pl.col("timed").sum()).iter_rows())
    found = [
        service_of(named(str(base), part), part, int(shown.get(base, 0)))
        for (base,), part in rows.with_columns(base=BASE).group_by("base", maintain_order=True)
    ]
    return SlowRequests(tuple(sorted(found, key=lambda one: (-one.n, one.service))), SLOW_MS / 1000)


def told_once(rows: pl.DataFrame, formats: pl.DataFrame) -> pl.DataFrame:
    """Leave out what a proxy tells of a route that the service behind it tells of too, or the other way round where it tells of more."""
    marked = rows.with_columns(passed=pl.col("service").is_in(passing(formats).implode()))
    here = ["method", "route"]
    passed, all_ = pl.col("passed").sum().over(here), pl.len().over(here)
    return marked.filter(pl.col("passed") == (2 * passed > all_)).drop("passed")


def named(base: str, rows: pl.DataFrame) -> str:
    """Return how a service is called: replicas together by the name that they share, one alone by its own."""
    own = rows["service"].unique().to_list()
    return str(own[0]) if len(own) == 1 else base


def in_minutes(lo: int, hi: int) -> pl.Expr:
    """Say of the rows of a minute whether it touches a span."""
    minute = pl.col("minute") * MINUTE
    return (minute <= hi) & (minute + MINUTE > lo)


def usually(routes: pl.DataFrame, spans: list[tuple[int, int]]) -> pl.DataFrame:
    """Count per route the requests with a duration outside of incidents, and the slow ones among them."""
    outside = routes.filter(~pl.any_horizontal([in_minutes(lo, hi) for lo, hi in spans]))
    return outside.group_by(ROUTE).agg(pl.col("timed").sum(), pl.col("slow").sum())


def service_of(service: str, rows: pl.DataFrame, timed: int) -> SlowService:
    """Sum up the slow requests of one service."""
    ranked = rows.sort(["duration_ms", "source", "line"], descending=[True, False, False])
    minutes = rows.group_by(*ROUTE, pl.col("ts") // MINUTE).len()["len"]
    before = rows.unique(ROUTE)["slow"].sum()
    return SlowService(
        service,
        rows.height,
        bool((minutes >= ROWS_PER_MINUTE).any()),
        timed,
        round(float(ranked["duration_ms"][0]) / 1000, 3),
        round((middle(rows["duration_ms"]) or 0.0) / 1000, 3),
        rows.select("method", "route").n_unique(),
        int(before),
        tuple(Ref(source, line) for source, line in ranked.select("source", "line").head(3).iter_rows()),
    )


PLUG = Analysis(
    name="slow",
    question="Which requests were answered, but late?",
    gives=SlowRequests,
    run=slow,
    needs=(Incidents,),
)
