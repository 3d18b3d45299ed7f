"""Which lines lay in a buffer before they arrived? They tell of the time that the program wrote into them.

A record has two times: its event's, which the program wrote, and its arrival, which the transport added. Mostly they are one. A
service whose lines arrive in blocks (standard output that is no terminal is written 4 to 8 KiB at a time: setvbuf(3)) shows them
apart; there failures and calls are placed by the program's own time. What both clocks always differ by is no delay and moves nothing.
"""

from __future__ import annotations

import polars as pl

from forensics.model import schema

SECOND = 1_000_000
BUFFERED_US = 2 * SECOND
"""Delay from which a line counts as having lain in a buffer."""
LINES = 20
"""Lines that must show both times."""
PLACED = ("hits", "failed", "slow", "calls")
MOVED = ("ts", "began", "ended")
KEYS = ["source", "service"]


def late(lags: pl.DataFrame) -> pl.DataFrame:
    """Return the services whose lines lay in a buffer: source, service, usual (quarters), n, least and most (µs), most_line."""
    total = (
        lags.group_by(*KEYS, "quarter")
        .agg(pl.col("n").sum())
        .sort(["n", "quarter"], descending=[True, False])
    )
    usual = total.unique(KEYS, keep="first", maintain_order=True).select(*KEYS, usual="quarter")
    rows = lags.join(usual, on=KEYS).with_columns(
        ((pl.col("quarter") - pl.col("usual")) * schema.QUARTER + pl.col(name)).alias(name)
        for name in ("least", "most")
    )
    found = (
        rows.sort("most", "most_line", descending=[True, False])
        .group_by([*KEYS, "usual"], maintain_order=True)
        .agg(pl.col("n").sum(), pl.col("least").min(), pl.col("most").first(), pl.col("most_line").first())
        .filter((pl.col("n") >= LINES) & (pl.col("most") - pl.col("least") >= BUFFERED_US))
        .sort(KEYS)
    )
    return schema.conform(found.with_columns(shard=pl.lit(0)), {**schema.KEYS, **schema.FRAMES["late"]})


def placed(frames: dict[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Date failures and calls by the program's own time where their lines arrived late; ``arrived`` keeps when they did."""
    found = late(frames["lags"])
    base = found.select(*KEYS, "usual", least=pl.max_horizontal("least", 0))
    return frames | {"late": found} | {name: moved(frames[name], base) for name in PLACED}


def moved(frame: pl.DataFrame, found: pl.DataFrame) -> pl.DataFrame:
    """Move the late rows of one frame back by what they were late."""
    frame = frame.with_columns(arrived=pl.col("ts"))
    if not found.height or not frame.height:
        return frame
    rows = frame.join(found, on=KEYS, how="left", maintain_order="left")
    zone = pl.when(pl.col("own_naive")).then(pl.col("usual") * schema.QUARTER).otherwise(0)
    delay = pl.col("ts") - pl.col("own_us") - zone - pl.col("least")
    delay = pl.when(delay >= BUFFERED_US).then(delay).otherwise(0).fill_null(0)
    return rows.with_columns(pl.col(name) - delay for name in MOVED if name in rows.columns).select(
        frame.columns
    )
