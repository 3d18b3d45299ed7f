"""What the fields of a journal entry mean, whichever way the entry was exported, and how its JSON is read.

Reference: systemd.journal-fields(7); for the unit, ``add_matches_for_unit`` in systemd src/shared/logs-show.c.
"""

from __future__ import annotations

import io
import json
import re
from typing import TYPE_CHECKING

import polars as pl

from forensics.formats.heads import ANSI
from forensics.formats.order import join_chunks
from forensics.formats.text import MARKS, lines_of
from forensics.model.frames import least
from forensics.model.plug import Parsed
from forensics.model.schema import RECORDS, conform

if TYPE_CHECKING:
    from collections.abc import Sequence

ENTRY_MARKS = "the source's own time where it stamped one, else receipt by journald"
"""What the time of an entry marks."""
FIELDS = (
    "__REALTIME_TIMESTAMP", "__MONOTONIC_TIMESTAMP", "_SOURCE_REALTIME_TIMESTAMP", "__CURSOR", "__SEQNUM", "__SEQNUM_ID", "_BOOT_ID", "PRIORITY", "_PID",
    "_COMM", "SYSLOG_IDENTIFIER", "CONTAINER_NAME", "CONTAINER_PARTIAL_MESSAGE", "CONTAINER_PARTIAL_ID", "UNIT", "USER_UNIT", "OBJECT_SYSTEMD_UNIT", "COREDUMP_UNIT",
    "_SYSTEMD_USER_UNIT", "_SYSTEMD_UNIT", "_TRANSPORT", "_STREAM_ID", "_LINE_BREAK", "EXCEPTION_TEXT", "MESSAGE",
)  # fmt: skip
"""The fields that are read; all others are skipped."""
SCHEMA = dict.fromkeys(FIELDS, pl.String)
BYTES = r"^\[\d+(?:, ?\d+)*\]$"
ARRAY = r'(?:^|[^\\])"MESSAGE"\s*:\s*\['
"""The message is an array in the object itself, not a text that looks like one."""
SEVERAL = r"^\[(?:\"|\[|null)"
"""What polars makes of a field that an entry holds several times; a string may look the same."""
CURSOR_NUMBER = len("s=;i=") + 32
"""Where the sequence number begins in a cursor."""
COLOURED = re.compile(ANSI.encode())
TIMED = (b'"__REALTIME_TIMESTAMP"', b'"__CURSOR"')
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
    table = rejoined(table)
    own, receipt = (
        pl.col(name).cast(pl.Int64, strict=False)
        for name in ("_SOURCE_REALTIME_TIMESTAMP", "__REALTIME_TIMESTAMP")
    )
    number = pl.col("__SEQNUM").cast(pl.Int64, strict=False)
    numbering = pl.col("__SEQNUM_ID")
    if table["__SEQNUM"].null_count():
        number, numbering = pl.coalesce(number, in_cursor()), pl.coalesce(numbering, numbering_in_cursor())
    records = table.with_columns(
        ts=pl.coalesce(own, receipt),
        receipt_us=receipt,
        mono_us=pl.col("__MONOTONIC_TIMESTAMP").cast(pl.Int64, strict=False),
        seq=number,
        seq_id=numbering,
        ident=pl.coalesce("SYSLOG_IDENTIFIER", "_COMM"),
        naive=pl.lit(value=False),
        service=service(),
        # What journald or the dump handler says of a unit is printed by their process, not by one of the unit's.
        pid=pl.when(pl.coalesce("COREDUMP_UNIT", "OBJECT_SYSTEMD_UNIT").is_null()).then("_PID"),
        stream=pl.col("_TRANSPORT"),
        level=pl.col("PRIORITY").replace_strict(PRIORITIES, default=None, return_dtype=pl.String),
        message=with_exception(table).str.replace_all(ANSI, "").str.strip_suffix("\n"),
        cursor=pl.col("__CURSOR"),
        boot=pl.col("_BOOT_ID"),
    )
    return conform(records, RECORDS)


