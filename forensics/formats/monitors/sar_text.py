"""System activity as ``sar`` prints it.

    Linux 6.18.44 (vm)  11/29/26  _x86_64_ (2 CPU)

    12:25:43        CPU      %usr     %nice      %sys   %iowait    %steal     %idle
    12:25:44        all     82.09      0.00      8.96      1.00      0.50      7.46
    Average:        all     82.78      0.00     13.38      0.50      0.33      2.84

The date stands in the header alone, in the locale's order, and the times are the host's local ones, perhaps with AM and PM; a
block that passes midnight goes on in the next day. A figure stands at the end of the interval that it is averaged over.

Reference: sysstat/sysstat sar.c, pr_stats.c, common.c (print_gal_header).
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping  # noqa: TC003 - part of the plug's signature
from dataclasses import dataclass, field
from pathlib import Path  # noqa: TC003 - part of the plug's signature

from forensics.formats import heads
from forensics.formats.jsonl import number, whole
from forensics.formats.state import framed
from forensics.formats.sysstat import ITEMS, RESTART, day_of, figure
from forensics.formats.text import lines_of
from forensics.model.plug import Monitor, Parsed

HEADER = re.compile(r"^Linux \S+ \((?P<host>[^)]*)\)\s+(?P<date>\S+)(?:\s.*)?$")
TIMED = re.compile(
    r"^(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)(?: (?P<half>AM|PM))?\s+(?P<rest>\S.*)$"
)
SUMMARY = re.compile(r"^[^\W\d]+:\s")
LINE = rf"{HEADER.pattern.replace('?P<host>', '?:').replace('?P<date>', '?:')}|^\d\d:\d\d:\d\d(?: [AP]M)?\s+\S|{SUMMARY.pattern}"
UNDATED = "the day and month of its header could be either: nothing is placed in time; export with S_TIME_FORMAT=ISO sar, or sadf -j"
MICRO = 1_000_000


def sniff(head: bytes) -> float:
    """Share of lines that are a header, a row or a summary; the first line names the system."""
    lines = heads.lines(head)
    return heads.share(lines, LINE) if lines and HEADER.match(lines[0].strip()) else 0.0


@dataclass(slots=True)
class Reader:
    """The state of a reading: the header above, the columns of the block, and the time before."""

    day_in_name: int | None
    twelve: bool
    host: str = "host"
    date: dt.date | None = None
    columns: list[str] = field(default_factory=list)
    before: int | None = None
    days: int = 0
    samples: list[dict[str, object]] = field(default_factory=list)
    alerts: list[dict[str, object]] = field(default_factory=list)
    undated: bool = False

    def take(self, line: int, raw: str) -> bool:
        """Read one line; False where it is none of sar's."""
        if header := HEADER.match(raw):
            self.host = header["host"] or "host"
            self.date = day_of(header["date"], twelve_hours=self.twelve, day=self.day_in_name)
            self.columns, self.before, self.days = [], None, 0
            return True
        timed = TIMED.match(raw)
        if timed is None:
            return bool(SUMMARY.match(raw))
        cells = timed["rest"].split()
        if "RESTART" in timed["rest"]:
            self.alerts.append(
                {
                    "line": line,
                    "monitor": f"host {self.host}",
                    "state": "restart",
                    "text": RESTART,
                    **self.at(timed),
                }
            )
            return True
        if number(cells[-1].replace(",", ".")) is None:
            if cells != self.columns:
                self.columns, self.before, self.days = cells, None, 0
            self.at(timed)
            return True
        if len(cells) != len(self.columns):
            return False
        item = next((cells[self.columns.index(name)] for name in ITEMS if name in self.columns), None)
        stamp = self.at(timed)
        for name, cell in zip(self.columns, cells, strict=True):
            series, value = figure(name, item), number(cell.replace(",", "."))
            if series is not None and value is not None:
                self.samples.append(
                    {"line": line, "series": f"host {self.host} {series}", "value": value, **stamp}
                )
        return True

    def at(self, timed: re.Match[str]) -> dict[str, object]:
        """Return the local time of a row; a clock that goes back by more than half a day has passed midnight."""
        hour = int(timed["hour"])
        if timed["half"]:
            hour = hour % 12 + 12 * (timed["half"] == "PM")
        second = hour * 3600 + int(timed["minute"]) * 60 + int(timed["second"])
        if self.before is not None and second < self.before - 43_200:
            self.days += 1
        self.before = second
        if self.date is None:
            self.undated = True
            return {"ts": None, "naive": True}
        midnight = (self.date - dt.date(1970, 1, 1)).days + self.days
        return {"ts": (midnight * 86_400 + second) * MICRO, "naive": True}


def parse(path: Path, fields: Mapping[str, str]) -> Parsed:
    """Read every row below the header of its block."""
    del fields
    lines = lines_of(whole(path)).str.strip_chars_end()
    name = re.fullmatch(r"sar?(\d\d)(?:\..*)?", path.name)
    reader = Reader(
        int(name[1]) if name else None, bool(lines.str.contains(r"^\d\d:\d\d:\d\d [AP]M\s").any())
    )
    in_records = blank = unparsed = 0
    first_unparsed: int | None = None
    for line, raw in enumerate(lines, 1):
        if not raw:
            blank += 1
        elif reader.take(line, raw):
            in_records += 1
        else:
            unparsed += 1
            first_unparsed = first_unparsed or line
    return Parsed(
        samples=framed("samples", reader.samples),
        alerts=framed("alerts", reader.alerts),
        in_records=in_records,
        blank=blank,
        unparsed=unparsed,
        first_unparsed=first_unparsed,
        notes=(UNDATED,) if reader.undated else (),
    )


PLUG = Monitor(
    name="sar_text",
    title="system activity, sar",
    marks="end of the interval that a figure is averaged over, the host's local time",
    sniff=sniff,
    parse=parse,
    samples=(
        "Linux 6.18.44 (vm) \t2026-11-29 \t_x86_64_\t(2 CPU)\n12:20:01        CPU     %user     %idle\n12:30:01        all     82.09      7.46",
    ),
    reference="sysstat/sysstat sar.c",
)
