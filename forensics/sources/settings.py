"""What the names of environment variables say of a connection budget.

    DATABASE_URL=…  DB_POOL_SIZE=10  SQLALCHEMY_MAX_OVERFLOW=5  WEB_CONCURRENCY=4  INBOX_CONCURRENCY_MAX=5

Programs are free in what they call their settings, so a name is read by its words, and only where its value is a number.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from forensics.model.budget import DATABASE, Link, Origin, Range, Said
from forensics.model.errors import UsageError
from forensics.sources import connection_urls, pool_libraries, variables

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from forensics.sources.variables import Value

DATABASE_WORDS = frozenset(
    ["DB", "DATABASE", "PG", "POSTGRES", "POSTGRESQL", "MYSQL", "MARIADB", "SQL", "SQLALCHEMY", "KNEX", "PRISMA", "HIKARI", "TYPEORM", "SEQUELIZE", "ECTO", "PGX", "RDS", "DATASOURCE"]
)  # fmt: skip
PLAIN = frozenset(
    [
        "POOL",
        "SIZE",
        "MAX",
        "MAXIMUM",
        "WORKER",
        "WORKERS",
        "WEB",
        "APP",
        "API",
        "CONNECTIONS",
        "CONNECTION",
        "POOLSIZE",
    ]
)
"""Words of which a name may consist that speaks of a pool without saying of what."""
OTHER = frozenset(
    ["TIMEOUT", "MIN", "MINIMUM", "IDLE", "RECYCLE", "LIFETIME", "AGE", "MODE", "HOST", "PORT", "NAME", "REDIS", "HTTP", "THREAD", "THREADS", "PING", "PRE", "ENABLED", "URL", "RESERVE", "CLIENT", "WAIT", "MS", "SECONDS", "ACQUIRE", "INTERVAL", "USES", "QUERIES", "DEFAULT", "WAITING", "QUEUES", "INCREMENT", "PGBOUNCER", "LEAK", "KEEPALIVE", "RETRIES"]
)  # fmt: skip
"""A name with one of these speaks of something else than the size of a pool."""
JOBS = frozenset(
    ["WORKER", "WORKERS", "JOB", "JOBS", "QUEUE", "CELERY", "SIDEKIQ", "BULL", "BULLMQ", "BACKGROUND"]
)
SIDE = frozenset(["DIRECT", "SHADOW", "MIGRATE", "MIGRATION", "MIGRATIONS", "TEST", "TESTING"])
"""Ways to the database that are open only for a moment: migrations and tests."""
PROCESSES = re.compile(
    r"^(?:WEB_CONCURRENCY|WORKERS|NUM_WORKERS|WORKER_PROCESSES|PM2_INSTANCES|CLUSTER_WORKERS"
    r"|(?:GUNICORN|UVICORN|PUMA|HYPERCORN|GRANIAN|UNICORN|APP|API|WEB|SERVER)_(?:WORKERS|PROCESSES))$"
)
OVERFLOW = re.compile(r"(?:^|_)(?:MAX_?)?OVERFLOW$")
SERVER = re.compile(r"^(?:POSTGRES|POSTGRESQL|PG|MYSQL|MARIADB)_MAX_CONNECTIONS$")
"""The server's own limit."""
HOST = re.compile(r"^(PG|DB_|DATABASE_|POSTGRES_|POSTGRESQL_|MYSQL_|RDS_)(?:HOST|HOSTNAME)$")
NUMBER = re.compile(r"-?[0-9]{1,9}$")


def split(name: str) -> list[str]:
    """Return the words of a name: ``spring.datasource.hikari.maximum-pool-size`` has as many as its variable."""
    return re.sub(r"[.\-]", "_", name).upper().split("_")


