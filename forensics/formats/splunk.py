"""What a row of Splunk's results says, whichever way it was exported."""

from __future__ import annotations

import polars as pl

from forensics.formats.envelopes import first_of
from forensics.formats.inner import finished, level
from forensics.model.schema import RECORDS, conform
from forensics.sources import clock

FIELDS = (
    "_time",
    "_raw",
    "service",
    "app",
    "container_name",
    "kubernetes_container_name",
    "source",
    "log_level",
    "level",
    "severity",
)
CAPS = {
    1000: "a usual limit of an export: raise it, or check that there is no more",
    10000: "a usual limit of an export: raise it, or export shorter spans one after another",
    50000: "the default limit of Splunk's results: export shorter spans one after another",
}


def rows(table: pl.DataFrame) -> pl.DataFrame:
    """Turn rows into records; the source's file names the service where nothing else does."""
    time = pl.col("_time")
    wall = time.str.extract(r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?)(?: [A-Z]{2,5})?$")
    local = wall.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False).dt.epoch("us")
    stated = pl.coalesce(clock.iso(time), clock.epoch_any(time))
    utc = time.str.contains(r" (?:UTC|GMT)$").fill_null(value=False)
    records = table.select(
        "line",
        ts=pl.coalesce(stated, local),
        naive=stated.is_null() & local.is_not_null() & ~utc,
        service=first_of(
            *[pl.col(name) for name in ("container_name", "kubernetes_container_name", "service", "app")]
        ),
        level=pl.coalesce([level(pl.col(name)) for name in ("log_level", "level", "severity")]),
        message="_raw",
        file=pl.col("source").str.extract(r"([^/\\:]+?)(?:\.log)?$"),
    )
    files = records.select("line", "file").unique("line", keep="first")
    done = finished(conform(records, RECORDS)).join(files, on="line", how="left", maintain_order="left")
    return done.with_columns(service=pl.coalesce("service", "file")).select(list(RECORDS))
