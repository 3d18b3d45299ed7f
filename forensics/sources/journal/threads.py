"""Work on independent pieces at the same time: numpy and polars let go of the interpreter in their loops."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Piece = TypeVar("Piece")
Result = TypeVar("Result")


def spread(work: Callable[[Piece], Result], pieces: Iterable[Piece]) -> list[Result]:
    """Results of ``work`` in the order of ``pieces``, on as many threads as there are processors, at most 8."""
    todo = list(pieces)
    workers = min(len(todo), os.cpu_count() or 1, 8)
    if workers < 2:
        return [work(piece) for piece in todo]
    with ThreadPoolExecutor(workers, thread_name_prefix="journal") as pool:
        return list(pool.map(work, todo))
