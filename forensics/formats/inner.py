"""What stands inside a message: another transport's line, a level's name, or the program's own time.

An aggregator ships what a container engine or syslog wrote, so that its message may be that engine's line again. One
more level is taken off, and the inner time is kept: it lies nearer to the event.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from forensics.formats import bare
from forensics.formats.continued import FURTHER_SHIPPED
from forensics.formats.heads import ANSI
from forensics.formats.order import join_chunks, oldest_first
from forensics.formats.text import is_offset, stamp_and_zone
from forensics.model.schema import RECORDS, conform
from forensics.sources import clock

if TYPE_CHECKING:
    from forensics.model.plug import MessageFormat

CUT_TO_MICROSECONDS = 1000
"""Nanoseconds of one microsecond."""
CHUNK = 16384
"""Bytes of a line after which Docker's engine begins a new chunk (moby daemon/logger/copier.go)."""
CHUNK_STAMP = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}(?:Z|[+-]\d\d:\d\d) ")
DOCKER = r'^\{.*"log": ?".*"time": ?"'
CRI = r"^(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)) (?P<stream>stdout|stderr) (?P<partial>[FP])(?::\S+)? (?P<body>(?s:.*))$"
SYSLOG = r"^(?:<\d{1,3}>)?(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)) (?P<host>[\w.:-]+) (?P<service>[^\[\]:\s]+)(?:\[(?P<pid>\d+)\])?: (?P<body>(?s:.*))$"
ENGINE = r"^\S+ container [a-z_]+: "
"""An event of a container engine whose action has a part after a colon: it looks like a syslog line of the host ``container``."""
LEVELS = {
    **dict.fromkeys(("emerg", "emergency", "alert", "crit", "critical", "fatal", "panic", "fatal2", "fatal3", "fatal4"), "critical"),
    **dict.fromkeys(("err", "error", "severe", "failure", "error2", "error3", "error4"), "error"),
    **dict.fromkeys(("warn", "warning", "warn2", "warn3", "warn4"), "warning"),
    **dict.fromkeys(("notice", "info", "information", "informational", "log", "success", "ok", "default2", "info2", "info3", "info4"), "info"),
    **dict.fromkeys(("debug", "trace", "verbose", "fine", "finer", "finest", "debug2", "debug3", "debug4", "trace2", "trace3", "trace4"), "debug"),
}  # fmt: skip
"""Names of severities, in lower case, to the five levels; any other name says nothing."""


YEAR = re.compile(r"%Y|^iso$|^epoch$|^any$")
"""Times that carry a year; of a stamp of any kind only one that does is read."""
FEW = 1000
"""Messages up to which they are looked at one by one."""


def level(name: pl.Expr) -> pl.Expr:
    """Return the level that a severity's name stands for, null for a name that says none."""
    return (
        name.str.strip_chars().str.to_lowercase().replace_strict(LEVELS, default=None, return_dtype=pl.String)
    )


def finished(records: pl.DataFrame) -> pl.DataFrame:
    """Take off what is no part of a message: colours, the final newline, an inner transport's prefix."""
    if "message" not in records.columns or not records.height:
        return conform(records, RECORDS)
    records = conform(records, RECORDS).with_columns(
        pl.col("message").fill_null("").str.replace_all(ANSI, ""),
        pl.col("naive").fill_null(value=False),
    )
    records = unwrapped(oldest_first(records))
    return records.with_columns(pl.col("message").str.strip_suffix("\n").str.strip_suffix("\r"))


def unwrapped(records: pl.DataFrame) -> pl.DataFrame:
    """Take one more transport off messages that begin like its lines."""
    message = records["message"]
    if message.str.starts_with("{").any() and message.str.contains(DOCKER).any():
        records = from_docker(records)
    if message.str.contains(CRI).any():
        records = from_cri(records)
    if message.str.contains(SYSLOG).any():
        records = from_syslog(records)
    return records


def from_docker(records: pl.DataFrame) -> pl.DataFrame:
    """Unwrap messages that are lines of Docker's json-file driver."""
    inner = pl.col("message").str.contains(DOCKER)
    log, time, stream = (
        pl.col("message").str.json_path_match(f"$.{name}") for name in ("log", "time", "stream")
    )
    is_line = inner & log.is_not_null() & clock.iso(time).is_not_null()
    done = records.with_columns(
        ts=pl.when(is_line).then(clock.iso(time)).otherwise("ts"),
        naive=pl.when(is_line).then(pl.lit(value=False)).otherwise("naive"),
        stream=pl.when(is_line).then(stream).otherwise("stream"),
        message=pl.when(is_line).then(log).otherwise("message"),
        chunk=is_line & ~log.str.ends_with("\n"),
    )
    return joined(done)


def from_cri(records: pl.DataFrame) -> pl.DataFrame:
    """Unwrap messages that are lines of a Kubernetes container log."""
    table = records.with_columns(g=pl.col("message").str.extract_groups(CRI))
    part = {name: pl.col("g").struct.field(name) for name in ("time", "stream", "partial", "body")}
    is_line = part["body"].is_not_null()
    done = table.with_columns(
        ts=pl.when(is_line).then(pl.coalesce(clock.iso(part["time"]), "ts")).otherwise("ts"),
        naive=pl.when(is_line).then(pl.lit(value=False)).otherwise("naive"),
        stream=pl.coalesce(part["stream"], "stream"),
        message=pl.coalesce(part["body"], "message"),
        chunk=(part["partial"] == "P").fill_null(value=False),
    ).drop("g")
    return joined(done)


