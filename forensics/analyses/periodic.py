"""Which messages does a service print at a beat of its own?

A timer that prints asks for no traffic: that its lines stay away tells that the process did not run, where all others may only
have had nothing to do. Messages are counted by the minute: one that comes at a beat has the same number in each, but for one
where the beat and the minute do not divide; one that follows traffic varies by the root of its number (Poisson).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from forensics.model.facts import Facts, Periodic, PeriodicLine, Silences
from forensics.model.plug import Analysis

if TYPE_CHECKING:
    from forensics.model.digest import Evidence
    from forensics.model.known import Known

MINUTE = 60_000_000
FEWEST = 6
"""Whole minutes with the message from which it has a beat: four of five would have its number by chance once in a hundred."""
PRESENT = 0.9
"""Share of the service's minutes, silences left out, in which the message must stand."""
ALIKE = 0.85
"""Share of its minutes that must have its number."""
DIVIDES = 4
"""Messages a minute from which one more or less is the same beat."""


def periodic(evidence: Evidence, known: Known, facts: Facts) -> Periodic:
    """Return the messages that come at a beat, per service."""
    del known
    rows = evidence["templates"].filter(pl.col("service").is_not_null() & ~pl.col("trace"))
    counted = (
        rows.group_by("service", "template", "minute")
        .agg(
            pl.col("n").sum(),
            first=pl.struct("source", "first_line").first(),
            last=pl.struct("source", "last_line").last(),
        )
        .sort("service", "template", "minute")
    )
    whole = whole_minutes(evidence["seconds"], facts[Silences])
    kept = counted.join(whole, on=["service", "minute"], how="semi")
    usual = kept.with_columns(usual=pl.col("n").median().over("service", "template"))
    apart = (pl.col("n") - pl.col("usual")).abs()
    alike = pl.when(pl.col("usual") >= DIVIDES).then(apart <= 1).otherwise(apart == 0)
    beats = (
        usual.group_by("service", "template")
        .agg(minutes=pl.len(), usual=pl.col("usual").first(), alike=alike.mean())
        .join(whole.group_by("service").agg(of=pl.len()), on="service")
        .filter((pl.col("minutes") >= FEWEST) & (pl.col("minutes") >= PRESENT * pl.col("of")) & (pl.col("alike") >= ALIKE))
        .sort("service", "template")
    )  # fmt: skip
    mine = counted.join(beats, on=["service", "template"], how="semi", maintain_order="left").partition_by(
        "service", "template", as_dict=True
    )
    return Periodic(
        tuple(
            PeriodicLine(row["service"], row["template"], row["usual"], mine[row["service"], row["template"]])
            for row in beats.iter_rows(named=True)
        )
    )


def whole_minutes(seconds: pl.DataFrame, found: Silences) -> pl.DataFrame:
    """Return the minutes of each service between its first and its last that no silence touches."""
    lines = seconds.filter(pl.col("service").is_not_null() & (pl.col("kind") != "unit"))
    edges = lines.group_by("service").agg(
        lo=pl.col("first_us").min() // MINUTE + 1, hi=pl.col("last_us").max() // MINUTE
    )
    minutes = edges.select("service", minute=pl.int_ranges("lo", "hi")).explode("minute", empty_as_null=False)
    quiet = pl.DataFrame(
        [(one.service, one.start // MINUTE, (one.end if one.end is not None else one.start) // MINUTE + 1) for one in found.items],
        schema={"service": pl.String, "lo": pl.Int64, "hi": pl.Int64}, orient="row",
    )  # fmt: skip
    touched = quiet.select("service", minute=pl.int_ranges("lo", "hi")).explode("minute", empty_as_null=False)
    return minutes.join(touched, on=["service", "minute"], how="anti")


PLUG = Analysis(
    name="periodic",
    question="Which messages does a service print at a beat of its own?",
    gives=Periodic,
    run=periodic,
    needs=(Silences,),
)
