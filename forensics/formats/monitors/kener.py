"""Kener's SQLite database: table ``monitoring_data``.

    monitoring_data(monitor_tag, timestamp, status, latency, type, raw_status)    ('api', 1795954500, 'DOWN', 0.0, 'timeout', 'DOWN')

``timestamp`` is the minute (seconds since 1970, UTC) for which the check ran. Rows of type ``default_status`` and
``manual`` are filled in, ``NO_DATA`` says that there was none: neither is a measurement. ``raw_status`` is what the check said
before it had to be confirmed. DEGRADED answered.

Reference: rajnandan1/kener migrations, src/lib/server/constants.js.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - part of the plug's signature
from pathlib import Path  # noqa: TC003 - part of the plug's signature

import polars as pl

from forensics.formats.state import some
from forensics.model.errors import UnreadableError
from forensics.model.plug import Monitor, Parsed
from forensics.sources import sqlite

STATUS = {"UP": "up", "DOWN": "down", "DEGRADED": "up", "MAINTENANCE": "maintenance"}
FILLED = ("default_status", "manual")
QUERY = "select rowid as line, monitor_tag as monitor, timestamp, status, latency as latency_ms, type, {raw} as raw_status from monitoring_data order by monitor_tag, timestamp"


def sniff(head: bytes) -> float:
    """1 for a SQLite file whose first pages name the table and its key."""
    return (
        1.0
        if head.startswith(sqlite.MAGIC) and b"monitoring_data" in head and b"monitor_tag" in head
        else 0.0
    )


def parse(path: Path, fields: Mapping[str, str]) -> Parsed:
    """Read every measured row."""
    del fields
    with sqlite.copy(path) as database:
        columns = sqlite.columns(database, "monitoring_data")
        if not columns:
            raise UnreadableError(
                "it has no table monitoring_data", remedy="copy it again with its -wal file"
            )
        table = sqlite.frame(database, QUERY.format(raw="raw_status" if "raw_status" in columns else "null"))
    said = pl.coalesce(
        pl.col("raw_status").cast(pl.String), pl.col("status").cast(pl.String)
    ).str.to_uppercase()
    filled = pl.col("type").cast(pl.String).is_in(FILLED).fill_null(value=False)
    rows = table.with_columns(
        ts=pl.col("timestamp").cast(pl.Int64, strict=False) * 1_000_000,
        naive=pl.lit(value=False),
        said=said,
        status=said.replace_strict(STATUS, default=None, return_dtype=pl.String),
        measured=~filled,
    ).with_columns(
        error=pl.when(pl.col("said") == "DEGRADED")
        .then(pl.lit("degraded"))
        .when(pl.col("status") == "down")
        .then(pl.col("type").cast(pl.String)),
        latency_ms=pl.when(pl.col("status") == "up").then(
            pl.col("latency_ms").cast(pl.Float64, strict=False)
        ),
    )
    unmeasured, empty = (
        rows.filter(~pl.col("measured")).height,
        rows.filter(pl.col("measured") & pl.col("status").is_null()).height,
    )
    notes = []
    if unmeasured:
        notes.append(
            f"{unmeasured} rows are filled in (default status, by hand) and count neither as up nor as down"
        )
    if empty:
        notes.append(f"{empty} rows say that there was no data")
    return Parsed(
        beats=some(rows.filter(pl.col("measured") & pl.col("status").is_not_null())), notes=tuple(notes)
    )


PLUG = Monitor(
    name="kener",
    title="Kener database",
    marks="the minute for which the check ran",
    sniff=sniff,
    parse=parse,
    binary=True,
    reference="rajnandan1/kener migrations",
)
