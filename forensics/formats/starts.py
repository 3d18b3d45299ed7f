"""How a line begins: the cheapest thing that tells most formats from one another.

Every message format is tried on every line of every log. One look at the first characters of a line leaves a fifth of
the formats; a format that names no beginnings is tried on all lines.
"""

from __future__ import annotations

import polars as pl

STARTS = {
    "date": r"^\d{4}[-/]\d\d[-/]\d\d",
    "digit": r"^\d",
    "upper": r"^[A-Z]",
    "lower": r"^[a-z]",
    "bracket": r"^\[",
    "brace": r"^\{",
    "other": "",
}
"""Names of beginnings to their patterns; the first that fits counts."""


def start(line: pl.Expr) -> pl.Expr:
    """Return the name of a line's beginning."""
    first = line.str.slice(0, 1)
    date = line.str.contains(STARTS["date"])
    return (
        pl.when(first.str.contains(STARTS["digit"]))
        .then(pl.when(date).then(pl.lit("date")).otherwise(pl.lit("digit")))
        .when(first.str.contains(STARTS["lower"]))
        .then(pl.lit("lower"))
        .when(first.str.contains(STARTS["upper"]))
        .then(pl.lit("upper"))
        .when(first == "[")
        .then(pl.lit("bracket"))
        .when(first == "{")
        .then(pl.lit("brace"))
        .otherwise(pl.lit("other"))
    )
