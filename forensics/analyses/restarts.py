"""Did a process, container or host end or begin, and was it asked to?

Reads lifecycle texts of systemd, container engines, kernels and application servers. A kill by the service manager
after a stop timeout is the end of a requested stop, not an out-of-memory kill. A start that is followed by an end at once brought
nothing back, and a job that ran to its end was no service that stopped.
"""

from __future__ import annotations

import json
from itertools import takewhile
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
    "kubelet.stopping": "stop", "kubelet.container-started": "started", "kubelet.back-off": "backoff", "go.panic": "panicked",
    "spring-boot.starting": "start", "spring-boot.started": "ready", "puma.listening": "ready", "php-fpm.ready": "ready", "django.runserver": "ready",
    "gunicorn.master": "master", "nginx.lifecycle": "server",
}  # fmt: skip
"""Signature to kind of lifecycle event."""
SECOND = 1_000_000
CONTAINER = "docker.container-event"
ACTIONS = {"start": "started", "restart": "ready", "stop": "stopped", "oom": "oom"}
"""Action of a container engine to kind; others begin and end nothing, but for those that depend on a code or a signal."""
STEPS = {
    "gunicorn.master": {"Starting gunicorn": "start", "Listening at": "ready", "Handling signal: term": "stop", "Handling signal: int": "stop",
                        "Handling signal: quit": "stop", "Shutting down": "stopped"},
    "nginx.lifecycle": {"reconfiguring": "reload"},
}  # fmt: skip
"""What servers say of their own steps, by the text of each, to kind; others begin and end nothing. A reload ends nothing either."""
SILENT = ("master", "server")
"""Kinds of steps that are told of nowhere."""
ASKED = ("2", "3", "15")
"""Signals that ask a process to end: INT, QUIT, TERM."""
VICTIM = "kernel.oom-killed"
"""A kernel's line that names the process which it ended, by its id and command."""
PRINTED_US = 5_000_000
"""A process prints nothing later than this after its kill: what it wrote may still lie in a pipe."""
BEGINS = ("started", "ready")
BY_ITSELF = ("exited", "signalled", "failed", "killed", "oom", "watchdog", "panicked")
"""Ends that nobody asked for, if no stop came before."""
ENDS = ("stop", "stopped", "unhealthy", "backoff", *BY_ITSELF)
LIVED_US = 10_000_000
"""What ends earlier after its start never ran: Docker counts a start from ten seconds on, systemd counts starts within ten, and the first
pause of the kubelet is ten."""
BACK_OFF_US = 600_000_000
"""The kubelet forgets earlier ends of a container that ran for ten minutes: a pause before a start tells of one that ran for less."""
FINISHED = "systemd.finished"
"""Said only of a unit that does one thing and is done (Type=oneshot)."""
GAVE_UP = "systemd.start-limit"
TRACE = "go.goroutine"
TRACE_LINES = 8
"""Go prints its stacks this near below the panic that ends a process; one that was caught has none, or not as its own lines."""
STACKS_US = 1_000_000
"""What a process that panicked prints is out by then: a later line is of the next one."""


def restarts(evidence: Evidence, known: Known, facts: Facts) -> Restarts:
    """Return lifecycle events, and the spans in which a service was not there."""
    del known, facts
    hits = (
        evidence["hits"]
        .filter(pl.col("signature").is_in(list(KINDS)) & pl.col("ts").is_not_null())
        .sort("ts", "source", "line")
    )
    processes = evidence["processes"].sort("service", "first_us", "pid")
    hits = ending_panics(hits, evidence["hits"])
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
    events = tuple(event for event in events if event.kind not in SILENT)
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
    ended += [begin for event in ended if event.kind == "panicked" and (begin := next_line(event, evidence))]
    jobs = finished(evidence["hits"])
    ended = [event for event in ended if event.service not in jobs]
    ended.sort(key=lambda event: (event.at, event.ref.source, event.ref.line))
    services = sorted({event.service for event in ended})
    return Restarts(
        events, tuple(outage for service in services for outage in outages(service, ended)), pids, boots
    )


def kind_of(signature: str, said: dict[str, str | None]) -> str:
    """Return what kind of event a line tells of; a container's depends on what was done, with which code or signal."""
    if signature == "systemd.main-exited" and said.get("code") in ("killed", "dumped"):
        return "signalled"
    if signature in STEPS:
        what = said.get("what") or ""
        return next((kind for text, kind in STEPS[signature].items() if text in what), KINDS[signature])
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


def next_line(panicked: Lifecycle, evidence: Evidence) -> Lifecycle | None:
    """Return the first line of a service after its process ended in a panic: of the next process, None where none printed."""
    later = evidence["seconds"].filter(
        (pl.col("service") == panicked.service)
        & ~pl.col("naive")
        & (pl.col("first_us") > panicked.at + STACKS_US)
    )
    if not later.height:
        return None
    row = later.sort("first_us", "source", "first_line").row(0, named=True)
    place = Ref(row["source"], row["first_line"])
    return Lifecycle(row["first_us"], panicked.service, "ready", panicked.text, place)


