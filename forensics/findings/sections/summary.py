"""The summary: in a few sentences what matters most."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.findings import activity, capacity, lock_waits
from forensics.findings.alarms import alarms
from forensics.findings.kinds import same_kind
from forensics.findings.primary import (
    completed,
    coverage_refs,
    edge_refs,
    in_window,
    lossy,
    main_pool,
    places,
    pool_values,
    seconds_shown,
    stall_of,
    stall_refs,
    stalls_in_window,
    together,
)
from forensics.findings.signals import replica_of
from forensics.model.facts import EDGE_S, Coverage, Events, Failures, Impact, Probes, Samples, Sessions, Watch
from forensics.model.finding import POSITIVE, Finding, Grade, Judgement, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.findings.signals import Signals
    from forensics.model.facts import Incident, Stall
    from forensics.model.finding import OpenQuestion
    from forensics.model.source import Ref

CAUSES = (
    "out_of_memory",
    "resource_exhausted",
    "host_rebooted",
    "host_frozen_or_clock_jump",
    "db_slots_exhausted",
    "db_slow_or_locked",
    "redis_failed",
    "service_restarted",
    "db_down",
    "gateway_failed",
)
"""What is named as the mechanism where no pool ran out and nothing stood still, what others stand on first: what is confirmed before what is
supported."""
NAMED = 2
"""Confirmed verdicts that the summary names: a full disk, and the server that it brought down."""
TOLD = 2
"""Kinds of events that a summary without an incident names."""
SCENERY = (
    "mechanism.gauge",
    "mechanism.counters",
    "mechanism.budget",
    "mechanism.sessions",
    "mechanism.loss",
    "mechanism.rhythm",
    "mechanism.probes",
)
"""What the mechanism tells around its links."""


def summary(
    signals: Signals,
    verdicts: dict[str, Judgement],
    unknown: OpenQuestion | None,
    explained: tuple[Finding, ...] = (),
) -> Iterator[Finding]:
    """Say in a few sentences what matters most.

    ``unknown`` is the greatest of the open questions; ``explained`` is what the mechanism tells, most special first: the first of it is
    said here where neither a pool, a stall, a holder nor a cause is.
    """
    incident = signals.primary
    if incident is None:
        yield from quiet(signals, stalled=verdicts["process_stalled"].verdict in POSITIVE)
        yield from seen_at_rest(signals, explained)
        return
    found = signals.facts[Impact]
    failed, hit, jobs = found.failed, hit_services(signals), operations(signals)
    yield Finding(
        "summary.window", "summary", Grade.DERIVED,
        {
            "incident": incident, "service": hit, "last": signals.window[1], "failed": failed, "completed": completed(signals) if hit == signals.unit else found.completed,
            "clients": len(found.clients), "lossy": lossy(signals), "edge": None if found.completed_between else EDGE_S,
            **attempts(signals), "operations": jobs, "alike": alike(signals, incident),
        }, (*edge_refs(incident), *found.attempt_refs[:1], *found.attempt_refs[1:][-1:], *(one.ref for one in found.operations[:1] if jobs)),
    )  # fmt: skip
    yield from only_an_alarm(signals)
    causes = [*summary_cause(signals, verdicts), *activity.summary(signals)]
    yield from causes or lead(explained)
    gaps = [gap for gap in signals.facts[Watch].gaps if gap.inside or gap.overlapping]
    if gaps:
        yield Finding(
            "summary.blind",
            "summary",
            Grade.VERIFIED,
            {"gap": gaps[0], "n": len(gaps[0].inside) + len(gaps[0].overlapping)},
            gaps[0].refs,
        )
    if unknown is not None:
        what = {"what": unknown.what}
        yield Finding("summary.unknown", "summary", Grade.NOT_DETERMINED, what, needs=unknown.needs[:1])


def lead(explained: tuple[Finding, ...]) -> Iterator[Finding]:
    """Repeat the first of what the mechanism tells; what only sets the scene comes last."""
    for one in sorted(explained, key=lambda finding: finding.key in SCENERY)[:1]:
        yield dataclasses.replace(one, section="summary")


def told_events(signals: Signals) -> Iterator[Finding]:
    """Count what lines tell of that is no failed operation, most first: without an incident it is all that there is to tell."""
    every = sorted(signals.facts[Events].groups, key=lambda one: (-one.events, one.signature, one.service))
    groups = every[:TOLD]
    if groups:
        values = {"groups": groups, "further": len(every) - len(groups)}
        refs = tuple(ref for group in groups for ref in (*group.refs[:1], *group.refs[1:][-1:]))
        yield Finding("summary.events", "summary", Grade.DERIVED, values, refs)


def attempts(signals: Signals) -> dict[str, Any]:
    """Return how many attempts of outgoing calls failed, and whose, where that is a main effect: at least as many as requests failed."""
    found = signals.facts[Impact]
    main = bool(found.calls_failed) and found.calls_failed >= found.failed
    return {"calls": found.calls_failed if main else 0, "caller": found.caller if main else None}


def operations(signals: Signals) -> dict[str, Any] | None:
    """Return how many operations of services without requests failed, and whose, where that is a main effect: more than requests."""
    found = signals.facts[Impact].operations
    said = together(found)
    main = said["n"] > signals.facts[Impact].failed
    return {**said, "services": [one.service for one in found]} if main else None


def hit_services(signals: Signals) -> str:
    """Return whose requests failed: the service that the report is about where any did, else those whose log shows some."""
    named = {route.service for route in signals.facts[Impact].routes if not route.probe}
    if not named or signals.unit in named:
        return signals.unit
    return ", ".join(sorted({replica_of(name) for name in named}))


def quiet(signals: Signals, *, stalled: bool) -> Iterator[Finding]:
    """Say that there is no incident, of what, and what was seen all the same; ``stalled``: a thread or a worker did not come back."""
    refs = coverage_refs(signals)
    records = sum(source.records for source in signals.evidence.sources)
    first = next(anything(signals), None)
    if refs:
        rows = signals.facts[Failures].rows
        values = {
            "service": signals.unit, "first": signals.window[0], "last": signals.window[1], "probed": bool(signals.watchers()), "stalled": stalled,
            "single": int(rows.filter(pl.col("service") == signals.unit)["sure"].sum()),
        }  # fmt: skip
        yield Finding(
            "summary.quiet",
            "summary",
            Grade.NO_SIGN,
            values,
            refs,
            scope="the sources given, over their coverage",
        )
    elif records and first:
        yield Finding("summary.unassigned", "summary", Grade.VERIFIED, {"records": records}, (first,))


def alike(signals: Signals, incident: Incident) -> tuple[int, int] | None:
    """Return how many incidents are of the kind of this one, itself among them, and when the first began; None where it is alone."""
    same = same_kind(signals)
    return (1 + len(same), min(one.start for one in (incident, *same))) if same else None


def only_an_alarm(signals: Signals) -> Iterator[Finding]:
    """Say it where a monitor's failed checks are all that there is of the incident, while users were served as always."""
    for one in alarms(signals):
        if one.primary and one.verdict == "false":
            yield Finding("alert.false", "summary", Grade.INFERRED, {"at": one.at, "alarm": one}, one.refs)


