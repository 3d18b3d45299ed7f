"""Services of a stack, as Compose files declare them: a database server, a pooler, or a client of these.

    db:   { image: "postgres:16", command: -c max_connections=200 }
    api:  { command: "gunicorn -w ${WORKERS:-4} app", environment: { DATABASE_URL: … } }

Reference: https://github.com/compose-spec/compose-spec/blob/main/spec.md
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from forensics.model.budget import ALL, DATABASE, POOLER, Client, Link, Origin, Own, Range, Said
from forensics.model.errors import UsageError
from forensics.sources import compose, programs, server_files, settings, variables
from forensics.sources.variables import Value

if TYPE_CHECKING:
    from collections.abc import Callable

SERVER_IMAGE = re.compile(
    r"^(?:postgres|postgresql|postgis|timescaledb(?:-ha)?|pgvector|mysql|mysql-server|mariadb|percona[\w-]*)$"
)
GUNICORN = programs.SERVERS["gunicorn"]
ORDERS = ("start-first", "stop-first")
POOLER_IMAGE = re.compile(r"pgbouncer(?!.*exporter)")


@dataclass(slots=True)
class Services:
    """What was read of a deployment so far."""

    clients: dict[str, Client] = field(default_factory=dict)
    said: list[Said] = field(default_factory=list)
    upstream: list[Link] = field(default_factory=list)
    own: list[Own] = field(default_factory=list)
    has_pooler: bool = False
    notes: list[str] = field(default_factory=list)

    def service(self, declared: compose.Declared, poolers: set[str]) -> None:
        """Take one service for what it is: a database server, a pooler, or a client of these."""
        image = (declared.image or "").rpartition("/")[2].partition("@")[0].partition(":")[0]
        commands = declared.words()
        started = programs.server_settings(commands)
        if SERVER_IMAGE.match(image) or started:
            self.server(declared, started)
        elif declared.name in poolers:
            self.pooler(declared)
        else:
            self.client(declared, commands, poolers)

    def server(self, declared: compose.Declared, started: list[tuple[str, str]]) -> None:
        """Keep what a database server of the stack is started with."""
        owner = f"{DATABASE}@{declared.name}"
        for term, text in started:
            value = in_command(declared, text, server_setting(term))
            self.said.append(settings.strict(owner, term, value, f"command of {declared.name}"))
        for name in ("POSTGRESQL_MAX_CONNECTIONS", "POSTGRES_MAX_CONNECTIONS"):
            if name in declared.settings:
                self.said.append(settings.strict(owner, "max_connections", declared.settings[name], name))

    def pooler(self, declared: compose.Declared) -> None:
        """Keep what a PgBouncer of the stack is told by its variables."""
        self.has_pooler = True
        for name, value in declared.settings.items():
            term = name.lower().removeprefix("pgbouncer_")
            if term in server_files.POOLER_TERMS:
                self.said.append(settings.strict(POOLER, term, value, name))
            elif term == "pool_mode":
                self.said.append(server_files.mode(value, name))
        self.said.extend([replicas(declared, POOLER), *surge(declared, POOLER)])
        links, _, _ = settings.read(POOLER, declared.settings)
        self.upstream.extend(links)

    def client(self, declared: compose.Declared, commands: list[list[str]], poolers: set[str]) -> None:
        """Keep a service that connects to a database, or says how large its pool is."""
        name = f"{declared.name}-service" if declared.name in (DATABASE, POOLER) else declared.name
        links, said, notes = settings.read(name, declared.settings)
        pooled = [item for item in said if item.term in ("pool", "worker_pool", "overflow")]
        if not links and not pooled:
            return
        self.notes.extend(notes)
        links = [replace(link, pooled=link.pooled or host(link) in poolers) for link in links]
        self.clients[name] = Client(name, tuple(links))
        self.said.extend([*said, replicas(declared, name), *surge(declared, name)])
        self.commanded(name, declared, commands)

    def commanded(self, name: str, declared: compose.Declared, commands: list[list[str]]) -> None:
        """Keep what the command of a client says: its library, its processes and its jobs at once."""
        if told := programs.library(commands):
            where = in_command(declared, told[1], lambda outline: runs(told[1], outline)).where
            self.said.append(
                Said(name, "library", told[0], Origin("file", where, f"the command runs {told[1]}"))
            )
        arguments = declared.settings.get("GUNICORN_CMD_ARGS")
        if arguments and (extra := programs.option(compose.words(arguments.text or ""), GUNICORN)):
            value = arguments.part(extra[1], option(extra[0]))
            self.said.append(settings.strict(name, "processes", value, "GUNICORN_CMD_ARGS"))
        if found := programs.processes(commands):
            self.processes(name, found, declared)
        if at_once := programs.jobs(commands):
            value = in_command(declared, at_once[1], option(at_once[0]))
            self.said.extend(filter(None, [settings.number(name, "concurrency", value, "the command")]))

    def processes(self, name: str, found: programs.Processes, declared: compose.Declared) -> None:
        """Keep how many processes a command starts; an option of the command comes before a variable, and a variable before a program's default."""
        given = in_command(declared, found.text, option(found.what.partition(" ")[0]))
        where = given.where
        if found.default:
            if not any(item.term == "processes" for item in self.said if item.service == name):
                origin = Origin("default", where, found.what)
                self.said.append(Said(name, "processes", Range.of(int(found.text or 1)), origin))
            return
        value = settings.number(name, "processes", given, found.what)
        if value is None:
            value = Said(name, "processes", None, Origin("file", where, f"{found.what} is no number"))
        elif found.text is None:
            value = replace(
                value, origin=Origin("file", where, f"{found.what}: depends on the machine's CPUs")
            )
        self.said.append(value)


