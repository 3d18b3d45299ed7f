"""Who was hit inside the incidents, and what went on working?

"Lost" is never said: a request that failed may have been sent again. Responses that did complete are counted, so that
nobody writes "total outage" of something that answered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from forensics.model.facts import EDGE_S, Facts, FailedRoute, Failures, Impact, Incidents, Probes
from forensics.model.frames import most, passing
from forensics.model.plug import Analysis
from forensics.model.source import Ref

if TYPE_CHECKING:
    from forensics.model.digest import Evidence
    from forensics.model.known import Known

SECOND = 1_000_000
MINUTE = 60 * SECOND
LATE_MS = 10_000.0
"""A call that completed after this long is told as late."""


def impact(evidence: Evidence, known: Known, facts: Facts) -> Impact:
    """Count failed and completed requests inside the primary incident's window, and calls of other services into it."""
    del known
    primary = facts[Incidents].primary()
    if primary is None:
        return Impact((), (), 0, (), 0, 0, None, (), evidence["failed"].height)
    end = primary.end or facts[Incidents].last or primary.start
    inside = pl.col("ts").is_between(primary.start, end + 5 * SECOND)
    failed = evidence["failed"].filter(inside).with_columns(probe=of_probes(facts[Probes]))
    users = failed.filter(~pl.col("probe"))
    routes = (
        failed.group_by("service", "method", "route", "status", "probe")
        .agg(n=pl.len(), place=pl.struct("source", "line").sort_by("source", "line").first())
        .sort(
            ["probe", "n", "service", "route", "method", "status"],
            descending=[False, True, False, False, False, False],
        )
    )
    rows = tuple(
        FailedRoute(
            row["service"],
            row["method"],
            row["route"],
            row["status"],
            row["n"],
            Ref(row["place"]["source"], row["place"]["line"]),
            row["probe"],
        )
        for row in routes.iter_rows(named=True)
    )
    seconds = (
        evidence["seconds"]
        .filter(
            (pl.col("kind") == "request")
            & pl.col("service").is_in(list(primary.services))
            & (pl.col("first_us") >= primary.start)
            & (pl.col("first_us") <= end)
        )
        .sort("first_us")
    )
    completed = int(seconds["n"].sum())
    between = seconds.filter(
        pl.col("first_us").is_between(primary.start + EDGE_S * SECOND, end - EDGE_S * SECOND)
    )
    calls = evidence["calls"].filter(inside)
    attempts = (
        facts[Failures]
        .rows.filter(
            (pl.col("family") == "webhook_delivery") & pl.col("began").is_between(primary.start - MINUTE, end)
        )
        .height
    )
    late = calls.filter(
        (pl.col("duration_ms") >= LATE_MS)
        & ~pl.col("level").is_in(["warning", "error", "critical"]).fill_null(value=False)
        & ~pl.col("op").str.contains("(?i)fail")
    )
    slowest = most(late["duration_ms"])
    return Impact(
        routes=rows, clients=tuple(users["client"].drop_nulls().unique().sort()), completed=completed,
        completed_refs=tuple(Ref(s, line) for s, line in seconds.select("source", "first_line").head(3).iter_rows()), calls_failed=attempts, calls_late=late.height,
        slowest_call_s=round(slowest / 1000, 3) if slowest is not None else None,
        call_refs=tuple(Ref(s, line) for s, line in late.sort("duration_ms", descending=True).select("source", "line").head(2).iter_rows()), failed_outside=evidence["failed"].filter(~inside).height,
        completed_between=int(between["n"].sum()), failed=once(users, evidence["formats"]), probes_failed=once(failed.filter("probe"), evidence["formats"]),
    )  # fmt: skip


def of_probes(found: Probes) -> pl.Expr:
    """Tell requests of periodic probes, as services saw them, from those of users: same service, method, route and client."""
    keys = [
        (series.service, *series.asks, series.client or "")
        for series in found.series
        if series.asks and series.seen_by == "service"
    ]
    asked = pl.concat_list("service", "method", "route", pl.col("client").fill_null(""))
    return asked.is_in([list(key) for key in keys]) if keys else pl.lit(value=False)


def once(failed: pl.DataFrame, formats: pl.DataFrame) -> int:
    """Count failed requests, each once: a proxy and the service behind it tell of the same ones, the one that tells of more decides."""
    by_teller = failed.group_by("method", "route").agg(
        passed=pl.col("service").is_in(passing(formats).implode()).sum(), n=pl.len()
    )
    return int(by_teller.select(pl.max_horizontal("passed", pl.col("n") - pl.col("passed")).sum()).item())


PLUG = Analysis(
    name="impact",
    question="Who was hit, and what went on working?",
    gives=Impact,
    run=impact,
    needs=(Incidents, Failures, Probes),
)
