"""Zones and stamps: every rule about what a written time means.

Instants are microseconds since 1970 UTC; a wall-clock time of a zone that is not known yet is kept as if it were
UTC and marked naive. The zone never comes from the machine that runs the tool.
"""

from __future__ import annotations

import calendar
import datetime as dt
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

import polars as pl
from dateutil import parser as dateutil_parser

from forensics.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

UTC = "UTC"
DUMMY_YEAR = 2000
"""Year of stamps that carry none: a leap year, so that 29 February parses."""
NEVER_US = -62_000_000_000_000_000
"""Instants before this are of year 1 to 5."""
EARLIEST_S = 1e8
"""Epochs before March 1973 are no times of a log: zero, a counter, a mark for never."""
WRITE = "write it as 2026-09-09T09:42:26-03:00"
REPEATED = 4_500_000_000_000_000
"""Mark of a naive time that follows a step back (µs): beyond every year of a log, and a whole number of minutes."""
STEP_BACK = (-3_605_000_000, -900_000_000)
"""Steps (µs) that the end of summer time can make between two lines: up to an hour, less the pause between them."""
UTC_TOKENS = ("UTC", "GMT", "Z", "Etc/UTC")
ABBREVIATIONS = {
    **dict.fromkeys(UTC_TOKENS, 0),
    "ACDT": 630, "ACST": 570, "ADT": -180, "AEDT": 660, "AEST": 600, "AKDT": -480, "AKST": -540, "AST": -240, "AWST": 480, "BST": 60, "CAT": 120, "CEST": 120, "CET": 60, "ChST": 600, "EAT": 180, "EDT": -240, "EEST": 180, "EET": 120, "EST": -300, "HDT": -540, "HKT": 480, "HST": -600, "IDT": 180, "JST": 540, "KST": 540, "MDT": -360, "MEST": 120, "MET": 60, "MSK": 180, "MST": -420, "NDT": -150, "NST": -210, "NZDT": 780, "NZST": 720, "PDT": -420, "PKT": 300, "SAST": 120, "SST": -660, "WAT": 60, "WEST": 60, "WET": 0, "WIB": 420, "WIT": 540, "WITA": 480,
}  # fmt: skip
"""Abbreviations that mean one offset wherever they are in use, in minutes (IANA tz database, since 2019)."""
DOUBT = "stamps say "
AMBIGUOUS = {
    "CDT": "-05:00 (North America) or -04:00 (Cuba)",
    "CST": "-06:00 (North America), +08:00 (China) or -05:00 (Cuba)",
    "IST": "+05:30 (India), +01:00 (Ireland) or +02:00 (Israel)",
    "PST": "-08:00 (North America) or +08:00 (Philippines)",
}
"""Abbreviations that stand for several offsets, with these (IANA tz database, since 2019)."""


def zone(name: str, where: str = "--tz") -> ZoneInfo:
    """Return a zone by its IANA name; an unknown one is a UsageError that names the nearest."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        import difflib  # noqa: PLC0415 - only on the way out

        near = difflib.get_close_matches(name, sorted(available_timezones()), n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else "use an IANA name such as America/Sao_Paulo or UTC"
        raise UsageError(f"unknown time zone {name!r}", where=where, remedy=hint) from None


def to_utc(column: pl.Expr, zone_name: str, *, late: pl.Expr | bool = False) -> pl.Expr:
    """Turn naive wall-clock microseconds of a zone into UTC; null in a gap.

    Of the two readings of a time that the zone had twice the first is taken, or the second where ``late``.
    """
    wall = pl.from_epoch(column, time_unit="us")
    reading = pl.when(late).then(pl.lit("latest")).otherwise(pl.lit("earliest"))
    return (
        wall.dt.replace_time_zone(zone_name, ambiguous=reading, non_existent="null")
        .dt.convert_time_zone(UTC)
        .dt.epoch("us")
    )


def mark_repeats(records: pl.DataFrame) -> pl.DataFrame:
    """Add :data:`REPEATED` to naive times from the first step back of up to an hour on.

    In a fold of summer time the same wall clock comes twice; only the order of the lines tells the readings apart, and it
    is gone once lines are counted by second. Marked times are unmarked when the zone is known.
    """
    if not records["naive"].any():
        return records
    lowest, highest = STEP_BACK
    naive = pl.col("naive").fill_null(value=False) & pl.col("ts").is_not_null()
    at = pl.when(naive).then(pl.col("ts")).forward_fill()
    back = (at - at.shift(1)).is_between(lowest, highest).fill_null(value=False)
    return records.with_columns(
        ts=pl.col("ts") + pl.when(naive & (back.cum_sum() > 0)).then(REPEATED).otherwise(0)
    )


def offset_min(token: pl.Expr) -> pl.Expr:
    """Return the offset in minutes that a zone's token states (``-03``, ``+0530``, ``UTC``, ``CEST``); null where it states none."""
    sign = pl.when(token.str.starts_with("-")).then(-1).otherwise(1)
    hours, minutes = (
        token.str.extract(r"^[+-](\d\d):?(\d\d)?$", group).cast(pl.Int64, strict=False) for group in (1, 2)
    )
    named = token.replace_strict(ABBREVIATIONS, default=None, return_dtype=pl.Int64)
    return pl.coalesce(sign * (hours * 60 + minutes.fill_null(0)), named)


