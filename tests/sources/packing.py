"""Helpers of the tests of compressed inputs and archives."""

from __future__ import annotations

import bz2
import gzip
import lzma
from typing import TYPE_CHECKING

import lz4.frame
import zstandard

from forensics.sources import streams

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda data: gzip.compress(data, mtime=0),
    "zstd": zstandard.ZstdCompressor().compress,
    "xz": lzma.compress,
    "bzip2": bz2.compress,
    "lz4": lz4.frame.compress,
}
LZMA: Callable[[bytes], bytes] = lambda data: lzma.compress(data, lzma.FORMAT_ALONE)  # noqa: E731 - as those above
TEXT = b"".join(b"line %05d of a log that compresses\n" % n for n in range(5000))


def read(path: Path) -> tuple[bytes, list[str]]:
    """Return the bytes of an input as the reader sees them, and what it says about damage."""
    damage = streams.Damage()
    return b"".join(streams.chunks(path, damage)), damage.notes


def put(tmp_path: Path, data: bytes, name: str = "input") -> Path:
    """Write bytes under a name without extension."""
    path = tmp_path / name
    path.write_bytes(data)
    return path
