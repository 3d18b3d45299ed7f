"""The DATA objects: which field each one is, where its value lies, and the hash of its payload.

Layout: docs/JOURNAL_FILE_FORMAT.md, "Data Objects". Each distinct object is looked at once, however many
entries share it. Plain payloads stay where they are in the mapped file; compressed ones are unpacked into a
second buffer.
"""

from __future__ import annotations

import lzma
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

import lz4.block  # type: ignore[import-untyped]
import numpy as np
import zstandard

from forensics.sources.journal.columns import make_views, make_windows
from forensics.sources.journal.hashes import jenkins, siphash

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forensics.sources.journal.header import Image, Index, Octets, Words
    from forensics.sources.journal.objects import Objects

OTHER, DAMAGED, FIRST = 0, 1, 2
"""Kinds of DATA objects: of an unwanted field, unreadable, and from 2 on the wanted fields in order."""

UNPACK_LIMIT = 256 << 20
"""Bytes a compressed value may have; journald itself splits lines at 48 KiB."""
HASH_LIMIT = 1 << 17
"""Bytes up to which payloads are checked against the hash of their entry."""


@dataclass(frozen=True, slots=True)
class Payloads:
    """One row per DATA object, in file order.

    ``start`` is a word of ``words`` (the file) or, where ``unpacked``, of ``side``; ``length`` counts bytes of
    ``NAME=value``. ``hashed`` is the Jenkins hash of the payload, 0 where it could not be computed. ``views``
    are the values of the wanted fields as polars takes them (``columns.py``), over ``windows``.
    """

    places: Places
    start: Index
    length: Index
    kind: Octets
    unpacked: Octets
    hashed: Words
    side: Words
    views: Words
    windows: list[Octets]


class Places:
    """Row of the object at a word of the file: a bit per word, and the count of bits before each 64 of them."""

    def __init__(self, at: Index, words: int) -> None:
        marks = np.zeros((words // 64 + 1) * 64, np.bool_)
        marks[at] = True
        self._bits: Words = np.packbits(marks, bitorder="little").view("<u8")
        counts = np.bitwise_count(self._bits).astype(np.int32)
        self._before = np.cumsum(counts, dtype=np.int32) - counts
        self._words = words

    def rows(self, at: Index) -> Index:
        """Row per word position, -1 where no object starts (or outside of the file)."""
        group = at >> 6
        bits = self._bits.take(group, mode="clip")
        shift = (at & 63).astype(np.uint64)
        rows = np.bitwise_count(bits & ((np.uint64(1) << shift) - np.uint64(1))).astype(np.int64)
        rows += self._before.take(group, mode="clip")
        found = ((bits >> shift) & np.uint64(1)).astype(np.bool_)
        found &= (at >= 0) & (at < self._words)
        rows[~found] = -1
        return rows


def read_payloads(image: Image, objects: Objects, fields: Sequence[str]) -> Payloads:
    """Classify, unpack and hash every DATA object found by the scan."""
    start = objects.data + image.payload
    length = objects.length.copy()
    packed = np.flatnonzero(objects.coding)
    side, failed = _unpack_all(image, objects, packed, start, length)
    unpacked = np.zeros(len(start), np.uint8)
    unpacked[packed] = 1
    kind = np.zeros(len(start), np.uint8)
    hashed = np.zeros(len(start), np.uint64)
    views = np.zeros((len(start), 2), np.uint64)
    windows: list[Octets] = []
    for words, rows in ((image.words, np.flatnonzero(unpacked == 0)), (side, packed)):
        if len(rows):
            kind[rows] = _classify(words, start[rows], length[rows], fields)
            light = rows[length[rows] <= HASH_LIMIT]
            hashed[light] = jenkins(words.view("<u4"), start[light] * 2, length[light])
            for number, field in enumerate(fields):
                mine, skip = rows[kind[rows] == FIRST + number], len(field.encode()) + 1
                views[mine] = make_views(words, start[mine], skip, length[mine] - skip, len(windows))
        windows += make_windows(words)
    kind[failed] = DAMAGED
    hashed[failed] = 0
    return Payloads(
        places=Places(objects.data, len(image.words)),
        start=start,
        length=length,
        kind=kind,
        unpacked=unpacked,
        hashed=hashed,
        side=side,
        views=views,
        windows=windows,
    )


def own_hash_differs(image: Image, objects: Objects, payloads: Payloads, rows: Index) -> Index:
    """Rows whose payload does not have the hash stored in its own DATA object."""
    stored = image.words[objects.data[rows] + 2]
    actual = payloads.hashed[rows]
    if image.header.keyed:
        key = bytes.fromhex(image.header.file_id)
        for words, unpacked in ((image.words, 0), (payloads.side, 1)):
            mine = np.flatnonzero(payloads.unpacked[rows] == unpacked)
            actual[mine] = siphash(words, key, payloads.start[rows[mine]], payloads.length[rows[mine]])
    differing: Index = rows[stored != actual]
    return differing


def _classify(words: Words, start: Index, length: Index, fields: Sequence[str]) -> Octets:
    """Kind per payload by its first bytes; a payload without ``=`` in its name's place is OTHER."""
    kind = np.full(len(start), OTHER, np.uint8)
    head = words.take(start, mode="clip")
    for number, field in enumerate(fields):
        name = field.encode() + b"="
        patterns = [name[at : at + 8] for at in range(0, len(name), 8)]
        rows = np.flatnonzero(_begins(head, patterns[0]) & (length >= len(name)))
        for step, pattern in enumerate(patterns[1:], 1):
            rows = rows[_begins(words.take(start[rows] + step, mode="clip"), pattern)]
        kind[rows] = FIRST + number
    return kind


def _begins(word: Words, pattern: bytes) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    mask = np.uint64((1 << 8 * len(pattern)) - 1)
    same: np.ndarray[tuple[int], np.dtype[np.bool_]] = (word & mask) == np.uint64(
        int.from_bytes(pattern, "little")
    )
    return same


def _unpack_all(
    image: Image, objects: Objects, packed: Index, start: Index, length: Index
) -> tuple[Words, Index]:
    """Unpack the rows ``packed`` into one buffer; write their ``start`` and ``length``, give the failed."""
    pieces: list[bytes] = []
    failed: list[int] = []
    at = 0
    for row in packed.tolist():
        first = int(start[row]) * 8
        value = unpack(bytes(image.octets[first : first + int(length[row])]), int(objects.coding[row]))
        if not value:
            failed.append(row)
            value = b"\0"
        start[row], length[row] = at, len(value)
        value += bytes(-len(value) % 8)
        pieces.append(value)
        at += len(value) // 8
    return np.frombuffer(b"".join(pieces), "<u8"), np.array(failed, np.int64)


def unpack(payload: bytes, coding: int) -> bytes:
    """Unpack one payload (``coding`` 1 xz, 2 lz4, 4 zstd); empty when it is damaged or beyond the limit."""
    try:
        if coding == 1:
            return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=1 << 30).decompress(payload, UNPACK_LIMIT)
        if coding == 2:
            (size,) = struct.unpack_from("<Q", payload)
            if size > UNPACK_LIMIT or size > len(payload) * 256:
                return b""
            return bytes(lz4.block.decompress(payload[8:], uncompressed_size=size))
        if coding == 4:
            with zstandard.ZstdDecompressor().stream_reader(payload) as stream:
                return stream.read(UNPACK_LIMIT)
    except (lzma.LZMAError, lz4.block.LZ4BlockError, zstandard.ZstdError, struct.error, MemoryError):
        return b""
    return b""
