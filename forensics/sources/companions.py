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


def owner(name: str, names: set[str]) -> str | None:
    """Say which of some files a write-ahead log or its index belongs to, None where there is no such file."""
    stem = bare(name)
    for end, read in ((WAL, "it is read together with it"), (INDEX, "it is not needed")):
        base = stem.removesuffix(end)
        if stem.endswith(end) and (
            found := next((base + s for s in ("", *PACKED) if base + s in names), None)
        ):
            return f"a companion of {found}; {read}"
    return None


def bare(name: str) -> str:
    """Return a name without what a compression adds."""
    for suffix in PACKED:
        name = name.removesuffix(suffix)
    return name
