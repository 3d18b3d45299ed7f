"""Hypotheses about processes and the machine under them: restarts, memory, boots, freezes and limits."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import polars as pl

from forensics.findings.signals import MINUTE, SECOND
from forensics.findings.weighing.application import SILENT_WORKERS
from forensics.findings.weighing.scale import (
    MANY,
    Sign,
    covered,
    direct,
    disproof,
    explained,
    hint,
    question,
    witness,
)
from forensics.model.facts import Continuity, Coverage, Failures, Restarts
from forensics.model.source import Ref

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.findings.signals import Signals

LOWEST_PID = 10
"""Process ids below this are those of a container's own numbering, which a restart repeats."""
KILLED_US = 10 * SECOND
"""A master kills a worker within seconds of its missed heartbeat."""
BEATS = 2
"""Pauses between looks of a sampler from which it has a beat that it could have lost."""
EDGE = 5 * MINUTE
"""A clock that was set so shortly before or after the incident puts its times in doubt."""
MOST_REFS = 12
"""Places of one outage that are quoted."""
TURNS = (
    "start",
    "started",
    "ready",
    "stop",
    "stopped",
    "exited",
    "signalled",
    "failed",
    "killed",
    "backoff",
    "panicked",
)
"""What is told of the ends and starts of services."""
NO_JUMP = ("timesyncd.initial-sync", "celery.clock-drift", "celery.drift-times")
"""A clock that is set for the first time; and a text that late messages make as well as two hosts whose clocks differ."""


def service_restarted(signals: Signals) -> Iterator[Sign]:
    """The service manager's lines decide; the same process id before and after rules it out."""
    yield from ends_and_starts(signals)
    yield from same_process(signals, "restart.same_pid")
    if changed := signals.replaced(signals.unit):
        old, ended, new, began, *places = changed
        said = {"service": signals.unit, "old": old, "last": ended, "new": new, "first": began}
        yield explained("restart.after", said, tuple(places))
    yield from quiet(signals)
    yield question("restart.unknown", {"service": signals.unit})


def quiet(signals: Signals) -> Iterator[Sign]:
    """Lines of the service manager that tell of no outage: it was silent about the service, saw it end without an error, or told of others."""
    cover = signals.facts[Coverage].of(signals.unit)
    near = signals.lifecycle(*TURNS)
    mine = [event for event in near if event.service == signals.unit]
    done = [event for event in mine if event.kind == "stopped"]
    if done:
        said = {"service": signals.unit, "at": done[-1].at}
        yield question("restart.done", said, tuple(event.ref for event in done)[-2:])
    elif cover and any(event.service == signals.unit for event in signals.facts[Restarts].events):
        yield covered("restart.none", {"service": signals.unit}, (cover.first_ref, cover.last_ref))
    elif near and not mine:
        names = sorted({event.service for event in near})
        said = {"service": signals.unit, "others": names[:3], "more": len(names[3:])}
        yield question("restart.others", said, tuple(event.ref for event in near)[:3])


def ends_and_starts(signals: Signals) -> Iterator[Sign]:
    """Ends that lines tell of, and starts in the middle of a log."""
    lo, hi = signals.window
    outages = [
        item
        for item in signals.facts[Restarts].outages
        if item.start <= hi + MINUTE and (item.end or hi) >= lo - MINUTE
    ]
    if outages:
        first = min(outages, key=lambda outage: (signals.unproven(outage.refs), outage.start))
        yield direct(f"restart.{first.reason}", {"outage": first, "n": len(outages)}, shown(first.refs))
    begun = [
        event
        for event in signals.lifecycle("ready", "started")
        if event.service == signals.unit and event.at > lo - MINUTE and event.at > began_at(signals) + MINUTE
    ]
    if begun:
        said = {"service": signals.unit, "at": begun[0].at}
        yield witness("restart.begun", said, tuple(event.ref for event in begun)[:3])


def shown(refs: tuple[Ref, ...]) -> tuple[Ref, ...]:
    """Return the places of an outage that are quoted: how it began, and what brought the service back."""
    return refs if len(refs) <= MOST_REFS else (*refs[: MOST_REFS - 2], *refs[-2:])


def same_process(signals: Signals, why: str) -> Iterator[Sign]:
    """A process that lived before and after the window was not replaced in it."""
    same = signals.same_process(signals.unit)
    if same and tells(same[0]):
        pid, *places = same
        ongoing = signals.primary is not None and signals.primary.end is None
        said = {"service": signals.unit, "pid": pid, "ongoing": ongoing}
        yield disproof(why, said, tuple(places))


def began_at(signals: Signals) -> int:
    """Return when the service's own log begins."""
    cover = signals.facts[Coverage].of(signals.unit)
    return cover.first if cover else 0


