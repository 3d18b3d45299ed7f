"""Objects, one a line, whose fields are found by name: shared by the home-grown monitor formats."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from forensics.formats.text import lines_of
from forensics.sources import clock, streams

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

TIME = ("ts", "time", "timestamp", "at", "date", "datetime", "checked_at", "created_at", "t")


@dataclass(frozen=True, slots=True)
class Objects:
    """The objects of a file as strings by field, with conservation counts."""

    frame: pl.DataFrame
    records: int
    blank: int
    unparsed: int
    first_unparsed: int | None


def share(head: bytes, groups: Sequence[Sequence[str]], absent: Sequence[str] = ()) -> float:
    """Share of the lines of a head that are objects with a time and one field of each group."""
    lines = [line for line in (head.split(b"\n")[:-1] or [head]) if line.strip()][:200]
    if not lines:
        return 0.0
    fits = 0
    for line in lines:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and not any(name in value for name in absent):
            fits += all(any(name in value for name in group) for group in (TIME, *groups))
    return fits / len(lines)


def objects(path: Path) -> Objects:
    """Read a whole file of objects; a line that is none is unparsed. Monitor state is small, so it is read at once."""
    raw = pl.DataFrame({"raw": lines_of(b"".join(streams.chunks(path)))}).with_row_index("line", offset=1)
    blank = int((raw["raw"].str.strip_chars() == "").sum())
    rows: list[dict[str, str | None]] = []
    for line, text in raw.iter_rows():
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            rows.append({"line": line, **{key: plain(item) for key, item in value.items() if key != "line"}})
    names = list(dict.fromkeys(name for row in rows for name in row if name != "line"))
    frame = pl.DataFrame(rows, schema={"line": pl.UInt32, **dict.fromkeys(names, pl.String)})
    left = raw.join(frame.select("line"), on="line", how="anti").filter(pl.col("raw").str.strip_chars() != "")
    first = int(left["line"][0]) if left.height else None
    return Objects(frame, frame.height, blank, raw.height - frame.height - blank, first)


def plain(value: object) -> str | None:
    """Return a JSON value as text; null stays null."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value)


def first_of(frame: pl.DataFrame, names: Sequence[str], given: str | None = None) -> pl.Expr:
    """Return the first field that is there and not null; a name that was given comes first."""
    names = (given, *names) if given else names
    have = [pl.col(name) for name in names if name in frame.columns]
    return pl.coalesce(have) if have else pl.lit(None, dtype=pl.String)


def moment(frame: pl.DataFrame, given: str | None = None) -> pl.Expr:
    """Return the time field in microseconds UTC: ISO with offset, or an epoch of any magnitude."""
    text = first_of(frame, TIME, given)
    return pl.coalesce(clock.iso(text), clock.epoch_any(text))
