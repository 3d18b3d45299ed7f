"""Azure Monitor logs as JSON: ``az monitor log-analytics query``, or the API's tables.

    [{"TimeGenerated": "2026-11-29T12:14:31.123Z", "Computer": "web-1", "SeverityLevel": "err", "SyslogMessage": "boom", "TableName": "PrimaryResult"}]

``TimeGenerated`` is the event's time, UTC. Tables of the API hold ``columns`` and ``rows``. Reference: MicrosoftDocs/azure-docs
azure-monitor/logs/log-standard-columns.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from forensics.formats.azure import FIELDS, rows
from forensics.formats.envelopes import Envelope, json_transport
from forensics.sources import clock


def unfold(value: object) -> list[Any] | None:
    """Return the rows of the API's tables, None for anything else."""
    tables = value.get("tables") if isinstance(value, dict) else None
    if not isinstance(tables, list):
        return None
    found: list[Any] = []
    for table in tables:
        if (
            not isinstance(table, dict)
            or not isinstance(table.get("columns"), list)
            or not isinstance(table.get("rows"), list)
        ):
            continue
        names = [column.get("name") if isinstance(column, dict) else column for column in table["columns"]]
        found += [dict(zip(names, row, strict=False)) for row in table["rows"] if isinstance(row, list)]
    return found


def records(table: pl.DataFrame) -> pl.DataFrame:
    """Turn rows into records."""
    return rows(table, pl.coalesce(clock.iso(pl.col("TimeGenerated")), clock.iso(pl.col("timestamp"))))


PLUG = json_transport(
    "azure_json",
    "Azure Monitor logs, JSON",
    "when the event happened, as its sender says",
    Envelope(
        (*FIELDS, "TimeGenerated", "timestamp"),
        lambda item: "TimeGenerated" in item,
        records,
        unfold=unfold,
        caps={
            30000: "the most that the portal gives: export shorter spans",
            500000: "the most that the API gives: export shorter spans",
        },
    ),
    (
        '[{"TimeGenerated":"2026-11-29T12:14:31.123Z","Computer":"web-1","SeverityLevel":"err","SyslogMessage":"boom","ProcessName":"api","TableName":"PrimaryResult"}]',
        '{"tables":[{"name":"PrimaryResult","columns":[{"name":"TimeGenerated","type":"datetime"},{"name":"LogEntry","type":"string"},{"name":"ContainerName","type":"string"}],"rows":[["2026-11-29T12:14:31.123Z","INFO ok","web"]]}]}',
    ),
    lines=False,
    reference="MicrosoftDocs/azure-docs azure-monitor/logs/log-standard-columns",
    unconfirmed=True,
)