def with_exception(table: pl.DataFrame) -> pl.Expr:
    """Return the message, and below it the traceback that Python's journal handler sends as a field of its own.

    Reference: systemd/python-systemd src/systemd/journal.py (JournalHandler.emit).
    """
    message, traceback = pl.col("MESSAGE"), pl.col("EXCEPTION_TEXT")
    if table["EXCEPTION_TEXT"].null_count() == table.height:
        return message
    apart = traceback.is_not_null() & ~message.str.contains("Traceback (most", literal=True).fill_null(
        value=False
    )
    both = pl.concat_str(message, traceback, separator="\n", ignore_nulls=True)
    return pl.when(apart).then(both).otherwise(message)


def in_cursor() -> pl.Expr:
    """Return the sequence number that a cursor states: ``s=`` and 32 digits, ``;i=`` and the number in hexadecimal."""
    digits = pl.col("__CURSOR").str.slice(CURSOR_NUMBER, 16).str.extract("^([0-9a-f]+)")
    return digits.str.to_integer(base=16, strict=False)


def numbering_in_cursor() -> pl.Expr:
    """Return the id of the numbering that a cursor states."""
    whole = pl.col("__CURSOR").str.slice(CURSOR_NUMBER - 3, 3) == ";i="
    return pl.when(whole).then(pl.col("__CURSOR").str.slice(2, 32))


def rejoined(table: pl.DataFrame) -> pl.DataFrame:
    """Join the parts of a line that was split, the first part names the record.

    journald splits at 48 KiB, per stream and process; a container engine at 16 KiB, per container and its stream, which
    is told by the priority (moby/moby daemon/logger/journald/journald.go). The last part has no mark; newer engines give
    all parts of a line one id.
    """
    split = (pl.col("_LINE_BREAK") == "line-max") | (pl.col("CONTAINER_PARTIAL_MESSAGE") == "true")
    of_container = pl.col("CONTAINER_NAME").is_not_null()
    whose = pl.when(of_container).then(pl.coalesce("CONTAINER_PARTIAL_ID", "CONTAINER_NAME"))
    owned = table.with_columns(
        whose=whose.otherwise("_STREAM_ID"), which=pl.when(of_container).then("PRIORITY").otherwise("_PID")
    )
    return join_chunks(owned, split, ["whose", "which"], "MESSAGE").drop("whose", "which")


def one_row_a_line(records: pl.DataFrame, further: pl.Series | None = None) -> pl.DataFrame:
    """Split messages of several lines; their lines stand in the record's first line unless ``further`` gives the second."""
    if not records["message"].str.contains("\n", literal=True).any():
        return records
    table = records.with_columns(pl.col("message").str.split("\n"), second=further)
    table = table.with_columns(sub=pl.int_ranges(pl.col("message").list.len())).explode("message", "sub")
    later = (pl.col("second") + pl.col("sub") - 1).fill_null(pl.col("line"))
    inner = pl.col("sub") > 0
    return conform(
        table.with_columns(cont=inner, line=pl.when(inner).then(later).otherwise(pl.col("line"))), RECORDS
    )


def share_of_objects(lines: Sequence[bytes]) -> float:
    """Share of lines that are objects with journald's own fields."""
    lines = [COLOURED.sub(b"", line) if b"\x1b" in line else line for line in lines if line.strip()]
    lines = [line for line in lines if not line.startswith(b"-- cursor: ")]
    fits = sum(line.startswith(b"{") and any(name in line for name in TIMED) for line in lines)
    return fits / len(lines) if lines else 0.0


def parse_objects(data: bytes) -> Parsed:
    """Turn objects, one a line, into records; entries without a message are counted and named."""
    if b"\x1b" in data:
        data = COLOURED.sub(b"", data)
    raw, table = decode(data)
    blank = int((raw["raw"].str.strip_chars() == "").sum())
    table = bytes_to_text(data, first_values(data, table))
    nulls = int(table["MESSAGE"].null_count())
    lossy = int(table["MESSAGE"].str.contains("\N{REPLACEMENT CHARACTER}", literal=True).sum())
    notes = (
        *(
            [f"{nulls} entries have no MESSAGE (4 KiB and longer): export again with journalctl --all"]
            if nulls
            else []
        ),
        *(
            [
                f"{lossy} messages hold bytes that are no UTF-8 (perhaps Latin-1), which were replaced by U+FFFD"
            ]
            if lossy
            else []
        ),
    )
    left = raw.clear()
    marks = 0
    if raw.height - table.height - blank > 0:
        left = raw.join(table.select("line"), on="line", how="anti").filter(
            pl.col("raw").str.strip_chars() != ""
        )
        marks = left.height
        left = left.filter(~pl.col("raw").str.contains(MARKS))
        marks -= left.height
    return Parsed(
        records=to_records(table),
        in_records=table.height + marks,
        blank=blank,
        unparsed=left.height,
        first_unparsed=least(left["line"]),
        notes=notes,
    )


