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

COMPANIONS = ("-wal", "-shm")


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
            try:
                yield database
            except sqlite3.DatabaseError as error:
                raise UnreadableError(
                    f"SQLite cannot read it ({error})",
                    remedy="copy the database together with its -wal file while the monitor is stopped",
                ) from None


def columns(database: sqlite3.Connection, table: str) -> set[str]:
    """Return the column names of a table."""
    return {row[1] for row in database.execute(f'pragma table_info("{table}")')}


def frame(database: sqlite3.Connection, query: str) -> pl.DataFrame:
    """Run a query into a frame; every column is text unless all its values are numbers."""
    cursor = database.execute(query)
    names = [item[0] for item in cursor.description]
    rows = cursor.fetchall()
    return pl.DataFrame(rows, schema=names, orient="row", infer_schema_length=None)
