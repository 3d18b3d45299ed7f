"""Hypotheses about the database: its slots, its queries and locks, whether it was there."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import polars as pl

from forensics.findings import capacity, lock_waits, role_limits, upkeep
from forensics.findings.signals import NEAR_LIMIT, POSTGRES_LOGS
from forensics.findings.weighing.application import POOLER_LIMITS
from forensics.findings.weighing.scale import MANY, Sign, covered, direct, disproof, hint, question, witness
from forensics.model.facts import Coverage, Sessions, Upkeeps
from forensics.model.source import Ref

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.findings.signals import Signals

SNAPSHOT = "pg_stat_activity"
"""Gauges made of snapshots, which people take at an instant of their choice and not at a beat."""
SERVER_LOGS = (*POSTGRES_LOGS, "mysql_error")
"""Formats of database servers' own logs."""
DURATION = "postgres.duration"
"""Told of every statement, or of those over a threshold that the log does not state: only slow ones weigh."""
LOGGED = ("postgres.lock-still-waiting", "postgres.lock-acquired", DURATION)
"""Lines that settings ask for: where one stands, the server logs its kind, and a window without them is no matter of the settings."""
ADDED = (
    "postgres.lock-still-waiting",
    "postgres.lock-acquired",
    "postgres.lock-holder",
    "postgres.deadlock-detail",
)
"""Lines about waits that the analysis of lock waits puts together, and details of another line."""
ENDED = (
    "postgres.shutdown-request",
    "postgres.process-killed",
    "postgres.crash-of-another",
    "postgres.not-accepting",
    "postgres.reinitializing",
)
"""What the server prints of its own end, and of its time without connections."""


def relayed(signals: Signals) -> pl.DataFrame:
    """Return the lines in which clients quote the server's refusal for lack of slots."""
    quoted = capacity.quoting(pl.col("parameters"))
    own = signals.hits("postgres.too-many-clients", "prisma.too-many")
    return pl.concat([own, signals.hits(*role_limits.CLIENT_TEXTS).filter(quoted)])


def db_slots_exhausted(signals: Signals) -> Iterator[Sign]:
    """The server's refusals decide; samples well below the limit rule capacity out, and of refusals that its log contradicts a hint is left."""
    unlogged = capacity.unlogged(signals)
    if unlogged:
        yield hint("slots.unlogged", *unlogged)
    else:
        yield from refusals(signals)
        texts = signals.inside("db_connect")
        if texts.height and relayed(signals).height:
            yield witness("slots.client", {"n": texts.height}, signals.refs(texts))
    yield from sampled_slots(signals)
    yield from other_limit(signals)
    yield from clean_log(signals, "slots.log_clean")
    yield question("slots.unknown", signals.part_of(*signals.services_in(*SERVER_LOGS)))


def refusals(signals: Signals) -> Iterator[Sign]:
    """The server's own refusals, counted in its log where that is given."""
    refused = signals.hits("postgres.too-many-clients", "prisma.too-many", families=("server_limit",))
    refused = role_limits.of_slots(refused).filter(
        ~pl.col("signature").str.starts_with("redis") & ~pl.col("signature").is_in(list(POOLER_LIMITS))
    )
    if not refused.height:
        return
    servers = signals.services_in(*POSTGRES_LOGS)
    by_server = refused.filter(pl.col("service").is_in(servers))
    least = fewer_told(signals, by_server)
    said = {"n": by_server.height or refused.height, "by_server": by_server.height, "least": least}
    yield direct("slots.refused", said, signals.refs(by_server if by_server.height else refused))


def fewer_told(signals: Signals, by_server: pl.DataFrame) -> bool:
    """Were there more refusals than the lines tell, those of the server's own log where that has any?"""
    servers = signals.services_in(*POSTGRES_LOGS)
    return any(
        group.bound == "at_least"
        for group in signals.groups("server_limit")
        if group.signature != role_limits.LIMITED and (not by_server.height or group.service in servers)
    ) or any(capacity.cut(signals, by_server["service"].unique()))