def tells(pid: str) -> bool:
    """Tell whether a process id that stays the same says anything: in a container it is always 1."""
    return pid.isdigit() and int(pid) >= LOWEST_PID


def out_of_memory(signals: Signals) -> Iterator[Sign]:
    """Kernel and service manager say it; a SIGKILL alone does not."""
    events = signals.lifecycle("oom") or signals.lifecycle("memory")
    if events:
        who = sorted({event.service for event in events if event.kind == "oom"} - {"host"})
        yield direct(
            "oom.killed", {"n": len(events), "who": who[:4]}, tuple(event.ref for event in events)[:4]
        )
    if signals.kernel_ref:
        yield covered("oom.none", {}, (signals.kernel_ref,))
    if killed := by_master(signals):
        yield question("oom.master", {"n": len(killed)}, killed[:4])
    yield question("kernel.unknown", signals.part_of("kernel"))


def by_master(signals: Signals) -> tuple[Ref, ...]:
    """Return kills of workers that follow a missed heartbeat in the same log: their master did it."""
    kills = signals.hits("gunicorn.worker-sigkill")
    missed = signals.facts[Failures].rows.filter(pl.col("signature").is_in(list(SILENT_WORKERS)))
    return tuple(
        Ref(source, line)
        for service, ts, source, line in kills.select("service", "ts", "source", "line").iter_rows()
        if missed.filter((pl.col("service") == service) & pl.col("ts").is_between(ts - KILLED_US, ts)).height
    )


def host_rebooted(signals: Signals) -> Iterator[Sign]:
    """Boot ids and process ids: a process that lives on has seen no reboot."""
    events = signals.lifecycle("boot")
    if events:
        yield direct("reboot.boot", {}, tuple(event.ref for event in events)[:3])
    cover = signals.facts[Coverage].of(signals.unit)
    if len(signals.facts[Restarts].boots) == 1 and cover:
        yield disproof("reboot.one_boot", {"service": signals.unit}, (cover.first_ref, cover.last_ref))
    yield from same_process(signals, "reboot.same_pid")
    yield question("reboot.unknown")


def host_frozen_or_clock_jump(signals: Signals) -> Iterator[Sign]:
    """A sampler that kept its beat on the same host saw no frozen host."""
    lo, hi = signals.window
    steps = [step for step in signals.facts[Continuity].steps if lo - EDGE <= step.at <= hi + EDGE]
    if steps:
        widest = max(steps, key=lambda step: abs(step.jump_s))
        yield direct(
            "host.step",
            {"step": widest, "before": widest.before},
            (*([widest.said] if widest.said else []), *widest.refs),
        )
    rows = signals.hits(families=("host_freeze", "clock")).filter(~pl.col("signature").is_in(NO_JUMP))
    if rows.height:
        yield hint("host.text", {"n": rows.height}, signals.refs(rows))
    yield from kept_beat(signals)
    yield question("host.unknown")


def kept_beat(signals: Signals) -> Iterator[Sign]:
    """A sampler that looked at its beat all through the window; a text about its clock weighs as much."""
    gauge = signals.gauge
    if not gauge or not gauge.period_s:
        return
    lo, hi = signals.window
    beat = round(gauge.period_s * SECOND)
    times = [at for at, _ in gauge.around if lo - 2 * beat <= at <= hi + 2 * beat]
    gaps = [b - a for a, b in pairwise(times)]
    # What a sampler did not look at, before its first and behind its last sample, may have stood still.
    kept = bool(gaps) and max(gaps) <= 1.5 * beat and sum(gap >= SECOND for gap in gaps) >= BEATS
    if kept and times[0] <= lo + beat and times[-1] >= hi - 1.5 * beat:
        said = {"n": len(times), "period": gauge.period_s, "longest": max(gaps) / SECOND}
        yield disproof("host.beat", said, tuple(gauge.refs.values())[:3], outweighs=0)


def resource_exhausted(signals: Signals) -> Iterator[Sign]:
    """Texts of disk, file and connection tracking limits: what two services say independently, or the kernel, is so."""
    rows = signals.hits(families=("disk", "resource", "network"))
    if rows.height:
        services = sorted(set(rows["service"].drop_nulls()))
        kinds = rows.group_by("signature").agg(n=pl.len()).sort(["n", "signature"], descending=[True, False])
        told = [signals.known.signatures[name] for name in kinds["signature"]]
        sure = len(services) > 1 or any(one.side == "kernel" for one in told)
        make = direct if sure else witness if rows.height >= MANY else hint
        said = {"n": rows.height, "titles": [one.title for one in told[:2]], "services": services[:3]}
        yield make("resource.text", said, signals.refs(rows))
    if signals.kernel_ref:
        yield covered("resource.none", {}, (signals.kernel_ref,))
    yield question("kernel.unknown", signals.part_of("kernel"))
