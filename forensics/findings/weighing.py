"""Weighing: from signals to a verdict on each hypothesis, in one place.

Confirmed needs direct evidence, or two independent witnesses; ruled out needs disconfirming evidence and coverage; no
sign needs coverage; else the verdict is not determined, with the input that would tell. More evidence for a hypothesis
never lowers its verdict.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import polars as pl

from forensics.findings import capacity, pooler, upkeep
from forensics.findings.hypotheses import fill, load
from forensics.findings.primary import sum_max
from forensics.findings.signals import MINUTE, SECOND
from forensics.model.facts import (
    Continuity,
    Coverage,
    Delays,
    Events,
    Failures,
    Locks,
    Losses,
    Restarts,
    Sessions,
    Stalls,
    Upkeeps,
    Watch,
)
from forensics.model.finding import Judgement, Verdict
from forensics.model.source import Ref

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from forensics.findings.signals import Signals
    from forensics.model.facts import Due, FailureGroup

NEAR_LIMIT = 0.9
"""Share of a limit from which a gauge counts as full: reserved slots and sampling hide the last tenth."""
SNAPSHOT = "pg_stat_activity"
"""Gauges made of snapshots, which people take at an instant of their choice and not at a beat."""
DURATION = "postgres.duration"
"""Told of every statement, or of those over a threshold that the log does not state: only slow ones weigh."""
POOLER_LIMITS = ("pgbouncer.client-limit",)
"""Refusals of a pooler for a limit of its own: the server behind it need not be full."""
REDIS = ("redis_timeout", "redis_connection", "redis_pool", "redis_unavailable")
FEWEST_LINES = 60
"""Lines of a service below which it has no usual rate."""
LOWEST_PID = 10
"""Process ids below this are those of a container's own numbering, which a restart repeats."""
MOST = 0.9
"""Share of the probes due in a window that must be there and answered to rule a stall out."""
MANY = 5
TARGETS = 3
"""Targets on hosts of their own that must fail together to tell of the monitor's side."""
KILLED_US = 10 * SECOND
"""A master kills a worker within seconds of its missed heartbeat."""
SILENT_WORKERS = ("gunicorn.worker-timeout", "puma.worker-timeout", "unicorn.worker-timeout")
"""Workers whose master heard nothing from them for longer than it waits."""
"""Failures of one kind that are more than an accident."""
BEATS = 2
"""Pauses between looks of a sampler from which it has a beat that it could have lost."""
EDGE = 5 * MINUTE
"""A clock that was set so shortly before or after the incident puts its times in doubt."""
NO_JUMP = ("timesyncd.initial-sync", "celery.clock-drift", "celery.drift-times")
"""A clock that is set for the first time; and a text that late messages make as well as two hosts whose clocks differ."""


@dataclass(frozen=True, slots=True)
class Weight:
    """A verdict with its reason."""

    verdict: Verdict
    why: str
    values: dict[str, Any] = field(default_factory=dict)
    supports: tuple[Ref, ...] = ()
    contradicts: tuple[Ref, ...] = ()


def judge_all(signals: Signals) -> tuple[Judgement, ...]:
    """Return all fifteen judgements, in their fixed order."""
    lo, hi = signals.window
    container = next(
        (service for service in signals.services_in("nest", "pino") if service != signals.unit), "CONTAINER"
    )
    out = []
    for hypothesis in load():
        weight = at_most_supported(WEIGH[hypothesis.id](signals), signals)
        open_ = weight.verdict in (Verdict.NOT_DETERMINED, Verdict.SUSPECTED)
        needs = (
            fill(
                hypothesis.needs(signals.engine, ongoing=bool(signals.primary and signals.primary.ongoing)),
                unit=signals.unit,
                container=container,
                since=max(0, lo - 5 * MINUTE),
                until=hi + 5 * MINUTE if hi else 0,
            )
            if open_
            else ()
        )
        out.append(
            Judgement(
                hypothesis.id,
                hypothesis.title,
                weight.verdict,
                weight.why,
                weight.values,
                weight.supports,
                weight.contradicts,
                hypothesis.scope,
                needs,
            )
        )
    return tuple(out)


def at_most_supported(weight: Weight, signals: Signals) -> Weight:
    """Lower a confirmation that rests on texts known from documents only: a program may print them otherwise, or others may."""
    if weight.verdict is Verdict.CONFIRMED and signals.unproven(weight.supports):
        return replace(weight, verdict=Verdict.SUPPORTED)
    return weight


