"""How many operations failed, in which way, and when did their waits begin?

A failure is one failed operation, not one line. Lines with the same failure number are one failure: chained
exceptions, and the log line that heads its own traceback. Where almost every one-line message of a process is followed
at once by a traceback with the same text, both are one failure printed twice; a message with a stack of its own below is none of these. A message and a traceback with a silence
of the process between them may be one failure too (a stalled process prints late): the count becomes an interval.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.model.facts import Continuity, Coverage, Facts, FailureGroup, Failures, Losses, Undated
from forensics.model.frames import DATABASE_LOGS, least, middle, most
from forensics.model.plug import Analysis
from forensics.model.signature import LIMITS
from forensics.model.source import Ref

if TYPE_CHECKING:
    from collections.abc import Callable

    from forensics.model.digest import Evidence
    from forensics.model.known import Known
    from forensics.model.signature import Signature

SECOND = 1_000_000
TOGETHER = 100_000
"""Microseconds between a message and its own traceback in one process."""
NEXT = 4
"""Records between a message and its own traceback, the access line among them."""
HABIT = 0.8
"""Share of one-line messages that must be followed by a traceback for this to be how the program prints a failure."""
ONE_OPERATION = 1_000_000
"""Microseconds within which lines that name the same operation are of one failure."""
POOL = "pool_exhaustion"
REQUEST = "http.server-error"
"""The text of an access line about a request that was answered with 5xx."""
OF_REQUESTS = ("django.server-error", "tomcat.servlet-exception")
"""Texts by which a server tells of a request that it answered with 5xx: where an access line of the same service shows it, it is counted there."""
FRAMEWORK = (
    r"(?i)Exception in ASGI application|Internal Server Error: /|Exception on \S+ \[[A-Z]+\]|Error handling request|unhandled (?:exception|error|promise rejection)"
    r"|Unhandled exception in |(?:Task|Future) exception was never retrieved|Uncaught exception|Exception while serving|Cannot process request"
)
"""How frameworks head the traceback of any request or task that failed, after the application may have logged it itself."""
PERHAPS = 120_000_000
"""Within this time a traceback may belong to an earlier one-line message, if the process was silent between them."""
QUIET = 5_000_000
"""A silence that can hold back a traceback, in microseconds."""
ENDING = 30_000_000
"""A log that ends this soon after a failure, and this long before the other inputs, ends amid failures; microseconds."""
HABITS = 3.0
"""A log is silent at its end only beyond so many times its usual pause."""
SUPPRESSED = "journald suppressed messages of this unit"
CAPPED = "there are more lines a minute than are kept"
HOLED = "entries of its journal are missing amid them"
SILENT = "its log ends amid failures while other inputs go on"
STREAM = ["source", "service", "pid", "signature"]
MONITOR_LOGS = ("uptime_kuma_log",)
"""Formats of a monitor's own log: a failure in it is the monitor's (its database, its network), not one of what it watches."""
MONITOR = "monitor"
DATABASES = re.compile(DATABASE_LOGS)
COLUMNS = {
    "service": pl.String, "signature": pl.String, "family": pl.String, "side": pl.String, "ts": pl.Int64, "began": pl.Int64,
    "source": pl.UInt16, "line": pl.UInt32, "sure": pl.Boolean, "lines": pl.UInt32, "ends": pl.Boolean, "peer": pl.String,
}  # fmt: skip
REFUSING = ("server_limit", "db_connect")
"""Families of failures in which a client repeats what refused it; a wait that ran out amid refusals is a failure of its own."""
SAME_US = 1_500_000
"""Microseconds between a server's line and that of its client about the same failure: one of them may hold whole seconds."""
REFS = 12
ADDRESSED = ("host", "server", "upstream", "target", "addr", "address", "endpoint")
"""Parameters that name whom the service addressed."""
ORIGIN = re.compile(r"^(\w+://[^/?#]+).*$", re.DOTALL)
"""What of a URL names whom it addresses: the rest is what was asked for."""
PEERS = 3
"""Peers that are named."""