def term(name: str) -> str | None:
    """Return the term that a setting of this name holds, None where it holds none."""
    listed = split(name)
    joined, found = "_".join(listed), set(listed)
    if SERVER.match(joined):
        return "max_connections"
    if joined == "RAILS_MAX_THREADS":
        return "pool"
    if PROCESSES.match(joined):
        return "processes"
    if "CONCURRENCY" in found:
        return "concurrency"
    if OVERFLOW.search(joined) and (found & DATABASE_WORDS or "POOL" in found):
        return "overflow"
    sized = (
        "POOL" in found
        or "POOLSIZE" in joined
        or bool(re.search(r"CONNECTION_?LIMIT|MAX_?CONNS?(?:_|$)|MAX_?CONNECTIONS", joined))
    )
    if not sized or found & OTHER or not (found & DATABASE_WORDS or ("POOL" in joined and found <= PLAIN)):
        return None
    return "worker_pool" if found & JOBS else "pool"


def number(service: str, name: str, value: Value, what: str) -> Said | None:
    """Return what a setting says, without its number where a variable has no value; None where it is no number."""
    text = (value.text or "").strip()
    if value.text is None or variables.unset(text):
        missing = ", ".join(variables.unset(text)) or what
        return Said(
            service, name, None, Origin("file", value.where, f"{missing} has no value in the given files")
        )
    if not NUMBER.match(text):
        return None
    return Said(service, name, Range.of(int(text)), Origin("file", value.where, what, value.given()))


def strict(service: str, name: str, value: Value, what: str) -> Said:
    """Return what a setting says; a UsageError where that is no number."""
    said = number(service, name, value, what)
    if said is None or (isinstance(said.value, Range) and said.value.low < 0):
        raise UsageError(f"{what} is no whole number", where=value.where, remedy="give one of 0 or more")
    return said


def read(service: str, settings: Mapping[str, Value]) -> tuple[list[Link], list[Said], list[str]]:
    """Return the ways to a database that a service's settings name, what they say of its terms, and remarks."""
    links, notes = find_links(service, settings)
    said: list[Said] = []
    for name, value in settings.items():
        owner = next((item for item in pool_libraries.load().values() if begins(name, item.words)), None)
        if owner:
            said.append(
                Said(service, "library", owner.id, Origin("file", value.where, f"the name of {name}"))
            )
        known = term(name)
        whose = DATABASE if known == "max_connections" else service
        found = number(whose, known, value, name) if known else None
        if found:
            said.append(limited(found, owner.id if owner else None))
        elif known and (value.text or "").strip() and re.search(r"\d", value.text or ""):
            notes.append(f"{value.where}: {name} is no whole number and is not counted")
    return links, said, notes


def begins(name: str, words: tuple[str, ...]) -> bool:
    """Does a name begin with the words of a library?"""
    joined = "_".join(split(name))
    return any(joined == word or joined.startswith(f"{word}_") for word in words)


def limited(said: Said, library: str | None) -> Said:
    """Return a statement whose number means "no limit" to the library as one without upper bound."""
    known = pool_libraries.load().get(library or "")
    if not isinstance(said.value, Range) or said.value.exact is None:
        return said
    if known and (known.unlimited or {}).get(said.term) == said.value.exact:
        return Said(said.service, said.term, Range(0 if said.term == "overflow" else 1, None), said.origin)
    if said.term == "pool" and said.value.exact == 0:
        origin = replace(said.origin, text=f"{said.origin.text} is 0, which is no size of a pool")
        return Said(said.service, said.term, None, origin)
    if said.value.low < 0 and said.term == "overflow":
        return Said(said.service, said.term, Range(0, None), said.origin)
    if said.value.low < 0:
        raise UsageError(
            f"{said.origin.text} is negative", where=said.origin.where, remedy="give a whole number"
        )
    return said


def find_links(service: str, settings: Mapping[str, Value]) -> tuple[list[Link], list[str]]:
    """Return the connection URLs among settings, the main one first; URLs of migrations and tests only as remarks."""
    links: dict[tuple[object, ...], Link] = {}
    notes: list[str] = []
    for name, value in sorted(settings.items(), key=lambda pair: (pair[0] != "DATABASE_URL", pair[0])):
        address = connection_urls.read(value.text or "")
        if address is None:
            if hidden(name, value):
                notes.append(f"{value.where}: {name} has no value in the given files")
            continue
        if SIDE & set(split(name)):
            notes.append(f"{value.where}: {name} is not counted: it serves migrations or tests")
            continue
        link = from_url(service, name, value)
        assert link is not None
        pool = tuple((said.term, said.value) for said in link.said)
        links.setdefault((link.server, link.database, link.user, link.worker, pool), link)
    if not links:
        link = from_host(settings)
        return ([link] if link else []), notes
    return sorted(links.values(), key=lambda link: link.worker), notes


