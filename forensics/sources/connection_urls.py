"""Connection URLs: which server they lead to, through a pooler or not, and what they say of the pool.

    postgresql://app:…@db:5432/app?connection_limit=12&pool_timeout=20   Prisma
    jdbc:postgresql://db/app   postgresql+asyncpg://app@/app?host=/run/postgresql   host=db dbname=app pool_max_conns=8
    Host=db;Database=app;Maximum Pool Size=50

What stands behind the ``?`` is read by one library, and not by another that knows URLs of the same form: SQLAlchemy hands all of it to its driver, so
that ``max_size`` beside ``postgresql+psycopg://`` is for a program that opens a pool of that driver's own, which has no overflow.

Passwords are cut out before anything else is looked at: what leaves this module names server, database, user and pool.

References: https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING, https://github.com/sqlalchemy/sqlalchemy/issues/4714 (the
driver takes what is in a URL), encode/databases databases/backends/asyncpg.py (``min_size``, ``max_size``), coleifer/peewee playhouse/db_url.py (``+pool``)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote_plus

from forensics.sources import pool_libraries
from forensics.sources.variables import UNSET, unset

URL = re.compile(r"^(?:jdbc:)?([a-z][a-z0-9]*)(?:\+([a-z0-9_+]+))?:(?://)(.*)$", re.IGNORECASE | re.DOTALL)
HOSTS = re.compile(r"^[^/?#@]*(?=[/?#]|$)")
HOST = re.compile(r"^(?:[\w.-]*|\[[\w:.%]+\])(?::\d+)?(?:,[\w.-]+(?::\d+)?)*$")
"""Names of hosts; anything else may be a part of a password and is dropped."""
KEYWORD = re.compile(r"\s*([A-Za-z_]+)\s*=\s*('(?:[^'\\]|\\.)*'|\S*)")
ENGINES = {
    "postgres": "postgres", "postgresql": "postgres", "pgsql": "postgres", "psql": "postgres", "ecto": "postgres",
    "postgresext": "postgres", "postgresqlext": "postgres", "postgis": "postgres", "mysql": "mysql", "mysql2": "mysql", "mariadb": "mysql",
}  # fmt: skip
"""Scheme to engine; other schemes lead to no database with ``max_connections``."""
PORTS = {"postgres": 5432, "mysql": 3306}
SCHEMES = {"ecto": "ecto", "mysql2": "activerecord"}
"""Schemes that one library alone uses."""
ALCHEMY = "sqlalchemy"
DRIVERS = {
    "psycopg": "psycopg-pool", "psycopg_async": "psycopg-pool", "asyncpg": "asyncpg", "aiopg": "aiopg", "aiomysql": "aiomysql", "asyncmy": "aiomysql",
}  # fmt: skip
"""Drivers of SQLAlchemy that have a pool of their own, or one beside them."""
POOLED = re.compile(r"pg-?bouncer|pooler|pgcat|supavisor", re.IGNORECASE)
"""A host of this name is a pooler."""
POOLER_PORT = 6432
"""PgBouncer's ``listen_port`` where nobody sets it."""
GENERIC = {"pool_size": "pool", "pool_max_size": "pool", "poolsize": "pool"}
"""Parameters that several libraries and programs use, so that they name none."""
LOCAL = ("localhost", "127.0.0.1", "[::1]", "")


@dataclass(frozen=True, slots=True)
class Address:
    """What a connection URL says, without its password."""

    engine: str
    server: str | None
    """Host and port; None where an unset variable hides them."""
    database: str | None
    user: str | None
    pooled: bool
    port: int | None
    library: str | None
    """Id of the library that the URL is written for, None where several would read it."""
    settings: tuple[tuple[str, str, str], ...]
    """Term, value and parameter, as they stand there."""
    borrowed: tuple[str, ...] = ()
    """Parameters of SQLAlchemy's URLs that another library reads."""


def read(text: str) -> Address | None:
    """Return what a connection URL, a libpq keyword string or an ADO.NET string says; None where it is none of a database."""
    text = text.strip().strip("\"'")
    if found := URL.match(text):
        engine = ENGINES.get(found[1].lower())
        return from_url(engine, found, jdbc=text[:5].lower() == "jdbc:") if engine else None
    if re.search(r"(?:^|;)\s*(?:host|server)\s*=[^;]*;", text, re.IGNORECASE):
        return from_keywords(dict(part.split("=", 1) for part in text.split(";") if "=" in part))
    if re.search(r"(?:^|\s)(?:host|dbname)\s*=", text) and "://" not in text:
        pairs = {key: value.strip("'") for key, value in KEYWORD.findall(text)}
        return from_keywords(pairs)
    return None


