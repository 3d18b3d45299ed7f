"""Documents as Beats, Logstash and ECS loggers write them: one object a line with ``@timestamp``.

    {"@timestamp":"2026-11-29T12:14:31.123Z","log.level":"ERROR","message":"boom","ecs.version":"1.2.0","service.name":"api"}

Fields are nested (Filebeat's file output) or dotted (ECS loggers). The time is the event's where the shipper knew it, else when
it read the line. Reference: elastic/ecs, elastic/ecs-logging-java, logstash/logstash-logback-encoder.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from forensics.formats.envelopes import Envelope, first_of, json_transport, label
from forensics.formats.inner import level
from forensics.sources import clock

MARKS = ("@version", "ecs", "ecs.version", "agent", "@metadata", "beat", "log.level", "logger_name")
MESSAGES = ("message", "msg", "log")
NESTED = {
    "service": ("name",),
    "kubernetes": ("container.name", "container_name", "labels.app"),
    "container": ("name",),
    "docker": ("container.name",),
    "systemd": ("unit",),
    "process": ("name",),
}
"""Objects that hold the name of what wrote the line, among others."""
FLAT = (
    "service.name",
    "kubernetes.container.name",
    "kubernetes.container_name",
    "container.name",
    "app",
    "application",
    "container_name",
    "appname",
)
FIELDS = (
    "@timestamp", *MESSAGES, *FLAT, *NESTED, "kubernetes.pod.name", "process.pid", "stream", "log.level", "level", "severity", "stack_trace", "error", "error.stack_trace", "raw",
)  # fmt: skip


def claims(item: dict[str, Any]) -> bool:
    """Hold for documents of these writers."""
    marked = any(name in item for name in MARKS)
    return "@timestamp" in item and marked and any(name in item for name in MESSAGES)


def scalar(column: pl.Expr) -> pl.Expr:
    """Return a field that is no object."""
    return pl.when(~column.str.contains(r"^[{\[]")).then(column)


def records(table: pl.DataFrame) -> pl.DataFrame:
    """Turn documents into records."""
    nested = {name: label(pl.col(name), paths) for name, paths in NESTED.items()}
    named = [
        nested["service"],
        *[pl.col(name) for name in FLAT[:1]],
        scalar(pl.col("service")),
        nested["kubernetes"],
        nested["container"],
        nested["docker"],
        *[pl.col(name) for name in FLAT[1:]],
        nested["systemd"],
        nested["process"],
    ]
    trace = first_of(
        pl.col("stack_trace"), pl.col("error.stack_trace"), label(pl.col("error"), ("stack_trace",))
    )
    text = first_of(pl.col("message"), pl.col("msg"), scalar(pl.col("log")), pl.col("raw"))
    time = pl.col("@timestamp")
    severity = [label(pl.col("log"), ("level",)), pl.col("log.level"), pl.col("level"), pl.col("severity")]
    return table.select(
        "line",
        ts=pl.coalesce(clock.iso(time), clock.epoch_any(time)),
        naive=pl.lit(value=False),
        service=first_of(*named).str.strip_chars_start("/").str.strip_suffix(".service"),
        pid=first_of(
            label(pl.col("kubernetes"), ("pod.name",)),
            pl.col("kubernetes.pod.name"),
            label(pl.col("process"), ("pid",)),
            pl.col("process.pid"),
        ),
        stream="stream",
        level=pl.coalesce([level(one) for one in severity]),
        message=pl.concat_str(text, trace, separator="\n", ignore_nulls=True),
    )


PLUG = json_transport(
    "ecs_json",
    "Beats, Logstash or ECS documents, JSON lines",
    "when the event happened, as its sender says",
    Envelope(FIELDS, claims, records),
    (
        '{"@timestamp":"2026-11-29T12:14:31.123Z","log.level":"ERROR","message":"boom","ecs.version":"1.2.0","service.name":"api"}',
        '{"@timestamp":"2026-11-29T12:14:31.123Z","@metadata":{"beat":"filebeat"},"message":"INFO ok","container":{"name":"web"},"agent":{"type":"filebeat"}}',
        '{"@timestamp":"2026-11-29T13:14:31.123+01:00","@version":"1","message":"boom","logger_name":"c.e.Pool","level":"ERROR"}',
    ),
    reference="elastic/ecs",
)