def abbreviated(text: pl.Expr) -> pl.Expr:
    """Parse an ISO time that ends with a zone's abbreviation; null where there is none, or one that means several offsets."""
    minutes = offset_min(text.str.extract(r" ?([A-Z]{3,5})$"))
    wall = parse_stamp(text.str.replace(r" ?[A-Z]{3,5}$", ""), "%Y-%m-%dT%H:%M:%S%.f")
    return wall - minutes * 60 * 1_000_000


def doubtful(tokens: pl.Series) -> tuple[str, ...]:
    """Say of abbreviations that mean several offsets that they do; what was taken is said of the source."""
    found = sorted(set(tokens.drop_nulls().unique()) & set(AMBIGUOUS))
    return tuple(f"{DOUBT}{name}, which stands for {AMBIGUOUS[name]}" for name in found)


def parse_stamp(column: pl.Expr, pattern: str) -> pl.Expr:
    """Parse a fixed stamp into microseconds (UTC when the pattern has an offset, else naive); null if unreadable.

    A pattern without a year is read in :data:`DUMMY_YEAR`.
    """
    if not any(code in pattern for code in ("%Y", "%y", "%s", "%F", "%D")):
        column, pattern = pl.concat_str(pl.lit(f"{DUMMY_YEAR} "), column), f"%Y {pattern}"
    return column.str.to_datetime(pattern, time_unit="us", strict=False).dt.epoch("us")


def iso(column: pl.Expr) -> pl.Expr:
    """Parse RFC 3339 with any number of fraction digits, an offset or ``Z``, and ``T`` or a blank.

    Year 1 is how Go and others write that something never happened: it is no time.
    """
    time = (
        column.str.replace(" ", "T", literal=True)
        .str.replace(",", ".", literal=True)
        .str.to_datetime("%Y-%m-%dT%H:%M:%S%.f%#z", time_unit="us", strict=False)
        .dt.epoch("us")
    )
    return pl.when(time > NEVER_US).then(time)