def hidden(name: str, value: Value) -> bool:
    """Does a setting name a way to the database that no given file tells?"""
    listed = set(split(name))
    addressed = listed & {"URL", "URI", "DSN"} and listed & DATABASE_WORDS and not listed & SIDE
    return bool(addressed) and (value.text is None or bool(variables.unset(value.text)))


def from_url(service: str, name: str, value: Value) -> Link | None:
    """Return the way that one connection URL names, None where it is none of a database.

    Raises UsageError for a pool parameter that is no number.
    """
    address = connection_urls.read(value.text or "")
    if address is None:
        return None
    said = []
    if address.library:
        said.append(
            Said(service, "library", address.library, Origin("url", value.where, f"the form of {name}"))
        )
    for known, text, parameter in address.settings:
        what = f"{parameter} of {name}"
        found = number(service, known, value.part(text, in_query(parameter)), what)
        if found is None:
            raise UsageError(f"{what} is no number", where=value.where, remedy="give a whole number")
        origin = replace(found.origin, kind="url")
        said.append(limited(Said(service, known, found.value, origin), address.library))
    return Link(
        name, address.engine, address.server, address.database, address.user, address.pooled, address.port,
        bool(JOBS & set(split(name))), tuple(said), borrowing(name, value.where, address),
    )  # fmt: skip


def borrowing(name: str, where: str, address: connection_urls.Address) -> str:
    """Say what was made of parameters that SQLAlchemy does not read; nothing where there are none."""
    if not address.borrowed:
        return ""
    which = (
        f"{where}: {', '.join(address.borrowed)} of {name} {'is' if len(address.borrowed) == 1 else 'are'}"
    )
    if address.library == connection_urls.ALCHEMY:
        return f"{which} not counted beside what is SQLAlchemy's own; if there is a second pool, add it with --set SERVICE.worker_pool=N"
    known = pool_libraries.load().get(address.library or "")
    whose = f"of {known.title}, which has no overflow" if known else "of the driver's own"
    return f"{which} not read by SQLAlchemy, whose form the URL has: taken for a pool {whose}"


def in_query(parameter: str) -> Callable[[str], str | None]:
    """Return what cuts the value of a parameter out of a URL or a keyword string."""
    pattern = re.compile(rf"(?:^|[?&;\s])\s*{re.escape(parameter)}\s*=([^&;#\s]*)", re.IGNORECASE)

    def find(outline: str) -> str | None:
        found = pattern.search(outline)
        return found[1] if found else None

    return find


def from_host(settings: Mapping[str, Value]) -> Link | None:
    """Return the way that host, port, name and user name one by one."""
    for name, value in settings.items():
        found = HOST.match(name)
        if not found or value.text is None:
            continue
        kind = found[1]
        part = {
            key: settings.get(f"{kind}{key}")
            for key in ("PORT", "NAME", "DATABASE", "DB", "USER", "USERNAME")
        }
        text = {
            key: item.text
            for key, item in part.items()
            if item and item.text and not variables.unset(item.text)
        }
        engine = "mysql" if kind.startswith("MYSQL") or text.get("PORT") == "3306" else "postgres"
        host, port = connection_urls.split_host(value.text.strip(), engine)
        port = int(text["PORT"]) if text.get("PORT", "").isdigit() else port
        port = port or connection_urls.PORTS[engine]
        pooled = port == connection_urls.POOLER_PORT or bool(connection_urls.POOLED.search(host or ""))
        server = f"{host}:{port}" if host else None
        database = text.get("NAME") or text.get("DATABASE") or text.get("DB")
        return Link(name, engine, server, database, text.get("USER") or text.get("USERNAME"), pooled, port)
    return None
