"""What lines explain by themselves, with an incident or without one: who was late, who was ended, what outlasted its trigger."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from forensics.findings.signals import MINUTE, SECOND
from forensics.findings.weighing.machine import KILLED_US
from forensics.findings.weighing.neighbours import late
from forensics.model.facts import Delays, Events, Failures, Probes, Workers
from forensics.model.finding import Finding, Grade
from forensics.model.source import Ref

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.findings.signals import Signals
    from forensics.model.facts import EventGroup, Span, Worker

ONE_EVENT = MINUTE
"""Timeouts closer than this are told together."""
AFTER = 2 * SECOND
"""A failure that comes so soon after the last warning of a blocked thread came out of what blocked it: warnings come each second."""
TRIGGERS = ("gateway_health",)
"""Families of events that tell of a server behind a relay."""
STARTS = 30 * SECOND
"""Trouble that begins so soon after its trigger is set beside it: a check or a wait may lie between."""
PHASES = (
    ("dns", "start", "dns"),
    ("connect", "dns", "connect"),
    ("tls", "tls_start", "tls"),
    ("response", "conn", "response"),
)
"""Phases of a probe over HTTP: name, and the instants from which and to which each lasts."""
MOST = 3
"""Of each kind so many are told."""


def told(signals: Signals) -> Iterator[Finding]:
    """Tell what lines explain, near the incident; on a quiet day, anywhere."""
    yield from late_messages(signals)
    yield from late_replies(signals)
    yield from ended_workers(signals)
    yield from blocked(signals)
    yield from outlasted(signals)
    yield from phases(signals)


def near(signals: Signals, first: int, last: int) -> bool:
    """Does a span lie in the primary incident or beside it? Without an incident, every one does."""
    lo, hi = signals.window
    return signals.primary is None or (first <= hi + MINUTE and last >= lo - MINUTE)


def late_messages(signals: Signals) -> Iterator[Finding]:
    """Tell a receiver that stood still from hosts in another zone or with another clock."""
    delays = signals.facts[Delays]
    found = [one for one in delays.backlogs if near(signals, one.sent_first, one.at)]
    for one in sorted(found, key=lambda item: -item.oldest_s)[:MOST]:
        yield Finding(
            "mechanism.backlog", "mechanism", Grade.INFERRED, {"backlog": one}, one.refs,
            method="times of writing and reading in one line; difference free of zones",
            alternatives=("whoever carried the messages delivered them late",),
        )  # fmt: skip
    for skew in delays.skews[:MOST]:
        key = "mechanism.zone" if skew.zone else "mechanism.skew"
        yield Finding(key, "mechanism", Grade.DERIVED, {"skew": skew}, skew.refs)


def late_replies(signals: Signals) -> Iterator[Finding]:
    """Tell by the client's own counters who was late with a reply, event by event."""
    parts: list[list[dict[str, Any]]] = []
    for row in signals.hits(families=("redis_timeout",)).sort("ts", "source", "line").iter_rows(named=True):
        said = signals.known.signatures[row["signature"]].typed(json.loads(row["parameters"] or "{}"))
        who = late(said)
        if who is None:
            continue
        one = {**row, "said": said, "who": who}
        same = parts and parts[-1][-1]["who"] == who and parts[-1][-1]["service"] == row["service"]
        if same and row["ts"] - parts[-1][-1]["ts"] <= ONE_EVENT:
            parts[-1].append(one)
        else:
            parts.append([one])
    for part in parts[:MOST]:
        yield reply(signals, part)


