"""Connections that services may open at most, against those that the database server has for them.

    demand   = sum over services (replicas x processes x (pool + worker pool + overflow)) + extra clients
    capacity = max_connections - reserved slots

Behind a pooler the server is asked for at most as many connections as the pooler's pools hold; the services are then held
against the pooler's ``max_client_conn``, and in session mode, where a client keeps its server connection, against its pools.

A term that nobody states is a range, and with it the sum: a budget is over where even the smallest demand passes the
largest capacity, within where the largest demand fits the smallest capacity, and else not determined.

References: https://www.postgresql.org/docs/current/runtime-config-connection.html,
https://dev.mysql.com/doc/refman/8.4/en/server-system-variables.html#sysvar_max_connections and
https://www.pgbouncer.org/config.html
"""

from __future__ import annotations

import difflib
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from forensics.model.budget import (
    ANY,
    DATABASE,
    KINDS,
    POOLER,
    Budget,
    Check,
    Client,
    Demand,
    Deployment,
    Library,
    Link,
    Origin,
    Range,
    Said,
    Term,
)
from forensics.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Heard = dict[tuple[str, str], list[Said]]
UNITS = {
    "replicas": "replicas", "processes": "processes", "cpus": "CPUs", "pools": "pools", "pool_mode": "", "library": "",
}  # fmt: skip
"""Everything else counts connections."""
PGBOUNCER = {
    "default_pool_size": 20,
    "reserve_pool_size": 0,
    "max_db_connections": 0,
    "max_client_conn": 100,
    "replicas": 1,
}
MODE = "session"
"""PgBouncer's ``pool_mode`` where nobody sets it."""
SERVER = {
    "postgres": {"max_connections": 100, "superuser_reserved_connections": 3, "reserved_connections": 0},
    "mysql": {"max_connections": 151, "reserved": 0},
}
NAMES = {"postgres": "PostgreSQL", "mysql": "MySQL"}
SOURCES = {
    "postgres": "https://www.postgresql.org/docs/current/runtime-config-connection.html",
    "mysql": "https://dev.mysql.com/doc/refman/8.4/en/server-system-variables.html",
    "pgbouncer": "https://www.pgbouncer.org/config.html",
}
SUMMED = ("pool", "worker_pool", "overflow")
NEAR = 0.75
"""A name this much like one that the files know is taken for a slip."""


def settle(deployment: Deployment, libraries: Mapping[str, Library], servers: tuple[str, ...] = ()) -> Budget:
    """Return the budget of one database server.

    ``servers`` are names of one server, as URLs write it (``db`` or ``db:5432``); they choose among several. Raises UsageError where
    services connect to several servers and none is chosen, where no service is known at all, and where more slots are reserved than there are.
    """
    heard: Heard = defaultdict(list)
    for said in deployment.said:
        heard[said.service, said.term].append(said)
    clients = everyone(deployment)
    chosen = choose(clients, deployment.upstream, servers)
    notes = list(deployment.notes)
    counted = [one for one in (narrowed(client, chosen, notes) for client in clients) if one]
    if not counted:
        raise UsageError(
            " ".join(["no service with a connection pool is known", *(f"({note})" for note in notes)]),
            remedy="give a Compose file, a .env file, --url, --case, or --set SERVICE.pool=N",
        )
    through = pooled(deployment, counted, heard, notes)
    demands = tuple(demand(client, heard, libraries, client.name in through, notes) for client in counted)
    engine = next((link.engine for client in counted for link in client.links), "postgres")
    return balance(engine, chosen, demands, counted, deployment, heard, notes)


def everyone(deployment: Deployment) -> list[Client]:
    """Return all services, those that only options or logs name among them, each once.

    Raises UsageError for an option that names a service which is nearly one of the files.
    """
    found = {client.name: client for client in deployment.clients if client.links}
    for client in deployment.clients:
        found.setdefault(client.name, client)
    declared = tuple(found)
    for said in deployment.said:
        name = said.service
        if name in (DATABASE, POOLER) or name.startswith(f"{DATABASE}@") or name in found:
            continue
        near = difflib.get_close_matches(name, declared, n=1, cutoff=NEAR)
        if near and said.origin.kind == "option":
            raise UsageError(
                f"unknown service {name!r}", where=said.origin.where, remedy=f"did you mean {near[0]!r}?"
            )
        found[name] = Client(name)
    return list(found.values())


