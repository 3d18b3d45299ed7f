r"""Snapshots of PostgreSQL's sessions, ``select … from pg_stat_activity``, in every shape that psql prints.

      pid  | usename  | application_name | state  | wait_event |          query_start
    -------+----------+------------------+--------+------------+-------------------------------
     21353 | app      | pool             | active | PgSleep    | 2026-11-29 12:20:40.006732+00
    (1 row)

Told are the client backends, all and per state, and those that wait for a lock. A snapshot is dated by ``now()`` or another time of
its own, by the stamp of ``\\watch`` (local, no zone), else by the newest instant in it, which is a lower bound. ``count(*)`` includes
background processes; a limit is known only where the query asked for it.

Reference: https://www.postgresql.org/docs/current/monitoring-stats.html, postgres/postgres src/bin/psql/command.c (do_watch).
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path  # noqa: TC003 - part of the plug's signature
from typing import TYPE_CHECKING

import polars as pl

from forensics.formats import psql
from forensics.formats.jsonl import decoded, number
from forensics.formats.state import framed, times
from forensics.model.errors import UnreadableError
from forensics.model.plug import Monitor, Parsed
from forensics.sources import streams

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SESSION = frozenset(
    ["usename", "datname", "application_name", "client_addr", "state", "wait_event", "wait_event_type", "backend_start", "xact_start", "query_start",
     "state_change", "query", "backend_type", "waiting", "leader_pid", "backend_xmin", "query_id"]
)  # fmt: skip
NOW = (
    "now",
    "ts",
    "time",
    "at",
    "current_timestamp",
    "clock_timestamp",
    "statement_timestamp",
    "transaction_timestamp",
    "localtimestamp",
    "sampled_at",
    "snapshot",
    "timestamp",
    "collected_at",
)
COUNT = (
    "count",
    "connections",
    "conns",
    "used",
    "numbackends",
    "total",
    "n",
    "active_connections",
    "current",
    "sessions",
    "total_connections",
)
LIMIT = ("max_connections", "max_conn", "max", "setting", "limit", "current_setting", "max_conns")
NEWEST = ("state_change", "query_start", "xact_start", "backend_start")
BOUND = "no now() in the query: a snapshot is dated by the newest {0} in it and was taken no earlier"
ALL = (
    "no backend_type in the query: sessions without a state were taken for background processes and left out"
)
EVERY = (
    "count(*) of pg_stat_activity includes background processes: add where backend_type = 'client backend'"
)
NAMELESS = "the columns have no names: taken as time, count and limit, in this order"
MARKS = (b"pid", b"|", b"---", "│".encode(), "─".encode())
"""One of these stands in every table that psql prints and that is of use here."""
MOST = 400
"""Lines of a head that are looked at: a table begins with its columns."""
LOGGED = {"error_severity", "message", "msg"}
"""Fields of log lines, which name a session too."""
SERIES = "pg_stat_activity connections"


def sniff(head: bytes) -> float:
    """1 where a table has a session's columns; 0.9 for counts with their time or limit."""
    if not any(mark in head for mark in MARKS):
        return 0.0
    text = decoded(head if b"\n" not in head else head[: head.rindex(b"\n") + 1])
    text = "\n".join(text.split("\n", MOST)[:MOST])
    tables = psql.read(text).tables
    if any(is_sessions(table.columns) for table in tables):
        return 1.0
    if not tables or text.lstrip()[:1] in ("[", "{") or psql.csv_delimiter(text.splitlines()):
        return 0.0
    fits = sum(is_count(table) for table in tables)
    return 0.9 * fits / len(tables)


def is_sessions(columns: Sequence[str]) -> bool:
    """Does a table list sessions?"""
    return (
        "pid" in columns
        and not set(columns) & LOGGED
        and len(SESSION.intersection(columns)) >= 1
        and ("state" in columns or len(SESSION.intersection(columns)) >= 2)
    )


def is_count(table: psql.Table) -> bool:
    """Does a table count something at a time?"""
    if not table.columns[0]:
        return True
    dated = table.stamp is not None or set(NOW).intersection(table.columns)
    return bool(dated and set(COUNT).intersection(table.columns))


def parse(path: Path, fields: Mapping[str, str]) -> Parsed:
    """Read every snapshot."""
    del fields
    page = psql.read(decoded(b"".join(streams.chunks(path))))
    rows: list[dict[str, object]] = []
    notes: dict[str, None] = {}
    for table in page.tables:
        for line, ts, naive, part in snapshots(table, notes):
            told = (
                sessions(part, table.columns, notes)
                if is_sessions(table.columns)
                else counts(part, table, notes)
            )
            rows += [{"line": line, "ts": ts, "naive": naive, **row} for row in told]
    if not rows:
        raise UnreadableError(
            "no table in it lists or counts sessions",
            remedy='psql -c "select now(), * from pg_stat_activity" --csv > FILE',
        )
    return Parsed(
        samples=framed("samples", rows),
        in_records=page.in_records,
        blank=page.blank,
        unparsed=page.unparsed,
        first_unparsed=page.first_unparsed,
        notes=tuple(notes),
    )


