"""How far apart are the clocks of two sources, and how late did lines arrive?

Two sources that log the same requests date each twice: the difference that most pairs share is the offset of the clocks, within the
spread of those pairs. What comes at a beat pairs with any beat and tells nothing, so one difference must stand out. A line whose
program wrote a time of its own also has the time at which it arrived: their difference is how long it lay in a buffer.
Offsets are reported and make orders uncertain; they are never applied.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import polars as pl

from forensics.model.facts import ClockOffset, Clocks, Facts, Lag
from forensics.model.plug import Analysis
from forensics.model.source import Ref

if TYPE_CHECKING:
    from forensics.model.digest import Evidence
    from forensics.model.known import Known

SECOND = 1_000_000
REACH_S = 120
"""Offsets up to this are looked for, in seconds."""
FEWEST = 8
"""Requests that must share a difference."""
SHARE = 0.5
"""Share of the requests of the smaller source that must share it."""
RIVAL = 0.5
"""Another difference that so large a share of them has makes it no measurement."""
MOST = 1000
"""Requests of a source that are compared, from where both logs have begun."""
SOURCES = 16
"""Sources that are compared with each other, those with most requests."""
BUFFERED_US = 2 * SECOND
"""Delay from which a line counts as having lain in a buffer."""
LINES = 20
"""Lines that must show both times."""
QUARTER = 900 * SECOND
"""Zones differ by quarters of an hour: what remains of a difference without a zone is a delay."""


def clocks(evidence: Evidence, known: Known, facts: Facts) -> Clocks:
    """Return the offsets between sources that log the same requests, and how late lines arrived."""
    del known, facts
    counted = [source.index for source in evidence.sources if source.copy_of is None]
    arrivals = evidence["arrivals"].filter(pl.col("ts").is_not_null() & pl.col("source").is_in(counted))
    tables = {
        int(source): part.sort("ts", "line")
        for (source,), part in arrivals.group_by("source", maintain_order=True)
        if part.height >= FEWEST
    }
    largest = sorted(tables, key=lambda source: (-tables[source].height, source))[:SOURCES]
    found = [
        offset
        for one, other in combinations(sorted(largest), 2)
        if overlap(tables[one], tables[other])
        and (offset := between(one, tables[one], other, tables[other])) is not None
    ]
    return Clocks(tuple(found), lags(evidence["lags"]))


def overlap(one: pl.DataFrame, other: pl.DataFrame) -> bool:
    """Do two sources cover some time together? The files of a rotated set do not."""
    reach = REACH_S * SECOND
    return bool(one["ts"][0] <= other["ts"][-1] + reach and other["ts"][0] <= one["ts"][-1] + reach)


def between(one: int, first: pl.DataFrame, other: int, second: pl.DataFrame) -> ClockOffset | None:
    """Measure the offset of ``other`` against ``one``: positive where its clock is ahead."""
    what = ["method", "route", "status"]
    span = REACH_S * SECOND
    begin = max(first["ts"][0], second["ts"][0]) - span
    first = first.filter(pl.col("ts") >= begin).head(MOST)
    if not first.height:
        return None
    second = second.filter(pl.col("ts").is_between(first["ts"][0] - span, first["ts"][-1] + span)).head(
        2 * MOST
    )
    left = first.select(*what, mine="ts", my_line="line", bucket=pl.col("ts") // span)
    near = [
        second.select(*what, theirs="ts", their_line="line", bucket=pl.col("ts") // span + by)
        for by in (-1, 0, 1)
    ]
    pairs = left.join(pl.concat(near), on=[*what, "bucket"], nulls_equal=True).select(
        "mine", "my_line", "their_line", difference=pl.col("theirs") - pl.col("mine")
    )
    pairs = pairs.filter(pl.col("difference").abs() <= span)
    if pairs.height < FEWEST:
        return None
    # Bins of a second, each also shifted by half a one, so that no difference lies on all edges.
    bins = pl.concat(
        [
            pairs.select("mine", bin=(pl.col("difference") + shift) // SECOND * SECOND - shift)
            for shift in (0, SECOND // 2)
        ]
    )
    counts = (
        bins.group_by("bin")
        .agg(n=pl.col("mine").n_unique())
        .sort(["n", pl.col("bin").abs()], descending=[True, False])
    )
    start, n = counts.row(0)
    rivals = counts.filter((pl.col("bin") - start).abs() > 2 * SECOND)["n"]
    smaller = min(first.height, second.height)
    if n < FEWEST or n < SHARE * smaller or (len(rivals) and int(rivals[0]) > RIVAL * n):
        return None
    inside = pairs.filter(pl.col("difference").is_between(start, start + SECOND))
    low, middle, high = (inside["difference"].quantile(at, "nearest") or 0.0 for at in (0.05, 0.5, 0.95))
    example = inside.sort((pl.col("difference") - middle).abs(), "mine").row(0, named=True)
    # A stamp of whole seconds was cut off: it stands for any instant of its second.
    cut = [not table.select((pl.col("ts") % SECOND != 0).any()).item() for table in (first, second)]
    return ClockOffset(
        source=one,
        other=other,
        offset_s=middle / SECOND + 0.5 * (cut[1] - cut[0]),
        uncertainty_s=max(high - middle, middle - low) / SECOND + 0.5 * any(cut),
        requests=n,
        refs=(Ref(one, example["my_line"]), Ref(other, example["their_line"])),
    )


def lags(table: pl.DataFrame) -> tuple[Lag, ...]:
    """Say of which services lines arrived late, by the time that the program itself wrote into them."""
    keys = ["source", "service"]
    total = table.group_by(*keys, "quarter").agg(pl.col("n").sum()).sort("n", descending=True)
    usual = total.unique(keys, keep="first", maintain_order=True).select(*keys, usual="quarter")
    rows = table.join(usual, on=keys).with_columns(
        ((pl.col("quarter") - pl.col("usual")) * QUARTER + pl.col(name)).alias(name)
        for name in ("least", "most")
    )
    late = (
        rows.sort("most", "most_line", descending=[True, False])
        .group_by(keys, maintain_order=True)
        .agg(
            pl.col("n").sum(), pl.col("least").min(), pl.col("most").first(), line=pl.col("most_line").first()
        )
        .filter((pl.col("n") >= LINES) & (pl.col("most") - pl.col("least") >= BUFFERED_US))
        .sort(keys)
    )
    return tuple(
        Lag(
            row["service"],
            row["n"],
            (row["most"] - max(row["least"], 0)) / SECOND,
            Ref(row["source"], row["line"]),
        )
        for row in late.iter_rows(named=True)
    )


PLUG = Analysis(
    name="clocks",
    question="How far apart are the clocks of two sources, and how late did lines arrive?",
    gives=Clocks,
    run=clocks,
)
