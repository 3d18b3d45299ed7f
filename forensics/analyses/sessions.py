"""Who was connected to the database at the instants of the snapshots, in which state, and who waited for whom?

A session of a pool that is plainly idle is at rest and is no finding, however old. One that idles inside a transaction keeps what the transaction
holds: from some age on it is a candidate for what others wait for. Who waits for a session that itself waits is counted for the first in the queue.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forensics.model.budget import DATABASE, Range
from forensics.model.facts import BUSY_S, Blocker, Facts, Idler, Member, Samples, Sessions, Snapshot
from forensics.model.names import counts_connections
from forensics.model.plug import Analysis
from forensics.model.source import Ref

if TYPE_CHECKING:
    from forensics.model.budget import Said
    from forensics.model.digest import Evidence
    from forensics.model.known import Known

SECOND = 1_000_000
IDLE_S = 600.0
"""Ten minutes: longer than any transaction of a request, shorter than what a vacuum or a long queue can bear."""
IN_TRANSACTION = "idle in transaction"
ABORTED = "idle in transaction (aborted)"
NO_WAIT = ("Client", "Activity")
"""Wait types of a session that has nothing to do."""
OTHER_ENGINE = "mysql"
"""Gauges of another engine's connections begin so."""
REFS = 6

Row = dict[str, Any]


def sessions(evidence: Evidence, known: Known, facts: Facts) -> Sessions:
    """Describe every snapshot."""
    rows = evidence["sessions"].sort("source", "snapshot", "line", "pid")
    limit = limit_elsewhere(evidence, known, facts)
    found = [
        described(part.to_dicts(), limit)
        for _, part in rows.group_by("source", "snapshot", maintain_order=True)
    ]
    found.sort(key=lambda one: (one.at is None, one.at or 0, one.ref))
    return Sessions(tuple(found), known.idle_in_transaction_s or IDLE_S)


@dataclass(frozen=True, slots=True)
class Limit:
    """A ``max_connections`` that stands elsewhere than in a snapshot."""

    value: float | None = None
    where: str | None = None
    """File and line, None for the case file's."""
    source: int | None = None
    """The input, where it is one."""


def limit_elsewhere(evidence: Evidence, known: Known, facts: Facts) -> Limit:
    """Return ``max_connections`` where a snapshot does not show it: by a gauge of the inputs, the case file, or files of the deployment.

    What the server is told to be started with comes last: whether it was, a file does not say. Of several values none counts.
    """
    gauges = [
        one
        for one in facts[Samples].series
        if one.limit
        and one.refs
        and counts_connections(one.series)
        and not one.series.startswith(OTHER_ENGINE)
    ]
    if len({one.limit for one in gauges}) == 1:
        ref = min(gauges[0].refs.values())
        return Limit(gauges[0].limit, f"{evidence.sources[ref.source].name}:{ref.line}", ref.source)
    if known.max_connections is not None:
        return Limit(known.max_connections)
    stated = {
        said.value.exact: said.origin.where for said in in_files(known) if isinstance(said.value, Range)
    }
    (limit, where), *others = stated.items() or [(None, None)]
    return Limit() if others or limit is None else Limit(limit, where)


def in_files(known: Known) -> list[Said]:
    """Return what files of the deployment say of a PostgreSQL server's ``max_connections``."""
    ways = [link for client in known.deployment.clients for link in client.links if link.engine != "postgres"]
    others = {f"{DATABASE}@{(link.server or '').rpartition(':')[0]}" for link in ways}
    return [
        said
        for said in known.deployment.said
        if said.term == "max_connections" and said.origin.kind == "file" and said.service not in others
    ]


def described(rows: list[Row], limit: Limit) -> Snapshot:
    """Describe one snapshot; ``limit`` is what stands elsewhere."""
    listed = [row for row in rows if row["background"] is not None]
    clients = [row for row in listed if not row["background"]]
    queue = Queue(rows)
    idle = [idler(row, queue) for row in clients if row["pid"] and row["state"] in (IN_TRANSACTION, ABORTED)]
    own = max((row["limit"] for row in rows if row["limit"] is not None), default=None)
    shown = limit.value if own is None else own
    first = next(iter(clients), rows[0])
    busy = in_statements(clients)
    return Snapshot(
        at=first["ts"],
        dated=first["dated"],
        ref=Ref(first["source"], first["line"]),
        total=size(clients),
        background=size(listed) - size(clients),
        limit=round(shown) if shown is not None else None,
        states=ranked(clients),
        applications=by_application(clients),
        clients=len({row["client"] for row in clients if row["client"]}),
        waits=waits(clients),
        waiting=waiting(rows),
        idlers=tuple(sorted(idle, key=lambda one: (-(one.age_s or 0), one.pid))),
        blockers=queue.blockers(),
        by=first["by"],
        mixed=any(row["mixed"] for row in clients),
        busy=size([row for _, row in busy]),
        busy_s=(busy[0][0], busy[-1][0]) if busy else None,
        busy_refs=tuple(dict.fromkeys(Ref(row["source"], row["line"]) for _, row in (*busy[:1], *busy[-1:]))),
        members=tuple(member(row) for row in clients if row["pid"]),
        limit_where=limit.where if own is None and limit.source != first["source"] else None,
    )


def member(row: Row) -> Member:
    """Describe one session of a client."""
    return Member(
        pid=row["pid"],
        application=row["application"],
        state=row["state"],
        wait=wait_of(row),
        xact_s=age_of(row, "xact"),
        ref=Ref(row["source"], row["line"]),
    )


