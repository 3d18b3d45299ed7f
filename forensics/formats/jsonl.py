"""JSON as monitors leave it: objects one a line, one array, an envelope, or objects one after another.

A file that was cut in the middle gives everything that is whole before the cut.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.formats.text import lines_of
from forensics.model.errors import UnreadableError
from forensics.sources import streams

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

TIME = (
    "ts",
    "time",
    "timestamp",
    "at",
    "date",
    "datetime",
    "checked_at",
    "created_at",
    "t",
    "date_time",
    "checkedat",
    "createdat",
    "when",
    "collected_at",
    "sampled_at",
    "started_at",
    "data_hora",
    "datahora",
    "data",
    "quando",
    "momento",  # codespell:ignore momento
    "zeit",
    "zeitpunkt",
    "datum",
    "fecha",
    "lastchecked",
    "last_check",
    "last_checked",
)
"""Names of the field that holds the time, as :func:`known_as` writes them, most specific first."""
CLOCK = ("hora", "clock", "uhrzeit", "horario", "time_of_day", "time")
"""Names of a time of day that stands beside a date."""
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},]')
HEADS = 8
"""Heads that are remembered: several files are planned at a time."""
DEEPEST = 200
"""Levels of nesting of a value that is worth saving."""
CUT = "the file ends in the middle of a JSON value; what is whole before it was used, copy the file again for the rest"


@dataclass(frozen=True, slots=True)
class Objects:
    """The objects of a file as strings by field, with conservation counts."""

    frame: pl.DataFrame
    records: int
    blank: int
    unparsed: int
    first_unparsed: int | None


@dataclass(frozen=True, slots=True)
class Document:
    """The JSON values of a whole file."""

    values: tuple[Any, ...]
    notes: tuple[str, ...]
    """What is missing: the file was cut, or holds something else behind the values."""


@lru_cache(maxsize=4096)
def known_as(name: str) -> str:
    """Write the name of a field as the lists of names do: ``Date-Time`` and ``dateTime`` become ``date_time``."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip())
    return re.sub(r"[^\w%]+", "_", snake.lower()).strip("_")


def decoded(data: bytes) -> str:
    """Return bytes as text, with U+FFFD for what is no UTF-8; other encodings are UTF-8 by the time they come here."""
    return data.decode("utf-8-sig", "replace")


def share(head: bytes, groups: Sequence[Sequence[str]], absent: Sequence[str] = ()) -> float:
    """Share of the lines of a head that are objects with a time and one field of each group."""
    lines = [line for line in (head.split(b"\n")[:-1] or [head]) if line.strip()][:200]
    if not lines:
        return 0.0
    fits = 0
    for line in lines:
        value = loaded(line)
        if isinstance(value, dict):
            names = {known_as(name) for name in value}
            fits += not names.intersection(absent) and all(
                names.intersection(group) for group in (TIME, *groups)
            )
    return fits / len(lines)


def loaded(text: str | bytes) -> Any:
    """Return a JSON value, None where the text is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def objects(path: Path) -> Objects:
    """Read a whole file of objects; a line that is none is unparsed. Monitor state is small, so it is read at once."""
    raw = pl.DataFrame({"raw": lines_of(whole(path))}).with_row_index("line", offset=1)
    blank = int((raw["raw"].str.strip_chars() == "").sum())
    rows: list[tuple[int, dict[str, Any]]] = []
    for line, text in raw.iter_rows():
        value = loaded(text)
        if isinstance(value, dict):
            rows.append((line, value))
    frame = table(rows)
    left = raw.join(frame.select("line"), on="line", how="anti").filter(pl.col("raw").str.strip_chars() != "")
    first = int(left["line"][0]) if left.height else None
    return Objects(frame, frame.height, blank, raw.height - frame.height - blank, first)


def table(rows: Sequence[tuple[int, dict[str, Any]]]) -> pl.DataFrame:
    """Return objects as a frame of strings with their line; names are written as :func:`known_as` does."""
    plain_rows = [
        {**{known_as(name): plain(item) for name, item in value.items()}, "line": line}
        for line, value in rows
    ]
    names = list(dict.fromkeys(name for row in plain_rows for name in row if name != "line"))
    return pl.DataFrame(plain_rows, schema={"line": pl.UInt32, **dict.fromkeys(names, pl.String)})


def whole(path: Path) -> bytes:
    """Return the unpacked bytes of a file as UTF-8."""
    return b"".join(streams.chunks(path))


def plain(value: object) -> str | None:
    """Return a JSON value as text; null stays null."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value)


