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
    )
    firsts = places(table, grouped, "first_us", "first", "first_line").unique(
        "service", keep="first", maintain_order=True
    )
    lasts = places(table, grouped, "last_us", "last", "last_line").unique(
        "service", keep="last", maintain_order=True
    )
    grouped = grouped.join(firsts, on="service").join(lasts, on="service")
    services = tuple(
        Cover(
            service=row["service"], first=row["first"], last=row["last"], lines=row["lines"], sources=tuple(row["sources"]),
            first_ref=Ref(row["first_source"], row["first_line"]), last_ref=Ref(row["last_source"], row["last_line"]),
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


def places(table: pl.DataFrame, grouped: pl.DataFrame, at: str, edge: str, line: str) -> pl.DataFrame:
    """Return service, source and line of the rows at one edge of each service, in order: several lines may share its instant."""
    rows = table.join(grouped.select("service", edge), left_on=["service", at], right_on=["service", edge])
    return rows.select("service", pl.col("source").alias(f"{edge}_source"), line).sort(
        "service", f"{edge}_source", line
    )


PLUG = Analysis(
    name="coverage", question="From when to when does each service leave lines?", gives=Coverage, run=coverage
)
