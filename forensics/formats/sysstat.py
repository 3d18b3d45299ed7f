"""Which figures of the host are told from sysstat's records, and its dates: shared by sadf and sar.

A figure stands at the end of the interval over which it was averaged. Percentages have no limit: 100 % of a processor is no exhausted
pool.
"""

from __future__ import annotations

import datetime as dt
import re

FIGURES = {
    "%user": "cpu %user",
    "%usr": "cpu %user",
    "%system": "cpu %system",
    "%sys": "cpu %system",
    "%iowait": "cpu %iowait",
    "%steal": "cpu %steal",
    "%idle": "cpu %idle",
    "%memused": "memory %used",
    "%commit": "memory %commit",
    "%swpused": "swap %used",
    "pswpin/s": "swap pages in/s",
    "pswpout/s": "swap pages out/s",
    "majflt/s": "major faults/s",
    "runq-sz": "run queue",
    "ldavg-1": "load, 1 min",
    "blocked": "tasks blocked",
    "await": "disk await, ms",
    "%util": "disk %util",
}
"""Column of sar and ``sadf -d`` to the name that is told."""
ITEMS = (
    "CPU",
    "DEV",
    "IFACE",
    "INTR",
    "TTY",
    "FILESYSTEM",
    "MOUNTPOINT",
    "BUS",
    "FAN",
    "TEMP",
    "SCREEN",
    "BAT",
)
"""Columns that name the thing a row is about."""
RESTART = "the host restarted (sysstat)"


def figure(column: str, item: str | None) -> str | None:
    """Return the name of a figure; None where it is not told. Single processors are left out."""
    name = FIGURES.get(column)
    if name is None or (name.startswith("cpu") and item not in (None, "all", "-1")):
        return None
    return f"{name} {item}" if name.startswith("disk") and item else name


def day_of(text: str, *, twelve_hours: bool = False, day: int | None = None) -> dt.date | None:
    """Return the date of a header in whatever locale it was written; None where day and month could be either.

    A number above 12, points, a 12-hour clock (United States), or the day in the file's name (``sar29``) decide.
    """
    if found := re.search(r"(\d{4})-(\d\d)-(\d\d)", text):
        return made(int(found[1]), int(found[2]), int(found[3]))
    found = re.search(r"(\d{1,2})([./-])(\d{1,2})[./-](\d{4}|\d\d)\b", text)
    if not found:
        return None
    a, b, year = int(found[1]), int(found[3]), int(found[4])
    year += 2000 if year < 100 else 0
    if found[2] == "." or a > 12:
        return made(year, b, a)
    if b > 12 or a == b or twelve_hours:
        return made(year, a, b)
    if day is not None and day in (a, b):
        return made(year, b, a) if day == a else made(year, a, b)
    return None


def made(year: int, month: int, day: int) -> dt.date | None:
    """Return a date, None where there is no such day."""
    try:
        return dt.date(year, month, day)
    except ValueError:
        return None
