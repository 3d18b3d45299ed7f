"""``journalctl -o json``: one object an entry, keys in random order.

    {"__REALTIME_TIMESTAMP":"1795956484887544","_SYSTEMD_UNIT":"crm-api.service","MESSAGE":"…", …}

The time is receipt by journald; the sender's own (``_SOURCE_REALTIME_TIMESTAMP``) is what the text outputs print and
is used where present. A MESSAGE with control characters is an array of byte values; one of 4 KiB and more is null
unless the export was made with ``--all``. Reference: systemd docs/JOURNAL_EXPORT_FORMATS.md, src/shared/logs-show.c.
"""

from __future__ import annotations

import io

import polars as pl

from forensics.formats.journald_fields import FIELDS, to_records
from forensics.formats.text import lines_of
from forensics.model.frames import least
from forensics.model.plug import Parsed, Transport

SCHEMA = dict.fromkeys(FIELDS, pl.String)
BYTES = r"^\[\d+(?:, ?\d+)*\]$"


def sniff(head: bytes) -> float:
    """Share of lines that are objects with journald's own fields."""
    lines = [line for line in head.split(b"\n")[:-1] or [head] if line.strip()]
    fits = sum(
        line.startswith(b"{") and (b'"__REALTIME_TIMESTAMP"' in line or b'"__CURSOR"' in line)
        for line in lines
    )
    return fits / len(lines) if lines else 0.0


def parse(data: bytes) -> Parsed:
    """Turn a shard into records; entries without a message are counted and named."""
    raw, table = decode(data)
    blank = int((raw["raw"].str.strip_chars() == "").sum())
    table = bytes_to_text(table)
    nulls = int(table["MESSAGE"].null_count())
    notes = (
        (f"{nulls} entries have no MESSAGE (4 KiB and longer): export again with journalctl --all",)
        if nulls
        else ()
    )
    unparsed = max(0, raw.height - table.height - blank)
    left = (
        raw.join(table.select("line"), on="line", how="anti").filter(pl.col("raw").str.strip_chars() != "")
        if unparsed
        else raw.clear()
    )
    return Parsed(
        records=to_records(table),
        in_records=table.height,
        blank=blank,
        unparsed=unparsed,
        first_unparsed=least(left["line"]),
        notes=notes,
    )


def decode(data: bytes) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return (raw lines, entries with their line); the fast path reads all at once, the slow one skips broken lines."""
    try:
        table = pl.read_ndjson(io.BytesIO(data), schema=SCHEMA)
    except pl.exceptions.ComputeError:
        table = None
    ends = data.count(b"\n") + (not data.endswith(b"\n"))
    if table is not None and table.height == ends:
        return pl.DataFrame({"raw": pl.Series([], dtype=pl.String)}).with_row_index(
            "line"
        ), table.with_row_index("line", offset=1)
    raw = pl.DataFrame({"raw": lines_of(data)}).with_row_index("line", offset=1)
    good = raw.filter(pl.col("raw").str.json_path_match("$").str.starts_with("{").fill_null(value=False))
    fields = [pl.col("raw").str.json_path_match(f"$.{name}").alias(name) for name in SCHEMA]
    return raw, good.select("line", *fields)


def bytes_to_text(table: pl.DataFrame) -> pl.DataFrame:
    """Decode messages that arrived as arrays of byte values."""
    is_bytes = table["MESSAGE"].str.contains(BYTES).fill_null(value=False)
    if not is_bytes.any():
        return table
    arrays = table["MESSAGE"].filter(is_bytes).str.json_decode(pl.List(pl.Int64))
    fits = (arrays.list.min() >= 0) & (arrays.list.max() <= 255)
    coded = arrays.filter(fits).cast(pl.List(pl.UInt8)).cast(pl.Binary)
    texts = pl.Series([value.decode("utf-8", "replace") for value in coded], dtype=pl.String)
    rows = is_bytes.arg_true().filter(fits)
    return table.with_columns(table["MESSAGE"].scatter(rows, texts))


PLUG = Transport(
    name="journald_json",
    title="journalctl -o json",
    marks="the source's own time where it stamped one, else receipt by journald",
    sniff=sniff,
    parse=parse,
    samples=(
        '{"__REALTIME_TIMESTAMP":"1795956484887544","__CURSOR":"s=5b;i=d8;b=8f;m=9a;t=66;x=b1","_SYSTEMD_UNIT":"crm-api.service","_PID":"81","_TRANSPORT":"stdout","PRIORITY":"6","MESSAGE":"INFO:     Started server process [81]"}',
        '{"MESSAGE":[27,91,51,50,109,111,107,27,91,48,109],"__REALTIME_TIMESTAMP":"1795956484887545","__CURSOR":"s=5b;i=d9","CONTAINER_NAME":"gateway","PRIORITY":"6"}',
    ),
    safe_cut=lambda _before, line: line.startswith(b"{"),
)