def reply(signals: Signals, part: list[dict[str, Any]]) -> Finding:
    """Tell of one event whose timeouts all have the same reason."""
    waits = [
        signals.known.signatures[row["signature"]].wait_s(json.loads(row["parameters"])) or 0.0
        for row in part
    ]
    said = [row["said"] for row in part]
    values = {
        "service": part[0]["service"], "n": len(part), "first": part[0]["ts"], "began": min(row["ts"] - round(wait * SECOND) for row, wait in zip(part, waits, strict=True)),
        "servers": len({one["endpoint"] for one in said if one.get("endpoint")}), "unread": sorted({one["in_bytes"] for one in said}),
        "busy": most(said, "worker_busy"), "least": most(said, "worker_min"), "queued": most(said, "queued"), "sent": most(said, "qs"),
    }  # fmt: skip
    return Finding(
        f"mechanism.redis_{part[0]['who']}", "mechanism", Grade.INFERRED, values, tuple(Ref(row["source"], row["line"]) for row in part[:4]),
        method="counters that the client prints with the timeout",
    )  # fmt: skip


def most(said: list[dict[str, Any]], name: str) -> int | None:
    """Return the largest value of a counter."""
    return max((one[name] for one in said if one.get(name) is not None), default=None)


def ended_workers(signals: Signals) -> Iterator[Finding]:
    """Tell for each service which workers missed their heartbeat, who ended them and what replaced them."""
    workers = signals.facts[Workers]
    for service in sorted({one.service for one in workers.missed}):
        mine = [
            one
            for one in workers.missed
            if one.service == service and near(signals, one.at, one.ended or one.at)
        ]
        if not mine:
            continue
        killed = [one for one in mine if by_master(one)]
        began = [(pid, ref) for name, _, pid, ref in workers.begun if name == service]
        values = {
            "service": service, "workers": mine, "killed": len(killed), "within": max((((one.ended or one.at) - one.at) / SECOND for one in killed), default=0),
            "signals": sorted(Counter(one.signal for one in killed).items(), key=lambda item: (-item[1], str(item[0]))),
            "left": sum(one.ended is not None and one.signal is None for one in mine), "begun": [pid for pid, _ in began],
            "limit": next((one.limit_s for one in mine if one.limit_s is not None), None),
        }  # fmt: skip
        refs = [ref for one in mine for ref in one.refs]
        yield Finding(
            "mechanism.workers",
            "mechanism",
            Grade.DERIVED,
            values,
            (*refs[:10], *(ref for _, ref in began[:4])),
        )


def by_master(worker: Worker) -> bool:
    """Was a worker ended by a signal right after its master had missed it?"""
    if worker.signal is None:
        return False
    return worker.ended is None or worker.ended - worker.at <= KILLED_US


def blocked(signals: Signals) -> Iterator[Finding]:
    """Tell each block of a thread with its begin, and what failed as it ended."""
    groups = [group for group in signals.facts[Events].groups if group.family == "event_loop_stall"]
    spans = [
        (group, one)
        for group in groups
        for one in group.spans
        if one.lasted_s and near(signals, one.began, one.told)
    ]
    for group, one in sorted(spans, key=lambda item: item[1].began - item[1].told)[:MOST]:
        yield block(signals, group, one)


def block(signals: Signals, group: EventGroup, span: Span) -> Finding:
    """Tell of one block."""
    rows = signals.facts[Failures].rows
    after = [
        row
        for row in rows.filter(rows["service"] == group.service).sort("ts").iter_rows(named=True)
        if span.told <= row["ts"] <= span.told + AFTER
    ]
    failed = {
        "title": signals.known.signatures[after[0]["signature"]].title,
        "at": after[0]["ts"],
        "most_ms": (after[0]["ts"] - span.began) / 1000,
    } if after else None  # fmt: skip
    refs = (span.ref, *((Ref(after[0]["source"], after[0]["line"]),) if after else ()))
    return Finding(
        "mechanism.blocked",
        "mechanism",
        Grade.DERIVED,
        {
            "group": group,
            "span": span,
            "failed": failed,
            "ended": signals.known.signatures[group.signature].marks == "end",
        },
        refs,
    )


