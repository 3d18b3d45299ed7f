"""Hypotheses about what the application talks to beside the database: Redis, and the gateway before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.findings.signals import GATEWAYS, MINUTE, SECOND
from forensics.findings.weighing.scale import MANY, Sign, covered, direct, explained, hint, question, witness
from forensics.model.facts import Coverage, Failures

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from forensics.findings.signals import Signals
    from forensics.model.facts import FailureGroup

REDIS = ("redis_timeout", "redis_connection", "redis_pool", "redis_unavailable")
REFUSED = "redis_refused"
"""Family of the commands that Redis answered with a refusal for lack of memory."""
SYMPTOM = 0.9
"""Share of Redis' timeouts inside stalls from which they are its symptom: some are printed a moment later."""


def redis_failed(signals: Signals) -> Iterator[Sign]:
    """Timeouts of a client that stood still are a symptom; timeouts of one that went on are not."""
    server = signals.hits(families=("redis_unavailable",)).filter(
        pl.col("service").is_in(signals.services_in("redis"))
    )
    if server.height:
        yield direct("redis.server", {"n": server.height}, signals.refs(server))
    yield from refusals(signals)
    rows = signals.inside(*REDIS)
    yield from client_timeouts(signals, rows)
    yield from counted_timeouts(signals)
    every = signals.groups(*REDIS, REFUSED, window=False)
    if every and not rows.height and not signals.inside(REFUSED).height:
        families = pl.col("family").is_in([*REDIS, REFUSED])
        elsewhere = signals.numbers(signals.facts[Failures].rows.filter(families))
        said = {"n": sum(group.failures for group in every), "incidents": elsewhere}
        yield explained("redis.background", said, every[0].refs[:3], outweighs=0)
    if cover := signals.facts[Coverage].of(signals.unit):
        yield covered("redis.none", {"service": signals.unit}, (cover.first_ref, cover.last_ref))
    yield question("no_log", {"service": signals.unit})


def refusals(signals: Signals) -> Iterator[Sign]:
    """Commands that Redis itself refused inside incidents, its memory being full: it answered, and says why."""
    rows = signals.inside(REFUSED)
    if rows.height:
        make = direct if rows.height >= MANY else hint
        said = {"n": rows.height, "least": least(rows), "services": sorted(rows["service"].unique())}
        yield make("redis.memory", said, signals.refs(rows))


def client_timeouts(signals: Signals, rows: pl.DataFrame) -> Iterator[Sign]:
    """Timeouts inside incidents: those that a stall of the client explains, and the others."""
    if not rows.height:
        return
    in_stalls = signals.rows_in_stalls(rows)
    said = {"n": rows.height, "least": least(rows)}
    if in_stalls >= SYMPTOM * rows.height:
        symptom = said | {"in_stalls": in_stalls}
        yield explained("redis.symptom", symptom, signals.refs(rows), outweighs=2)
    if rows.height - in_stalls >= MANY:
        yield witness("redis.clients", said | {"outside": rows.height - in_stalls}, signals.refs(rows))
    else:
        yield hint("redis.few", {"n": rows.height}, signals.refs(rows))


def counted_timeouts(signals: Signals) -> Iterator[Sign]:
    """Timeouts whose own counters say who was late; the client's own lack of threads outweighs no other sign."""
    by: dict[str | None, list[FailureGroup]] = {}
    for group in signals.groups(*REDIS):
        by.setdefault(counted(group), []).append(group)
    for told in ("unanswered", "starved"):
        if groups := by.get(told):
            said = {"n": sum(group.failures for group in groups), "service": groups[0].service}
            why, refs = f"redis.{told}", groups[0].refs[:3]
            yield hint(why, said, refs) if told == "unanswered" else explained(why, said, refs, outweighs=0)


def least(rows: pl.DataFrame) -> int:
    """Count the failures that are told apart for sure; a further row may be another line of one of them."""
    return int(rows["sure"].sum())


def counted(group: FailureGroup) -> str | None:
    """Say what the client's own counters tell of a group's timeouts, by the first of them (:func:`late`)."""
    return late(group.parameters)


def late(said: Mapping[str, Any]) -> str | None:
    """Say what the client's own counters tell of a timeout: ``starved`` of threads with answers unread, or ``unanswered``.

    StackExchange.Redis prints the bytes that wait to be read and its pool's busy threads against the minimum, beyond which new ones come
    slowly (its docs/Timeouts.md).
    """
    unread, busy, least = (said.get(name) for name in ("in_bytes", "worker_busy", "worker_min"))
    if unread is None:
        return None
    if unread and busy is not None and least is not None and busy > least:
        return "starved"
    return "unanswered" if not unread and (busy is None or least is None or busy <= least) else None


def gateway_failed(signals: Signals) -> Iterator[Sign]:
    """A gateway that went on logging was there; its failed calls into a stalled service are that service's."""
    rows = signals.inside("gateway_connect", "gateway_timeout", "gateway_health")
    if rows.height >= MANY and not signals.stalled() and not signals.groups("pool_exhaustion"):
        yield hint("gateway.errors", {"n": rows.height}, signals.refs(rows))
    lo, hi = signals.window
    gateways = signals.services_in(*GATEWAYS)
    for cover in signals.facts[Coverage].services:
        if cover.service not in gateways or cover.first > lo + MINUTE:
            continue
        inside = pl.col("second").is_between(lo // SECOND, hi // SECOND)
        lines = signals.evidence["seconds"].filter((pl.col("service") == cover.service) & inside)
        lines = lines.sort("second")
        if lines.height:
            first = signals.refs(lines.select("source", line="first_line").head(1))
            last = signals.refs(lines.select("source", line="last_line").tail(1))
            said = {"service": cover.service, "lines": int(lines["n"].sum())}
            yield covered("gateway.alive", said, (*first, *last))
    yield question("gateway.unknown", signals.part_of(*gateways))