def first_of(frame: pl.DataFrame, names: Sequence[str], given: str | None = None) -> pl.Expr:
    """Return the first field that is there and not null; a name that was given comes first."""
    names = (known_as(given), *names) if given else names
    have = [pl.col(name) for name in names if name in frame.columns]
    return pl.coalesce(have) if have else pl.lit(None, dtype=pl.String)


def read(path: Path) -> Document:
    """Return the JSON values of a whole file, whatever lies between them.

    Raises UnreadableError where there is no value at all.
    """
    text = decoded(b"".join(streams.chunks(path)))
    values, rest = consecutive(text)
    notes: tuple[str, ...] = ()
    if rest:
        saved = salvaged(rest)
        if saved is not None:
            values.append(saved)
        notes = (CUT,)
    if not values:
        raise UnreadableError("it holds no whole JSON value", remedy="export it again")
    return Document(tuple(values), notes)


def head_values(head: bytes) -> list[Any]:
    """Return the JSON values at the start of a file; of a value that the head cuts, what is whole."""
    return list(beginning(head))


@lru_cache(maxsize=HEADS)
def beginning(head: bytes) -> tuple[Any, ...]:
    """Decode a head once: a score of formats asks for it."""
    text = decoded(head).lstrip()
    if text[:1] not in ("{", "["):
        return ()
    values, rest = consecutive(text)
    saved = salvaged(rest) if rest else None
    return tuple(values) if saved is None else (*values, saved)


def consecutive(text: str) -> tuple[list[Any], str]:
    """Decode values that follow one another; what comes after the last whole one is returned too."""
    decoder = json.JSONDecoder()
    values: list[Any] = []
    at = 0
    while True:
        while at < len(text) and (text[at].isspace() or text[at] in ",\x1e\0"):
            at += 1
        if at >= len(text):
            return values, ""
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return values, text[at:]
        values.append(value)


def salvaged(text: str) -> Any:
    """Return what is whole of a value that was cut: it is closed behind its last complete list item."""
    stack: list[str] = []
    best: tuple[int, tuple[str, ...]] | None = None
    before = ""
    for match in TOKEN.finditer(text):
        mark = match[0]
        if mark in "[{":
            stack.append("]" if mark == "[" else "}")
            if len(stack) > DEEPEST:
                return None
        elif mark in "]}":
            if not stack or stack.pop() != mark:
                return None
        elif mark == "," and stack and stack[-1] == "]" and before in ("]", "}"):
            best = match.start(), tuple(stack)
        before = mark[0]
    if best is None:
        return None
    end, closers = best
    return loaded(text[:end] + "".join(reversed(closers)))


def dicts(values: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """Yield every object of a document's top: those of an array, or the values themselves."""
    for value in values:
        if isinstance(value, list):
            yield from (item for item in value if isinstance(item, dict))
        elif isinstance(value, dict):
            yield value


def mapping(value: object) -> dict[str, Any]:
    """Return an object, or an empty one where the file holds something else."""
    return value if isinstance(value, dict) else {}


def listing(value: object) -> list[Any]:
    """Return a list, or an empty one where the file holds something else."""
    return value if isinstance(value, list) else []


def text(value: object) -> str | None:
    """Return a string, or None where the file holds something else."""
    return value if isinstance(value, str) else None


def number(value: object) -> float | None:
    """Return a finite number, also one written as text, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        made = float(value)
    except (ValueError, OverflowError):
        return None
    return made if abs(made) < float("inf") else None
