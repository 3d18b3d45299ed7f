"""Uptime Kuma's SQLite database: tables ``heartbeat`` and ``monitor``, in version 2 also ``stat_hourly``.

    heartbeat(monitor_id, status, msg, time, ping, duration, end_time, retries)    time = '2026-11-29 12:36:51.980'

``time`` is the start of the check, UTC without a zone (of a push monitor: when the push came). Status: 0 down, 1 up,
2 pending, 3 maintenance; an outage begins at the first pending beat; ``important`` marks a change of status, which is
when Kuma notifies. ``duration`` is the time since the beat before and says nothing of the check.

Version 2 deletes beats older than a day unless they are changes of status or among the last 100, so that a hole in older
history is no blindness: what is left of it is told as changes (alerts) and as failed checks per hour (samples).
Version 1 keeps every beat, 180 days by default. A group's beats are worked out from its members and left out.

Reference: louislam/uptime-kuma server/model/heartbeat.js, server/database.js (clearHeartbeatData), server/jobs/clear-old-data.js, db/.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - part of the plug's signature
from pathlib import Path  # noqa: TC003 - part of the plug's signature
from typing import TYPE_CHECKING

import polars as pl

from forensics.formats.state import some
from forensics.model.errors import UnreadableError
from forensics.model.plug import Monitor, Parsed
from forensics.sources import clock, sqlite

if TYPE_CHECKING:
    import sqlite3

MAGIC = b"SQLite format 3\0"
STATUS = {0: "down", 1: "up", 2: "pending", 3: "maintenance"}
QUERY = """
select h.id as line, h.important, coalesce(m.name, 'monitor ' || h.monitor_id) as monitor, h.monitor_id, h.status, h.msg as error, h.time,
       h.ping as latency_ms, m.interval as period_s, {timeout} as timeout_s, {kind} as type, {active} as active
