"""Every sample of a Prometheus database, as ``promtool tsdb dump`` prints it.

    {__name__="up", instance="127.0.0.1:18110", job="node"} 1 1795955152201

The time is the scrape's, milliseconds since 1970 UTC. A dump holds thousands of series: the ones that say something of probes,
connections and pools are read, the others counted.

Reference: prometheus/prometheus cmd/promtool/tsdb.go.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - part of the plug's signature
from pathlib import Path  # noqa: TC003 - part of the plug's signature

import polars as pl

from forensics.formats import heads
from forensics.formats.jsonl import whole
from forensics.formats.prometheus import told
from forensics.formats.text import lines_of
from forensics.model.frames import least
from forensics.model.plug import Monitor, Parsed

LINE = r'^\{(?:__name__="(?P<name>[^"]*)")?(?:, ?)?(?P<labels>.*)\} (?P<value>\S+) (?P<time>-?\d{10,16})$'


def sniff(head: bytes) -> float:
    """Share of lines that are a series, a value and milliseconds."""
    return heads.share(heads.lines(head), LINE)


def parse(path: Path, fields: Mapping[str, str]) -> Parsed:
    """Read every sample."""
    del fields
    table = pl.DataFrame({"raw": lines_of(whole(path)).str.strip_chars_end()}).with_row_index(
        "line", offset=1
    )
    blank = int((table["raw"] == "").sum())
    groups = (
        table.filter(pl.col("raw") != "").with_columns(pl.col("raw").str.extract_groups(LINE)).unnest("raw")
    )
    unparsed = groups.filter(pl.col("time").is_null())
    points = groups.filter(pl.col("time").is_not_null()).select(
        "line",
        pl.col("name").fill_null(""),
        "labels",
        ts=pl.col("time").cast(pl.Int64, strict=False) * 1000,
        value=pl.col("value").cast(pl.Float64, strict=False),
    )
    said = told(points)
    return Parsed(
        beats=said.beats,
        samples=said.samples,
        notes=said.notes,
        in_records=points.height,
        blank=blank,
        unparsed=unparsed.height,
        first_unparsed=least(unparsed["line"]),
    )


PLUG = Monitor(
    name="tsdb_dump",
    title="Prometheus database, promtool tsdb dump",
    marks="the scrape; UTC",
    sniff=sniff,
    parse=parse,
    samples=(
        '{__name__="up", instance="127.0.0.1:18110", job="node"} 1 1795955152201',
        '{__name__="redis_connected_clients", instance="127.0.0.1:9121"} 4.1e+01 1795955152201',
    ),
    reference="prometheus/prometheus cmd/promtool/tsdb.go",
)