def seen_at_rest(signals: Signals, explained: tuple[Finding, ...]) -> Iterator[Finding]:
    """Say what was seen without an incident: sessions, else what lines explain, else what they tell of; and when a monitor was blind."""
    held = summary_holder(signals, pool=False)
    yield from (
        [*([held] if held else ()), *activity.summary(signals)]
        or [*lead(tuple(one for one in explained if one.key not in SCENERY))]
        or told_events(signals)
    )
    for gap in signals.facts[Watch].gaps[:1]:
        yield Finding("alert.blind", "summary", Grade.VERIFIED, {"gap": gap}, gap.refs)


def anything(signals: Signals) -> Iterator[Ref]:
    """Yield places of what was read: lines of services, samples, sessions, results of monitors."""
    yield from (cover.first_ref for cover in signals.facts[Coverage].services)
    yield from (ref for gauge in signals.facts[Samples].series for ref in gauge.refs.values())
    yield from (snapshot.ref for snapshot in signals.facts[Sessions].snapshots)
    yield from (due.ref for series in signals.facts[Probes].series for due in series.dues if due.ref)


def summary_pool(signals: Signals) -> Iterator[Finding]:
    """Count the waits for the main pool, beside the server's refusals where both limits were met."""
    pool = main_pool(signals)
    if pool is None:
        return
    rows = in_window(signals, pool)
    both = capacity.both_limits(signals)
    if both:
        refs = both.pop("refs")
        yield Finding("summary.both", "summary", Grade.VERIFIED, both, refs)
    elif rows.height:
        yield Finding(
            "summary.pool", "summary", Grade.VERIFIED, pool_values(signals, pool, rows), places(rows)
        )


