"""Lines with a time of day under a banner that states the day.

    *********************** Date: 13/11/26 ***********************
    06:00:00:health ok

A time of day that falls far behind the one above has passed midnight. Which of two numbers is the day is told by one above 12, else by the
order in which the banners follow each other, else the day is taken first; the report says so. Local time without a zone.
"""

from __future__ import annotations

import datetime as dt
import re

import polars as pl

from forensics.formats import heads
from forensics.formats.continued import FURTHER_BARE
from forensics.formats.text import lines_of
from forensics.model.frames import least
from forensics.model.plug import Parsed, Transport
from forensics.model.schema import RECORDS, conform

DAY = r"(?P<a>\d{1,4})[-/.](?P<b>\d{1,2})[-/.](?P<c>\d{2,4})"
BANNER = rf"^(?:[^\w\s]{{2,}} *)?(?:[A-Za-z][A-Za-z ]{{2,30}}:? )?{DAY}(?: *[^\w\s]{{2,}})?$"
TIMED = r"^\[?(?P<time>\d{1,2}:\d\d:\d\d(?:[.,]\d{1,6})?)\]?(?::|\s)\s?(?P<message>.*)$"
SECOND = 1_000_000
DAY_US = 86_400 * SECOND
PASSED_US = DAY_US // 2
"""A time of day that lies so far before the one above is of the next day."""
ASSUMED = "nothing tells whether the day or the month stands first in its dates: the day is taken first"
TOLD = {
    "day": "the day stands first in its dates, as {} in one of them shows",
    "month": "the month stands first in its dates, as {} in one of them shows",
}
RISING = {
    "day": "the day stands first in its dates, as their order shows",
    "month": "the month stands first in its dates, as their order shows",
}
CENTURY = 2000


def sniff(head: bytes) -> float:
    """Share of lines that are banners or have a time of day, where the first of them is a banner."""
    lines = heads.without(heads.lines(head), FURTHER_BARE, TIMED)
    banners, timed = heads.fitting(lines, BANNER), heads.fitting(lines, TIMED)
    if not banners or not timed or lines.index(banners[0]) > lines.index(timed[0]):
        return 0.0
    return 0.95 * (len(banners) + len(timed)) / len(lines)


def parse(data: bytes) -> Parsed:
    """Turn a whole file into records; lines before the first banner are unparsed."""
    raw = pl.DataFrame({"full": lines_of(data).str.strip_suffix("\r")}).with_row_index("line", offset=1)
    table = raw.with_columns(
        pl.col("full").str.extract_groups(TIMED).struct.unnest(),
        banner=pl.col("full").str.contains(BANNER),
        blank=pl.col("full").str.strip_chars() == "",
        further=pl.col("full").str.contains(FURTHER_BARE),
    )
    banners = table.filter("banner")
    days, note = read_days(banners["full"].to_list())
    dates = banners.select("line", day=pl.Series([day_us(day) for day in days], dtype=pl.Int64))
    table = table.join(dates, on="line", how="left", maintain_order="left")
    table = table.with_columns(section=pl.col("banner").cum_sum())
    # A banner whose date does not exist dates nothing below it, and never with the day of the banner before.
    table = table.with_columns(pl.col("day").first().over("section"))
    timed = table.filter(pl.col("time").is_not_null() & pl.col("day").is_not_null())
    clock = pl.col("time").str.replace(",", ".").str.to_time("%H:%M:%S%.f", strict=False)
    timed = timed.with_columns(of_day=clock.cast(pl.Int64) // 1000)
    back = (pl.col("of_day").diff().over("section") < -PASSED_US).fill_null(value=False)
    timed = timed.with_columns(
        ts=pl.col("day") + pl.col("of_day") + back.cum_sum().over("section").cast(pl.Int64) * DAY_US
    )
    rest = table.join(timed.select("line"), on="line", how="anti").filter(
        ~pl.col("banner") & ~pl.col("blank")
    )
    first = least(timed["line"])
    below = pl.col("further") & (pl.col("line") > (first if first is not None else raw.height))
    further = rest.filter(below).with_columns(message=pl.col("full"))
    records = pl.concat(
        [
            timed.select("line", "ts", "message", cont=pl.lit(value=False)),
            further.select("line", "message", ts=pl.lit(None, pl.Int64), cont=pl.lit(value=True)).select(
                "line", "ts", "message", "cont"
            ),
        ]
    ).sort("line")
    record = (~pl.col("cont")).cum_sum()
    records = records.with_columns(pl.col("ts").first().over(record), naive=pl.lit(value=True))
    unparsed = rest.filter(~below)
    return Parsed(
        records=conform(records, RECORDS),
        in_records=records.height + banners.height,
        blank=int(table["blank"].sum()),
        unparsed=unparsed.height,
        first_unparsed=least(unparsed["line"]),
        notes=(note,) if note else (),
    )


def read_days(banners: list[str]) -> tuple[list[dt.date | None], str]:
    """Return the days that banners state, and what their order rests on."""
    numbers = [
        [int(number) for number in found.groups()] for text in banners if (found := re.search(DAY, text))
    ]
    year_first = [one[0] > 31 for one in numbers]
    short = [one for one, first in zip(numbers, year_first, strict=True) if not first]
    orders = {"day": (1, 0), "month": (0, 1)}
    if any(one[0] > 12 for one in short):
        order, why = "day", TOLD["day"].format(max(one[0] for one in short))
    elif any(one[1] > 12 for one in short):
        order, why = "month", TOLD["month"].format(max(one[1] for one in short))
    else:
        rising = [
            name
            for name, (month, day) in orders.items()
            if (days := [(one[2], one[month], one[day]) for one in short]) == sorted(days)
        ]
        order = rising[0] if len(rising) == 1 else "day"
        why = (RISING[order] if len(rising) == 1 else ASSUMED) if short else ""
    month, day = orders[order]
    return [
        made(one[0], one[1], one[2]) if first else made(one[2], one[month], one[day])
        for one, first in zip(numbers, year_first, strict=True)
    ], why


def made(year: int, month: int, day: int) -> dt.date | None:
    """Return a date; None for one that is none."""
    try:
        return dt.date(year + CENTURY * (year < 100), month, day)
    except ValueError:
        return None


def day_us(day: dt.date | None) -> int | None:
    """Return the beginning of a day in microseconds, as a wall clock."""
    return None if day is None else (day - dt.date(1970, 1, 1)).days * DAY_US


PLUG = Transport(
    name="day_banner",
    title="times of day under a banner with the date",
    marks="when the line was written; local time without a zone",
    sniff=sniff,
    parse=parse,
    samples=(
        "*** Date: 13/11/26 ***\n06:00:00:health ok",
        "*** Date: 14/11/26 ***\n[06:00:30] health timeout",
    ),
    zone="none",
)
