"""Do a journal's own numbers and clocks run through?

A journal numbers its entries, and stamps each with the wall clock and with the monotonic clock of the boot (systemd
docs/JOURNAL_FILE_FORMAT.md). A jump of one clock against the other is a clock that was set; a number that is missing is an entry
that lies in another file, was filtered out of the export, or is lost. A time service that sets the clock says so in any log.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from forensics.model.facts import ClockStep, Continuity, Deletion, Facts, Filtered, Hole
from forensics.model.plug import Analysis
from forensics.model.source import Ref

if TYPE_CHECKING:
    from forensics.model.digest import Evidence
    from forensics.model.known import Known
    from forensics.model.source import Source

STEP_US = 1_000_000
"""Least difference between the clocks that is called a step."""
DRIFT = 0.001
"""Share of a pause that the clocks may drift apart: twice the 500 ppm that the kernel slews at most."""
STATED = ("chronyd.clock-stepped", "ntpd.time-reset", "ntpd.clock-step")
"""Texts in which a time service says by how much it set the clock, forward where positive."""
NEAR_US = 60_000_000
"""A step that a line states and the one that the entries around it show lie so close together, and so do their lengths:"""
ALIKE_S = 1.0
WHOLE = 0.9
"""An export that has this share of the numbers in its span may be one of the whole journal; any other is filtered."""
HOST = ("kernel", "systemd-journald", "init.scope")
"""An export of the whole host has lines of these; without them a missing number is one of another unit."""


def continuity(evidence: Evidence, known: Known, facts: Facts) -> Continuity:
    """Return clock steps, holes and filtered exports; copies say nothing that their originals do not."""
    del known, facts
    counted = [source.index for source in evidence.sources if source.copy_of is None]
    chain = evidence["chain"].filter(pl.col("source").is_in(counted))
    filtered, whole = split(chain.drop_nulls("seq_id"), evidence.sources)
    return Continuity(
        steps=told(clock_steps(chain), stated_steps(evidence["hits"])),
        holes=holes(whole),
        filtered=filtered,
        deletions=deletions(evidence["hits"]),
    )


def deletions(hits: pl.DataFrame) -> tuple[Deletion, ...]:
    """Return when journald or journalctl deleted rotated files, where a line says so; most deletions leave none."""
    rows = hits.filter((pl.col("signature") == "journald.vacuum") & pl.col("ts").is_not_null()).sort(
        "ts", "source", "line"
    )
    return tuple(
        Deletion(row["ts"], json.loads(row["parameters"]).get("size", "?"), Ref(row["source"], row["line"]))
        for row in rows.iter_rows(named=True)
    )


def clock_steps(chain: pl.DataFrame) -> tuple[ClockStep, ...]:
    """Find where the wall clock jumped against the monotonic one, within a boot; each once."""
    keys = ["source", "boot"]
    rows = chain.sort(*keys, "first_mono", "last_mono")
    within = rows.select(
        *keys,
        before_at="first_at",
        after_at="last_at",
        pause=pl.col("last_mono") - pl.col("first_mono"),
        jump=pl.col("last_offset") - pl.col("first_offset"),
        at=pl.col("last_mono") + pl.col("last_offset"),
    )
    between = rows.select(
        *keys,
        before_at=pl.col("last_at").shift(1).over(keys),
        after_at="first_at",
        pause=pl.col("first_mono") - pl.col("last_mono").shift(1).over(keys),
        jump=pl.col("first_offset") - pl.col("last_offset").shift(1).over(keys),
        at=pl.col("first_mono") + pl.col("first_offset"),
    )
    both = pl.concat([within, between.drop_nulls("jump")])
    found = both.filter(pl.col("jump").abs() > STEP_US + DRIFT * pl.col("pause")).sort("source", "after_at")
    found = found.unique(["boot", "at", "jump"], keep="first", maintain_order=True)
    return tuple(
        ClockStep(
            boot=row["boot"],
            at=row["at"],
            jump_s=row["jump"] / 1e6,
            refs=(Ref(row["source"], row["before_at"]), Ref(row["source"], row["after_at"])),
        )
        for row in found.iter_rows(named=True)
    )


def stated_steps(hits: pl.DataFrame) -> tuple[ClockStep, ...]:
    """Return the steps that time services say they made, each once, however many exports show it."""
    rows = hits.filter(pl.col("signature").is_in(STATED) & pl.col("ts").is_not_null())
    by = pl.col("parameters").str.json_path_match("$.offset").cast(pl.Float64, strict=False)
    made = (
        rows.with_columns(by=by, near=pl.col("ts") // NEAR_US)
        .filter(by.abs() * 1e6 > STEP_US)
        .sort("ts", "source", "line")
        .unique(["near", "by"], keep="first", maintain_order=True)
    )
    return tuple(
        ClockStep(None, row["ts"], row["by"], (place,), place)
        for row in made.iter_rows(named=True)
        for place in [Ref(row["source"], row["line"])]
    )


def told(measured: tuple[ClockStep, ...], stated: tuple[ClockStep, ...]) -> tuple[ClockStep, ...]:
    """Join the steps that entries show with the lines that state them; what is only stated is a step too."""
    same = {
        step: next(
            (
                one
                for one in stated
                if abs(one.at - step.at) <= NEAR_US and abs(one.jump_s - step.jump_s) <= ALIKE_S
            ),
            None,
        )
        for step in measured
    }
    joined = [replace(step, said=one.said) if one else step for step, one in same.items()]
    return (*joined, *(one for one in stated if one not in same.values()))


def split(chain: pl.DataFrame, sources: tuple[Source, ...]) -> tuple[tuple[Filtered, ...], pl.DataFrame]:
    """Tell exports that leave entries out from whole journals: (the first, the rows of the others)."""
    files = {source.index for source in sources if source.transport in ("journal_file", "journald_live")}
    spans = (
        chain.group_by("source", "seq_id")
        .agg(pl.col("n").sum(), lo=pl.col("first_seq").min(), hi=pl.col("last_seq").max())
        .with_columns(numbers=pl.col("hi") - pl.col("lo") + 1)
        .sort("source", "seq_id")
    )
    host = [source.index for source in sources if set(HOST) & set(source.services)]
    part = (pl.col("n") < WHOLE * pl.col("numbers")) | ~pl.col("source").is_in(host)
    left_out = spans.filter((pl.col("n") < pl.col("numbers")) & part & ~pl.col("source").is_in(list(files)))
    told = left_out.group_by("source", maintain_order=True).agg(pl.col("n").sum(), pl.col("numbers").sum())
    rows = chain.join(left_out, on=["source", "seq_id"], how="anti")
    return tuple(Filtered(*row) for row in told.select("source", "n", "numbers").iter_rows()), rows


def holes(chain: pl.DataFrame) -> tuple[Hole, ...]:
    """Find numbers that no source has: how many, and between which entries most of them belong."""
    rows = chain.sort("seq_id", "first_seq", "last_seq")
    inner = rows.select(
        "seq_id",
        "source",
        missing=pl.col("last_seq") - pl.col("first_seq") + 1 - pl.col("n").cast(pl.Int64),
        lo=pl.col("first_mono") + pl.col("first_offset"),
        hi=pl.col("last_mono") + pl.col("last_offset"),
        before_at="first_at",
        after_source="source",
        after_at="last_at",
    )
    seams = rows.select(
        "seq_id",
        source=pl.col("source").shift(1).over("seq_id"),
        missing=pl.col("first_seq") - pl.col("last_seq").cum_max().shift(1).over("seq_id") - 1,
        lo=(pl.col("last_mono") + pl.col("last_offset")).shift(1).over("seq_id"),
        hi=pl.col("first_mono") + pl.col("first_offset"),
        before_at=pl.col("last_at").shift(1).over("seq_id"),
        after_source="source",
        after_at="first_at",
    ).drop_nulls("missing")
    numbers = rows.group_by("seq_id").agg(
        total=pl.col("last_seq").max() - pl.col("first_seq").min() + 1 - pl.col("n").cast(pl.Int64).sum()
    )
    gaps = pl.concat([inner, seams.select(inner.columns)]).filter(pl.col("missing") > 0)
    largest = gaps.sort("missing", "source", "before_at", descending=[True, False, False]).unique(
        "seq_id", keep="first", maintain_order=True
    )
    found = largest.join(numbers, on="seq_id").filter(pl.col("total") > 0).sort("source", "seq_id")
    return tuple(
        Hole(
            numbers=row["total"],
            largest=min(row["missing"], row["total"]),
            start=row["lo"],
            end=row["hi"],
            refs=(Ref(row["source"], row["before_at"]), Ref(row["after_source"], row["after_at"])),
        )
        for row in found.iter_rows(named=True)
    )


PLUG = Analysis(
    name="continuity",
    question="Do a journal's own numbers and clocks run through?",
    gives=Continuity,
    run=continuity,
)
