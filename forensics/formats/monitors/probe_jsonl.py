"""A prober's own state, one JSON object a line, fields found by name.

    {"ts": "2026-11-29T12:49:31.694Z", "target": "https://crm.example.net/health", "status": "down", "error": "timeout of 4000ms exceeded"}
    {"ts": "2026-11-29T12:49:55.696Z", "target": "https://crm.example.net/health", "event": "alert", "state": "down", "after_failures": 2}

The time is when the probe was sent. Lines with an ``event`` are alerts, not results.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - part of the plug's signature
from pathlib import Path  # noqa: TC003 - part of the plug's signature

import polars as pl

from forensics.formats.jsonl import first_of, moment, objects, share
from forensics.model.plug import Monitor, Parsed

STATUS = ("status", "state", "ok", "up", "result", "success")
UP = ("up", "ok", "true", "1", "healthy", "success", "pass", "online", "200")
PENDING = ("pending", "degraded")
PAUSED = ("maintenance", "paused")
TARGET = ("target", "url", "monitor", "name", "check", "host")
LATENCY = ("latency_ms", "duration_ms", "ping", "response_time_ms", "latency", "ms", "elapsed_ms")
HTTP = ("http_status", "status_code", "code", "http_code")
ERROR = ("error", "err", "reason", "message", "msg")
EVENT = ("event",)


def sniff(head: bytes) -> float:
    """Share of objects with a time, a target or latency, and a status."""
    return share(
        head,
        (STATUS, (*TARGET, *LATENCY, *HTTP)),
        absent=("connections", "max_connections", "log", "__CURSOR"),
    )


def parse(path: Path, fields: Mapping[str, str]) -> Parsed:
    """Read results and alerts."""
    table = objects(path)
    status = first_of(table.frame, STATUS, fields.get("status")).str.to_lowercase()
    rows = table.frame.with_columns(
        ts=moment(table.frame, fields.get("time")),
        naive=pl.lit(value=False),
        monitor=first_of(table.frame, TARGET, fields.get("target")).fill_null("probe"),
        event=first_of(table.frame, EVENT),
        status=pl.when(status.is_in(UP))
        .then(pl.lit("up"))
        .when(status.is_in(PENDING))
        .then(pl.lit("pending"))
        .when(status.is_in(PAUSED))
        .then(pl.lit("maintenance"))
        .otherwise(pl.lit("down")),
        state=status,
        latency_ms=first_of(table.frame, LATENCY, fields.get("latency_ms")).cast(pl.Float64, strict=False),
        http_status=first_of(table.frame, HTTP, fields.get("http_status")).cast(pl.Int16, strict=False),
        error=first_of(table.frame, ERROR, fields.get("error")),
    )
    beats = rows.filter(pl.col("event").is_null() & status_known(rows))
    alerts = rows.filter(pl.col("event").is_not_null()).with_columns(text=pl.col("event"))
    return Parsed(
        beats=beats,
        alerts=alerts,
        in_records=table.records,
        blank=table.blank,
        unparsed=table.unparsed,
        first_unparsed=table.first_unparsed,
    )


def status_known(rows: pl.DataFrame) -> pl.Expr:
    """Hold for rows that state a result."""
    return pl.col("state").is_not_null() if "state" in rows.columns else pl.lit(value=True)


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
    ),
)