def failures(evidence: Evidence, known: Known, facts: Facts) -> Failures:
    """Count failures per service and signature."""
    wanted = {
        name: signature for name, signature in known.signatures.items() if signature.counts == "failure"
    }
    hits = evidence["hits"].filter(pl.col("signature").is_in(list(wanted)) & pl.col("ts").is_not_null())
    monitors = set(
        evidence["formats"].filter(pl.col("format").is_in(list(MONITOR_LOGS)))["service"].drop_nulls()
    )
    rows = (
        join_lines(hits, wanted, evidence["seconds"], evidence["failed"])
        .pipe(by_hint, known)
        .pipe(once, evidence["failed"])
        .with_columns(
            side=pl.when(pl.col("service").is_in(list(monitors)))
            .then(pl.lit(MONITOR))
            .when(relayed(evidence))
            .then(pl.lit("client"))
            .otherwise("side")
        )
    )
    rows = retold(rows, hits, wanted)
    exact = evidence["hit_counts"].group_by("service", "signature").agg(n=pl.col("n").sum())
    kept = hits.group_by("service", "signature").agg(n=pl.len())
    lines = {(service, signature): n for service, signature, n in exact.iter_rows()}
    capped = {
        (service, signature)
        for service, signature, n in kept.iter_rows()
        if lines.get((service, signature), 0) > n
    }
    lost = {loss.service: loss for loss in facts[Losses].items}
    cut = fell_silent(rows, evidence["seconds"], facts)
    holed = in_holes(rows, facts[Continuity])
    groups = []
    for (service, name), part in rows.group_by("service", "signature", maintain_order=True):
        signature = wanted[str(name)]
        reason = (
            SUPPRESSED
            if service in lost
            else CAPPED
            if (service, name) in capped
            else HOLED
            if (service, name) in holed
            else SILENT
            if service in cut
            else LIMITS.get(signature.limits or "", "")
        )
        groups.append(
            group(
                part, hits, signature, str(service), lines.get((service, name), part["lines"].sum()), reason
            )
        )
    groups.sort(key=lambda item: (item.signature, item.service))
    return Failures(tuple(groups), rows, undated(evidence["hits"], wanted))


def relayed(evidence: Evidence) -> pl.Expr:
    """Tell failures that a database's text names but another program printed: its client repeats what the server said."""
    formats = evidence["formats"].filter(pl.col("format").str.contains(DATABASE_LOGS))
    reading = [source.index for source in evidence.sources if DATABASES.match(source.transport or "")]
    rows = evidence["seconds"].filter(pl.col("source").is_in(reading))
    servers = {*formats["service"].drop_nulls(), *rows["service"].drop_nulls()}
    return (
        (pl.col("side") == "server")
        & pl.col("signature").str.contains(DATABASE_LOGS)
        & ~pl.col("service").is_in(list(servers))
    )


def retold(rows: pl.DataFrame, hits: pl.DataFrame, wanted: dict[str, Signature]) -> pl.DataFrame:
    """Mark the failures of clients (``retold``) that the database server's own log tells of too: a line of the same kind within :data:`SAME_US`."""
    known = pl.when(pl.col("signature").str.contains(DATABASE_LOGS)).then("signature")
    table = rows.join(
        quoting(hits, wanted), on=["source", "line", "signature"], how="left", maintain_order="left"
    ).with_columns(said=pl.coalesce("said", known))
    own = table.filter(pl.col("side") == "server").select("said", "ts", of=pl.lit(value=True)).drop_nulls()
    near = table.join_asof(
        own, on="ts", by="said", strategy="nearest", tolerance=SAME_US, check_sortedness=False
    )
    twice = (pl.col("side") == "client") & pl.col("of").fill_null(value=False)
    return near.select(*rows.columns, retold=twice)


def quoting(hits: pl.DataFrame, wanted: dict[str, Signature]) -> pl.DataFrame:
    """Return the lines of clients that quote a database server's text, and whose (``said``)."""
    columns = ("source", "line", "signature")
    parts = [hits.select(*columns, said=pl.lit(None, pl.String)).clear()]
    for one in wanted.values():
        outer = [name for name in one.inner_of if name in wanted and wanted[name].family in REFUSING]
        if one.side == "server" and DATABASES.match(one.id) and outer:
            lines = hits.filter(
                pl.col("signature").is_in(outer) & pl.col("parameters").str.contains(one.pattern)
            )
            parts.append(lines.select(*columns, said=pl.lit(one.id)))
    return pl.concat(parts).unique(columns, keep="first", maintain_order=True)


def undated(hits: pl.DataFrame, wanted: dict[str, Signature]) -> tuple[Undated, ...]:
    """Count the lines that tell of failures and carry no time, by source and signature."""
    rows = hits.filter(pl.col("signature").is_in(list(wanted)) & pl.col("ts").is_null())
    table = rows.group_by("source", "signature").agg(n=pl.len(), line=pl.col("line").min())
    return tuple(
        Undated(wanted[signature].title, n, Ref(source, line))
        for source, signature, n, line in table.sort("source", "signature").iter_rows()
    )


