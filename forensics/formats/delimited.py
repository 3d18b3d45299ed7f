"""CSV as monitors and spreadsheets write it: comma, semicolon or tab, quoted fields with line breaks, a byte order mark.

A row is named by its first physical line; every line is in a row, blank, or unparsed.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from forensics.formats.jsonl import decoded, known_as
from forensics.sources import streams

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DELIMITERS = (",", ";", "\t", "|")
LONGEST = 1 << 24
"""Characters of one field: a quote that is never closed must not end the reading."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a file as strings by column, with conservation counts; the header's line is in the records."""

    frame: pl.DataFrame
    in_records: int
    blank: int
    unparsed: int
    first_unparsed: int | None


def split(text: str, delimiter: str) -> Iterator[tuple[int, int, list[str]]]:
    """Yield (first line, last line, fields) of each record."""
    csv.field_size_limit(LONGEST)
    reader = csv.reader(io.StringIO(text.replace("\0", "\ufffd"), newline=""), delimiter=delimiter)
    last = 0
    while True:
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error:
            fields = []
        yield last + 1, reader.line_num, fields
        last = reader.line_num


def header(head: bytes) -> tuple[list[str], str]:
    """Return the names of the columns and the delimiter that gives most of them."""
    lines = decoded(head).splitlines()
    first = next((line for line in lines if line.strip() and not line.lower().startswith("sep=")), "")
    best: list[str] = []
    chosen = ","
    for delimiter in DELIMITERS:
        names = next(iter(split(first, delimiter)), (0, 0, []))[2]
        if len(names) > len(best):
            best, chosen = names, delimiter
    return [known_as(name) for name in best], chosen


def read(path: Path) -> Rows:
    """Read a whole file with a header; a row with more fields than the header is unparsed."""
    return table(decoded(b"".join(streams.chunks(path))))


def table(text: str) -> Rows:
    """Read the text of a file with a header."""
    names, delimiter = header(text[:65536].encode())
    rows: list[list[str | None]] = []
    blank = in_records = unparsed = 0
    first_unparsed: int | None = None
    seen_header = False
    for first, last, fields in split(text, delimiter):
        lines = last - first + 1
        if not any(field.strip() for field in fields):
            blank += lines
        elif not seen_header and fields[0].lower().startswith("sep="):
            in_records += lines
        elif not seen_header:
            seen_header = True
            in_records += lines
        elif len(fields) > len(names) and any(field.strip() for field in fields[len(names) :]):
            unparsed += lines
            first_unparsed = first_unparsed or first
        else:
            in_records += lines
            cells = [field.strip() or None for field in fields[: len(names)]]
            rows.append([str(first), *cells, *[None] * (len(names) - len(cells))])
    columns = ["line", *unique(names)]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")
    return Rows(
        frame.with_columns(pl.col("line").cast(pl.UInt32)), in_records, blank, unparsed, first_unparsed
    )


def unique(names: list[str]) -> list[str]:
    """Give columns of one name, and columns without one, a number."""
    out: list[str] = []
    for index, name in enumerate(names):
        name = f"column_{index + 1}" if name in ("", "line") else name  # noqa: PLW2901 - the cleaned name
        out.append(name if name not in out else f"{name}_{index + 1}")
    return out
