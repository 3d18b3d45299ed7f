"""A home-grown monitor's SQLite table of results or samples, its columns found by name.

    create table checks (id integer primary key, ts text, target text, status text, latency_ms real)

Every table that has a time and a result, or a gauge with its limit, is read; a row is named by its rowid. The time is when
the check began, as far as such a table says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping  # noqa: TC003 - part of the plug's signature
from pathlib import Path  # noqa: TC003 - part of the plug's signature

import polars as pl

from forensics.formats.jsonl import TIME, known_as
from forensics.formats.state import joined, kind_of, rows_of
from forensics.model.errors import UnreadableError
from forensics.model.plug import Monitor, Parsed
from forensics.sources import sqlite

SURE = 0.6
"""Any database whose monitor is known wins."""
TABLE = re.compile(rb"CREATE TABLE[^(]{1,80}\(([^\0]{5,2000})", re.IGNORECASE)
COLUMN = re.compile(r"[\"'`\[]?(\w+)[\"'`\]]?")
NONE = "a SQLite database of an unknown schema; export the table of results as CSV or JSON lines"


def sniff(head: bytes) -> float:
    """Fits where some table's columns name a time and a result or a gauge."""
    if not head.startswith(sqlite.MAGIC):
        return 0.0
    made = (match.decode("utf-8", "replace") for match in TABLE.findall(head))
    columns = (
        [known_as(found[1]) for part in sql.split(",") if (found := COLUMN.match(part.strip()))]
        for sql in made
    )
    return SURE if any(set(TIME) & set(names) and kind_of(names) for names in columns) else 0.0


def parse(path: Path, fields: Mapping[str, str]) -> Parsed:
    """Read every table that fits."""
    parts: list[Parsed] = []
    with sqlite.copy(path) as database:
        names = [
            row[0]
            for row in database.execute("select name from sqlite_master where type = 'table' order by name")
        ]
        for name in names:
            columns = {known_as(column) for column in sqlite.columns(database, name)}
            if not columns & {*TIME, known_as(fields.get("time", ""))} or not kind_of(columns, fields):
                continue
            quoted = name.replace('"', '""')
            table = sqlite.frame(database, f'select rowid as line, * from "{quoted}" order by rowid')  # noqa: S608 - the name is from the schema, quoted
            table = table.rename({column: known_as(column) for column in table.columns if column != "line"})
            parts.append(rows_of(table.with_columns(pl.exclude("line").cast(pl.String)), fields, name))
    if not parts:
        raise UnreadableError(NONE)
    return joined(parts)


PLUG = Monitor(
    name="sqlite_state",
    title="table of results of a home-grown monitor, SQLite",
    marks="as the program has it: start of the check, or when the sample was taken",
    sniff=sniff,
    parse=parse,
    binary=True,
)