def in_holes(rows: pl.DataFrame, continuity: Continuity) -> set[tuple[str, str]]:
    """Return services and signatures between whose failures numbered entries of their journal are missing."""
    found: set[tuple[str, str]] = set()
    for hole in continuity.holes:
        sources = [ref.source for ref in hole.refs]
        spans = rows.filter(pl.col("source").is_in(sources)).group_by("service", "signature")
        table = spans.agg(lo=pl.col("ts").min(), hi=pl.col("ts").max())
        inside = table.filter((pl.col("lo") <= hole.end) & (pl.col("hi") >= hole.start))
        found |= {(str(service), str(name)) for service, name, *_ in inside.iter_rows()}
    return found


def fell_silent(rows: pl.DataFrame, seconds: pl.DataFrame, facts: Facts) -> set[str]:
    """Return services whose log ends amid failures while other inputs go on: a stalled process prints no more failures.

    A pause at the end that is no longer than the service's usual ones says nothing.
    """
    last = facts[Coverage].last or 0
    ends = {
        str(service): int(ts) for service, ts in rows.group_by("service").agg(pl.col("ts").max()).iter_rows()
    }
    covers = {cover.service: cover.last for cover in facts[Coverage].services}
    return {
        service
        for service, ts in ends.items()
        if service in covers
        and covers[service] - ts <= ENDING
        and last - covers[service] >= max(ENDING, HABITS * usual_pause(seconds, service))
    }


def usual_pause(seconds: pl.DataFrame, service: str) -> float:
    """Return the median pause between two seconds in which a service wrote, in microseconds."""
    written = seconds.filter(pl.col("service") == service).select(pl.col("second").unique().sort())
    return (middle(written["second"].diff().drop_nulls()) or 0.0) * SECOND


def join_lines(
    hits: pl.DataFrame, wanted: dict[str, Signature], seconds: pl.DataFrame, failed: pl.DataFrame
) -> pl.DataFrame:
    """Return one row per failure."""
    # A request's line stands between the lines of others: a stack below it is not its own. Where further lines of the record tell of
    # the same, the stack is theirs.
    requests = [name for name, signature in wanted.items() if signature.family == "http_error"]
    own_stack = pl.col("framed").fill_null(value=False) & ~pl.col("signature").is_in(requests)
    one = hits.group_by(*STREAM, "fid", maintain_order=True).agg(
        pl.col("ts").min(),
        pl.col("line").min(),
        pl.col("parameters").first(),
        pl.col("head").first(),
        pl.col("retry").all(),
        pl.col("operation", "peer").drop_nulls().first(),
        pl.col("times").max(),
        traced=pl.col("ends_traceback").any() | (own_stack.any() & (pl.len() == 1)),
        lines=pl.len().cast(pl.Int64),
    )
    pauses = cache(lambda service: silences(seconds, service))
    parts = [pair(part, pauses) for _, part in one.group_by(STREAM, maintain_order=True)]
    table = pl.concat(parts) if parts else one.with_columns(sure=pl.lit(value=True))
    # A line that tells of several failures stands for as many.
    table = table.select(pl.all().repeat_by("times")).explode(table.columns) if table.height else table
    texts = table.select("signature", "parameters").unique(maintain_order=True)
    waits = texts.with_columns(
        wait=pl.Series([wait_us(wanted[name], text) for name, text in texts.iter_rows()], dtype=pl.Int64)
    )
    return (
        table.join(waits, on=["signature", "parameters"], how="left", nulls_equal=True, maintain_order="left")
        .with_columns(
            family=pl.col("signature").replace_strict(
                {name: s.family for name, s in wanted.items()}, return_dtype=pl.String, default=None
            ),
            side=pl.col("signature").replace_strict(
                {name: s.side for name, s in wanted.items()}, return_dtype=pl.String, default=None
            ),
            began=pl.col("ts") - pl.col("wait"),
            ends=pl.col("signature").replace_strict(
                {name: s.marks == "end" for name, s in wanted.items()}, return_dtype=pl.Boolean, default=False
            ),
        )
        .pipe(by_request, failed)
        .select(pl.col(name).cast(dtype) for name, dtype in COLUMNS.items())
        .sort("ts", "source", "line")
    )


