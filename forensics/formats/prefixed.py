"""Lines behind a prefix that names where they come from, with a stamp or without one.

What a client prints of several sources: `docker compose logs`, `kubectl logs --prefix`, `stern`, the platforms'
command lines. Colours are taken off first. A line without a stamp is dated by what the program itself wrote, or not
at all. What the client says of its own is no record and no loss: it is an aside.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.formats import heads
from forensics.formats.heads import ANSI
from forensics.formats.inner import finished, level, own_times
from forensics.formats.text import VAGUENESS, lines_of, stamp
from forensics.model.frames import least
from forensics.model.plug import Parsed, Transport
from forensics.model.schema import RECORDS, conform

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

STAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)"
"""RFC 3339 as every one of these programs writes it."""
COLOURED = re.compile(ANSI.encode())


@dataclass(frozen=True, slots=True)
class Prefix:
    """How the lines of a format look."""

    pattern: str
    """Groups message and, where the format has them, time, service, pid, stream, level and others for ``finish``."""
    time: str = "iso"
    naive: bool = False
    """True where a stamp carries no zone."""
    continuation: str | None = None
    """Pattern of lines that continue the record above."""
    aside: str | None = None
    """Pattern of what the client says of its own."""
    finish: Callable[[pl.DataFrame], pl.DataFrame] | None = None
    """Changes the groups (as columns, with ``line``, ``start`` and ``full``) before they become records."""
    notes: Callable[[pl.DataFrame, pl.Series], Iterable[str]] | None = None
    """What records and asides show about the export."""
    caps: Mapping[int, str] | None = None
    """Counts of records at which an export is cut, and what cuts it."""
    score: Callable[[Sequence[str]], float] | None = None
    """Replaces the usual score of a head's lines, colours and asides taken off."""


def prefixed_transport(
    name: str, title: str, marks: str, shape: Prefix, samples: tuple[str, ...], **more: Any
) -> Transport:
    """Build the transport of a format."""
    starts = re.compile(shape.pattern)

    def safe_cut(before: Sequence[bytes], line: bytes) -> bool:
        del before
        found = starts.match(COLOURED.sub(b"", line).decode("utf-8", "replace").rstrip("\r"))
        # A line without a stamp may take its time from one far before, of its own source: all stay in one shard.
        return found is not None and found.groupdict().get("time") is not None

    return Transport(
        name=name,
        title=title,
        marks=marks,
        sniff=lambda head: score(head, shape),
        parse=lambda data: parse(data, shape),
        samples=samples,
        safe_cut=safe_cut,
        zone="none" if shape.naive else "stated",
        **more,
    )


def score(head: bytes, shape: Prefix) -> float:
    """Share of the record starts of a head that fit."""
    lines = heads.without(heads.lines(head), shape.aside, shape.pattern)
    lines = heads.without(lines, shape.continuation, shape.pattern)
    if not lines:
        return 0.0
    if shape.score is not None:
        return shape.score(lines)
    return heads.share(lines, shape.pattern) * (1 - VAGUENESS / (1 + shape.pattern.count("(?P<")))


def parse(data: bytes, shape: Prefix) -> Parsed:
    """Turn a shard of text into records."""
    lines = lines_of(data)
    raw = pl.DataFrame({"full": lines.str.replace_all(ANSI, "") if b"\x1b" in data else lines})
    raw = raw.with_row_index("line", offset=1).with_columns(pl.col("full").str.strip_suffix("\r"))
    table = raw.with_columns(g=pl.col("full").str.extract_groups(shape.pattern)).unnest("g")
    groups = [name for name in table.columns if name not in ("line", "full")]
    start = pl.col("message").is_not_null()
    aside = pl.col("full").str.contains(shape.aside) if shape.aside else pl.lit(value=False)
    further = pl.col("full").str.contains(shape.continuation) if shape.continuation else pl.lit(value=False)
    blank = pl.col("full").str.strip_chars() == ""
    table = table.with_columns(start=start, aside=aside & ~start, blank=blank & ~start).with_columns(
        cont=further
        & ~pl.col("start")
        & ~pl.col("aside")
        & ~pl.col("blank")
        & (pl.col("start").cum_sum() > 0)
    )
    left = table.filter(~(pl.col("start") | pl.col("aside") | pl.col("blank") | pl.col("cont")))
    kept = table.filter(pl.col("start") | pl.col("cont"))
    if kept["cont"].any():
        kept = kept.with_columns(
            pl.when("cont").then("full").otherwise("message").alias("message"),
            *[pl.when("start").then(name).forward_fill() for name in groups if name != "message"],
            opened=pl.col("start").cum_sum(),
        )
        # An empty group of the record above must not be filled from a record before it.
        kept = kept.with_columns(
            pl.col(name).first().over("opened") for name in groups if name != "message"
        ).drop("opened")
    records = shaped(kept, table.filter("aside"), shape)
    notes = tuple(shape.notes(records, table.filter("aside")["full"])) if shape.notes else ()
    starts = records.filter(~pl.col("cont").fill_null(value=False)).height
    if shape.caps and starts in shape.caps:
        notes += (f"exactly {starts:,} records: {shape.caps[starts]}",)
    return Parsed(
        records=records,
        in_records=kept.height + int(table["aside"].sum()),
        blank=int(table["blank"].sum()),
        unparsed=left.height,
        first_unparsed=least(left["line"]),
        notes=notes,
    )


def shaped(kept: pl.DataFrame, asides: pl.DataFrame, shape: Prefix) -> pl.DataFrame:
    """Turn groups into records."""
    if "level" in kept.columns:
        kept = kept.with_columns(level=level(pl.col("level")))
    time = stamp(pl.col("time"), shape.time) if "time" in kept.columns else pl.lit(None, pl.Int64)
    kept = kept.with_columns(ts=time, naive=pl.lit(shape.naive))
    if shape.finish is not None:
        kept = kept.with_columns(aside=pl.lit(value=False))
        if asides.height:
            kept = pl.concat([kept, asides.select("line", "full", "aside")], how="diagonal").sort("line")
        filled = pl.col("start", "cont", "naive").fill_null(value=False)
        kept = shape.finish(kept.with_columns(filled)).filter(pl.col("start") | pl.col("cont"))
    records = finished(conform(kept, RECORDS))
    return own_times(records)
