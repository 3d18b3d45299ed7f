"""What the records of Fluent Bit and Fluentd say, whichever way they were written."""

from __future__ import annotations

import polars as pl

from forensics.formats.envelopes import first_of, label, told
from forensics.formats.inner import level
from forensics.sources import clock

FIELDS = (
    "log", "message", "MESSAGE", "msg", "stream", "source", "kubernetes", "container_name", "container_id", "service", "app", "level", "severity", "_SYSTEMD_UNIT",
    "SYSLOG_IDENTIFIER", "ident", "_PID", "raw",
)  # fmt: skip
MESSAGES = ("log", "message", "MESSAGE", "msg")


def moment(time: pl.Expr) -> pl.Expr:
    """Return a time in any of the formats that these programs write, in microseconds UTC."""
    # The digits are read as they stand: a double has less than microseconds to spare.
    parts = time.str.extract_groups(r"^(\d{9,10})(?:\.(\d+))?$")
    digits = (
        parts.struct.field("2").fill_null("").str.slice(0, 6).str.pad_end(6, "0").cast(pl.Int64, strict=False)
    )
    exact = parts.struct.field("1").cast(pl.Int64, strict=False) * 1_000_000 + digits
    sql = time.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False).dt.epoch("us")
    return pl.coalesce(exact, clock.epoch_any(time), clock.iso(time), sql)


def said(table: pl.DataFrame) -> pl.DataFrame:
    """Turn the fields of records into what they say; the time is left to the format."""
    kubernetes = pl.col("kubernetes")
    table = told(
        table,
        "kubernetes",
        box=label(kubernetes, ("container_name",)),
        pod=label(kubernetes, ("pod_name",)),
        of=label(kubernetes, ("labels.app", "pod_name")),
    )
    return table.with_columns(
        naive=pl.lit(value=False),
        service=first_of(
            pl.col("box"),
            pl.col("container_name").str.strip_chars_start("/"),
            pl.col("of"),
            pl.col("service"),
            pl.col("app"),
            pl.col("_SYSTEMD_UNIT").str.strip_suffix(".service"),
            pl.col("SYSLOG_IDENTIFIER"),
            pl.col("ident"),
            pl.col("container_id").str.slice(0, 12),
        ),
        pid=first_of(pl.col("pod"), pl.col("_PID")),
        stream=first_of(pl.col("stream"), pl.col("source")),
        level=pl.coalesce(level(pl.col("level")), level(pl.col("severity"))),
        message=first_of(*[pl.col(name) for name in MESSAGES], pl.col("raw")),
    )