def summary_cause(signals: Signals, verdicts: dict[str, Judgement]) -> Iterator[Finding]:
    """Name the mechanism with its grade, in one or two sentences."""
    pool = main_pool(signals)
    yield from summary_pool(signals)
    stall = stall_of(signals)
    if stall is not None:
        stalls = stalls_in_window(signals)
        total = sum(seconds_shown(item.start, item.end or signals.window[1]) for item in stalls)
        yield Finding(
            "summary.stall",
            "summary",
            Grade.INFERRED,
            {
                "n": len(stalls),
                "total": total,
                "open": any(item.end is None for item in stalls),
                **probed(stall),
            },
            stall_refs(stall),
        )
    holder = summary_holder(signals, pool=pool is not None)
    if holder is not None:
        yield holder
    elif pool is None and stall is None:
        yield from summary_verdict(verdicts)


def probed(stall: Stall) -> dict[str, Any]:
    """Return which probes a stall left unanswered and how many; 0 where other witnesses alone tell of it.

    The probes are named and nothing is said of what their endpoint needs, which no line shows.
    """
    seen = next((one for one in stall.witnesses if one.kind == "probes"), None)
    return {"probes": seen.n if seen else 0, "probed": seen.detail["series"] if seen else None}


def summary_holder(signals: Signals, *, pool: bool) -> Finding | None:
    """Name who held what others waited for: by the server's log, else by a snapshot of its sessions."""
    grade = Grade.INFERRED if pool else Grade.VERIFIED
    held = next(iter(lock_waits.told(signals)), None)
    if held is not None:
        values = {"group": held, "n": len(held.waiters), "pool": pool}
        refs = held.refs[:3] + tuple(one.member.ref for one in held.seen if held.application)
        return Finding("summary.locks", "summary", grade, values, refs)
    snapshot = next((one for one in signals.snapshots if one.blockers), None)
    if snapshot is None:
        return None
    values = {"snapshot": snapshot, "blocker": snapshot.blockers[0], "pool": pool}
    return Finding("summary.blocker", "summary", grade, values, snapshot.blockers[0].refs[:3])


def summary_verdict(verdicts: dict[str, Judgement]) -> Iterator[Finding]:
    """Say the surest cause where nothing more special is told."""
    told = [verdicts[name] for name in CAUSES]
    found: list[Finding] = []
    for verdict in (Verdict.CONFIRMED, Verdict.SUPPORTED):
        for judgement in told:
            if judgement.verdict is verdict:
                grade = Grade.VERIFIED if verdict is Verdict.CONFIRMED else Grade.INFERRED
                found.append(
                    Finding(f"why.{judgement.why}", "summary", grade, judgement.values, judgement.supports)
                )
        if found:
            yield from found[: NAMED if verdict is Verdict.CONFIRMED else 1]
            return
