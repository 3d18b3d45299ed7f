"""Who waited for whom: sessions that waited for a lock of the database, and the one that held it.

PostgreSQL says after deadlock_timeout that a session still waits (log_lock_waits), names the holders in the DETAIL of that line, and says
how long the wait took when the lock is obtained. The session that waits prints; of the holder only its process id stands there, and
what that process printed itself, if anything. Whose session it is, a snapshot of pg_stat_activity tells by the same process id, as long as it was
taken while somebody waited or not long before or after: another process may bear the number later.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.model.facts import Facts, HolderSeen, LockGroup, Locks, LockWait, QueueHead, Sessions
from forensics.model.frames import least
from forensics.model.plug import Analysis
from forensics.model.source import Ref

if TYPE_CHECKING:
    from forensics.model.digest import Evidence
    from forensics.model.facts import Member, Snapshot
    from forensics.model.known import Known

SECOND = 1_000_000
WAITS = ("postgres.lock-still-waiting", "postgres.lock-acquired")
HOLDER = "postgres.lock-holder"
STATEMENT = "postgres.statement"
CANCELLED = ("postgres.user-cancel", "postgres.statement-timeout", "postgres.lock-timeout")
"""What ends a wait without the lock."""
EXCLUDES_ALL = "AccessExclusiveLock"
"""The mode that conflicts with every other one."""
AROUND_US = 600 * SECOND
"""Lines of the holder, and snapshots that list it, this near to the waits may tell who it was."""
SERVER = "postgres"
"""Formats of a PostgreSQL server's own log begin so."""
REFS = 6

SESSION = ["service", "pid", "ts"]
"""Lines of one message of a server have one stamp and one process."""
Wait = dict[str, Any]
"""One wait while its lines are put together."""


def locks(evidence: Evidence, known: Known, facts: Facts) -> Locks:
    """Return the waits of every server by their holder."""
    wanted = [*WAITS, HOLDER, STATEMENT]
    hits = evidence["hits"].filter(pl.col("ts").is_not_null() & pl.col("signature").is_in(wanted))
    waits = hits.filter(pl.col("signature").is_in(list(WAITS)))
    if not waits.height:
        return Locks(())
    for signature, column in ((HOLDER, "held"), (STATEMENT, "ran")):
        waits = waits.join(
            said_with(hits, signature, column),
            on=SESSION,
            how="left",
            nulls_equal=True,
            maintain_order="left",
        )
    groups: dict[tuple[str, str | None], list[Wait]] = {}
    for one in merged(waits):
        groups.setdefault((one["service"], one["holder"]), []).append(one)
    snapshots = facts[Sessions].snapshots if one_server(evidence) else ()
    return Locks(
        tuple(
            sorted(
                (
                    group(service, holder, waits, evidence, known, snapshots)
                    for (service, holder), waits in groups.items()
                ),
                key=lambda one: (-len(one.waiters), one.first, one.service),
            )
        )
    )


def said_with(hits: pl.DataFrame, signature: str, column: str) -> pl.DataFrame:
    """Return what lines of one kind say, by the session and the instant of the message that they belong to."""
    rows = hits.filter(pl.col("signature") == signature).select(*SESSION, pl.col("parameters").alias(column))
    return rows.unique(SESSION, keep="first", maintain_order=True)


def merged(rows: pl.DataFrame) -> list[Wait]:
    """Return the waits that lines about them tell of; a session that waits for the same lock again after its last line waits anew."""
    found: list[Wait] = []
    current: dict[tuple[str, str, str], Wait] = {}
    for row in rows.sort("ts", "source", "line").iter_rows(named=True):
        said = json.loads(row["parameters"])
        key = (row["service"], said["pid"], said["object"])
        waited = float(said["waited_ms"]) / 1000
        began = row["ts"] - round(waited * SECOND)
        one = current.get(key)
        if one is None or began >= one["last"]:
            one = {
                "service": row["service"], "waiter": said["pid"], "what": f"{said['mode']} on {said['object']}", "holder": None, "began": began,
                "got": False, "waited": 0.0, "refs": [], "mode": said["mode"], "object": said["object"], "ran": None, "peer": row["peer"],
            }  # fmt: skip
            current[key] = one
            found.append(one)
        one["waited"] = max(one["waited"], waited)
        one["last"] = row["ts"]
        one["got"] = one["got"] or row["signature"] == WAITS[1]
        one["refs"].append(Ref(row["source"], row["line"]))
        if row["ran"]:
            one["ran"] = json.loads(row["ran"])["statement"]
        if row["held"]:
            one["holder"] = json.loads(row["held"])["holders"]
    return found


