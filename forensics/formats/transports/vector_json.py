"""Vector's events as JSON, one a line.

    {"appname":"api","host":"web-1","message":"boom","severity":"err","source_type":"syslog","timestamp":"2026-11-29T12:14:31.123456789Z"}

``timestamp`` is the event's where the source knew it (syslog, Docker, Kubernetes, journald), else when Vector read the line. Reference:
vectordotdev/vector lib/vector-core/src/config/log_schema.rs, website/cue/reference/components/sources.
"""

from __future__ import annotations

import polars as pl

from forensics.formats.envelopes import Envelope, first_of, json_transport, label
from forensics.formats.inner import level
from forensics.sources import clock

FIELDS = (
    "timestamp",
    "message",
    "appname",
    "service",
    "container_name",
    "kubernetes",
    "_SYSTEMD_UNIT",
    "SYSLOG_IDENTIFIER",
    "severity",
    "level",
    "procid",
    "stream",
    "file",
    "raw",
)


def records(table: pl.DataFrame) -> pl.DataFrame:
    """Turn events into records."""
    kubernetes = pl.col("kubernetes")
    return table.select(
        "line",
        ts=pl.coalesce(clock.iso(pl.col("timestamp")), clock.epoch_any(pl.col("timestamp"))),
        naive=pl.lit(value=False),
        service=first_of(
            pl.col("container_name").str.strip_chars_start("/"),
            label(kubernetes, ("container_name", "pod_labels.app", "pod_name")),
            pl.col("service"),
            pl.col("appname"),
            pl.col("_SYSTEMD_UNIT").str.strip_suffix(".service"),
            pl.col("SYSLOG_IDENTIFIER"),
            pl.col("file").str.extract(r"([^/]+?)(?:\.log)?$"),
        ),
        pid=first_of(label(kubernetes, ("pod_name",)), pl.col("procid")),
        stream="stream",
        level=pl.coalesce(level(pl.col("severity")), level(pl.col("level"))),
        message=first_of(pl.col("message"), pl.col("raw")),
    )


PLUG = json_transport(
    "vector_json",
    "Vector, JSON lines",
    "when the event happened where the source knew it, else when Vector read the line",
    Envelope(FIELDS, lambda item: "source_type" in item and "timestamp" in item, records),
    (
        '{"appname":"api","host":"web-1","message":"boom","severity":"err","source_type":"syslog","timestamp":"2026-11-29T12:14:31.123456789Z"}',
        '{"container_name":"web-1","message":"INFO ok","source_type":"docker_logs","stream":"stdout","timestamp":"2026-11-29T12:14:31.1Z"}',
    ),
    reference="vectordotdev/vector lib/vector-core/src/config/log_schema.rs",
    unconfirmed=True,
)
