"""Grafana: logs downloaded from Explore or the inspector as JSON.

    [{"line": "INFO ok", "timestamp": "1795954471123456789", "date": "2026-11-29T12:14:31.123Z", "fields": {"app": "api"}}]

``timestamp`` is the entry's time in nanoseconds. Newest first unless the view was turned. Reference: grafana/grafana
public/app/features/logs/utils.ts, logRowsToReadableJson.
"""

from __future__ import annotations

import polars as pl

from forensics.formats.envelopes import Envelope, json_transport, labelled
from forensics.sources import clock


def records(table: pl.DataFrame) -> pl.DataFrame:
    """Turn rows into records."""
    return labelled(
        table,
        "fields",
        ts=pl.coalesce(clock.epoch_any(pl.col("timestamp")), clock.iso(pl.col("date"))),
        message="line_text",
    )


PLUG = json_transport(
    "grafana_json",
    "Grafana logs, JSON",
    "what the data source stamped",
    Envelope(
        ("line", "timestamp", "date", "fields"),
        lambda item: "line" in item and "fields" in item and ("timestamp" in item or "date" in item),
        records,
        caps={1000: "Grafana's default limit of lines: raise it, or export shorter spans one after another"},
    ),
    (
        '[{"line":"INFO ok","timestamp":"1795954471123456789","date":"2026-11-29T12:14:31.123Z","fields":{"app":"api"}}]',
    ),
    lines=False,
    reference="grafana/grafana public/app/features/logs/utils.ts",
)
