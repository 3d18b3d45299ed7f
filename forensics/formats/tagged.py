"""Lines that hold a stamp, a tag and an object: how Fluent Bit and Fluentd write files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from forensics.formats import heads
from forensics.formats.envelopes import objects
from forensics.formats.fluent import FIELDS, moment, said
from forensics.formats.inner import finished
from forensics.formats.text import lines_of
from forensics.model.frames import least
from forensics.model.plug import Parsed
from forensics.model.schema import RECORDS, conform

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def sniffer(pattern: str) -> Callable[[bytes], float]:
    """Score a head by the share of its lines that fit."""
    return lambda head: heads.share(heads.lines(head), pattern)


def cutter(pattern: str) -> Callable[[Sequence[bytes], bytes], bool]:
    """Cut before any line that fits."""
    starts = re.compile(pattern)
    return lambda _, line: starts.match(line.decode("utf-8", "replace").rstrip("\r")) is not None


def parse(data: bytes, pattern: str) -> Parsed:
    """Turn lines into records: groups time, tag and object."""
    raw = pl.DataFrame({"full": lines_of(data)}).with_row_index("line", offset=1)
    raw = raw.with_columns(pl.col("full").str.strip_suffix("\r"))
    blank = pl.col("full").str.strip_chars() == ""
    table = raw.filter(~blank).with_columns(g=pl.col("full").str.extract_groups(pattern)).unnest("g")
    # Fluent Bit's console writes maps as msgpack does.
    table = table.with_columns(raw=pl.col("object").str.replace_all('"=>', '":', literal=True))
    good = table.filter(pl.col("raw").is_not_null())
    fields = objects(good.select("line", "raw"), FIELDS)
    kept = said(fields).join(good.select("line", "time", "tag"), on="line", how="left", maintain_order="left")
    # A tag such as docker.api names what wrote the line, where the record does not.
    named = pl.col("tag").str.extract(r"(?:^|\.)([^.]+?)(?:\.log)?$")
    records = finished(
        conform(kept.with_columns(ts=moment(pl.col("time")), service=pl.coalesce("service", named)), RECORDS)
    )
    left = table.join(fields.select("line"), on="line", how="anti")
    return Parsed(
        records=records,
        in_records=fields.height,
        blank=raw.height - table.height,
        unparsed=left.height,
        first_unparsed=least(left["line"]),
    )
