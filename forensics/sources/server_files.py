"""Settings of poolers and servers: ``pgbouncer.ini`` and ``postgresql.conf``.

    [databases]
    app = host=db port=5432 dbname=app pool_size=50
    [pgbouncer]
    pool_mode = transaction

Reference: https://www.pgbouncer.org/config.html and
https://www.postgresql.org/docs/current/config-setting.html#CONFIG-SETTING-CONFIGURATION-FILE
"""

from __future__ import annotations

import configparser
import re
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

from forensics.model.budget import DATABASE, POOLER, Link, Origin, Range, Said
from forensics.model.errors import UsageError
from forensics.sources import connection_urls, settings, variables
from forensics.sources.variables import Value

if TYPE_CHECKING:
    from collections.abc import Mapping

POOLER_TERMS = ("default_pool_size", "reserve_pool_size", "max_db_connections", "max_client_conn")
SERVER_TERMS = ("max_connections", "superuser_reserved_connections", "reserved_connections")
MODES = ("session", "transaction", "statement")
POOL_SIZE = 20
"""PgBouncer's ``default_pool_size`` where the file sets none, for databases without a size of their own."""
CONF_LINE = re.compile(r"^\s*(\w+)\s*(?:=|\s)\s*'?([^'#\s]+)'?")


def pgbouncer(text: str, name: str) -> tuple[list[Said], list[Link]]:
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
    for term, value in parser.items("pgbouncer"):
        here = Value(value, f"{name}:{line_of(text, term)}")
        if term in POOLER_TERMS:
            said.append(settings.strict(POOLER, term, here, term))
        elif term == "pool_mode":
            said.append(mode(here, term))
    entries = dict(parser.items("databases")) if parser.has_section("databases") else {}
    default = next((item.value for item in said if item.term == "default_pool_size"), None)
    sizes = own_sizes(entries, text, name, default if isinstance(default, Range) else Range.of(POOL_SIZE))
    if sizes:
        said = [*(item for item in said if item.term != "default_pool_size"), sizes]
    return said, [upstream(key, pairs(value)) for key, value in entries.items()]


def pairs(text: str | None) -> dict[str, str]:
    """Return the settings of one entry of ``[databases]``."""
    return {key: value.strip("'") for key, value in connection_urls.KEYWORD.findall(text or "")}


def upstream(key: str, said: Mapping[str, str]) -> Link:
    """Return where a database of the pooler is; ``*`` stands for any."""
    host, port = connection_urls.split_host(said.get("host", ""), "postgres")
    number = (
        int(said["port"]) if said.get("port", "").isdigit() else port or connection_urls.PORTS["postgres"]
    )
    database = None if key == "*" else said.get("dbname", key)
    return Link(
        key, "postgres", f"{host}:{number}" if host else None, database, said.get("user"), port=number
    )


def own_sizes(entries: Mapping[str, str], text: str, name: str, default: Range) -> Said | None:
    """Return the sizes that databases set for themselves, which come before the default one; a range where they differ."""
    found = []
    for key, value in entries.items():
        if "pool_size" in (said := pairs(value)):
            here = Value(said["pool_size"], f"{name}:{line_of(text, key)}")
            found.append(settings.strict(POOLER, "default_pool_size", here, f"pool_size of {key}"))
    if not found:
        return None
    values = [item.value for item in found] + ([default] if len(found) < len(entries) else [])
    whole = reduce(Range.hull, (value for value in values if isinstance(value, Range)))
    return replace(found[0], value=whole)


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


def line_of(text: str, key: str) -> int:
    """Return the last line that sets a key, 1-based."""
    pattern = re.compile(rf"^\s*{re.escape(key)}\s*=", re.IGNORECASE)
    return max((n for n, line in enumerate(text.splitlines(), 1) if pattern.match(line)), default=1)
