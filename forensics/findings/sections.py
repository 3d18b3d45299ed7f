"""What each section claims: findings built from facts and judgements, every number with its place."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.findings import activity, budget_link, capacity, pooler, upkeep
from forensics.findings.hypotheses import fill, load
from forensics.findings.lines_told import told
from forensics.findings.signals import MINUTE, SECOND, replica_of
from forensics.model.facts import (
    Background,
    Coverage,
    Daily,
    Events,
    Failures,
    Impact,
    Incidents,
    Locks,
    Losses,
    Probes,
    Rhythms,
    Samples,
    Sessions,
    Stalls,
    Watch,
)
from forensics.model.finding import Finding, Grade, Judgement, Need, Verdict
from forensics.model.frames import middle
from forensics.model.source import Ref

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.findings.signals import Signals
    from forensics.model.facts import Beat, FailureGroup, Incident, LockGroup, SampleSeries, Stall

POOL = "pool_exhaustion"
BUCKET = 10 * SECOND
"""A pool fails over as many of these as hold a failure of it."""
REDIS = ("redis_timeout", "redis_connection", "redis_pool", "redis_unavailable")
NOISE_SHOWN = 1
SILENT = ("it was alive and printed nothing", "its lines were lost")
ASK_BEYOND = {"app_pool_exhausted": "holder", "db_slots_exhausted": "slots", "redis_failed": "redis"}
"""What stays open although a mechanism is found: who held it, or why it did not answer."""
CAUSES = (
    "db_slots_exhausted",
    "db_slow_or_locked",
    "redis_failed",
    "service_restarted",
    "out_of_memory",
    "db_down",
)
"""What is named as the mechanism where no pool ran out and nothing stood still: what is confirmed first."""
FACTS = ("app_pool_exhausted", "process_stalled", "db_slots_exhausted", "redis_failed", "service_restarted")


def all_findings(signals: Signals, judgements: tuple[Judgement, ...]) -> tuple[Finding, ...]:
    """Return every finding in the order of sections."""
    verdicts = {judgement.id: judgement for judgement in judgements}
    makers = (
        summary(signals, verdicts),
        times(signals),
        impact(signals),
        mechanism(signals, verdicts),
        told(signals),
        alert(signals),
        recurrence(signals),
        noise(signals),
        clues(signals),
    )
    return tuple(finding for maker in makers for finding in maker)


NEAR_US = 600 * SECOND
"""Events this near to the incident are named."""
LOCKS = 3
"""Holders of locks that are named."""
OVERLAP = 3
"""Waits from which it is told that they overlap."""
ALL = 0.9
"""Share of the waits in a window that one run of overlapping ones must hold to speak for the window."""
COUNTERS = ("total", "active", "idle", "waiting")
"""What pools count of themselves."""
GREEN = 2
"""Answered checks inside an incident from which one is said not to see it."""
SEEN = 6
"""Kinds of events that are named."""


def main_pool(signals: Signals) -> FailureGroup | None:
    """Return the pool that failed over the longest time, not the one that failed most often in one burst."""
    rows = signals.facts[Failures].rows.filter(pl.col("family") == POOL)
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


def called(signals: Signals, group: FailureGroup) -> dict[str, Any]:
    """Return how a group's service is called: its own name, or that of its replicas with their number."""
    n = len(replicas(signals, group))
    return {"name": replica_of(group.service) if n > 1 else group.service, "replicas": n}


def in_window(signals: Signals, group: FailureGroup) -> pl.DataFrame:
    """Return the failures of a group in the primary window, those of all replicas of its service."""
    lo, hi = signals.window
    rows = signals.facts[Failures].rows
    return rows.filter(
        pl.col("service").is_in([other.service for other in replicas(signals, group)])
        & (pl.col("signature") == group.signature)
        & (pl.col("ts").is_between(lo, hi + 5 * SECOND) | pl.col("began").is_between(lo, hi))
    )


def stalls_in_window(signals: Signals) -> list[Stall]:
    """Return the stalls that touch the primary window."""
    lo, hi = signals.window
    return [stall for stall in signals.facts[Stalls].items if stall.start <= hi and (stall.end or hi) >= lo]


def stall_of(signals: Signals) -> Stall | None:
    """Return the longest stall that touches the primary window."""
    hi = signals.window[1]
    found = stalls_in_window(signals)
    return max(found, key=lambda stall: (stall.end or hi) - stall.start, default=None)