def ending_panics(hits: pl.DataFrame, every: pl.DataFrame) -> pl.DataFrame:
    """Leave out the panics below which no stacks stand: they did not end their process."""
    panics = hits.filter(pl.col("signature") == "go.panic")
    stacks = every.filter(pl.col("signature") == TRACE).select("source", "service", below="line")
    deadly = panics.join(stacks, on=["source", "service"]).filter(
        pl.col("below").cast(pl.Int64).is_between(pl.col("line"), pl.col("line") + TRACE_LINES)
    )
    caught = panics.join(deadly, on=["source", "line"], how="anti").select("source", "line", "signature")
    return hits.join(caught, on=["source", "line", "signature"], how="anti").sort("ts", "source", "line")


def finished(hits: pl.DataFrame) -> set[str]:
    """Return the units that do one thing and are done: their ends are no ends of a service."""
    said = hits.filter(pl.col("signature") == FINISHED)
    return {
        str(json.loads(text or "{}").get("unit") or service).removesuffix(".service")
        for text, service in said.select("parameters", "service").iter_rows()
    }


def outages(service: str, events: list[Lifecycle]) -> list[Outage]:
    """Pair each end of a service with the begin that brought it back."""
    found: list[Outage | None] = []
    gone: list[Lifecycle] = []
    failed = 0
    pending = False
    since: int | None = None
    mine = [item for item in events if item.service == service]
    for index, event in enumerate(mine):
        if event.kind in ENDS or (event.kind == "timeout" and gone):
            pending = False
        if gone and event.kind in ("start", *BEGINS):
            if in_vain(event, mine[index + 1 :]):
                failed += not pending
                pending = True
                gone.append(event)
            elif event.kind in BEGINS:
                found.append(close(service, gone, event, since, failed))
                gone, failed, pending = [], 0, False
        elif gone or event.kind in ENDS:
            gone.append(event)
        since = event.at if event.kind in BEGINS and not gone else since
    if gone:
        found.append(close(service, gone, None, since, failed))
    return [one for one in found if one is not None]


def in_vain(begin: Lifecycle, later: list[Lifecycle]) -> bool:
    """Did a start bring nothing back? The process ended by itself at once, or before it was up."""
    if begin.kind == "start":
        up = next((event for event in later if event.kind in (*BEGINS, *ENDS)), None)
        return up is not None and up.kind in BY_ITSELF
    end = next((event for event in later if event.kind in ENDS), None)
    if end is None:
        return False
    if end.kind == "backoff":
        return end.at - begin.at <= BACK_OFF_US
    return end.kind in BY_ITSELF and end.at - begin.at <= LIVED_US


def close(
    service: str, events: list[Lifecycle], begin: Lifecycle | None, since: int | None, failed: int
) -> Outage | None:
    """Make one outage of the events from a service's end to the begin that brought it back; None for a job that was done."""
    kinds = {event.kind for event in events}
    reason = (
        ("deploy_loop" if failed else "deploy")
        if events[0].kind == "stop"
        else "oom"
        if "oom" in kinds
        else "watchdog"
        if "watchdog" in kinds
        else "unhealthy"
        if "unhealthy" in kinds
        else "crash_loop"
        if failed
        else "killed"
        if kinds & {"killed", "signalled"}
        else "crash"
        if kinds & {*BY_ITSELF, "backoff"}
        else "finished"
    )
    again = "restart" in kinds or (begin is not None and begin.at - events[0].at <= LIVED_US)
    if reason == "finished" and not again:
        return None
    told = [event for event in events if event.kind in ENDS or event.kind == "timeout"]
    refs = tuple(event.ref for event in told) + ((begin.ref,) if begin else ())
    gave_up = next((event.at for event in events if event.text == GAVE_UP), None)
    counted = [
        sum(event.kind in kinds for event in events) for kinds in (("exited", "signalled"), ("panicked",))
    ]
    return Outage(
        service, events[0].at, begin.at if begin else None, reason, refs, since,
        failed=failed, ends=max(counted), gave_up=gave_up, stopped=stop_done(events),
    )  # fmt: skip


def stop_done(events: list[Lifecycle]) -> int | None:
    """Return when a requested stop was done, None where nobody asked or no line says so."""
    if events[0].kind != "stop":
        return None
    before = takewhile(lambda event: event.kind not in ("start", *BEGINS), events)
    return max(
        (event.at for event in before if event.kind in ("stopped", "exited", "signalled", "killed")),
        default=None,
    )


PLUG = Analysis(
    name="restarts",
    question="Did a process, container or host end or begin, and was it asked to?",
    gives=Restarts,
    run=restarts,
)
