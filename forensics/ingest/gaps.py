"""Which lines look like failures although no signature knows them?

A line looks like one if its level says so, or if it has a word that programs print when something failed. A record of
which any line is known is known: the frames of a traceback add nothing to its last line.
"""

from __future__ import annotations

import polars as pl

from forensics.ingest.digest import STREAM, number
from forensics.ingest.understand import template

FAILED = ("error", "err", "critical", "crit", "fatal", "alert", "emerg", "emergency", "panic", "severe")
"""Levels from which on a line is worth a look."""
WORDS = (
    r"(?i)\b(?:time[ds]?[ -]?out|timeouts?|refused|exhausted|exception|unreachable|unavailable|failed|failure|fatal|panic(?:ked)?|"
    r"aborted|killed|deadlock|overflow|out of memory|no space left|too many|reset by peer|broken pipe|cannot connect|could not connect|"
    r"connection (?:lost|closed|terminated)|disconnected|stalled|stuck|unresponsive)\b|\bERROR\b|\w(?:Error|Exception)\b|\bE(?:CONN|TIMEDOUT|PIPE|NOTFOUND|HOST|NET|AI_|MFILE|NOSPC)[A-Z]*\b"
)
GAPS = {"template": pl.String, "line": pl.UInt32, "text": pl.String}


def gaps(events: pl.DataFrame, hits: pl.DataFrame) -> pl.DataFrame:
    """Return template, line and text of the lines that look like failures and stand in no record with a hit.

    ``events`` are understood rows, ``hits`` rows of them that matched, of one shard.
    """
    keys = [*STREAM, "fid"]
    numbered = number(events)
    words = pl.col("message").str.contains(WORDS)
    level = pl.coalesce("said_level", "level").str.to_lowercase().is_in(FAILED).fill_null(value=False)
    told = (pl.col("kind") != "request") & (pl.col("starts") | pl.col("ends"))
    known = hits.select(keys).unique()
    return (
        numbered.filter(told & (words | level))
        .join(known, on=keys, how="anti", nulls_equal=True, maintain_order="left")
        .unique(keys, keep="last", maintain_order=True)
        .select(
            template=template(pl.col("body").str.strip_chars()),
            line=pl.col("line").cast(pl.UInt32),
            text="message",
        )
        .select(*GAPS)
    )


def plain_gaps(lines: pl.DataFrame, hits: pl.DataFrame) -> pl.DataFrame:
    """Return the same of lines that no format reads: ``lines`` has line and message, ``hits`` line."""
    return (
        lines.filter(pl.col("message").str.contains(WORDS))
        .join(hits.select("line").unique(), on="line", how="anti", maintain_order="left")
        .select(template=template(pl.col("message").str.strip_chars()), line="line", text="message")
    )
