"""A prober's own state, one JSON object a line, fields found by name.

    {"ts": "2026-11-29T12:49:31.694Z", "target": "https://crm.example.net/health", "status": "down", "error": "timeout of 4000ms exceeded"}
    {"ts": "2026-11-29T12:49:55.696Z", "target": "https://crm.example.net/health", "event": "alert", "state": "down", "after_failures": 2}

The time is when the probe was sent. Lines with an ``event`` are alerts, not results; a status that says neither up nor
down (``unknown``) is no result.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - part of the plug's signature
from dataclasses import replace
from pathlib import Path  # noqa: TC003 - part of the plug's signature

from forensics.formats.jsonl import objects, share
from forensics.formats.state import FOREIGN, HTTP, LATENCY, LATENCY_S, STATUS, TARGET, probes
from forensics.model.plug import Monitor, Parsed

SURE = 0.9
"""A format that knows its fields wins over names that merely fit."""


def sniff(head: bytes) -> float:
    """Share of objects with a time, a target or latency, and a status."""
    return SURE * share(head, (STATUS, (*TARGET, *LATENCY, *LATENCY_S, *HTTP)), absent=tuple(FOREIGN))


def parse(path: Path, fields: Mapping[str, str]) -> Parsed:
    """Read results and alerts."""
    table = objects(path)
    return replace(
        probes(table.frame, fields),
        in_records=table.records,
        blank=table.blank,
        unparsed=table.unparsed,
        first_unparsed=table.first_unparsed,
    )


PLUG = Monitor(
    name="probe_jsonl",
    title="probe results, JSON lines",
    marks="start of the probe",
    sniff=sniff,
    parse=parse,
    samples=(
        '{"ts": "2026-11-29T12:49:31.694Z", "target": "https://crm.example.net/health", "status": "down", "latency_ms": null, "http_status": null, "error": "timeout of 4000ms exceeded"}',
        '{"ts": "2026-11-29T12:47:11.695Z", "target": "https://crm.example.net/health", "status": "up", "latency_ms": 21, "http_status": 200, "error": null}',
        '{"ts": "2026-11-29T12:49:55.696Z", "target": "https://crm.example.net/health", "event": "alert", "state": "down", "after_failures": 2}',
        '{"checkedAt": 1795956571694, "url": "https://crm.example.net/health", "ok": false, "statusCode": 503, "ms": 12}',
    ),
)