def edge_refs(incident: Incident) -> tuple[Ref, ...]:
    """Return the places of an incident's start and end."""
    return tuple(ref for ref in (incident.start_ref, incident.end_ref) if ref is not None)


def coverage_refs(signals: Signals) -> tuple[Ref, ...]:
    """Return first and last line of the service that the report is about."""
    cover = signals.facts[Coverage].of(signals.unit)
    return (cover.first_ref, cover.last_ref) if cover else ()


def summary(signals: Signals, verdicts: dict[str, Judgement]) -> Iterator[Finding]:
    """Say in a few sentences what matters most."""
    incident = signals.primary
    if incident is None:
        yield from quiet(signals)
        return
    found = signals.facts[Impact]
    failed, hit = found.failed, hit_services(signals)
    yield Finding(
        "summary.window", "summary", Grade.DERIVED,
        {
            "incident": incident, "service": hit, "last": signals.window[1], "failed": failed, "completed": completed(signals) if hit == signals.unit else found.completed,
            "clients": len(found.clients), "lossy": lossy(signals),
        }, edge_refs(incident),
    )  # fmt: skip
    yield from summary_cause(signals, verdicts)
    gaps = [gap for gap in signals.facts[Watch].gaps if gap.inside or gap.overlapping]
    if gaps:
        yield Finding(
            "summary.blind",
            "summary",
            Grade.VERIFIED,
            {"gap": gaps[0], "n": len(gaps[0].inside) + len(gaps[0].overlapping)},
            gaps[0].refs,
        )
    key, needs = greatest_unknown(signals, verdicts)
    if key:
        yield Finding("summary.unknown", "summary", Grade.NOT_DETERMINED, {"what": key}, needs=needs[:1])


def hit_services(signals: Signals) -> str:
    """Return whose requests failed: the service that the report is about where any did, else those whose log shows some."""
    named = {route.service for route in signals.facts[Impact].routes}
    if not named or signals.unit in named:
        return signals.unit
    return ", ".join(sorted({replica_of(name) for name in named}))


def completed(signals: Signals) -> int | None:
    """Return how many responses completed in the window, None where the service's log shows no requests."""
    shown = set(signals.evidence["routes"]["service"].drop_nulls())
    return signals.facts[Impact].completed if signals.unit in shown else None


def quiet(signals: Signals) -> Iterator[Finding]:
    """Say that there is no incident, of what, and what was seen all the same."""
    refs = coverage_refs(signals)
    records = sum(source.records for source in signals.evidence.sources)
    first = next(anything(signals), None)
    if refs:
        rows = signals.facts[Failures].rows
        values = {
            "service": signals.unit, "first": signals.window[0], "last": signals.window[1], "probed": bool(signals.watchers()),
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
    for gap in signals.facts[Watch].gaps[:1]:
        yield Finding("alert.blind", "summary", Grade.VERIFIED, {"gap": gap}, gap.refs)


def anything(signals: Signals) -> Iterator[Ref]:
    """Yield places of what was read: lines of services, samples, sessions, results of monitors."""
    yield from (cover.first_ref for cover in signals.facts[Coverage].services)
    yield from (ref for gauge in signals.facts[Samples].series for ref in gauge.refs.values())
    yield from (snapshot.ref for snapshot in signals.facts[Sessions].snapshots)
    yield from (due.ref for series in signals.facts[Probes].series for due in series.dues if due.ref)


def lossy(signals: Signals) -> bool:
    """Tell whether lines of the service are declared lost, so that counts are lower bounds."""
    lost = any(loss.service == signals.unit for loss in signals.facts[Losses].items)
    return lost or any(
        group.service == signals.unit and group.bound == "at_least"
        for group in signals.facts[Failures].groups
    )


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
            "summary.pool", "summary", Grade.VERIFIED, pool_values(signals, pool, rows), Ref_of(rows)
        )


def summary_cause(signals: Signals, verdicts: dict[str, Judgement]) -> Iterator[Finding]:
    """Name the mechanism with its grade, in one or two sentences."""
    pool = main_pool(signals)
    yield from summary_pool(signals)
    stall = stall_of(signals)
    if stall is not None:
        stalls = stalls_in_window(signals)
        total = sum((item.end or signals.window[1]) - item.start for item in stalls) / SECOND
        yield Finding(
            "summary.stall",
            "summary",
            Grade.INFERRED,
            {"n": len(stalls), "total": total, "open": any(item.end is None for item in stalls)},
            stall_refs(stall),
        )
    holder = summary_holder(signals, pool=pool is not None)
    if holder is not None:
        yield holder
    elif pool is None and stall is None:
        yield from summary_verdict(verdicts)


