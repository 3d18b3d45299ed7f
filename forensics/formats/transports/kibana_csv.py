"""Kibana (Discover): a CSV report.

    "@timestamp","host.name",message
    "Nov 29, 2026 @ 13:14:31.123","web-1","ERROR boom, ""x"" again"

``@timestamp`` is the event's time in the zone of the browser or of ``dateFormat:tz``, which is not stated. The report ends at its maximum size (250 MB) without a mark. Reference: elastic/kibana x-pack/plugins/reporting,
src/plugins/kibana_utils (date format).
"""

from __future__ import annotations

import polars as pl

from forensics.formats.inner import level
from forensics.formats.tables import Table, column, table_transport
from forensics.sources import clock

TIMES = ("@timestamp", "timestamp", "time", "_time")
LINES = ("message", "log", "event.original", "msg", "body", "_source")
SERVICES = (
    "service.name", "kubernetes.container.name", "kubernetes.container_name", "container.name", "kubernetes.labels.app", "service", "app", "container_name", "systemd.unit",
    "process.name", "host.name",
)  # fmt: skip
FORMATS = (
    "%b %d, %Y @ %H:%M:%S%.f",
    "%B %d, %Y, %H:%M:%S%.f",
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%dT%H:%M:%S%.f",
)


def claims(names: tuple[str, ...]) -> float:
    """Score columns for Elasticsearch's time and a line, but not CloudWatch's."""
    return float("@timestamp" in names and "@message" not in names and any(name in names for name in LINES))


def records(table: pl.DataFrame) -> pl.DataFrame:
    """Turn rows into records."""
    time = column(table, *TIMES)
    stated = pl.coalesce(clock.iso(time), clock.epoch_any(time))
    local = pl.coalesce(
        time.str.to_datetime(one, time_unit="us", strict=False).dt.epoch("us") for one in FORMATS
    )
    return table.select(
        "line",
        ts=pl.coalesce(stated, local),
        naive=stated.is_null() & local.is_not_null(),
        service=column(table, *SERVICES),
        pid=column(table, "kubernetes.pod.name", "kubernetes.pod_name", "process.pid"),
        stream=column(table, "stream"),
        level=level(column(table, "log.level", "level", "severity")),
        cursor=column(table, "_id"),
        message=column(table, *LINES),
    )


PLUG = table_transport(
    "kibana_csv",
    "Kibana Discover, CSV",
    "when the event happened, as its sender says; in the zone of the browser",
    Table(
        claims,
        records,
        (),
        caps={500: "Kibana's default sample size: raise it, or check that there is no more"},
    ),
    ('"@timestamp","host.name",message\n"Nov 29, 2026 @ 13:14:31.123","web-1","ERROR boom, ""x"""',),
    zone="none",
    reference="elastic/kibana x-pack/plugins/reporting",
)
