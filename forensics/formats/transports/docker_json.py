r"""Docker's json-file driver, one object a line, always UTC.

    {"log":"Gateway started\n","stream":"stdout","time":"2026-11-29T12:47:04.603695891Z"}

The time is when the engine received the line. Lines over 16 KiB arrive in chunks without a final newline, which
are joined per stream. Rotated files (``.1``, ``.2.gz``) hold what is older; what lies before them is lost. The file's name
is the container's id; its name stands in ``config.v2.json`` beside it, or in ``attrs`` where the container was started
with a tag or labels to log. Reference: moby/moby daemon/logger/jsonfilelog, daemon/logger/loggerutils/logfile.go.
"""

from __future__ import annotations

import io
import json
import re
from pathlib import Path  # noqa: TC003 - part of the plug's signature
from typing import TYPE_CHECKING

import polars as pl

from forensics.formats.heads import ANSI
from forensics.formats.order import join_chunks
from forensics.formats.text import lines_of
from forensics.model.frames import least
from forensics.model.plug import Parsed, Transport
from forensics.model.schema import RECORDS, conform
from forensics.sources import clock

if TYPE_CHECKING:
    from collections.abc import Sequence

SCHEMA = {"log": pl.String, "stream": pl.String, "attrs": pl.String, "time": pl.String}
START = re.compile(rb'^\0*\{"(?:log|stream|attrs|time)":')
KEYS = frozenset(SCHEMA)
CONFIG_BYTES = 4 << 20
"""A larger file is no container's configuration."""
NAMED = ("com.docker.compose.service", "com.docker.swarm.service.name", "service", "name")
"""Attributes that name the service, where the container logs its labels."""


def sniff(head: bytes) -> float:
    """Share of lines that are objects with the driver's keys and no others."""
    lines = [line for line in head.split(b"\n")[:-1] or [head] if line.strip(b" \t\r\0")]
    return sum(is_line(line) for line in lines) / len(lines) if lines else 0.0


def is_line(line: bytes) -> bool:
    """Is this the driver's line? One that was cut off by the end of the head is judged by its beginning."""
    if not START.match(line) or b'"time":"' not in line:
        return False
    try:
        value = json.loads(line.lstrip(b"\0"))
    except (ValueError, RecursionError):
        return True
    return isinstance(value, dict) and set(value) <= KEYS


def container(path: Path) -> str | None:
    """Name the container of a file: as ``config.v2.json`` beside it says, else by the first 12 digits of its id."""
    found = re.match(r"^([0-9a-f]{64})-json\.log", path.name)
    ident = found[1] if found else ""
    for config in (path.with_name(f"{ident}.config.v2.json"), path.with_name("config.v2.json")):
        if found and (name := name_in(config, ident)):
            return name
    return ident[:12] or None


def name_in(config: Path, ident: str) -> str | None:
    """Return the name in a container's configuration, if it is this container's."""
    try:
        if not config.is_file() or config.stat().st_size > CONFIG_BYTES:
            return None
        said = json.loads(config.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(said, dict) or said.get("ID") != ident or not isinstance(said.get("Name"), str):
        return None
    return said["Name"].lstrip("/") or None


def parse(data: bytes) -> Parsed:
    """Turn a shard into records; lines that are no object are unparsed."""
    raw = pl.DataFrame({"raw": lines_of(data)}).with_row_index("line", offset=1)
    if b"\0" in data:  # a block of zeros is what a power failure leaves; the line behind it is whole
        raw = raw.with_columns(pl.col("raw").str.strip_chars("\0"))
    good = raw.filter(pl.col("raw").str.contains(r'^\s*\{.*"time"\s*:.*\}\s*$'))
    blank = int(raw.select((pl.col("raw").str.strip_chars() == "").sum()).item())
    good, table = decode(good)
    records = (
        good.select("line")
        .hstack(table)
        .with_columns(
            ts=clock.iso(pl.col("time")),
            naive=pl.lit(value=False),
            service=named(),
            chunk=~pl.col("log").str.ends_with("\n").fill_null(value=False),
            message=pl.col("log").fill_null("").str.strip_suffix("\n").str.strip_suffix("\r"),
        )
    )
    records = join_chunks(records, pl.col("chunk"), ["stream"])
    records = records.with_columns(pl.col("message").str.replace_all(ANSI, ""))
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


def named() -> pl.Expr:
    """Return the service that the attributes name: a label for it, else the tag without the container's id."""
    labels = [pl.col("attrs").str.json_path_match(f"$['{name}']") for name in NAMED]
    tag = pl.col("attrs").str.json_path_match("$.tag").str.replace(r"/?\b[0-9a-f]{12}(?:[0-9a-f]{52})?$", "")
    return pl.coalesce(*labels, pl.when(tag != "").then(tag))


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
    service=container,
    reference="moby/moby daemon/logger/jsonfilelog",
)
