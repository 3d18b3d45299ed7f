"""``vercel logs --json``: objects, one a line.

    {"level":"error","message":"boom","rowId":"1795954471123","source":"edge-function","timestampInMs":1795954471123,"requestPath":"/api","responseStatusCode":-1}

The time is when the line was written. Status -1 means that the function crashed without an answer, 0 that there is none yet.
Reference: vercel/vercel packages/cli/src/util/logs.ts.
"""

from __future__ import annotations

import polars as pl

from forensics.formats.envelopes import Envelope, first_of, json_transport
from forensics.formats.inner import level
from forensics.sources import clock

FIELDS = (
    "level",
    "message",
    "rowId",
    "source",
    "timestampInMs",
    "requestMethod",
    "requestPath",
    "domain",
    "responseStatusCode",
    "messageTruncated",
)


def records(table: pl.DataFrame) -> pl.DataFrame:
    """Turn entries into records."""
    status = pl.col("responseStatusCode")
    asked = pl.concat_str(
        ["requestMethod", "requestPath", "responseStatusCode"], separator=" ", ignore_nulls=True
    )
    return table.select(
        "line",
        ts=clock.epoch_any(pl.col("timestampInMs")),
        naive=pl.lit(value=False),
        service="domain",
        stream="source",
        level=pl.coalesce(pl.when(status == "-1").then(pl.lit("error")), level(pl.col("level"))),
        message=first_of(pl.col("message"), asked),
    )


def notes(table: pl.DataFrame) -> list[str]:
    """Say how many messages the platform cut."""
    cut = int((table["messageTruncated"] == "true").sum())
    return [f"{cut} messages were cut by the platform: a log drain gives them whole"] if cut else []


PLUG = json_transport(
    "vercel_cli",
    "vercel logs --json",
    "when the line was written",
    Envelope(FIELDS, lambda item: "timestampInMs" in item and "source" in item, records, notes=notes),
    (
        '{"level":"error","message":"boom","messageTruncated":false,"rowId":"1795954471123","source":"edge-function","timestampInMs":1795954471123,"requestMethod":"GET","requestPath":"/api/noise","domain":"x.vercel.app","responseStatusCode":-1}',
    ),
    reference="vercel/vercel packages/cli/src/util/logs.ts",
)
