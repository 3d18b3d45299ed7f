"""Loki's HTTP API: the answer of ``/loki/api/v1/query_range`` (and a push body), grouped by stream.

    {"status":"success","data":{"resultType":"streams","result":[{"stream":{"app":"api"},"values":[["1795954471123456789","INFO ok"]]}]}}

The time is the entry's in nanoseconds, as whoever sent it stamped it. Lines stand stream by stream, newest first. A third
member of a value is structured metadata. Reference: grafana/loki docs/sources/reference/loki-http-api.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.formats.envelopes import Envelope, json_transport, labelled, text_of
from forensics.formats.inner import CUT_TO_MICROSECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator


def streams(value: object) -> list[Any] | None:
    """Return the streams of an answer, of a push body or of a file that holds the bare result."""
    if not isinstance(value, dict):
        return None
    data = value.get("data")
    if (
        isinstance(data, dict)
        and data.get("resultType") == "streams"
        and isinstance(data.get("result"), list)
    ):
        return list(data["result"])
    if value.get("resultType") == "streams" and isinstance(value.get("result"), list):
        return list(value["result"])
    if isinstance(value.get("streams"), list):
        return list(value["streams"])
    return (
        [value] if isinstance(value.get("stream"), dict) and isinstance(value.get("values"), list) else None
    )


def unfold(value: object) -> list[dict[str, Any]] | None:
    """Return the entries of an answer, None for anything else."""
    found = streams(value)
    return None if found is None else [entry for one in found for entry in entries(one)]


def entries(one: object) -> Iterator[dict[str, Any]]:
    """Yield the entries of one stream."""
    if not isinstance(one, dict) or not isinstance(one.get("values"), list):
        return
    labels = one.get("stream") if isinstance(one.get("stream"), dict) else {}
    for pair in one["values"]:
        if isinstance(pair, list) and len(pair) >= 2:
            extra = pair[2] if len(pair) > 2 and isinstance(pair[2], dict) else {}
            yield {"ns": pair[0], "text": text_of(pair[1]), "labels": {**(labels or {}), **extra}}


def records(table: pl.DataFrame) -> pl.DataFrame:
    """Turn entries into records."""
    ts = pl.col("ns").cast(pl.Int64, strict=False) // CUT_TO_MICROSECONDS
    return labelled(table, "labels", ts=ts, message="text")


PLUG = json_transport(
    "loki_api",
    "Loki, answer of query_range",
    "what the sender stamped (Loki's entry time)",
    Envelope(
        ("ns", "text", "labels"),
        lambda item: "ns" in item and "text" in item,
        records,
        unfold=unfold,
        caps={
            100: "the API's default limit: ask with limit= and direction=forward, or check that there is no more",
            1000: "Grafana's default limit: raise it, or export shorter spans one after another",
            5000: "Loki's default limit of a query: export shorter spans one after another",
        },
    ),
    (
        '{"status":"success","data":{"resultType":"streams","result":[{"stream":{"app":"api"},"values":[["1795954471123456789","INFO ok"]]}],"stats":{}}}',
        '{"streams":[{"stream":{"container":"worker"},"values":[["1795954470000000000","ERROR boom"]]}]}',
    ),
    lines=False,
    reference="grafana/loki docs/sources/reference/loki-http-api.md",
    unconfirmed=True,
)
