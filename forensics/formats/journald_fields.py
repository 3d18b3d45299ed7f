"""What the fields of a journal entry mean, whichever way the entry was exported.

Reference: systemd.journal-fields(7); for the unit, ``add_matches_for_unit`` in systemd src/shared/logs-show.c.
"""

from __future__ import annotations

import polars as pl

from forensics.formats.text import ANSI
from forensics.model.schema import RECORDS, conform

FIELDS = (
    "__REALTIME_TIMESTAMP", "_SOURCE_REALTIME_TIMESTAMP", "__CURSOR", "_BOOT_ID", "PRIORITY", "_PID", "_COMM", "SYSLOG_IDENTIFIER", "CONTAINER_NAME",
    "UNIT", "USER_UNIT", "OBJECT_SYSTEMD_UNIT", "COREDUMP_UNIT", "_SYSTEMD_USER_UNIT", "_SYSTEMD_UNIT", "_TRANSPORT", "MESSAGE",
)  # fmt: skip
"""The fields that are read; all others are skipped."""
PRIORITIES = {
    "0": "critical",
    "1": "critical",
    "2": "critical",
    "3": "error",
    "4": "warning",
    "5": "info",
    "6": None,
    "7": "debug",
}
"""PRIORITY to level; 6 says nothing, since everything a service prints arrives as 6."""


def service() -> pl.Expr:
    """Return the unit that an entry is about, most specific field first."""
    by_manager = (pl.col("_PID") == "1") | (pl.col("_COMM") == "systemd")
    about = pl.when(by_manager).then(pl.coalesce("UNIT", "USER_UNIT"))
    kernel = pl.when(pl.col("_TRANSPORT") == "kernel").then(pl.lit("kernel"))
    named = pl.coalesce(
        "CONTAINER_NAME",
        about,
        "COREDUMP_UNIT",
        "OBJECT_SYSTEMD_UNIT",
        kernel,
        "_SYSTEMD_USER_UNIT",
        "_SYSTEMD_UNIT",
        "SYSLOG_IDENTIFIER",
        "_COMM",
    )
    return named.str.strip_suffix(".service")


def to_records(table: pl.DataFrame) -> pl.DataFrame:
    """Turn a frame of :data:`FIELDS` (strings) and ``line`` into records."""
    own, receipt = (
        pl.col(name).cast(pl.Int64, strict=False)
        for name in ("_SOURCE_REALTIME_TIMESTAMP", "__REALTIME_TIMESTAMP")
    )
    records = table.with_columns(
        ts=pl.coalesce(own, receipt),
        naive=pl.lit(value=False),
        service=service(),
        pid=pl.col("_PID"),
        stream=pl.col("_TRANSPORT"),
        level=pl.col("PRIORITY").replace_strict(PRIORITIES, default=None, return_dtype=pl.String),
        message=pl.col("MESSAGE").str.replace_all(ANSI, "").str.strip_suffix("\n"),
        cursor=pl.col("__CURSOR"),
        boot=pl.col("_BOOT_ID"),
    )
    return conform(records, RECORDS)
