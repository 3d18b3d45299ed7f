r"""PgBouncer's pools, ``SHOW POOLS``, in every shape that psql prints, with the sizes of ``SHOW DATABASES`` where they stand on the same page.

     database  |   user    | cl_active | cl_waiting | … | sv_active | … | maxwait | maxwait_us |  pool_mode
    -----------+-----------+-----------+------------+---+-----------+---+---------+------------+-------------
     shop      | app       |         2 |          5 | … |         2 | … |       3 |     778129 | transaction

``avg_wait_time`` of SHOW STATS is the time that clients waited, in microseconds, for each second of the last period.

The console has no ``now()``: a page is dated by the stamp of ``\\watch`` (local, no zone) or by the file's name, else its instant is not known. ``maxwait`` is
how long the first of those that wait now has waited. The pools of the console itself (``pgbouncer``) are left out.

Reference: https://www.pgbouncer.org/usage.html (SHOW POOLS, SHOW DATABASES)
"""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - part of the plug's signature
from typing import TYPE_CHECKING

from forensics.formats import psql, psql_instants
from forensics.formats.jsonl import decoded, number
from forensics.formats.state import framed
from forensics.model.errors import UnreadableError
from forensics.model.plug import Monitor, Parsed
from forensics.sources import streams

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

POOLS = frozenset(("database", "user", "cl_active", "cl_waiting", "sv_active"))
STATS = frozenset(("database", "total_query_count", "avg_wait_time"))
SIZES = frozenset(("name", "pool_size", "current_connections"))
CONSOLE = "pgbouncer"
UNDATED = "SHOW POOLS shows no time: name the file with date and time, or use \\watch"
NAMED = "SHOW POOLS shows no time: dated by the file's name"
MARKS = (b"cl_waiting", b"avg_wait_time")


def sniff(head: bytes) -> float:
    """1 where a table has the columns of SHOW POOLS or SHOW STATS."""
    if not any(mark in head for mark in MARKS):
        return 0.0
    text = decoded(head if b"\n" not in head else head[: head.rindex(b"\n") + 1])
    tables = psql.read(text).tables
    return float(any(set(table.columns) >= POOLS or set(table.columns) >= STATS for table in tables))


def parse(path: Path, fields: Mapping[str, str]) -> Parsed:
    """Read every page."""
    del fields
    page = psql.read(decoded(b"".join(streams.chunks(path))))
    sizes = dict(sizes_of(page.tables))
    notes: dict[str, None] = {}
    rows: list[dict[str, object]] = []
    for ordinal, table in enumerate((one for one in page.tables if set(one.columns) >= POOLS), 1):
        ts, naive, dated = taken(table, path.name, notes)
        stamp = {"snapshot": ordinal, "ts": ts, "naive": naive, "dated": dated}
        rows += [
            {**stamp, "line": line, **told(row), "size": sizes.get(row.get("database") or "")}
            for line, row in table.rows
            if row.get("database") and row.get("database") != CONSOLE
        ]
    samples = [one for row in rows for one in gauges(row)]
    for table in (one for one in page.tables if set(one.columns) >= STATS):
        ts, naive, _ = taken(table, path.name, notes)
        samples += [
            {
                "line": line,
                "ts": ts,
                "naive": naive,
                "series": f"pool pgbouncer {row['database']} s waited each second",
                "value": (number(row.get("avg_wait_time")) or 0) / 1e6,
            }
            for line, row in table.rows
            if row.get("database") not in (None, CONSOLE)
        ]
    if not samples:
        raise UnreadableError(
            "no table in it shows a pool", remedy='psql -p 6432 pgbouncer -c "show pools" > FILE'
        )
    return Parsed(
        samples=framed("samples", samples),
        poolers=framed("poolers", rows),
        in_records=page.in_records,
        blank=page.blank,
        unparsed=page.unparsed,
        first_unparsed=page.first_unparsed,
        notes=tuple(notes),
    )


def taken(table: psql.Table, name: str, notes: dict[str, None]) -> tuple[int | None, bool, str]:
    """Return when a table was printed, whether without a zone, and how that is known."""
    if table.stamp is not None:
        ts, naive = psql_instants.of_watch(table.stamp)
        return ts, naive, "watch" if ts is not None else "unknown"
    if (stamp := psql_instants.of_name(name)) is not None:
        notes[NAMED] = None
        return *psql_instants.newest([stamp]), "name"
    notes[UNDATED] = None
    return None, False, "unknown"


def told(row: Mapping[str, str | None]) -> dict[str, object]:
    """Return what one row says."""
    whole_s, rest_us = number(row.get("maxwait")), number(row.get("maxwait_us"))
    return {
        "pool": f"{row.get('database')}/{row.get('user')}",
        "mode": row.get("pool_mode"),
        "clients_active": number(row.get("cl_active")),
        "clients_waiting": number(row.get("cl_waiting")),
        "servers_active": number(row.get("sv_active")),
        "servers_idle": number(row.get("sv_idle")),
        "longest_wait_s": None if whole_s is None else whole_s + (rest_us or 0) / 1e6,
    }


def sizes_of(tables: Iterable[psql.Table]) -> Iterator[tuple[str, float]]:
    """Yield databases with the size of their pools."""
    for table in tables:
        if set(table.columns) >= SIZES:
            for _, row in table.rows:
                size = number(row.get("pool_size"))
                if row.get("name") and size is not None:
                    yield str(row["name"]), size


def gauges(row: Mapping[str, object]) -> Iterator[dict[str, object]]:
    """Yield what a pool counts as samples; ``pool`` in the name tells them from the database's own connections."""
    place = {key: row[key] for key in ("line", "ts", "naive")}
    yield {
        **place,
        "series": f"pool pgbouncer {row['pool']} servers in use",
        "value": row["servers_active"],
        "limit": row["size"],
    }
    yield {
        **place,
        "series": f"pool pgbouncer {row['pool']} clients waiting",
        "value": row["clients_waiting"],
    }


PLUG = Monitor(
    name="pgbouncer_show",
    title="PgBouncer pools, psql",
    marks="when the page was printed: the stamp of \\watch, or the file's name",
    sniff=sniff,
    parse=parse,
    samples=(
        "database|user|cl_active|cl_waiting|sv_active|sv_idle|maxwait|maxwait_us|pool_mode\nshop|app|2|5|2|0|3|778129|transaction",
        "database,user,cl_active,cl_waiting,sv_active,sv_idle,maxwait,maxwait_us,pool_mode\nshop,app,2,5,2,0,3,778129,transaction",
    ),
    reference="https://www.pgbouncer.org/usage.html",
)
