"""From when to when does each service leave lines? Every "never", "first" and "none" rests on this."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from forensics.model.facts import Cover, Coverage, Facts
from forensics.model.plug import Analysis
from forensics.model.source import Ref

if TYPE_CHECKING:
    from forensics.model.digest import Evidence
    from forensics.model.known import Known


def coverage(evidence: Evidence, known: Known, facts: Facts) -> Coverage:
    """Return first and last line of each service, and the span of all dated inputs."""
    del known, facts
    table = evidence["seconds"].drop_nulls("service")
    grouped = table.group_by("service").agg(
        first=pl.col("first_us").min(),
        last=pl.col("last_us").max(),
        lines=pl.col("n").sum(),
        sources=pl.col("source").unique().sort(),
        first_row=place("first_line", pl.col("first_us") == pl.col("first_us").min()).first(),
        last_row=place("last_line", pl.col("last_us") == pl.col("last_us").max()).last(),
    )
    services = tuple(
        Cover(
            service=row["service"], first=row["first"], last=row["last"], lines=row["lines"], sources=tuple(row["sources"]),
            first_ref=Ref(row["first_row"]["source"], row["first_row"]["first_line"]), last_ref=Ref(row["last_row"]["source"], row["last_row"]["last_line"]),
        )
        for row in grouped.sort("service").iter_rows(named=True)
    )  # fmt: skip
    edges = [
        (source.first_us, source.last_us)
        for source in evidence.sources
        if source.first_us is not None and source.last_us is not None
    ]
    return Coverage(
        services, min((lo for lo, _ in edges), default=None), max((hi for _, hi in edges), default=None)
    )


def place(line: str, there: pl.Expr) -> pl.Expr:
    """Return the places of some rows in order: what is sorted is a few rows of a service, not all of them."""
    rows = [pl.col(name).filter(there) for name in ("source", line)]
    return pl.struct(rows).sort_by(rows)


PLUG = Analysis(
    name="coverage", question="From when to when does each service leave lines?", gives=Coverage, run=coverage
)
