"""The mechanism, link by link, with its arithmetic."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.findings import (
    activity,
    budget_link,
    capacity,
    last_words,
    lock_waits,
    pooler,
    role_limits,
    upkeep,
)
from forensics.findings.primary import (
    DNS,
    OVERLOAD,
    POOL,
    called,
    in_window,
    main_pool,
    of_family,
    places,
    pool_values,
    seconds_shown,
    stall_refs,
    stalls_in_window,
)
from forensics.findings.signals import SECOND, replica_of
from forensics.model.facts import Failures, Restarts, Rhythms
from forensics.model.finding import POSITIVE, Finding, Grade, Judgement, Verdict
from forensics.model.outcomes import UNANSWERED
from forensics.model.source import Ref

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.findings.signals import Signals
    from forensics.model.facts import Beat, EventGroup, FailureGroup, Outage, SampleSeries, Stall

REDIS = ("redis_timeout", "redis_connection", "redis_pool", "redis_unavailable")
REFUSED = "redis_refused"
"""Family of commands that Redis answered with a refusal: told with the verdict on it."""
SILENT = ("it was alive and printed nothing", "its lines were lost")
LINKS = ("db_slots_exhausted", "redis_failed", "service_restarted", "db_down")
"""Verdicts that are links of the chain, told where nothing more special tells them."""
ON_HOSTS = (
    "out_of_memory",
    "host_rebooted",
    "host_frozen_or_clock_jump",
    "resource_exhausted",
    "gateway_failed",
)
"""Verdicts on what services stand on, told with an incident and without one."""
SLOW_STOP_US = 5 * SECOND
"""A process that ends its work in less time after a request to stop holds up no deploy."""
OVERLAP = 3
"""Waits from which it is told that they overlap."""
ALL = 0.9
"""Share of the waits in a window that one run of overlapping ones must hold to speak for the window."""
LOSSES = 3
"""Services whose declared losses are told, those with most lines first."""
COUNTERS = ("total", "active", "idle", "waiting")
"""What pools count of themselves."""


def mechanism(signals: Signals, verdicts: dict[str, Judgement]) -> Iterator[Finding]:
    """Tell the chain link by link, with its arithmetic."""
    if signals.primary is None:
        yield from at_rest(signals)
        yield from verdict_links(signals, verdicts, ON_HOSTS)
        return
    pool = main_pool(signals)
    if pool is not None:
        rows = in_window(signals, pool)
        if rows.height:
            yield from pool_links(signals, pool, rows)
    for stall in stalls_in_window(signals)[:3]:
        yield from stall_links(signals, stall)
    yield from probe_link(signals)
    yield from redis_link(signals)
    yield from workers_full(signals)
    yield from gauge_links(signals, pool)
    yield from activity.findings(signals, "mechanism")
    yield from pooler.findings(signals, "mechanism")
    yield from verdict_links(signals, verdicts, (*LINKS, *ON_HOSTS))
    yield from capacity.refused(signals)
    yield from capacity.contradicted(signals)
    yield from role_limits.findings(signals)
    yield from capacity.sides(signals)
    yield from capacity.server_end(signals)
    yield from other_failures(signals, pool)
    yield from resolvers(signals)
    yield from lock_waits.findings(signals, "mechanism")
    yield from upkeep.findings(signals, "mechanism")
    for beat in told_once(signals.facts[Rhythms].beats):
        yield Finding(
            "mechanism.rhythm",
            "mechanism",
            Grade.DERIVED,
            {"beat": beat, "title": signals.known.signatures[beat.signature].title},
            beat.refs,
        )
    yield from budget_link.findings(signals)
    for lost in signals.losses[:LOSSES]:
        yield Finding("mechanism.loss", "mechanism", Grade.VERIFIED, {"lost": lost}, lost.refs[:4])


def at_rest(signals: Signals) -> Iterator[Finding]:
    """Tell what a database's sessions and its log show where there is no incident."""
    yield from activity.findings(signals, "mechanism")
    yield from capacity.server_end(signals)
    yield from lock_waits.findings(signals, "mechanism")
    yield from upkeep.findings(signals, "mechanism")


