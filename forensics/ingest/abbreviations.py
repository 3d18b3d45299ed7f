"""Which of its offsets does an abbreviation mean in a file whose other lines state theirs?

``IST`` is India's, Israel's or Ireland's time. Lines stand near others of their time, and the offsets that an abbreviation may mean are
an hour or more apart: the one is meant at which its lines lie beside their neighbours.
"""

from __future__ import annotations

import re

import polars as pl

from forensics.sources import clock

NEAR_S = 1800
"""Seconds within which a line's neighbour lies at the right offset: less than half of what two offsets differ by."""
OFFSET = r"([+-])(\d\d):(\d\d)"
UNKNOWN = "lines whose stamps say {name} are not placed: no line near them tells which offset is meant"


def doubted(limits: tuple[str, ...]) -> list[str]:
    """Return the abbreviations of several meanings that a source's stamps have."""
    said = [
        limit.removeprefix(clock.DOUBT).partition(",")[0] for limit in limits if limit.startswith(clock.DOUBT)
    ]
    return sorted(set(said))


def mixed(seconds: pl.DataFrame, index: int) -> bool:
    """Has a source lines that state their offset beside those that do not?"""
    return seconds.filter(pl.col("source") == index)["naive"].n_unique() > 1


def meanings(name: str) -> list[int]:
    """Return the offsets in minutes that an abbreviation may mean."""
    found = re.findall(OFFSET, clock.AMBIGUOUS[name])
    return [int(f"{sign}1") * (int(hours) * 60 + int(minutes)) for sign, hours, minutes in found]


def meant(seconds: pl.DataFrame, index: int, names: list[str]) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return the offset that the naive lines of a source have (minute, offset_min; null: not known), and what to say of it."""
    mine = seconds.filter(pl.col("source") == index).sort("first_line")
    stated = mine.filter(~pl.col("naive")).select("first_line", beside="second")
    naive = mine.filter("naive").select("first_line", "second")
    offset = (
        near(naive.join_asof(stated, on="first_line", strategy="nearest"), meanings(names[0]))
        if len(names) == 1
        else None
    )
    table = pl.DataFrame(
        {"minute": [0], "offset_min": [offset]}, schema={"minute": pl.Int64, "offset_min": pl.Int64}
    )
    if offset is None:
        return table, tuple(UNKNOWN.format(name=name) for name in names)
    shown = f"{'-' if offset < 0 else '+'}{abs(offset) // 60:02}:{abs(offset) % 60:02}"
    return table, (f"{names[0]} is read as {shown}: so its lines lie beside those around them",)


def near(pairs: pl.DataFrame, offsets: list[int]) -> int | None:
    """Return the only offset at which any line lies near its neighbour."""
    fits = [
        offset
        for offset in offsets
        if pairs.select(((pl.col("second") - offset * 60 - pl.col("beside")).abs() <= NEAR_S).any()).item()
    ]
    return fits[0] if len(fits) == 1 else None