def by_request(table: pl.DataFrame, failed: pl.DataFrame) -> pl.DataFrame:
    """Back-date a failure whose text states no wait by the duration of the request that failed with it.

    Only for texts that mark the end of a wait, and only where a failed request of the same service ended within
    :data:`TOGETHER` and its log states how long it took.
    """
    took = (
        failed.filter(pl.col("duration_ms").is_not_null())
        .select("service", "ended", took=pl.col("ended") - pl.col("began"))
        .sort("ended")
    )
    if not took.height or not table.height:
        return table
    joined = table.sort("ts").join_asof(
        took,
        left_on="ts",
        right_on="ended",
        by="service",
        strategy="nearest",
        tolerance=TOGETHER,
        check_sortedness=False,
    )
    usable = pl.col("ends") & (pl.col("began") == pl.col("ts")) & pl.col("took").is_not_null()
    return joined.with_columns(
        began=pl.when(usable).then(pl.min_horizontal("ts", "ended") - pl.col("took")).otherwise("began")
    )


def once(table: pl.DataFrame, failed: pl.DataFrame) -> pl.DataFrame:
    """Leave out what a server says of a failed request of which a line of its own access log tells, within :data:`TOGETHER`."""
    if not table["signature"].is_in(list(OF_REQUESTS)).any():
        return table
    lines = table.filter(pl.col("signature") == REQUEST).select("service", ended="ts")
    told = pl.concat([lines, failed.select("service", "ended")]).drop_nulls().sort("ended")
    told = told.with_columns(shown=pl.lit(value=True))
    joined = table.sort("ts", maintain_order=True).join_asof(
        told,
        left_on="ts",
        right_on="ended",
        by="service",
        strategy="nearest",
        tolerance=TOGETHER,
        check_sortedness=False,
    )
    shown = pl.col("shown").fill_null(value=False) & pl.col("signature").is_in(list(OF_REQUESTS))
    return joined.filter(~shown).select(table.columns).sort("ts", "source", "line")


def by_hint(table: pl.DataFrame, known: Known) -> pl.DataFrame:
    """Back-date a wait for a pooled connection whose text states no length by the timeout that the case file gives of that pool."""
    stated = {hint.service: hint.timeout_s for hint in known.pools if hint.service and hint.timeout_s}
    if not stated or not table.height:
        return table
    wait = pl.col("service").replace_strict(stated, default=None, return_dtype=pl.Float64) * SECOND
    usable = (
        pl.col("ends") & (pl.col("began") == pl.col("ts")) & (pl.col("family") == POOL) & wait.is_not_null()
    )
    return table.with_columns(
        began=pl.when(usable).then(pl.col("ts") - wait.round().cast(pl.Int64)).otherwise("began")
    )


def wait_us(signature: Signature, parameters: str) -> int:
    """Return how long before its line a failure began, 0 where the line does not say."""
    wait = signature.wait_s(json.loads(parameters))
    return round((wait or 0) * 1_000_000)


def pair(part: pl.DataFrame, silent: Callable[[str], list[tuple[int, int]]]) -> pl.DataFrame:
    """Join what tells of one failure within one stream and signature: ``sure`` is false for rows that may be none of their own."""
    rows = attempts(by_operation(part.sort("line").to_dicts()))
    kinds = (
        ([row for row in rows if not row["traced"]], [row for row in rows if row["traced"]]),
        (
            [row for row in rows if row["traced"] and not from_framework(row)],
            [row for row in rows if row["traced"] and from_framework(row)],
        ),
    )
    for messages, traced in kinds:
        merge(messages, traced)
    messages, traced = kinds[0]
    pauses = silent(part["service"][0]) if messages and traced else []
    tracebacks = sorted(row["ts"] for row in traced)
    for row in messages:
        if held_back(row["ts"], tracebacks, pauses):
            row["sure"] = False
    kept = [row for row in rows if not row.get("taken")]
    return pl.DataFrame(kept, schema={**part.schema, "sure": pl.Boolean})


