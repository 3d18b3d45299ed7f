"""Documents as Beats, Logstash and ECS loggers write them: one object a line with ``@timestamp``.

    {"@timestamp":"2026-11-29T12:14:31.123Z","log.level":"ERROR","message":"boom","ecs.version":"1.2.0","service.name":"api"}

Fields are nested (Filebeat's file output) or dotted (ECS loggers). The time is the event's where the shipper knew it, else when
it read the line. Reference: elastic/ecs, elastic/ecs-logging-java, logstash/logstash-logback-encoder.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from forensics.formats.envelopes import Envelope, anything, first_of, json_transport, label
from forensics.formats.inner import level
from forensics.sources import clock

MARKS = ("@version", "ecs", "ecs.version", "agent", "@metadata", "beat", "log.level", "logger_name")
NAMES = (
    "service.name", "kubernetes.container.name", "kubernetes.container_name", "container.name", "docker.container.name", "kubernetes.labels.app", "service", "app", "application",
    "container_name", "systemd.unit", "process.name", "appname",
)  # fmt: skip


def claims(item: dict[str, Any]) -> bool:
    """Hold for documents of these writers."""
    return (
        "@timestamp" in item
        and any(name in item for name in ("message", "msg", "log"))
        and any(name in item for name in MARKS)
    )


def records(table: pl.DataFrame) -> pl.DataFrame:
    """Turn documents into records."""
    whole = pl.col("raw")
    trace = label(whole, ("stack_trace", "error.stack_trace"))
    time = label(whole, ("@timestamp",))
    return table.select(
        "line",
        ts=pl.coalesce(clock.iso(time), clock.epoch_any(time)),
        naive=pl.lit(value=False),
        service=label(whole, NAMES).str.strip_chars_start("/").str.strip_suffix(".service"),
        pid=label(whole, ("kubernetes.pod.name", "process.pid")),
        stream=label(whole, ("stream",)),
        level=level(label(whole, ("log.level", "level", "severity"))),
        message=pl.concat_str(
            first_of(anything(whole, ("message", "msg")), label(whole, ("log",)), whole),
            trace,
            separator="\n",
            ignore_nulls=True,
        ),
    )


PLUG = json_transport(
    "ecs_json",
    "Beats, Logstash or ECS documents, JSON lines",
    "when the event happened, as its sender says",
    Envelope(("raw",), claims, records),
    (
        '{"@timestamp":"2026-11-29T12:14:31.123Z","log.level":"ERROR","message":"boom","ecs.version":"1.2.0","service.name":"api"}',
        '{"@timestamp":"2026-11-29T12:14:31.123Z","@metadata":{"beat":"filebeat"},"message":"INFO ok","container":{"name":"web"},"agent":{"type":"filebeat"}}',
        '{"@timestamp":"2026-11-29T13:14:31.123+01:00","@version":"1","message":"boom","logger_name":"c.e.Pool","level":"ERROR"}',
    ),
    reference="elastic/ecs",
)
