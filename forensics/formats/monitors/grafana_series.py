"""Grafana: the series of a panel as CSV, also for Excel (UTF-16, tabs, or a line ``sep=,``).

    "Time","Value"
    2026-11-29 13:14:31,34

The time is that of the sample, in the dashboard's zone, which is not stated; epoch milliseconds are UTC. A series is a column, or rows of
``Series``, ``Time`` and ``Value``. Values with units (``1.2 GiB``) are how the panel shows them, rounded: they are left out. Reference:
grafana/grafana public/app/features/inspector/utils/download.ts.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - part of the plug's signature
from pathlib import Path  # noqa: TC003 - part of the plug's signature

import polars as pl

from forensics.formats.jsonl import decoded
from forensics.formats.tables import OWN, after_separator, delimiter, header, split
from forensics.model.frames import least
from forensics.model.plug import Monitor, Parsed
from forensics.sources import clock, streams

LOGS = ("Line", "body", "line", "tsNs")
FORMATS = ("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f", "%m/%d/%Y, %I:%M:%S %p", "%Y/%m/%d %H:%M:%S")
NUMBER = r"^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$"


def sniff(head: bytes) -> float:
    """1 for columns of a time and numbers."""
    names, width = header(head)
    if width != len(names) or any(name in LOGS for name in names):
        return 0.0
    return float(names[:3] == ("Series", "Time", "Value") or (len(names) > 1 and names[0] == "Time"))


def parse(path: Path, fields: Mapping[str, str]) -> Parsed:
    """Read the samples."""
    del fields
    text, sep, above = after_separator(decoded(b"".join(streams.chunks(path))).replace("\0", ""))
    names, rows, notes = split(text, sep or delimiter(text.partition("\n")[0]))
    total = above + text.count("\n") + bool(text and not text.endswith("\n"))
    if "Time" not in names:
        return Parsed(samples=None, unparsed=total, first_unparsed=1 if total else None)
    rows = rows.with_columns(line=pl.col("line") + above)
    time = pl.col("Time")
    stated = pl.coalesce(clock.iso(time), clock.epoch_any(time))
    local = pl.coalesce(
        time.str.to_datetime(one, time_unit="us", strict=False).dt.epoch("us") for one in FORMATS
    )
    stamped = rows.with_columns(ts=pl.coalesce(stated, local), naive=stated.is_null() & local.is_not_null())
    if "Series" in names and "Value" in names:
        cells = stamped.select("line", "ts", "naive", series="Series", value="Value")
    else:
        columns = [name for name in names if name not in ("Time", *OWN)]
        cells = stamped.unpivot(
            columns, index=["line", "ts", "naive"], variable_name="series", value_name="value"
        )
    given = cells.filter(pl.col("value").str.contains(NUMBER) & pl.col("ts").is_not_null())
    samples = given.with_columns(pl.col("value").cast(pl.Float64, strict=False)).sort("line", "series")
    left = rows.join(stamped.filter(pl.col("ts").is_not_null()), on="line", how="anti")
    shown = cells.filter(pl.col("value").str.contains(r"^-?\d.*[A-Za-z%]"))
    if shown.height:
        notes += (
            f"{shown.height} values carry units and are rounded: download the panel's data without formatting",
        )
    lost, in_rows = int(left["lines"].sum()), int(rows["lines"].sum())
    return Parsed(
        samples=samples,
        in_records=above + 1 + in_rows - lost,
        blank=total - above - 1 - in_rows,
        unparsed=lost,
        first_unparsed=least(left["line"]),
        notes=notes,
    )


PLUG = Monitor(
    name="grafana_series",
    title="Grafana panel series, CSV",
    marks="when the sample was taken; in the dashboard's zone",
    sniff=sniff,
    parse=parse,
    samples=('"Time","Value"\n2026-11-29 13:14:31,34',),
)
