r"""Docker's json-file driver, one object a line, always UTC.

    {"log":"Gateway started\n","stream":"stdout","time":"2026-11-29T12:47:04.603695891Z"}

The time is when the engine received the line. Lines over 16 KiB arrive in chunks without a final newline, which
are joined per stream. Reference: moby/moby daemon/logger/jsonfilelog.
"""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

import polars as pl

from forensics.formats.text import ANSI, join_partials, lines_of
from forensics.model.frames import least
from forensics.model.plug import Parsed, Transport
from forensics.model.schema import RECORDS, conform
from forensics.sources import clock

if TYPE_CHECKING:
    from collections.abc import Sequence

SCHEMA = {"log": pl.String, "stream": pl.String, "time": pl.String}
START = re.compile(rb'^\{"(?:log|stream|attrs|time)":')


def sniff(head: bytes) -> float:
    """Share of lines that are objects with the driver's keys."""
    lines = [line for line in head.split(b"\n")[:-1] or [head] if line.strip()]
    fits = sum(bool(START.match(line)) and b'"time":"' in line for line in lines)
    return fits / len(lines) if lines else 0.0


def parse(data: bytes) -> Parsed:
    """Turn a shard into records; lines that are no object are unparsed."""
    raw = pl.DataFrame({"raw": lines_of(data)}).with_row_index("line", offset=1)
    good = raw.filter(pl.col("raw").str.contains(r'^\s*\{.*"time"\s*:.*\}\s*$'))
    blank = int(raw.select((pl.col("raw").str.strip_chars() == "").sum()).item())
    good, table = decode(good)
    records = (
        good.select("line")
        .hstack(table)
        .with_columns(
            ts=clock.iso(pl.col("time")),
            naive=pl.lit(value=False),
            partial=pl.when(pl.col("log").str.ends_with("\n")).then(pl.lit("F")).otherwise(pl.lit("P")),
            message=pl.col("log").str.strip_suffix("\n").str.strip_suffix("\r"),
        )
    )
    records = join_partials(records).with_columns(pl.col("message").str.replace_all(ANSI, ""))
    unparsed = raw.height - good.height - blank
    left = (
        raw.join(good.select("line"), on="line", how="anti").filter(pl.col("raw").str.strip_chars() != "")
        if unparsed
        else raw.clear()
    )
    return Parsed(
        records=conform(records, RECORDS),
        in_records=good.height,
        blank=blank,
        unparsed=unparsed,
        first_unparsed=least(left["line"]),
    )


def decode(good: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Decode objects in one go; if one is broken, find the broken ones and leave them out."""
    if not good.height:
        return good, pl.DataFrame(schema=SCHEMA)
    try:
        table = pl.read_ndjson(io.BytesIO("\n".join(good["raw"]).encode()), schema=SCHEMA)
        if table.height == good.height:
            return good, table
    except pl.exceptions.ComputeError:
        pass
    whole = good.filter(pl.col("raw").str.json_path_match("$.time").is_not_null())
    fields = [pl.col("raw").str.json_path_match(f"$.{name}").alias(name) for name in SCHEMA]
    return whole, whole.select(fields)


def safe_cut(before: Sequence[bytes], line: bytes) -> bool:
    """Cut only where no stream has an unfinished chunk."""
    if not START.match(line):
        return False
    seen: set[bytes] = set()
    for text in reversed(before):
        stream = b"stderr" if b'"stream":"stderr"' in text else b"stdout"
        if stream not in seen:
            if b'\\n","' not in text and b'\\n"}' not in text:
                return False
            seen.add(stream)
            if len(seen) == 2:
                break
    return True


PLUG = Transport(
    name="docker_json",
    title="Docker json-file container log",
    marks="receipt of the line by the Docker engine",
    sniff=sniff,
    parse=parse,
    samples=(
        '{"log":"Gateway started on port 21322\\n","stream":"stdout","time":"2026-11-29T12:47:04.603695891Z"}',
        '{"log":"boom\\n","stream":"stderr","attrs":{"tag":"gw"},"time":"2026-11-29T12:47:05.5Z"}',
    ),
    safe_cut=safe_cut,
    escaped=True,
)
