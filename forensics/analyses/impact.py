"""Who was hit inside the incidents, and what went on working?

"Lost" is never said: a request that failed may have been sent again. Responses that did complete are counted, so that
nobody writes "total outage" of something that answered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from forensics.model.facts import (
    EDGE_S,
    Facts,
    FailedOperations,
    FailedRoute,
    Failures,
    Impact,
    Incidents,
    Probes,
)
from forensics.model.frames import most, passing
from forensics.model.names import replica_of
from forensics.model.plug import Analysis
from forensics.model.source import Ref

if TYPE_CHECKING:
    from forensics.model.digest import Evidence
    from forensics.model.facts import Incident
    from forensics.model.known import Known

SECOND = 1_000_000
MINUTE = 60 * SECOND
OUTER = ("http_error", "app_error", "webhook_delivery")
"""Families that are counted as requests or calls, or stand beside the failure that caused them."""
SAMPLERS = ("pool_gauge", "gauge_json")
"""Formats of services that only take samples: nobody waits for what they do."""
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
    # A request that a proxy dates by its start belongs to the incident in which it ended, as the failure behind it does.
    hit = inside | pl.col("ended").is_between(primary.start, end + 5 * SECOND).fill_null(value=False)
    failed = evidence["failed"].filter(hit).with_columns(probe=of_probes(facts[Probes]))
    users = failed.filter(~pl.col("probe"))
    seconds = served(evidence["seconds"], primary, end)
    edge = EDGE_S * SECOND
    between = seconds.filter(pl.col("first_us").is_between(primary.start + edge, end - edge))
    attempts = attempts_failed(facts[Failures].rows, primary.start, end)
    late = late_calls(evidence["calls"].filter(inside))
    slowest = most(late["duration_ms"])
    return Impact(
        routes=failed_routes(failed), clients=tuple(users["client"].drop_nulls().unique().sort()), completed=int(seconds["n"].sum()),
        completed_refs=refs(seconds.head(3), "first_line"), calls_failed=attempts.height, calls_late=late.height,
        slowest_call_s=round(slowest / 1000, 3) if slowest is not None else None,
        call_refs=refs(late.sort("duration_ms", descending=True).head(2), "line"), failed_outside=evidence["failed"].filter(~hit).height,
        completed_between=int(between["n"].sum()), failed=once(users, evidence["formats"]), probes_failed=once(failed.filter("probe"), evidence["formats"]),
        caller=attempts["service"][0] if attempts.height else None, attempt_refs=refs(pl.concat([attempts.head(3), attempts.tail(1)]).unique(maintain_order=True), "line"),
        operations=failed_operations(evidence, facts[Failures], primary.start, end),
    )  # fmt: skip


def refs(rows: pl.DataFrame, line: str) -> tuple[Ref, ...]:
    """Return the places of rows, by their column with the line."""
    return tuple(Ref(source, at) for source, at in rows.select("source", line).iter_rows())


def failed_routes(failed: pl.DataFrame) -> tuple[FailedRoute, ...]:
    """Count failed requests per service, route and status, those of users first."""
    routes = (
        failed.group_by("service", "method", "route", "status", "probe")
        .agg(n=pl.len(), place=pl.struct("source", "line").sort_by("source", "line").first())
        .sort(
            ["probe", "n", "service", "route", "method", "status"],
            descending=[False, True, False, False, False, False],
        )
    )
    return tuple(
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


def served(seconds: pl.DataFrame, primary: Incident, end: int) -> pl.DataFrame:
    """Return the seconds of an incident in which its services answered requests, in order of time."""
    return seconds.filter(
        (pl.col("kind") == "request")
        & pl.col("service").is_in(list(primary.services))
        & pl.col("first_us").is_between(primary.start, end)
    ).sort("first_us")


def attempts_failed(failures: pl.DataFrame, start: int, end: int) -> pl.DataFrame:
    """Return the attempts of outgoing calls into a window that failed, in order of time: a call may have several."""
    calls = failures.filter(pl.col("family") == "webhook_delivery")
    return calls.filter(pl.col("began").is_between(start - MINUTE, end)).sort("ts", "source", "line")


def failed_operations(
    evidence: Evidence, failures: Failures, start: int, end: int
) -> tuple[FailedOperations, ...]:
    """Count what failed in a window in clients whose lines show no requests; replicas that fail are one service."""
    served = {replica_of(name) for name in evidence["routes"]["service"].drop_nulls()}
    sampling = evidence["formats"].filter(pl.col("format").is_in(list(SAMPLERS)))["service"].drop_nulls()
    rows = failures.rows.filter(
        (pl.col("side") == "client")
        & ~pl.col("family").is_in(OUTER)
        & ~pl.col("service").is_in(sampling.implode())
        & (pl.col("ts").is_between(start, end + 5 * SECOND) | pl.col("began").is_between(start, end))
    ).sort("ts", "source", "line")
    found: dict[str, pl.DataFrame] = {}
    for base in dict.fromkeys(map(replica_of, rows["service"])):
        if base not in served:
            mine = [name for name in rows["service"].unique() if replica_of(name) == base]
            found[base] = rows.filter(pl.col("service").is_in(mine))
    bounded = {(group.service, group.signature) for group in failures.groups if group.bound == "at_least"}
    return tuple(
        FailedOperations(
            base if part["service"].n_unique() > 1 else part["service"][0],
            part["service"].n_unique(),
            int(part["sure"].sum()),
            part.height,
            bool(bounded & set(part.select("service", "signature").iter_rows())),
            Ref(part["source"][0], part["line"][0]),
        )
        for base, part in sorted(found.items(), key=lambda one: (-one[1].height, one[0]))
    )


def late_calls(calls: pl.DataFrame) -> pl.DataFrame:
    """Return the outgoing calls that completed, and late."""
    return calls.filter(
        (pl.col("duration_ms") >= LATE_MS)
        & ~pl.col("level").is_in(["warning", "error", "critical"]).fill_null(value=False)
        & ~pl.col("op").str.contains("(?i)fail")
    )


def of_probes(found: Probes) -> pl.Expr:
    """Tell requests of periodic checks, as services saw them, from those of users: same service, method, route and client."""
    keys = [
        (series.service, *series.asks, series.client or "")
        for series in found.series
        if series.asks and series.checks and series.seen_by == "service"
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
