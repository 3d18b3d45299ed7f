"""System activity as ``sadf -d`` writes it: blocks of semicolon-separated lines, each below its own header.

    # hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle
    vm;1;2026-11-29 12:25:44 UTC;-1;82.09;0.00;8.96;1.00;0.50;7.46

The time is the end of the interval that a figure is averaged over: UTC where it says so, with ``-U`` an epoch, else the host's local
time. CPU -1 is all of them. ``LINUX-RESTART`` is told as an alert.

Reference: sysstat/sysstat sadf.c, sadf_misc.c, rndr_stats.c; sadf(1).
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - part of the plug's signature
from pathlib import Path  # noqa: TC003 - part of the plug's signature

import polars as pl

from forensics.formats import heads
from forensics.formats.jsonl import number, whole
from forensics.formats.state import framed, times
from forensics.formats.sysstat import ITEMS, RESTART, figure
from forensics.formats.text import lines_of
from forensics.model.plug import Monitor, Parsed

HEADER = "# hostname;interval;timestamp"
ROW = r"^[^;]+;-?\d+;(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?: \S+)?|\d{9,})(?:;|$)"


def sniff(head: bytes) -> float:
    """Share of lines that are headers or rows; the first header must be there."""
    return heads.share(heads.lines(head), f"^#|{ROW}") if HEADER.encode() in head else 0.0


def parse(path: Path, fields: Mapping[str, str]) -> Parsed:
    """Read every row below its header."""
    del fields
    rows: list[dict[str, object]] = []
    alerts: list[dict[str, object]] = []
    stamps: list[str] = []
    restarts: list[str] = []
    columns: list[str] = []
    in_records = blank = unparsed = 0
    first_unparsed: int | None = None
    for line, raw in enumerate(lines_of(whole(path)), 1):
        cells = raw.strip().split(";")
        if cells == [""]:
            blank += 1
            continue
        if raw.startswith("#"):
            columns = [name.removesuffix("[...]") for name in cells]
        elif len(cells) >= 4 and "RESTART" in cells[3]:
            alerts.append({"line": line, "monitor": f"host {cells[0]}", "state": "restart", "text": RESTART})
            restarts.append(cells[2])
        elif len(cells) >= 4 and cells[3].startswith("COM"):
            pass
        elif len(cells) == len(columns):
            item = next((cells[columns.index(name)] for name in ITEMS if name in columns), None)
            for name, cell in zip(columns[3:], cells[3:], strict=True):
                series, value = figure(name, item), number(cell.replace(",", "."))
                if series is not None and value is not None:
                    rows.append({"line": line, "series": f"host {cells[0]} {series}", "value": value})
                    stamps.append(cells[2])
        else:
            unparsed += 1
            first_unparsed = first_unparsed or line
            continue
        in_records += 1
    return Parsed(
        samples=framed("samples", dated(rows, stamps)),
        alerts=framed("alerts", dated(alerts, restarts)),
        in_records=in_records,
        blank=blank,
        unparsed=unparsed,
        first_unparsed=first_unparsed,
    )


def dated(rows: list[dict[str, object]], stamps: list[str]) -> list[dict[str, object]]:
    """Give rows their instants."""
    read_ = times(pl.Series(stamps, dtype=pl.String)).frame
    return [
        {**row, "ts": ts, "naive": naive} for row, (ts, naive) in zip(rows, read_.iter_rows(), strict=True)
    ]


PLUG = Monitor(
    name="sadf_csv",
    title="system activity, sadf -d",
    marks="end of the interval that a figure is averaged over",
    sniff=sniff,
    parse=parse,
    samples=(
        "# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle\nvm;600;2026-11-29 12:30:01 UTC;-1;82.09;0.00;8.96;1.00;0.50;7.46",
    ),
    reference="sysstat/sysstat sadf.c",
)
