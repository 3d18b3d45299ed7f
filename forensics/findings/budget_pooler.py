"""A pooler between services and server: what it may ask of the server, and what it accepts itself.

    server:   sum over pairs of database and user: min(clients, poolers x (pool_size + reserve_pool_size))
    clients:  all services against poolers x max_client_conn
    sessions: in session mode, where a client keeps its server connection, each pair's clients against its pool

``max_db_connections``, where it is not 0, also limits the pools of each database together. The size of a pool is its user's own, else its
database's own (of a database without an entry that of ``*``), else ``default_pool_size``; the reserve likewise.

Reference: https://www.pgbouncer.org/config.html
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING

from forensics.findings.budget_terms import Heard, assumed, best, shown, surge, term
from forensics.model.budget import ANY, POOLER, Check, Origin, Range, Term

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from forensics.model.budget import Client, Demand, Deployment, Link, Said

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
ANYTHING = "*"
"""PgBouncer's entry for databases that have none of their own."""
Pair = tuple[str, str]
"""Database and user: PgBouncer opens one pool for each."""
Pool = tuple[str | None, str | None]
"""The same where one of them may not be known."""


@dataclass(frozen=True, slots=True)
class Pooling:
    """What the pooler adds: its terms, what it may ask of the server, and its own limits."""

    terms: tuple[Term, ...]
    server: Range
    formula: str
    checks: tuple[Check, ...]


class Settings:
    """The pooler's settings for all, and what its file sets for single databases and users; it remembers which were asked for."""

    def __init__(self, heard: Heard, deployment: Deployment, *, update: bool) -> None:
        self.terms = {name: setting(name, value, heard) for name, value in DEFAULTS.items()}
        poolers = self.terms["replicas"]
        self.surge = surge(POOLER, heard[POOLER, "surge"], poolers.value)
        if update and self.surge:
            self.terms["replicas"] = replace(poolers, value=poolers.value + self.surge.value)
        self.entries = {link.name: link.user for link in deployment.upstream}
        self.own = {(one.of, one.name, one.said.term): one.said for one in deployment.own}
        self.used: dict[str, Term] = {}

    def entry(self, database: str | None) -> str | None:
        """Return the entry that serves a database; None where none does, as one in another file may, or where it is not known which."""
        return (
            next((name for name in (database, ANYTHING) if name in self.entries), None) if database else None
        )

    def user(self, link: Link | None) -> str | None:
        """Return the user of the pool that a way leads to: that of the database's entry, else that of the client."""
        entry = self.entry(link.database) if link else None
        return (self.entries[entry] if entry else None) or (link.user if link else None)

    def options(self, term: str, database: str | None, user: str | None) -> list[Range]:
        """Return the values that a setting may have for one pool: one where the files tell which entries apply."""
        found = self.of("user", term, user)
        if user is None or not found:
            entry = self.entry(database)
            own = self.of("database", term, entry)
            plain = bool(entry or database) or len(own) < len(self.entries) or not self.entries
            found += own if entry and own else [*own, *([self.terms[term]] if plain else [])]
        self.used |= {one.name: one for one in found}
        return [one.value for one in found]

    def of(self, kind: str, term: str, name: str | None) -> list[Term]:
        """Return what one database or user sets for itself; of a name that is not known, what any sets."""
        return [
            owned(kind, whose, said)
            for (of, whose, what), said in self.own.items()
            if (of, what) == (kind, term) and name in (whose, None)
        ]

    def each(self, pools: Iterable[Pool]) -> tuple[Range, str]:
        """Return how many connections one of some pools may hold, over all poolers, and how that comes about."""
        size, reserve = (
            reduce(Range.hull, [value for pool in pools for value in self.options(term, *pool)])
            for term in ("default_pool_size", "reserve_pool_size")
        )
        poolers = self.terms["replicas"].value
        return poolers * (size + reserve), f"{shown(poolers)} x ({shown(size)} + {shown(reserve)})"

    def limit(self, databases: Iterable[str | None]) -> Range | None:
        """Return the limit of a database's pools together; None where it has none."""
        values = [value for name in databases for value in self.options("max_db_connections", name, "")]
        limits = [value for value in values if value.low]
        if not limits:
            return None
        whole = reduce(Range.hull, limits)
        return whole if len(limits) == len(values) else Range(whole.low, None)

    def shown(self) -> list[Term]:
        """Return the terms that were asked for, those for all in their order before those of single databases and users."""
        always = ("max_client_conn", "replicas")
        plain = [one for name, one in self.terms.items() if name in always or name in self.used]
        own = [one for name, one in self.used.items() if name not in self.terms]
        return [*plain, *([self.surge] if self.surge else []), *own]


def owned(kind: str, name: str, said: Said) -> Term:
    """Return what one database or user sets for itself, as a term: ``pool_size@app``, ``pool_size@user=report``."""
    whose = name if kind == "database" else f"{kind}={name}"
    return term(POOLER, f"{said.term.removeprefix('default_')}@{whose}", [said])


