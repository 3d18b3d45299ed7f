"""Uptime Kuma's SQLite database: tables ``heartbeat`` and ``monitor``.

    heartbeat(monitor_id, status, msg, time, ping, duration, end_time, retries)    time = '2026-11-29 12:36:51.980'

``time`` is the start of the check, UTC without a zone. Status: 0 down, 1 up, 2 pending, 3 maintenance; an outage
begins at the first pending beat; ``important`` marks a change of status, which is when Kuma notifies. Reference: louislam/uptime-kuma server/model/heartbeat.js, db/.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - part of the plug's signature
from pathlib import Path  # noqa: TC003 - part of the plug's signature

import polars as pl

from forensics.model.plug import Monitor, Parsed
from forensics.sources import clock, sqlite

MAGIC = b"SQLite format 3\0"
STATUS = {0: "down", 1: "up", 2: "pending", 3: "maintenance"}
QUERY = """
select h.id as line, h.important, coalesce(m.name, 'monitor ' || h.monitor_id) as monitor, h.status, h.msg as error, h.time, h.ping as latency_ms, {end_time} as end_time,
       m.interval as period_s, {timeout} as timeout_s
from heartbeat h left join monitor m on m.id = h.monitor_id order by h.monitor_id, h.time, h.id
"""


def sniff(head: bytes) -> float:
    """1 for a SQLite file whose schema page names both tables."""
    return 1.0 if head.startswith(MAGIC) and b"heartbeat" in head and b"monitor" in head else 0.0


def parse(path: Path, fields: Mapping[str, str]) -> Parsed:
    """Read every beat; columns that a version lacks are null."""
    del fields
    with sqlite.copy(path) as database:
        beats, monitors = (sqlite.columns(database, table) for table in ("heartbeat", "monitor"))
        query = QUERY.format(
            end_time="h.end_time" if "end_time" in beats else "null",
            timeout="m.timeout" if "timeout" in monitors else "null",
        )
        table = sqlite.frame(database, query)
    rows = table.with_columns(
        ts=clock.parse_stamp(pl.col("time").cast(pl.String), "%Y-%m-%d %H:%M:%S%.f"),
        naive=pl.lit(value=False),
        status=pl.col("status").replace_strict(STATUS, default="unknown", return_dtype=pl.String),
        http_status=pl.col("error").cast(pl.String).str.extract(r"^(\d{3}) - ").cast(pl.Int16),
        timeout_s=pl.when(pl.col("timeout_s").cast(pl.Float64, strict=False) > 0).then(
            pl.col("timeout_s").cast(pl.Float64, strict=False)
        ),
        error=pl.when(pl.col("status") != 1).then(pl.col("error").cast(pl.String)),
    )
    flips = rows.filter((pl.col("important") == 1) & pl.col("status").is_in(["up", "down"])).filter(
        pl.int_range(pl.len()).over("monitor") > 0
    )
    alerts = flips.with_columns(state=pl.col("status"), text=pl.lit("status change"))
    return Parsed(beats=rows, alerts=alerts)


PLUG = Monitor(
    name="uptime_kuma",
    title="Uptime Kuma database",
    marks="start of the check",
    sniff=sniff,
    parse=parse,
    binary=True,
)
