"""Elasticsearch and OpenSearch: the answer of ``_search``, a dump of its hits one a line.

    {"hits":{"total":{"value":1},"hits":[{"_index":"logs","_id":"a","_source":{"@timestamp":"2026-11-29T12:14:31.123Z","message":"boom"}}]}}

``@timestamp`` is the event's time, UTC, as whoever indexed it says; ``event.ingested`` is not used. An answer holds 10 hits
unless it was asked for more, and 10,000 at most. Reference: elastic/ecs, elastic/elasticsearch docs search-your-data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.formats.envelopes import Envelope, anything, first_of, json_transport, label
from forensics.formats.inner import level
from forensics.sources import clock

if TYPE_CHECKING:
    from collections.abc import Iterator

FIELDS = ("_id", "_source", "_matched", "fields")
NAMES = (
    "service.name", "kubernetes.container.name", "kubernetes.container_name", "container.name", "docker.container.name", "kubernetes.labels.app", "app", "service", "container_name",
    "systemd.unit", "process.name", "application", "appname", "program",
)  # fmt: skip
MESSAGE = ("message", "log", "msg", "event.original", "body", "MESSAGE")
TIME = ("@timestamp", "timestamp", "time", "date")


def claims(item: dict[str, Any]) -> bool:
    """Hold for hits."""
    return isinstance(item.get("_source"), dict) and "_id" in item


def unfold(value: object) -> list[dict[str, Any]] | None:
    """Return the hits of an answer, None for anything else."""
    if not isinstance(value, dict):
        return None
    inner = value.get("rawResponse") if isinstance(value.get("rawResponse"), dict) else value
    hits = inner.get("hits") if isinstance(inner, dict) else None
    if isinstance(hits, dict) and isinstance(hits.get("hits"), list):
        total = hits.get("total")
        matched = total.get("value") if isinstance(total, dict) else total
        return [{**hit, "_matched": matched} for hit in hits["hits"] if isinstance(hit, dict)]
    return None


def records(table: pl.DataFrame) -> pl.DataFrame:
    """Turn hits into records."""
    source = pl.col("_source")
    time = label(source, TIME)
    return table.select(
        "line",
        ts=pl.coalesce(clock.iso(time), clock.epoch_any(time)),
        naive=pl.lit(value=False),
        service=label(source, NAMES).str.strip_chars_start("/").str.strip_suffix(".service"),
        pid=label(source, ("kubernetes.pod.name", "kubernetes.pod_name", "process.pid")),
        stream=label(source, ("stream",)),
        level=level(
            label(source, ("log.level", "level", "severity", "loglevel", "log.syslog.severity.name"))
        ),
        cursor="_id",
        message=first_of(anything(source, MESSAGE), source),
    )


def notes(table: pl.DataFrame) -> Iterator[str]:
    """Say where the query matched more than the file holds."""
    matched = table["_matched"].cast(pl.Int64, strict=False).max()
    if isinstance(matched, int) and matched > table.height:
        yield f"the query matched {matched:,} documents or more, of which the file holds {table.height:,}: page through the rest (search_after) or export shorter spans"


PLUG = json_transport(
    "elastic_hits",
    "Elasticsearch or OpenSearch hits, JSON",
    "when the event happened, as its sender says",
    Envelope(
        FIELDS,
        claims,
        records,
        unfold=unfold,
        notes=notes,
        caps={
            10: "the default size of an answer: ask with a size, or check that there is no more",
            500: "Kibana's default sample size: raise it, or check that there is no more",
            10000: "the most that one answer holds: page through the rest (search_after) or export shorter spans",
        },
    ),
    (
        '{"_index":"logs-2026.11.29","_id":"a","_source":{"@timestamp":"2026-11-29T12:14:31.123Z","message":"boom","log":{"level":"error"},"service":{"name":"api"}}}',
        '{"took":5,"timed_out":false,"hits":{"total":{"value":1,"relation":"eq"},"hits":[{"_index":"logs","_id":"b","_source":{"@timestamp":1795954471123,"log":"INFO ok","kubernetes":{"container_name":"web"}}}]}}',
    ),
    reference="elastic/elasticsearch docs/reference/search",
)