def pooling(
    demands: list[Demand],
    clients: list[Client],
    deployment: Deployment,
    heard: Heard,
    notes: list[str],
    *,
    update: bool = False,
) -> Pooling:
    """Return what services behind PgBouncer ask of the server: no more than its pools hold.

    ``demands`` and ``clients`` are those of the services behind it, in the same order; ``update``: do new poolers run beside old ones, where theirs start first?
    """
    settings = Settings(heard, deployment, update=update)
    shares = by_pair(demands, clients, settings)
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
    asked: list[Pool] = [*shares] or [
        (link.database, settings.user(link)) if link else (None, None) for link in map(main, clients)
    ]
    if shares:
        server, formula = of_pairs(shares, settings)
    else:
        server, formula = of_all(total, pools.value, asked, settings)
    accepting, poolers = settings.terms["max_client_conn"].value, settings.terms["replicas"].value
    checks = [
        Check(
            "pooler_clients",
            total,
            poolers * accepting,
            f"{shown(total)} clients against {shown(poolers)} x max_client_conn {shown(accepting)}",
        )
    ]
    if mode.text in (MODE, UNKNOWN):
        checks.append(sessions(shares, total, pools.value, asked, settings, known=mode.text == MODE))
    notes.extend(passed_over(settings, heard))
    return Pooling((mode, pools, *settings.shown()), server, formula, tuple(checks))


def main(client: Client) -> Link | None:
    """Return a service's way through the pooler."""
    return client.links[0] if client.links else None


def sessions(
    shares: dict[Pair, Range],
    total: Range,
    pools: Range,
    asked: list[Pool],
    settings: Settings,
    *,
    known: bool,
) -> Check:
    """Return how many sessions ask for the pool that has least room for its own; all against all where their pools are not known.

    ``known``: is it known that each session keeps its server connection?
    """
    found = []
    for pair, clients in shares.items():
        room, text = settings.each([pair])
        found.append((clients, room, text))
    if not found:
        room, text = settings.each(asked)
        found.append((total, room * pools, f"{text} x {shown(pools)}"))
    largest, room, text = max(found, key=lambda one: pressed(one[0], one[1]))
    room = Range(room.low, room.high if known else None)
    return Check("pooler_sessions", largest, room, f"{shown(largest)} sessions against {text}")


def pressed(clients: Range, room: Range) -> tuple[int, float, int]:
    """Order pools by how little room they have: those that are surely over first, then by what may be missing."""
    over = clients.exceeds(room)
    missing = (float("inf") if clients.high is None else clients.high) - room.low
    return 2 if over else 1 if over is None else 0, missing, clients.low


def passed_over(settings: Settings, heard: Heard) -> Iterator[str]:
    """Note where somebody states a setting for all that a database or a user has for itself."""
    for one in settings.used.values():
        plain = next((name for name in DEFAULTS if one.name.partition("@")[0] in (name, name.removeprefix("default_"))), "")  # fmt: skip
        if (
            "@" in one.name
            and one.origin
            and any(said.origin.kind in ("option", "case") for said in heard[POOLER, plain])
        ):
            yield f"{one.origin.text} ({one.origin.where}) comes before {plain}"


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


def by_pair(demands: list[Demand], clients: list[Client], settings: Settings) -> dict[Pair, Range]:
    """Return the clients of each pair of database and user; empty where a service does not name both.

    A user that the pooler's own entry of a database names is used for all its clients.
    """
    found: dict[Pair, Range] = {}
    for demand, client in zip(demands, clients, strict=True):
        link = main(client)
        database, user = link.database if link else None, settings.user(link)
        if database is None or user is None:
            return {}
        found[database, user] = found.get((database, user), Range.of(0)) + demand.total
    return found


def of_pairs(shares: dict[Pair, Range], settings: Settings) -> tuple[Range, str]:
    """Return what the server is asked for where the clients of each pool are known, and the formula."""
    databases: defaultdict[str, list[tuple[Range, str]]] = defaultdict(list)
    for pair, clients in shares.items():
        each, text = settings.each([pair])
        databases[pair[0]].append((clients.capped(each), f"min({shown(clients)}, {text})"))
    totals, parts = [], []
    for name, pools in databases.items():
        asked = reduce(add, (value for value, _ in pools))
        text = " + ".join(said for _, said in pools)
        limit, poolers = settings.limit([name]), settings.terms["replicas"].value
        if limit:
            asked = asked.capped(poolers * limit)
            text = f"min({text}, {shown(poolers)} x max_db_connections {shown(limit)})"
        totals.append(asked)
        parts.append(text)
    return reduce(add, totals), " + ".join(parts)


def of_all(total: Range, pools: Range, asked: list[Pool], settings: Settings) -> tuple[Range, str]:
    """Return what the server is asked for where it is not known how the clients are spread over the pools: a range if there may be several."""
    each, of_each = settings.each(asked)
    most = total.capped(each * pools)
    least = total.capped(each)
    text = f"min({shown(total)}, {shown(pools)} x {of_each})"
    limit, poolers = settings.limit(database for database, _ in asked), settings.terms["replicas"].value
    if limit:
        most = most.capped(poolers * limit * pools)
        least = least.capped(poolers * limit)
        text = f"min({text}, {shown(poolers)} x max_db_connections {shown(limit)} x {shown(pools)})"
    return Range(least.low, most.high), text