def group(
    service: str,
    holder: str | None,
    waits: list[Wait],
    evidence: Evidence,
    known: Known,
    snapshots: tuple[Snapshot, ...],
) -> LockGroup:
    """Describe the waits for one holder, and what the holder printed itself."""
    first, last = min(one["began"] for one in waits), max(one["last"] for one in waits)
    objects = {one["object"] for one in waits}
    kinds = Counter({one["waiter"]: one["what"] for one in waits}.values())
    modes = Counter(
        {one["waiter"]: one["mode"] if len(objects) == 1 else one["what"] for one in waits}.values()
    )
    waiters = dict.fromkeys(one["waiter"] for one in waits)
    each = [
        LockWait(one["waiter"], one["began"], one["last"], one["got"], one["refs"][0])
        for one in sorted(waits, key=lambda one: (one["began"], one["refs"][0]))
    ]
    lines = printed(holder, service, evidence)
    told = said_by(holder, service, first, last, evidence, known) if holder else ()
    return LockGroup(
        service=service,
        holder=holder,
        waiters=tuple(waiters),
        what=max(kinds, key=lambda text: (kinds[text], text)),
        first=first,
        last=last,
        longest_s=round(max(one["waited"] for one in waits), 3),
        obtained=len(waiters.keys() - {one["waiter"] for one in waits if not one["got"]}),
        refs=tuple(ref for one in waits for ref in one["refs"])[:REFS],
        holder_said=tuple(title for title, _ in told),
        holder_refs=tuple(ref for _, ref in told) or lines[1],
        waits=tuple(each),
        seen=listed(holder, each, snapshots) if holder else (),
        object=objects.pop() if len(objects) == 1 else None,
        kinds=tuple(sorted(modes.items(), key=lambda pair: (-pair[1], pair[0]))),
        holder_lines=lines[0],
        head=head(waits, service, evidence),
    )


def printed(holder: str | None, service: str, evidence: Evidence) -> tuple[int, tuple[Ref, ...]]:
    """Return how many lines of a holder the server's log has, and the place of the first."""
    pids = [part.strip() for part in (holder or "").split(",")]
    rows = evidence["processes"].filter((pl.col("service") == service) & pl.col("pid").is_in(pids))
    places = rows.sort("first_us").select("source", "first_line").head(1).iter_rows()
    return int(rows["n"].sum()), tuple(Ref(source, line) for source, line in places)


def head(waits: list[Wait], service: str, evidence: Evidence) -> QueueHead | None:
    """Return who waited first for a lock that excludes all others, where a session that wanted less came after it."""
    wide = [one for one in waits if one["mode"] == EXCLUDES_ALL]
    first = min(wide, key=lambda one: one["began"], default=None)
    if first is None or not any(
        one["mode"] != EXCLUDES_ALL and one["began"] > first["began"] for one in waits
    ):
        return None
    ends = evidence["hits"].filter(
        (pl.col("service") == service)
        & (pl.col("pid") == first["waiter"])
        & pl.col("signature").is_in(list(CANCELLED))
        & (pl.col("ts") >= first["last"])
    )
    return QueueHead(
        first["waiter"], first["mode"], first["began"], first["ran"], first["peer"],
        least(ends["ts"]), first["refs"][0],
    )  # fmt: skip


def one_server(evidence: Evidence) -> bool:
    """Is there the log of one server only? A snapshot does not say of which of several it is, and each has its own process ids."""
    own = evidence["formats"].filter(pl.col("format").str.starts_with(SERVER))
    return own["service"].drop_nulls().n_unique() <= 1


def listed(holder: str, waits: list[LockWait], snapshots: tuple[Snapshot, ...]) -> tuple[HolderSeen, ...]:
    """Return what the snapshot nearest to some waits shows of their holders; of equals the first, and nothing where none lists one of them."""
    pids = [part.strip() for part in holder.split(",")]
    found = []
    for snapshot in snapshots:
        if snapshot.at is None or snapshot.dated == "newest":
            continue
        apart = min((distance(one, snapshot.at) for one in waits), key=abs)
        shown = [one for one in snapshot.members if one.pid in pids and tells(one)]
        if shown and abs(apart) <= AROUND_US:
            found.append((abs(apart), snapshot.at, apart, snapshot.dated, shown))
    _, at, apart, dated, shown = min(found, key=lambda one: one[:2], default=(0, 0, 0, "", []))
    last = max(one.last for one in waits)
    return tuple(seen(one, at, dated, apart, last) for one in shown)


def distance(wait: LockWait, at: int) -> int:
    """Return how far an instant lies before (negative) or after a wait, in microseconds; 0 inside."""
    return min(0, at - wait.began) + max(0, at - wait.last)


def tells(member: Member) -> bool:
    """Does a snapshot tell more of a session than its number?"""
    return bool(member.application or member.state or member.wait or member.xact_s is not None)


def seen(member: Member, at: int, dated: str, apart: int, last: int) -> HolderSeen:
    """Return what a snapshot tells of one holder."""
    since = None if member.xact_s is None else at - round(member.xact_s * SECOND)
    later = since is not None and since > last
    return HolderSeen(member, at, dated, round(apart / SECOND, 3), since, later)


def said_by(
    holder: str, service: str, first: int, last: int, evidence: Evidence, known: Known
) -> tuple[tuple[str, Ref], ...]:
    """Return what the holding process printed around the waits, each kind once."""
    rows = evidence["hits"].filter(
        (pl.col("service") == service)
        & pl.col("pid").is_in([part.strip() for part in holder.split(",")])
        & pl.col("ts").is_between(first - AROUND_US, last + AROUND_US)
        & ~pl.col("signature").is_in([*WAITS, HOLDER, STATEMENT])
    )
    kinds = rows.sort("ts", "line").unique("signature", keep="first", maintain_order=True).head(2)
    return tuple(
        (known.signatures[name].title, Ref(source, line))
        for name, source, line in kinds.select("signature", "source", "line").iter_rows()
    )


PLUG = Analysis(name="locks", question="Who waited for whom?", gives=Locks, run=locks, needs=(Sessions,))
