"""Line text of any kind: one pattern, a stamp, and perhaps continuation lines.

Shared by every transport that a TOML definition describes. A line that does not begin a record but looks like a
continuation is attached to the record before it; any other line is unparsed and counted.
"""

from __future__ import annotations

import codecs
import io
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from forensics.formats import heads
from forensics.formats.heads import ANSI
from forensics.formats.order import join_chunks
from forensics.model.frames import least
from forensics.model.plug import Parsed, Transport
from forensics.model.schema import RECORDS, conform
from forensics.sources import clock

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MARKS = r"^-- (?:Boot [0-9a-f]{32}|Reboot|No entries|(?:Journal|Logs) begins? at .*) --$|^-- cursor: s="
"""What journalctl prints between entries: no part of any message."""
STATUS = r"^[●○×↻*] \S+\.(?:service|socket|timer|mount|path|target|slice|scope|device|swap|automount)\b"  # noqa: RUF001 - the mark of a failed unit
"""``systemctl status`` begins so; its properties follow until the first log line."""
ASIDES = r"^(?:Warning|Notice): journal has been rotated|^(?:Warning|Notice): The unit file|^Hint: (?:Some lines were ellipsized|You are currently not seeing)"
ROTATED = "the journal was rotated since the unit started, so that its beginning may be missing"
COLOURS = {
    "0;1;31": "error",
    "0;1;38;5;185": "warning",
    "0;1;33": "warning",
    "0;1;39": "info",
    "0;38;5;245": "debug",
}
"""How journalctl colours a message, to the level that it stands for (systemd src/shared/logs-show.c)."""
MONTHS = tuple(
    names.split()
    for names in (
        "jan jän gen ene januari janv sty led янв ιαν oca tammi 1月 1월",  # noqa: RUF001
        "feb fév févr fev febr lut úno фев φεβ şub helmi 2月 2월",
        "mar mär märz mars mrt mrz marzo már márc bře мар μαρ maalis 3月 3월",
        "apr avr avril abr ápr kwi dub апр απρ nis huhti 4月 4월",
        "may mai mei maj mag maio máj kvě мая май μάι may touko 5月 5월",
        "jun juin juni giu jún júni cze čen чер июн июня ιούν haz kesä 6月 6월",
        "jul juil juli lug júl júli lip čec июл июля ιούλ tem heinä 7月 7월",
        "aug août aoû ago augusti sie srp авг αύγ ağu elo 8月 8월",
        "sep sept set szept wrz zář сен σεπ eyl syys 9月 9월",
        "oct okt out ott paź říj окт οκτ eki loka 10月 10월",
        "nov kas лис ноя νοέ marras lis 11月 11월",
        "dec déc dez dic des gru pro дек δεκ ara joulu 12月 12월",
    )
)
"""Short names of months as glibc's locales write them, without case and dots. ``lis`` is November in Polish."""
NO_HOST = frozenset(
    [
        "TRC",
        "DBG",
        "INF",
        "WRN",
        "ERR",
        "FTL",
        "TRACE",
        "DEBUG",
        "INFO",
        "NOTICE",
        "WARN",
        "WARNING",
        "ERROR",
        "FATAL",
        "CRITICAL",
        "SEVERE",
        "PANIC",
        "stdout",
        "stderr",
    ]
)
"""What stands where a host should but is a level or a stream: the line is a logger's or a container's, not a journal's."""
VAGUENESS = 0.01
"""Between two patterns that fit equally well, the one that names more parts of the line scores higher."""


@dataclass(frozen=True, slots=True)
class TextShape:
    """How the lines of a text transport look."""

    pattern: str
    time: str
    """strptime format, ``iso`` for RFC 3339 with any fraction, or ``epoch`` for seconds since 1970."""
    zone: str
    """``offset`` (in the stamp), ``utc`` or ``none``."""
    continuation: str | None
    """Pattern of lines that continue the record above."""
    container: bool
    """True for container logs: partial chunks are joined per stream."""
    asides: bool = False
    """True for journalctl's text: marks between entries, colours, ``systemctl status``."""


def lines_of(data: bytes) -> pl.Series:
    """Split bytes into lines; invalid UTF-8 becomes U+FFFD, a byte order mark is dropped."""
    if data in (b"", codecs.BOM_UTF8):
        return pl.Series("line", [""] * bool(data), dtype=pl.String)
    data = data.removeprefix(codecs.BOM_UTF8)
    # The newline in front keeps polars from taking the first bytes for a compressed stream.
    try:
        return pl.read_lines(io.BytesIO(b"\n" + data)).to_series().slice(1)
    except pl.exceptions.ComputeError:
        text = data.decode("utf-8", "replace").encode()
        return pl.read_lines(io.BytesIO(b"\n" + text)).to_series().slice(1)


