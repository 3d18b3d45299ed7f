r"""PostgreSQL ``log_destination = 'jsonlog'`` (15 and later): one object a line.

    {"timestamp":"2026-11-29 13:20:39.493 UTC","pid":21337,"error_severity":"ERROR","message":"relation \"nope\" does not exist", …}

The time is when the line was written, with the abbreviation of log_timezone: one that stands for several offsets leaves it local. Fields that are empty are
left out. Reference: postgres/postgres src/backend/utils/error/jsonlog.c.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from forensics.formats import postgres_records
from forensics.formats.text import lines_of
from forensics.model.frames import least
from forensics.model.plug import Parsed, Transport
from forensics.sources import clock

if TYPE_CHECKING:
    from collections.abc import Sequence

START = re.compile(rb'^\{"timestamp":"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} [^"]{1,6}",')
PATHS = {
    "timestamp": "timestamp",
    "severity": "error_severity",
    "message": "message",
    "pid": "pid",
    **{name: name for name in postgres_records.FURTHER},
    "user": "user",
    "dbname": "dbname",
    "application": "application_name",
    "remote_host": "remote_host",
}


def sniff(head: bytes) -> float:
    """Share of lines that begin like the server's objects."""
    lines = [line for line in head.split(b"\n")[:-1] or [head] if line.strip()]
    fits = sum(bool(START.match(line)) and b'"error_severity":"' in line for line in lines)
    return fits / len(lines) if lines else 0.0


def parse(data: bytes) -> Parsed:
    """Turn a shard into records; a line that is no object is unparsed."""
    raw = pl.DataFrame({"raw": lines_of(data)}).with_row_index("line", offset=1)
    blank = raw.filter(pl.col("raw").str.strip_chars() == "").height
    fields = [pl.col("raw").str.json_path_match(f"$.{path}").alias(name) for name, path in PATHS.items()]
    table = raw.select("line", *fields).filter(
        pl.col("timestamp").is_not_null() & pl.col("severity").is_not_null()
    )
    left = raw.join(table.select("line"), on="line", how="anti").filter(pl.col("raw").str.strip_chars() != "")
    return Parsed(
        records=postgres_records.records(table),
        in_records=table.height,
        blank=blank,
        unparsed=left.height,
        notes=clock.doubtful(table["timestamp"].str.extract(r" ([A-Z]{3,5})$")),
        first_unparsed=least(left["line"]),
    )


def safe_cut(_before: Sequence[bytes], line: bytes) -> bool:
    """Every object is a line."""
    return bool(START.match(line))


PLUG = Transport(
    name="postgres_jsonlog",
    title="PostgreSQL jsonlog",
    marks="when the line was written",
    sniff=sniff,
    parse=parse,
    samples=(
        '{"timestamp":"2026-11-29 13:20:39.493 UTC","user":"postgres","dbname":"postgres","pid":21337,"remote_host":"[local]","session_id":"6b0c1897.5359","line_num":3,"ps":"SELECT","session_start":"2026-11-29 13:20:39 UTC","vxid":"3/4","txid":0,"error_severity":"ERROR","state_code":"42P01","message":"relation \\"nope\\" does not exist","statement":"select * from nope","cursor_position":15,"application_name":"psql","backend_type":"client backend","query_id":0}',
        '{"timestamp":"2026-11-29 13:20:39.274 UTC","pid":21326,"session_id":"6b0c1897.534e","line_num":1,"session_start":"2026-11-29 13:20:39 UTC","txid":0,"error_severity":"LOG","message":"starting PostgreSQL 15.18","backend_type":"postmaster","query_id":0}',
    ),
    safe_cut=safe_cut,
    escaped=True,
    reference="postgres/postgres src/backend/utils/error/jsonlog.c",
)
