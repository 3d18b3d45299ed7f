"""The write-ahead log (``kuma.db-wal``) and its index (``-shm``) of a SQLite database.

The newest rows of a running monitor are in the log alone. Beside its database it is read together with that; without it
nothing in the log can be named.

Reference: https://www.sqlite.org/fileformat2.html#the_write_ahead_log
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - part of the plug's signature
from pathlib import Path  # noqa: TC003 - part of the plug's signature

from forensics.model.errors import UnreadableError
from forensics.model.plug import Monitor, Parsed
from forensics.sources import sqlite


def sniff(head: bytes) -> float:
    """1 for the magic of a log, or of an index."""
    return 1.0 if head.startswith(sqlite.WAL) or (head.startswith(sqlite.SHM) and b"\0" in head[4:8]) else 0.0


def parse(path: Path, fields: Mapping[str, str]) -> Parsed:
    """Say with which file this one is read."""
    del fields
    name = path.name.removesuffix("-wal").removesuffix("-shm")
    if name != path.name and path.with_name(name).exists():
        return Parsed(notes=(f"read together with {name}",))
    raise UnreadableError(
        "the log of a SQLite database without the database",
        remedy="copy the database and its -wal file together, under their own names",
    )


PLUG = Monitor(
    name="sqlite_companion",
    title="write-ahead log of a SQLite database",
    marks="nothing by itself",
    sniff=sniff,
    parse=parse,
    binary=True,
)