def stamp_and_zone(column: pl.Expr, pattern: str, zone: str) -> tuple[pl.Expr, pl.Expr]:
    """Parse the stamp of a line: its microseconds, and whether its zone is not known."""
    if pattern == "any":
        return any_stamp(column)
    time = token_stamp(pattern) if zone == "token" else stamp(column, pattern)
    return time, pl.lit(zone == "none")


def any_stamp(column: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """Parse a stamp of which only the line itself tells the kind: ISO with or without an offset, or an epoch.

    Day and time may be parted by a blank or ``T``, the day written with slashes, the fraction set off by a comma, and the
    zone may be ``UTC``, ``GMT`` or an offset after a blank; a trailing monotonic reading (Go) is left out. The common log
    format's stamp is read too.
    """
    text = (
        column.str.replace(r"^(\d{4})[-/.](\d\d)[-/.](\d\d)[T ]", "${1}-${2}-${3}T")
        .str.replace(r"^(\S+?),(\d)", "${1}.${2}")
        .str.replace(r" (?:[A-Z]{2,5} )?m=[+-][\d.]+$", "")
        .str.replace(r"( [+-]\d{4}) [A-Z]{2,5}$", "$1")
        .str.replace(r" ?(?:UTC|GMT)$", "Z")
        .str.replace(r" ([+-]\d\d)", "$1")
    )
    aware = pl.coalesce(clock.iso(text), clock.abbreviated(text))
    local = clock.parse_stamp(text.str.replace(r" ?[A-Z]{3,5}$", ""), "%Y-%m-%dT%H:%M:%S%.f")
    common = clock.parse_stamp(column, "%d/%b/%Y:%H:%M:%S %z")
    return pl.coalesce(aware, local, common, clock.epoch_any(column)), aware.is_null() & local.is_not_null()


def stamp(column: pl.Expr, pattern: str) -> pl.Expr:
    """Parse the stamp of a text line."""
    if pattern == "epoch":
        return (column.cast(pl.Float64, strict=False) * 1_000_000).round().cast(pl.Int64, strict=False)
    return clock.iso(column) if pattern == "iso" else clock.parse_stamp(column, pattern)


def text_transport(
    name: str, title: str, marks: str, shape: TextShape, samples: tuple[str, ...]
) -> Transport:
    """Build a transport from its shape."""
    shape = replace(shape, asides=shape.asides or name.startswith("journald_"))
    prefix = re.sub(r"\(\?P<message>.*$", "", shape.pattern)
    starts = re.compile((shape.pattern if prefix == "^" else prefix).encode())

    def safe_cut(before: Sequence[bytes], line: bytes) -> bool:
        return bool(starts.match(line)) and not (shape.container and open_partial(before))

    return Transport(
        name=name,
        title=title,
        marks=marks,
        sniff=sniffer(shape),
        parse=lambda data: parse_text(data, shape),
        samples=samples,
        safe_cut=safe_cut,
        zone="none" if shape.zone == "none" else "stated",
        year="%Y" in shape.time or shape.time in ("iso", "epoch"),
    )


def open_partial(before: Sequence[bytes]) -> bool:
    """Has any stream an unfinished line (CRI tag P) before a cut?"""
    seen: set[bytes] = set()
    for line in reversed(before):
        parts = line.split(b" ", 3)
        if len(parts) >= 3 and parts[1] in (b"stdout", b"stderr") and parts[1] not in seen:
            if parts[2][:1] == b"P":
                return True
            seen.add(parts[1])
            if len(seen) == 2:
                break
    return False


def sniffer(shape: TextShape) -> Callable[[bytes], float]:
    """Score a head by the share of its record starts that fit, continuation lines left out."""

    def sniff(head: bytes) -> float:
        lines = heads.without(heads.lines(head), rf"^[ \t]|^-- |{STATUS}|{ASIDES}", r"^ \d[月월] ")
        vague = 1 - VAGUENESS / (1 + shape.pattern.count("(?P<"))
        if "(?P<host>" not in shape.pattern or not lines:
            return heads.share(lines, shape.pattern) * vague
        hosts = [found["host"] for found in heads.groups(lines, shape.pattern)]
        return sum(host not in NO_HOST for host in hosts) / len(lines) * vague

    return sniff


def parse_text(data: bytes, shape: TextShape) -> Parsed:
    """Turn a shard of text into records."""
    lines = lines_of(data)
    coloured = b"\x1b" in data
    raw = pl.DataFrame({"raw": lines.str.replace_all(ANSI, "") if coloured else lines}).with_row_index(
        "line", offset=1
    )
    table = (
        raw.with_columns(pl.col("raw").str.extract_groups(shape.pattern))
        .with_columns(full=raw["raw"])
        .unnest("raw")
    )
    if coloured and shape.asides:
        table = table.with_columns(level=colour_level(lines))
    groups = [column for column in table.columns if column not in ("line", "full")]
    is_start = pl.col("time").is_not_null()
    blank = pl.col("full").str.strip_chars() == ""
    continues = pl.col("full").str.contains(shape.continuation) if shape.continuation else pl.lit(value=False)
    table = table.with_columns(
        start=is_start, blank=blank & ~is_start & ~continues, cont=continues & ~is_start
    )
    table = table.with_columns(record=pl.col("start").cum_sum())
    table, aside, notes = without_asides(table) if shape.asides else (table, 0, ())
    orphan = pl.col("cont") & (pl.col("record") == 0)
    unparsed = table.filter((~pl.col("start") & ~pl.col("blank") & ~pl.col("cont")) | orphan)
    kept = table.filter((pl.col("start") | pl.col("cont")) & ~orphan)
    records = inherit(kept, groups) if kept["cont"].any() else kept
    records = records.with_columns(
        ts=stamp(pl.col("time"), shape.time) if shape.zone != "token" else token_stamp(shape.time),
        naive=pl.lit(shape.zone == "none") if shape.zone != "token" else ~is_offset(pl.col("zone")),
        message=pl.col("message").str.strip_suffix("\r"),
    )
    if shape.time.startswith("%b ") and records["ts"].null_count():
        records = records.with_columns(ts=stamp(english_month(pl.col("time")), shape.time))
    if shape.zone == "token" and "service" in records.columns:
        records = records.with_columns(
            pl.col("service").str.replace(r"^.*\.service/", "").str.strip_suffix(".service")
        )
    if shape.container:
        records = join_chunks(records, pl.col("partial") == "P", ["stream"])
    return Parsed(
        records=conform(records, RECORDS),
        in_records=kept.height + aside,
        blank=int(table["blank"].sum()),
        unparsed=unparsed.height,
        first_unparsed=least(unparsed["line"]),
        notes=(*notes, *(clock.doubtful(kept["zone"]) if shape.zone == "token" else ())),
    )


def colour_level(lines: pl.Series) -> pl.Series:
    """Return the level that journalctl's colour of a message stands for."""
    colour = lines.str.extract(r": \x1b\[([0-9;]+)m")
    return colour.replace_strict(COLOURS, default=None, return_dtype=pl.String)


def without_asides(table: pl.DataFrame) -> tuple[pl.DataFrame, int, tuple[str, ...]]:
    """Take out what a program prints around the entries: (the rest, lines taken out, what they mean)."""
    other = table.filter(~pl.col("start") & ~pl.col("blank")).select("line", "full", "record")
    if not other.height:
        return table, 0, ()
    rotated = other["full"].str.contains(r"^\w+: journal has been rotated").any()
    marks = pl.col("full").str.contains(rf"{MARKS}|{ASIDES}")
    header = pl.col("full").str.contains(STATUS)
    aside = other.filter(marks | (header.cum_sum().over("record") > 0))["line"]
    if not len(aside):
        return table, 0, ()
    return table.filter(~pl.col("line").is_in(aside.implode())), len(aside), (ROTATED,) if rotated else ()


def english_month(time: pl.Expr) -> pl.Expr:
    """Write the month of a stamp in English: ``janv. 01`` becomes ``Jan 01``."""
    english = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
    table = {name: english[month] for month, names in enumerate(MONTHS) for name in names}
    name = time.str.strip_chars().str.extract(r"^(\S+?)\.? ").str.to_lowercase()
    month = name.replace_strict(table, default=None, return_dtype=pl.String)
    return pl.concat_str(month, time.str.strip_chars().str.extract(r"^\S+( .*)$"))


def inherit(kept: pl.DataFrame, groups: list[str]) -> pl.DataFrame:
    """Give continuation lines the time, service and process of their record; blanks of the prefix's width are taken off."""
    width = pl.col("full").str.len_chars() - pl.col("message").str.len_chars()
    kept = kept.with_columns(width=pl.when(pl.col("start")).then(width).forward_fill())
    body = (
        pl.when(pl.col("start")).then(pl.col("message")).otherwise(pl.col("full").str.slice(pl.col("width")))
    )
    others = [pl.col(name).first().over("record") for name in groups if name != "message"]
    return kept.with_columns(*others, message=body)


def is_offset(token: pl.Expr) -> pl.Expr:
    """Hold where a zone token states its offset: ``-03``, ``+0530``, ``UTC``, ``CET``."""
    return clock.offset_min(token).is_not_null()


def token_stamp(pattern: str) -> pl.Expr:
    """Parse a stamp whose zone is a token of its own; an abbreviation that means several offsets leaves it naive."""
    minutes = clock.offset_min(pl.col("zone")).fill_null(0)
    return clock.parse_stamp(pl.col("time"), pattern) - minutes * 60 * 1_000_000
