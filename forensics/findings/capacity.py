"""Whose limit was reached: demand of a service against its own pool, refusals of the server by client, and both at once.

2 x 6 = 12 > 10        requests at once x connections that each takes, against the pool
566 refusals = 452 of worker@fleet + 114 of api@fleet
"""

from __future__ import annotations

import json
from itertools import zip_longest
from typing import TYPE_CHECKING

import polars as pl

from forensics.findings import role_limits
from forensics.findings.signals import MINUTE, POSTGRES_LOGS, SECOND
from forensics.model.facts import Coverage, Failures, Losses
from forensics.model.finding import Finding, Grade
from forensics.model.source import Ref

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from forensics.findings.signals import Signals
    from forensics.model.facts import Cover, FailureGroup
    from forensics.model.known import PoolHint

POOL = "pool_exhaustion"
REFUSED = "server_limit"
FULL = "too many clients|remaining connection slots|53300|TooManyConnections"
TOLD = 6
"""Clients that are named."""
EDGE_US = 5 * SECOND
"""How much later than the window a server's log may begin, or end earlier, and still hold all of it: its lines are few."""
STOPS = 3
"""Stops of a server that are told one by one."""
UNCLEAN = "interrupted|not properly shut down"
"""What a server says at its start of an end that was not orderly."""
NOT_POSTGRES = ("redis", "pgbouncer", "mysql")
"""Libraries whose refusals are not PostgreSQL's."""
ELSEWHERE = (
    "a pooler such as PgBouncer, which refuses by itself or repeats an earlier refusal",
    "another server than the one whose log was given",
)
UNWRITTEN = "log_min_messages = panic, or a log from which lines were left out"


def hint_of(signals: Signals, service: str) -> PoolHint | None:
    """Return what the case file says of a service's pool; a block without a service means the only one."""
    hints = signals.known.pools
    return next((hint for hint in hints if hint.service == service), None) or next(
        (hint for hint in hints if hint.service is None and len(hints) == 1), None
    )


def capacity_of(signals: Signals, group: FailureGroup) -> tuple[Any, Any, Any]:
    """Return size, overflow and their sum of a pool: as its own text states it, else as the case file does."""
    hint = hint_of(signals, group.service)
    size = group.parameters.get("size")
    size = size if size is not None else group.parameters.get("limit")
    size = size if size is not None or hint is None else hint.size
    overflow = group.parameters.get("overflow")
    overflow = overflow if overflow is not None or hint is None else hint.overflow
    if isinstance(size, int) and isinstance(overflow, int) and overflow >= 0:
        return size, overflow, size + overflow
    return size, overflow, size


def at_once(rows: pl.DataFrame) -> int:
    """Return how many waits were open at one instant at most."""
    waits = rows.filter(pl.col("began") < pl.col("ts"))
    edges = sorted([(began, 1) for began in waits["began"]] + [(ended, -1) for ended in waits["ts"]])
    now = most = 0
    for _, step in edges:
        now += step
        most = max(most, now)
    return most


def fan_out(signals: Signals, pool: FailureGroup, rows: pl.DataFrame) -> Iterator[Finding]:
    """Tell how few requests at once ask for more than the pool has, where the case file says what each takes."""
    values = fan_out_values(signals, pool)
    if values:
        yield Finding(
            "mechanism.fan_out", "mechanism", Grade.DERIVED, {**values, "waiting": at_once(rows)}, signals.refs(rows, 1),
            formula=f"{values['n']} x {values['each']} = {values['demand']} > {values['capacity']}",
            scope="connections that each request takes as the case file states them",
        )  # fmt: skip


def fan_out_values(signals: Signals, pool: FailureGroup | None) -> dict[str, Any]:
    """Return the smallest number of requests at once that a pool cannot serve, with its arithmetic; nothing where a term is missing."""
    hint = hint_of(signals, pool.service) if pool else None
    capacity = capacity_of(signals, pool)[2] if pool else None
    if pool is None or hint is None or not hint.fan_out or not isinstance(capacity, int):
        return {}
    n = capacity // hint.fan_out + 1
    return {
        "service": pool.service,
        "each": hint.fan_out,
        "n": n,
        "demand": n * hint.fan_out,
        "capacity": capacity,
    }


