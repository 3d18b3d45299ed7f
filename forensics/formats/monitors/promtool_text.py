"""Series as ``promtool query instant`` and ``query range`` print them.

    up{instance="127.0.0.1:18110", job="node"} => 1 @[1795955159.195]

    up{instance="127.0.0.1:18110", job="node"} =>
    1 @[1795955154]

The time is that of the query or of its step, seconds since 1970 UTC.

Reference: prometheus/prometheus cmd/promtool/main.go, promql (String of vectors and matrices).
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - part of the plug's signature
from pathlib import Path  # noqa: TC003 - part of the plug's signature

import polars as pl

from forensics.formats import heads
from forensics.formats.jsonl import whole
from forensics.formats.prometheus import STALE, told
from forensics.formats.text import lines_of
from forensics.model.frames import least
from forensics.model.plug import Monitor, Parsed

LINE = r"^(?:(?P<series>(?:[a-zA-Z_:][\w:]*)?(?:\{.*\})?) =>)?(?: ?(?P<value>\S+) @\[(?P<time>-?\d+(?:\.\d+)?)\])?$"


def sniff(head: bytes) -> float:
    """Share of lines that are a series or a value with its time."""
    return heads.share(heads.lines(head), LINE) if b" @[" in head else 0.0


def parse(path: Path, fields: Mapping[str, str]) -> Parsed:
    """Read every value under the series that stands above it."""
    del fields
    lines = lines_of(whole(path)).str.strip_chars_end()
    table = pl.DataFrame({"raw": lines}).with_row_index("line", offset=1)
    blank = int((table["raw"] == "").sum())
    groups = (
        table.filter(pl.col("raw") != "").with_columns(pl.col("raw").str.extract_groups(LINE)).unnest("raw")
    )
    ok = pl.col("series").is_not_null() | pl.col("value").is_not_null()
    unparsed = groups.filter(~ok)
    points = (
        groups.with_columns(pl.col("series").forward_fill())
        .filter(pl.col("value").is_not_null())
        .select(
            "line",
            name=pl.col("series").str.extract(r"^([^{]*)").fill_null(""),
            labels=pl.col("series").str.extract(r"\{(.*)\}$").fill_null(""),
            ts=(pl.col("time").cast(pl.Float64) * 1e6).round().cast(pl.Int64),
            value=pl.col("value").cast(pl.Float64, strict=False),
        )
    )
    said = told(points)
    ranged = groups["value"].is_null().any()
    return Parsed(
        beats=said.beats,
        samples=said.samples,
        notes=((STALE,) if ranged else ()) + said.notes,
        in_records=groups.height - unparsed.height,
        blank=blank,
        unparsed=unparsed.height,
        first_unparsed=least(unparsed["line"]),
    )


PLUG = Monitor(
    name="promtool_text",
    title="Prometheus series, promtool query",
    marks="the query, or its step; UTC",
    sniff=sniff,
    parse=parse,
    samples=(
        'up{instance="127.0.0.1:18110", job="node"} => 1 @[1795955159.195]',
        'probe_success{instance="https://shop.example/health", job="blackbox"} =>\n0 @[1795955154]',
        "{} => 91 @[1795955159]",
    ),
    reference="prometheus/prometheus cmd/promtool/main.go",
)
