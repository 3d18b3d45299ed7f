"""Journal files that hold entries of one another: a copy made later, or the file before and after it was archived.

An entry is known by its sequence number and the id of the numbering (systemd docs/JOURNAL_FILE_FORMAT.md, "Sequence
Numbers"), which a journal file and those of the host's users share. Each entry is counted in one file, the one with more
entries first; which numbers a file leaves to another is settled before anything is read.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from forensics.model.errors import UnreadableError
from forensics.sources import journal, mapping, streams

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import numpy.typing as npt

    from forensics.model.plug import Span

HEADER_BYTES = 512


@dataclass(frozen=True, slots=True)
class Held:
    """Numbers of one file that are counted in others."""

    spans: tuple[Span, ...]
    """First and last number of each run, both included."""
    count: int
    by: int
    """Index of the file that has most of them."""
    whole: bool
    """True when nothing of the file is left."""


def find(files: Iterable[tuple[int, Path]]) -> dict[int, Held]:
    """Return what each journal file (index, path) leaves to another; files without common numbers are left out."""
    headers = {}
    paths = dict(files)
    for index, path in paths.items():
        try:
            headers[index] = journal.parse_header(streams.head(path, HEADER_BYTES))
        except (OSError, UnreadableError):
            continue
    numberings: dict[str, list[int]] = defaultdict(list)
    for index, header in headers.items():
        numberings[header.seqnum_id].append(index)
    found: dict[int, Held] = {}
    for members in numberings.values():
        edges = {index: (headers[index].head_seqnum, headers[index].tail_seqnum) for index in members}
        near = [index for index in members if touches(edges, index)]
        found |= settle({index: numbers_of(paths[index]) for index in near})
    return found


def touches(edges: dict[int, tuple[int, int]], index: int) -> bool:
    """Tell whether the numbers of a file may lie among those of another."""
    lo, hi = edges[index]
    return any(lo <= other[1] and other[0] <= hi for key, other in edges.items() if key != index)


def numbers_of(path: Path) -> npt.NDArray[np.uint64]:
    """Return the numbers of a file, none when it can't be read."""
    try:
        return journal.numbers(mapping.contents(path))
    except (OSError, UnreadableError):
        return np.zeros(0, np.uint64)


def settle(numbers: dict[int, npt.NDArray[np.uint64]]) -> dict[int, Held]:
    """Say for each file which numbers others hold, the file with most entries first."""
    order = sorted(numbers, key=lambda index: (-len(numbers[index]), index))
    found: dict[int, Held] = {}
    for place, index in enumerate(order):
        common = {before: np.intersect1d(numbers[index], numbers[before]) for before in order[:place]}
        held = np.unique(np.concatenate([np.zeros(0, np.uint64), *common.values()]))
        if len(held):
            by = max(common, key=lambda before: (len(common[before]), -before))
            found[index] = Held(runs(held), len(held), by, whole=len(held) == len(numbers[index]))
    return found


def runs(numbers: npt.NDArray[np.uint64]) -> tuple[Span, ...]:
    """Return ascending numbers as runs without a hole."""
    breaks = np.flatnonzero(np.diff(numbers) != 1)
    firsts, lasts = np.r_[0, breaks + 1], np.r_[breaks, len(numbers) - 1]
    return tuple(zip(numbers[firsts].tolist(), numbers[lasts].tolist(), strict=True))