def epoch_any(column: pl.Expr) -> pl.Expr:
    """Turn an epoch in s, ms, µs or ns, told apart by magnitude, into microseconds; the fraction may follow a comma."""
    number = column.cast(pl.String).str.replace(r"^(\d+),(\d+)$", "${1}.${2}")
    value = number.cast(pl.Float64, strict=False)
    whole = column.cast(pl.Int64, strict=False)
    return (
        pl.when(value < EARLIEST_S)
        .then(None)
        .when(value < 1e11)
        .then((value * 1e6).round().cast(pl.Int64, strict=False))
        .when(value < 1e14)
        .then((value * 1e3).round().cast(pl.Int64, strict=False))
        .when(value < 1e17)
        .then(whole)
        .otherwise(whole // 1000)
    )


def instant(text: str, tz: ZoneInfo, *, where: str, latest: int | None = None) -> int:
    """Parse an instant of an option or the case file into microseconds UTC.

    A time without a date is taken on the day of ``latest`` (the last instant in the inputs); a text that states
    neither date nor time is refused. Reading it against two different days shows what was stated.
    """
    first, second = dt.datetime(1996, 1, 2, tzinfo=None), dt.datetime(2004, 3, 4, tzinfo=None)  # noqa: DTZ001 - defaults to compare
    try:
        one, two = (
            dateutil_parser.parse(text, default=default, tzinfos=stated_zone) for default in (first, second)
        )
    except (ValueError, OverflowError):
        raise UsageError(f"cannot read the time {text!r}", where=where, remedy=WRITE) from None
    if one.date() != two.date():
        nothing = one.date() == first.date() and two.date() == second.date()
        if latest is None or ":" not in text or not (nothing or (one.month, one.day) == (two.month, two.day)):
            raise UsageError(
                f"the time {text!r} has {'no' if nothing else 'half a'} date", where=where, remedy=WRITE
            )
        day = dt.datetime.fromtimestamp(latest / 1e6, tz).date()
        one = dt.datetime.combine(day, one.timetz()) if nothing else latest_year(one, day)
    aware = one if one.tzinfo and one.utcoffset() is not None else one.replace(tzinfo=tz)
    return round(aware.timestamp() * 1e6)


def stated_zone(name: str | None, offset: int | None) -> dt.tzinfo | None:
    """Return the zone that a time states; an abbreviation that means several is refused."""
    if offset is not None:
        return dt.timezone(dt.timedelta(seconds=offset))
    if name in ABBREVIATIONS:
        return dt.timezone(dt.timedelta(minutes=ABBREVIATIONS[name]))
    if name is None:
        return None
    raise ValueError(name)


def latest_year(moment: dt.datetime, day: dt.date) -> dt.datetime:
    """Give a time that states month and day the latest year that does not lie after a day."""
    year = day.year if (moment.month, moment.day) <= (day.month, day.day) else day.year - 1
    return moment.replace(year=year)


def with_year(column: pl.Expr, year: pl.Expr) -> pl.Expr:
    """Move stamps from :data:`DUMMY_YEAR` into a year; 29 February of a common year becomes null."""
    wall = pl.from_epoch(column, time_unit="us")
    leap = ((year % 4 == 0) & (year % 100 != 0)) | (year % 400 == 0)
    exists = leap | ~((wall.dt.month() == 2) & (wall.dt.day() == 29))
    return pl.when(exists).then(wall).dt.replace(year=year).dt.epoch("us")


def in_year(us: int, year: int) -> int:
    """Move one stamp from :data:`DUMMY_YEAR` into a year; 29 February of a common year becomes 28 February."""
    moment = dt.datetime.fromtimestamp(us / 1e6, dt.UTC)
    day = min(moment.day, 28) if moment.month == 2 else moment.day
    return round(moment.replace(year=year, day=day).timestamp() * 1e6)


OWN_TIME = "the year is taken from the file's own time"
"""Why a year was chosen where nothing else tells it; a copy of the file may have lost that time."""


def guess_year(
    first: tuple[int, int],
    last: tuple[int, int],
    anchors: Iterable[tuple[int, int]],
    latest_us: int,
    leap: Sequence[int] = (),
) -> tuple[int, str]:
    """Choose the year of the last of stamps that carry none: (year, why).

    ``first`` and ``last`` are a stamp each and how many years it lies from that year (0, -1 …). The year whose span
    overlaps most with dated sources wins; without any, the latest year whose span does not lie after ``latest_us`` (the
    file's own time, an upper bound). ``leap``: the years, counted so, in which a stamp says 29 February.
    """
    spans = list(anchors)

    def edge(stamp: tuple[int, int], year: int) -> int:
        return in_year(stamp[0], year + stamp[1])

    def possible(year: int) -> bool:
        return all(calendar.isleap(year + offset) for offset in leap)

    near = {dt.datetime.fromtimestamp(at / 1e6, dt.UTC).year for span in spans for at in span}
    best, overlap = None, -1
    for year in sorted(near | {one + 1 for one in near if first[1] != last[1]}):
        lap = sum(max(0, min(edge(last, year), hi) - max(edge(first, year), lo)) for lo, hi in spans)
        if possible(year) and lap > overlap:
            best, overlap = year, lap
    if best is not None:
        return best, "the year is that of the dated inputs"
    year = dt.datetime.fromtimestamp(latest_us / 1e6, dt.UTC).year
    while edge(last if first[1] != last[1] else first, year) > latest_us + 86_400_000_000 or not possible(
        year
    ):
        year -= 1
    return year, OWN_TIME