def verdict_links(
    signals: Signals, verdicts: dict[str, Judgement], names: tuple[str, ...]
) -> Iterator[Finding]:
    """Tell the confirmed and supported verdicts that have no link of their own."""
    refused = bool(capacity.refusals(signals).height)
    for name in names:
        judgement = verdicts[name]
        if name == "db_slots_exhausted" and refused:
            continue  # told with those who were refused
        if judgement.verdict in POSITIVE and judgement.supports:
            yield Finding(
                f"why.{judgement.why}",
                "mechanism",
                Grade.VERIFIED if judgement.verdict is Verdict.CONFIRMED else Grade.INFERRED,
                judgement.values,
                judgement.supports,
                scope=judgement.scope,
            )
            if name == "service_restarted":
                yield from last_words.findings(signals)
                yield from killed(signals)


def killed(signals: Signals) -> Iterator[Finding]:
    """Tell where a requested stop was slow or ended in a kill: how long after the request, and whether a stop timeout had run out."""
    restarts = signals.facts[Restarts]
    for outage in (one for one in restarts.outages if one.reason == "deploy" and touches(signals, one)):
        inside = [
            event
            for event in restarts.events
            if event.service == outage.service and outage.start <= event.at <= (outage.end or event.at)
        ]
        kills = [event for event in inside if event.kind == "killed"]
        timeouts = [
            event for event in inside if event.kind == "timeout" and kills and event.at <= kills[0].at
        ]
        if kills:
            yield Finding(
                "mechanism.killed",
                "mechanism",
                Grade.DERIVED,
                {"outage": outage, "at": kills[0].at, "n": len(kills), "timed_out": bool(timeouts)},
                (outage.refs[0], *(event.ref for event in (*timeouts[-1:], *kills[:2]))),
            )
        elif outage.stopped is not None and outage.stopped - outage.start >= SLOW_STOP_US:
            values = {"outage": outage, "took_s": (outage.stopped - outage.start) / SECOND}
            yield Finding("mechanism.slow_stop", "mechanism", Grade.DERIVED, values, outage.refs[:2])


def touches(signals: Signals, outage: Outage) -> bool:
    """Does an outage lie in the primary window, or reach into it?"""
    lo, hi = signals.window
    return outage.start <= hi and (outage.end or hi) >= lo


def told_once(beats: tuple[Beat, ...]) -> list[Beat]:
    """Leave out the beat of failed requests where failures of another kind show the same one: they are their answers."""
    causes = {beat.period_s for beat in beats if not beat.signature.startswith("http.")}
    return [beat for beat in beats if not beat.signature.startswith("http.") or beat.period_s not in causes]


def pool_links(signals: Signals, pool: FailureGroup, rows: pl.DataFrame) -> Iterator[Finding]:
    """Tell how many waits failed, since when, and what the arithmetic says about where they waited."""
    values = pool_values(signals, pool, rows)
    yield Finding(
        "mechanism.pool",
        "mechanism",
        Grade.VERIFIED,
        values,
        places(rows),
        method="lines of the signature, joined into failures",
    )
    yield from counters(signals, pool)
    yield from capacity.fan_out(signals, pool, rows)
    stalls = stalls_in_window(signals)
    if not stalls:
        yield from overlap(rows)
    if stalls and values["wait"] and values["failures"] >= 2:
        yield serial_link(
            values, [seconds_shown(one.start, one.end or signals.window[1]) for one in stalls], rows
        )


