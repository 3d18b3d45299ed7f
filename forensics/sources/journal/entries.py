"""The items of the entries: which DATA object each wanted field of each entry is, checked by the entry's hash.

Layout: docs/JOURNAL_FILE_FORMAT.md, "Entry Objects". ``xor_hash`` is the XOR of the Jenkins hashes of all
payloads of an entry (in keyed files too), so one gather over the items verifies both the payloads and the
pointers to them. Only where it does not match is the hash inside the DATA objects asked which of both is
damaged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from forensics.sources.journal.header import as_index
from forensics.sources.journal.payloads import DAMAGED, FIRST, own_hash_differs
from forensics.sources.journal.threads import spread

if TYPE_CHECKING:
    from forensics.sources.journal.header import Flags, Image, Index, Words
    from forensics.sources.journal.objects import Objects
    from forensics.sources.journal.payloads import Payloads

_BATCH = 1 << 13
"""Entries of which the items are looked at together."""


@dataclass(frozen=True, slots=True)
class Table:
    """``values[field, entry]`` is a row of Payloads, -1 where the entry has no such field."""

    values: npt.NDArray[np.int32]
    incomplete: Flags
    """Entries with an item that is damaged: its field is missing from ``values``."""
    wrong: Flags
    """Entries that do not have the hash they state though all their items are sound: not to be used."""


@dataclass(frozen=True, slots=True)
class _Items:
    """Items of a batch of entries, one after the other."""

    rows: Index
    """Row of Payloads, -1 for an item that points at no DATA object."""
    first: Index
    """Position of each entry's first item."""
    count: Index


def read_entries(image: Image, objects: Objects, payloads: Payloads, entries: Index, fields: int) -> Table:
    """Read the items of all ``entries`` (word positions of credible ENTRY objects) for that many fields."""
    values = np.full((fields, len(entries)), -1, np.int32)
    incomplete = np.zeros(len(entries), np.bool_)
    differing = np.zeros(len(entries), np.bool_)

    def work(start: int) -> None:
        batch = slice(start, start + _BATCH)
        items = _items(image, payloads, entries[batch])
        incomplete[batch] = _assign(payloads, items, values[:, batch])
        differing[batch] = _xor(payloads, items) != image.words[entries[batch] + 7]

    spread(work, range(0, len(entries), _BATCH))
    suspects = np.flatnonzero(differing & ~incomplete)
    wrong = np.zeros(len(entries), np.bool_)
    if len(suspects):
        _mark_damaged(image, objects, payloads, entries[suspects])
        for start in range(0, len(suspects), _BATCH):
            batch_of = suspects[start : start + _BATCH]
            items = _items(image, payloads, entries[batch_of])
            part = np.full((fields, len(batch_of)), -1, np.int32)
            incomplete[batch_of] = _assign(payloads, items, part)
            values[:, batch_of] = part
            wrong[batch_of] = ~incomplete[batch_of] & ~_explained(image, payloads, items, entries[batch_of])
        if wrong.sum() * 2 > len(entries):  # a writer that hashes otherwise, not damage
            wrong[:] = False
    return Table(values, incomplete, wrong)


def _items(image: Image, payloads: Payloads, entries: Index) -> _Items:
    size = image.words[entries + 1].astype(np.int64) - 64
    step = 4 if image.header.compact else 16
    count = size // step
    first = np.cumsum(count) - count
    total = int(count.sum())
    if image.header.compact:
        offset = as_index(image.halves[np.repeat(entries * 2 + 16 - first, count) + np.arange(total)])
    else:
        offset = as_index(image.words[np.repeat(entries + 8 - first * 2, count) + np.arange(0, total * 2, 2)])
    rows = payloads.places.rows(offset >> 3)
    rows[offset & 7 != 0] = -1
    return _Items(rows, first, count)


def _assign(payloads: Payloads, items: _Items, values: npt.NDArray[np.int32]) -> Flags:
    """Put the first item of each wanted field into ``values``; tell which entries have a damaged item."""
    kind = payloads.kind.take(items.rows, mode="clip")
    kind[items.rows < 0] = DAMAGED
    damaged = np.flatnonzero(kind == DAMAGED)
    incomplete = np.zeros(len(items.first), np.bool_)
    incomplete[np.searchsorted(items.first, damaged, "right") - 1] = True
    wanted = np.flatnonzero(kind >= FIRST)[::-1]  # of equal targets the last one assigned stays
    owner = np.repeat(np.arange(len(items.first), dtype=np.int32), items.count)
    values[kind[wanted] - FIRST, owner[wanted]] = items.rows[wanted]
    return incomplete


def _hashes(payloads: Payloads, items: _Items) -> Words:
    return np.where(items.rows < 0, np.uint64(0), payloads.hashed.take(items.rows, mode="clip"))


def _xor(payloads: Payloads, items: _Items) -> Words:
    return np.bitwise_xor.reduceat(_hashes(payloads, items), items.first)


def _mark_damaged(image: Image, objects: Objects, payloads: Payloads, entries: Index) -> None:
    """Make DAMAGED every DATA object of ``entries`` that contradicts its own hash."""
    seen = np.zeros(len(payloads.kind), np.bool_)
    for start in range(0, len(entries), _BATCH):
        rows = _items(image, payloads, entries[start : start + _BATCH]).rows
        seen[rows[rows >= 0]] = True
    rows = np.flatnonzero(seen & (payloads.hashed != 0))
    differ = own_hash_differs(image, objects, payloads, rows)
    if len(differ) * 2 <= len(rows):  # more: the file id in the header is damaged, not the payloads
        payloads.kind[differ] = DAMAGED


def _explained(image: Image, payloads: Payloads, items: _Items, entries: Index) -> Flags:
    """Entries whose hash differs for a sound reason.

    A payload too long to be hashed, or a field given twice with the same value: the writer hashes both and
    then stores one item, so the difference is the hash of one of the items.
    """
    hashes = _hashes(payloads, items)
    residue = np.bitwise_xor.reduceat(hashes, items.first) ^ image.words[entries + 7]
    twice = (hashes == np.repeat(residue, items.count)) | (hashes == 0)
    return np.logical_or.reduceat(twice, items.first)
