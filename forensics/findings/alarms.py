"""Each alert, and each incident that a monitor's failed checks tell of, judged at its own time: right, false or open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from forensics.findings.signals import MARGIN, MINUTE, SECOND
from forensics.model.facts import Coverage, Failures, Incidents, Probes, Restarts, Stalls, Watch

if TYPE_CHECKING:
    from forensics.findings.signals import Signals
    from forensics.model.facts import Alert, Due, Incident, Series
    from forensics.model.source import Ref

AFTER = 10 * MINUTE
"""An alert comes at most so long after the trouble that it tells of."""
AROUND = 30 * MINUTE
"""What a service answers so long before and after tells its usual rate."""
USUAL = 0.5
"""Share of the usual rate from which users were served as always."""
FEWEST = 5
"""Requests below which nothing is said of a rate."""
FAULTY = 0.01
"""Share of failed requests from which users were hit."""
SAME_BEAT = 0.06
"""How far the beat of a monitor and that of a client in an access log may differ, as a share of it, for both to be one."""
HABIT = 2.0
"""Failures that are no more than this many times those of as long a span elsewhere are the usual ones."""


@dataclass(frozen=True, slots=True)
class Served:
    """What a service answered while checks failed: requests, a minute, and as usual around that."""

    service: str
    n: int
    per_minute: float
    usual: float
    refs: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class Alarm:
    """An alert or a run of failed checks, with what others say of its time."""

    at: int
    """When the alert was raised; without one when the first check failed."""
    monitor: str
    alerted: bool
    failed: int
    error: str | None
    verdict: str
    """``right`` where others show trouble, ``false`` where users were served as always, else ``open``."""
    number: int | None
    """The incident's number; None for an alert outside of any."""
    primary: bool
    served: Served | None
    refs: tuple[Ref, ...]


def alarms(signals: Signals) -> tuple[Alarm, ...]:
    """Judge all alerts and failed checks, in order of time: first those of each incident, then alerts outside of any."""
    downs = [alert for alert in signals.facts[Watch].alerts if alert.state == "down"]
    watching = [series for series in signals.facts[Probes].series if series.seen_by == "monitor"]
    last = signals.facts[Coverage].last or 0
    found: list[Alarm] = []
    taken: set[Ref] = set()
    for number, item in enumerate(signals.facts[Incidents].items, start=1):
        lo, hi = item.start, item.end or last
        mine = [alert for alert in downs if lo - SECOND <= alert.at <= hi + AFTER and alert.ref not in taken]
        taken |= {alert.ref for alert in mine}
        if one := alarm_of(signals, watching, mine, (lo, hi), (number, item)):
            found.append(one)
    for alert in downs:
        if alert.ref not in taken:
            period = max((round(one.period_s * SECOND) for one in watching), default=MINUTE)
            span = (alert.at - period, alert.at)
            if one := alarm_of(signals, watching, [alert], span, None):
                found.append(one)
    return tuple(sorted(found, key=lambda one: (one.at, one.monitor)))


def alarm_of(
    signals: Signals,
    watching: list[Series],
    alerts: list[Alert],
    span: tuple[int, int],
    incident: tuple[int, Incident] | None,
) -> Alarm | None:
    """Judge what monitors say of one span; None where they say nothing."""
    lo, hi = span
    bad: list[tuple[Due, Series]] = [
        (due, series)
        for series in watching
        for due in series.at("failed", "missed")
        if lo - SECOND <= due.at <= hi + SECOND
    ]
    if not alerts and not bad:
        return None
    first = min(bad, key=lambda one: one[0].at, default=None)
    told = told_by_others(signals, lo, hi)
    served = (
        None if told or first is None else served_as_usual(signals, {one.name: one for _, one in bad}, span)
    )
    places = [
        *(alert.ref for alert in alerts[:1]),
        *(due.ref for due, _ in bad[:2] if due.ref),
        *(served.refs if served else ()),
    ]
    return Alarm(
        at=alerts[0].at if alerts else first[0].at if first else lo,
        monitor=first[1].name if first else alerts[0].monitor,
        alerted=bool(alerts),
        failed=len(bad),
        error=first[0].error if first else None,
        verdict="right" if told else "false" if served else "open",
        number=incident[0] if incident else None,
        primary=incident is not None and incident[1] is signals.primary,
        served=served,
        refs=tuple(dict.fromkeys(places)),
    )


