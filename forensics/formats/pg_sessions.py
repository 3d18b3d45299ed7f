"""What rows of pg_stat_activity and pg_locks say of each session, whatever the query calls them.

A process of the server itself (autovacuum, WAL writer, walsender, parallel worker) is no session of a client: ``backend_type`` tells,
else the wait type ``Activity``, which only a main loop has, or that a row has no state. Who waits for whom is told by ``pg_blocking_pids``, by the pairs that many queries print, or by
pg_locks itself: a lock that is not granted waits for those that hold one on the same object in a mode that conflicts.

References: https://www.postgresql.org/docs/current/monitoring-stats.html, https://www.postgresql.org/docs/current/view-pg-locks.html,
https://www.postgresql.org/docs/current/explicit-locking.html (table of conflicts)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from forensics.formats.state import times

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Row = dict[str, str | None]
MODES = (
    "AccessShareLock",
    "RowShareLock",
    "RowExclusiveLock",
    "ShareUpdateExclusiveLock",
    "ShareLock",
    "ShareRowExclusiveLock",
    "ExclusiveLock",
    "AccessExclusiveLock",
)
CONFLICTS = {
    MODES[0]: MODES[7:],
    MODES[1]: MODES[6:],
    MODES[2]: MODES[4:],
    MODES[3]: MODES[3:],
    MODES[4]: (*MODES[2:4], *MODES[5:]),
    MODES[5]: MODES[2:],
    MODES[6]: MODES[1:],
    MODES[7]: MODES,
}
"""Modes that conflict with each mode (PostgreSQL's table 13.2)."""
OBJECT = (
    "locktype",
    "database",
    "relation",
    "page",
    "tuple",
    "virtualxid",
    "transactionid",
    "classid",
    "objid",
    "objsubid",
)
OWN = ("virtualxid", "transactionid")
"""Every transaction holds these of itself: they tell of no table."""
AGES = {
    "xact_s": ("xact_age", "transaction_age", "xact_duration", "transaction_duration", "tx_age", "age"),
    "state_s": ("state_age", "state_duration", "idle_for", "idle_time", "state_change_age"),
}
"""Columns that hold intervals, as queries call them."""
GROUPS = {
    "application_name": "application",
    "usename": "user",
    "datname": "database",
    "client_addr": "address",
}
"""Columns that say whose sessions are, and how they are called."""
BLOCKERS = ("blocked_by", "pg_blocking_pids", "blocking_pids", "blockers")
PAIR = ("blocked_pid", "blocking_pid")
INTERVAL = re.compile(
    r"^(?:(?P<days>-?\d+) days? ?)?(?P<sign>-)?(?:(?P<hours>\d+):(?P<minutes>\d\d):(?P<seconds>\d\d(?:\.\d+)?))?$"
)
MOST_HELD = 4
"""Locks of one session that are named."""


def is_locks(columns: Iterable[str]) -> bool:
    """Do columns list locks?"""
    return {"pid", "mode", "granted"} <= set(columns)


def is_pairs(columns: Iterable[str]) -> bool:
    """Do columns say who blocks whom?"""
    return set(PAIR) <= set(columns)


def told_of(line: int, row: Row, *, typed: bool) -> dict[str, object]:
    """Return what one row of pg_stat_activity says; ``typed``: the query asked for backend_type."""
    wait = row.get("wait_event")
    whose = next((name for name in GROUPS if name in row), None)
    return {
        "line": line,
        "pid": row.get("pid"),
        "by": GROUPS[whose] if whose else None,
        "group": row.get(whose) if whose else None,
        "application": row.get("application_name"),
        "client": row.get("client_addr"),
        "state": row.get("state"),
        "wait_type": row.get("wait_event_type"),
        "wait": wait,
        "background": is_background(row, typed=typed),
        "blocked_by": blockers(row),
        **{name: seconds(first(row, names)) for name, names in AGES.items()},
        **{
            name: row.get(column)
            for name, column in (("xact_us", "xact_start"), ("change_us", "state_change"))
        },
    }


def is_background(row: Row, *, typed: bool) -> bool:
    """Is a row a process of the server itself?"""
    if typed:
        return row.get("backend_type") != "client backend"
    return row.get("wait_event_type") == "Activity" or ("state" in row and not row.get("state"))


def first(row: Row, names: Sequence[str]) -> str | None:
    """Return the first of some columns that is there."""
    return next((row[name] for name in names if row.get(name)), None)


def blockers(row: Row) -> str | None:
    """Return the process ids that a row says it waits for, ``{12,13}`` or ``[12, 13]``, as ``12,13``."""
    return ",".join(re.findall(r"\d+", first(row, BLOCKERS) or "")) or None


def seconds(interval: str | None) -> float | None:
    """Return an interval as PostgreSQL prints it (``1 day 02:03:04.5``), or a plain number, in seconds."""
    if not interval:
        return None
    if re.fullmatch(r"\d+(?:\.\d+)?", interval):
        return float(interval)
    found = INTERVAL.match(interval.strip())
    if not found:
        return None
    clock = sum(
        float(found[name] or 0) * unit for name, unit in (("hours", 3600), ("minutes", 60), ("seconds", 1))
    )
    return int(found["days"] or 0) * 86_400 + (-clock if found["sign"] else clock)


def instants(rows: list[dict[str, object]]) -> None:
    """Turn the instants of some sessions into microseconds UTC; one without a zone is not known."""
    for name in ("xact_us", "change_us"):
        read = times(pl.Series([row.get(name) for row in rows], dtype=pl.String)).frame
        known = [None if naive else ts for ts, naive in read.select("ts", "naive").iter_rows()]
        for row, ts in zip(rows, known, strict=True):
            row[name] = ts


def once(rows: Iterable[dict[str, object]]) -> dict[str, dict[str, object]]:
    """Return sessions by process id: a join with pg_locks repeats each of them."""
    found: dict[str, dict[str, object]] = {}
    for number, row in enumerate(rows):
        found.setdefault(str(row["pid"] or f"row {number}"), row)
    return found


def lock(sessions: dict[str, dict[str, object]], rows: Sequence[tuple[int, Row]]) -> None:
    """Tell sessions what they hold and what they wait for, by rows of pg_locks; processes that are not listed are added."""
    held: dict[tuple[str | None, ...], list[tuple[str, str]]] = {}
    locks = [(line, row, key_of(row)) for line, row in rows if row.get("pid") and row.get("mode")]
    for _, row, key in locks:
        if is_true(row.get("granted")):
            held.setdefault(key, []).append((str(row["pid"]), str(row["mode"])))
    names: dict[str, dict[str, None]] = {}
    for line, row, key in locks:
        pid, mode = str(row["pid"]), str(row["mode"])
        if is_true(row.get("granted")):
            if row.get("locktype") not in OWN and not (row.get("relation") or "pg_").startswith("pg_"):
                names.setdefault(pid, {})[f"{mode} on {row['relation']}"] = None
            continue
        against = [
            other for other, its in held.get(key, ()) if its in CONFLICTS.get(mode, ()) and other != pid
        ]
        session = sessions.setdefault(pid, {"pid": pid, "line": line})
        session["waits_for"] = f"{mode} on {object_of(row)}"
        session["blocked_by"] = session.get("blocked_by") or ",".join(dict.fromkeys(against)) or None
        for other in against:
            sessions.setdefault(other, {"pid": other, "line": line})
    for pid, said in names.items():
        if pid in sessions:
            kept = list(said)[:MOST_HELD]
            sessions[pid]["holds"] = ", ".join(kept) + (", …" if len(said) > MOST_HELD else "")


def key_of(row: Row) -> tuple[str | None, ...]:
    """Return what identifies the object of a lock among the columns that a query asked for."""
    return tuple(row.get(name) for name in OBJECT)


def object_of(row: Row) -> str:
    """Name the object of a lock."""
    kind = row.get("locktype") or "relation"
    if kind == "transactionid":
        return f"transaction {row.get('transactionid') or '?'}"
    named = row.get("relation")
    if kind == "relation" or not named:
        return named or kind
    return f"{kind} of {named}"


def is_true(value: str | None) -> bool:
    """Read a boolean as psql or JSON writes it."""
    return value in ("t", "true", "yes", "on")


def pair(sessions: dict[str, dict[str, object]], rows: Sequence[tuple[int, Row]]) -> None:
    """Tell sessions who blocks them, by rows that name both."""
    for line, row in rows:
        blocked, blocking = row.get(PAIR[0]), row.get(PAIR[1])
        if not blocked or not blocking:
            continue
        for pid, side in ((blocked, "blocked"), (blocking, "blocking")):
            said = {
                "application": first(row, (f"{side}_application", f"{side}_app")),
                "state": row.get(f"{side}_state"),
            }
            session = sessions.setdefault(pid, {"pid": pid, "line": line})
            for name, value in said.items():
                session[name] = session.get(name) or value
        before = str(sessions[blocked].get("blocked_by") or "").split(",")
        sessions[blocked]["blocked_by"] = ",".join(dict.fromkeys([*filter(None, before), blocking]))


def limit_of(tables: Iterable[tuple[Sequence[str], Sequence[Mapping[str, str | None]]]]) -> float | None:
    """Return ``max_connections`` where a table of a page shows it (SHOW max_connections, or pg_settings)."""
    for columns, rows in tables:
        for row in rows:
            if list(columns) == ["max_connections"] or row.get("name") == "max_connections":
                value = row.get("max_connections") or row.get("setting")
                if value and value.isdigit():
                    return float(value)
    return None
