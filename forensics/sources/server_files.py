"""Settings of poolers and servers: ``pgbouncer.ini`` and ``postgresql.conf``.

    [databases]
    app = host=db port=5432 dbname=app pool_size=50
    [users]
    report = pool_size=5
    [pgbouncer]
    pool_mode = transaction

A pool is that of one database and one user; its size is the user's own, else the database's own, else ``default_pool_size``.

Reference: https://www.pgbouncer.org/config.html and
https://www.postgresql.org/docs/current/config-setting.html#CONFIG-SETTING-CONFIGURATION-FILE
"""

from __future__ import annotations

import configparser
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forensics.model.budget import DATABASE, POOLER, Link, Origin, Own, Said
from forensics.model.errors import UsageError
from forensics.sources import connection_urls, settings, variables
from forensics.sources.variables import Value

if TYPE_CHECKING:
    from collections.abc import Mapping

POOLER_TERMS = ("default_pool_size", "reserve_pool_size", "max_db_connections", "max_client_conn")
SERVER_TERMS = ("max_connections", "superuser_reserved_connections", "reserved_connections")
MODES = ("session", "transaction", "statement")
OWN = {
    "databases": {"pool_size": "default_pool_size", "reserve_pool_size": "reserve_pool_size", "reserve_pool": "reserve_pool_size", "max_db_connections": "max_db_connections"},
    "users": {"pool_size": "default_pool_size", "reserve_pool_size": "reserve_pool_size"},
}  # fmt: skip
"""Section to what an entry of it may set for itself, and the setting for all that it stands in for; ``reserve_pool`` is the older name."""
SECTION = re.compile(r"\s*\[([^\]]+)\]")
CONF_LINE = re.compile(r"^\s*(\w+)\s*(?:=|\s)\s*'?([^'#\s]+)'?")


@dataclass(frozen=True, slots=True)
class Pooler:
    """What ``pgbouncer.ini`` says."""

    said: list[Said]
    """Of the pooler as a whole."""
    upstream: list[Link]
    """Where it connects to, by its entries of databases."""
    own: list[Own]
    """Of single databases and users."""


def pgbouncer(text: str, name: str) -> Pooler:
    """Return what ``pgbouncer.ini`` says of the pooler, and where it connects to.

    Raises UsageError, with the line, for what is no such file and for a setting that is no number.
    """
    parser = configparser.ConfigParser(
        interpolation=None,
        strict=False,
        delimiters=("=",),
        comment_prefixes=("#", ";"),
        allow_no_value=True,
        default_section="",
    )
    parser.optionxform = str  # type: ignore[method-assign, assignment]  # names of databases and users keep their case
    lines = ["" if line.lstrip().startswith("%include") else line for line in text.splitlines()]
    try:
        parser.read_string("\n".join(lines), name)
    except configparser.Error as error:
        line = getattr(error, "lineno", None) or next(iter(getattr(error, "errors", [])), (None,))[0]
        where = f"{name}:{line}" if line else name
        raise UsageError("is not written as an .ini file", where=where, remedy="correct the line") from None
    if not parser.has_section("pgbouncer"):
        raise UsageError("has no section [pgbouncer]", where=name, remedy="give PgBouncer's pgbouncer.ini")
    said = []
    for key, value in parser.items("pgbouncer"):
        here, term = Value(value, f"{name}:{line_of(text, 'pgbouncer', key)}"), key.lower()
        if term in POOLER_TERMS:
            said.append(settings.strict(POOLER, term, here, term))
        elif term == "pool_mode":
            said.append(mode(here, term))
    entries = {section: dict(parser.items(section)) if parser.has_section(section) else {} for section in OWN}
    upstream = [link(bare(key), pairs(value)) for key, value in entries["databases"].items()]
    return Pooler(
        said, upstream, [one for section in OWN for one in own(section, entries[section], text, name)]
    )


def pairs(text: str | None) -> dict[str, str]:
    """Return the settings of one entry of ``[databases]``."""
    return {key: value.strip("'") for key, value in connection_urls.KEYWORD.findall(text or "")}


def link(key: str, said: Mapping[str, str]) -> Link:
    """Return where a database of the pooler is; ``*`` stands for any."""
    host, port = connection_urls.split_host(said.get("host", ""), "postgres")
    number = (
        int(said["port"]) if said.get("port", "").isdigit() else port or connection_urls.PORTS["postgres"]
    )
    database = None if key == "*" else said.get("dbname", key)
    return Link(
        key, "postgres", f"{host}:{number}" if host else None, database, said.get("user"), port=number
    )


def bare(key: str) -> str:
    """Return a name without the quotes that a file needs for one with unusual characters."""
    quoted = len(key) > 1 and key[0] == key[-1] == '"'
    return key[1:-1].replace('""', '"') if quoted else key


def own(section: str, entries: Mapping[str, str], text: str, name: str) -> list[Own]:
    """Return what the entries of a section set for themselves."""
    found = []
    for key, value in entries.items():
        line = f"{name}:{line_of(text, section, key)}"
        for setting, number in pairs(value).items():
            if term := OWN[section].get(setting):
                kind = section.removesuffix("s")
                said = settings.strict(POOLER, term, Value(number, line), f"{setting} of {kind} {bare(key)}")
                found.append(Own(kind, bare(key), said))
    return found


def postgresql(text: str, name: str) -> list[Said]:
    """Return what ``postgresql.conf`` says of connections; the last of several lines counts.

    Raises UsageError, with the line, for a setting that is no number.
    """
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = CONF_LINE.match(line)
        if match and match[1].lower() in SERVER_TERMS:
            term = match[1].lower()
            found[term] = settings.strict(DATABASE, term, Value(match[2], f"{name}:{number}"), term)
    return list(found.values())


def mode(value: Value, what: str) -> Said:
    """Return PgBouncer's mode; UsageError for one that it does not have."""
    text = (value.text or "").strip().lower()
    if value.text is None or variables.unset(text):
        return Said(
            POOLER, "pool_mode", None, Origin("file", value.where, f"{what} has no value in the given files")
        )
    if text not in MODES:
        raise UsageError("unknown pool_mode", where=value.where, remedy=f"modes are {', '.join(MODES)}")
    return Said(POOLER, "pool_mode", text, Origin("file", value.where, what, value.given()))


def line_of(text: str, section: str, key: str) -> int:
    """Return the last line of a section that sets a key, 1-based."""
    pattern = re.compile(rf"^\s*{re.escape(key)}\s*=")
    found, inside = 1, ""
    for number, line in enumerate(text.splitlines(), 1):
        if head := SECTION.match(line):
            inside = head[1]
        elif inside == section and pattern.match(line):
            found = number
    return found