def app_pool_exhausted(signals: Signals) -> Weight:
    """The pool's own error text is direct evidence."""
    groups = [
        *signals.groups("pool_exhaustion"),
        *(g for g in signals.groups("server_limit") if g.signature in POOLER_LIMITS),
    ]
    if groups:
        best = max(groups, key=lambda group: (group.verified, group.failures))
        sure = best.verified and best.failures + (best.failures_max or 0) >= 2
        return Weight(
            Verdict.CONFIRMED if sure else Verdict.SUPPORTED,
            "pool.text",
            {
                "group": best,
                "groups": len(groups),
                "n": sum(group.failures for group in groups),
                "most": sum_max(groups),
                "services": len({group.service for group in groups}),
            },
            best.refs[:4],
        )
    if (shown := pooler.inside(signals)) or pooler.queued(signals):
        stats = pooler.queued(signals)
        return Weight(
            Verdict.SUPPORTED if shown and stats else Verdict.SUSPECTED,
            "pool.pooler",
            {"state": next(iter(shown), None), "stats": next(iter(stats), None)},
            (*(one.ref for one in shown[:2]), *(one.ref for one in stats[:1])),
        )
    cover = signals.facts[Coverage].of(signals.unit)
    if cover:
        return Weight(
            Verdict.NO_SIGN,
            "pool.none",
            {"service": signals.unit, "lines": cover.lines},
            contradicts=(cover.first_ref, cover.last_ref),
        )
    return Weight(Verdict.NOT_DETERMINED, "no_log", {"service": signals.unit})


def process_stalled(signals: Signals) -> Weight:
    """A silence with independent witnesses; answered probes in the window speak against it."""
    stalls = signals.facts[Stalls].items
    if stalls:
        kinds = {witness.kind for stall in stalls for witness in stall.witnesses}
        refs = tuple(ref for stall in stalls for witness in stall.witnesses for ref in witness.refs[:2])
        longest = max(stalls, key=lambda stall: (stall.end or signals.window[1]) - stall.start)
        return Weight(
            Verdict.SUPPORTED,
            "stall.witnesses",
            {"stall": longest, "kinds": sorted(kinds), "n": len(stalls), "last": signals.window[1]},
            refs[:8],
        )
    if said := said_stalled(signals) or read_late(signals):
        return said
    for series in signals.watchers():
        lo, hi = signals.window
        inside = [due for due in series.dues if lo - series.period_s * SECOND <= due.at <= hi]
        good = [due for due in inside if due.state == "answered"]
        complete = len(good) == len(inside) and len(good) >= MOST * (hi - lo) / SECOND / series.period_s
        if inside and complete:
            refs = tuple(due.ref for due in good if due.ref)
            return Weight(
                Verdict.RULED_OUT,
                "stall.probes_answered",
                {"n": len(good), "series": series.name},
                contradicts=(refs[0], refs[-1]),
            )
    if signals.facts[Losses].items:
        return Weight(Verdict.NOT_DETERMINED, "stall.loss", {"service": signals.unit})
    cover = signals.facts[Coverage].of(signals.unit)
    if cover and signals.covers(signals.unit):
        return Weight(
            Verdict.NO_SIGN,
            "stall.none",
            {"service": signals.unit},
            contradicts=(cover.first_ref, cover.last_ref),
        )
    return Weight(Verdict.NOT_DETERMINED, "no_log", {"service": signals.unit})


def said_stalled(signals: Signals) -> Weight | None:
    """A runtime that reports a thread or worker which does not come back says so itself, of a part of the process."""
    lo, hi = signals.window
    events = [
        (group.events, group.signature, group.service, group.bound, group.longest_s, group.refs)
        for group in signals.facts[Events].groups
        if group.family == "event_loop_stall" and group.first <= hi + MINUTE and group.last >= lo - MINUTE
    ]
    failed = [
        (group.failures, group.signature, group.service, group.bound, None, group.refs)
        for group in signals.facts[Failures].groups
        if group.signature in SILENT_WORKERS and group.first <= hi + MINUTE and group.last >= lo - MINUTE
    ]
    if not events and not failed:
        return None
    n, signature, service, bound, longest, refs = max([*events, *failed], key=lambda one: one[:3])
    said = {"n": n, "title": signals.known.signatures[signature].title, "service": service, "least": bound == "at_least", "longest": longest}  # fmt: skip
    return Weight(Verdict.SUPPORTED, "stall.text", said, refs[:4])


def read_late(signals: Signals) -> Weight | None:
    """Messages that lay unread tell of a receiver that stood still; with its own silence they are two signs."""
    lo, hi = signals.window
    found = [
        one
        for one in signals.facts[Delays].backlogs
        if one.sent_first <= hi + MINUTE and one.at >= lo - MINUTE
    ]
    if not found:
        return None
    best = max(found, key=lambda one: (one.silent_since is not None, one.oldest_s))
    verdict = Verdict.SUPPORTED if best.silent_since is not None else Verdict.SUSPECTED
    return Weight(verdict, "stall.backlog", {"backlog": best}, best.refs[:4])


