"""Fluent Bit (and Fluentd) records as JSON, one a line or in arrays.

    {"date":1795954471.123456,"log":"INFO ok","stream":"stdout","kubernetes":{"pod_name":"api-1"}}

``date`` is the record's time: the parser's where one read it from the line, else when the line was collected. It is a number of
seconds (``double``, which keeps about microseconds), ISO 8601 or a Java SQL timestamp in UTC. ``log`` is often a line
of Docker's json-file or of a CRI log again, which is taken off. Reference: fluent/fluent-bit-docs pipeline/outputs/stdout.md,
pipeline/filters/kubernetes.md.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from forensics.formats.envelopes import Envelope, json_transport
from forensics.formats.fluent import FIELDS, moment, said

TIMES = ("date", "time", "@timestamp", "timestamp")
DOCKER = frozenset(("log", "stream", "attrs", "time"))


def claims(item: dict[str, Any]) -> bool:
    """Hold for records with a time beside the collected line."""
    if not any(name in item for name in TIMES) or set(item) <= DOCKER:
        return False
    if "date" in item and any(name in item for name in ("log", "kubernetes", "MESSAGE", "container_id")):
        return "line" not in item
    return (
        "log" in item
        and isinstance(item["log"], str)
        and any(name in item for name in ("kubernetes", "container_name", "container_id", "stream", "source"))
    )


def records(table: pl.DataFrame) -> pl.DataFrame:
    """Turn records of Fluent Bit into records."""
    return said(table).with_columns(ts=pl.coalesce([moment(pl.col(name)) for name in TIMES]))


PLUG = json_transport(
    "fluentbit_json",
    "Fluent Bit or Fluentd, JSON",
    "what the parser read in the line, else when the line was collected",
    Envelope((*FIELDS, *TIMES), claims, records),
    (
        '{"date":1795954471.123456,"log":"INFO ok","stream":"stdout","kubernetes":{"pod_name":"api-1"}}',
        '{"date":"2026-11-29T12:14:31.123456Z","log":"{\\"log\\":\\"boom\\\\n\\",\\"stream\\":\\"stderr\\",\\"time\\":\\"2026-11-29T12:14:31.1Z\\"}","container_name":"/web-1"}',
        '{"date":1795954471.5,"log":"2026-11-29T12:14:31.123456789Z stderr F ERROR boom","kubernetes":{"container_name":"api","pod_name":"api-7c9f-abcde"}}',
    ),
    reference="fluent/fluent-bit-docs pipeline/outputs/stdout.md",
    unconfirmed=True,
)
