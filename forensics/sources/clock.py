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
    from collections.abc import Iterable

UTC = "UTC"
DUMMY_YEAR = 2000
"""Year of stamps that carry none: a leap year, so that 29 February parses."""
EARLIEST_S = 1e8
"""Epochs before March 1973 are no times of a log: zero, a counter, a mark for never."""
WRITE = "write it as 2026-09-09T09:42:26-03:00"
UTC_TOKENS = ("UTC", "GMT", "Z", "Etc/UTC")


def zone(name: str, where: str = "--tz") -> ZoneInfo:
    """Return a zone by its IANA name; an unknown one is a UsageError that names the nearest."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        import difflib  # noqa: PLC0415 - only on the way out

        near = difflib.get_close_matches(name, sorted(available_timezones()), n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else "use an IANA name such as America/Sao_Paulo or UTC"
        raise UsageError(f"unknown time zone {name!r}", where=where, remedy=hint) from None


def to_utc(column: pl.Expr, zone_name: str) -> pl.Expr:
    """Turn naive wall-clock microseconds of a zone into UTC; the first of two readings in a fold, null in a gap."""
    wall = pl.from_epoch(column, time_unit="us")
    return (
        wall.dt.replace_time_zone(zone_name, ambiguous="earliest", non_existent="null")
        .dt.convert_time_zone(UTC)
        .dt.epoch("us")
    )


def parse_stamp(column: pl.Expr, pattern: str) -> pl.Expr:
    """Parse a fixed stamp into microseconds (UTC when the pattern has an offset, else naive); null if unreadable.

    A pattern without a year is read in :data:`DUMMY_YEAR`.
    """
    if not any(code in pattern for code in ("%Y", "%y", "%s", "%F", "%D")):
        column, pattern = pl.concat_str(pl.lit(f"{DUMMY_YEAR} "), column), f"%Y {pattern}"
    return column.str.to_datetime(pattern, time_unit="us", strict=False).dt.epoch("us")


def iso(column: pl.Expr) -> pl.Expr:
    """Parse RFC 3339 with any number of fraction digits, an offset or ``Z``, and ``T`` or a blank."""
    return (
        column.str.replace(" ", "T", literal=True)
        .str.replace(",", ".", literal=True)
        .str.to_datetime("%Y-%m-%dT%H:%M:%S%.f%#z", time_unit="us", strict=False)
        .dt.epoch("us")
    )


def epoch_any(column: pl.Expr) -> pl.Expr:
    """Turn an epoch in s, ms, µs or ns, told apart by magnitude, into microseconds."""
    value = column.cast(pl.Float64, strict=False)
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
    """Return the zone that a time states; an abbreviation other than UTC is refused, since it means several zones."""
    if offset is not None:
        return dt.timezone(dt.timedelta(seconds=offset))
    if name in UTC_TOKENS:
        return dt.UTC
    if name is None:
        return None
    raise ValueError(name)


def latest_year(moment: dt.datetime, day: dt.date) -> dt.datetime:
    """Give a time that states month and day the latest year that does not lie after a day."""
    year = day.year if (moment.month, moment.day) <= (day.month, day.day) else day.year - 1
    return moment.replace(year=year)


def with_year(column: pl.Expr, year: int) -> pl.Expr:
    """Move stamps from :data:`DUMMY_YEAR` into a year; 29 February of a common year becomes null."""
    wall = pl.from_epoch(column, time_unit="us")
    if not calendar.isleap(year):
        wall = pl.when(~((wall.dt.month() == 2) & (wall.dt.day() == 29))).then(wall)
    return wall.dt.replace(year=year).dt.epoch("us")


def in_year(us: int, year: int) -> int:
    """Move one stamp from :data:`DUMMY_YEAR` into a year; 29 February of a common year becomes 28 February."""
    moment = dt.datetime.fromtimestamp(us / 1e6, dt.UTC)
    day = min(moment.day, 28) if moment.month == 2 else moment.day
    return round(moment.replace(year=year, day=day).timestamp() * 1e6)


def is_leap_day(us: int) -> bool:
    """Tell whether a stamp says 29 February."""
    moment = dt.datetime.fromtimestamp(us / 1e6, dt.UTC)
    return (moment.month, moment.day) == (2, 29)


def guess_year(
    first_us: int, last_us: int, anchors: Iterable[tuple[int, int]], latest_us: int, *, leap: bool = False
) -> tuple[int, str]:
    """Choose the year of stamps that carry none: (year, why).

    The year whose span overlaps most with dated sources wins; without any, the latest year whose span does not lie
    after ``latest_us`` (the file's own time, an upper bound). ``leap``: a stamp says 29 February.
    """
    spans = list(anchors)
    leap = leap or any(is_leap_day(edge) for edge in (first_us, last_us))
    years = sorted({dt.datetime.fromtimestamp(edge / 1e6, dt.UTC).year for span in spans for edge in span})
    years = [year for year in years if not leap or calendar.isleap(year)]
    best, overlap = None, -1
    for year in years:
        lap = sum(
            max(0, min(in_year(last_us, year), hi) - max(in_year(first_us, year), lo)) for lo, hi in spans
        )
        if lap > overlap:
            best, overlap = year, lap
    if best is not None:
        return best, "the year is that of the dated inputs"
    year = dt.datetime.fromtimestamp(latest_us / 1e6, dt.UTC).year
    while in_year(first_us, year) > latest_us + 86_400_000_000 or (leap and not calendar.isleap(year)):
        year -= 1
    return year, "the year is taken from the file's own time"
