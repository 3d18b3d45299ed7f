"""A page of metrics as an exporter serves it (``/metrics``), and ``promtool tsdb dump-openmetrics``.

    # TYPE pg_stat_activity_count gauge
    pg_stat_activity_count{datname="shop",state="active"} 12 1795955159000

A value may have a time (milliseconds, in OpenMetrics seconds); most pages have none, and then the file does not say when it was
fetched: its values are not placed in time.

Reference: prometheus/docs content/docs/instrumenting/exposition_formats.md.
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
from forensics.sources import clock

LINE = r"^(?P<name>[a-zA-Z_:][\w:]*)(?:\{(?P<labels>.*)\})? +(?P<value>[+-]?(?:\d\S*|\.\d\S*|Inf|NaN))(?: +(?P<time>-?\d+(?:\.\d+)?))?(?: # \{.*)?$"
COMMENT = r"^#(?:$| (?:HELP|TYPE|UNIT|EOF)\b)"
UNDATED = "a page of metrics does not say when it was fetched: export a range from Prometheus instead (promtool query range)"


def sniff(head: bytes) -> float:
    """Share of lines that are metrics or their comments; without a comment or labels it is anything."""
    lines = heads.lines(head)
    sure = heads.fitting(lines, r'^# (?:HELP|TYPE) \S+|^[a-z_:]\w*\{\w+="')
    return 0.95 * heads.share(lines, f"{LINE}|{COMMENT}") if sure else 0.0


def parse(path: Path, fields: Mapping[str, str]) -> Parsed:
    """Read every value."""
    del fields
    table = pl.DataFrame({"raw": lines_of(whole(path)).str.strip_chars_end()}).with_row_index(
        "line", offset=1
    )
    blank = int((table["raw"] == "").sum())
    comments = table.filter(pl.col("raw").str.starts_with("#"))
    rest = table.filter((pl.col("raw") != "") & ~pl.col("raw").str.starts_with("#"))
    groups = rest.with_columns(pl.col("raw").str.extract_groups(LINE)).unnest("raw")
    unparsed = groups.filter(pl.col("value").is_null())
    points = groups.filter(pl.col("value").is_not_null()).select(
        "line",
        "name",
        pl.col("labels").fill_null("").str.strip_suffix(","),
        ts=clock.epoch_any(pl.col("time")),
        value=pl.col("value").str.replace("Inf", "inf").cast(pl.Float64, strict=False),
    )
    said = told(points)
    return Parsed(
        beats=said.beats,
        samples=said.samples,
        notes=((UNDATED,) if points["ts"].null_count() else ()) + said.notes,
        in_records=points.height + comments.height,
        blank=blank,
        unparsed=unparsed.height,
        first_unparsed=least(unparsed["line"]),
    )


PLUG = Monitor(
    name="prometheus_exposition",
    title="page of metrics (/metrics)",
    marks="the value's own time, where it has one",
    sniff=sniff,
    parse=parse,
    samples=(
        '# TYPE pg_stat_activity_count gauge\npg_stat_activity_count{datname="shop",state="active"} 12 1795955159000',
        'hikaricp_connections_active{pool="main"} 10 1795955159.5',
    ),
    reference="prometheus/docs content/docs/instrumenting/exposition_formats.md",
)
