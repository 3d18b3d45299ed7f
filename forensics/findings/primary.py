"""What the report is about: the main pool, the stalls and rows of the primary window, and their places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.findings import capacity
from forensics.findings.signals import MINUTE, SECOND, replica_of
from forensics.model.facts import Coverage, Events, Failures, Impact, Losses, Stalls
from forensics.model.frames import middle
from forensics.model.source import Ref

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forensics.findings.signals import Signals
    from forensics.model.facts import EventGroup, FailedOperations, FailureGroup, Incident, Stall

POOL = "pool_exhaustion"
OVERLOAD, DNS = "overload", "dns"
"""Families of the texts by which a server says that its workers or its queue are all taken, and by which name lookups fail."""
BUCKET = 10 * SECOND
"""A pool fails over as many of these as hold a failure of it."""


def main_pool(signals: Signals) -> FailureGroup | None:
    """Return the pool that failed over the longest time of the incident, not the one that failed most often in one burst."""
    rows = signals.in_primary().filter(pl.col("family") == POOL)
    spread: dict[tuple[str, str], set[int]] = {}
    for service, signature, bucket in rows.select("service", "signature", pl.col("ts") // BUCKET).iter_rows():
        spread.setdefault((replica_of(service), signature), set()).add(bucket)
    return max(
        signals.groups(POOL),
        key=lambda group: (len(spread.get((replica_of(group.service), group.signature), ())), group.failures),
        default=None,
    )


def replicas(signals: Signals, group: FailureGroup) -> list[FailureGroup]:
    """Return a group with those of the same failure in other replicas of its service."""
    base = replica_of(group.service)
    return [
        other
        for other in signals.facts[Failures].groups
        if other.signature == group.signature
        and other.side == group.side
        and replica_of(other.service) == base
    ]


def sum_max(groups: list[FailureGroup]) -> int | None:
    """Count the failures of some groups at most; None where one of them has no upper bound."""
    most = [group.failures_max for group in groups]
    return None if None in most else sum(n for n in most if n is not None)


def called(signals: Signals, group: FailureGroup) -> dict[str, Any]:
    """Return how a group's service is called: its own name, or that of its replicas with their number."""
    n = len(replicas(signals, group))
    return {"name": replica_of(group.service) if n > 1 else group.service, "replicas": n}


def in_window(signals: Signals, group: FailureGroup) -> pl.DataFrame:
    """Return the failures of a group in the primary window, those of all replicas of its service."""
    return signals.in_primary().filter(
        pl.col("service").is_in([other.service for other in replicas(signals, group)])
        & (pl.col("signature") == group.signature)
    )


def of_family(signals: Signals, *families: str) -> list[EventGroup]:
    """Return what lines tell of some families in the window of an incident or in the minute before it, no failed operations."""
    if signals.primary is None:
        return []
    lo, hi = signals.window
    return [
        group
        for group in signals.facts[Events].groups
        if group.family in families and group.first <= hi and group.last >= lo - MINUTE
    ]


def stalls_in_window(signals: Signals) -> list[Stall]:
    """Return the stalls that touch the primary window."""
    lo, hi = signals.window
    return [stall for stall in signals.facts[Stalls].items if stall.start <= hi and (stall.end or hi) >= lo]


def stall_of(signals: Signals) -> Stall | None:
    """Return the longest stall that touches the primary window."""
    hi = signals.window[1]
    found = stalls_in_window(signals)
    return max(found, key=lambda stall: (stall.end or hi) - stall.start, default=None)


def completed(signals: Signals) -> int | None:
    """Return how many responses completed in the window, None where the service's log shows no requests."""
    shown = set(signals.evidence["routes"]["service"].drop_nulls())
    return signals.facts[Impact].completed if signals.unit in shown else None


def lossy(signals: Signals) -> bool:
    """Tell whether lines of the service are declared lost, so that counts are lower bounds."""
    lost = any(loss.service == signals.unit for loss in signals.facts[Losses].items)
    return lost or any(
        group.service == signals.unit and group.bound == "at_least"
        for group in signals.facts[Failures].groups
    )


def pool_values(signals: Signals, pool: FailureGroup, rows: pl.DataFrame) -> dict[str, Any]:
    """Return the numbers of a pool's failures in the window."""
    size, overflow, most = capacity.capacity_of(signals, pool)
    waits = rows.filter(pl.col("began") < pl.col("ts"))
    wait = round((middle(waits["ts"] - waits["began"]) or 0) / SECOND, 2) if waits.height else None
    return {
        **called(signals, pool), "group": pool, "failures": int(rows["sure"].sum()), "failures_max": rows.height if pool.failures_max is not None else None, "lines": int(rows["lines"].sum()),
        "first": rows["ts"].min(), "last": rows["ts"].max(), "began": rows["began"].min(), "wait": wait, "size": size, "overflow": overflow,
        "capacity": most, "title": signals.known.signatures[pool.signature].title,
    }  # fmt: skip


def seconds_shown(start: int, end: int) -> int:
    """Return the seconds between two instants (µs) as both are shown, rounded to the second: a sum of such agrees with its parts."""
    half = SECOND // 2
    return (end + half) // SECOND - (start + half) // SECOND


def together(found: Sequence[FailedOperations]) -> dict[str, Any]:
    """Return how many operations failed in all: at least, at most, and whether that is a lower bound."""
    return {
        "n": sum(one.n for one in found),
        "most": sum(one.most for one in found),
        "least": any(one.at_least for one in found),
    }


def edge_refs(incident: Incident) -> tuple[Ref, ...]:
    """Return the places of an incident's start and end."""
    return tuple(ref for ref in (incident.start_ref, incident.end_ref) if ref is not None)


def coverage_refs(signals: Signals) -> tuple[Ref, ...]:
    """Return first and last line of the service that the report is about."""
    cover = signals.facts[Coverage].of(signals.unit)
    return (cover.first_ref, cover.last_ref) if cover else ()


def stall_refs(stall: Stall) -> tuple[Ref, ...]:
    """Return the edges of a stall and its witnesses' first lines."""
    refs = [stall.silence.before, *([stall.silence.after] if stall.silence.after else [])]
    return tuple(dict.fromkeys([*refs, *[ref for witness in stall.witnesses for ref in witness.refs[:1]]]))


def places(rows: pl.DataFrame, n: int = 3) -> tuple[Ref, ...]:
    """Return the places of the first rows and the last one."""
    picked = pl.concat([rows.head(n), rows.tail(1)]).unique(["source", "line"], maintain_order=True)
    return tuple(Ref(source, line) for source, line in picked.select("source", "line").iter_rows())