def wait_of(row: Row) -> str | None:
    """Return what a session waits for, as ``type: event``."""
    return f"{row['wait_type']}: {row['wait']}" if row["wait"] and row["wait_type"] else row["wait_type"]


def in_statements(rows: list[Row]) -> list[tuple[float, Row]]:
    """Return the sessions that had run their statement for :data:`BUSY_S` or more, with its age in seconds, the newest first.

    An active session changed its state when its statement began; a row that stands for several sessions tells no age of each.
    """
    aged = [(age_of(row, "state"), row) for row in rows if row["state"] == "active" and row["pid"]]
    found = [(age, row) for age, row in aged if age is not None and age >= BUSY_S]
    return sorted(found, key=lambda one: one[0])


def size(rows: list[Row]) -> int:
    """Return how many sessions rows stand for: one each, unless the query grouped them."""
    return sum(1 if row["count"] is None else row["count"] for row in rows)


def waiting(rows: list[Row]) -> int:
    """Return how many sessions wait for a lock."""
    found = [row for row in rows if row["wait_type"] == "Lock" or row["blocked_by"]]
    return len({row["pid"] for row in found if row["pid"]}) + size([row for row in found if not row["pid"]])


def counted(named: list[tuple[str, Row]]) -> tuple[tuple[str, int], ...]:
    """Count sessions by a name, most first."""
    found: Counter[str] = Counter()
    for name, row in named:
        found[name] += size([row])
    return tuple(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def ranked(rows: list[Row]) -> tuple[tuple[str, int], ...]:
    """Count sessions per state, most first."""
    return counted([(row["state"] or "unknown", row) for row in rows])


def by_application(rows: list[Row]) -> tuple[tuple[str | None, int, tuple[tuple[str, int], ...]], ...]:
    """Count the states of each application, or of what sessions are told apart by, the one with most sessions first."""
    parts: dict[str | None, list[Row]] = {}
    for row in rows:
        parts.setdefault(row["group"], []).append(row)
    found = [(name, size(part), ranked(part)) for name, part in parts.items()]
    return tuple(sorted(found, key=lambda item: (-item[1], item[0] or "")))


def waits(rows: list[Row]) -> tuple[tuple[str, int], ...]:
    """Count what sessions wait for, most first."""
    return counted(
        [(named, row) for row in rows if (named := wait_of(row)) and row["wait_type"] not in NO_WAIT]
    )


def idler(row: Row, queue: Queue) -> Idler:
    """Describe a session that idles inside a transaction."""
    age = age_of(row, "xact")
    return Idler(
        pid=row["pid"],
        application=row["application"],
        aborted=row["state"] == ABORTED,
        age_s=age if age is not None else age_of(row, "state"),
        holds=row["holds"],
        waiters=len(queue.behind(row["pid"])),
        ref=Ref(row["source"], row["line"]),
    )


def age_of(row: Row, what: str) -> float | None:
    """Return how old a transaction or a state was at the snapshot, in seconds; None where that is not known exactly."""
    stated, since = row[f"{what}_s"], row["xact_us" if what == "xact" else "change_us"]
    if stated is not None:
        return round(float(stated), 1)
    if since is None or row["ts"] is None:
        return None
    return round(max(0, int(row["ts"]) - int(since)) / SECOND, 1)


class Queue:
    """Who waits for whom in one snapshot."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = {row["pid"]: row for row in rows if row["pid"]}
        self.before = {
            pid: row["blocked_by"].split(",") for pid, row in self.rows.items() if row["blocked_by"]
        }

    def behind(self, pid: str) -> tuple[str, ...]:
        """Return everyone that waits for a session, or for one that waits for it."""
        found: dict[str, None] = {}
        reached = [pid]
        while reached:
            one = reached.pop(0)
            fresh = [other for other, its in self.before.items() if one in its and other not in found]
            found |= dict.fromkeys(other for other in fresh if other != pid)
            reached += [other for other in fresh if other != pid]
        return tuple(sorted(found, key=lambda name: (len(name), name)))

    def blockers(self) -> tuple[Blocker, ...]:
        """Return those at the heads of the queues; of sessions that wait for each other, each is one."""
        named = {pid for its in self.before.values() for pid in its}
        heads = [pid for pid in sorted(named) if pid not in self.before or pid in self.behind_of(pid)]
        found = [self.blocker(pid) for pid in heads]
        return tuple(sorted(found, key=lambda one: (-len(one.waiters), one.pid)))

    def behind_of(self, pid: str) -> set[str]:
        """Return the sessions that wait for one that waits for this one: itself is among them in a circle."""
        return {other for waiter in self.behind(pid) for other in self.behind(waiter)}

    def blocker(self, pid: str) -> Blocker:
        """Describe one head of a queue."""
        row, waiters = self.rows.get(pid), self.behind(pid)
        asked = [self.rows[other] for other in waiters]
        first = next((one for one in asked if pid in self.before[one["pid"]]), None)
        places = [*([row] if row else []), *asked]
        return Blocker(
            pid=pid,
            application=row["application"] if row else None,
            state=row["state"] if row else None,
            age_s=age_of(row, "xact") if row else None,
            waiters=waiters,
            waits_for=first["waits_for"] if first else None,
            refs=tuple(dict.fromkeys(Ref(one["source"], one["line"]) for one in places))[:REFS],
        )


PLUG = Analysis(
    name="sessions",
    question="Who was connected to the database, in which state, and who waited for whom?",
    gives=Sessions,
    run=sessions,
    needs=(Samples,),
)
