"""Which entries a file has: the chain of entry arrays, and the scan where the chain is broken.

Layout: docs/JOURNAL_FILE_FORMAT.md, "Entry Array Objects", "Sequence Numbers".
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from forensics.sources.journal.header import as_index
from forensics.sources.journal.objects import ENTRY_ARRAY, credible

if TYPE_CHECKING:
    from forensics.sources.journal.header import Image, Index, Words


@dataclass(frozen=True, slots=True)
class Found:
    """Word positions of the entries, ascending, and how they were found."""

    entries: Index
    broken: str
    """What is wrong with the chain, empty when it is whole."""
    disordered: int
    """Entries left out because their sequence number contradicts their neighbours'."""


def find_entries(image: Image, scanned: Index) -> Found:
    """Follow the chain; add the scanned candidates when it is broken or shorter than the header says.

    A linked item that is no entry breaks the chain. Without a break, entries that were written but never
    linked stay out, as they do in journalctl.
    """
    linked, broken = _chain(image)
    at = np.where(linked % 8 == 0, linked // 8, -1)
    good = credible(image, at)
    entries = at[good]
    if not broken and not good.all():
        broken = f"{int((~good).sum())} links of the entry arrays point at no entry"
    if not broken and len(entries) < image.header.n_entries:
        broken = f"the entry arrays list {len(entries)} of {image.header.n_entries} entries"
    if broken:
        entries = np.concatenate((entries, scanned[credible(image, scanned)]))
    if not bool((entries[1:] > entries[:-1]).all()):
        entries = np.unique(entries)
    ordered = _ordered(image.words[entries + 2])
    return Found(entries[ordered], broken, len(entries) - len(ordered))


def _chain(image: Image) -> tuple[Index, str]:
    """Byte offsets linked by the entry arrays, in order, and what broke the chain."""
    parts: list[Index] = [np.zeros(0, np.int64)]
    offset, last = image.header.entry_array, 0
    broken = ""
    while offset and not broken:
        at = offset // 8
        if offset % 8 or offset <= last or at < image.first or at + 3 > len(image.words):
            broken = f"the entry array chain leaves the file or turns back at offset {offset}"
            break
        if int(image.words[at]) & 0xFFFF != ENTRY_ARRAY:
            broken = f"the object at offset {offset} is no entry array"
            break
        size = int(image.words[at + 1])
        if size < 24 or offset + size > image.bytes:
            broken = f"the entry array at offset {offset} does not lie whole in the file"
            size = min(max(size, 24), image.bytes - offset)
        parts.append(_links(image, at, size))
        last, offset = offset, int(image.words[at + 2])
    return np.concatenate(parts), broken


def _links(image: Image, at: int, size: int) -> Index:
    """Byte offsets in the entry array at word ``at`` of ``size`` bytes; unused places are zero."""
    if image.header.compact:
        links = as_index(image.halves[at * 2 + 6 : at * 2 + size // 4])
    else:
        links = as_index(image.words[at + 3 : at + size // 8])
    used: Index = links[links != 0]
    return used


def _ordered(seqnums: Words) -> Index:
    """Indices of the longest run of entries whose sequence numbers rise (all of them in a sound file)."""
    if len(seqnums) < 2 or bool((seqnums[1:] > seqnums[:-1]).all()):
        return np.arange(len(seqnums))
    tails: list[int] = []
    tail_index: list[int] = []
    before = np.full(len(seqnums), -1, np.int64)
    for index, number in enumerate(seqnums.tolist()):
        place = bisect_left(tails, number)
        before[index] = tail_index[place - 1] if place else -1
        tails[place : place + 1] = [number]
        tail_index[place : place + 1] = [index]
    chosen = [tail_index[-1]]
    while before[chosen[-1]] >= 0:
        chosen.append(int(before[chosen[-1]]))
    return np.array(chosen[::-1], np.int64)