def relayed(signals: Signals) -> pl.DataFrame:
    """Return the lines in which clients quote the server's refusal for lack of slots."""
    quoted = pl.col("parameters").str.contains(capacity.FULL)
    own = signals.hits("postgres.too-many-clients", "prisma.too-many")
    return pl.concat([own, signals.hits(*capacity.CLIENT_TEXTS).filter(quoted)])


def db_slots_exhausted(signals: Signals) -> Weight:
    """The server's refusals decide; samples well below the limit rule capacity out."""
    refused = signals.hits("postgres.too-many-clients", "prisma.too-many", families=("server_limit",))
    refused = refused.filter(
        ~pl.col("signature").str.starts_with("redis") & ~pl.col("signature").is_in(list(POOLER_LIMITS))
    )
    if refused.height:
        by_server = refused.filter(pl.col("service").is_in(signals.services_in("postgres")))
        return Weight(
            Verdict.CONFIRMED,
            "slots.refused",
            {
                "n": by_server.height or refused.height,
                "by_server": by_server.height,
                "least": any(
                    group.bound == "at_least"
                    for group in signals.groups("server_limit")
                    if not by_server.height or group.service in signals.services_in("postgres")
                ),
            },
            signals.refs(by_server if by_server.height else refused),
        )
    texts = signals.inside("db_connect")
    if texts.height and relayed(signals).height:
        return Weight(Verdict.SUPPORTED, "slots.client", {"n": texts.height}, signals.refs(texts))
    gauge = signals.gauge
    instant = False
    if gauge and gauge.limit:
        peak = gauge.incident_peak[1] if gauge.incident_peak else gauge.peak
        if peak >= NEAR_LIMIT * gauge.limit:
            return Weight(
                Verdict.SUSPECTED, "slots.near", {"gauge": gauge, "peak": peak}, tuple(gauge.refs.values())
            )
        instant = bool(gauge.series.startswith(SNAPSHOT) and not signals.covering(gauge))
    if gauge and gauge.limit and not instant:
        return Weight(
            Verdict.RULED_OUT,
            "slots.below",
            {"gauge": gauge, "peak": peak},
            contradicts=tuple(ref for key, ref in gauge.refs.items() if key != "all_peak"),
        )
    cover = next((signals.facts[Coverage].of(service) for service in signals.services_in("postgres")), None)
    if cover and signals.covers(cover.service):
        return Weight(
            Verdict.NO_SIGN,
            "slots.log_clean",
            {"service": cover.service},
            contradicts=(cover.first_ref, cover.last_ref),
        )
    if instant and gauge:
        return Weight(
            Verdict.NOT_DETERMINED,
            "slots.instant",
            {"gauge": gauge, "peak": peak},
            contradicts=tuple(gauge.refs.values())[:1],
        )
    return Weight(Verdict.NOT_DETERMINED, "slots.unknown")


def db_slow_or_locked(signals: Signals) -> Weight:
    """Lock waits and slow statements in the server's log; without its settings a clean log proves nothing."""
    waits = signals.hits(families=("lock_wait", "slow_query", "query_timeout"))
    locks = waits.filter(pl.col("signature").str.contains("lock|deadlock"))
    if locks.height:
        return Weight(
            Verdict.CONFIRMED if locks.height >= MANY else Verdict.SUPPORTED,
            "slow.locks",
            {
                "n": locks.height,
                "holders": len({one.holder for one in signals.facts[Locks].groups if one.holder}),
            },
            signals.refs(locks),
        )
    if shown := in_snapshots(signals):
        return shown
    waits = waits.filter(pl.col("signature") != DURATION)
    slow = [one for one in signals.facts[Upkeeps].items if upkeep.slow(one)]
    if slow:
        refs = (*signals.refs(waits, 2), *(ref for one in slow for ref in one.refs))
        n = waits.height + sum(one.inside for one in slow)
        return Weight(Verdict.SUSPECTED, "slow.statements", {"n": n}, refs[:4])
    if waits.height:
        return Weight(Verdict.SUSPECTED, "slow.statements", {"n": waits.height}, signals.refs(waits))
    if not signals.spans and not signals.groups("pool_exhaustion"):
        cover = signals.facts[Coverage].of(signals.unit)
        return (
            Weight(
                Verdict.NO_SIGN,
                "slow.quiet",
                {"service": signals.unit},
                contradicts=(cover.first_ref, cover.last_ref),
            )
            if cover
            else Weight(Verdict.NOT_DETERMINED, "slow.unknown")
        )
    return Weight(
        Verdict.NOT_DETERMINED, "slow.log_settings" if signals.services_in("postgres") else "slow.unknown"
    )