def refusals(signals: Signals) -> pl.DataFrame:
    """Return the connections that a database server refused for lack of slots, in and around the window, by its own log."""
    lo, hi = signals.window
    rows = role_limits.of_slots(signals.facts[Failures].rows)
    return rows.filter(
        (pl.col("family") == REFUSED)
        & pl.col("service").is_in(signals.services_in(*POSTGRES_LOGS))
        & pl.col("ts").is_between(lo - MINUTE, hi + MINUTE)
    ).sort("ts", "source", "line")


def client_refusals(signals: Signals) -> pl.DataFrame:
    """Return the connections refused for lack of slots, in and around the window, that the logs of clients tell of."""
    lo, hi = signals.window
    hits = signals.hits(*role_limits.CLIENT_TEXTS).filter(quoting(pl.col("parameters")))
    full = hits.select("source", "line").unique()
    rows = role_limits.of_slots(signals.facts[Failures].rows)
    rows = rows.filter(
        pl.col("ts").is_between(lo - MINUTE, hi + MINUTE)
        & ~pl.col("service").is_in(signals.services_in(*POSTGRES_LOGS))
        & ~pl.col("signature").str.starts_with("redis")
    )
    worded = rows.filter(
        pl.col("signature").is_in(list(role_limits.CLIENT_TEXTS)) & (pl.col("family") != REFUSED)
    )
    quoted = worded.join(full, on=["source", "line"], how="semi")
    return pl.concat([rows.filter(pl.col("family") == REFUSED), quoted]).sort("ts", "source", "line")


def quoting(text: pl.Expr) -> pl.Expr:
    """Does what a client says of its connection quote a server without slots?"""
    return text.str.contains(FULL) & ~text.str.contains(role_limits.TEXT)


def quoted_refusals(signals: Signals) -> pl.DataFrame:
    """Return the lines in and around the window in which clients quote PostgreSQL's refusal for lack of slots."""
    quoted = signals.hits(*role_limits.CLIENT_TEXTS).filter(quoting(pl.col("parameters")))
    own = role_limits.of_slots(signals.hits(families=(REFUSED,))).filter(
        ~pl.col("signature").str.contains(f"^(?:{'|'.join(NOT_POSTGRES)})")
    )
    rows = pl.concat([own, quoted]).filter(~pl.col("service").is_in(signals.services_in(*POSTGRES_LOGS)))
    return rows.sort("ts", "source", "line")


def unlogged(signals: Signals) -> tuple[dict[str, Any], tuple[Ref, ...]] | None:
    """Return the refusals that clients tell of and the server's log does not, with their places; None where it tells of any, or does not cover them and the window.

    A log with declared losses covers nothing, and of several servers all must be silent: a client does not say which refused it.
    """
    rows = quoted_refusals(signals)
    servers = signals.services_in(*POSTGRES_LOGS)
    written = role_limits.of_slots(signals.hits(families=(REFUSED,), window=False))
    written = written.filter(pl.col("service").is_in(servers))
    around = covering(signals, servers, rows) if rows.height else []
    if not around or at_incident(signals, written).height:
        return None
    clients = told_by_clients(signals)
    said = pl.col("parameters").str
    peers = rows.select(host=said.json_path_match("$.host"), port=said.json_path_match("$.port"))
    named = peers.drop_nulls().unique(maintain_order=True).head(TOLD)
    values = {
        "n": sum(sure for _, sure, _ in clients) or rows.select("source", "line").n_unique(), "first": rows["ts"][0], "last": rows["ts"][-1], "clients": clients[:TOLD],
        "peers": [f"{host}:{port}" for host, port in named.iter_rows()],
        "servers": servers, "since": max(one.first for one in around), "until": min(one.last for one in around), "elsewhen": written.height,
    }  # fmt: skip
    return values, (*signals.refs(rows, 2), around[0].first_ref, around[0].last_ref)


def covering(signals: Signals, servers: list[str], rows: pl.DataFrame) -> list[Cover]:
    """Return what the logs of servers cover, if each of them covers some lines and the window, and declares no loss; else nothing."""
    lost = {loss.service for loss in signals.facts[Losses].items}
    covers = [cover for cover in map(signals.facts[Coverage].of, servers) if cover is not None]
    whole = [
        one
        for one in covers
        if signals.covers(one.service)
        and one.first <= rows["ts"][0]
        and one.last >= rows["ts"][-1]
        and one.service not in lost
    ]
    return whole if len(whole) == len(servers) else []


