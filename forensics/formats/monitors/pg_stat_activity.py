r"""Snapshots of PostgreSQL's sessions, ``select … from pg_stat_activity``, in every shape that psql prints.

      pid  | usename  | application_name | state  | wait_event |          query_start
    -------+----------+------------------+--------+------------+-------------------------------
     21353 | app      | pool             | active | PgSleep    | 2026-11-29 12:20:40.006732+00
    (1 row)

Where the query groups sessions (``count(*) … GROUP BY application_name, state``), each group stands for as many as it counts.

Told are the client backends, all and per state, those that wait for a lock, and each session with what it holds and waits for. A snapshot is dated by ``now()`` or another time of
its own, by the stamp of ``\\watch`` (local, no zone), by the begin of the query itself where that is among the
sessions, by the file's name, else by the newest instant in it, which is a lower bound. ``count(*)`` includes
background processes; a limit is known only where the query asked for it.

Reference: https://www.postgresql.org/docs/current/monitoring-stats.html, postgres/postgres src/bin/psql/command.c (do_watch).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path  # noqa: TC003 - part of the plug's signature
from typing import TYPE_CHECKING

from forensics.formats import pg_groups, pg_sessions, psql, psql_instants
from forensics.formats.jsonl import decoded, number
from forensics.formats.state import framed
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
LIMIT = ("max_connections", "max_conn", "max", "setting", "limit", "current_setting", "max_conns")
NEWEST = ("state_change", "query_start", "xact_start", "backend_start")
BOUND = "no now() in the query: a snapshot is dated by the newest {0} in it and was taken no earlier"
NAMED = "no now() in the query: a snapshot is dated by the file's name"
UNDATED = "no now() in the query, and no stamp: when the snapshot was taken is not known; now() among its columns, or date and time in the file's name, would tell"
ALL = "no backend_type in the query: sessions without a state, or that wait for an Activity, were taken for background processes and left out"
EVERY = (
    "count(*) of pg_stat_activity includes background processes: add where backend_type = 'client backend'"
)
NAMELESS = "the columns have no names: taken as time, count and limit, in this order"
MARKS = (
    b"pid",
    b"|",
    b"---",
    "│".encode(),
    "─".encode(),
    *(name.encode() for name in sorted(pg_groups.KEYS)),
)
"""One of these stands in every table that psql prints and that is of use here."""
TOGETHER_US = 60_000_000
"""Tables of one file that say to be further apart than this tell of different instants."""
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
    if any(lists(table) or lists_locks(table.columns) for table in tables):
        return 1.0
    if not tables or text.lstrip()[:1] in ("[", "{") or psql.csv_delimiter(text.splitlines()):
        return 0.0
    fits = sum(is_count(table) for table in tables)
    return 0.9 * fits / len(tables)


def lists(table: psql.Table) -> bool:
    """Does a table list sessions, one by one or in groups?"""
    return is_sessions(table.columns) or pg_groups.is_groups(table.columns, table.rows)


def is_sessions(columns: Sequence[str]) -> bool:
    """Does a table list sessions?"""
    return (
        "pid" in columns
        and not set(columns) & LOGGED
        and len(SESSION.intersection(columns)) >= 1
        and ("state" in columns or len(SESSION.intersection(columns)) >= 2)
    )


def lists_locks(columns: Sequence[str]) -> bool:
    """Does a table list locks, or who blocks whom?"""
    return pg_sessions.is_pairs(columns) or (pg_sessions.is_locks(columns) and "locktype" in columns)


def is_count(table: psql.Table) -> bool:
    """Does a table count something at a time?"""
    if not table.columns[0]:
        return True
    dated = table.stamp is not None or set(NOW).intersection(table.columns)
    return bool(dated and pg_groups.count_column(table.columns))


def parse(path: Path, fields: Mapping[str, str]) -> Parsed:
    """Read every snapshot."""
    del fields
    page = psql.read(decoded(b"".join(streams.chunks(path))))
    notes: dict[str, None] = {}
    limit = pg_sessions.limit_of((table.columns, [row for _, row in table.rows]) for table in page.tables)
    taken = [snap for table in page.tables for snap in snapshots(table, path.name, notes)]
    rows: list[dict[str, object]] = []
    listed: list[dict[str, object]] = []
    for ordinal, snap in enumerate(together(taken), 1):
        stamp = {"ts": snap.ts, "naive": snap.naive}
        if snap.sessions is None:
            told = counts([row for _, row in snap.rows], snap.table, notes)
        else:
            told = tally(snap, limit, notes)
            shown = {**stamp, "snapshot": ordinal, "dated": snap.dated, "limit": limit or snap.limit}
            listed += [{**row, **shown} for row in snap.sessions.values()]
        rows += [{"line": snap.line, **stamp, **row} for row in told]
    if not rows and not listed:
        raise UnreadableError(
            "no table in it lists or counts sessions",
            remedy='psql -c "select now(), * from pg_stat_activity" --csv > FILE',
        )
    pg_sessions.instants(listed)
    return Parsed(
        samples=framed("samples", rows),
        sessions=framed("sessions", listed),
        in_records=page.in_records,
        blank=page.blank,
        unparsed=page.unparsed,
        first_unparsed=page.first_unparsed,
        notes=tuple(notes),
    )


Row = pg_sessions.Row


@dataclass(slots=True)
class Snapshot:
    """Rows of one instant; ``sessions`` by process id, None where the rows count and do not list."""

    table: psql.Table
    line: int
    ts: int | None
    naive: bool
    dated: str
    rows: list[tuple[int, Row]]
    sessions: dict[str, dict[str, object]] | None = None

    @property
    def listed(self) -> bool:
        """Does it list sessions, one by one or in groups, and not their locks alone?"""
        return lists(self.table)

    @property
    def limit(self) -> float | None:
        """The server's limit, where the query asked for it beside the sessions."""
        named = [name for name in LIMIT[:2] if name in self.table.columns]
        values = [
            value for name in named for _, row in self.rows if (value := number(row.get(name))) is not None
        ]
        return max(values, default=None)