def in_snapshots(signals: Signals) -> Weight | None:
    """Sessions that wait for a lock in a snapshot inside the window: an instant, so several of them, many sessions or an old holder are asked for."""
    waiting = [one for one in signals.snapshots if one.waiting]
    if not waiting:
        return None
    most = max(waiting, key=lambda one: one.waiting)
    sessions = signals.facts[Sessions]
    old = any(one.waiters for snapshot in waiting for one in sessions.candidates(snapshot))
    refs = tuple(ref for one in waiting for ref in (one.blockers[0].refs if one.blockers else (one.ref,)))
    return Weight(
        Verdict.SUPPORTED if len(waiting) > 1 or most.waiting >= MANY or old else Verdict.SUSPECTED,
        "slow.snapshot",
        {"n": len(waiting), "most": most.waiting, "given": len(signals.snapshots)},
        refs[:4],
    )


def db_down(signals: Signals) -> Weight:
    """Refused connections and the server's own lifecycle; samples taken inside the window rule it out."""
    ended = signals.hits(
        "postgres.shutdown-request",
        "postgres.process-killed",
        "postgres.crash-of-another",
        "postgres.not-accepting",
        "postgres.reinitializing",
    )
    if ended.height:
        closed = not_accepting(signals)
        return Weight(
            Verdict.CONFIRMED if ended.height >= 2 else Verdict.SUPPORTED,
            "db_down.lifecycle",
            {"n": ended.height, "closed": closed[:2] if closed else None},
            (*signals.refs(ended), *(closed[2] if closed else ())),
        )
    refused = signals.hits(families=("server_limit",)).filter(
        pl.col("service").is_in(signals.services_in("postgres"))
    )
    if not refused.height:
        refused = relayed(signals)
    if refused.height:
        return Weight(
            Verdict.RULED_OUT, "db_down.refusing", {"n": refused.height}, contradicts=signals.refs(refused, 2)
        )
    gauge = signals.gauge
    instants = bool(gauge and gauge.series.startswith(SNAPSHOT) and not signals.covering(gauge))
    if gauge and not instants and (gauge.incident_peak or not signals.spans):
        refs = tuple(gauge.refs.values())
        return Weight(Verdict.RULED_OUT, "db_down.sampled", {"gauge": gauge}, contradicts=refs[:2])
    broken = signals.inside("db_connect", "connection_broken")
    if broken.height >= MANY:
        return Weight(Verdict.SUSPECTED, "db_down.clients", {"n": broken.height}, signals.refs(broken))
    cover = next((signals.facts[Coverage].of(service) for service in signals.services_in("postgres")), None)
    if cover and signals.covers(cover.service):
        return Weight(
            Verdict.NO_SIGN,
            "db_down.log_clean",
            {"service": cover.service},
            contradicts=(cover.first_ref, cover.last_ref),
        )
    return Weight(Verdict.NOT_DETERMINED, "db_down.unknown")


def least(rows: pl.DataFrame) -> int:
    """Count the failures that are told apart for sure; a further row may be another line of one of them."""
    return int(rows["sure"].sum())


def not_accepting(signals: Signals) -> tuple[int, int, tuple[Ref, ...]] | None:
    """Return from when to when a server that was told to stop took no new connection; None where it does not say that it does again.

    From the request on; sessions that are open may go on in a smart shutdown.
    """
    rows = signals.hits("postgres.shutdown-request", "postgres.ready").sort("ts", "source", "line")
    for one, other in pairwise(rows.iter_rows(named=True)):
        if (
            one["service"] == other["service"]
            and one["signature"] != "postgres.ready"
            and other["signature"] == "postgres.ready"
        ):
            return one["ts"], other["ts"], (Ref(other["source"], other["line"]),)
    return None


