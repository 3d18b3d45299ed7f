"""The lines of a file's head, and how many of them fit a pattern.

Every format looks at the same head of every file. A frame engine costs more to ask than these few lines take, and it compiles
a pattern anew each time; so heads are matched with Python's engine, which agrees with Rust's on every pattern of the package (held by a
test). A pattern that it does not know is left to polars.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from functools import cache, lru_cache
from itertools import groupby
from string import ascii_lowercase, ascii_uppercase
from typing import TYPE_CHECKING

import polars as pl

from forensics.formats.starts import STARTS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ANSI = r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"
"""CSI and OSC sequences (ECMA-48)."""
COLOUR = re.compile(ANSI)
HEXADECIMAL = re.compile(r"\\x\{([0-9a-fA-F]+)\}")
UPPER = r"\p{Lu}"
BOM = "\ufeff"
DATE = re.compile(STARTS["date"])
OTHERS = {
    **dict.fromkeys(ascii_lowercase, "lower"),
    **dict.fromkeys(ascii_uppercase, "upper"),
    "[": "bracket",
    "{": "brace",
}
TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|.", re.DOTALL)
"""A part of a pattern: an escape, a class, or one character."""
FIRST, MOST = 100, 300
"""Lines at the beginning of a head that are looked at, and lines in all: the others are taken at equal distances."""
CUT = 8
"""Heads that are remembered: formats are asked about one file after another."""


@lru_cache(maxsize=CUT)
def lines(head: bytes) -> tuple[str, ...]:
    """Return up to about :data:`MOST` whole lines of a head that are not blank, without colours; one that is cut is left out."""
    whole = head if head.endswith(b"\n") or b"\n" not in head else head[: head.rindex(b"\n")]
    text = whole.decode("utf-8", "replace").removeprefix(BOM)
    if "\x1b" in text:
        text = COLOUR.sub("", text)
    found = [line.removesuffix("\r") for line in text.split("\n") if line.strip()]
    step = max(1, (len(found) - FIRST) // (MOST - FIRST))
    return tuple(found[:FIRST] + found[FIRST::step])


@cache
def upper() -> str:
    """Return the ranges of upper-case letters, which Python's engine has no class for."""
    codes = [code for code in range(0x20000) if unicodedata.category(chr(code)) == "Lu"]
    runs = [[code for _, code in run] for _, run in groupby(enumerate(codes), key=lambda at: at[1] - at[0])]
    return "".join(f"{chr(run[0])}-{chr(run[-1])}" for run in runs)


@cache
def compiled(pattern: str) -> re.Pattern[str] | None:
    """Return a Rust pattern as Python's, None where Python does not know it."""
    text = HEXADECIMAL.sub(lambda code: re.escape(chr(int(code[1], 16))), pattern)
    if UPPER in text:
        text = text.replace(UPPER, f"[{upper()}]")
    with warnings.catch_warnings():
        warnings.simplefilter("error", FutureWarning)  # sets within sets, which Python reads as characters
        try:
            return re.compile(text)
        except (re.error, FutureWarning):
            return None


def branches(pattern: str) -> list[str]:
    """Part a pattern at the alternations that stand in no group and no class."""
    found = [""]
    depth = 0
    for part in TOKEN.findall(pattern):
        if part == "|" and depth == 0:
            found.append("")
            continue
        depth += (part == "(") - (part == ")")
        found[-1] += part
    return found


@cache
def finder(pattern: str) -> Callable[[str], object]:
    """Return what tells whether a line fits a pattern."""
    known = compiled(pattern)
    if known is not None:
        # Python's search looks for the beginning of a line at every character of it.
        return known.match if all(branch.startswith("^") for branch in branches(pattern)) else known.search

    def ask(line: str) -> bool:
        return bool(pl.Series([line]).str.contains(pattern).item())

    return ask


def fitting(said: Sequence[str], pattern: str) -> list[str]:
    """Return the lines that fit."""
    find = finder(pattern)
    return [line for line in said if find(line)]


def without(said: Sequence[str], aside: str | None, pattern: str) -> Sequence[str]:
    """Leave out lines that fit ``aside`` and do not fit ``pattern``."""
    if aside is None:
        return said
    no, yes = finder(aside), finder(pattern)
    return [line for line in said if not no(line) or yes(line)]


def share(said: Sequence[str], pattern: str) -> float:
    """Return the share of the lines that fit; 0 where there are none."""
    return len(fitting(said, pattern)) / len(said) if said else 0.0


def groups(said: Sequence[str], pattern: str) -> list[dict[str, str | None]]:
    """Return the named groups of the lines that fit."""
    known = compiled(pattern)
    assert known is not None
    return [found.groupdict() for line in said if (found := known.search(line))]


def beginning(line: str) -> str:
    """Return the name of a line's beginning, as :func:`forensics.formats.starts.start` does."""
    first = line[:1]
    if first.isdecimal():
        return "date" if DATE.match(line) else "digit"
    return OTHERS.get(first, "other")
