"""Render: ``render logs -o json`` and the API's ``/v1/logs``.

    {"id":"log-1","timestamp":"2026-11-29T12:14:31.123456789Z","message":"boom","labels":[{"name":"service","value":"srv-1"},{"name":"level","value":"error"}]}

The time is when the platform received the line. Labels name the resource, the instance, the level and, for requests, method,
path and status. Reference: Render API, list logs.
"""

from __future__ import annotations

from typing import Any, TypeGuard

import polars as pl

from forensics.formats.envelopes import Envelope, json_transport, label, text_of
from forensics.formats.inner import level
from forensics.sources import clock


def is_line(item: object) -> TypeGuard[dict[str, Any]]:
    """Hold for a log line with its labels."""
    return (
        isinstance(item, dict)
        and "message" in item
        and "timestamp" in item
        and isinstance(item.get("labels"), list)
    )


def unfold(value: object) -> list[Any] | None:
    """Return the lines of an answer, with their labels as an object; None for anything else."""
    found = value.get("logs") if isinstance(value, dict) else None
    items = found if isinstance(found, list) else [value]
    lines = [item for item in items if is_line(item)]
    if len(lines) != len(items):
        return None
    return [{**item, "labels": labels(item["labels"])} for item in lines]


def labels(pairs: list[Any]) -> dict[str, str]:
    """Return a list of names and values as an object."""
    return {text_of(pair.get("name")): text_of(pair.get("value")) for pair in pairs if isinstance(pair, dict)}


def records(table: pl.DataFrame) -> pl.DataFrame:
    """Turn lines into records."""
    about = pl.col("labels")
    return table.select(
        "line",
        ts=clock.iso(pl.col("timestamp")),
        naive=pl.lit(value=False),
        service=label(about, ("service", "resource")),
        pid=label(about, ("instance",)),
        level=level(label(about, ("level",))),
        cursor="id",
        message="message",
    )


PLUG = json_transport(
    "render_json",
    "Render logs, JSON",
    "receipt of the line by the platform",
    Envelope(
        ("id", "timestamp", "message", "labels"),
        lambda item: "message" in item and isinstance(item.get("labels"), dict) and "id" in item,
        records,
        unfold=unfold,
        caps={
            20: "the API's default page: ask with limit=100 and page on",
            100: "the most that one page holds: page on with nextEndTime",
        },
    ),
    (
        '{"id":"log-1","timestamp":"2026-11-29T12:14:31.123456789Z","message":"boom","labels":[{"name":"service","value":"api"},{"name":"level","value":"error"}]}',
        '{"hasMore":false,"logs":[{"id":"log-2","timestamp":"2026-11-29T12:14:32Z","message":"INFO ok","labels":[{"name":"resource","value":"srv-1"}]}]}',
    ),
    lines=False,
    reference="Render API, list logs",
    unconfirmed=True,
)
