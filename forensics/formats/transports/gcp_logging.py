"""Google Cloud Logging: ``gcloud logging read --format json``, a download of the Logs Explorer, or a sink's lines.

    [{"insertId": "1abc", "logName": "projects/p/logs/run.googleapis.com%2Fstderr", "severity": "ERROR", "textPayload": "boom", "timestamp": "2026-11-29T12:14:31.123456Z"}]

``timestamp`` is the event's, ``receiveTimestamp`` when the service got it: the former is used. Newest first. An entry without
a payload is a request of the load balancer or of Cloud Run and is shown as its method, address and status. Reference: googleapis
google/logging/v2/log_entry.proto.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from forensics.formats.envelopes import Envelope, anything, at, first_of, json_transport, label
from forensics.formats.inner import level
from forensics.sources import clock

FIELDS = (
    "insertId",
    "logName",
    "timestamp",
    "receiveTimestamp",
    "severity",
    "textPayload",
    "jsonPayload",
    "protoPayload",
    "httpRequest",
    "resource",
    "labels",
)
RESOURCE = (
    "container_name",
    "service_name",
    "function_name",
    "module_id",
    "job_name",
    "database_id",
    "backend_service_name",
    "forwarding_rule_name",
    "instance_id",
)
MESSAGE = ("message", "msg", "log", "MESSAGE", "event", "textPayload")


def claims(item: dict[str, Any]) -> bool:
    """Hold for log entries."""
    return (
        "logName" in item
        and ("timestamp" in item or "receiveTimestamp" in item)
        and ("insertId" in item or "resource" in item)
    )


def request() -> pl.Expr:
    """Return a request as text: method, address, status and, where stated, how long it took."""
    part = [at(pl.col("httpRequest"), name) for name in ("requestMethod", "requestUrl", "status", "latency")]
    return pl.concat_str(part, separator=" ", ignore_nulls=True)


def records(table: pl.DataFrame) -> pl.DataFrame:
    """Turn entries into records."""
    resource = at(pl.col("resource"), "labels")
    payload = pl.coalesce("jsonPayload", "protoPayload")
    asked = pl.when(pl.col("httpRequest").is_not_null()).then(request())
    said = first_of(
        anything(pl.col("jsonPayload"), MESSAGE), label(pl.col("protoPayload"), ("status.message",))
    )
    return table.select(
        "line",
        ts=pl.coalesce(clock.iso(pl.col("timestamp")), clock.iso(pl.col("receiveTimestamp"))),
        naive=pl.lit(value=False),
        service=first_of(label(resource, RESOURCE), label(pl.col("labels"), ("k8s-pod/app", "serviceName"))),
        pid=first_of(
            label(resource, ("pod_name", "revision_name")), label(pl.col("labels"), ("instanceId",))
        ),
        level=level(pl.col("severity")),
        cursor="insertId",
        message=pl.coalesce("textPayload", said, asked, payload),
    )


PLUG = json_transport(
    "gcp_logging",
    "Google Cloud Logging, JSON",
    "when the event happened",
    Envelope(
        FIELDS,
        claims,
        records,
        caps={
            1000: "a usual --limit of gcloud logging read: export with a larger one, or check that there is no more",
            10000: "the most that the Logs Explorer downloads: export shorter spans one after another",
        },
    ),
    (
        '{"insertId":"1abc","logName":"projects/p/logs/run.googleapis.com%2Fstderr","receiveTimestamp":"2026-11-29T12:14:31.456789012Z","resource":{"labels":{"service_name":"api"},"type":"cloud_run_revision"},"severity":"ERROR","textPayload":"boom","timestamp":"2026-11-29T12:14:31.123456Z"}',
        '{"insertId":"2abc","httpRequest":{"latency":"0.012s","requestMethod":"GET","requestUrl":"https://crm.example.net/health","status":200},"logName":"projects/p/logs/run.googleapis.com%2Frequests","resource":{"labels":{"service_name":"api"}},"timestamp":"2026-11-29T12:14:31Z"}',
    ),
    reference="googleapis/googleapis google/logging/v2/log_entry.proto",
    unconfirmed=True,
)