def in_command(declared: compose.Declared, text: str | None, find: Callable[[str], str | None]) -> Value:
    """Return a word of what a service runs, with its line and the variables that gave it."""
    parts = declared.started()
    there = [part for part in parts if find(part.text or "") is not None]
    whole = next(iter([*there, *reversed(parts)]), Value(None, declared.where))
    return whole.part(text, find)


def runs(program: str, outline: str) -> str | None:
    """Return the name of a program where a command has it."""
    return next(
        (program for words in compose.split(outline) for word in words if programs.base(word) == program),
        None,
    )


def option(name: str) -> Callable[[str], str | None]:
    """Return what cuts the value of an option out of a command."""

    def find(outline: str) -> str | None:
        found = programs.option([word for words in compose.split(outline) for word in words], (name,))
        return found[1] if found else None

    return find


def server_setting(term: str) -> Callable[[str], str | None]:
    """Return what cuts a setting of a database server out of its command."""
    return lambda outline: dict(programs.server_settings(compose.split(outline))).get(term)


def surge(declared: compose.Declared, service: str) -> list[Said]:
    """Return how many new replicas an update starts beside the old ones; nothing where it stops those first, which is the default.

    Raises UsageError for an order that there is not. Only a swarm obeys it (``docker stack deploy``); there 0 is all at once, and 1 where nothing is said.
    """
    order = declared.order
    if order is None or order.text is None or order.text == ORDERS[1]:
        return []
    if missing := variables.unset(order.text):
        what = f"order of update_config: {', '.join(missing)} has no value in the given files"
        return [Said(service, "surge", None, Origin("file", order.where, what))]
    if order.text != ORDERS[0]:
        raise UsageError(
            "unknown order of update_config", where=order.where, remedy=f"orders are {', '.join(ORDERS)}"
        )
    if declared.parallelism is None or declared.parallelism.text is None:
        origin = Origin("file", order.where, "start-first in update_config, one at a time", order.given())
        return [Said(service, "surge", Range.of(1), origin)]
    said = settings.strict(
        service, "surge", declared.parallelism, "start-first, parallelism of update_config"
    )
    return [replace(said, value=ALL) if said.value == Range.of(0) else said]


def is_pooler(declared: compose.Declared) -> bool:
    """Is a service of the stack a PgBouncer?"""
    named = declared.image.rpartition("/")[2] if declared.image else declared.name
    return POOLER_IMAGE.search(named) is not None


def host(link: Link) -> str | None:
    """Return the host of a way's server."""
    return link.server.rpartition(":")[0] if link.server else None


def replicas(declared: compose.Declared, service: str) -> Said:
    """Return how often a service of the stack runs."""
    if declared.everywhere:
        origin = Origin("file", declared.everywhere.where, "mode: global runs one on each machine")
        return Said(service, "replicas", None, origin)
    if declared.replicas:
        return settings.strict(service, "replicas", declared.replicas, "replicas")
    if declared.on_request:
        what = f"started only with the profile {declared.on_request.text}"
        return Said(service, "replicas", Range.of(0), Origin("file", declared.on_request.where, what))
    return Said(
        service,
        "replicas",
        Range.of(1),
        Origin("default", declared.where, "Compose starts one container of a service"),
    )