def told_by_others(signals: Signals, lo: int, hi: int) -> bool:
    """Does anything but a monitor's own results show trouble in a span? A probe that never reached a service is its monitor's word only."""
    facts = signals.facts
    rows = facts[Failures].rows.filter((pl.col("side") != "monitor") & (pl.col("family") != "app_error"))
    touching = pl.col("ts").is_between(lo, hi + MARGIN) | pl.col("began").is_between(lo, hi)
    inside = rows.filter(touching).height
    whole = max(1, (facts[Coverage].last or hi) - (facts[Coverage].first or lo))
    if inside > HABIT * (rows.height - inside) * (hi + MARGIN - lo) / whole:
        return True
    return (
        any(stall.start <= hi and (stall.end or hi) >= lo for stall in facts[Stalls].items)
        or any(item.start <= hi and (item.end or hi) >= lo for item in facts[Restarts].outages)
        or any(
            lo <= due.at <= hi
            for series in facts[Probes].series
            if series.seen_by == "service"
            for due in series.at("late", "failed")
        )
    )


def served_as_usual(signals: Signals, failing: dict[str, Series], span: tuple[int, int]) -> Served | None:
    """Return what the service that monitors watch answered in a span and up to the next check, if it did so at its usual rate and without failures.

    Monitors watch the services whose logs show their probes, or the only one that answers requests where all
    their targets fail: of others nothing follows.
    """
    requests = signals.evidence["seconds"].filter(
        (pl.col("kind") == "request") & pl.col("service").is_not_null()
    )
    seen = {
        other.service
        for other in signals.facts[Probes].series
        if other.seen_by == "service" and other.service
        for one in failing.values()
        if abs(other.period_s - one.period_s) <= SAME_BEAT * one.period_s
    }
    asked = seen or set(requests["service"])
    targets = {one.name for one in signals.facts[Probes].series if one.seen_by == "monitor"}
    alone = len(asked) == 1 and targets <= set(failing)
    if not asked or not (seen or alone):
        return None
    beat = max(round(one.period_s * SECOND) for one in failing.values())
    span = (span[0], span[1] + beat)
    every = [
        rate_of(signals, service, requests.filter(pl.col("service") == service), span)
        for service in sorted(asked)
    ]
    good = [one for one in every if one is not None]
    return max(good, key=lambda one: one.n) if len(good) == len(every) else None


def rate_of(signals: Signals, service: str, rows: pl.DataFrame, span: tuple[int, int]) -> Served | None:
    """Compare the requests of users of a service in a span with those around it; None where they were fewer, or failed."""
    (lo, hi), cover = span, signals.facts[Coverage].of(service)
    if cover is None:
        return None
    probed = [
        due.answered
        for series in signals.facts[Probes].series
        if series.service == service and series.checks
        for due in series.dues
        if due.answered
    ]
    inside = rows.filter(pl.col("first_us").is_between(lo, hi)).sort("first_us")
    before, after = max(cover.first, lo - AROUND), min(cover.last, hi + AROUND)
    around = rows.filter(pl.col("first_us").is_between(before, after))
    n = int(inside["n"].sum()) - sum(lo <= at <= hi for at in probed)
    others = int(around["n"].sum()) - sum(before <= at <= after for at in probed) - n
    length = (after - before) - (hi - lo)
    failed = signals.evidence["failed"].filter(
        (pl.col("service") == service) & pl.col("ts").is_between(lo, hi)
    )
    if n < FEWEST or length <= 0 or hi <= lo or failed.height > FAULTY * n:
        return None
    rate, usual = n * MINUTE / (hi - lo), others * MINUTE / length
    if rate < USUAL * usual:
        return None
    refs = signals.refs(inside.select("source", line="first_line"), 1)
    refs += signals.refs(inside.tail(1).select("source", line="last_line"), 1)
    return Served(service, n, round(rate, 1), round(usual, 1), refs)