def other_limit(signals: Signals) -> Iterator[Sign]:
    """Refusals for the limit of a role or a database say nothing of the server's slots: beside them its log shows none for lack of slots, or does not cover the window."""
    rows = role_limits.refusals(signals)
    if rows.height:
        said = role_limits.values_of(signals, rows)
        shown = said["by_server"] and signals.covers(rows["service"][0])
        yield (covered if shown else question)(
            "slots.limited", {**said, "covers": shown}, signals.refs(rows, 2)
        )


def sampled_slots(signals: Signals) -> Iterator[Sign]:
    """Samples near the limit hint at it; well below it at their beat they disprove it, at an instant they leave it open."""
    gauge = signals.gauge
    if not gauge or not gauge.limit:
        return
    peak = gauge.incident_peak[1] if gauge.incident_peak else gauge.peak
    said = {"gauge": gauge, "peak": peak}
    if peak >= NEAR_LIMIT * gauge.limit:
        yield hint("slots.near", said, tuple(gauge.refs.values()))
    elif gauge.series.startswith(SNAPSHOT) and not signals.covering(gauge):
        yield question("slots.instant", said, tuple(gauge.refs.values())[:1])
    else:
        yield disproof(
            "slots.below", said, tuple(ref for key, ref in gauge.refs.items() if key != "all_peak")
        )


def clean_log(signals: Signals, why: str) -> Iterator[Sign]:
    """A server's log that covers the window would show it."""
    cover = next(
        (signals.facts[Coverage].of(service) for service in signals.services_in(*POSTGRES_LOGS)), None
    )
    if cover and signals.covers(cover.service):
        yield covered(why, {"service": cover.service}, (cover.first_ref, cover.last_ref))


def db_slow_or_locked(signals: Signals) -> Iterator[Sign]:
    """Lock waits and slow statements in the server's log; without its settings a clean log proves nothing."""
    yield from locked(signals)
    yield from in_snapshots(signals)
    yield from busy_in_snapshots(signals)
    yield from slow_statements(signals)
    cover = signals.facts[Coverage].of(signals.unit)
    if cover and not signals.spans and not signals.groups("pool_exhaustion"):
        yield covered("slow.quiet", {"service": signals.unit}, (cover.first_ref, cover.last_ref))
    logged = signals.services_in(*POSTGRES_LOGS) and (signals.spans or signals.groups("pool_exhaustion"))
    lines = signals.hits(*LOGGED, window=False)
    if logged and lines.height:
        said = {
            "waits": lines.filter(pl.col("signature") != DURATION).height,
            "durations": lines.filter(pl.col("signature") == DURATION).height,
        }
        yield question("slow.logged", said, signals.refs(lines, 2))
    yield question(
        "slow.log_settings" if logged else "slow.unknown", signals.part_of(*signals.services_in(*SERVER_LOGS))
    )


def locked(signals: Signals) -> Iterator[Sign]:
    """Lock waits that overlap the window, by their intervals, and deadlocks and cancelled waits inside it, in the server's log.

    A wait counts once however many lines tell of it, and lines that only add to another (who holds the lock) do not count.
    """
    groups = lock_waits.told(signals)
    waits = lock_waits.touching(signals)
    told = signals.hits(families=("lock_wait", "slow_query", "query_timeout"))
    ended = told.filter(pl.col("signature").str.contains("lock|deadlock") & ~pl.col("signature").is_in(ADDED))
    waiting = pl.col("pid").is_in([one.waiter for one in waits]).fill_null(value=False)
    n = len(waits) + ended.filter(~waiting).height
    if n:
        holders = len({one.holder for one in groups if one.holder})
        said = {"waits": len(waits), "ended": ended.height, "holders": holders}
        refs = (*(one.ref for one in waits), *signals.refs(ended))
        yield (direct if n >= MANY else witness)("slow.locks", said, refs[:4])


def slow_statements(signals: Signals) -> Iterator[Sign]:
    """Slow statements that are not as frequent outside: slow, and not failed."""
    waits = signals.hits(families=("lock_wait", "slow_query", "query_timeout"))
    waits = waits.filter(
        ~pl.col("signature").str.contains("lock|deadlock") & (pl.col("signature") != DURATION)
    )
    slow = [one for one in signals.facts[Upkeeps].items if upkeep.slow(one)]
    if slow or waits.height:
        refs = (*signals.refs(waits, 2 if slow else 4), *(ref for one in slow for ref in one.refs))
        yield hint("slow.statements", {"n": waits.height + sum(one.inside for one in slow)}, refs[:4])