def choose(clients: list[Client], upstream: tuple[Link, ...], wanted: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the one server that the budget is about; none where no file names one."""
    direct = {link.server for client in clients for link in client.links if link.server and not link.pooled}
    if any(link.pooled for client in clients for link in client.links):
        direct |= {link.server for link in upstream if link.server}
    if wanted:
        found = tuple(sorted(name for name in direct if name in wanted or name.rpartition(":")[0] in wanted))
        if not found:
            raise UsageError(
                f"no service connects to {', '.join(wanted)}",
                where="--server",
                remedy=f"servers are {', '.join(sorted(direct)) or 'not named'}",
            )
        return found
    if len(direct) > 1:
        raise UsageError(
            f"services connect to {len(direct)} database servers: {', '.join(sorted(direct))}",
            remedy="choose one with --server NAME; given twice, both names are taken for one server",
        )
    return tuple(direct)


def narrowed(client: Client, servers: tuple[str, ...], notes: list[str]) -> Client | None:
    """Return a service with its ways to the server that was chosen, None where it has none of them."""
    kept = tuple(
        link
        for link in client.links
        if link.pooled or link.server is None or not servers or link.server in servers
    )
    if client.links and not kept:
        notes.append(f"{client.name} connects to another server and is not counted")
        return None
    main = next((link for link in kept if not link.worker), kept[0] if kept else None)
    worker = next((link for link in kept if link.worker and link is not main), None)
    notes.extend(
        f"{client.name}: {link.name} leads there too and is not counted; if it is a pool of its own, "
        f"add it with --set {client.name}.worker_pool=N"
        for link in kept
        if link not in (main, worker)
    )
    return Client(client.name, tuple(link for link in (main, worker) if link))


def pooled(deployment: Deployment, clients: list[Client], heard: Heard, notes: list[str]) -> set[str]:
    """Return the services that connect through the pooler."""
    through = {client.name for client in clients if client.links and client.links[0].pooled}
    stated = [said for (service, _), all_ in heard.items() if service == POOLER for said in all_]
    if through:
        return through
    if any(said.origin.kind in ("option", "case") for said in stated) or (
        deployment.has_pooler and not any(client.links for client in clients)
    ):
        notes.append("no connection URL leads through the pooler: all services are taken to use it")
        return {client.name for client in clients}
    if deployment.has_pooler:
        notes.append(
            "a pooler is configured, but no connection URL leads through it: it changes nothing here"
        )
    return set()


def best(said: Iterable[Said]) -> tuple[Said | None, tuple[Said, ...]]:
    """Return the statement that counts (the most trusted kind, of that the last), and those that say something else."""
    listed = list(said)
    if not listed:
        return None, ()
    first = min(KINDS.index(item.origin.kind) for item in listed)
    winner = next(item for item in reversed(listed) if KINDS.index(item.origin.kind) == first)
    others = [
        item
        for item in listed
        if item.value not in (None, winner.value) and item.origin.kind != "default" and item is not winner
    ]
    return winner, tuple(others)


def term(service: str, name: str, said: Iterable[Said], default: Term | None = None, why: str = "") -> Term:
    """Return one term: what is said of it, else its default, else that it is missing."""
    winner, others = best(said)
    unit = UNITS.get(name, "connections")
    if winner is not None and isinstance(winner.value, Range):
        return Term(service, name, winner.value, unit, winner.origin, others=others)
    if winner is None and default is not None:
        return default
    if winner is not None:
        why = f"{winner.origin.text} ({winner.origin.where})"
    least = Range(0, None) if name in ("overflow", "worker_pool", "extra", "replicas") and winner else ANY
    return Term(service, name, least, unit, None, why, f"--set {service}.{name}=N", others)


def assumed(service: str, name: str, value: Range, text: str, where: str = "") -> Term:
    """Return a term that rests on a default."""
    return Term(service, name, value, UNITS.get(name, "connections"), Origin("default", where, text))


def demand(
    client: Client, heard: Heard, libraries: Mapping[str, Library], through: bool, notes: list[str]
) -> Demand:
    """Return what one service may open at most."""
    said = of_client(client, heard)
    winner, _ = best(said["library"])
    library = libraries.get(str(winner.value)) if winner else None
    terms = {
        "replicas": count_replicas(client.name, said),
        "processes": count_processes(client.name, said, library),
    }
    cpus = None
    if library and library.per_cpu and not said["pool"]:
        cpus = term(
            client.name,
            "cpus",
            said["cpus"],
            why=f"the default pool of {library.title} depends on the machine",
        )
    terms["pool"] = size(client.name, said, library, cpus)
    nothing = "no second pool is named"
    terms["worker_pool"] = term(
        client.name,
        "worker_pool",
        said["worker_pool"],
        assumed(client.name, "worker_pool", Range.of(0), nothing),
    )
    terms["overflow"] = term(client.name, "overflow", said["overflow"], overflow(client.name, library))
    remark(client.name, said["concurrency"], terms, notes)
    sum_ = terms["pool"].value + terms["worker_pool"].value + terms["overflow"].value
    total = terms["replicas"].value * terms["processes"].value * sum_
    inner = " + ".join(shown(terms[name].value) for name in SUMMED)
    formula = f"{shown(terms['replicas'].value)} x {shown(terms['processes'].value)} x ({inner})"
    return Demand(
        client.name,
        library.title if library else None,
        through,
        (*terms.values(), *((cpus,) if cpus else ())),
        total,
        formula,
    )


def of_client(client: Client, heard: Heard) -> defaultdict[str, list[Said]]:
    """Return what is said of one service, by term; what a worker's URL says of its pool is the worker pool."""
    said: defaultdict[str, list[Said]] = defaultdict(list)
    for (service, name), all_ in heard.items():
        if service == client.name:
            said[name].extend(all_)
    for place, link in enumerate(client.links):
        for item in link.said:
            name = "worker_pool" if item.term == "pool" and place else item.term
            said[name].append(replace(item, term=name))
    return said


def shown(value: Range) -> str:
    """Write a number of a formula."""
    return str(value) if value.exact is not None else f"({value})"


def count_replicas(service: str, said: Mapping[str, list[Said]]) -> Term:
    """Return how often a service runs; where logs show its processes and nobody says how often, these are all of them."""
    firm = [item for item in said["replicas"] if item.origin.kind != "default"]
    if not firm and not stated(said["processes"]) and (seen := said["seen"]):
        origin = seen[-1].origin
        return Term(
            service,
            "replicas",
            Range.of(1),
            "replicas",
            replace(origin, text="the processes that logs show are those of all replicas"),
        )
    return term(service, "replicas", said["replicas"], why="nobody says how often it runs")


def stated(said: list[Said]) -> bool:
    """Does anybody but a default say it?"""
    return any(item.origin.kind != "default" for item in said)


def count_processes(service: str, said: Mapping[str, list[Said]], library: Library | None) -> Term:
    """Return how many processes one replica has, each with pools of its own."""
    if said["processes"] and (stated(said["processes"]) or not said["seen"]):
        return term(service, "processes", said["processes"])
    if said["seen"]:
        return seen_processes(service, said)
    default = None
    if library and library.processes is not None:
        default = assumed(
            service, "processes", Range.of(library.processes), library.runtime, library.reference
        )
    return term(service, "processes", (), default, "nobody says how many processes one replica has")


def seen_processes(service: str, said: Mapping[str, list[Said]]) -> Term:
    """Return the processes that wrote lines at the same time, shared out among the replicas; one of several may be a parent without a pool."""
    item = said["seen"][-1]
    assert isinstance(item.value, Range)
    found, _ = best(said["replicas"])
    replicas = (
        found.value.exact if found and stated(said["replicas"]) and isinstance(found.value, Range) else 1
    )
    if not replicas:
        return Term(service, "processes", ANY, "processes", item.origin)
    each = Range(max(1, item.value.low // replicas), max(1, -(-(item.value.high or 1) // replicas)))
    return Term(service, "processes", each, "processes", item.origin)


def size(service: str, said: Mapping[str, list[Said]], library: Library | None, cpus: Term | None) -> Term:
    """Return the size of a service's pool."""
    if said["min_pool"] and not said["pool"]:
        least, others = best(said["min_pool"])
        assert least is not None
        origin = replace(least.origin, text=f"{least.origin.text}; max_size is not given and is the same")
        return term(service, "pool", [replace(least, term="pool", origin=origin), *others])
    default = None
    if library:
        value = library.pool(cpus.value if cpus else ANY)
        default = assumed(service, "pool", value, default_text(library), library.reference)
    return term(service, "pool", said["pool"], default, "neither a size nor a library is named")


def default_text(library: Library) -> str:
    """Say what a library's default is."""
    if library.least is None:
        return f"{library.title} sets no limit"
    formula = ""
    if library.per_cpu:
        each = f"{library.per_cpu} x CPUs" if library.per_cpu > 1 else "CPUs"
        formula = (
            f": {each} + {library.plus}" if library.plus else f": the greater of {library.least} and {each}"
        )
    return f"default of {library.title}{formula}{f' ({library.note})' if library.note else ''}"


def overflow(service: str, library: Library | None) -> Term:
    """Return how far a pool may grow beyond its size where nobody says."""
    if library is None:
        return assumed(service, "overflow", Range.of(0), "no library with an overflow is named")
    if library.overflow:
        return assumed(
            service, "overflow", Range.of(library.overflow), f"default of {library.title}", library.reference
        )
    return assumed(service, "overflow", Range.of(0), f"{library.title} has none")


def remark(service: str, jobs: list[Said], terms: Mapping[str, Term], notes: list[str]) -> None:
    """Note where jobs at once are more than the connections that one process has for them."""
    numbers = [item for item in jobs if isinstance(item.value, Range) and item.value.exact is not None]
    total = sum(item.value.low for item in numbers if isinstance(item.value, Range))
    own = terms["worker_pool"].value
    pool = own if own.high else terms["pool"].value + terms["overflow"].value
    if pool.high is not None and total > pool.high:
        names = ", ".join(f"{item.origin.text} ({item.origin.where})" for item in numbers)
        notes.append(
            f"{service}: {total} jobs at once may wait for {pool} pooled connections of their process: {names}"
        )


@dataclass(frozen=True, slots=True)
class Pooling:
    """What the pooler adds: its terms, what it may ask of the server, and its own limits."""

    terms: tuple[Term, ...]
    server: Range
    formula: str
    checks: tuple[Check, ...]


def balance(
    engine: str,
    servers: tuple[str, ...],
    demands: tuple[Demand, ...],
    clients: list[Client],
    deployment: Deployment,
    heard: Heard,
    notes: list[str],
) -> Budget:
    """Add up the demand and hold it against the server, and against the pooler where there is one."""
    own = server_terms(engine, servers, heard)
    extra = term(
        DATABASE,
        "extra",
        heard[DATABASE, "extra"],
        assumed(DATABASE, "extra", Range.of(0), "no further clients are named"),
    )
    reserved = Range.of(0)
    for taken in own[1:]:
        reserved += taken.value
    most = own[0].value
    if most.high is not None and reserved.low >= most.high:
        raise UsageError(
            f"{reserved} reserved slots leave nothing of {most} connections",
            where=next((one.origin.where for one in own if one.origin and one.origin.kind != "default"), ""),
            remedy="correct one of them",
        )
    capacity = most - reserved
    direct = [item for item in demands if not item.pooled]
    through = [item for item in demands if item.pooled]
    total, parts = Range.of(0), list[str]()
    for one in direct:
        total, parts = total + one.total, [*parts, shown(one.total)]
    pooling = None
    if through:
        pooling = pool(
            through,
            [client for client in clients if client.name in {item.service for item in through}],
            deployment,
            heard,
        )
        total, parts = total + pooling.server, [*parts, pooling.formula]
    total = total + extra.value
    if extra.value != Range.of(0):
        parts.append(shown(extra.value))
    room = " - ".join([shown(most), *(shown(item.value) for item in own[1:] if item.value != Range.of(0))])
    checks = (
        Check("server", total, capacity, f"{' + '.join(parts)} against {room}"),
        *(pooling.checks if pooling else ()),
    )
    terms = tuple(item for one in demands for item in one.terms)
    return Budget(
        engine,
        servers,
        demands,
        (*terms, *(pooling.terms if pooling else ()), *own, extra),
        checks,
        tuple(dict.fromkeys(notes)),
    )


def server_terms(engine: str, servers: tuple[str, ...], heard: Heard) -> list[Term]:
    """Return ``max_connections`` and what is taken off it."""
    hosts = {name.rpartition(":")[0] for name in servers}
    named = {service for service, _ in heard if service.startswith(f"{DATABASE}@")}
    mine = {name for name in named if name.partition("@")[2] in hosts} or (
        named if len(named) == 1 else set()
    )
    said: defaultdict[str, list[Said]] = defaultdict(list)
    for (service, name), all_ in heard.items():
        if service == DATABASE or service in mine:
            said[name].extend(all_)
    defaults = SERVER[engine]
    names = ["max_connections"]
    if said["reserved"] or "reserved" in defaults:
        names.append("reserved")
    else:
        names += ["superuser_reserved_connections", "reserved_connections"]
    return [
        term(
            DATABASE,
            name,
            said[name],
            assumed(
                DATABASE,
                name,
                Range.of(defaults.get(name, 0)),
                f"default of {NAMES[engine]}",
                SOURCES[engine],
            ),
        )
        for name in names
    ]


def pool(through: list[Demand], clients: list[Client], deployment: Deployment, heard: Heard) -> Pooling:
    """Return what services behind PgBouncer ask of the server: no more than its pools hold."""
    terms = {
        name: term(
            POOLER,
            name,
            heard[POOLER, name],
            assumed(
                POOLER,
                name,
                Range.of(value),
                "default of PgBouncer" if name != "replicas" else "one pooler is named",
                SOURCES["pgbouncer"],
            ),
        )
        for name, value in PGBOUNCER.items()
    }
    terms["pools"] = term(
        POOLER,
        "pools",
        heard[POOLER, "pools"],
        pairs(clients, deployment),
        "one pool for each pair of database and user; not all URLs name both",
    )
    mode, others = best(heard[POOLER, "pool_mode"])
    told = mode.value if mode else MODE
    origin = (
        (mode.origin if told else None)
        if mode
        else Origin("default", SOURCES["pgbouncer"], "default of PgBouncer")
    )
    modes = Term(
        POOLER, "pool_mode", ANY, "", origin, "" if origin or not mode else f"{mode.origin.text} ({mode.origin.where})",
        "" if origin else "--set pooler.pool_mode=session, transaction or statement", others, str(told) if told else "unknown",
    )  # fmt: skip
    clients_total = Range.of(0)
    for item in through:
        clients_total += item.total
    value = {name: item.value for name, item in terms.items()}
    room = value["replicas"] * value["pools"] * (value["default_pool_size"] + value["reserve_pool_size"])
    formula = f"{shown(value['replicas'])} x {shown(value['pools'])} x ({shown(value['default_pool_size'])} + {shown(value['reserve_pool_size'])})"
    limit = value["max_db_connections"]
    if limit.low:
        databases = Range(1, value["pools"].high)
        known = {link.database for client in clients for link in client.links}
        databases = Range.of(len(known)) if known and None not in known else databases
        room = room.capped(value["replicas"] * limit * databases)
        formula = f"min({formula}, max_db_connections {shown(limit)} x {shown(databases)})"
    accepted = value["replicas"] * value["max_client_conn"]
    checks = [
        Check(
            "pooler_clients",
            clients_total,
            accepted,
            f"{shown(clients_total)} clients against {shown(value['replicas'])} x max_client_conn {shown(value['max_client_conn'])}",
        )
    ]
    if told in ("session", None):
        holds = room if told else Range(room.low, None)
        checks.append(
            Check(
                "pooler_sessions", clients_total, holds, f"{shown(clients_total)} sessions against {formula}"
            )
        )
    server = clients_total.capped(room)
    return Pooling((modes, *terms.values()), server, f"min({shown(clients_total)}, {formula})", tuple(checks))


def pairs(clients: list[Client], deployment: Deployment) -> Term | None:
    """Return how many pools the pooler opens: one for each pair of database and user that URLs name; None where they do not tell."""
    links = [link for client in clients for link in client.links]
    forced = {link.name: link.user for link in deployment.upstream if link.user}
    found = {(link.database, forced.get(link.database or "", link.user)) for link in links}
    if not links or any(None in pair for pair in found) or any(not client.links for client in clients):
        return None
    where = ", ".join(sorted({link.name for link in links}))
    return Term(
        POOLER, "pools", Range.of(len(found)), "pools", Origin("url", where, "pairs of database and user")
    )
