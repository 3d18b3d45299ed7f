"""How the naive stamps of one source become instants: its year, its zone, and which of two readings is meant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from forensics.sources import clock

if TYPE_CHECKING:
    from forensics.model.source import Source

SECOND = 1_000_000
MINUTE = 60 * SECOND
SCALE = {"ts": 1, "began": 1, "ended": 1, "first_us": 1, "last_us": 1, "second": SECOND, "minute": MINUTE}
"""Columns that hold instants, and how many microseconds their unit has."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What the reader knows about one input besides its digest."""

    source: Source
    yearless: bool = False
    zoneless: bool = False
    modified_us: int = 0


@dataclass(frozen=True, slots=True)
class Rule:
    """How the naive stamps of one source become instants."""

    zone: str
    year: int | None
    """Year of the last line of a source without years."""
    turns: pl.DataFrame
    """(minute, years): how many years earlier a minute lies, where the log runs over New Year."""
    repeat: Repeat | None
    offsets: pl.DataFrame | None
    """(minute, offset_min): the offset from UTC that another input shows, from that minute on; None: the zone decides."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """Where the stamps step back by up to an hour: from there on the second of two readings is meant."""

    shard: int
    """All later shards follow the step; in this one the marked rows do."""
    at_s: int
    """Wall clock at the step, in seconds."""


def no_turns() -> pl.DataFrame:
    """Return the turns of a log that stays in one year."""
    return pl.DataFrame(schema={"minute": pl.Int64, "years": pl.Int64})


def in_years(frame: pl.DataFrame, rule: Rule, column: str, scale: int) -> pl.Series:
    """Return a column of naive stamps in microseconds, in the year that they mean."""
    micros = frame.select(value=pl.col(column) * scale)
    if rule.year is None:
        return micros["value"]
    table = micros.with_columns(minute=pl.col("value") // MINUTE).join(
        rule.turns, on="minute", how="left", maintain_order="left"
    )
    year = pl.lit(rule.year) + pl.col("years").fill_null(0)
    return table.select(clock.with_year(pl.col("value"), year).alias("value"))["value"]


def is_late(part: pl.DataFrame, repeat: Repeat | None) -> pl.Series:
    """Tell which rows follow the step back, and are near enough to it for it to matter."""
    if repeat is None:
        return pl.Series([False]).new_from_index(0, part.height)
    lead = next(name for name in SCALE if name in part.columns)
    near = (pl.col(lead) * SCALE[lead] // SECOND - repeat.at_s).abs() <= 2 * 3600
    after = (pl.col("shard") > repeat.shard) | ((pl.col("shard") == repeat.shard) & pl.col("repeated"))
    return part.select((near & after).fill_null(value=False).alias("late"))["late"]


def to_utc(micros: pl.Series, rule: Rule, late: pl.Series) -> pl.Series:
    """Turn wall-clock microseconds into UTC by the rule's zone or the offsets found."""
    table = pl.DataFrame({"micros": micros, "late": late})
    if rule.offsets is None:
        return table.select(clock.to_utc(pl.col("micros"), rule.zone, late=pl.col("late")).alias("utc"))[
            "utc"
        ]
    wanted = table.with_row_index("row").with_columns(minute=pl.col("micros") // MINUTE).sort("minute")
    joined = wanted.join_asof(rule.offsets, on="minute").with_columns(pl.col("offset_min").backward_fill())
    return joined.sort("row").select(utc=pl.col("micros") - pl.col("offset_min").cast(pl.Int64) * MINUTE)[
        "utc"
    ]
