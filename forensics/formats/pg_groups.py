"""Sessions counted in groups: ``SELECT now(), application_name, state, count(*) FROM pg_stat_activity GROUP BY …``.

      application_name |        state        | count
    ------------------+---------------------+-------
     shop-api         | idle                |     5
     shop-api         | active              |     2
                      |                     |     5

A group stands for as many sessions as its count says. Processes of the server itself have no state and wait for an Activity; a query that asks for
neither of these, nor for ``backend_type``, counts them with the clients.

Reference: https://www.postgresql.org/docs/current/monitoring-stats.html#MONITORING-PG-STAT-ACTIVITY-VIEW
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forensics.formats import pg_sessions
from forensics.formats.jsonl import number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from forensics.formats.pg_sessions import Row

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
"""What queries call the number of sessions."""
KEYS = frozenset(
    ["usename", "datname", "application_name", "client_addr", "wait_event", "wait_event_type", "backend_type"]
)
"""What sessions are grouped by; columns of these names are of no other view that counts."""
STATES = frozenset(
    ["active", "idle", "idle in transaction", "idle in transaction (aborted)", "fastpath function call", "disabled", "starting"]
)  # fmt: skip


def count_column(columns: Iterable[str]) -> str | None:
    """Return the column that counts sessions."""
    there = list(columns)
    return next((name for name in COUNT if name in there), None)


def is_groups(columns: Sequence[str], rows: Sequence[tuple[int, Row]]) -> bool:
    """Does a table count sessions in groups? Grouped by ``state`` alone, the states tell."""
    column = count_column(columns)
    if column is None or "pid" in columns or not rows:
        return False
    if any(not (row.get(column) or "").isdigit() for _, row in rows if row):
        return False
    if not KEYS.isdisjoint(columns):
        return True
    states = {row["state"] for _, row in rows if row.get("state")}
    return "state" in columns and bool(states) and states <= STATES


def told_of(columns: Sequence[str], rows: Iterable[tuple[int, Row]]) -> dict[str, dict[str, object]]:
    """Return the groups as sessions, each with how many it stands for."""
    typed = "backend_type" in columns
    mixed = not typed and "state" not in columns and "wait_event_type" not in columns
    column = count_column(columns) or ""
    return {
        f"row {line}": {
            **pg_sessions.told_of(line, row, typed=typed),
            "count": round(number(row.get(column)) or 0),
            "mixed": mixed,
        }
        for line, row in rows
        if number(row.get(column))
    }