def from_url(engine: str, found: re.Match[str], *, jdbc: bool) -> Address:
    """Read a URL."""
    scheme, driver = found[1].lower(), found[2]
    user, rest = without_password(found[3])
    hosts = HOSTS.match(rest)
    authority = hosts[0] if hosts else ""
    path, _, query = rest[len(authority) :].partition("?")
    said = [pair.partition("=") for pair in re.split(r"[&;]", query.partition("#")[0]) if pair]
    parameters = {unquote_plus(key): unquote_plus(value) for key, _, value in said}
    host, port = split_host(authority or parameters.get("host", ""), engine)
    library = form_of(driver) if driver else "hikaricp" if jdbc else SCHEMES.get(scheme)
    return address(
        engine,
        host,
        port,
        path.strip("/").partition("#")[0] or parameters.get("dbname"),
        user or parameters.get("user"),
        parameters,
        library,
        driver or "",
    )


def form_of(driver: str) -> str:
    """Return the library whose URLs name this behind the ``+``."""
    parts = driver.lower().split("+")
    return "peewee" if "pool" in parts else "aiopg" if "aiopg" in parts else ALCHEMY


def from_keywords(pairs: dict[str, str]) -> Address:
    """Read ``key=value`` pairs of libpq or ADO.NET."""
    said = {key.strip().lower(): value.strip() for key, value in pairs.items()}
    engine = "mysql" if said.get("port") == str(PORTS["mysql"]) else "postgres"
    host = said.get("host", said.get("server", ""))
    port = said.get("port")
    name, number = split_host(f"{host}:{port}" if port and ":" not in host else host, engine)
    user = said.get("user", said.get("username", said.get("user id")))
    return address(engine, name, number, said.get("dbname", said.get("database")), user, said, None)


def address(
    engine: str,
    host: str | None,
    port: int | None,
    database: str | None,
    user: str | None,
    parameters: dict[str, str],
    library: str | None,
    driver: str = "",
) -> Address:
    """Put together what was read, and find what it says of the pool."""
    by_parameter = pool_libraries.by_parameter()
    own: list[tuple[str, str, str]] = []
    borrowed: list[tuple[str, str, str]] = []
    lender = None
    for key, value in parameters.items():
        name = key.lower()
        owner, term = by_parameter.get(name, (library, GENERIC.get(name)))
        if term is None:
            continue
        if library == ALCHEMY != owner:
            lender = DRIVERS.get(driver.lower(), owner)
            borrowed.append((term, value, key))
        else:
            library = library or owner
            own.append((term, value, key))
    if borrowed and not own:
        library = lender
    settings = own or borrowed
    if library is None and "schema" in parameters:
        library = "prisma"
    pooled = (
        parameters.get("pgbouncer", "").lower() == "true"
        or port == POOLER_PORT
        or (host is not None and POOLED.search(host) is not None)
    )
    server = None if host is None else f"{host}:{port or PORTS[engine]}"
    return Address(
        engine,
        server,
        known(database),
        known(user),
        pooled,
        port or PORTS[engine],
        library,
        tuple(settings),
        tuple(key for *_, key in borrowed),
    )


def known(text: str | None) -> str | None:
    """Return a text whose every variable has a value, else None."""
    return None if not text or unset(text) else text


def without_password(text: str) -> tuple[str | None, str]:
    """Return the user, and what follows the credentials: a password may hold ``@``, ``/`` and ``?``."""
    if text.startswith(("/", "?")):
        return None, text
    for place in range(len(text) - 1, -1, -1):
        if text[place] == "@" and is_authority(text[place + 1 :]):
            return unquote_plus(text[:place].partition(":")[0]) or None, text[place + 1 :]
    return None, text.rpartition("@")[2]


def is_authority(text: str) -> bool:
    """May a host, or a list of hosts, stand at the beginning of a text?"""
    plain = UNSET.sub("x", text)
    return re.match(r"^[\w.,:\-\[\]%]*(?:[/?#]|$)", plain) is not None


def split_host(authority: str, engine: str) -> tuple[str | None, int | None]:
    """Return the host and the port; of several hosts all, of a socket's folder the local host."""
    if authority.startswith(("/", "%2F", "%2f")):
        return "localhost", None
    found = re.match(r"^(.*?)(?::(\d+))?$", authority)
    host, port = (found[1], found[2]) if found else (authority, None)
    if not HOST.match(host):
        return None, int(port) if port else None
    host = re.sub(rf":{PORTS[engine]}(?=,|$)", "", host).lower()
    return ("localhost" if host in LOCAL else host), int(port) if port else None