def summary_holder(signals: Signals, *, pool: bool) -> Finding | None:
    """Name who held what others waited for: by the server's log, else by a snapshot of its sessions."""
    grade = Grade.INFERRED if pool else Grade.VERIFIED
    held = next(iter(locks_near(signals)), None)
    if held is not None:
        values = {"group": held, "n": len(held.waiters), "pool": pool}
        return Finding("summary.locks", "summary", grade, values, held.refs[:3])
    snapshot = next((one for one in signals.snapshots if one.blockers), None)
    if snapshot is None:
        return None
    values = {"snapshot": snapshot, "blocker": snapshot.blockers[0], "pool": pool}
    return Finding("summary.blocker", "summary", grade, values, snapshot.blockers[0].refs[:3])


def summary_verdict(verdicts: dict[str, Judgement]) -> Iterator[Finding]:
    """Say the surest cause where nothing more special is told."""
    told = [verdicts[name] for name in CAUSES]
    for verdict in (Verdict.CONFIRMED, Verdict.SUPPORTED):
        for judgement in told:
            if judgement.verdict is verdict:
                grade = Grade.VERIFIED if verdict is Verdict.CONFIRMED else Grade.INFERRED
                yield Finding(f"why.{judgement.why}", "summary", grade, judgement.values, judgement.supports)
                return


def Ref_of(rows: pl.DataFrame, n: int = 3) -> tuple[Ref, ...]:  # noqa: N802 - reads as the place of rows
    """Return the places of the first rows and the last one."""
    picked = pl.concat([rows.head(n), rows.tail(1)]).unique(["source", "line"], maintain_order=True)
    return tuple(Ref(source, line) for source, line in picked.select("source", "line").iter_rows())


def stall_refs(stall: Stall) -> tuple[Ref, ...]:
    """Return the edges of a stall and its witnesses' first lines."""
    refs = [stall.silence.before, *([stall.silence.after] if stall.silence.after else [])]
    return tuple(dict.fromkeys([*refs, *[ref for witness in stall.witnesses for ref in witness.refs[:1]]]))


def greatest_unknown(signals: Signals, verdicts: dict[str, Judgement]) -> tuple[str | None, tuple[Need, ...]]:
    """Return the open question that matters most for the mechanism found, with what would answer it."""
    for name, key in ASK_BEYOND.items():
        if verdicts[name].verdict in (Verdict.CONFIRMED, Verdict.SUPPORTED):
            return key, refused_needs(signals, "db_slow_or_locked" if key == "holder" else name)
    for name in (
        "process_stalled",
        "db_slots_exhausted",
        "out_of_memory",
        "host_frozen_or_clock_jump",
        "resource_exhausted",
    ):
        if verdicts[name].verdict is Verdict.NOT_DETERMINED and verdicts[name].needs:
            return name, verdicts[name].needs
    return None, ()


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


def times(signals: Signals) -> Iterator[Finding]:
    """Explain how the edges of the incident are known."""
    incident = signals.primary
    if incident is None:
        return
    if incident.start_wait_s:
        yield Finding(
            "times.backdated",
            "times",
            Grade.DERIVED,
            {"incident": incident, "logged": incident.start + round(incident.start_wait_s * SECOND)},
            edge_refs(incident)[:1],
        )
    elif incident.start_ref:
        yield Finding("times.start", "times", Grade.DERIVED, {"incident": incident}, (incident.start_ref,))
    if incident.ongoing:
        yield Finding(
            "times.ongoing", "times", Grade.VERIFIED, {"last": signals.window[1]}, edge_refs(incident)[-1:]
        )


