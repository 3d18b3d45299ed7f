"""Saturation samples, one JSON object a line, fields found by name.

    {"ts": "2026-11-29T12:47:03Z", "level": "ok", "connections": 21, "max_connections": 100, "pct": 21}

The time is when the sample was taken: ISO (naive without a zone) or an epoch in s, ms, µs or ns.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - part of the plug's signature
from dataclasses import replace
from pathlib import Path  # noqa: TC003 - part of the plug's signature

from forensics.formats.jsonl import objects, share
from forensics.formats.state import LIMIT, LOGGED, VALUE, gauges
from forensics.model.plug import Monitor, Parsed

SURE = 0.9
"""A format that knows its fields wins over names that merely fit."""


def sniff(head: bytes) -> float:
    """Share of objects with a time, a value and its limit."""
    return SURE * share(head, (VALUE, LIMIT), absent=tuple(LOGGED))


def parse(path: Path, fields: Mapping[str, str]) -> Parsed:
    """Read the samples."""
    table = objects(path)
    return replace(
        gauges(table.frame, fields),
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
        '{"ts": "2026-11-29 12:14:00", "status": "crit", "connections": 100, "max": 100}',
    ),
)
