"""Where in a text something is that must not be shown: half-open ranges of characters, found by patterns."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Span = tuple[int, int]
    Find = Callable[[str], Iterable[Span]]
    """Yields the ranges of a text that one kind of value takes up, in order and without overlaps."""

ESCAPED = re.compile(r"(?<=\\)[nrt]")
START = r"(?:(?<![\w.])|(?<=\\[nrt]))"
"""Where a word may begin: a line break in a JSON string is written as a backslash and a letter."""


def matches(pattern: str, check: Callable[[re.Match[str]], bool] | None = None) -> Find:
    """Return a finder of what a pattern matches, or of its group ``v`` where it has one."""
    compiled = re.compile(pattern)
    group: str | int = "v" if "v" in compiled.groupindex else 0

    def find(text: str) -> Iterator[Span]:
        for match in compiled.finditer(text):
            if match.start(group) >= 0 and (check is None or check(match)):
                yield match.span(group)

    return find


def broken(text: str) -> str:
    """Return a text of the same length in which a line break that JSON wrote as a backslash and a letter is one again.

    A word that begins behind such a letter would not be seen to begin there.
    """
    return ESCAPED.sub("\n", text) if "\\" in text else text


def apart(spans: Iterable[Span]) -> Iterator[Span]:
    """Yield ranges in order, those that overlap as one."""
    start = end = -1
    for lo, hi in sorted(spans):
        if lo < end:
            end = max(end, hi)
            continue
        if start >= 0:
            yield start, end
        start, end = lo, hi
    if start >= 0:
        yield start, end


def entropy(value: str) -> float:
    """Return the Shannon entropy of a text in bits per character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())
