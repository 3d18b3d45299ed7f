"""SQLite databases, read from a private copy so that nothing is created beside the evidence."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from forensics.model.errors import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator

MAGIC = b"SQLite format 3\0"
COMPANIONS = ("-wal", "-shm")
WAL, SHM = (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83"), (b"\x18\xe2\x2d\x00", b"\x00\x2d\xe2\x18")
"""Magic bytes of a write-ahead log and of its index."""


@contextmanager
def copy(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a copy of a database together with its write-ahead log; the copy is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="forensics-") as folder:
        target = Path(folder, "copy.db")
        shutil.copyfile(path, target)
        for suffix in COMPANIONS:
            beside = path.with_name(path.name + suffix)
            if beside.exists():
                shutil.copyfile(beside, target.with_name(target.name + suffix))
        with closing(sqlite3.connect(target)) as database:
            database.text_factory = lambda data: data.decode("utf-8", "replace")
            try:
                yield database
            except sqlite3.DatabaseError as error:
                raise UnreadableError(
                    f"SQLite cannot read it ({error})",
                    remedy="copy the database together with its -wal file while the monitor is stopped",
                ) from None


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