def at_incident(signals: Signals, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows in and around the window."""
    lo, hi = signals.window
    return rows.filter(pl.col("ts").is_between(lo - MINUTE, hi + MINUTE))


def contradicted(signals: Signals) -> Iterator[Finding]:
    """Tell the refusals that clients tell of and the server's log, which covers them, does not."""
    found = unlogged(signals)
    if found:
        values, refs = found
        others = () if values["elsewhen"] else (UNWRITTEN,)
        yield Finding(
            "mechanism.unlogged", "mechanism", Grade.INFERRED, values, refs, scope="capacity only", alternatives=(*ELSEWHERE, *others),
            method="refusals in clients' logs against the server's log over the same time",
        )  # fmt: skip


def told_by_clients(signals: Signals) -> list[tuple[str, int, int]]:
    """Return how many refused connections each client's own log tells of at least and at most, the most first."""
    counts: dict[str, list[bool]] = {}
    for service, sure in client_refusals(signals).select("service", "sure").iter_rows():
        counts.setdefault(service, []).append(sure)
    return sorted(
        ((name, sum(each), len(each)) for name, each in counts.items()), key=lambda one: (-one[2], one[0])
    )


def at_least(signals: Signals, rows: pl.DataFrame) -> bool:
    """Are there more failures than these rows, as the groups that they belong to say?"""
    kinds = set(rows.select("service", "signature").iter_rows())
    families = set(rows["family"])
    return any(
        group.bound == "at_least" and (group.service, group.signature) in kinds
        for group in signals.groups(*families)
    )


def cut(signals: Signals, servers: Iterable[str]) -> tuple[int | None, int | None]:
    """Return when the logs of some servers begin after the window's start, and when they end before its end (µs), None where they do not.

    What such a log counts is a lower bound.
    """
    lo, hi = signals.window
    covers = [cover for name in servers if (cover := signals.facts[Coverage].of(name))]
    first = max((cover.first for cover in covers), default=lo)
    last = min((cover.last for cover in covers), default=hi)
    return first if first > lo + EDGE_US else None, last if last < hi - EDGE_US else None


def fewer_told(signals: Signals, rows: pl.DataFrame) -> bool:
    """Were more refused than these rows tell: because lines are missing, or because the server's log does not hold the whole window?"""
    servers = set(rows["service"]) & set(signals.services_in(*POSTGRES_LOGS))
    return at_least(signals, rows) or any(cut(signals, servers))


def untold(
    refused: tuple[int, bool], clients: list[tuple[str, int, int]], more: bool
) -> tuple[int, int | None] | None:
    """Return how many refusals the clients' logs do not tell of, at least and at most (None: no bound); None where nothing follows.

    `refused` is their number and whether it is a lower bound, `more` whether the clients' counts are lower bounds: a difference
    of numbers with bounds has bounds.
    """
    n, least = refused
    low = 0 if more else max(0, n - sum(most for _, _, most in clients))
    high = None if least else n - sum(sure for _, sure, _ in clients)
    return None if not clients or not (low if high is None else high > 0) else (low, high)


def refused(signals: Signals) -> Iterator[Finding]:
    """Tell who refused whom, from when to when, by the server's log and by those of its clients."""
    rows = refusals(signals)
    clients = told_by_clients(signals)
    if not rows.height:
        return
    whose = (
        rows.filter(pl.col("peer").is_not_null())["peer"]
        .value_counts()
        .sort("count", "peer", descending=[True, False])
    )
    counts = [(str(peer), int(n)) for peer, n in whose.iter_rows()]
    times = rows["ts"]
    longest = rows.select(pause=pl.col("ts").diff().max()).item() if rows.height > 1 else None
    least, more = fewer_told(signals, rows), at_least(signals, client_refusals(signals))
    begins, ends = cut(signals, rows["service"].unique())
    yield Finding(
        "mechanism.refused", "mechanism", Grade.VERIFIED,
        {
            "n": rows.height, "least": least, "begins": begins, "ends": ends, "first": times.min(), "last": times.max(), "server": rows["service"][0], "whose": counts[:TOLD],
            "further": max(0, len(counts) - TOLD), "unnamed": rows.height - sum(n for _, n in counts), "clients": clients[:TOLD],
            "untold": untold((rows.height, least), clients, more), "pause": round((longest or 0) / SECOND, 1),
        },
        first_and_last(rows), scope="capacity only",
    )  # fmt: skip


def first_and_last(rows: pl.DataFrame) -> tuple[Ref, ...]:
    """Return the places of the first two rows and the last one."""
    picked = pl.concat([rows.head(2), rows.tail(1)]).unique(["source", "line"], maintain_order=True)
    return tuple(Ref(source, line) for source, line in picked.select("source", "line").iter_rows())


def both_limits(signals: Signals) -> dict[str, Any]:
    """Return the waits that ran out in clients' own pools beside the connections that the server refused; nothing where one is missing.

    Refusals that the server's own log contradicts are not told as the server's.
    """
    lo, hi = signals.window
    inside = signals.facts[Failures].rows.filter(
        pl.col("ts").is_between(lo - MINUTE, hi + MINUTE) & (pl.col("side") != "monitor")
    )
    waits = inside.filter(pl.col("family") == POOL)
    if unlogged(signals):
        return {}
    server = refusals(signals)
    refused = server if server.height else client_refusals(signals)
    n = server.height or int(refused["sure"].sum())
    if not waits.height or not n:
        return {}
    kinds = waits.group_by("signature").agg(n=pl.len()).sort(["n", "signature"], descending=[True, False])
    titles = [(signals.known.signatures[name].title, int(count)) for name, count in kinds.iter_rows()]
    return {
        "waits": waits.height, "waits_least": at_least(signals, waits), "kinds": titles, "services": waits["service"].n_unique(),
        "refused": n, "refused_least": n < refused.height or fewer_told(signals, refused), "first_wait": waits["began"].min(),
        "first_refusal": refused["ts"].min(), "refs": (*signals.refs(waits.sort("ts", "line"), 1), *signals.refs(refused, 1)),
    }  # fmt: skip


def sides(signals: Signals) -> Iterator[Finding]:
    """Tell the limit of the clients' own pools from that of the server where both were reached."""
    values = both_limits(signals)
    if values:
        refs = values.pop("refs")
        yield Finding("mechanism.sides", "mechanism", Grade.DERIVED, values, refs)


def server_end(signals: Signals) -> Iterator[Finding]:
    """Tell each time that a database server was asked to stop, how that lies to its refusals, and when it was open again."""
    asked = signals.hits("postgres.shutdown-request").sort("ts", "source", "line")
    for (_,), rows in asked.group_by("service", maintain_order=True):
        stops = [
            stopped(signals, row, after)
            for row, after in zip_longest(rows.to_dicts(), rows["ts"].to_list()[1:])
        ]
        first = rows["ts"][0]
        before = refusals(signals).filter(pl.col("ts") <= first)
        last = before["ts"].max() if before.height else None
        values = {
            "n": len(stops),
            "stops": [values for values, _ in stops[:STOPS]],
            "apart": (first - last) / SECOND if last is not None else None,
        }
        refs = tuple(ref for _, refs in stops for ref in refs)
        yield Finding("mechanism.server_end", "mechanism", Grade.VERIFIED, values, refs[: 2 * STOPS])


def stopped(signals: Signals, row: dict[str, Any], until: int | None) -> tuple[dict[str, Any], list[Ref]]:
    """Return one stop of a server, before the next one: when, how, when it was open again and what it said then, with their places."""
    life = (
        signals.hits("postgres.ready", "postgres.previous-stop")
        .filter((pl.col("service") == row["service"]) & (pl.col("ts") > row["ts"]))
        .filter(pl.lit(value=True) if until is None else pl.col("ts") < until)
        .sort("ts", "line")
    )
    ready = life.filter(pl.col("signature") == "postgres.ready")
    ends = life.filter(
        (pl.col("signature") == "postgres.previous-stop") & pl.col("parameters").str.contains(UNCLEAN)
    )
    at = ready["ts"][0] if ready.height else None
    values = {
        "at": row["ts"],
        "mode": json.loads(row["parameters"] or "{}").get("mode"),
        "ready": at,
        "shut": (at - row["ts"]) / SECOND if at is not None else None,
        "unclean": bool(ends.height),
    }
    return values, [Ref(row["source"], row["line"]), *signals.refs(ready, 1), *signals.refs(ends, 1)]
