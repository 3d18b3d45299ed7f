r"""When a page that psql printed was made: times in it, the stamp of ``\\watch``, or the name of its file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from forensics.formats.state import times

if TYPE_CHECKING:
    from collections.abc import Sequence

NAME = re.compile(
    r"(?<!\d)(?P<year>20\d\d)[-_.]?(?P<month>[01]\d)[-_.]?(?P<day>[0-3]\d)[T_.-]?(?P<hour>[0-2]\d)[-_.:h]?(?P<minute>[0-5]\d)(?:[-_.:]?(?P<second>[0-5]\d))?(?P<utc>Z|[+_-]?UTC)?(?!\d)"
)
"""Date and time in the name of a file."""
WATCHED = re.compile(
    r"[^\W\d]{3},? (?:[^\W\d]{3} +\d+ \d\d:\d\d:\d\d \d{4}|\d\d [^\W\d]{3} \d{4} \d\d:\d\d:\d\d.*)$"
)


def of_name(name: str) -> str | None:
    """Return the date and time that a file's name states: ``sessions_20261130T175426Z.txt``, ``2026-11-30_17-54.csv``."""
    found = NAME.search(name)
    if found is None:
        return None
    date, clock = (
        "-".join(found.group("year", "month", "day")),
        ":".join(found.group("hour", "minute")) + f":{found['second'] or '00'}",
    )
    return f"{date} {clock}{'+00:00' if found['utc'] else ''}"


def newest(stamps: Sequence[str | None]) -> tuple[int | None, bool]:
    """Return the newest of some times, and whether it carries no zone."""
    read = times(pl.Series(stamps, dtype=pl.String)).frame.drop_nulls("ts").sort("ts")
    return (read["ts"][-1], read["naive"][-1]) if read.height else (None, False)


def of_watch(stamp: str) -> tuple[int | None, bool]:
    r"""Return the instant of a stamp of ``\\watch``, which has no zone as a rule."""
    found = WATCHED.search(stamp)
    return newest([re.sub(" +", " ", found[0])]) if found else (None, True)
