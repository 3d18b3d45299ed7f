"""Datadog: the Log Explorer's results as CSV.

    Date,Host,Service,Content
    "2026-11-29T12:14:31.123Z",web-1,api,"INFO: ok"

``Date`` is the event's time, UTC. The other columns are those of the view: ``Content`` or ``Message`` holds the line. Newest first; an export
holds 100,000 rows at most. Reference: docs.datadoghq.com/logs/explorer/export.
"""

from __future__ import annotations

import polars as pl

from forensics.formats.inner import level
from forensics.formats.tables import Table, column, table_transport
from forensics.sources import clock

LINES = ("Content", "Message", "content", "message", "@message")


def claims(names: tuple[str, ...]) -> float:
    """Score columns for the view's fixed ones."""
    lowered = {name.lower() for name in names}
    return float(
        "date" in lowered and bool({"host", "service"} & lowered) and bool({"content", "message"} & lowered)
    )


def records(table: pl.DataFrame) -> pl.DataFrame:
    """Turn rows into records."""
    time = column(table, "Date", "date")
    return table.select(
        "line",
        ts=pl.coalesce(clock.iso(time), clock.epoch_any(time)),
        naive=pl.lit(value=False),
        service=column(
            table,
            "Service",
            "service",
            "@container_name",
            "container_name",
            "Container Name",
            "Source",
            "Host",
            "host",
        ),
        pid=column(table, "Pod Name", "pod_name"),
        level=level(column(table, "Status", "status", "level", "@level")),
        message=column(table, *LINES),
    )


PLUG = table_transport(
    "datadog_csv",
    "Datadog logs, CSV",
    "when the event happened, as its sender says",
    Table(
        claims,
        records,
        (),
        caps={
            5000: "a usual limit of an export: raise it, or check that there is no more",
            100000: "the most that an export holds: export shorter spans one after another",
        },
    ),
    ('Date,Host,Service,Content\n"2026-11-29T12:14:31.123Z",web-1,api,"INFO: ok"',),
    reference="docs.datadoghq.com/logs/explorer/export",
    unconfirmed=True,
)
