"""``journalctl -o verbose``: a stamp and the cursor, then every field on a line of its own.

    Thu 2026-12-31 23:58:00.000000 UTC [s=92…;i=1;b=aa…;m=1dcd6500;t=663f6cb0d1200;x=8320078b62ee4015]
        _SYSTEMD_UNIT=api.service
        MESSAGE=ERROR:    Exception in ASGI application
                Traceback (most recent call last):

The zone may be an abbreviation; the cursor's ``t`` is the same instant in microseconds UTC and is what is read. A file
that holds nothing but the marks of journalctl's text outputs (``-- No entries --``) is taken here too.
Reference: systemd src/shared/logs-show.c, output_verbose.
"""

from __future__ import annotations

import re

import polars as pl

from forensics.formats.heads import ANSI
from forensics.formats.journald_fields import ENTRY_MARKS, FIELDS, one_row_a_line, to_records
from forensics.formats.text import MARKS, lines_of
from forensics.model.frames import least
from forensics.model.plug import Parsed, Transport

HEAD = r"^[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? \S+ \[(?P<cursor>s=[0-9a-f]+;i=[0-9a-f]+;b=(?P<boot>[0-9a-f]+);m=(?P<m>[0-9a-f]+);t=(?P<t>[0-9a-f]+);x=[0-9a-f]+)\]$"
FIELD = r"^ {4}(?P<name>[A-Z_][A-Z0-9_]*)=(?P<value>.*)$"
MESSAGE_INDENT = len("    MESSAGE=")
NO_ENTRIES = "it holds no entries: nothing in the journal matched the export's filters"


def sniff(head: bytes) -> float:
    """1 where the first entry looks so, or where there is nothing but marks."""
    lines = [line for line in head[:16384].splitlines() if line.strip()]
    text = [re.sub(ANSI, "", line.decode("utf-8", "replace")) for line in lines]
    entries = [line for line in text if not re.search(MARKS, line)]
    if not entries:
        return float(bool(text))
    return 1.0 if re.search(HEAD, entries[0]) else 0.0


def parse(data: bytes) -> Parsed:
    """Turn a whole file into records; lines that belong to no entry are unparsed."""
    lines = lines_of(data)
    raw = pl.DataFrame({"full": lines.str.replace_all(ANSI, "") if b"\x1b" in data else lines})
    raw = raw.with_row_index("line", offset=1).with_columns(
        head=pl.col("full").str.extract_groups(HEAD),
        field=pl.col("full").str.extract_groups(FIELD),
        mark=pl.col("full").str.contains(MARKS),
        blank=pl.col("full").str.strip_chars() == "",
    )
    raw = raw.unnest("head", "field").with_columns(entry=pl.col("cursor").is_not_null().cum_sum())
    inside = (pl.col("entry") > 0) & (pl.col("cursor").is_not_null() | pl.col("full").str.starts_with("    "))
    unparsed = raw.filter(~inside & ~pl.col("mark") & ~pl.col("blank"))
    blank = raw.filter(~inside & pl.col("blank")).height
    table = entries(raw.filter(inside))
    records = to_records(table)
    seconds = records.select("line").join(
        table.select("line", "second"), on="line", how="left", maintain_order="left"
    )
    notes = () if table.height or unparsed.height or not raw.height else (NO_ENTRIES,)
    return Parsed(
        records=one_row_a_line(records, seconds["second"]),
        in_records=raw.height - unparsed.height - blank,
        blank=blank,
        unparsed=unparsed.height,
        first_unparsed=least(unparsed["line"]),
        notes=notes,
    )


def entries(raw: pl.DataFrame) -> pl.DataFrame:
    """Return one row an entry with :data:`FIELDS`, the line of its stamp, and the second line of its message."""
    heads = raw.filter(pl.col("cursor").is_not_null())
    inner = raw.filter(pl.col("cursor").is_null()).with_columns(
        number=pl.col("name").is_not_null().cum_sum(), owner=pl.col("name").forward_fill()
    )
    inner_line = pl.col("full").str.slice(MESSAGE_INDENT)
    body = pl.when(pl.col("name").is_not_null()).then(pl.col("value")).otherwise(inner_line)
    wanted = inner.filter(
        pl.col("owner").is_in(FIELDS) & (pl.col("name").is_not_null() | (pl.col("owner") == "MESSAGE"))
    )
    values = wanted.group_by("entry", "number", "owner", maintain_order=True).agg(
        body.str.join("\n").alias("value"), second=pl.col("line").first() + 1
    )
    values = values.unique(subset=["entry", "owner"], keep="first", maintain_order=True)
    table = heads.select(
        "entry",
        "line",
        pl.col("t").str.to_integer(base=16, strict=False).cast(pl.String).alias("__REALTIME_TIMESTAMP"),
        pl.col("m").str.to_integer(base=16, strict=False).cast(pl.String).alias("__MONOTONIC_TIMESTAMP"),
        pl.col("cursor").alias("__CURSOR"),
        pl.col("boot").alias("_BOOT_ID"),
    )
    for name in (name for name in FIELDS if name not in table.columns):
        column = values.filter(pl.col("owner") == name).select("entry", pl.col("value").alias(name))
        table = table.join(column, on="entry", how="left", maintain_order="left")
    seconds = values.filter(pl.col("owner") == "MESSAGE").select("entry", "second")
    return table.join(seconds, on="entry", how="left", maintain_order="left")


PLUG = Transport(
    name="journald_verbose",
    title="journalctl -o verbose",
    marks=ENTRY_MARKS,
    sniff=sniff,
    parse=parse,
    samples=(
        "Thu 2026-12-31 23:58:00.000000 UTC [s=92c38a71;i=1;b=aa1;m=1dcd6500;t=663f6cb0d1200;x=8320078b]\n    _SYSTEMD_UNIT=api.service\n    _PID=812\n    MESSAGE=GET /health 200",
        "Fri 2027-01-01 00:58:02.100000 CET [s=92c38a71;i=5;b=aa1;m=1ded7020;t=663f6cb2d1d20;x=8f0ee4af]\n    CONTAINER_NAME=shop-web-1\n    MESSAGE=[94B blob data]",
    ),
)
