"""Did a process, container or host end or begin, and was it asked to?

Reads lifecycle texts of systemd, container engines, kernels and application servers. A kill by the service manager
after a stop timeout is the end of a requested stop, not an out-of-memory kill.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from forensics.model.facts import Facts, Lifecycle, Outage, Restarts
from forensics.model.plug import Analysis
from forensics.model.source import Ref

if TYPE_CHECKING:
    from forensics.model.digest import Evidence
    from forensics.model.known import Known

KINDS = {
    "systemd.starting": "start", "systemd.started": "started", "systemd.stopping": "stop", "systemd.stopped": "stopped", "systemd.main-exited": "exited",
    "systemd.failed-result": "failed", "systemd.scheduled-restart": "restart", "systemd.deactivated": "stopped", "systemd.state-timeout": "timeout",
    "systemd.killing-process": "killed", "systemd.oom-kill": "oom", "systemd.oomd-kill": "oom", "systemd.start-limit": "failed",
    "systemd.watchdog-timeout": "watchdog", "systemd.failed-to-start": "failed", "kernel.oom-killed": "oom", "kernel.oom-invoked": "memory", "oomd.killed": "oom",
    "kernel.boot": "boot", "journalctl.boot-marker": "boot", "journalctl.boot-marker-old": "boot", "systemd.startup-finished": "boot",
    "gunicorn.worker-sigkill": "worker", "gunicorn.worker-ended": "worker", "uvicorn.child-died": "worker",
    "uvicorn.startup-failed": "failed", "uvicorn.startup-complete": "ready", "n8n.ready": "ready", "docker.container-event": "container", "process.stop-signal": "stop", "kubelet.restart-by-probe": "unhealthy",
    "kubelet.stopping": "stop", "kubelet.container-started": "started", "kubelet.back-off": "failed",
}  # fmt: skip
"""Signature to kind of lifecycle event."""
SECOND = 1_000_000
CONTAINER = "docker.container-event"
ACTIONS = {"start": "started", "restart": "ready", "stop": "stopped", "oom": "oom"}
"""Action of a container engine to kind; others begin and end nothing, but for those that depend on a code or a signal."""
ASKED = ("2", "3", "15")
"""Signals that ask a process to end: INT, QUIT, TERM."""
VICTIM = "kernel.oom-killed"
"""A kernel's line that names the process which it ended, by its id and command."""
PRINTED_US = 5_000_000
"""A process prints nothing later than this after its kill: what it wrote may still lie in a pipe."""
QUICK_US = 15_000_000
"""What ends so soon after its start was not back: systemd starts a service again after 0.1 s, an engine after 0.1 to 12.8 s."""
BEGINS = ("started", "ready")
ENDS = ("stop", "exited", "failed", "killed", "oom", "watchdog", "stopped", "unhealthy")


def restarts(evidence: Evidence, known: Known, facts: Facts) -> Restarts:
    """Return lifecycle events, and the spans in which a service was not there."""
    del known, facts
    hits = (
        evidence["hits"]
        .filter(pl.col("signature").is_in(list(KINDS)) & pl.col("ts").is_not_null())
        .sort("ts", "source", "line")
    )
    processes = evidence["processes"].sort("service", "first_us", "pid")
    events = tuple(
        Lifecycle(
            row["ts"],
            subject(row["signature"], row["service"], row["ts"], json.loads(row["parameters"]), processes),
            kind_of(row["signature"], json.loads(row["parameters"])),
            row["signature"],
            Ref(row["source"], row["line"]),
        )
        for row in hits.iter_rows(named=True)
    )
    pids = {
        str(service): tuple(dict.fromkeys(part["pid"]))
        for (service,), part in processes.group_by("service", maintain_order=True)
    }
    boots = tuple(dict.fromkeys(processes.filter(pl.col("boot").is_not_null()).sort("first_us")["boot"]))
    # Of a process that belongs to no service of the inputs nobody can say whether it came back.
    ended = [
        event
        for event in events
        if event.text != VICTIM or (event.service in pids and not lived_on(event, processes))
    ]
    ended += [begin for event in ended if event.text == VICTIM and (begin := next_process(event, processes))]
    ended.sort(key=lambda event: event.at)
    services = sorted({event.service for event in ended})
    return Restarts(
        events, tuple(outage for service in services for outage in outages(service, ended)), pids, boots
    )