def in_snapshots(signals: Signals) -> Iterator[Sign]:
    """Sessions that wait for a lock in a snapshot inside the window: an instant, so several of them, many sessions or an old holder are asked for."""
    waiting = [one for one in signals.snapshots if one.waiting]
    if not waiting:
        return
    most = max(waiting, key=lambda one: one.waiting)
    sessions = signals.facts[Sessions]
    old = any(one.waiters for snapshot in waiting for one in sessions.candidates(snapshot))
    refs = tuple(ref for one in waiting for ref in (one.blockers[0].refs if one.blockers else (one.ref,)))
    said = {"n": len(waiting), "most": most.waiting, "given": len(signals.snapshots)}
    several = len(waiting) > 1 or most.waiting >= MANY or old
    yield (witness if several else hint)("slow.snapshot", said, refs[:4])


def busy_in_snapshots(signals: Signals) -> Iterator[Sign]:
    """A snapshot inside the window in which most sessions are seconds deep in a statement: slow at that instant, whatever the log says of others."""
    busy = [one for one in signals.snapshots if one.busy > one.total / 2]
    if busy:
        most = max(busy, key=lambda one: (one.busy, -(one.at or 0)))
        said = {"snapshot": most, "given": len(signals.snapshots)}
        yield witness("slow.busy", said, most.busy_refs)


def db_down(signals: Signals) -> Iterator[Sign]:
    """Refused connections and the server's own lifecycle; samples taken inside the window rule it out."""
    ended = signals.hits(*ENDED)
    if ended.height:
        closed = not_accepting(signals)
        said = {"n": ended.height, "closed": closed[:2] if closed else None}
        refs = (*signals.refs(ended), *(closed[2] if closed else ()))
        yield (direct if ended.height > 1 else witness)("db_down.lifecycle", said, refs)
    refused = role_limits.of_slots(signals.hits(families=("server_limit",))).filter(
        pl.col("service").is_in(signals.services_in(*POSTGRES_LOGS))
    )
    answered = refused if refused.height else relayed(signals)
    if unlogged := capacity.unlogged(signals):
        yield disproof("db_down.unlogged", *unlogged)
    elif answered.height:
        said = {"n": answered.height, "least": fewer_told(signals, refused)}
        yield disproof("db_down.refusing", said, signals.refs(answered, 2))
    limited = role_limits.refusals(signals)
    if limited.height:
        yield disproof("db_down.limited", role_limits.values_of(signals, limited), signals.refs(limited, 2))
    gauge = signals.gauge
    instants = bool(gauge and gauge.series.startswith(SNAPSHOT) and not signals.covering(gauge))
    if gauge and not instants and (gauge.incident_peak or not signals.spans):
        yield disproof("db_down.sampled", {"gauge": gauge}, tuple(gauge.refs.values())[:2])
    if signals.pool_was_empty:
        empty = signals.pool_counters
        said = {"n": empty.height, "service": empty["service"][0]}
        yield (witness if empty.height > 1 else hint)("db_down.pool_empty", said, signals.refs(empty, 3))
    broken = signals.inside("db_connect", "connection_broken")
    if broken.height >= MANY:
        yield hint("db_down.clients", {"n": broken.height}, signals.refs(broken))
    yield from clean_log(signals, "db_down.log_clean")
    yield question("db_down.unknown", signals.part_of(*signals.services_in(*SERVER_LOGS)))


def not_accepting(signals: Signals) -> tuple[int, int, tuple[Ref, ...]] | None:
    """Return from when to when a server that was told to stop took no new connection; None where it does not say that it does again.

    From the request on; sessions that are open may go on in a smart shutdown.
    """
    rows = signals.hits("postgres.shutdown-request", "postgres.ready").sort("ts", "source", "line")
    for one, other in pairwise(rows.iter_rows(named=True)):
        if (
            one["service"] == other["service"]
            and one["signature"] != "postgres.ready"
            and other["signature"] == "postgres.ready"
        ):
            return one["ts"], other["ts"], (Ref(other["source"], other["line"]),)
    return None
