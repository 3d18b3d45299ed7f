"""Saturation samples, one JSON object a line, fields found by name.

    {"ts": "2026-11-29T12:47:03Z", "level": "ok", "connections": 21, "max_connections": 100, "pct": 21}

The time is when the sample was taken.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - part of the plug's signature
from pathlib import Path  # noqa: TC003 - part of the plug's signature

import polars as pl

from forensics.formats.jsonl import first_of, moment, objects, share
from forensics.model.plug import Monitor, Parsed

VALUE = ("connections", "conns", "active", "used", "in_use", "sessions", "numbackends", "value", "count")
LIMIT = ("max_connections", "max", "limit", "total", "capacity", "size")
LEVEL = ("level", "status", "state")


def sniff(head: bytes) -> float:
    """Share of objects with a time, a value and its limit."""
    return share(head, (VALUE, LIMIT), absent=("log", "__CURSOR", "target", "url"))


def parse(path: Path, fields: Mapping[str, str]) -> Parsed:
    """Read the samples."""
    table = objects(path)
    rows = table.frame.with_columns(
        ts=moment(table.frame, fields.get("time")),
        naive=pl.lit(value=False),
        series=pl.lit("connections"),
        value=first_of(table.frame, VALUE, fields.get("value")).cast(pl.Float64, strict=False),
        limit=first_of(table.frame, LIMIT, fields.get("limit")).cast(pl.Float64, strict=False),
        level=first_of(table.frame, LEVEL, fields.get("level")),
    )
    return Parsed(
        samples=rows,
        in_records=table.records,
        blank=table.blank,
        unparsed=table.unparsed,
        first_unparsed=table.first_unparsed,
    )


PLUG = Monitor(
    name="samples_jsonl",
    title="saturation samples, JSON lines",
    marks="when the sample was taken",
    sniff=sniff,
    parse=parse,
    samples=(
        '{"ts": "2026-11-29T12:47:03Z", "level": "ok", "connections": 1, "max_connections": 100, "pct": 1}',
        '{"at": 1795956423, "conns": 34, "max": 100}',
    ),
)
