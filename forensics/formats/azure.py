"""What a row of Azure Monitor's log tables says, whichever way it was exported."""

from __future__ import annotations

import polars as pl

from forensics.formats.envelopes import first_of
from forensics.formats.inner import level

MESSAGES = (
    "SyslogMessage",
    "LogMessage",
    "LogEntry",
    "Log_s",
    "Message",
    "ResultDescription",
    "RenderedDescription",
    "RawData",
    "OuterMessage",
    "message",
)
SERVICES = (
    "ContainerName",
    "ContainerName_s",
    "ContainerAppName",
    "ContainerAppName_s",
    "AppRoleName",
    "ProcessName",
    "_ResourceId",
    "Computer",
)
LEVELS = ("SeverityLevel", "LogLevel", "Level", "EventLevelName", "Level_s")
FIELDS = (*MESSAGES, *SERVICES, *LEVELS, "ProcessID", "PodName", "LogSource", "Stream_s")
NUMBERS = {"0": "debug", "1": "info", "2": "warning", "3": "error", "4": "critical"}
"""Severities of Application Insights' traces."""


def rows(table: pl.DataFrame, time: pl.Expr) -> pl.DataFrame:
    """Turn rows with some of :data:`FIELDS` into records; ``time`` is in microseconds UTC."""
    table = table.with_columns(
        pl.lit(None, pl.String).alias(name) for name in FIELDS if name not in table.columns
    )
    named = [pl.col(name) for name in SERVICES]
    said = [
        pl.coalesce(
            level(pl.col(name)), pl.col(name).replace_strict(NUMBERS, default=None, return_dtype=pl.String)
        )
        for name in LEVELS
    ]
    return table.select(
        "line",
        ts=time,
        naive=pl.lit(value=False),
        service=first_of(*named).str.extract(r"([^/]+)$"),
        pid=first_of(pl.col("PodName"), pl.col("ProcessID")),
        stream=first_of(pl.col("LogSource"), pl.col("Stream_s")),
        level=pl.coalesce(said),
        message=first_of(*[pl.col(name) for name in MESSAGES]),
    )