def joined(table: pl.DataFrame) -> pl.DataFrame:
    """Join the chunks of a long line, per service and stream."""
    return conform(join_chunks(table, pl.col("chunk"), ["service", "stream"]), RECORDS)


def from_syslog(records: pl.DataFrame) -> pl.DataFrame:
    """Unwrap messages that are syslog or journal lines: the program names the service where nothing else does."""
    table = records.with_columns(g=pl.col("message").str.extract_groups(SYSLOG))
    table = table.with_columns(g=pl.when(~pl.col("message").str.contains(ENGINE)).then("g"))
    part = {name: pl.col("g").struct.field(name) for name in ("service", "pid", "body")}
    return conform(
        table.with_columns(
            service=pl.coalesce("service", part["service"]),
            pid=pl.coalesce("pid", part["pid"]),
            message=pl.coalesce(part["body"], "message"),
        ),
        RECORDS,
    )


def own_times(records: pl.DataFrame) -> pl.DataFrame:
    """Date records without a time by what the program itself wrote; its further lines take the time of its line before.

    Formats whose stamps carry no year are left out: which year it was could only be assumed for a whole source.
    """
    if not records["ts"].null_count():
        return records
    from forensics.formats import all_messages  # noqa: PLC0415 - the registry imports the formats

    table = records.with_row_index("row")
    left = table.filter(pl.col("ts").is_null()).select("row", "message")
    found: list[pl.DataFrame] = []
    dating = [one for one in all_messages().values() if one.time and YEAR.search(one.time)]
    dating.sort(key=lambda one: one.time == "any")
    for one in likely(left["message"], dating):
        if not left.height:
            break
        dated = said(left, one)
        if dated.height:
            found.append(dated)
            left = left.join(dated, on="row", how="anti")
    if not found:
        return records
    own = pl.concat(found)
    table = table.join(own, on="row", how="left", maintain_order="left")
    further = (
        pl.col("message").str.contains(FURTHER_SHIPPED) & pl.col("own").is_null() & pl.col("ts").is_null()
    )
    starts = pl.when(~further).then(pl.col("row"))
    table = table.with_columns(start=starts.forward_fill().over("service"))
    first = [pl.col(name).first().over("service", "start") for name in ("own", "own_naive")]
    table = table.with_columns(
        *[pl.when(pl.col("start").is_not_null()).then(one).alias(one.meta.output_name()) for one in first]
    )
    return table.with_columns(
        ts=pl.coalesce("ts", "own"),
        naive=pl.when(pl.col("ts").is_null())
        .then(pl.col("own_naive").fill_null(value=False))
        .otherwise("naive"),
    ).select(records.columns)


def likely(messages: pl.Series, known: list[MessageFormat]) -> list[MessageFormat]:
    """Leave out formats that none of a few messages is of: to ask a frame about each takes longer than to look."""
    if len(messages) > FEW:
        return known
    lines = bare.by_beginning(messages.to_list())
    return [one for one in known if any(any(bare.fits(part, one)) for part in lines.of(one).values())]


def said(left: pl.DataFrame, one: MessageFormat) -> pl.DataFrame:
    """Return the rows whose message states a time in one format: row, own, own_naive."""
    empty = pl.DataFrame(schema={"row": pl.UInt32, "own": pl.Int64, "own_naive": pl.Boolean})
    near = left.filter(pl.col("message").str.contains_any(list(one.anchors))) if one.anchors else left
    if not near.height or "(?P<time>" not in one.pattern:
        return empty
    prepare = one.prepare_dated or one.prepare
    source = prepare(pl.col("message")) if prepare else pl.col("message")
    groups = near.select("row", g=source.str.extract_groups(one.pattern)).unnest("g")
    groups = groups.filter(pl.col("time").is_not_null())
    time, naive = stamp_and_zone(pl.col("time"), one.time or "", one.zone)
    if one.zone == "token" and "zone" in groups.columns:
        naive = ~is_offset(pl.col("zone"))
    return groups.select("row", own=time, own_naive=naive).filter(pl.col("own").is_not_null())


def without_chunk_stamps(records: pl.DataFrame) -> pl.DataFrame:
    """Take out the stamps that the engine prints before each further chunk of a long line."""
    message = records["message"]
    long = (message.str.len_bytes() > CHUNK) & message.str.contains(r"\.\d{9}(?:Z|[+-]\d\d:\d\d) ")
    rows = long.fill_null(value=False).arg_true()
    if not len(rows):
        return records
    texts = [rejoined(text) for text in message.gather(rows)]
    return records.with_columns(message.scatter(rows, pl.Series(texts, dtype=pl.String)))


def rejoined(text: str) -> str:
    """Return a line without the stamp at each of its chunks' beginnings."""
    data = text.encode()
    place = CHUNK
    while found := CHUNK_STAMP.match(data, place):
        data = data[:place] + data[found.end() :]
        place += CHUNK
    return data.decode("utf-8", "replace")