from heartbeat h left join monitor m on m.id = h.monitor_id order by h.monitor_id, h.time, h.id
"""
HOURLY = """
select s.id as line, s.timestamp, s.up, s.down, coalesce(m.name, 'monitor ' || s.monitor_id) as monitor
from stat_hourly s left join monitor m on m.id = s.monitor_id order by s.monitor_id, s.timestamp
"""
NEXT_S = 2.5
"""A beat belongs to the unbroken record if the next follows within this many intervals."""
DEFAULT_S = 60
CODE = r"^(\d{3}) - |status code (\d{3})"


def sniff(head: bytes) -> float:
    """1 for a SQLite file whose first pages name both tables."""
    return 1.0 if head.startswith(MAGIC) and b"heartbeat" in head and b"monitor" in head else 0.0


def parse(path: Path, fields: Mapping[str, str]) -> Parsed:
    """Read every beat; columns that a version lacks are null."""
    del fields
    with sqlite.copy(path) as database:
        return beats_of(database)


def beats_of(database: sqlite3.Connection) -> Parsed:
    """Read an open database."""
    monitors = sqlite.columns(database, "monitor")
    if not monitors or not sqlite.columns(database, "heartbeat"):
        raise UnreadableError(
            "it has no tables heartbeat and monitor",
            remedy="copy the whole data folder of Uptime Kuma, kuma.db with kuma.db-wal",
        )
    query = QUERY.format(
        timeout="m.timeout" if "timeout" in monitors else "null",
        kind="m.type" if "type" in monitors else "null",
        active="m.active" if "active" in monitors else "1",
    )
    table = sqlite.frame(database, query)
    pruned = bool(sqlite.columns(database, "stat_minutely"))
    hourly = sqlite.frame(database, HOURLY) if sqlite.columns(database, "stat_hourly") else pl.DataFrame()
    rows = understood(table)
    groups = rows.filter(pl.col("type") == "group")
    rows = rows.filter(pl.col("type").ne_missing("group"))
    alerts = changes(rows)
    kept, cut = unbroken(rows) if pruned else (rows, 0)
    notes = []
    if cut:
        notes.append(
            f"Uptime Kuma 2 deletes ordinary beats after a day: {cut} older ones are changes of status only, told as alerts; a hole before them is no blindness"
        )
    if groups.height:
        notes.append(f"{groups.height} beats of groups are worked out from their members and left out")
    paused = rows.filter(pl.col("active") == 0)["monitor"].unique().sort().to_list()
    if paused:
        notes.append(f"paused in Uptime Kuma when the file was copied: {', '.join(map(str, paused))}")
    return Parsed(
        beats=some(kept), alerts=some(alerts), samples=some(failed_per_hour(hourly)), notes=tuple(notes),
        keeps_days=kept_days(database),
    )  # fmt: skip


def kept_days(database: sqlite3.Connection) -> int | None:
    """Return for how many days Uptime Kuma keeps results by its settings; None where they do not say, or it keeps all.

    The setting ``keepDataPeriodDays`` holds a number as JSON; less than 1 turns deletion off (server/jobs/clear-old-data.js).
    """
    if not {"key", "value"} <= sqlite.columns(database, "setting"):
        return None
    row = database.execute("select value from setting where key = 'keepDataPeriodDays'").fetchone()
    text = str(row[0]).strip().strip('"') if row else ""
    return int(text) if text.isdecimal() and int(text) > 0 else None


def understood(table: pl.DataFrame) -> pl.DataFrame:
    """Give rows of the heartbeat table their instants and results; whatever a column holds, none is refused."""
    said = pl.col("error").cast(pl.String)
    timeout = pl.col("timeout_s").cast(pl.Float64, strict=False)
    return table.with_columns(
        pl.col("status", "important", "active", "monitor_id").cast(pl.Int64, strict=False),
        pl.col("monitor", "type").cast(pl.String),
        ts=clock.parse_stamp(pl.col("time").cast(pl.String), "%Y-%m-%d %H:%M:%S%.f"),
        naive=pl.lit(value=False),
        paused=pl.col("active").cast(pl.Int64, strict=False) == 0,
        http_status=pl.coalesce(said.str.extract(CODE, 1), said.str.extract(CODE, 2)).cast(pl.Int16),
        timeout_s=pl.when(timeout > 0).then(timeout),
        period_s=pl.col("period_s").cast(pl.Float64, strict=False),
        said=said,
    ).with_columns(
        status=pl.col("status").replace_strict(STATUS, default="unknown", return_dtype=pl.String),
        error=pl.when(pl.col("status") != 1).then(pl.col("said")),
    )


def changes(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the changes to up or down, which is when Kuma notifies; the first beat of a monitor is none."""
    flips = rows.filter((pl.col("important") == 1) & pl.col("status").is_in(["up", "down"]))
    return flips.filter(pl.int_range(pl.len()).over("monitor_id") > 0).with_columns(
        state=pl.col("status"), text=pl.lit("status change")
    )


def unbroken(rows: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """Return the beats since ordinary ones are kept, and how many older ones were left out.

    The record is unbroken from the oldest ordinary beat on, and before it as far as beats follow one another.
    """
    kept: list[pl.DataFrame] = []
    for _, part in rows.group_by("monitor_id", maintain_order=True):
        ordinary = (
            part.select((pl.col("important") == 0).arg_max()).item()
            if (part["important"] == 0).any()
            else None
        )
        if ordinary is None:
            continue
        times = part["ts"].to_list()
        reach = NEXT_S * (part["period_s"][0] or DEFAULT_S) * 1e6
        start = int(ordinary)
        while (
            start
            and times[start] is not None
            and times[start - 1] is not None
            and times[start] - times[start - 1] <= reach
        ):
            start -= 1
        kept.append(part.slice(start))
    left = pl.concat(kept) if kept else rows.clear()
    return left, rows.height - left.height


def failed_per_hour(hourly: pl.DataFrame) -> pl.DataFrame:
    """Return the counts of failed checks that outlive the beats, at the start of their hour."""
    if not hourly.height:
        return hourly
    return hourly.with_columns(
        ts=pl.col("timestamp").cast(pl.Int64, strict=False) * 1_000_000,
        naive=pl.lit(value=False),
        series=pl.lit("failed checks per hour: ") + pl.col("monitor").cast(pl.String),
        value=pl.col("down").cast(pl.Float64, strict=False),
    )


PLUG = Monitor(
    name="uptime_kuma",
    title="Uptime Kuma database",
    marks="start of the check",
    sniff=sniff,
    parse=parse,
    binary=True,
    reference="louislam/uptime-kuma server/database.js",
)
