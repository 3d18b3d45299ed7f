"""Time of all analyses over the Digest of ten million records, and that it does not grow with their text.

The Digest is that of a recording, laid end to end until it stands for so many records: what the analyses see is what they would see
of days of such a service. A second one has as many records in one day, of a service with more clients; a third has texts ten times as
long as those of the second.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import polars as pl

from forensics import pipeline
from forensics.analyses import run_all
from forensics.model.digest import Digest, Evidence

if TYPE_CHECKING:
    from pathlib import Path

RECORDS = 10_000_000
SCALE = {
    "ts": 1,
    "began": 1,
    "ended": 1,
    "arrived": 1,
    "first_us": 1,
    "last_us": 1,
    "second": 1_000_000,
    "minute": 60_000_000,
}
"""Microseconds of a unit of each column that holds an instant."""
DAY = 86_400_000_000
ALONE = ("beats", "samples", "alerts", "processes", "chain")
"""Frames of what there is once, however many clients a service has."""
COUNTED = {"seconds": ["kind", "second"], "routes": ["minute", "method", "route", "status"], "templates": ["minute", "template"], "hit_counts": ["minute", "signature"]}  # fmt: skip
"""Frames that count, with what they count by besides source and service."""
SUMMED = {"n": pl.Expr.sum, "first_us": pl.Expr.min, "last_us": pl.Expr.max, "slowest_ms": pl.Expr.max}
"""How the columns of such a frame add up; of any other the first is taken."""
TEXTS = {"templates": "template", "hits": "head", "beats": "error", "alerts": "text", "twice": "what"}
"""The columns that hold text as it was read."""
LONGER = 10


def tiled(evidence: Evidence, times: int, span: int) -> Evidence:
    """Lay the frames of a digest end to end; minutes keep whole."""
    frames = {}
    for name, frame in evidence.digest.frames.items():
        moved = [column for column in SCALE if column in frame.columns]
        if not moved or not frame.height:
            frames[name] = frame
            continue
        copies = frame.join(pl.DataFrame({"tile": range(times)}), how="cross")
        shifts = [
            (pl.col(column) + pl.col("tile") * (span // SCALE[column])).cast(frame.schema[column])
            for column in moved
        ]
        frames[name] = copies.with_columns(shifts).drop("tile").select(frame.columns)
    return Evidence(evidence.sources, Digest(frames))


def crowded(evidence: Evidence, layers: int) -> Evidence:
    """Lay a digest upon itself: so many times the clients, who ask a little later than each other."""
    frames = {}
    for name, frame in evidence.digest.frames.items():
        if name in ALONE or not frame.height:
            frames[name] = frame
            continue
        more = frame.join(pl.DataFrame({"layer": range(layers)}), how="cross")
        moves = [
            pl.col(column) + pl.col("layer") * 1000
            for column, unit in SCALE.items()
            if column in more and unit == 1
        ]
        if "client" in more.columns:
            moves.append(pl.concat_str("client", pl.lit("#"), "layer"))
        more = more.with_columns(moves).select(frame.columns)
        if name in COUNTED:
            keys = ["source", "service", *COUNTED[name]]
            rest = [column for column in frame.columns if column not in keys]
            more = more.group_by(keys, maintain_order=True).agg(
                SUMMED.get(column, pl.Expr.first)(pl.col(column)) for column in rest
            )
            more = more.select(frame.columns)
        frames[name] = more.cast(dict(frame.schema))
    return Evidence(evidence.sources, Digest(frames))


def wordy(evidence: Evidence) -> Evidence:
    """Make the texts of a digest longer."""
    frames = dict(evidence.digest.frames)
    for name, column in TEXTS.items():
        if name in frames:
            frames[name] = frames[name].with_columns(pl.concat_str([pl.col(column)] * LONGER))
    return Evidence(evidence.sources, Digest(frames))


def main(fixture: Path) -> None:
    """Print the time of all analyses over each shape."""
    case = pipeline.investigate([str(fixture)], pipeline.Options())
    records = sum(source.records for source in case.evidence.sources)
    edges = [
        edge
        for source in case.evidence.sources
        for edge in (source.first_us, source.last_us)
        if edge is not None
    ]
    minute = 60_000_000
    span = (max(edges) - min(edges)) // minute * minute  # they overlap a little: a seam is no silence
    times, a_day = -(-RECORDS // records), DAY // span
    busy = crowded(tiled(case.evidence, a_day, span), -(-times // a_day))
    for name, evidence in (
        (f"in {times * span / DAY:.0f} days", tiled(case.evidence, times, span)),
        ("in one day", busy),
        (f"in one day, texts {LONGER} times as long", wordy(busy)),
    ):
        began, used = time.perf_counter(), time.process_time()
        run_all(evidence, case.known)
        took, used = time.perf_counter() - began, time.process_time() - used
        print(f"analyses over {records * times:,} records {name}: {took:.1f} s, {used:.1f} s of processors")
