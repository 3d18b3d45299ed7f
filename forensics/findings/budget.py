"""Connections that services may open at most, against those that the database server has for them.

    demand   = sum over services (replicas x processes x (pool + worker pool + overflow)) + extra clients
    capacity = max_connections - reserved slots

While a service is updated whose new replicas start first, they run beside old ones: (replicas + surge) x processes x …. That is a limit of its own.

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
from dataclasses import replace
from typing import TYPE_CHECKING

from forensics.findings.budget_pooler import pooling
from forensics.findings.budget_terms import Heard, assumed, demand, shown, term
from forensics.model.budget import (
    DATABASE,
    POOLER,
    UPDATE,
    Budget,
    Check,
    Client,
    Demand,
    Deployment,
    Library,
    Link,
    Range,
    Said,
    Term,
)
from forensics.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from forensics.findings.budget_pooler import Pooling

SERVER = {
    "postgres": {"max_connections": 100, "superuser_reserved_connections": 3, "reserved_connections": 0},
    "mysql": {"max_connections": 151, "reserved": 0},
}
NAMES = {"postgres": "PostgreSQL", "mysql": "MySQL"}
SOURCES = {
    "postgres": "https://www.postgresql.org/docs/current/runtime-config-connection.html",
    "mysql": "https://dev.mysql.com/doc/refman/8.4/en/server-system-variables.html",
}
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
    counted = tuple(link for link in (main, worker) if link)
    notes.extend(link.remark for link in counted if link.remark)
    return Client(client.name, counted)


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
    capacity, room = free_slots(own)
    through = [item for item in demands if item.pooled]
    between = updated = None
    if through:
        mine = [
            client for name in (one.service for one in through) for client in clients if client.name == name
        ]
        between = pooling(through, mine, deployment, heard, notes)
        updated = pooling(list(map(at_peak, through)), mine, deployment, heard, [], update=True)
    total, formula = added_up([item for item in demands if not item.pooled], between, extra.value)
    checks = [
        Check("server", total, capacity, f"{formula} against {room}"),
        *(between.checks if between else ()),
    ]
    surges = [item.service for item in demands if item.peak] + [
        POOLER for item in (between.terms if between else ()) if item.name == "surge"
    ]
    if surges:
        total, formula = added_up(
            [at_peak(item) for item in demands if not item.pooled], updated, extra.value
        )
        checks.append(Check(UPDATE, total, capacity, f"{formula} against {room}"))
        notes.append(
            f"during an update of {', '.join(surges)}: all of them at once, new replicas beside old ones; an old one that is slow to stop "
            "overlaps with the next as well, and comes on top; update_config is for a swarm (docker stack deploy), docker compose up passes it over"
        )
    terms = tuple(item for one in demands for item in one.terms)
    return Budget(
        engine,
        servers,
        demands,
        (*terms, *(between.terms if between else ()), *own, extra),
        tuple(checks),
        tuple(dict.fromkeys(notes)),
    )


def at_peak(item: Demand) -> Demand:
    """Return what a service may open while it is updated."""
    return item if item.peak is None else replace(item, total=item.peak, formula=item.peak_formula)


def free_slots(own: list[Term]) -> tuple[Range, str]:
    """Return the slots of a server that are not reserved, and how they come about: its ``max_connections`` and what is taken off."""
    most, taken = own[0].value, own[1:]
    reserved = Range.of(0)
    for one in taken:
        reserved += one.value
    if most.high is not None and reserved.low >= most.high:
        raise UsageError(
            f"{reserved} reserved slots leave nothing of {most} connections",
            where=next((one.origin.where for one in own if one.origin and one.origin.kind != "default"), ""),
            remedy="correct one of them",
        )
    return most - reserved, " - ".join(
        [shown(most), *(shown(one.value) for one in taken if one.value != Range.of(0))]
    )


def added_up(direct: list[Demand], between: Pooling | None, extra: Range) -> tuple[Range, str]:
    """Return the connections that reach the server, and their sum as it is told."""
    parts = [(one.total, one.formula if one.total == one.peak else shown(one.total)) for one in direct]
    if between is not None:
        parts.append((between.server, between.formula))
    if extra != Range.of(0):
        parts.append((extra, shown(extra)))
    total = Range.of(0)
    for value, _ in parts:
        total += value
    return total, " + ".join(text for _, text in parts)


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