def redis_failed(signals: Signals) -> Weight:
    """Timeouts of a client that stood still are a symptom; timeouts of one that went on are not."""
    rows = signals.inside(*REDIS)
    everywhere = sum(group.failures for group in signals.groups(*REDIS))
    server = signals.hits(families=("redis_unavailable",)).filter(
        pl.col("service").is_in(signals.services_in("redis"))
    )
    if server.height:
        return Weight(Verdict.CONFIRMED, "redis.server", {"n": server.height}, signals.refs(server))
    if rows.height:
        in_stalls = signals.rows_in_stalls(rows)
        if in_stalls >= 0.9 * rows.height:
            return Weight(
                Verdict.NO_SIGN,
                "redis.symptom",
                {"n": rows.height, "least": least(rows), "in_stalls": in_stalls},
                contradicts=signals.refs(rows),
            )
        if rows.height - in_stalls >= MANY:
            return Weight(
                Verdict.SUPPORTED,
                "redis.clients",
                {"n": rows.height, "least": least(rows), "outside": rows.height - in_stalls},
                signals.refs(rows),
            )
        return Weight(Verdict.SUSPECTED, "redis.few", {"n": rows.height}, signals.refs(rows))
    if slow := [group for group in signals.groups(*REDIS) if counted(group) == "unanswered"]:
        said = {"n": sum(group.failures for group in slow), "service": slow[0].service}
        return Weight(Verdict.SUSPECTED, "redis.unanswered", said, slow[0].refs[:3])
    if starved := [group for group in signals.groups(*REDIS) if counted(group) == "starved"]:
        said = {"n": sum(group.failures for group in starved), "service": starved[0].service}
        return Weight(Verdict.NO_SIGN, "redis.starved", said, contradicts=starved[0].refs[:3])
    if everywhere:
        return Weight(
            Verdict.NO_SIGN,
            "redis.background",
            {"n": everywhere},
            contradicts=signals.groups(*REDIS)[0].refs[:3],
        )
    cover = signals.facts[Coverage].of(signals.unit)
    if cover:
        return Weight(
            Verdict.NO_SIGN,
            "redis.none",
            {"service": signals.unit},
            contradicts=(cover.first_ref, cover.last_ref),
        )
    return Weight(Verdict.NOT_DETERMINED, "no_log", {"service": signals.unit})


def counted(group: FailureGroup) -> str | None:
    """Say what the client's own counters tell of a group's timeouts, by the first of them (:func:`late`)."""
    return late(group.parameters)


def late(said: Mapping[str, Any]) -> str | None:
    """Say what the client's own counters tell of a timeout: ``starved`` of threads with answers unread, or ``unanswered``.

    StackExchange.Redis prints the bytes that wait to be read and its pool's busy threads against the minimum, beyond which new ones come
    slowly (its docs/Timeouts.md).
    """
    unread, busy, least = (said.get(name) for name in ("in_bytes", "worker_busy", "worker_min"))
    if unread is None:
        return None
    if unread and busy is not None and least is not None and busy > least:
        return "starved"
    return "unanswered" if not unread and (busy is None or least is None or busy <= least) else None


