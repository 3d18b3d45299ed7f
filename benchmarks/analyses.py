"""Time of all analyses over the Digest of ten million records, and that it does not grow with their text.

The Digest is that of a recording, laid end to end until it stands for so many records: what the analyses see is what they would see
of a day of such a service.
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


def main(fixture: Path) -> None:
    """Print the time of each analysis and of all."""
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
    times = -(-RECORDS // records)
    evidence = tiled(case.evidence, times, span)
    began = time.perf_counter()
    run_all(evidence, case.known)
    took = time.perf_counter() - began
    print(f"analyses over {records * times:,} records ({times} x {fixture.name}): {took:.1f} s")