def impact(signals: Signals) -> Iterator[Finding]:
    """Say who was hit and what went on working."""
    if signals.primary is None:
        return
    found = signals.facts[Impact]
    told = sum(route.count for route in found.routes)
    if found.routes:
        refs = tuple(route.ref for route in found.routes[:3])
        yield Finding(
            "impact.failed",
            "impact",
            Grade.VERIFIED,
            {
                "count": found.failed,
                "routes": len({(route.method, route.route) for route in found.routes}),
                "tellers": sorted({route.service for route in found.routes}) if told > found.failed else [],
                "clients": len(found.clients),
                "lossy": lossy(signals),
            },
            refs,
        )
    if found.completed and found.completed_refs:
        yield Finding(
            "impact.completed",
            "impact",
            Grade.VERIFIED,
            {"n": found.completed, "services": signals.primary.services},
            found.completed_refs,
        )
    if found.calls_failed:
        rows = signals.facts[Failures].rows.filter(pl.col("family") == "webhook_delivery")
        yield Finding(
            "impact.calls_failed",
            "impact",
            Grade.VERIFIED,
            {"n": found.calls_failed, "service": rows["service"][0]},
            Ref_of(rows),
        )
    elif found.calls_late and found.call_refs:
        yield Finding(
            "impact.calls_late",
            "impact",
            Grade.VERIFIED,
            {"n": found.calls_late, "slowest": found.slowest_call_s},
            found.call_refs,
        )
    if not found.routes and not found.calls_failed and coverage_refs(signals):
        yield Finding(
            "impact.none_logged",
            "impact",
            Grade.NO_SIGN,
            {"service": signals.unit, "completed": completed(signals)},
            coverage_refs(signals),
            scope="access lines of the sources given; a request without a line is not seen",
        )


def mechanism(signals: Signals, verdicts: dict[str, Judgement]) -> Iterator[Finding]:
    """Tell the chain link by link, with its arithmetic."""
    if signals.primary is None:
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
    yield from gauge_links(signals, pool)
    yield from activity.findings(signals, "mechanism")
    yield from pooler.findings(signals, "mechanism")
    refused = bool(capacity.refusals(signals).height)
    for name in (*FACTS[2:], "db_down"):
        judgement = verdicts[name]
        if name == "db_slots_exhausted" and refused:
            continue  # told with those who were refused
        if judgement.verdict in (Verdict.CONFIRMED, Verdict.SUPPORTED) and judgement.supports:
            yield Finding(
                f"why.{judgement.why}",
                "mechanism",
                Grade.VERIFIED if judgement.verdict is Verdict.CONFIRMED else Grade.INFERRED,
                judgement.values,
                judgement.supports,
                scope=judgement.scope,
            )
    yield from capacity.refused(signals)
    yield from capacity.sides(signals)
    yield from capacity.server_end(signals)
    yield from other_failures(signals, pool)
    yield from lock_links(signals)
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
    losses = signals.facts[Losses].items
    if losses:
        yield Finding(
            "mechanism.loss",
            "mechanism",
            Grade.VERIFIED,
            {"n": sum(loss.n or 0 for loss in losses), "service": losses[0].service, "at": losses[0].at},
            tuple(loss.ref for loss in losses)[:2],
        )


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
        Ref_of(rows),
        method="lines of the signature, joined into failures",
    )
    yield from counters(signals, pool)
    yield from capacity.fan_out(signals, pool, rows)
    stalls = stalls_in_window(signals)
    if not stalls:
        yield from overlap(rows)
    if stalls and values["wait"] and values["failures"] >= 2:
        span = sum((stall.end or signals.window[1]) - stall.start for stall in stalls) / SECOND
        serial = int(span // values["wait"])
        yield Finding(
            "mechanism.serial", "mechanism", Grade.DERIVED, {**values, "span": span, "serial": serial, "threads": max(0, values["failures"] - serial)}, Ref_of(rows, 1),
            formula=f"{round(span)} s / {values['wait']:g} s = {serial}",
        )  # fmt: skip


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


def locks_near(signals: Signals) -> list[LockGroup]:
    """Return the lock waits that touch the primary window, the holder with most waiters first."""
    lo, hi = signals.window
    return [
        one for one in signals.facts[Locks].groups if one.first <= hi + MINUTE and one.last >= lo - MINUTE
    ]


def lock_links(signals: Signals) -> Iterator[Finding]:
    """Tell who waited for whom, and what is known of the holder."""
    for group in locks_near(signals)[:LOCKS]:
        yield Finding(
            "mechanism.locks",
            "mechanism",
            Grade.VERIFIED,
            {"group": group, "n": len(group.waiters)},
            (*group.refs[:3], *group.holder_refs[:1]),
        )


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
                {"series": series, "n": len(bad), "first": bad[0].at, "last": bad[-1].at},
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
            "mechanism.redis_symptom", "mechanism", Grade.INFERRED, {"n": rows.height, "least": int(rows["sure"].sum()), "in_stalls": in_stalls}, Ref_of(rows), alternatives=("a network fault between service and Redis in the same seconds",),
            method="every timeout was printed when the process got a turn",
        )  # fmt: skip


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
    """Name the other kinds of failures inside the window, most first."""
    told = (*REDIS, "app_error", "webhook_delivery", "server_limit", "http_error")
    done = {(replica_of(pool.service), pool.signature)} if pool is not None else set()
    groups = []
    for group in sorted(signals.facts[Failures].groups, key=lambda item: -item.failures):
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
                Ref_of(rows, 2),
            )


