"""Aggregates of columns as plain numbers, which the frames' own types can't promise."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    import polars as pl


def least(column: pl.Series) -> int | None:
    """Return the smallest whole number of a column, None when it is empty."""
    return cast("int | None", column.min())


def most(column: pl.Series) -> int | None:
    """Return the greatest whole number of a column, None when it is empty."""
    return cast("int | None", column.max())


def middle(column: pl.Series) -> float | None:
    """Return the median of a column, None when it is empty."""
    return cast("float | None", column.median())


def mean(column: pl.Series) -> float | None:
    """Return the mean of a column, None when it is empty."""
    return cast("float | None", column.mean())
