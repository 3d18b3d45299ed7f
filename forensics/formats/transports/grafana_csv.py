"""Grafana: logs downloaded as CSV from the inspector or from Explore, also for Excel (UTF-16, tabs, or a line ``sep=,``).

    "Time","Line","tsNs","id","labels"
    2026-11-29 13:14:31.123,"INFO ok",1795954471123456789,1795954471123456789_abc,"{""app"":""api""}"

``Time`` is in the dashboard's zone, which is not stated; ``tsNs`` is the same instant in nanoseconds since 1970 and is used where it is
there. Labels are one column of JSON, or a column each. Newest first. Reference: grafana/grafana
public/app/features/inspector/utils/download.ts, packages/grafana-data/src/utils/csv.ts.
"""

from __future__ import annotations

import polars as pl

from forensics.formats.envelopes import POD, SERVICE, SEVERITY, first_of, label, service
from forensics.formats.inner import CUT_TO_MICROSECONDS, level
from forensics.formats.tables import Table, column, table_transport
from forensics.sources import clock

TIMES = ("Time", "timestamp", "Date", "time", "ts")
LINES = ("Line", "body", "line_text")
NANOSECONDS = ("tsNs", "nanos", "Time ns")


def claims(names: tuple[str, ...]) -> float:
    """Score columns for a time, a line and what only this program adds."""
    if not any(name in names for name in TIMES) or not any(
        name in names for name in ("Line", "body", "line")
    ):
        return 0.0
    own = any(name in names for name in ("tsNs", "labels", "id", "labelTypes", "detected_level"))
    return 1.0 if own or names[:2] == ("Time", "Line") else 0.0


def records(table: pl.DataFrame) -> pl.DataFrame:
    """Turn rows into records."""
    labels = pl.col("labels")
    nanos = column(table, *NANOSECONDS).cast(pl.Int64, strict=False) // CUT_TO_MICROSECONDS
    time = column(table, *TIMES)
    stated = pl.coalesce(nanos, clock.iso(time), clock.epoch_any(time))
    local = pl.coalesce(
        time.str.to_datetime(one, time_unit="us", strict=False).dt.epoch("us")
        for one in ("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f", "%m/%d/%Y, %I:%M:%S %p")
    )
    return table.select(
        "line",
        ts=pl.coalesce(stated, local),
        naive=stated.is_null() & local.is_not_null(),
        service=first_of(service(labels), column(table, *SERVICE)),
        pid=first_of(label(labels, POD), column(table, *POD)),
        level=pl.coalesce(level(label(labels, SEVERITY)), level(column(table, *SEVERITY))),
        message=column(table, *LINES),
    )


PLUG = table_transport(
    "grafana_csv",
    "Grafana logs, CSV",
    "what the data source stamped",
    Table(
        claims,
        records,
        ("labels",),
        caps={1000: "Grafana's default limit of lines: raise it, or export shorter spans one after another"},
    ),
    (
        '"Time","Line","tsNs","id","labels"\n2026-11-29 13:14:31.123,"INFO ok",1795954471123456789,1795954471123456789_abc,"{""app"":""api""}"',
    ),
    reference="grafana/grafana public/app/features/inspector/utils/download.ts",
)