def alert(signals: Signals) -> Iterator[Finding]:
    """Replay the monitor's record: was the alert right, late or absent, and could it have seen this at all?"""
    facts = signals.facts
    incident = signals.primary
    downs = [item for item in facts[Watch].alerts if item.state == "down"]
    if incident is not None and incident.detected_at and downs:
        near = [item for item in downs if item.at == incident.detected_at]
        delay = (incident.detected_at - incident.start) / SECOND
        yield Finding(
            "alert.right",
            "alert",
            Grade.DERIVED,
            {
                "at": incident.detected_at,
                "delay": round(delay, 1),
                "incident": incident,
                "replay": next(
                    (one for one in facts[Watch].replays if one.alerted == incident.detected_at and one.due),
                    None,
                ),
            },
            (*(item.ref for item in near), *edge_refs(incident)),
        )
    elif incident is not None and facts[Probes].series:
        yield Finding(
            "alert.absent",
            "alert",
            Grade.NO_SIGN,
            {"n": len(facts[Watch].alerts)},
            tuple(due.ref for due in facts[Probes].series[0].dues[:1] if due.ref),
            scope="the monitor state given",
        )
    if incident is None:
        for series in facts[Probes].series[:2]:
            refs = tuple(due.ref for due in (series.dues[0], series.dues[-1]) if due.ref)
            bad = len(series.at("missed", "failed", "late"))
            yield Finding(
                "alert.quiet",
                "alert",
                Grade.VERIFIED,
                {
                    "series": series,
                    "n": len(series.dues),
                    "bad": bad,
                    "missing": sum(missing for _, _, missing, _, _ in series.gaps),
                },
                refs,
            )
    for series in facts[Probes].series:
        late = series.at("late")
        unanswered = series.at("missed", "failed", "late")
        refs = tuple(due.ref for due in unanswered if due.ref)
        if late and series.seen_by == "service":
            worst = max(late, key=lambda due: (due.answered or due.at) - due.at)
            yield Finding(
                "alert.late",
                "alert",
                Grade.INFERRED,
                {
                    "series": series,
                    "due": worst,
                    "delay": ((worst.answered or worst.at) - worst.at) / SECOND,
                    "rivals": [((worst.answered or 0) - rival) / SECOND for rival in worst.rivals],
                },
                refs[:3],
            )
        if series.long_runs:
            worst_run = max(series.long_runs, key=lambda run: run.gap_s)
            yield Finding(
                "alert.long_run",
                "alert",
                Grade.DERIVED,
                {"series": series, "n": len(series.long_runs), "run": worst_run},
                tuple(run.ref for run in series.long_runs)[:3],
            )
    yield from replays(signals)
    yield from green(signals)
    for gap in facts[Watch].gaps:
        yield Finding(f"alert.{gap.kind}", "alert", Grade.VERIFIED, {"gap": gap}, gap.refs[:2])
    for item in facts[Watch].detectability:
        refs = tuple(
            due.ref
            for series in facts[Probes].series
            if series.name == item.monitor
            for due in series.dues[:2]
            if due.ref
        )
        yield Finding("alert.detectability", "alert", Grade.DERIVED, {"item": item}, refs)


def replays(signals: Signals) -> Iterator[Finding]:
    """Tell what the monitor's own rule makes of its results, around the incident; on a quiet day what it should not have said."""
    lo, hi = signals.window
    for replay in signals.facts[Watch].replays:
        at = replay.due or replay.alerted
        near = at is None or signals.primary is None or lo - 10 * MINUTE <= at <= hi + 10 * MINUTE
        told = signals.primary is not None and replay.alerted == signals.primary.detected_at is not None
        if replay.refs and near and not told and (at is not None or signals.primary is not None):
            yield Finding(
                f"alert.rule_{replay.verdict}", "alert", Grade.DERIVED, {"replay": replay}, replay.refs[:3]
            )


