"""Objects found by looking at every word of the file, and what makes an entry credible.

Layout: docs/JOURNAL_FILE_FORMAT.md, "Objects", "Data Objects", "Entry Objects". A scan costs less than the
walk from object to object (no step depends on the one before it) and does not stop at a damaged size.
What it finds inside a payload by accident is harmless: DATA objects count only when an entry points at them,
and scanned entries only where the chain of entry arrays is broken (``chain.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from forensics.sources.journal.header import LZ4, XZ, ZSTD, as_index
from forensics.sources.journal.threads import spread

if TYPE_CHECKING:
    from forensics.sources.journal.header import Flags, Image, Index, Words

DATA, ENTRY, ENTRY_ARRAY = 1, 3, 6
_TYPE_AND_FLAGS = np.uint64(0xFFFF)
_DATA_BITS = np.uint64(0xF8FF)
"""All but the compression bits."""
_EITHER_BITS = np.uint64(0xF8FD)
"""Under this mask both DATA (1) and ENTRY (3) are 1."""
_HEAVY = np.uint64(4096)
_NEVER = 1 << 30
_CODINGS = np.array([0, XZ, LZ4, _NEVER, ZSTD, _NEVER, _NEVER, _NEVER])
"""Flag a file must have for each value of the compression bits; no two of them at once."""
_BLOCK = 1 << 16
"""Words looked at together: 512 KiB stay in the cache."""
_LATEST = np.uint64(1 << 55)
"""No clock of systemd goes further (VALID_REALTIME, VALID_MONOTONIC)."""
_LARGEST_ENTRY = np.uint64(1 << 20)
"""Bytes of an ENTRY object with 65,536 items, far beyond what journald accepts."""


@dataclass(frozen=True, slots=True)
class Objects:
    """Word positions of everything that looks like a DATA or ENTRY object, ascending."""

    data: Index
    length: Index
    """Bytes of each DATA payload as stored."""
    coding: Words
    """Compression bits of each DATA object: 0, 1 xz, 2 lz4, 4 zstd."""
    entries: Index


def scan(image: Image) -> Objects:
    """Find the DATA objects that lie whole in the file, and the candidates for entries."""

    def work(start: int) -> Index:
        return np.flatnonzero((image.words[start : start + _BLOCK] & _EITHER_BITS) == DATA) + start

    parts = spread(work, range(image.first, len(image.words), _BLOCK))
    found = np.concatenate([np.zeros(0, np.int64), *parts])
    kind = image.pick(found)
    is_data = (kind & _DATA_BITS) == DATA
    coding = (kind >> np.uint64(8)) & np.uint64(7)
    data, coding = found[is_data], coding[is_data]
    size = image.pick(data + 1)
    room = ((len(image.words) - data) * 8).astype(np.uint64)
    flag = _CODINGS[coding]
    whole = (size > image.payload * 8) & (size <= room) & ((flag & image.header.flags) == flag)
    heavy = np.flatnonzero(whole & ((size > _HEAVY) | (coding > 0)))
    whole[heavy] = _is_used(image, data[heavy])
    return Objects(
        data=data[whole],
        length=size[whole].astype(np.int64) - image.payload * 8,
        coding=coding[whole],
        entries=found[(kind & _TYPE_AND_FLAGS) == ENTRY],
    )


def _is_used(image: Image, data: Index) -> Flags:
    """Whether the first entry a DATA object names is one: costly objects have to look true before that cost."""
    offset = as_index(image.pick(data + 5))
    at = offset >> 3
    inside = (offset & 7 == 0) & (at > data) & (at < len(image.words))
    used: Flags = inside & ((image.pick(at) & _TYPE_AND_FLAGS) == ENTRY)
    return used


def credible(image: Image, at: Index) -> Flags:
    """Which words of ``at`` start an ENTRY object that lies whole in the file, with possible numbers in it."""
    inside = (at >= image.first) & (at + 8 <= len(image.words))
    at = np.where(inside, at, 0)
    kind, size, seqnum, realtime, monotonic = (image.pick(at + word) for word in range(5))
    step = np.uint64(4 if image.header.compact else 16)
    room = (image.bytes - at * 8).astype(np.uint64)
    good: Flags = inside & ((kind & _TYPE_AND_FLAGS) == ENTRY)
    good &= (size > 64) & (size <= room) & (size <= _LARGEST_ENTRY) & ((size - np.uint64(64)) % step == 0)
    good &= (seqnum > 0) & (realtime > 0) & (realtime < _LATEST) & (monotonic < _LATEST)
    good &= (image.pick(at + 5) | image.pick(at + 6)) != np.uint64(0)
    return good
