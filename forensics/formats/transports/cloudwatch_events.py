"""CloudWatch Logs as JSON: filter-log-events, get-log-events, a subscription's batches, Insights' answer.

    {"events": [{"logStreamName": "api/web/0123", "timestamp": 1795954471123, "message": "INFO: ok", "ingestionTime": 1795954475000}]}

``timestamp`` (ms) is when the event happened as the agent says, ``ingestionTime`` when it arrived: the former is used. Pages follow
one another in a file. A subscription delivers ``logEvents`` of one stream; Insights lists ``field`` and ``value`` and its times
are UTC without a zone. Reference: aws/aws-cli awscli/examples/logs/filter-log-events.rst, AWS SubscriptionFilters.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from forensics.formats.cloudwatch import INSIGHTS_CAP, stream_parts
from forensics.formats.envelopes import Envelope, json_transport, text_of
from forensics.sources import clock

FIELDS = ("timestamp", "message", "logStreamName", "eventId", "group")


def claims(item: dict[str, Any]) -> bool:
    """Hold for events of any of these answers."""
    return "message" in item and "timestamp" in item and ("ingestionTime" in item or "group" in item)


def unfold(value: object) -> list[dict[str, Any]] | None:
    """Return the events of a page, of a batch or of an Insights answer, None for anything else."""
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("events"), list) and not any(key in value for key in ("hits", "incidents")):
        return [item for item in value["events"] if isinstance(item, dict)]
    if isinstance(value.get("logEvents"), list):
        named = {
            "group": text_of(value.get("logGroup") or ""),
            "logStreamName": text_of(value.get("logStream") or ""),
        }
        return [
            {
                **named,
                "timestamp": item.get("timestamp"),
                "message": item.get("message"),
                "eventId": item.get("id"),
            }
            for item in value["logEvents"]
            if isinstance(item, dict)
        ]
    results = value.get("results")
    if isinstance(results, list) and results and isinstance(results[0], list):
        return [row for cells in results if (row := insight(cells)) is not None]
    return None


def insight(cells: object) -> dict[str, Any] | None:
    """Return one row of an Insights answer as an event; None without a message."""
    if not isinstance(cells, list):
        return None
    row = {text_of(cell.get("field")): text_of(cell.get("value")) for cell in cells if isinstance(cell, dict)}
    if "@message" not in row or "@timestamp" not in row:
        return None
    return {
        "timestamp": row["@timestamp"],
        "message": row["@message"],
        "logStreamName": row.get("@logStream", ""),
        "group": row.get("@log", "").partition(":")[2],
        "eventId": row.get("@ptr"),
    }


def records(table: pl.DataFrame) -> pl.DataFrame:
    """Turn events into records."""
    time = pl.col("timestamp")
    utc = time.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False).dt.epoch("us")
    named = stream_parts(pl.col("logStreamName"), pl.col("group"))
    return table.select(
        "line",
        ts=pl.coalesce(clock.epoch_any(time), utc),
        naive=pl.lit(value=False),
        service=named[0],
        pid=named[1],
        cursor="eventId",
        message="message",
    )


PLUG = json_transport(
    "cloudwatch_events",
    "CloudWatch Logs, JSON",
    "when the event happened, as its sender says",
    Envelope(FIELDS, claims, records, unfold=unfold, caps=INSIGHTS_CAP),
    (
        '{"events": [{"logStreamName": "api/web/0123", "timestamp": 1795954471123, "message": "INFO: ok\\n", "ingestionTime": 1795954475000, "eventId": "3801234567890"}], "searchedLogStreams": []}',
        '{"messageType":"DATA_MESSAGE","owner":"123456789012","logGroup":"/ecs/api","logStream":"ecs/web/0f9e6bc1a2b34c5d","logEvents":[{"id":"3801","timestamp":1795954471123,"message":"INFO: ok"}]}',
        '{"results":[[{"field":"@timestamp","value":"2026-11-29 12:14:31.123"},{"field":"@message","value":"INFO: ok"},{"field":"@ptr","value":"x"}]],"status":"Complete"}',
    ),
    lines=False,
    reference="aws/aws-cli awscli/examples/logs/filter-log-events.rst",
)
