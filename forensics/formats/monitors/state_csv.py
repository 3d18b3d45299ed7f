"""A prober's or a gauge's own CSV: a header, then one result or sample a row; fields found by name.

    ts,status,connections,max
    1795954455,warn,91,100

    data;hora;estado;latencia_ms
    29/11/2026;12:14:31;fora;30000,5

Delimiter, decimal comma, quotes and a byte order mark are read as they come; the order of day and month is decided by the
file. The time is when the check began or the sample was taken, as the program that wrote the file has it.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - part of the plug's signature
from dataclasses import replace
from pathlib import Path  # noqa: TC003 - part of the plug's signature

from forensics.formats.delimited import header, read, table
from forensics.formats.jsonl import TIME, decoded
from forensics.formats.state import kind_of, rows_of, time_columns
from forensics.model.plug import Monitor, Parsed

SURE = 0.8
"""A format that knows its header wins over names that merely fit."""
FOREIGN = frozenset(
    {"pid", "query", "datname", "session_id", "trace_id", "line", "thread", "content", "event_id", "logger", "sqlstate"}
)  # fmt: skip
"""Columns of logs and of database views."""
REASONS = {"monitor_tag": {"error": "type"}}
"""Tables that say why a check failed in a column of another meaning elsewhere, by a column of their own: Kener's monitoring_data."""


def sniff(head: bytes) -> float:
    """Fits where the header names a time and a status or a gauge, and the first rows have a time."""
    names, _ = header(head)
    if len(names) < 2 or FOREIGN & set(names) or not set(TIME) & set(names) or kind_of(names) is None:
        return 0.0
    whole = head if b"\n" not in head else head[: head.rindex(b"\n") + 1]
    rows = table(decoded(whole)).frame.head(50)
    if not rows.height:
        return SURE / 2
    read_ = time_columns(rows)
    share = 1.0 if read_.notes else 1 - read_.frame["ts"].null_count() / rows.height
    return SURE * share


def parse(path: Path, fields: Mapping[str, str]) -> Parsed:
    """Read results or samples."""
    rows = read(path)
    told = next((names for mark, names in REASONS.items() if mark in rows.frame.columns), {})
    return replace(
        rows_of(rows.frame, {**told, **fields}, "probe"),
        in_records=rows.in_records,
        blank=rows.blank,
        unparsed=rows.unparsed,
        first_unparsed=rows.first_unparsed,
    )


PLUG = Monitor(
    name="state_csv",
    title="probe results or saturation samples, CSV",
    marks="as the program has it: start of the check, or when the sample was taken",
    sniff=sniff,
    parse=parse,
    samples=(
        "ts,status,connections,max\n1795954455,warn,91,100",
        "data;hora;estado;latencia_ms\n29/11/2026;12:14:31;fora;30000,5",
        '"checked_at","url","ok","ms"\n"2026-11-29T12:14:31Z","https://shop.example/health","false","12"',
    ),
)