def parse_lines(lines: pl.DataFrame) -> Parsed:
    """Turn objects of several lines or behind a prefix into records: ``text`` holds one, ``line`` its first line."""
    parsed = parse_objects("".join(f"{text}\n" for text in lines["text"]).encode())
    assert parsed.records is not None
    place = lines.select(pl.col("line").cast(pl.UInt32), at=pl.int_range(1, pl.len() + 1, dtype=pl.UInt32))
    records = parsed.records.rename({"line": "at"}).join(place, on="at", how="left", maintain_order="left")
    first = None if parsed.first_unparsed is None else int(lines["line"][parsed.first_unparsed - 1])
    return Parsed(
        records=one_row_a_line(conform(records, RECORDS)),
        in_records=parsed.in_records,
        blank=parsed.blank,
        unparsed=parsed.unparsed,
        first_unparsed=first,
        notes=parsed.notes,
    )


def between_entries(before: Sequence[bytes]) -> bool:
    """Return whether no long line was split shortly before, whose rest may follow."""
    return not any(b'"line-max"' in text or b'"CONTAINER_PARTIAL_MESSAGE"' in text for text in before)


def prefixed(data: bytes, prefix: str) -> Parsed:
    """Turn objects, one a line behind a prefix, into records."""
    lines = pl.DataFrame({"text": lines_of(COLOURED.sub(b"", data) if b"\x1b" in data else data)})
    lines = lines.with_row_index("line", offset=1).with_columns(pl.col("text").str.strip_prefix(prefix))
    return parse_lines(lines)


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


def first_values(data: bytes, table: pl.DataFrame) -> pl.DataFrame:
    """Take the first value of fields that an entry holds several times, and all of a message; the raw line tells them from plain text."""
    lists = table.select(pl.col(FIELDS).str.starts_with("[").any()).row(0, named=True)
    several = {
        name: table[name].str.contains(SEVERAL).fill_null(value=False) for name in FIELDS if lists[name]
    }
    names = [name for name, rows in several.items() if rows.any()]
    if not names:
        return table
    lines = lines_of(data)
    for name in names:
        rows = several[name].arg_true()
        objects = [json.loads(lines[line - 1]).get(name) for line in table["line"].gather(rows)]
        take = all_values if name == "MESSAGE" else first_value
        values = [value if isinstance(value, str) else take(value) for value in objects]
        table = table.with_columns(table[name].scatter(rows, pl.Series(values, dtype=pl.String)))
    return table


def first_value(value: object) -> str | None:
    """Return the first value of a list that is text, or bytes that spell one."""
    for item in value if isinstance(value, list) else ():
        if isinstance(item, str):
            return item
        if isinstance(item, list):
            return bytes(item).decode("utf-8", "replace")
    return None


def all_values(value: object) -> str | None:
    """Return all values of a list as lines of one text: what an entry says twice is not lost."""
    said = [first_value([item]) for item in value] if isinstance(value, list) else []
    return "\n".join(text for text in said if text is not None) or None


def bytes_to_text(data: bytes, table: pl.DataFrame) -> pl.DataFrame:
    """Decode messages that arrived as arrays of byte values; a text that looks like one stays what it is."""
    is_bytes = table["MESSAGE"].str.contains(BYTES).fill_null(value=False)
    if not is_bytes.any():
        return table
    said = pl.Series(lines_of(data)).gather(table["line"] - 1).str.contains(ARRAY).fill_null(value=False)
    is_bytes &= said
    arrays = table["MESSAGE"].filter(is_bytes).str.json_decode(pl.List(pl.Int64))
    fits = (arrays.list.min() >= 0) & (arrays.list.max() <= 255)
    coded = arrays.filter(fits).cast(pl.List(pl.UInt8)).cast(pl.Binary)
    texts = pl.Series([value.decode("utf-8", "replace") for value in coded], dtype=pl.String)
    rows = is_bytes.arg_true().filter(fits)
    return table.with_columns(table["MESSAGE"].scatter(rows, texts))
