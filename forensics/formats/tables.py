"""Log lines in the rows of a table: CSV as aggregators export it.

The header names the columns; fields in quotes may hold newlines. Delimiter comma, semicolon or tab; a first line
``sep=,`` (for spreadsheets), a byte order mark and UTF-16 are read. A row is named by its first physical line. The file is
read whole, since only its first line says what the columns are.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.formats.inner import finished
from forensics.formats.jsonl import decoded
from forensics.formats.text import lines_of
from forensics.model.frames import least
from forensics.model.plug import Parsed, Transport
from forensics.model.schema import RECORDS, conform

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

DELIMITERS = ",\t;"
OWN = frozenset(("line", "lines", "width"))
"""Columns that say where a row stands."""
LONGEST = 1 << 24
"""Bytes of the longest field: a stack trace in a field is long, a quote that never closes is longer."""
OPEN = "a quote in line {} is never closed: the rows behind it can't be told apart, export it again"


@dataclass(frozen=True, slots=True)
class Table:
    """How the rows of a format look and what they say."""

    claims: Callable[[tuple[str, ...]], float]
    """Score of the names of columns: 0 = not this, 1 = certainly."""
    records: Callable[[pl.DataFrame], pl.DataFrame]
    """From ``line`` and the columns (text; those of :attr:`columns` are always there) to records."""
    columns: tuple[str, ...]
    notes: Callable[[pl.DataFrame], Iterable[str]] | None = None
    """What the columns show about the export."""
    caps: Mapping[int, str] | None = None
    """Counts of rows at which an export is cut, and what cuts it."""


def table_transport(
    name: str, title: str, marks: str, shape: Table, samples: tuple[str, ...], **more: Any
) -> Transport:
    """Build the transport of a format."""
    return Transport(
        name=name,
        title=title,
        marks=marks,
        sniff=lambda head: sniff(head, shape),
        parse=lambda data: parse(data, shape),
        samples=samples,
        **more,
    )


def sniff(head: bytes, shape: Table) -> float:
    """Score a head by its header, if a row of as many fields follows."""
    names, width = header(head)
    return shape.claims(names) if len(names) > 1 and width == len(names) else 0.0


@lru_cache(maxsize=8)
def header(head: bytes) -> tuple[tuple[str, ...], int]:
    """Return the names of the columns and the number of fields of the first row; the formats look at the same head in turn."""
    text = decoded(head).replace("\0", "")
    lines, sep, _ = after_separator(text)
    first = lines.partition("\n")[0]
    if not first.strip():
        return (), 0
    try:
        rows = csv.reader(io.StringIO(lines), delimiter=sep or delimiter(first))
        names = tuple(name.strip() for name in next(rows, []))
        row = next((row for row in rows if row), [])
    except csv.Error:
        return (), 0
    return names, len(row)


def after_separator(text: str) -> tuple[str, str | None, int]:
    """Return the text behind a line ``sep=,`` or blank lines, the delimiter that it states and the lines taken off."""
    taken = 0
    while text.startswith(("\n", "\r\n")):
        text, taken = text.partition("\n")[2], taken + 1
    first, _, rest = text.partition("\n")
    said = first.strip().strip('"')
    if said.lower().startswith("sep=") and len(said) == 5:
        return rest, said[4], taken + 1
    return text, None, taken


def delimiter(first: str) -> str:
    """Return the delimiter of a header: the one that parts it most."""
    return max(DELIMITERS, key=first.count)


def parse(data: bytes, shape: Table) -> Parsed:
    """Turn a table into records."""
    if not decoded(data).strip():
        return Parsed(records=pl.DataFrame(schema=RECORDS), blank=len(lines_of(data)))
    text, sep, above = after_separator(decoded(data).replace("\0", "\N{REPLACEMENT CHARACTER}"))
    total = above + text.count("\n") + bool(text and not text.endswith("\n"))
    names, rows, notes = split(text, sep or delimiter(text.partition("\n")[0]))
    if not names or not shape.claims(tuple(names)):
        return Parsed(
            records=pl.DataFrame(schema=RECORDS), unparsed=total, first_unparsed=1 if total else None
        )
    rows = rows.with_columns(line=pl.col("line") + above)
    good = rows.filter(pl.col("width") == len(names))
    left = rows.filter(pl.col("width") != len(names))
    absent = [pl.lit(None, pl.String).alias(name) for name in shape.columns if name not in good.columns]
    table = good.with_columns(absent)
    records = finished(conform(shape.records(table), RECORDS))
    said = (*notes, *(shape.notes(table) if shape.notes else ()))
    if shape.caps and good.height in shape.caps:
        said += (f"exactly {good.height:,} rows: {shape.caps[good.height]}",)
    lost = int(left["lines"].sum())
    # The header, and a line that states the separator, are no blank lines: they are read.
    in_rows = int(good["lines"].sum()) + header_lines(text, rows, total - above)
    return Parsed(
        records=records,
        in_records=in_rows + above,
        blank=total - above - in_rows - lost,
        unparsed=lost,
        first_unparsed=least(left["line"]),
        notes=said,
    )


def header_lines(text: str, rows: pl.DataFrame, total: int) -> int:
    """Return the physical lines of the header: those before the first row that are not blank."""
    first = (least(rows["line"]) or total + 1) - 1
    return sum(bool(line.strip()) for line in text.split("\n", first)[:first]) if first < total + 1 else 1


def split(text: str, sep: str) -> tuple[list[str], pl.DataFrame, tuple[str, ...]]:
    """Return the names of the columns and the rows as text, with ``line``, ``lines`` and ``width`` of each.

    polars reads what is sound; where its rows and the physical lines do not agree (ragged rows, stray quotes), the slower
    reader says what each line is.
    """
    try:
        table = pl.read_csv(io.BytesIO(text.encode()), separator=sep, infer_schema=False, null_values=None)
    except pl.exceptions.PolarsError:
        return slow(text, sep)
    names = table.columns
    if {*names} & OWN or "" in names or table.width < 2:
        return slow(text, sep)
    inner = [pl.col(name).str.count_matches("\n", literal=True).fill_null(0) for name in names]
    rows = table.with_columns(lines=1 + pl.sum_horizontal(inner)).with_columns(
        line=2 + pl.col("lines").cum_sum() - pl.col("lines"), width=pl.lit(len(names))
    )
    empty = rows.select(pl.all_horizontal(pl.col(names).is_null()).any()).item()
    seen = 1 + int(rows["lines"].sum())
    if empty or seen != text.count("\n") + (not text.endswith("\n")) or any("\n" in name for name in names):
        return slow(text, sep)
    return [name.strip() for name in names], rows.rename({name: name.strip() for name in names}), ()


def slow(text: str, sep: str) -> tuple[list[str], pl.DataFrame, tuple[str, ...]]:
    """Return the same as :func:`split` row by row."""
    csv.field_size_limit(LONGEST)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sep)
    notes: tuple[str, ...] = ()
    names: list[str] = []
    found: list[tuple[int, int, list[str]]] = []
    before = 0
    try:
        for row in reader:
            if not names:
                names = [name.strip() for name in row]
            elif row:
                found.append((before + 1, reader.line_num - before, row))
            before = reader.line_num
    except csv.Error:
        notes = (OPEN.format(before + 1),)
        rest = text.count("\n") + (not text.endswith("\n")) - before
        if rest > 0:
            found.append((before + 1, rest, []))
    names = distinct(names)
    columns = {
        name: [row[at] if at < len(row) else None for _, _, row in found] for at, name in enumerate(names)
    }
    rows = pl.DataFrame(columns, schema=dict.fromkeys(names, pl.String)).with_columns(
        line=pl.Series([line for line, _, _ in found], dtype=pl.Int64),
        lines=pl.Series([lines for _, lines, _ in found], dtype=pl.Int64),
        width=pl.Series([len(row) for _, _, row in found], dtype=pl.Int64),
    )
    return names, rows, notes


def distinct(names: list[str]) -> list[str]:
    """Give columns of the same name, or of none, one of their own; ``line`` is called ``line_text``, since it is the place."""
    out: list[str] = []
    for at, name in enumerate(names):
        name = f"{name}_text" if name in OWN else name  # noqa: PLW2901 - a name that is used here gets a suffix
        out.append(f"{name}#{at}" if not name or name in out else name)
    return out


def column(table: pl.DataFrame, *names: str) -> pl.Expr:
    """Return the first of several columns that is there and not empty."""
    there = [name for name in names if name in table.columns and name not in OWN]
    have = [pl.when(pl.col(name) != "").then(pl.col(name)) for name in there]
    return pl.coalesce(have) if have else pl.lit(None, pl.String)