def snapshots(table: psql.Table, name: str, notes: dict[str, None]) -> Iterator[Snapshot]:
    """Yield the snapshots of a table, which may hold many, each with a time of its own; ``name`` is that of the file."""
    rows = [(line, row) for line, row in table.rows if row]
    locks = pg_sessions.is_locks(table.columns) or pg_sessions.is_pairs(table.columns)
    if not (lists(table) or locks or is_count(table)):
        return
    names = ["0"] if not table.columns[0] else [one for one in NOW if one in table.columns]
    if names and any(row.get(names[0]) for _, row in rows):
        stamps = [row.get(names[0]) for _, row in rows]
        for stamp in dict.fromkeys(stamp for stamp in stamps if stamp):
            part = [(line, row) for (line, row), its in zip(rows, stamps, strict=True) if its == stamp]
            yield Snapshot(table, part[0][0], *psql_instants.newest([stamp]), "now", part)
        return
    if table.stamp is not None:
        ts, naive = psql_instants.of_watch(table.stamp)
        yield Snapshot(table, table.line, ts, naive, "watch" if ts is not None else "unknown", rows)
        return
    if (own := asking(rows)) is not None:
        yield Snapshot(table, table.line, *psql_instants.newest([own]), "now", rows)
        return
    if (said := psql_instants.of_name(name)) is not None:
        notes[NAMED] = None
        yield Snapshot(table, table.line, *psql_instants.newest([said]), "name", rows)
        return
    newest = next((one for one in NEWEST if any(row.get(one) for _, row in rows)), None)
    if newest is not None:
        notes[BOUND.format(newest)] = None
    elif lists(table):
        notes[UNDATED] = None
    ts, naive = psql_instants.newest([row.get(newest) for _, row in rows]) if newest else (None, False)
    yield Snapshot(table, table.line, ts, naive, "newest" if newest else "unknown", rows)


def asking(rows: Sequence[tuple[int, Row]]) -> str | None:
    """Return when the query itself began, which is among the sessions where none is left out; None where it is not."""
    found = [
        row
        for _, row in rows
        if row.get("state") == "active" and "pg_stat_activity" in (row.get("query") or "")
    ]
    began = [row.get("query_start") or row.get("xact_start") for row in found]
    return began[0] if len(began) == 1 else None


