"""Text of no known format: each line as it stands, dated where a time stands near its beginning.

Signatures are found in any text, so that a log of one's own is worth reading before anybody has described it. What looks like
the further lines of a message stays with the record above.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from forensics.formats import heads
from forensics.formats.continued import FURTHER_BARE
from forensics.formats.heads import ANSI
from forensics.formats.inner import level
from forensics.formats.text import any_stamp, lines_of
from forensics.model.frames import least, mean
from forensics.model.plug import Parsed
from forensics.model.schema import RECORDS, conform
from forensics.sources import clock

if TYPE_CHECKING:
    from collections.abc import Sequence

ISO = r"\d{4}[-/.]\d\d[-/.]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d| ?(?:UTC|GMT)\b| [+-]\d\d:?\d\d\b)?"
COMMON = r"\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}"
SPELLED = r"\d{1,2}[ /-][A-Z][a-z]{2}[ /-]\d{4}[ :]\d\d:\d\d:\d\d(?:[.,]\d{1,6})?"
CTIME = r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}\b"
EPOCH = r"\b1\d{9}(?:\.\d{1,9}|\d{3}|\d{6}|\d{9})?\b"
STAMP = rf"^.{{0,40}}?(?P<time>{ISO}|{COMMON}|{SPELLED}|{CTIME})|^\W{{0,3}}(?:(?P<comma>1\d{{9}},\d{{1,9}})\"?[;\t]|(?P<epoch>{EPOCH}))"
"""A time within the first characters of a line; bare numbers only where the line begins with them. A comma is a decimal one where
something else parts the columns."""
BEFORE = rf"^\[?(?:{ISO}|{COMMON}|{SPELLED}|{CTIME})\]?[ \t]+(?:- )?"
"""A time that was put before a line, with what parts it from the rest."""
LEVEL = r"^.{0,80}?\b(?P<level>EMERG(?:ENCY)?|ALERT|CRIT(?:ICAL)?|FATAL|PANIC|SEVERE|ERR(?:OR)?|WARN(?:ING)?|NOTICE|INFO|DEBUG|TRACE)\b"
TIME_OF_DAY = r"(?:\b|\dT)\d{1,2}:\d\d:\d\d(?:\b|Z\b)|\b1\d{9}"
"""What nearly any stamp has: a time of day, or seconds since 1970."""
TIMELESS = 0.25
"""Largest share of lines that hold a time where a text counts as one without times."""
STAMPED = re.compile(STAMP)
PUT_BEFORE = re.compile(BEFORE)
FURTHER = re.compile(FURTHER_BARE)
DATED = "its format is not known: lines are taken as they stand, with the time near their beginning"
BARE = "something put times before its lines, which are of known formats: each time is taken as when its line was printed"
ODD = "its lines carry times that are not understood, so that nothing in it can be placed: describe its format (forensics formats, --formats DIR)"
UNDATED = (
    "its lines carry no time, so that nothing in it can be placed; export it again with one: docker logs -t, docker compose logs -t, "
    "kubectl logs --timestamps, journalctl -o short-iso"
)


def share(head: bytes) -> float:
    """Share of the record starts of a head that have a time near their beginning."""
    return heads.share(heads.without(heads.lines(head), FURTHER_BARE, STAMP), STAMP)


def without_stamps(head: bytes) -> bytes:
    """Return the lines of a head without the times that were put before them."""
    return "\n".join(PUT_BEFORE.sub("", line, count=1) for line in heads.lines(head)).encode()


def begins(_before: Sequence[bytes], line: bytes) -> bool:
    """Does a dated record begin here?"""
    return STAMPED.search(line.decode("utf-8", "replace")) is not None


def stands_alone(_before: Sequence[bytes], line: bytes) -> bool:
    """Does this line go on with none above it?"""
    return FURTHER.search(line.decode("utf-8", "replace").rstrip("\r\n")) is None


def parse(data: bytes, *, dated: bool, bare: bool = False) -> Parsed:
    """Turn a shard into records; lines before the first dated one are unparsed where times are read.

    ``bare``: the message is what follows the time that a line begins with.
    """
    lines = lines_of(data)
    if b"\x1b" in data:
        lines = lines.str.replace_all(ANSI, "")
    table = pl.DataFrame({"message": lines.str.strip_suffix("\r")}).with_row_index("line", offset=1)
    blank = table.filter(pl.col("message").str.strip_chars() == "")
    table = table.filter(pl.col("message").str.strip_chars() != "")
    ts, naive = pl.lit(None, dtype=pl.Int64), pl.lit(value=False)
    if dated:
        table = table.with_columns(g=pl.col("message").str.extract_groups(STAMP)).unnest("g")
        plain = (
            pl.col("time")
            .str.replace_all("[/-]", " ")
            .str.replace(r"(\d{4}):", "${1} ")
            .str.replace(",", ".", literal=True)
        )
        spelled = pl.coalesce(
            clock.parse_stamp(plain, "%d %b %Y %H:%M:%S%.f"),
            clock.parse_stamp(pl.col("time").str.replace("  ", " ", literal=True), "%b %d %H:%M:%S %Y"),
        )
        stamp, local = any_stamp(pl.coalesce("time", "comma", "epoch"))
        ts, naive = pl.coalesce(stamp, spelled), local | (stamp.is_null() & spelled.is_not_null())
        start = ts.is_not_null()
    else:
        start = ~pl.col("message").str.contains(FURTHER_BARE)
    table = table.with_columns(ts=ts, naive=naive, start=start).with_columns(record=pl.col("start").cum_sum())
    left = table.filter((pl.col("record") == 0) & pl.lit(dated))
    kept = table.filter((pl.col("record") > 0) | pl.lit(not dated)).with_columns(
        pl.col("ts", "naive").first().over("record"),
        cont=~pl.col("start") & (pl.col("record") > 0),
        level=level(pl.col("message").str.extract(LEVEL)),
    )
    if bare:
        kept = kept.with_columns(
            pl.when("start")
            .then(pl.col("message").str.replace(BEFORE, ""))
            .otherwise("message")
            .alias("message")
        )
    timed = mean(table["message"].str.contains(TIME_OF_DAY)) or 0.0
    return Parsed(
        records=conform(kept, RECORDS),
        in_records=kept.height,
        blank=blank.height,
        unparsed=left.height,
        first_unparsed=least(left["line"]),
        notes=(BARE if bare else DATED if dated else ODD if timed > TIMELESS else UNDATED,),
    )