def by_operation(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Join lines of one instant that name the same operation: a connection that is closed, a request that is tried on two peers."""
    open_: dict[str, dict[str, Any]] = {}
    kept = []
    for row in rows:
        before = open_.get(row["operation"] or "")
        if before is not None and row["ts"] - before["ts"] <= ONE_OPERATION:
            before["lines"] += row["lines"]
            before["fid"] = row["fid"]
            continue
        if row["operation"]:
            open_[row["operation"]] = row
        kept.append(row)
    return kept


def attempts(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Mark attempts that were repeated: where others of the kind were not, they are no failed operations of their own."""
    final = any(not row["retry"] for row in rows)
    for row in rows:
        row["sure"] = not (final and row["retry"])
    return rows


def from_framework(row: dict[str, Any]) -> bool:
    """Was the traceback printed by a framework, for any request that failed?"""
    return row["head"] is not None and re.search(FRAMEWORK, row["head"]) is not None


def merge(firsts: list[dict[str, Any]], seconds: list[dict[str, Any]]) -> None:
    """Join each of the second kind with the one of the first kind that it repeats.

    Where the program prints nearly all failures so, both are one. Where it does so now and then, an error that was handled and
    another one that was not look the same: the count becomes an interval.
    """
    taken = twins(firsts, seconds)
    certain = len(taken) >= HABIT * len(firsts)
    by_line = {row["line"]: row for row in seconds}
    for row in firsts:
        if row["line"] not in taken:
            continue
        if certain:
            other = by_line[taken[row["line"]]]
            other["lines"] += row["lines"]
            other["sure"] = True
            row["taken"] = True
        else:
            row["sure"] = False


def twins(firsts: list[dict[str, Any]], seconds: list[dict[str, Any]]) -> dict[int, int]:
    """Return the record that follows each one at once with the same text: line of the first to line of the second.

    Failures are numbered in the order of their lines, so that only the next few numbers are looked at.
    """
    taken: dict[int, int] = {}
    used: set[int] = set()
    order = sorted(range(len(seconds)), key=lambda index: seconds[index]["fid"])
    numbers = [seconds[index]["fid"] for index in order]
    for first in firsts:
        after = bisect_right(numbers, first["fid"])
        following = order[after : bisect_right(numbers, first["fid"] + NEXT, lo=after)]
        for other in (seconds[index] for index in sorted(following)):
            if 0 <= other["ts"] - first["ts"] <= TOGETHER and other["line"] not in used:
                taken[first["line"]] = other["line"]
                used.add(other["line"])
                break
    return taken


def silences(seconds: pl.DataFrame, service: str | None) -> list[tuple[int, int]]:
    """Return the pauses of a service that are long enough to hold back a traceback."""
    rows = (
        seconds.filter(pl.col("service") == service)
        .group_by("second")
        .agg(lo=pl.col("first_us").min(), hi=pl.col("last_us").max())
        .sort("second")
    )
    gaps = rows.select(start=pl.col("hi").shift(1), end="lo").drop_nulls()
    return list(gaps.filter(pl.col("end") - pl.col("start") >= QUIET).iter_rows())


def held_back(message: int, tracebacks: list[int], pauses: list[tuple[int, int]]) -> bool:
    """May one of some tracebacks (sorted) have been printed late because the process was silent after the message?

    The pauses come in order, so the first that began after the message ended first.
    """
    pause = bisect_left(pauses, (message,))
    if pause == len(pauses):
        return False
    after = bisect_left(tracebacks, pauses[pause][1])
    return after < len(tracebacks) and tracebacks[after] - message <= PERHAPS


def group(
    part: pl.DataFrame, hits: pl.DataFrame, signature: Signature, service: str, lines: int, reason: str
) -> FailureGroup:
    """Sum up one signature in one service."""
    sure = int(part["sure"].sum())
    waits = part.filter(pl.col("began") < pl.col("ts"))
    here = hits.filter((pl.col("signature") == signature.id) & (pl.col("service") == service)).sort(
        "ts", "source", "line"
    )
    edges = pl.concat([part.head(REFS), part.tail(2)]).unique(["source", "line"], maintain_order=True)
    return FailureGroup(
        signature=signature.id,
        family=signature.family,
        side=str(part["side"][0]),
        service=service,
        failures=sure,
        failures_max=None if reason else part.height,
        lines=lines,
        bound="at_least" if reason else "exact",
        why_bound=reason,
        first=least(part["ts"]) or 0,
        last=most(part["ts"]) or 0,
        first_wait_began=least(waits["began"]),
        parameters=signature.typed(json.loads(here["parameters"][0])),
        refs=tuple(Ref(source, line) for source, line in edges.select("source", "line").iter_rows()),
        verified=signature.verified,
        peers=peers(here["parameters"]),
    )


def peers(parameters: pl.Series) -> tuple[str, ...]:
    """Return whom lines say that they addressed, the most named first."""
    counts: Counter[str] = Counter()
    for text, n in parameters.value_counts().iter_rows():
        said = json.loads(text)
        counts.update({ORIGIN.sub(r"\1", str(said[name])): n for name in ADDRESSED if said.get(name)})
    return tuple(name for name, _ in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:PEERS])


PLUG = Analysis(
    name="failures",
    question="How many operations failed, in which way, and when did their waits begin?",
    gives=Failures,
    run=failures,
    needs=(Losses, Coverage, Continuity),
)