def gateway_failed(signals: Signals) -> Weight:
    """A gateway that went on logging was there; its failed calls into a stalled service are that service's."""
    families = ("gateway_connect", "gateway_timeout", "gateway_health")
    rows = signals.inside(*families)
    if rows.height >= MANY and not signals.stalled() and not signals.groups("pool_exhaustion"):
        return Weight(Verdict.SUSPECTED, "gateway.errors", {"n": rows.height}, signals.refs(rows))
    lo, hi = signals.window
    others = [
        cover
        for cover in signals.facts[Coverage].services
        if cover.service in signals.services_in("nest", "pino", "nginx_access", "nginx_error")
        and cover.service != signals.unit
    ]
    for cover in others:
        lines = (
            signals.evidence["seconds"]
            .filter(
                (pl.col("service") == cover.service) & pl.col("second").is_between(lo // SECOND, hi // SECOND)
            )
            .sort("second")
        )
        if lines.height and (cover.first <= lo + MINUTE):
            refs = tuple(
                (signals.refs(lines.select("source", line="first_line").head(1)))
                + signals.refs(lines.select("source", line="last_line").tail(1))
            )
            return Weight(
                Verdict.NO_SIGN,
                "gateway.alive",
                {"service": cover.service, "lines": int(lines["n"].sum())},
                contradicts=refs,
            )
    return Weight(Verdict.NOT_DETERMINED, "gateway.unknown")


def service_restarted(signals: Signals) -> Weight:
    """The service manager's lines decide; the same process id before and after rules it out."""
    lo, hi = signals.window
    outages = [
        item
        for item in signals.facts[Restarts].outages
        if item.start <= hi + MINUTE and (item.end or hi) >= lo - MINUTE
    ]
    if outages:
        first = min(outages, key=lambda outage: (signals.unproven(outage.refs), outage.start))
        return Weight(
            Verdict.CONFIRMED, f"restart.{first.reason}", {"outage": first, "n": len(outages)}, first.refs
        )
    begun = [
        event
        for event in signals.lifecycle("ready", "started")
        if event.service == signals.unit and event.at > lo - MINUTE and event.at > began_at(signals) + MINUTE
    ]
    if begun:
        return Weight(
            Verdict.SUPPORTED,
            "restart.begun",
            {"service": signals.unit, "at": begun[0].at},
            tuple(event.ref for event in begun)[:3],
        )
    cover = signals.facts[Coverage].of(signals.unit)
    pids = signals.facts[Restarts].pids.get(signals.unit, ())
    same = signals.same_process(signals.unit)
    if same and pids and tells(pids[0]):
        return Weight(
            Verdict.RULED_OUT, "restart.same_pid", {"service": signals.unit, "pid": pids[0]}, contradicts=same
        )
    if changed := signals.replaced(signals.unit):
        old, ended, new, began, *places = changed
        said = {"service": signals.unit, "old": old, "last": ended, "new": new, "first": began}
        return Weight(Verdict.NO_SIGN, "restart.after", said, contradicts=tuple(places))
    if cover and any(event.service == signals.unit for event in signals.facts[Restarts].events):
        return Weight(
            Verdict.NO_SIGN,
            "restart.none",
            {"service": signals.unit},
            contradicts=(cover.first_ref, cover.last_ref),
        )
    return Weight(Verdict.NOT_DETERMINED, "restart.unknown", {"service": signals.unit})


def began_at(signals: Signals) -> int:
    """Return when the service's own log begins."""
    cover = signals.facts[Coverage].of(signals.unit)
    return cover.first if cover else 0


def tells(pid: str) -> bool:
    """Tell whether a process id that stays the same says anything: in a container it is always 1."""
    return pid.isdigit() and int(pid) >= LOWEST_PID


def out_of_memory(signals: Signals) -> Weight:
    """Kernel and service manager say it; a SIGKILL alone does not."""
    events = signals.lifecycle("oom")
    if events:
        return Weight(
            Verdict.CONFIRMED, "oom.killed", {"n": len(events)}, tuple(event.ref for event in events)[:4]
        )
    if signals.kernel_ref:
        return Weight(Verdict.NO_SIGN, "oom.none", {}, contradicts=(signals.kernel_ref,))
    if killed := by_master(signals):
        return Weight(Verdict.NOT_DETERMINED, "oom.master", {"n": len(killed)}, contradicts=killed[:4])
    return Weight(Verdict.NOT_DETERMINED, "kernel.unknown")


def by_master(signals: Signals) -> tuple[Ref, ...]:
    """Return kills of workers that follow a missed heartbeat in the same log: their master did it."""
    kills = signals.hits("gunicorn.worker-sigkill")
    missed = signals.facts[Failures].rows.filter(pl.col("signature").is_in(list(SILENT_WORKERS)))
    return tuple(
        Ref(source, line)
        for service, ts, source, line in kills.select("service", "ts", "source", "line").iter_rows()
        if missed.filter((pl.col("service") == service) & pl.col("ts").is_between(ts - KILLED_US, ts)).height
    )


def host_rebooted(signals: Signals) -> Weight:
    """Boot ids and process ids: a process that lives on has seen no reboot."""
    events = signals.lifecycle("boot")
    if events:
        return Weight(Verdict.CONFIRMED, "reboot.boot", {}, tuple(event.ref for event in events)[:3])
    boots = signals.facts[Restarts].boots
    same = signals.same_process(signals.unit)
    cover = signals.facts[Coverage].of(signals.unit)
    pids = signals.facts[Restarts].pids.get(signals.unit, ())
    if len(boots) == 1 and cover and signals.facts[Coverage].of(signals.unit):
        return Weight(
            Verdict.RULED_OUT,
            "reboot.one_boot",
            {"service": signals.unit},
            contradicts=(cover.first_ref, cover.last_ref),
        )
    if same and pids and tells(pids[0]):
        return Weight(
            Verdict.RULED_OUT, "reboot.same_pid", {"service": signals.unit, "pid": pids[0]}, contradicts=same
        )
    return Weight(Verdict.NOT_DETERMINED, "reboot.unknown")


def host_frozen_or_clock_jump(signals: Signals) -> Weight:
    """A sampler that kept its beat on the same host saw no frozen host."""
    rows = signals.hits(families=("host_freeze", "clock")).filter(~pl.col("signature").is_in(NO_JUMP))
    lo, hi = signals.window
    steps = [step for step in signals.facts[Continuity].steps if lo - EDGE <= step.at <= hi + EDGE]
    if steps:
        widest = max(steps, key=lambda step: abs(step.jump_s))
        return Weight(Verdict.CONFIRMED, "host.step", {"step": widest, "before": widest.before}, widest.refs)
    if rows.height:
        return Weight(Verdict.SUSPECTED, "host.text", {"n": rows.height}, signals.refs(rows))
    gauge = signals.gauge
    if gauge and gauge.period_s:
        lo, hi = signals.window
        beat = round(gauge.period_s * SECOND)
        times = [at for at, _ in gauge.around if lo - 2 * beat <= at <= hi + 2 * beat]
        gaps = [b - a for a, b in pairwise(times)]
        # What a sampler did not look at, before its first and behind its last sample, may have stood still.
        kept = bool(gaps) and max(gaps) <= 1.5 * beat and sum(gap >= SECOND for gap in gaps) >= BEATS
        if kept and times[0] <= lo + beat and times[-1] >= hi - 1.5 * beat:
            return Weight(
                Verdict.RULED_OUT,
                "host.beat",
                {"n": len(times), "period": gauge.period_s, "longest": max(gaps) / SECOND},
                contradicts=tuple(gauge.refs.values())[:3],
            )
    return Weight(Verdict.NOT_DETERMINED, "host.unknown")


def resource_exhausted(signals: Signals) -> Weight:
    """Texts of disk, file and connection tracking limits."""
    rows = signals.hits(families=("disk", "resource", "network"))
    if rows.height:
        return Weight(
            Verdict.SUPPORTED if rows.height >= MANY else Verdict.SUSPECTED,
            "resource.text",
            {"n": rows.height},
            signals.refs(rows),
        )
    if signals.kernel_ref:
        return Weight(Verdict.NO_SIGN, "resource.none", {}, contradicts=(signals.kernel_ref,))
    return Weight(Verdict.NOT_DETERMINED, "kernel.unknown")


def monitor_false_alarm(signals: Signals) -> Weight:
    """An alert inside an incident that other sources show was right."""
    alerts = [alert for alert in signals.facts[Watch].alerts if alert.state == "down"]
    lo, hi = signals.window
    near = [alert for alert in alerts if signals.spans and lo <= alert.at <= hi + 10 * MINUTE]
    if near:
        return Weight(Verdict.RULED_OUT, "alarm.right", {"at": near[0].at}, contradicts=(near[0].ref,))
    if alerts and not signals.spans:
        return Weight(
            Verdict.SUSPECTED, "alarm.alone", {"n": len(alerts)}, tuple(alert.ref for alert in alerts)[:3]
        )
    own = [group for group in signals.facts[Failures].groups if group.side == "monitor"]
    if own and not signals.spans:
        worst = max(own, key=lambda group: group.failures)
        around = pl.col("second").is_between(worst.first // SECOND - 600, worst.last // SECOND + 600)
        served = signals.evidence["seconds"].filter((pl.col("kind") == "request") & around)["n"].sum()
        if served:
            return Weight(
                Verdict.SUPPORTED,
                "alarm.own_served",
                {"service": worst.service, "n": worst.failures, "served": int(served)},
                worst.refs[:4],
            )
        return Weight(
            Verdict.SUSPECTED, "alarm.own", {"service": worst.service, "n": worst.failures}, worst.refs[:4]
        )
    failed = [
        due for series in signals.watchers() if series.seen_by == "monitor" for due in series.at("failed")
    ]
    if (together := all_at_once(signals)) and not signals.told_by_others:
        lo, hi = min(due.at for due in together), max(due.at for due in together)
        during = pl.col("second").is_between(lo // SECOND, hi // SECOND + 1)
        served = signals.evidence["seconds"].filter((pl.col("kind") == "request") & during)["n"].sum()
        targets = len({series.name for series in signals.watchers() if series.seen_by == "monitor"})
        return Weight(
            Verdict.SUPPORTED if served else Verdict.SUSPECTED,
            "alarm.all_served" if served else "alarm.all",
            {"n": targets, "at": lo, "served": int(served)},
            tuple(due.ref for due in together if due.ref)[:4],
        )
    if failed and signals.spans and not signals.told_by_others:
        return Weight(Verdict.NOT_DETERMINED, "alarm.only", {"n": len(failed)})
    if (
        failed
        and signals.spans
        and any(low <= due.at <= high for due in failed for low, high in signals.spans)
    ):
        return Weight(
            Verdict.RULED_OUT,
            "alarm.failures_right",
            {"n": len(failed)},
            contradicts=tuple(due.ref for due in failed if due.ref)[:3],
        )
    watched = [series for series in signals.watchers() if series.seen_by == "monitor"]
    if watched:
        refs = tuple(due.ref for due in (watched[0].dues[0], watched[0].dues[-1]) if due.ref)
        return Weight(Verdict.NO_SIGN, "alarm.none", {"series": watched[0].name}, contradicts=refs)
    return Weight(Verdict.NOT_DETERMINED, "alarm.unknown")


def all_at_once(signals: Signals) -> list[Due]:
    """Return the first failed check of every target of one monitor, where all began to fail together: it is on the monitor's side, or all of them are.

    Targets behind one gateway fail together too; so few of them say nothing.
    """
    watched = [series for series in signals.watchers() if series.seen_by == "monitor"]
    lo, hi = signals.window
    first = [
        next((due for due in series.at("failed", "missed") if lo - MINUTE <= due.at <= hi + MINUTE), None)
        for series in watched
    ]
    together = [due for due in first if due is not None]
    if len(watched) < TARGETS or len(together) < len(watched):
        return []
    period = max(series.period_s for series in watched) * SECOND
    spread = max(due.at for due in together) - min(due.at for due in together)
    hosts = {host(series.name) for series in watched}
    return together if spread <= period and len(hosts) >= TARGETS else []


def host(name: str) -> str:
    """Return the host of a target's address, its name where it has none."""
    return urlsplit(name).hostname or name if "://" in name else name


def monitor_blind(signals: Signals) -> Weight:
    """Gaps in the monitor's own beat, and whether incidents fell into them."""
    gaps = signals.facts[Watch].gaps
    if gaps:
        longest = max(gaps, key=lambda gap: gap.end - gap.start)
        missed = sum(len(gap.inside) + len(gap.overlapping) for gap in gaps)
        sure = longest.others_alive and (missed > 0 or longest.missing >= MANY)
        return Weight(
            Verdict.CONFIRMED if sure else Verdict.SUPPORTED,
            "blind.gap",
            {"gap": longest, "n": len(gaps), "missed": missed},
            longest.refs,
        )
    watched = signals.watchers()
    if watched:
        series = max(watched, key=lambda item: (item.seen_by == "monitor", len(item.dues)))
        refs = tuple(due.ref for due in (series.dues[0], series.dues[-1]) if due.ref)
        if series.dues[-1].at < signals.window[1] - 2 * series.period_s * SECOND:
            return Weight(
                Verdict.NOT_DETERMINED, "blind.ends", {"series": series.name, "at": series.dues[-1].at}
            )
        unsure = [due for due in series.at("blind") if series.seen_by == "service"]
        if unsure:
            return Weight(Verdict.NOT_DETERMINED, "blind.lost", {"series": series.name, "n": len(unsure)})
        if refs:
            return Weight(
                Verdict.RULED_OUT,
                "blind.none",
                {
                    "series": series.name,
                    "n": len(series.dues),
                    "period": series.period_s,
                    "runs": len(series.long_runs),
                },
                contradicts=refs,
            )
    return Weight(Verdict.NOT_DETERMINED, "blind.unknown")


def log_loss(signals: Signals) -> Weight:
    """What sources declare as lost; a text export without such a line can't tell."""
    losses = signals.facts[Losses].items
    if losses:
        n = sum(loss.n or 0 for loss in losses)
        return Weight(
            Verdict.CONFIRMED,
            "loss.declared",
            {"n": n, "service": losses[0].service, "at": losses[0].at},
            tuple(loss.ref for loss in losses)[:4],
        )
    lo, hi = signals.window
    holes = [hole for hole in signals.facts[Continuity].holes if hole.start <= hi and hole.end >= lo]
    if holes:
        return Weight(
            Verdict.SUSPECTED,
            "loss.hole",
            {"hole": holes[0]},
            tuple(ref for hole in holes for ref in hole.refs)[:4],
        )
    journald = [
        source
        for source in signals.evidence.sources
        if source.transport and source.transport.startswith("journal") and source.records
    ]
    cover = signals.facts[Coverage].of(signals.unit)
    if journald and cover:
        return Weight(
            Verdict.NO_SIGN,
            "loss.none",
            {"service": signals.unit},
            contradicts=(cover.first_ref, cover.last_ref),
        )
    return Weight(Verdict.NOT_DETERMINED, "loss.unknown")


WEIGH: dict[str, Callable[[Signals], Weight]] = {
    rule.__name__: rule
    for rule in (
        app_pool_exhausted, process_stalled, db_slots_exhausted, db_slow_or_locked, db_down, redis_failed, gateway_failed, service_restarted, out_of_memory,
        host_rebooted, host_frozen_or_clock_jump, resource_exhausted, monitor_false_alarm, monitor_blind, log_loss,
    )
}  # fmt: skip
"""One rule for each hypothesis; the function's name is the hypothesis' id."""
