"""SQLite databases, read from a private copy so that nothing is created beside the evidence.

The newest rows may lie in the write-ahead log ``NAME-wal``, which is copied with the database. The index ``NAME-shm`` is
not: it belongs to the process that wrote it, and SQLite makes a new one from the log (sqlite.org/walformat.html).
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import polars as pl

from forensics.model.errors import UnreadableError
from forensics.sources import streams
from forensics.sources.companions import wal_of
from forensics.sources.limits import collector

if TYPE_CHECKING:
    from collections.abc import Iterator

HEADER = 100
WRITTEN_BY_WAL = 2
"""Versions of the file format (bytes 18 and 19 of the header) of a database whose changes go into a log first."""
MAGIC = b"SQLite format 3\0"


@contextmanager
def copy(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a copy of a database together with its write-ahead log; the copy is removed afterwards."""
    with TemporaryDirectory(prefix="forensics-") as folder:
        target = Path(folder, "copy.db")
        streams.write(path, target)
        log = wal_of(path)
        if log is not None:
            streams.write(log, Path(folder, "copy.db-wal"))
        said = collector(None)
        if missing := without_wal(target) if log is None else None:
            said.say(missing)
        if short := truncated(target):
            said.say(short)
        with closing(sqlite3.connect(target)) as database:
            database.text_factory = lenient
            try:
                database.execute("pragma query_only = on")
                database.execute("select count(*) from sqlite_master").fetchone()
                yield database
            except sqlite3.DatabaseError as error:
                raise UnreadableError(
                    f"SQLite cannot read it ({error})",
                    remedy="copy the database together with its -wal file while the monitor is stopped; if it is encrypted, export the table of results as CSV",
                ) from None


def lenient(value: bytes) -> str:
    """Read text of a damaged page too."""
    return value.decode("utf-8", "replace")


def without_wal(target: Path) -> str | None:
    """Say that rows may be missing from a database that is written through a log which is not there."""
    with target.open("rb") as file:
        head = file.read(HEADER)
    if head[18:20] == bytes([WRITTEN_BY_WAL, WRITTEN_BY_WAL]):
        return "no write-ahead log lies beside it: if it was copied while the monitor ran, recent rows are missing; copy NAME-wal together with NAME"
    return None


def truncated(target: Path) -> str | None:
    """Say that a database is shorter than its header states."""
    with target.open("rb") as file:
        head = file.read(HEADER)
    if len(head) < HEADER:
        return None
    page = int.from_bytes(head[16:18], "big")
    stated = int.from_bytes(head[28:32], "big") * (65536 if page == 1 else page)
    counted = head[24:28] == head[92:96]
    size = target.stat().st_size
    if counted and size < stated:
        return f"the database is cut: {size:,} of {stated:,} bytes are there; copy it again"
    return None


def schema(path: Path) -> bytes:
    """Return the statements that made a database, behind its magic; a schema may lie anywhere in the file, or in its log."""
    try:
        with copy(path) as database:
            made = [
                str(row[0]) for row in database.execute("select sql from sqlite_master where sql not null")
            ]
    except (UnreadableError, OSError):
        return MAGIC
    return MAGIC + "\n".join(made).encode("utf-8", "replace")


def columns(database: sqlite3.Connection, table: str) -> set[str]:
    """Return the column names of a table."""
    return {row[1] for row in database.execute(f'pragma table_info("{table}")')}


def frame(database: sqlite3.Connection, query: str) -> pl.DataFrame:
    """Run a query into a frame; every column is text unless all its values are numbers."""
    cursor = database.execute(query)
    names = [item[0] for item in cursor.description]
    rows = cursor.fetchall()
    found = [{type(value) for value in column if value is not None} for column in zip(*rows, strict=True)]
    mixed = [not kinds <= {int, float} for kinds in found] if rows else [False] * len(names)
    cleaned = [
        [words(value) if text else value for value, text in zip(row, mixed, strict=True)] for row in rows
    ]
    return pl.DataFrame(
        cleaned,
        schema={name: pl.String if text else None for name, text in zip(names, mixed, strict=True)},
        orient="row",
        infer_schema_length=None,
    )


def words(value: object) -> str | None:
    """Return what a cell holds as text; SQLite lets a column hold values of any type."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return None if value is None else str(value)
