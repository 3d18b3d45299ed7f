"""OpenTelemetry logs as JSON: the collector's file exporter writes one batch a line.

    {"resourceLogs":[{"resource":{"attributes":[…]},"scopeLogs":[{"logRecords":[{"timeUnixNano":"1795954471123456789","severityNumber":17,"body":{"stringValue":"boom"}}]}]}]}

``timeUnixNano`` is when the event happened; where it is missing or 0, ``observedTimeUnixNano`` (when the collector saw it) is used. A line
holds many records, so that these are named by ordinal. Whole numbers are strings or numbers. Reference: open-telemetry/opentelemetry-proto
examples/logs.json, opentelemetry/proto/logs/v1/logs.proto.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.formats.envelopes import Envelope, first_of, json_transport, label, text_of
from forensics.formats.inner import CUT_TO_MICROSECONDS, level

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BATCH = re.compile(rb'^\s*\{"resourceLogs"')
STEPS = (("critical", 21), ("error", 17), ("warning", 13), ("info", 9), ("debug", 1))
"""The least severity number of each level (logs data model)."""
NAMES = (
    "k8s.container.name",
    "container.name",
    "service.name",
    "k8s.deployment.name",
    "k8s.pod.name",
    "process.executable.name",
    "faas.name",
)


def unfold(value: object) -> list[dict[str, Any]] | None:
    """Return the records of a batch, None for anything else."""
    batches = value.get("resourceLogs") if isinstance(value, dict) else None
    if not isinstance(batches, list):
        return None
    return [record for batch in batches for record in flattened(batch)]


def flattened(batch: object) -> Iterator[dict[str, Any]]:
    """Yield the records of one resource with its attributes."""
    if not isinstance(batch, dict):
        return
    about = plain(attributes_of(batch.get("resource")))
    scopes = batch.get("scopeLogs") or batch.get("instrumentationLibraryLogs") or []
    for scope in scopes if isinstance(scopes, list) else []:
        records_ = scope.get("logRecords") or scope.get("logs") if isinstance(scope, dict) else None
        for record in records_ if isinstance(records_, list) else []:
            if isinstance(record, dict):
                own = plain(attributes_of(record))
                yield {
                    "event": record.get("timeUnixNano"),
                    "observed": record.get("observedTimeUnixNano"),
                    "number": record.get("severityNumber"),
                    "text": record.get("severityText"),
                    "body": text_of(simple(record.get("body")) if record.get("body") else own),
                    "about": {**own, **about},
                }


def attributes_of(value: object) -> object:
    """Return the attributes of a resource or record."""
    return value.get("attributes") if isinstance(value, dict) else None


def plain(attributes: object) -> dict[str, Any]:
    """Turn a typed list of attributes into an object."""
    items = attributes if isinstance(attributes, list) else []
    return {text_of(item.get("key")): simple(item.get("value")) for item in items if isinstance(item, dict)}


def simple(value: object) -> Any:
    """Take the type off a value."""
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("kvlistValue"), dict):
        return plain(value["kvlistValue"].get("values"))
    if isinstance(value.get("arrayValue"), dict):
        items = value["arrayValue"].get("values")
        return [simple(item) for item in items] if isinstance(items, list) else []
    return next(
        (
            value[kind]
            for kind in ("stringValue", "intValue", "doubleValue", "boolValue", "bytesValue")
            if kind in value
        ),
        None,
    )


def records(table: pl.DataFrame) -> pl.DataFrame:
    """Turn log records into records."""
    about = pl.col("about")
    event, observed = (pl.col(name).cast(pl.Int64, strict=False) for name in ("event", "observed"))
    number = pl.col("number").cast(pl.Int32, strict=False)
    by_number = pl.coalesce([pl.when(number >= least).then(pl.lit(name)) for name, least in STEPS])
    named = [
        pl.when(~one.str.starts_with("unknown_service")).then(one)
        for one in (label(about, (name,)) for name in NAMES)
    ]
    return table.select(
        "line",
        ts=pl.coalesce(pl.when(event > 0).then(event), pl.when(observed > 0).then(observed))
        // CUT_TO_MICROSECONDS,
        naive=pl.lit(value=False),
        service=first_of(*named),
        pid=label(about, ("k8s.pod.name", "process.pid", "service.instance.id")),
        stream=label(about, ("log.iostream",)),
        level=pl.coalesce(level(pl.col("text")), by_number),
        message="body",
    )


def safe_cut(before: Sequence[bytes], line: bytes) -> bool:
    """Cut before any batch that stands on a line of its own."""
    del before
    return BATCH.match(line) is not None


PLUG = replace(
    json_transport(
        "otlp_json",
        "OpenTelemetry logs, JSON (OTLP)",
        "when the event happened, else when the collector saw it",
        Envelope(
            ("event", "observed", "number", "text", "body", "about"),
            lambda item: "event" in item and "about" in item,
            records,
            unfold=unfold,
        ),
        (
            '{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"api"}}]},"scopeLogs":[{"scope":{},"logRecords":[{"timeUnixNano":"1795954471123456789","observedTimeUnixNano":"1795954471200000000","severityNumber":17,"severityText":"ERROR","body":{"stringValue":"boom"},"attributes":[{"key":"http.status_code","value":{"intValue":"500"}}]}]}]}]}',
            '{"resourceLogs":[{"resource":{},"scopeLogs":[{"logRecords":[{"timeUnixNano":0,"observedTimeUnixNano":1795954471200000000,"severityNumber":9,"body":{"kvlistValue":{"values":[{"key":"msg","value":{"stringValue":"ready"}}]}}}]}]}]}',
        ),
        lines=False,
        reference="open-telemetry/opentelemetry-proto examples/logs.json",
    ),
    safe_cut=safe_cut,
)