def green(signals: Signals) -> Iterator[Finding]:
    """Name checks that were answered all through an incident in which failures or other checks show trouble."""
    if signals.primary is None or not signals.told_by_others:
        return
    lo, hi = signals.window
    for series in signals.watchers():
        inside = [due for due in series.dues if lo <= due.at <= hi]
        good = tuple(due.ref for due in inside if due.state == "answered" and due.ref)
        if len(inside) >= GREEN and len(good) == len(inside):
            yield Finding(
                "alert.green",
                "alert",
                Grade.VERIFIED,
                {"series": series, "n": len(good)},
                (good[0], good[-1]),
            )


def recurrence(signals: Signals) -> Iterator[Finding]:
    """Say what the coverage allows, then how often it happened."""
    cover = signals.facts[Coverage].of(signals.unit)
    if cover is None:
        return
    days = signals.facts[Daily].days
    yield Finding(
        "recurrence.coverage",
        "recurrence",
        Grade.VERIFIED,
        {
            "service": cover.service,
            "first": cover.first,
            "last": cover.last,
            "partial": [day for day, cut in days if cut],
        },
        (cover.first_ref, cover.last_ref),
    )
    others = [item for item in signals.facts[Incidents].items if item is not signals.primary]
    if others:
        refs = tuple(ref for item in others for ref in edge_refs(item)[:1])
        yield Finding(
            "recurrence.others",
            "recurrence",
            Grade.DERIVED,
            {"n": len(others), "incidents": others},
            refs[:4],
        )
    pool = main_pool(signals)
    if pool is not None and signals.primary is not None:
        rows = in_window(signals, pool)
        mine = replicas(signals, pool)
        names = {group.service for group in mine}
        days_ = {
            item.date
            for item in signals.facts[Daily].items
            if item.signature == pool.signature and item.service in names
        }
        yield Finding(
            "recurrence.sum",
            "recurrence",
            Grade.DERIVED,
            {
                "inside": int(rows["sure"].sum()),
                "total": sum(group.failures for group in mine),
                "days": len(days_),
                "least": any(group.bound == "at_least" for group in mine),
            },
            pool.refs[:2],
            formula="window + outside = all",
        )


def noise(signals: Signals) -> Iterator[Finding]:
    """Name the messages that were there before."""
    shown = [
        item
        for item in signals.facts[Background].items
        if item.verdict == "pre_existing" and item.inside + item.outside >= 3
    ]
    for item in shown[:NOISE_SHOWN]:
        yield Finding("noise.pre_existing", "noise", Grade.DERIVED, {"item": item}, (item.ref,))


def seen(signals: Signals) -> Iterator[Finding]:
    """Name what lines near the incident tell of that is no failed operation; on a quiet day, anywhere."""
    lo, hi = signals.window
    primary = signals.primary
    near = [
        group
        for group in signals.facts[Events].groups
        if primary is None or (group.first <= hi + NEAR_US and group.last >= lo - NEAR_US)
    ]
    for group in sorted(near, key=lambda one: (-one.events, one.signature, one.service))[:SEEN]:
        yield Finding("clue.seen", "clues", Grade.CLUE, {"group": group}, group.refs)


def clues(signals: Signals) -> Iterator[Finding]:
    """Name coincidences in time: what people know happened near an incident, and never as its cause."""
    refs = coverage_refs(signals)
    yield from seen(signals)
    yield from activity.findings(signals, "clues")
    yield from pooler.findings(signals, "clues")
    if signals.primary is not None:
        yield from upkeep.findings(signals, "clues")
    for event in signals.known.events:
        if event.kind not in ("note", "deploy"):
            continue
        near = min(
            (item for item in signals.facts[Incidents].items),
            key=lambda item: abs(item.start - event.at),
            default=None,
        )
        if near is not None and refs:
            place = edge_refs(near) or refs
            yield Finding(
                "clue.event",
                "clues",
                Grade.CLUE,
                {"event": event, "incident": near, "apart": (event.at - near.start) / SECOND},
                place[:1],
            )


def refused_needs(signals: Signals, name: str) -> tuple[Need, ...]:
    """Return the filled needs of one hypothesis."""
    lo, hi = signals.window
    hypothesis = next(item for item in load() if item.id == name)
    return fill(
        hypothesis.needs(signals.engine, ongoing=bool(signals.primary and signals.primary.ongoing)),
        unit=signals.unit,
        container="CONTAINER",
        since=max(0, lo - 5 * MINUTE),
        until=hi + 5 * MINUTE if hi else 0,
    )