def kind_of(signature: str, said: dict[str, str | None]) -> str:
    """Return what kind of event a line tells of; a container's depends on what was done, with which code or signal."""
    if signature == "systemd.main-exited" and said.get("code") in ("killed", "dumped"):
        return "killed"
    if signature != CONTAINER:
        return KINDS[signature]
    action, attributes = said.get("action") or "", said.get("attrs") or ""
    told = dict(part.partition("=")[::2] for part in attributes.split(", "))
    if action in ("die", "died"):
        return "stopped" if told.get("exitCode", told.get("containerExitCode")) == "0" else "exited"
    if action == "kill":
        signal = told.get("signal", "")
        return "stop" if signal in ASKED else "killed" if signal == "9" else KINDS[signature]
    return ACTIONS.get(action, KINDS[signature])


def subject(
    signature: str, service: str | None, ts: int, said: dict[str, str | None], processes: pl.DataFrame
) -> str:
    """Return the service that a lifecycle line is about; of a process that the kernel ended its service, else its command."""
    if signature.startswith("systemd.") and said.get("unit"):
        return str(said["unit"]).removesuffix(".service")
    if signature.startswith("kubelet.") and said.get("container"):
        return str(said["container"])
    if signature == "oomd.killed" and said.get("cgroup"):
        return str(said["cgroup"]).rpartition("/")[2].removesuffix(".service")
    if signature == VICTIM and said.get("pid"):
        mine = processes.filter(
            (pl.col("pid") == said["pid"])
            & (pl.col("service") != (service or ""))
            & (pl.col("first_us") <= ts)
            & (pl.col("last_us") <= ts + PRINTED_US)
        ).sort("last_us")
        return str(mine["service"][-1] if mine.height else said.get("comm") or "host")
    return service or "host"


def lived_on(killed: Lifecycle, processes: pl.DataFrame) -> bool:
    """Did another process of the service print before and after the kill? Then a worker ended, and not the service."""
    mine = processes.filter(pl.col("service") == killed.service)
    return bool(mine.filter((pl.col("first_us") < killed.at) & (pl.col("last_us") > killed.at)).height)


def next_process(killed: Lifecycle, processes: pl.DataFrame) -> Lifecycle | None:
    """Return the first line of the process that took the place of one that the kernel ended, None where none did."""
    # A log of whole seconds stamps the next process before the kill that the kernel places to the microsecond.
    since = killed.at // SECOND * SECOND
    later = processes.filter(
        (pl.col("service") == killed.service)
        & (pl.col("first_us") >= since)
        & (pl.col("last_us") > killed.at)
    )
    if not later.height:
        return None
    row = later.sort("first_us").row(0, named=True)
    return Lifecycle(
        max(row["first_us"], killed.at),
        killed.service,
        "ready",
        killed.text,
        Ref(row["source"], row["first_line"]),
    )


def outages(service: str, events: list[Lifecycle]) -> list[Outage]:
    """Pair each end of a service with its next begin."""
    found: list[Outage] = []
    open_: list[Lifecycle] = []
    since: int | None = None
    for event in (item for item in events if item.service == service):
        if event.kind in ENDS or (event.kind == "timeout" and open_):
            open_.append(event)
        elif event.kind in BEGINS and open_:
            found.append(close(service, open_, event, since))
            open_ = []
        since = event.at if event.kind in BEGINS else since
    if open_:
        found.append(close(service, open_, None, since))
    return looped(found)


def looped(found: list[Outage]) -> list[Outage]:
    """Join outages between which the service was up for moments only: it ended right after each start."""
    out: list[Outage] = []
    for one in found:
        before = out[-1] if out else None
        if before is None or before.end is None or one.start - before.end > QUICK_US or one.asked:
            out.append(one)
            continue
        out[-1] = replace(
            before, end=one.end, reason="loop", refs=(*before.refs, *one.refs), failed_starts=before.failed_starts + 1,
        )  # fmt: skip
    return out


def close(service: str, events: list[Lifecycle], begin: Lifecycle | None, since: int | None) -> Outage:
    """Make one outage of the events that ended a service and the one that began it again."""
    kinds = {event.kind for event in events}
    reason = (
        "deploy"
        if events[0].kind == "stop"
        else "oom"
        if "oom" in kinds
        else "watchdog"
        if "watchdog" in kinds
        else "unhealthy"
        if "unhealthy" in kinds
        else "killed"
        if "killed" in kinds
        else "crash"
        if kinds & {"exited", "failed"}
        else "unknown"
    )
    refs = tuple(event.ref for event in events) + ((begin.ref,) if begin else ())
    asked = events[0].kind == "stop"
    return Outage(service, events[0].at, begin.at if begin else None, reason, refs, since, asked=asked)


PLUG = Analysis(
    name="restarts",
    question="Did a process, container or host end or begin, and was it asked to?",
    gives=Restarts,
    run=restarts,
)