def together(taken: Sequence[Snapshot]) -> Iterator[Snapshot]:
    """Yield snapshots in order, each with its sessions; tables of locks belong to the listing before them, else to the one after."""
    listings = [index for index, snap in enumerate(taken) if snap.listed]
    for snap in taken:
        if snap.listed and not is_sessions(snap.table.columns):
            snap.sessions = pg_groups.told_of(snap.table.columns, snap.rows)
        elif snap.listed:
            typed = "backend_type" in snap.table.columns
            rows = [row for row in snap.rows if row[1].get("pid") or "pid" not in snap.table.columns]
            snap.sessions = pg_sessions.once(
                pg_sessions.told_of(line, row, typed=typed) for line, row in rows
            )
    for index, snap in enumerate(taken):
        locks, pairs = pg_sessions.is_locks(snap.table.columns), pg_sessions.is_pairs(snap.table.columns)
        if not (locks or pairs):
            continue
        near = max((one for one in listings if one <= index), default=next(iter(listings), None))
        target = snap if near is None or apart(snap, taken[near]) else taken[near]
        target.sessions = {} if target.sessions is None else target.sessions
        (pg_sessions.lock if locks else pg_sessions.pair)(target.sessions, snap.rows)
    for snap in taken:
        if snap.listed or snap.sessions or is_count(snap.table):
            yield snap


def apart(one: Snapshot, other: Snapshot) -> bool:
    """Do two tables tell of different instants?"""
    return one.ts is not None and other.ts is not None and abs(one.ts - other.ts) > TOGETHER_US


def tally(snap: Snapshot, limit: float | None, notes: dict[str, None]) -> Iterator[dict[str, object]]:
    """Count the client backends of one snapshot, all and per state; nothing of one that tells of locks alone."""
    columns = snap.table.columns
    if not snap.listed or snap.sessions is None:
        return
    rows = [row for row in snap.sessions.values() if row.get("background") is False]
    if "backend_type" not in columns and len(rows) < len(snap.sessions):
        notes[ALL] = None
    if any(row.get("mixed") for row in rows):
        notes[EVERY] = None
    limit = limit or snap.limit
    total = sum(map(stands_for, rows))
    yield {"series": SERIES, "value": total, "limit": sensible(total, limit)}
    states: Counter[str] = Counter()
    for row in rows:
        if state := row.get("state"):
            states[str(state)] += stands_for(row)
    for state, n in sorted(states.items()):
        yield {"series": f"pg_stat_activity {state}", "value": n}
    if "wait_event_type" in columns:
        yield {
            "series": "pg_stat_activity waiting for a lock",
            "value": sum(stands_for(row) for row in rows if row.get("wait_type") == "Lock"),
        }


def stands_for(row: dict[str, object]) -> int:
    """Return how many sessions a row stands for."""
    count = row.get("count")
    return count if isinstance(count, int) else 1


def counts(rows: list[Row], table: psql.Table, notes: dict[str, None]) -> Iterator[dict[str, object]]:
    """Return the counts of one snapshot, per state where the query grouped by it."""
    notes[EVERY] = None
    if not table.columns[0]:
        notes[NAMELESS] = None
        for row in rows:
            value, limit_ = number(row.get("1")), number(row.get("2"))
            yield {"series": SERIES, "value": value, "limit": sensible(value, limit_)}
        return
    column = pg_groups.count_column(table.columns)
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
    marks="when the snapshot was taken: its now(), the stamp of \\watch, the file's name, or at least the newest instant in it",
    sniff=sniff,
    parse=parse,
    samples=(
        "ts,pid,usename,state,backend_type,query\n2026-11-29 12:20:40.543066+00,21353,app,active,client backend,select 1",
        "-[ RECORD 1 ]-----------\npid         | 21353\nstate       | active\nquery_start | 2026-11-29 12:20:40.006732+00",
        "2026-11-29 12:20:40.603028+00|11|100",
        "now|application_name|state|count\n2026-11-29 12:20:40.543066+00|shop|active|7\n2026-11-29 12:20:40.543066+00|shop|idle|3",
    ),
    reference="postgres/postgres src/bin/psql/command.c",
)
