"""CloudWatch Logs Insights: results as CSV.

    @timestamp,@message,@logStream
    2026-11-29 12:14:31.123,INFO: ok,api/web/0123

``@timestamp`` is when the event happened as its sender says: UTC, though no zone is written. ``@ingestionTime`` is not used. Reference: AWS,
CloudWatch Logs Insights; aws-samples.
"""

from __future__ import annotations

import polars as pl

from forensics.formats.cloudwatch import INSIGHTS_CAP, stream_parts
from forensics.formats.inner import level
from forensics.formats.tables import Table, column, table_transport
from forensics.sources import clock


def records(table: pl.DataFrame) -> pl.DataFrame:
    """Turn rows into records."""
    time = column(table, "@timestamp", "timestamp")
    utc = time.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False).dt.epoch("us")
    service, pid = stream_parts(pl.col("@logStream"), pl.col("@log"))
    return table.select(
        "line",
        ts=pl.coalesce(utc, clock.iso(time), clock.epoch_any(time)),
        naive=pl.lit(value=False),
        service=service,
        pid=pid,
        level=level(column(table, "level", "severity", "@level")),
        cursor="@ptr",
        message=column(table, "@message", "message"),
    )


PLUG = table_transport(
    "cloudwatch_insights_csv",
    "CloudWatch Logs Insights, CSV",
    "when the event happened, as its sender says; UTC",
    Table(
        lambda names: float(
            ("@timestamp" in names and "@message" in names)
            or (names[:2] == ("timestamp", "message") and len(names) == 2)
        ),
        records,
        ("@logStream", "@log", "@ptr"),
        caps=INSIGHTS_CAP,
    ),
    ("@timestamp,@message,@logStream\n2026-11-29 12:14:31.123,INFO: ok,api/web/0123",),
    reference="AWS, CloudWatch Logs Insights",
)
