"""A pooler between services and server: what it may ask of the server, and what it accepts itself.

    server:   sum over pairs of database and user: min(clients, poolers x (default_pool_size + reserve_pool_size))
    clients:  all services against poolers x max_client_conn
    sessions: in session mode, where a client keeps its server connection, each pair's clients against its pool

``max_db_connections``, where it is not 0, also limits the pools of each database together.

Reference: https://www.pgbouncer.org/config.html
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import reduce
from operator import add

from forensics.findings.budget_terms import Heard, assumed, best, shown, term
from forensics.model.budget import ANY, POOLER, Check, Client, Demand, Deployment, Origin, Range, Term

DEFAULTS = {
    "default_pool_size": 20,
    "reserve_pool_size": 0,
    "max_db_connections": 0,
    "max_client_conn": 100,
    "replicas": 1,
}
MODE = "session"
"""PgBouncer's ``pool_mode`` where nobody sets it."""
UNKNOWN = "unknown"
REFERENCE = "https://www.pgbouncer.org/config.html"
Pair = tuple[str, str]
"""Database and user: PgBouncer opens one pool for each."""


@dataclass(frozen=True, slots=True)
class Pooling:
    """What the pooler adds: its terms, what it may ask of the server, and its own limits."""

    terms: tuple[Term, ...]
    server: Range
    formula: str
    checks: tuple[Check, ...]


def pooling(demands: list[Demand], clients: list[Client], deployment: Deployment, heard: Heard) -> Pooling:
    """Return what services behind PgBouncer ask of the server: no more than its pools hold.

    ``demands`` and ``clients`` are those of the services behind it, in the same order.
    """
    settings = {name: setting(name, value, heard) for name, value in DEFAULTS.items()}
    shares = by_pair(demands, clients, deployment)
    count = None
    if shares:
        where = ", ".join(sorted({link.name for client in clients for link in client.links}))
        origin = Origin("url", where, "pairs of database and user")
        count = Term(POOLER, "pools", Range.of(len(shares)), "pools", origin)
    why = "one pool for each pair of database and user, and not all services name both"
    pools = term(POOLER, "pools", heard[POOLER, "pools"], count, why)
    if pools is not count:
        shares = {}
    mode = pool_mode(heard)
    total = reduce(add, (item.total for item in demands))
    value = {name: item.value for name, item in settings.items()}
    each = value["replicas"] * (value["default_pool_size"] + value["reserve_pool_size"])
    each_text = f"{shown(value['replicas'])} x ({shown(value['default_pool_size'])} + {shown(value['reserve_pool_size'])})"
    if shares:
        server, formula = of_pairs(shares, each, value)
    else:
        server, formula = of_all(total, pools.value, each, value)
    accepted = value["replicas"] * value["max_client_conn"]
    checks = [
        Check(
            "pooler_clients",
            total,
            accepted,
            f"{shown(total)} clients against {shown(value['replicas'])} x max_client_conn {shown(value['max_client_conn'])}",
        )
    ]
    if mode.text in (MODE, UNKNOWN):
        largest = max(shares.values(), key=size) if shares else total
        room = each if shares else each * pools.value
        room = Range(each.low, room.high if mode.text == MODE else None)
        how = f"{shown(largest)} sessions against {each_text}{'' if shares else f' x {shown(pools.value)}'}"
        checks.append(Check("pooler_sessions", largest, room, how))
    return Pooling((mode, pools, *settings.values()), server, formula.format(each=each_text), tuple(checks))


def setting(name: str, value: int, heard: Heard) -> Term:
    """Return one of the pooler's settings, else PgBouncer's default."""
    what = "one pooler is named" if name == "replicas" else "default of PgBouncer"
    default = assumed(POOLER, name, Range.of(value), what, "" if name == "replicas" else REFERENCE)
    return term(POOLER, name, heard[POOLER, name], default)


def pool_mode(heard: Heard) -> Term:
    """Return the pooler's mode; unknown where a variable without a value hides it."""
    said, others = best(heard[POOLER, "pool_mode"])
    if said is None:
        origin = Origin("default", REFERENCE, "default of PgBouncer")
        return Term(POOLER, "pool_mode", ANY, "", origin, text=MODE)
    if said.value is None:
        why = f"{said.origin.text} ({said.origin.where})"
        return Term(POOLER, "pool_mode", ANY, "", None, why, "--set pooler.pool_mode=MODE", others, UNKNOWN)
    return Term(POOLER, "pool_mode", ANY, "", said.origin, others=others, text=str(said.value))


def by_pair(demands: list[Demand], clients: list[Client], deployment: Deployment) -> dict[Pair, Range]:
    """Return the clients of each pair of database and user; empty where a service does not name both.

    A user that the pooler's own entry of a database names is used for all its clients.
    """
    forced = {link.name: link.user for link in deployment.upstream if link.user}
    found: dict[Pair, Range] = {}
    for demand, client in zip(demands, clients, strict=True):
        link = client.links[0] if client.links else None
        database = link.database if link else None
        user = forced.get(database or "", link.user if link else None)
        if database is None or user is None:
            return {}
        found[database, user] = found.get((database, user), Range.of(0)) + demand.total
    return found


def of_pairs(shares: dict[Pair, Range], each: Range, value: dict[str, Range]) -> tuple[Range, str]:
    """Return what the server is asked for where the clients of each pool are known, and the formula."""
    limit = value["max_db_connections"]
    databases: defaultdict[str, list[Range]] = defaultdict(list)
    for (database, _), clients in shares.items():
        databases[database].append(clients)
    totals, parts = [], []
    for pools in databases.values():
        asked = reduce(add, (clients.capped(each) for clients in pools))
        text = " + ".join(f"min({shown(clients)}, {{each}})" for clients in pools)
        if limit.low:
            asked = asked.capped(value["replicas"] * limit)
            text = f"min({text}, {shown(value['replicas'])} x max_db_connections {shown(limit)})"
        totals.append(asked)
        parts.append(text)
    return reduce(add, totals), " + ".join(parts)


def of_all(total: Range, pools: Range, each: Range, value: dict[str, Range]) -> tuple[Range, str]:
    """Return what the server is asked for where it is not known how the clients are spread over the pools: a range if there may be several."""
    limit = value["max_db_connections"]
    most = total.capped(each * pools)
    least = total.capped(each)
    text = f"min({shown(total)}, {shown(pools)} x {{each}})"
    if limit.low:
        most = most.capped(value["replicas"] * limit * pools)
        least = least.capped(value["replicas"] * limit)
        text = f"min({text}, {shown(value['replicas'])} x max_db_connections {shown(limit)} x {shown(pools)})"
    return Range(least.low, most.high), text


def size(value: Range) -> tuple[float, int]:
    """Order ranges by their upper bound, then by their lower one."""
    return (float("inf") if value.high is None else value.high, value.low)
