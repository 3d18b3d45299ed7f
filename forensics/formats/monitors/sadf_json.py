"""System activity as ``sadf -j`` writes it.

    {"sysstat": {"hosts": [{"nodename": "vm", "timezone": "UTC", "statistics": [
      {"timestamp": {"date": "2026-11-29", "time": "12:25:44", "utc": 1, "interval": 1}, "cpu-load": [{"cpu": "all", "usr": 82.09}]}]}]}}

The time is the end of the interval that a figure is averaged over; ``utc`` 1 says UTC, else it is the host's local time. A restart
is told as an alert.

Reference: sysstat/sysstat json_stats.c, sadf_misc.c; sadf(1).
"""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - part of the plug's signature
from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.formats.jsonl import listing, mapping, number, read, text
from forensics.formats.state import framed, times
from forensics.formats.sysstat import RESTART, figure
from forensics.model.plug import Monitor, Parsed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

COLUMNS = {
    "memory": {"memused-percent": "%memused", "commit-percent": "%commit", "swpused-percent": "%swpused"},
    "swap-pages": {"pswpin": "pswpin/s", "pswpout": "pswpout/s"},
    "paging": {"majflt": "majflt/s"},
    "queue": {"runq-sz": "runq-sz", "ldavg-1": "ldavg-1", "blocked": "blocked"},
}
"""Activity to its fields, and the column that sar gives them."""
CPU = {
    "user": "%user",
    "usr": "%usr",
    "system": "%system",
    "sys": "%sys",
    "iowait": "%iowait",
    "steal": "%steal",
    "idle": "%idle",
}
DISK = {"await": "await", "util-percent": "%util"}


def sniff(head: bytes) -> float:
    """1 for an object sysstat with hosts."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:200]
    return 1.0 if start.startswith(b"{") and b'"sysstat"' in start and b'"hosts"' in head else 0.0


def parse(path: Path, fields: Mapping[str, str]) -> Parsed:
    """Read every interval; a row is named by the ordinal of its interval."""
    del fields
    document = read(path)
    rows: list[dict[str, object]] = []
    stamps: list[tuple[str | None, bool]] = []
    alerts: list[dict[str, object]] = []
    restarts: list[tuple[str | None, bool]] = []
    line = 0
    for host in (
        mapping(item)
        for value in document.values
        for item in listing(mapping(mapping(value).get("sysstat")).get("hosts"))
    ):
        name = text(host.get("nodename")) or "host"
        for interval in map(mapping, listing(host.get("statistics"))):
            line += 1
            at = stamped(mapping(interval.get("timestamp")), host)
            for series, value in told(interval):
                rows.append({"line": line, "series": f"host {name} {series}", "value": value})
                stamps.append(at)
        for boot in (mapping(mapping(item).get("boot")) for item in listing(host.get("restarts"))):
            line += 1
            alerts.append({"line": line, "monitor": f"host {name}", "state": "restart", "text": RESTART})
            restarts.append(stamped(boot, host))
    return Parsed(
        samples=framed("samples", dated(rows, stamps)),
        alerts=framed("alerts", dated(alerts, restarts)),
        notes=document.notes,
    )


def stamped(stamp: Mapping[str, Any], host: Mapping[str, Any]) -> tuple[str | None, bool]:
    """Return the written time of an interval and whether it is UTC."""
    date, time = text(stamp.get("date")), text(stamp.get("time"))
    utc = stamp.get("utc") in (1, True) or "UTC" in (stamp.get("tz"), host.get("timezone"))
    return (f"{date} {time}" if date and time else None), utc


def dated(rows: list[dict[str, object]], stamps: list[tuple[str | None, bool]]) -> list[dict[str, object]]:
    """Give rows their instants."""
    read_ = times(pl.Series([stamp for stamp, _ in stamps], dtype=pl.String)).frame["ts"]
    return [
        {**row, "ts": ts, "naive": not utc} for row, ts, (_, utc) in zip(rows, read_, stamps, strict=True)
    ]


def told(interval: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield (series, value) of one interval."""
    found: list[tuple[str | None, float | None]] = []
    for cpu in map(mapping, listing(interval.get("cpu-load"))):
        found += [(figure(column, str(cpu.get("cpu"))), number(cpu.get(key))) for key, column in CPU.items()]
    for activity, columns in COLUMNS.items():
        part = mapping(interval.get(activity))
        found += [(figure(column, None), number(part.get(key))) for key, column in columns.items()]
    for disk in map(mapping, listing(interval.get("disk"))):
        found += [
            (figure(column, text(disk.get("disk-device"))), number(disk.get(key)))
            for key, column in DISK.items()
        ]
    yield from ((series, value) for series, value in found if series is not None and value is not None)


PLUG = Monitor(
    name="sadf_json",
    title="system activity, sadf -j",
    marks="end of the interval that a figure is averaged over",
    sniff=sniff,
    parse=parse,
    binary=True,
    reference="sysstat/sysstat json_stats.c",
)