def serial_link(values: dict[str, Any], spans: list[int], rows: pl.DataFrame) -> Finding:
    """Tell how many waits one after another fit into the stalls (seconds each): the others waited elsewhere."""
    span = sum(spans)
    serial = int(span // values["wait"])
    whole = " + ".join(f"{one} s" for one in spans)
    return Finding(
        "mechanism.serial",
        "mechanism",
        Grade.DERIVED,
        {**values, "span": span, "serial": serial, "threads": max(0, values["failures"] - serial)},
        places(rows, 1),
        formula=f"{f'({whole})' if len(spans) > 1 else whole} / {values['wait']:g} s = {serial}",
    )


def overlap(rows: pl.DataFrame) -> Iterator[Finding]:
    """Tell for how long a caller was waiting at every moment: so long the pool had nothing for them."""
    runs: list[list[tuple[int, int, Ref]]] = []
    end = 0
    waits = rows.filter(pl.col("began") < pl.col("ts")).sort("began", "ts")
    for began, ts, source, line in waits.select("began", "ts", "source", "line").iter_rows():
        if not runs or began > end:
            runs.append([])
        runs[-1].append((began, ts, Ref(source, line)))
        end = max(end, ts)
    longest = max(runs, key=lambda run: max(one[1] for one in run) - run[0][0], default=[])
    if len(longest) < max(OVERLAP, ALL * waits.height):
        return
    last = max(longest, key=lambda one: one[1])
    values = {
        "n": len(longest),
        "first": longest[0][0],
        "last": last[1],
        "within_ms": (longest[-1][0] - longest[0][0]) / 1000,
    }
    yield Finding("mechanism.overlap", "mechanism", Grade.DERIVED, values, (longest[0][2], last[2]))


def counters(signals: Signals, pool: FailureGroup) -> Iterator[Finding]:
    """Show what the pool's own lines say of its connections and of those who wait, as ranges over the window."""
    texts = [name for name, one in signals.known.signatures.items() if one.family == POOL]
    rows = signals.hits(*texts).filter(pl.col("service") == pool.service)
    said = [
        (json.loads(row["parameters"] or "{}"), Ref(row["source"], row["line"]))
        for row in rows.sort("ts", "source", "line").iter_rows(named=True)
    ]
    ranges = {
        name: (min(numbers), max(numbers))
        for name in COUNTERS
        if (numbers := [int(one[name]) for one, _ in said if str(one.get(name) or "").isdigit()])
    }
    idle = [one["idle"] for one, _ in said if str(one.get("idle") or "").isdigit()]
    if len(ranges) >= 2:
        refs = tuple(ref for one, ref in said if any(one.get(name) for name in ranges))
        yield Finding(
            "mechanism.counters",
            "mechanism",
            Grade.VERIFIED,
            {"ranges": ranges, "empty": idle.count("0"), "lines": len(idle)},
            (*refs[:2], *refs[-2:]),
        )


def stall_links(signals: Signals, stall: Stall) -> Iterator[Finding]:
    """Tell that the process stood still, by which witnesses, and how its parts fit the waits."""
    kinds = {witness.kind: witness for witness in stall.witnesses}
    yield Finding(
        "mechanism.stall", "mechanism", Grade.INFERRED, {"stall": stall, "kinds": kinds, "last": signals.window[1]}, stall_refs(stall),
        method="silence against the service's own rate, with independent witnesses", alternatives=SILENT,
    )  # fmt: skip


def probe_link(signals: Signals) -> Iterator[Finding]:
    """Tell which probes were not answered in time."""
    lo, hi = signals.window
    for series in sorted(signals.watchers(), key=lambda item: item.seen_by != "monitor"):
        grace = round((series.timeout_s or 0) * SECOND)
        bad = [
            due
            for due in series.dues
            if lo - grace - SECOND <= due.at <= hi and due.state in ("missed", "failed", "late")
        ]
        refs = tuple(due.ref for due in bad if due.ref) or tuple(
            due.ref for due in series.dues if due.ref and abs(due.at - lo) < 2 * series.period_s * SECOND
        )
        if bad and refs:
            yield Finding(
                "mechanism.probes",
                "mechanism",
                Grade.VERIFIED,
                {
                    "series": series,
                    "n": len(bad),
                    "first": bad[0].at,
                    "last": bad[-1].at,
                    "kinds": Counter(due.outcome for due in bad).most_common(),
                    "silent": all(due.outcome in UNANSWERED for due in bad),
                    "error": next((due.error for due in bad if due.error), None),
                },
                refs[:4],
            )
            break


def redis_link(signals: Signals) -> Iterator[Finding]:
    """Tell Redis timeouts as what they are: a symptom inside a stall, or failures of their own."""
    rows = signals.inside(*REDIS)
    if not rows.height:
        return
    in_stalls = signals.rows_in_stalls(rows)
    if signals.stalled() and in_stalls >= 0.9 * rows.height:
        yield Finding(
            "mechanism.redis_symptom", "mechanism", Grade.INFERRED, {"n": rows.height, "least": int(rows["sure"].sum()), "in_stalls": in_stalls}, places(rows), alternatives=("a network fault between service and Redis in the same seconds",),
            method="every timeout was printed when the process got a turn",
        )  # fmt: skip


def workers_full(signals: Signals) -> Iterator[Finding]:
    """Tell that a server's workers or its queue were all taken, where it says so in the window or in the minute before."""
    for group in of_family(signals, OVERLOAD):
        yield said_by(signals, group, "mechanism.full", "max")


def resolvers(signals: Signals) -> Iterator[Finding]:
    """Tell what resolvers say of questions that a name server left unanswered, or that took long."""
    for group in of_family(signals, DNS):
        yield said_by(signals, group, "mechanism.resolver", "name", "server")


def said_by(signals: Signals, group: EventGroup, key: str, *names: str) -> Finding:
    """Tell how often a service says something of itself in and near the window, with what the first line names."""
    rows = signals.hits(group.signature).filter(pl.col("service") == group.service)
    rows = rows.sort("ts", "source", "line")
    said = json.loads(rows["parameters"][0] or "{}")
    values = {name: said.get(name) for name in names}
    values |= {"group": group, "n": rows.height, "first": rows["ts"][0], "last": rows["ts"][-1]}
    return Finding(key, "mechanism", Grade.VERIFIED, values, signals.refs(rows, 2))


def gauge_links(signals: Signals, pool: FailureGroup | None) -> Iterator[Finding]:
    """Tell what the samples say: the level, the rise against the pool's capacity, and the plateau as an interval."""
    gauge = signals.gauge
    if gauge is None or gauge.incident_peak is None or (signals.snapshots and not gauge.period_s):
        return
    refs = tuple(ref for key, ref in gauge.refs.items() if key != "all_peak")
    values: dict[str, Any] = {"gauge": gauge, "peak": gauge.incident_peak[1], **rises(gauge)}
    size, overflow = (pool.parameters.get("size"), pool.parameters.get("overflow")) if pool else (None, None)
    capacity = size + overflow if isinstance(size, int) and isinstance(overflow, int) else None
    pooled = capacity is not None
    grown = max(values["from_before"] or 0, values["from_after"] or 0) > 0
    values |= {"grown": grown, "overflow": overflow if pooled else None, "capacity": capacity, "low": None}
    if grown and gauge.plateau and gauge.period_s and gauge.plateau[2] >= 2:
        first, last, n = gauge.plateau
        values |= {
            "low": (last - first) / SECOND,
            "high": (last - first) / SECOND + 2 * gauge.period_s,
            "n": n,
        }
    alternatives = (
        ("other clients of the same server", "sessions that had not ended yet") if grown and pooled else ()
    )
    yield Finding(
        "mechanism.gauge",
        "mechanism",
        Grade.DERIVED if grown else Grade.VERIFIED,
        values,
        refs,
        alternatives=alternatives,
    )


def rises(gauge: SampleSeries) -> dict[str, float | None]:
    """Return the rise against the sample before and the one after."""
    peak = gauge.incident_peak[1] if gauge.incident_peak else None
    return {
        "from_before": peak - gauge.incident_before[1]
        if peak is not None and gauge.incident_before
        else None,
        "from_after": peak - gauge.incident_after[1] if peak is not None and gauge.incident_after else None,
        "before": gauge.incident_before[1] if gauge.incident_before else None,
        "after": gauge.incident_after[1] if gauge.incident_after else None,
    }


def other_failures(signals: Signals, pool: FailureGroup | None) -> Iterator[Finding]:
    """Name the other kinds of failures inside the window, most first; names that could not be resolved before all, since calls end there."""
    told = (*REDIS, REFUSED, "app_error", "webhook_delivery", "server_limit", "http_error")
    done = {(replica_of(pool.service), pool.signature)} if pool is not None else set()
    groups = []
    for group in sorted(
        signals.facts[Failures].groups, key=lambda item: (item.family != DNS, -item.failures)
    ):
        kind = (replica_of(group.service), group.signature)
        if group.family not in told and kind not in done:
            done.add(kind)
            groups.append(group)
    for group in groups[:3]:
        rows = in_window(signals, group)
        if rows.height:
            yield Finding(
                "mechanism.other",
                "mechanism",
                Grade.VERIFIED,
                {
                    "group": group,
                    **called(signals, group),
                    "n": int(rows["sure"].sum()),
                    "most": rows.height,
                    "title": signals.known.signatures[group.signature].title,
                },
                places(rows, 2),
            )