Row = dict[str, str | None]


def snapshots(table: psql.Table, notes: dict[str, None]) -> Iterator[tuple[int, int | None, bool, list[Row]]]:
    """Yield (line, time, whether it is naive, rows) of each snapshot: a table may hold many, each with a time of its own."""
    names = ["0"] if not table.columns[0] else [name for name in NOW if name in table.columns]
    rows = [(line, row) for line, row in table.rows if row]
    if names and any(row.get(names[0]) for _, row in rows):
        stamps = [row.get(names[0]) for _, row in rows]
        for stamp in dict.fromkeys(stamp for stamp in stamps if stamp):
            part = [(line, row) for (line, row), its in zip(rows, stamps, strict=True) if its == stamp]
            yield (part[0][0], *moment([stamp]), [row for _, row in part])
        return
    if table.stamp is not None:
        found = re.search(
            r"[^\W\d]{3},? (?:[^\W\d]{3} +\d+ \d\d:\d\d:\d\d \d{4}|\d\d [^\W\d]{3} \d{4} \d\d:\d\d:\d\d.*)$",
            table.stamp,
        )
        ts, naive = moment([re.sub(" +", " ", found[0])]) if found else (None, True)
        yield table.line, ts, naive, [row for _, row in rows]
        return
    newest = next((name for name in NEWEST if any(row.get(name) for _, row in rows)), None)
    if newest is not None:
        notes[BOUND.format(newest)] = None
    ts, naive = moment([row.get(newest) for _, row in rows]) if newest else (None, False)
    yield table.line, ts, naive, [row for _, row in rows]


def moment(stamps: Sequence[str | None]) -> tuple[int | None, bool]:
    """Return the newest of some times, and whether it carries no zone."""
    read = times(pl.Series(stamps, dtype=pl.String)).frame.drop_nulls("ts").sort("ts")
    return (read["ts"][-1], read["naive"][-1]) if read.height else (None, False)


def sessions(rows: list[Row], columns: Sequence[str], notes: dict[str, None]) -> Iterator[dict[str, object]]:
    """Count the client backends of one snapshot, all and per state."""
    rows = [row for row in rows if row.get("pid") or "pid" not in columns]
    if "backend_type" in columns:
        rows = [row for row in rows if row.get("backend_type") == "client backend"]
    elif "state" in columns and not all(row.get("state") for row in rows):
        notes[ALL] = None
        rows = [row for row in rows if row.get("state")]
    yield {"series": SERIES, "value": len(rows)}
    states = Counter(state for row in rows if (state := row.get("state")))
    for state, n in sorted(states.items()):
        yield {"series": f"pg_stat_activity {state}", "value": n}
    if "wait_event_type" in columns:
        yield {
            "series": "pg_stat_activity waiting for a lock",
            "value": sum(row.get("wait_event_type") == "Lock" for row in rows),
        }


def counts(rows: list[Row], table: psql.Table, notes: dict[str, None]) -> Iterator[dict[str, object]]:
    """Return the counts of one snapshot, per state where the query grouped by it."""
    notes[EVERY] = None
    if not table.columns[0]:
        notes[NAMELESS] = None
        for row in rows:
            value, limit_ = number(row.get("1")), number(row.get("2"))
            yield {"series": SERIES, "value": value, "limit": sensible(value, limit_)}
        return
    column = next((name for name in COUNT if name in table.columns), None)
    limit = next((name for name in LIMIT if name in table.columns and name != column), None)
    if column is None:
        return
    values = [number(row.get(column)) for row in rows]
    limits = [value for row in rows if limit and (value := number(row.get(limit))) is not None]
    total = sum(value for value in values if value is not None)
    alone = len(table.columns) == 1
    yield {
        "series": "count of a watched query" if alone else SERIES,
        "value": total,
        "limit": sensible(total, max(limits, default=None)),
    }
    if "state" in table.columns:
        for row, value in zip(rows, values, strict=True):
            yield {"series": f"pg_stat_activity {row.get('state') or 'without a state'}", "value": value}


def sensible(value: float | None, limit: float | None) -> float | None:
    """Return a limit unless the count lies above it: then it counts more than the limit limits."""
    return limit if limit is not None and value is not None and limit >= value else None


PLUG = Monitor(
    name="pg_stat_activity",
    title="PostgreSQL sessions, psql",
    marks="when the snapshot was taken: its now(), the stamp of \\watch, or at least the newest instant in it",
    sniff=sniff,
    parse=parse,
    samples=(
        "ts,pid,usename,state,backend_type,query\n2026-11-29 12:20:40.543066+00,21353,app,active,client backend,select 1",
        "-[ RECORD 1 ]-----------\npid         | 21353\nstate       | active\nquery_start | 2026-11-29 12:20:40.006732+00",
        "2026-11-29 12:20:40.603028+00|11|100",
    ),
    reference="postgres/postgres src/bin/psql/command.c",
)
