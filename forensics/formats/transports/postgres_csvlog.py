"""PostgreSQL ``log_destination = 'csvlog'``: rows without a header, whose quoted fields may hold line ends.

    2026-11-29 13:20:39.493 UTC,"postgres","postgres",21337,"[local]",6b0c1897.5359,3,"SELECT",2026-11-29 13:20:39 UTC,3/4,0,ERROR,42P01,"relation ""nope"" does not exist",,,,,,"select * from nope",15,,"psql","client backend",,0

log_time, user, database, process, client, session, line of the session, command tag, session start, virtual and real transaction, severity,
SQLSTATE, message, detail, hint, internal query and position, context, statement and position, location, application (23 columns); backend
type since 13, leader and query id since 14. A row begins with a time, a session (two hexadecimal numbers) and a line number; what lies between
two such lines belongs to the row above, so that a file that begins or ends inside a row loses that row alone. Reference:
postgres/postgres src/backend/utils/error/csvlog.c, doc/src/sgml/config.sgml.
"""

from __future__ import annotations

import io
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

COLUMNS = [
    "timestamp",
    "user",
    "dbname",
    "pid",
    "remote_host",
    "session",
    "line_num",
    "ps",
    "session_start",
    "vxid",
    "txid",
    "severity",
    "state",
    "message",
    "detail",
    "hint",
    "internal_query",
    "internal_position",
    "context",
    "statement",
    "cursor_position",
    "location",
    "application",
    "backend_type",
    "leader",
    "query_id",
]
QUOTED = r'(?:"(?:[^"]|"")*")?'
START = rf"^\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{{3}} [^\s,]{{1,6}},{QUOTED},{QUOTED},\d+,{QUOTED},[0-9a-f]+\.[0-9a-f]+,\d+,"
"""How a row begins: a message that quotes a row of such a log is not likely to have a session and a line number too."""
STARTS = re.compile(START.encode())


def sniff(head: bytes) -> float:
    """Tell a head by its rows; lines inside a quoted field don't count against it."""
    lines = [line for line in head.split(b"\n")[:-1] or [head] if line.strip()]
    first = next((at for at, line in enumerate(lines) if STARTS.match(line)), None)
    if first is None:
        return 0.0
    return 1.0 if first == 0 else 1 - first / len(lines)


def parse(data: bytes) -> Parsed:
    """Turn a shard into records; lines before the first row, or between rows, are unparsed."""
    raw = pl.DataFrame({"raw": lines_of(data).str.strip_suffix("\r")}).with_row_index("line", offset=1)
    raw = raw.with_columns(start=pl.col("raw").str.contains(START))
    raw = raw.with_columns(closed=closed(pl.col("start").cum_sum()))
    another = pl.col("closed") & pl.col("raw").str.contains(r"^\d")
    raw = raw.with_columns(row=(pl.col("start") | another).cum_sum())
    outside = (pl.col("row") == 0) | (pl.col("closed") & ~pl.col("start") & ~another)
    before = raw.filter(outside)
    blank = before.filter(pl.col("raw").str.strip_chars() == "")
    lost = before.join(blank.select("line"), on="line", how="anti")
    rows = (
        raw.join(before.select("line"), on="line", how="anti")
        .group_by("row", maintain_order=True)
        .agg(pl.col("line").first(), pl.col("raw").str.join("\n"))
        .with_columns(pl.col("raw").str.strip_chars_end("\n"))
    )
    records = postgres_records.records(fields(rows)) if rows.height else postgres_records.records(nothing())
    return Parsed(
        records=records,
        in_records=raw.height - before.height,
        blank=blank.height,
        unparsed=lost.height,
        notes=clock.doubtful(rows["raw"].str.extract(r"^\S+ \S+ ([A-Z]{3,5}),")),
        first_unparsed=least(lost["line"]),
    )


def closed(row: pl.Expr) -> pl.Expr:
    """Hold for a line before which all quotes of its row are closed: it begins another, or belongs to none."""
    quotes = pl.col("raw").str.count_matches('"', literal=True)
    before = quotes.cum_sum().over(row) - quotes
    return (row > 0) & (before % 2 == 0) & ~pl.col("start")


def nothing() -> pl.DataFrame:
    """Return a table without rows."""
    return pl.DataFrame(schema={"line": pl.UInt32, **dict.fromkeys(COLUMNS, pl.String)})


def fields(rows: pl.DataFrame) -> pl.DataFrame:
    """Split rows into their fields; a quoted field that was cut off is closed."""
    odd = pl.col("raw").str.count_matches('"', literal=True) % 2 == 1
    closed = rows.select(pl.when(odd).then(pl.concat_str("raw", pl.lit('"'))).otherwise(pl.col("raw")))["raw"]
    whole = pl.col("severity").is_not_null()
    return (
        rows.select("line", "raw")
        .hstack(split(closed))
        .with_columns(
            message=pl.when(whole).then("message").otherwise("raw"),
            remote_host=pl.col("remote_host").str.replace(r":\d+$", ""),
        )
    )


def split(texts: pl.Series) -> pl.DataFrame:
    """Read rows as CSV: a version with fewer columns leaves the last ones empty, what is beyond those known is left out.

    One row that is no CSV (quotes lost in transit) must not cost the others: it is looked for by halves.
    """
    data = "\n".join([",".join(COLUMNS), *texts, ""]).encode()
    try:
        table = pl.read_csv(io.BytesIO(data), infer_schema=False, truncate_ragged_lines=True)
        if table.height == len(texts):
            return table
    except pl.exceptions.PolarsError:
        pass
    if len(texts) > 1:
        half = len(texts) // 2
        return pl.concat([split(texts[:half]), split(texts[half:])])
    kept = {"timestamp": str(texts[0]).split(",", 1)[0]}
    return pl.DataFrame(
        {name: [kept.get(name)] for name in COLUMNS}, schema=dict.fromkeys(COLUMNS, pl.String)
    )


def safe_cut(_before: Sequence[bytes], line: bytes) -> bool:
    """A shard may begin where a row does."""
    return bool(STARTS.match(line))


PLUG = Transport(
    name="postgres_csvlog",
    title="PostgreSQL csvlog",
    marks="when the line was written",
    sniff=sniff,
    parse=parse,
    samples=(
        '2026-11-29 13:20:39.493 UTC,"postgres","postgres",21337,"[local]",6b0c1897.5359,3,"SELECT",2026-11-29 13:20:39 UTC,3/4,0,ERROR,42P01,"relation ""nope"" does not exist",,,,,,"select * from nope",15,,"psql","client backend",,0',
        '2026-11-29 13:20:39.274 UTC,,,21326,,6b0c1897.534e,1,,2026-11-29 13:20:39 UTC,,0,LOG,00000,"starting PostgreSQL 12.3",,,,,,,,,""',
    ),
    safe_cut=safe_cut,
    escaped=True,
    reference="postgres/postgres src/backend/utils/error/csvlog.c",
)
