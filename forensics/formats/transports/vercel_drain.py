"""Vercel log drains: objects, one a line or in an array.

    {"id":"1573…","deploymentId":"dpl_x","source":"lambda","host":"x.vercel.app","timestamp":1795954471123,"level":"error","message":"boom","statusCode":500}

``timestamp`` (ms) is when the line was written. A request without a message is shown as method, path and status as ``proxy`` states
them; status -1 means that the function crashed without an answer. Reference: vercel.com/docs/drains/reference/logs.
"""

from __future__ import annotations

import polars as pl

from forensics.formats.envelopes import Envelope, at, first_of, json_transport
from forensics.formats.inner import level
from forensics.sources import clock

FIELDS = (
    "id",
    "deploymentId",
    "source",
    "host",
    "timestamp",
    "level",
    "message",
    "statusCode",
    "proxy",
    "projectName",
    "path",
    "type",
)
CRASHED = "-1"


def records(table: pl.DataFrame) -> pl.DataFrame:
    """Turn entries into records."""
    proxy = pl.col("proxy")
    status = pl.coalesce("statusCode", at(proxy, "statusCode"))
    asked = pl.concat_str(
        [at(proxy, "method"), pl.coalesce(at(proxy, "path"), "path"), status],
        separator=" ",
        ignore_nulls=True,
    )
    return table.select(
        "line",
        ts=pl.coalesce(clock.epoch_any(pl.col("timestamp")), clock.iso(pl.col("timestamp"))),
        naive=pl.lit(value=False),
        service=first_of(pl.col("projectName"), pl.col("host")),
        stream="source",
        level=pl.coalesce(pl.when(status == CRASHED).then(pl.lit("error")), level(pl.col("level"))),
        cursor="id",
        message=first_of(pl.col("message"), asked),
    )


PLUG = json_transport(
    "vercel_drain",
    "Vercel log drain",
    "when the line was written",
    Envelope(
        FIELDS, lambda item: "deploymentId" in item and "timestamp" in item and "source" in item, records
    ),
    (
        '{"id":"1573817187330377061717300000","deploymentId":"dpl_x","source":"lambda","host":"x.vercel.app","timestamp":1795954471123,"projectId":"p","level":"error","message":"boom","statusCode":500,"proxy":{"timestamp":1795954471000,"method":"GET","path":"/api","statusCode":500}}',
    ),
    reference="vercel.com/docs/drains/reference/logs",
)
