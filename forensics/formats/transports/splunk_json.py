"""Splunk's search results as JSON: one object a line, an array, or the API's ``results``.

    {"preview":false,"offset":0,"result":{"_raw":"Nov 29 12:14:31 web-1 api[1]: boom","_time":"2026-11-29T13:14:31.000+01:00","host":"web-1"}}

``_time`` is the event's time, as Splunk read it from the line or took it from the receiver; it is written in the zone of
the user with its offset. Rows with ``preview`` are not final and left out. Newest first. ``_raw`` is the whole event, often a syslog line again.
Reference: Splunk Search manual, export search results; REST API search/jobs/export.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from forensics.formats.envelopes import Envelope, json_transport
from forensics.formats.splunk import CAPS, FIELDS, rows


def claims(item: dict[str, Any]) -> bool:
    """Hold for rows with their event."""
    row = item.get("result", item)
    return isinstance(row, dict) and "_raw" in row and "_time" in row


def unfold(value: object) -> list[Any] | None:
    """Return the rows of the API's answer, None for anything else."""
    found = value.get("results") if isinstance(value, dict) else None
    if (
        not isinstance(found, list)
        or not found
        or not all(isinstance(row, dict) and "_time" in row for row in found)
    ):
        return None
    return (
        [{"preview": value.get("preview"), "result": row} for row in found]
        if isinstance(value, dict)
        else None
    )


def records(table: pl.DataFrame) -> pl.DataFrame:
    """Turn rows into records; a row that is not final is none."""
    row = pl.coalesce("result", "raw")
    fields = [row.str.json_path_match(f"$['{name}']").alias(name) for name in FIELDS]
    final = (pl.col("preview") != "true").fill_null(value=True)
    return rows(table.filter(final).select("line", *fields))


def notes(table: pl.DataFrame) -> list[str]:
    """Say how many rows were not final."""
    early = int((table["preview"] == "true").sum())
    return [f"{early} rows are previews and left out: export again when the search is done"] if early else []


PLUG = json_transport(
    "splunk_json",
    "Splunk search results, JSON",
    "the event's time as Splunk read it",
    Envelope(("preview", "result", "raw"), claims, records, unfold=unfold, notes=notes, caps=CAPS),
    (
        '{"preview":false,"offset":0,"result":{"_raw":"Nov 29 12:14:31 web-1 api[1]: boom","_time":"2026-11-29T13:14:31.000+01:00","host":"web-1","source":"/var/log/syslog","sourcetype":"syslog","index":"main"}}',
        '{"preview":false,"offset":1,"lastrow":true,"result":{"_raw":"x","_time":"2026-11-29T13:14:30.000+01:00","host":"web-1"}}',
    ),
    reference="Splunk REST API, search/jobs/export",
    unconfirmed=True,
)
