"""From when to when was something wrong?

Failures, stalls, unanswered probes and ends of services are intervals, placed where waits began; intervals less than
:data:`APART_US` apart are one incident. Failures count only where they are more than the source's own habit, and a
lone failure is no incident.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from forensics.model.facts import Coverage, Facts, Failures, Incident, Incidents, Probes, Restarts, Stalls
from forensics.model.frames import least, middle, most
from forensics.model.plug import Analysis
from forensics.model.source import Ref

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.model.digest import Evidence
    from forensics.model.facts import Due
    from forensics.model.known import Known

SECOND = 1_000_000
MINUTE = 60 * SECOND
APART_US = 45 * SECOND
"""Intervals closer than this are one incident: shorter than the quiet that people call recovery."""
FEWEST = 3
"""Failures that make an incident by themselves; fewer need a stall, missed probes or an ended service beside them."""
HABIT_MINUTES = 5
"""Minutes of a log below which no minute is the usual one."""
HABIT = 4.0
"""A minute is unusual when it has this many times the failures of the usual minute."""
HABITUAL = (
    "redis_timeout",
    "redis_connection",
    "redis_pool",
    "http_error",
    "client_timeout",
    "client_reset",
    "client_connect",
    "dns",
    "webhook_delivery",
    "query_timeout",
)
"""Families that some programs print all day (a blocking pop whose timeout is the socket's); a pool that runs out is none."""
BY_CHANCE = 0.01
"""Expected number of bursts so dense in a log whose failures come singly, from which a burst is none."""
HABIT_FROM = 60
"""Minutes of a log below which failures that come singly show no habit."""
LONG_APART_US = 150 * SECOND
"""Failures further apart than this are not one burst."""
STILL_ON_US = 90 * SECOND
"""Trouble this close to the end of its service's export goes on, as far as anyone can tell."""
CALLERS = ("webhook_delivery", "client_timeout", "client_connect", "client_reset")
"""Families printed by the caller: their line comes long after, so only the begin of the call places trouble."""
LONGEST_STOP_US = 10 * MINUTE
"""A stop that was asked for and lasts longer was meant to last."""
ERROR_LOGS = {"nginx_error": "nginx_access", "apache_error": "nginx_access"}
"""Logs that hold nothing but errors, so that they end with the last one; and the format of the log in which the same program goes on."""
LOG_OF = re.compile(r"[-_.](?:access|error)$")
ENDING = ("crash", "killed", "crash_loop", "deploy_loop", "oom", "watchdog")


@dataclass(frozen=True, slots=True)
class Mark:
    """One interval of trouble."""

    start: int
    end: int
    service: str
    weight: float
    ref: Ref | None
    bounded: bool = False
    end_ref: Ref | None = None
    ongoing: bool = False
    wait_s: float | None = None
    planned: bool = False
    """True for a stop that was asked for: no trouble unless something failed with it."""
    kind: str = "failure"
    """What the interval is: ``failure``, ``silence``, ``probe``, ``stop`` (asked for) or ``end`` (of a process)."""
    unstated: bool = False
    """True where the first line ends a wait whose length nothing says: the trouble began before it."""


@dataclass(frozen=True, slots=True)
class Watched:
    """What a series of probes says of health, its instants in order."""

    name: str
    unwell: bool
    """True where any was missed, failed or late."""
    bad: list[int]
    """When those were due that got no answer."""
    answers: list[int]
    last: int
    """When the last one was due that was answered."""


@dataclass(frozen=True, slots=True)
class Health:
    """Signs that services are well, put in order once for all incidents."""

    watched: tuple[Watched, ...]
    served: dict[str, pl.DataFrame]
    """Seconds with requests by service."""
    kin: dict[str, set[str]]
    """What else shows how a service fares: the access log of the program whose errors it is."""


def health_of(evidence: Evidence, facts: Facts) -> Health:
    """Put the signs of health in order."""
    watched = tuple(
        Watched(
            name=series.service or series.name,
            unwell=bool(series.at("missed", "failed", "late")),
            bad=sorted(due.at for due in series.at("missed", "failed")),
            answers=sorted(due.answered for due in series.at("answered") if due.answered),
            last=max((due.at for due in series.at("answered")), default=-1),
        )
        for series in facts[Probes].series
    )
    requests = evidence["seconds"].filter(pl.col("kind") == "request").sort("last_us")
    served = {str(service): part for (service,), part in requests.group_by("service") if service}
    return Health(watched, served, kin_of(evidence["formats"]))


def kin_of(formats: pl.DataFrame) -> dict[str, set[str]]:
    """Return the services that are access logs of the program whose error log another is; of several, the one of the same name."""
    found: dict[str, set[str]] = {}
    for error, access in ERROR_LOGS.items():
        of = {
            name: set(formats.filter(pl.col("format") == name)["service"].drop_nulls())
            for name in (error, access)
        }
        for service in of[error]:
            others = of[access] - {service}
            same = {other for other in others if LOG_OF.sub("", other) == LOG_OF.sub("", service)}
            found.setdefault(service, set()).update(same or (others if len(others) == 1 else set()))
    return found


def incidents(evidence: Evidence, known: Known, facts: Facts) -> Incidents:
    """Return all incidents in time order."""
    last = facts[Coverage].last
    health = health_of(evidence, facts)
    marks = [
        *failure_marks(evidence, facts),
        *stall_marks(facts, last),
        *probe_marks(facts, evidence),
        *outage_marks(facts, last),
    ]
    found = [
        incident
        for cluster in clusters(marks)
        if (incident := build(cluster, evidence, known, facts, health))
    ]
    return Incidents(tuple(found), last)


def failure_marks(evidence: Evidence, facts: Facts) -> Iterator[Mark]:
    """Yield bursts of failures that are more than the habit of their kind, and bursts of requests answered with 5xx.

    What a monitor could not do itself is no trouble of a service.
    """
    spans = evidence["seconds"].group_by("service").agg(lo=pl.col("second").min(), hi=pl.col("second").max())
    minutes = {service: max(1, (hi - lo) // 60 + 1) for service, lo, hi in spans.iter_rows()}
    table = (
        facts[Failures]
        .rows.filter(~pl.col("family").is_in(["app_error"]) & (pl.col("side") != "monitor"))
        .sort("ts", "source", "line")
    )
    for (service, _), part in table.group_by("service", "signature", maintain_order=True):
        for burst in bursts(part, minutes.get(service, 1)):
            caller = burst["family"][0] in CALLERS
            start = least(burst["began"]) or 0
            end = most(burst["began"] if caller else burst["ts"]) or start
            head = burst.sort("began", "ts", "line").row(0, named=True)
            tail = burst.sort("ts", "line").row(-1, named=True)
            wait = (head["ts"] - head["began"]) / SECOND
            weight = burst.height * (0.5 if caller else 1.0)
            yield Mark(
                start,
                end,
                str(service),
                weight,
                Ref(head["source"], head["line"]),
                wait > 0,
                Ref(tail["source"], tail["line"]),
                wait_s=wait or None,
                unstated=not wait and bool(head["ends"]),
            )


def bursts(part: pl.DataFrame, minutes: int) -> Iterator[pl.DataFrame]:
    """Cut failures of one kind where nothing happened for a while; drop bursts that are the habit of a log of so many minutes."""
    gap = pl.col("began") - pl.col("ts").shift(1, fill_value=0)
    cut = part.with_columns(burst=(gap > LONG_APART_US).cum_sum())
    per_minute = part.group_by(pl.col("ts") // MINUTE).len()
    usual = (
        (middle(per_minute["len"]) or 0)
        if minutes >= HABIT_MINUTES and per_minute.height > minutes / 2
        else 0
    )
    for (_,), burst in cut.group_by("burst", maintain_order=True):
        spread = max(1.0, ((most(burst["ts"]) or 0) - (least(burst["ts"]) or 0)) / MINUTE)
        habitual = part["family"][0] in HABITUAL and (
            burst.height / spread < HABIT * usual
            or steady(burst, minutes)
            or by_chance(burst, part.height, minutes)
        )
        if not habitual:
            yield burst


def by_chance(burst: pl.DataFrame, many: int, minutes: int) -> bool:
    """Do failures come as close to each other as they do by chance where they come singly all the time?

    The yardstick is the rate outside the burst, so that a burst cannot raise its own.
    """
    spread = ((most(burst["ts"]) or 0) - (least(burst["ts"]) or 0) + SECOND) / MINUTE
    mean = (many - burst.height) / max(1.0, minutes - spread) * spread
    return minutes >= HABIT_FROM and many * at_least(burst.height - 1, mean) >= BY_CHANCE


def at_least(n: int, mean: float) -> float:
    """Return the chance of n or more in a Poisson count; 1 where n is no more than its mean."""
    if n <= mean:
        return 1.0
    if mean <= 0:
        return 0.0
    return max(0.0, 1.0 - sum(math.exp(k * math.log(mean) - mean - math.lgamma(k + 1)) for k in range(n)))


def steady(burst: pl.DataFrame, minutes: int) -> bool:
    """Do failures fill the whole coverage at an even rate? Then they are the background."""
    per_minute = burst.group_by(pl.col("ts") // MINUTE).len()
    covered = per_minute.height / max(1, minutes)
    return (
        minutes >= 5
        and covered >= 0.8
        and (most(per_minute["len"]) or 0) <= HABIT * (middle(per_minute["len"]) or 1)
    )


def stall_marks(facts: Facts, last: int | None) -> Iterator[Mark]:
    """Yield stalls."""
    for stall in facts[Stalls].items:
        end = stall.end if stall.end is not None else last or stall.start
        yield Mark(
            stall.start,
            end,
            stall.service,
            50.0 + (end - stall.start) / SECOND,
            stall.silence.before,
            end_ref=stall.silence.after,
            ongoing=stall.end is None,
            kind="silence",
        )


def probe_marks(facts: Facts, evidence: Evidence) -> Iterator[Mark]:
    """Yield runs of probes that were not answered in time, one lone failure left out."""
    last = max((source.last_us or 0 for source in evidence.sources), default=0)
    for series in facts[Probes].series:
        grace = round((series.timeout_s or 0) * SECOND)
        for run in series.runs("missed", "failed"):
            if len(run) >= 2:
                end = run[-1].at
                yield Mark(
                    run[0].at,
                    end + grace,
                    series.service or series.name,
                    10.0 * len(run),
                    run[0].ref or beside(series.dues, run[0], -1),
                    end_ref=run[-1].ref or beside(series.dues, run[-1], 1),
                    ongoing=run[-1] is series.dues[-1] and last - end <= 2 * series.period_s * SECOND,
                    # Trouble begins between the last probe that was answered and the first that was not.
                    unstated=True,
                    kind="probe",
                )


def beside(dues: tuple[Due, ...], due: Due, step: int) -> Ref | None:
    """Return the line of the probe before (-1) or after (1) one that left no line: between them it was due."""
    at = dues.index(due)
    near = reversed(dues[:at]) if step < 0 else dues[at + 1 :]
    return next((one.ref for one in near if one.ref), None)


def outage_marks(facts: Facts, last: int | None) -> Iterator[Mark]:
    """Yield services that ended and were missed: crashes, and planned stops during which probes or requests failed."""
    for outage in facts[Restarts].outages:
        end = outage.end if outage.end is not None else last or outage.start
        planned, length = outage.reason == "deploy", end - outage.start
        missed = outage.end is not None and outage.reason != "finished" and length > 5 * SECOND
        if outage.reason in ENDING or (missed and not (planned and length > LONGEST_STOP_US)):
            yield Mark(
                outage.start,
                end,
                outage.service,
                20.0 if outage.reason in ENDING else 2.0,
                outage.refs[0],
                end_ref=outage.refs[-1],
                ongoing=outage.end is None and outage.reason in ENDING,
                planned=planned,
                kind="stop" if outage.reason.startswith("deploy") else "end",
            )


def clusters(marks: list[Mark]) -> Iterator[list[Mark]]:
    """Group intervals that overlap or are close."""
    group: list[Mark] = []
    reach = 0
    for mark in sorted(marks, key=lambda item: (item.start, item.end, item.service)):
        if group and mark.start - reach > APART_US:
            yield group
            group = []
        reach = max(reach, mark.end) if group else mark.end
        group.append(mark)
    if group:
        yield group


def build(
    cluster: list[Mark], evidence: Evidence, known: Known, facts: Facts, health: Health
) -> Incident | None:
    """Make an incident of a cluster if it weighs enough."""
    weight = sum(mark.weight for mark in cluster)
    if weight < FEWEST or all(mark.planned for mark in cluster):
        return None
    first = onset(cluster)
    latest = max(cluster, key=lambda mark: mark.end)
    names = {mark.service for mark in cluster}
    names |= {other for name in names for other in health.kin.get(name, ())}
    recovered = recovery(
        max(mark.end for mark in cluster if not mark.ongoing)
        if any(not m.ongoing for m in cluster)
        else latest.end,
        names,
        health,
    )
    if early := ends_early(latest, names, facts) and not answered_again(first.start, latest.end, health):
        recovered = None
    cut = log_ends({latest.service, *health.kin.get(latest.service, ())}, latest, facts)
    ongoing = early or (
        recovered is None and (any(mark.ongoing for mark in cluster) or cut_off(latest, facts) or cut)
    )
    end = recovered if recovered is not None and (cut or latest.ongoing) else latest.end
    started = {
        event.kind: event.at
        for event in known.events
        if first.start - MINUTE <= event.at <= (recovered or latest.end) + 60 * MINUTE
    }
    alerts = (
        evidence["alerts"]
        .filter((pl.col("state") == "down") & pl.col("ts").is_between(first.start, latest.end + 10 * MINUTE))
        .sort("ts")
    )
    services = tuple(
        sorted(
            {
                mark.service
                for mark in cluster
                if mark.service in {cover.service for cover in facts[Coverage].services}
            }
        )
    )
    return Incident(
        start=first.start, start_bound="no_later_than" if first.bounded or first.unstated or first.ref is None else "exact", end=None if ongoing else end, ongoing=ongoing,
        recovered_at=recovered, detected_at=started.get("detected") or (alerts["ts"][0] if alerts.height else None), acknowledged_at=started.get("acknowledged"),
        mitigated_at=started.get("mitigated"), services=services or tuple(sorted({mark.service for mark in cluster})), weight=weight,
        start_ref=first.ref, end_ref=latest.end_ref, start_wait_s=first.wait_s, start_kind=first.kind,
    )  # fmt: skip


def onset(cluster: list[Mark]) -> Mark:
    """Return the mark that places the start.

    A stall is dated by the last line before it, when the process was still well; where a wait is known to have begun
    right after that line, the wait dates the start.
    """
    first = min(cluster, key=lambda mark: (mark.start, not mark.bounded))
    waits = [mark for mark in cluster if mark.bounded and mark.start - first.start <= 2 * SECOND]
    return first if first.bounded or not waits else min(waits, key=lambda mark: mark.start)


def cut_off(latest: Mark, facts: Facts) -> bool:
    """Does the trouble reach to the end of the inputs?"""
    last = facts[Coverage].last
    return last is not None and latest.weight >= FEWEST and last - latest.end < 5 * SECOND


def ends_early(latest: Mark, services: set[str], facts: Facts) -> bool:
    """Do the logs end before so long a quiet as tells one incident from the next? Then more trouble would be this one's."""
    lasts = [cover.last for service in services if (cover := facts[Coverage].of(service))]
    return bool(lasts) and max(lasts) - latest.end < APART_US


def answered_again(start: int, end: int, health: Health) -> bool:
    """Did a probe that was not answered in an incident get its answer after it?"""
    return any(
        one.last >= end and bisect_left(one.bad, start) < bisect_right(one.bad, end) for one in health.watched
    )


def log_ends(services: set[str], latest: Mark, facts: Facts) -> bool:
    """Do the logs of the service end amid its trouble, while other inputs go on?"""
    last = facts[Coverage].last
    lasts = [cover.last for service in services if (cover := facts[Coverage].of(service))]
    return (
        bool(lasts)
        and last is not None
        and latest.end >= max(lasts) - 5 * SECOND
        and last - max(lasts) >= STILL_ON_US / 3
    )


def recovery(end: int, services: set[str], health: Health) -> int | None:
    """Return the first healthy event of the services after the end: a probe answered, or a request served."""
    ours = [one for one in health.watched if one.name in services and one.unwell]
    after = [
        one.answers[index]
        for one in ours or health.watched
        if (index := bisect_left(one.answers, end)) < len(one.answers)
    ]
    served = [
        at
        for service in services
        if service in health.served and (at := next_served(health.served[service], end))
    ]
    return min([*after, *served], default=None)


def next_served(requests: pl.DataFrame, end: int) -> int | None:
    """Return when a service first served a request after an instant: ``requests`` has its seconds in order of their last one."""
    lasts = requests["last_us"]
    index = lasts.search_sorted(end, side="left")
    if index == len(lasts):
        return None
    # What begins before that second's last request ended lies in the same second or in the next row's.
    rows = requests[index : lasts.search_sorted(lasts[index] + SECOND, side="right")]
    return least(
        rows.select(pl.when(pl.col("first_us") >= end).then("first_us").otherwise("last_us")).to_series()
    )


PLUG = Analysis(
    name="incidents",
    question="From when to when was something wrong?",
    gives=Incidents,
    run=incidents,
    needs=(Failures, Stalls, Probes, Restarts, Coverage),
)