def outlasted(signals: Signals) -> Iterator[Finding]:
    """Tell of trouble that began with an outage behind a relay and went on after that was over."""
    incident = signals.primary
    if incident is None:
        return
    groups = [group for group in signals.facts[Events].groups if group.family in TRIGGERS]
    spans = [(span.name or group.service, span) for group in groups for span in group.spans]
    for name, span in sorted(spans, key=lambda item: item[1].began)[:MOST]:
        if span.over is None or span.over_ref is None:
            continue
        last = max(trouble(signals), default=(0, span.ref))
        if not incident.start - STARTS <= span.began <= incident.start + STARTS or last[0] <= span.over:
            continue
        longer = last[0] - span.over > span.over - span.began
        yield Finding(
            "mechanism.outlasted", "mechanism", Grade.DERIVED, {"span": span, "name": name, "last": last[0], "longer": longer}, (span.ref, span.over_ref, last[1]),
        )  # fmt: skip


def trouble(signals: Signals) -> Iterator[tuple[int, Ref]]:
    """Yield when something failed inside the window: failures, and probes not answered."""
    lo, hi = signals.window
    rows = signals.facts[Failures].rows
    for at, source, line in rows.select("ts", "source", "line").iter_rows():
        if lo <= at <= hi:
            yield at, Ref(source, line)
    for series in signals.facts[Probes].series:
        for due in series.at("failed", "missed", "late"):
            if lo <= due.at <= hi and due.ref:
                yield due.at, due.ref


def phases(signals: Signals) -> Iterator[Finding]:
    """Tell in which phase a failed probe spent its time, and which it never reached."""
    failed = signals.hits("blackbox-exporter.probe-failed").sort("ts", "source", "line")
    rows = signals.hits("blackbox-exporter.timings", "blackbox-exporter.resolving").sort(
        "ts", "source", "line"
    )
    for row in failed.head(MOST).iter_rows(named=True):
        took = signals.known.signatures[row["signature"]].typed(json.loads(row["parameters"]))["duration"]
        if not isinstance(took, float):
            continue
        mine = [
            one
            for one in rows.iter_rows(named=True)
            if one["source"] == row["source"] and row["ts"] - took * SECOND - SECOND <= one["ts"] <= row["ts"]
        ]
        timings = [json.loads(one["parameters"]) for one in mine if one["signature"].endswith(".timings")]
        if not timings:
            continue
        spent = {name: apart(timings[-1].get(begin), timings[-1].get(end)) for name, begin, end in PHASES}
        lookup = resolved(mine)
        values = {
            "service": row["service"], "at": row["ts"], "took": took, "never": [name for name in ("conn", "response") if never(timings[-1].get(name))],
            "spent": {name: one for name, one in {**spent, **({"dns": lookup} if lookup else {})}.items() if one is not None},
        }  # fmt: skip
        refs = tuple(Ref(one["source"], one["line"]) for one in (*mine[-3:], row))
        yield Finding("mechanism.phases", "mechanism", Grade.DERIVED, values, refs)


def never(stamp: str | None) -> bool:
    """Is an instant the zero of its program, so that it was never reached?"""
    return stamp is not None and stamp.startswith("0001-")


def apart(begin: str | None, end: str | None) -> float | None:
    """Return the milliseconds between two instants, None where one was not reached."""
    if begin is None or end is None or never(begin) or never(end):
        return None
    took = dt.datetime.fromisoformat(end) - dt.datetime.fromisoformat(begin)
    return round(took / dt.timedelta(milliseconds=1), 2)


def resolved(rows: list[dict[str, Any]]) -> float | None:
    """Return the milliseconds that the name lookup took before the request, None where lines do not frame it."""
    steps = [row for row in rows if row["signature"].endswith(".resolving")]
    return next(
        (
            round((other["ts"] - one["ts"]) / 1000, 2)
            for one, other in pairwise(steps)
            if json.loads(one["parameters"])["step"] == "ing"
            and json.loads(other["parameters"])["step"] == "ed"
        ),
        None,
    )
