"""Files that belong to another: the write-ahead log of a SQLite database and its index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forensics.sources import streams

if TYPE_CHECKING:
    from pathlib import Path

WAL, INDEX = "-wal", "-shm"
PACKED = (".gz", ".zst", ".xz", ".bz2", ".lz4")


def wal_of(path: Path) -> Path | None:
    """Return the write-ahead log of a database, also where either was compressed on its own."""
    beside = [path.with_name(bare(path.name) + WAL + suffix) for suffix in ("", *PACKED)]
    return next(filter(streams.exists, beside), None)


def is_part(name: str, names: set[str]) -> bool:
    """Is this the write-ahead log, or its index, of a database among some files?"""
    stem = bare(name)
    base = next((stem.removesuffix(end) for end in (WAL, INDEX) if stem.endswith(end)), None)
    return base is not None and any(base + suffix in names for suffix in ("", *PACKED))


def bare(name: str) -> str:
    """Return a name without what a compression adds."""
    for suffix in PACKED:
        name = name.removesuffix(suffix)
    return name
