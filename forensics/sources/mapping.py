"""The whole content of one input at once, without holding it in memory where the file system can map it."""

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING

from forensics.sources import streams

if TYPE_CHECKING:
    from pathlib import Path

PROBE = 16
"""Bytes by which a file that is stored as it is can be told from one that is unpacked on the way."""


def contents(path: Path, damage: streams.Damage | None = None) -> mmap.mmap | bytes:
    """Map a file; a compressed one and a member of an archive are unpacked into memory. An empty file gives no bytes."""
    if path not in streams.STORED:
        with path.open("rb") as file:
            start = file.read(PROBE)
            if len(start) == PROBE and streams.head(path, PROBE) == start:
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return b"".join(streams.chunks(path, damage))
