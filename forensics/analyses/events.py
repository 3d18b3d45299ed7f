"""What do lines tell of that is no failed operation: threads that were blocked, connections held for long, probes that failed?

A text that is repeated while something lasts tells of one thing: lines that name the same thread, connection or job and whose
beginnings (line minus the time that it states) agree are one event. A text that says that it is over closes it. What two
observers tell of one instant is one event: the other's text only counts where the first is silent.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.model.facts import EventGroup, Events, Facts, Span
from forensics.model.plug import Analysis
from forensics.model.signature import LIMITS
from forensics.model.source import Ref

if TYPE_CHECKING:
    from forensics.model.digest import Evidence
    from forensics.model.known import Known
    from forensics.model.signature import Signature

SECOND = 1_000_000
AGREE = SECOND
"""Beginnings of one event agree within this: stamps are rounded and a checker runs late."""
TOLD_ELSEWHERE = ("boot", "deploy", "gateway_flags", "journald", "lifecycle", "metric", "monitor_up")
"""Families that the timeline, the restarts and the coverage tell."""
MANAGERS = ("manager", "kernel")
"""Who starts and kills processes: what it says is told of restarts and of the host."""
REFS = 12
FEW = 4
"""Events up to which each is told with its distance from the one before."""
SHOWN = 12
"""Events up to which each is kept with its begin and end."""
TWICE = 3 * SECOND // 2
"""What two observers tell of one event lies within this: one of them writes whole seconds."""
CHECKS = ("probe",)
"""Families of checks, whose distances tell how often something asks."""
REASONS = ("output", "reason", "error")
"""Parameters in which a line says why."""


def events(evidence: Evidence, known: Known, facts: Facts) -> Events:
    """Count events per service and signature."""
    del facts
    wanted = {
        name: signature
        for name, signature in known.signatures.items()
        if signature.counts == "event"
        and signature.family not in TOLD_ELSEWHERE
        and signature.side not in MANAGERS
    }
    closing = {signature.closes: name for name, signature in wanted.items() if signature.closes}
    hits = evidence["hits"].filter(pl.col("signature").is_in(list(wanted)) & pl.col("ts").is_not_null())
    counted = evidence["hit_counts"].group_by("service", "signature").agg(pl.col("n").sum())
    lines = {(service, name): n for service, name, n in counted.iter_rows()}
    parts = {
        (str(service), str(name)): part.sort("ts", "source", "line").to_dicts()
        for (service, name), part in hits.group_by("service", "signature", maintain_order=True)
    }
    told = {
        key: retold(rows, [row for (_, name), part in parts.items() if name == of for row in part])
        for key, rows in parts.items()
        if (of := wanted[key[1]].retells)
    }
    also = Counter(place for pairs in told.values() for place in pairs.values())
    groups = [
        group(wanted[name], service, left, parts.get((service, closing.get(name, "")), []), lines.get((service, name), len(rows)) - len(rows) + len(left), also)
        for (service, name), rows in parts.items()
        if not wanted[name].closes and (left := [row for row in rows if place(row) not in told.get((service, name), {})])
    ]  # fmt: skip
    return Events(tuple(sorted(groups, key=lambda one: (one.signature, one.service))))


def place(row: dict[str, Any]) -> Ref:
    """Return where a line stands."""
    return Ref(row["source"], row["line"])


def retold(rows: list[dict[str, Any]], first: list[dict[str, Any]]) -> dict[Ref, Ref]:
    """Return for lines of one observer the line of another that tells of the same event: near in time, and of the same thing."""
    free = sorted(first, key=lambda row: row["ts"])
    pods = {name for row in rows if (name := pod(row))}
    pairs: dict[Ref, Ref] = {}
    for row in rows:
        said = json.loads(row["parameters"] or "{}")
        near = [
            other
            for other in free
            if abs(other["ts"] - row["ts"]) <= TWICE
            and (other["service"] == pod(row) or other["service"] not in pods)
            and all(said.get(key) in (None, value) for key, value in json.loads(other["parameters"] or "{}").items() if value and key not in REASONS)
        ]  # fmt: skip
        if near:
            best = min(near, key=lambda other: abs(other["ts"] - row["ts"]))
            free.remove(best)
            pairs[place(row)] = place(best)
    return pairs


def pod(row: dict[str, Any]) -> str | None:
    """Return the pod that a line names, without its namespace."""
    said = json.loads(row["parameters"] or "{}").get("pod")
    return said.rpartition("/")[2] if said else None


def mute(row: dict[str, Any]) -> bool:
    """Has a line a place for the reason, and none in it?"""
    said = json.loads(row["parameters"] or "{}")
    return any(name in said for name in REASONS) and not any(
        (said.get(name) or "").strip() for name in REASONS
    )


@dataclass(slots=True)
class Lasting:
    """One event while its lines are put together."""

    operation: str | None
    """What it happened to: a thread, a connection, a job; None where its lines do not say."""
    began: int
    ts: int
    """Its latest line, in µs."""
    took: float | None
    """For how many seconds it had lasted then."""
    row: dict[str, Any]
    """Its first line."""
    over: dict[str, Any] | None = None
    """The line that says that it is over."""
    lines: int = 1

    @property
    def key(self) -> str:
        """Return what ties the line that closes an event to it."""
        return self.operation or ""

    def goes_on(self, ts: int, took: float, began: int) -> None:
        """Take a further line that tells of the same."""
        self.ts, self.lines = ts, self.lines + 1
        self.took, self.began = max(took, self.took or 0), min(began, self.began)

    def span(self) -> Span:
        """Describe an event that lasts."""
        over = self.over
        return Span(
            self.operation, self.began, self.ts, over["ts"] if over else None, self.took, self.lines, place(self.row), place(over) if over else None
        )  # fmt: skip


def group(
    signature: Signature,
    service: str,
    rows: list[dict[str, Any]],
    ends: list[dict[str, Any]],
    lines: int,
    also: Counter[Ref],
) -> EventGroup:
    """Describe the events of one signature in one service."""
    found = merged(signature, rows)
    close(found, ends)
    over = [one.over for one in found if one.over is not None]
    dropped = lines > len(rows)
    return EventGroup(
        signature=signature.id, family=signature.family, title=signature.title, service=service,
        events=len(found), lines=lines, bound="at_least" if signature.limits or dropped else "exact",
        why_bound=LIMITS.get(signature.limits or "", "there are more lines a minute than are kept" if dropped else ""),
        first=min(one.began for one in found), last=max(one.ts for one in found),
        over=len(over) if ends else None,
        last_over=max((end["ts"] for end in over), default=None),
        longest_s=max((one.took for one in found if one.took is not None), default=None),
        refs=tuple(place(row) for row in (*[one.row for one in found], *over)[:REFS]),
        also=sum(also[place(row)] for row in rows), mute=sum(mute(row) for row in rows),
        apart_s=tuple(round((other.began - one.began) / SECOND, 3) for one, other in pairwise(found)) if len(found) <= FEW and signature.family in CHECKS else (),
        spans=tuple(one.span() for one in found) if len(found) <= SHOWN and (ends or signature.wait) else (),
    )  # fmt: skip


def merged(signature: Signature, rows: list[dict[str, Any]]) -> list[Lasting]:
    """Put the lines together that tell of one event: they name the same, and their beginnings agree."""
    found: list[Lasting] = []
    latest: dict[str, Lasting] = {}
    for row in rows:
        took = spent(signature, row)
        began = row["ts"] - round((took or 0) * SECOND)
        same = latest.get(row["operation"]) if took is not None else None
        if same is not None and took is not None and abs(same.began - began) <= AGREE:
            same.goes_on(row["ts"], took, began)
            continue
        found.append(Lasting(row["operation"], began, row["ts"], took, row))
        if row["operation"] is not None:
            latest[row["operation"]] = found[-1]
    return found


def close(found: list[Lasting], ends: list[dict[str, Any]]) -> None:
    """Give each line that says that something is over to the latest open event of the same."""
    open_: dict[str, list[Lasting]] = {}
    begun = iter(sorted(found, key=lambda one: one.ts))
    following = next(begun, None)
    for end in sorted(ends, key=lambda row: row["ts"]):
        while following is not None and following.ts <= end["ts"]:
            open_.setdefault(following.key, []).append(following)
            following = next(begun, None)
        if waiting := open_.get(end["operation"] or ""):
            waiting.pop().over = end


def spent(signature: Signature, row: dict[str, Any]) -> float | None:
    """Return for how long an event had lasted when its line was written, in seconds; None where the line does not say."""
    if signature.wait is None:
        return None
    value = signature.typed(json.loads(row["parameters"] or "{}")).get(signature.wait)
    return float(value) if isinstance(value, int | float) else None


PLUG = Analysis(
    name="events",
    question="What do lines tell of that is no failed operation?",
    gives=Events,
    run=events,
)
