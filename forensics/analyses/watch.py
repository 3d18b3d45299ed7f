"""How well did the monitor watch: blind gaps, alerts, and the shortest freeze that it can see?

A gap of a monitor is blindness, not downtime. With period P, timeout T and n failures to alert, a freeze below
(n - 1) P + T can fall between probes and one above n P + T cannot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from forensics.model.facts import (
    Alert,
    BlindGap,
    Detectability,
    Facts,
    Incidents,
    Probes,
    Replay,
    Series,
    Watch,
)
from forensics.model.plug import Analysis
from forensics.model.source import Ref

if TYPE_CHECKING:
    from forensics.model.digest import Evidence
    from forensics.model.known import Known

SECOND = 1_000_000
FROZEN_FROM = 5
"""Results that a target lacks at the end, while others of its monitor go on, from which it counts as left off."""


def watch(evidence: Evidence, known: Known, facts: Facts) -> Watch:
    """Judge every monitor by its own beat."""
    del known
    gaps = [gap(series, item, evidence, facts) for series in facts[Probes].series for item in series.gaps]
    gaps += [
        gap(series, item, evidence, facts, "paused" if series.paused else "frozen")
        for series in facts[Probes].series
        if (item := left_off(series))
    ]
    alerts = tuple(
        Alert(
            row["monitor"], row["ts"], row["state"] or "?", row["text"] or "", Ref(row["source"], row["line"])
        )
        for row in evidence["alerts"].sort("ts", "line").iter_rows(named=True)
        if row["ts"]
    )
    replays = [
        replay
        for series in facts[Probes].series
        if series.seen_by == "monitor" and series.alert_after
        for replay in replayed(series, series.alert_after, alerts_of(series, facts, alerts))
    ]
    return Watch(tuple(distinct(gaps)), tuple(detectability(facts)), alerts, tuple(replays))


def alerts_of(series: Series, facts: Facts, alerts: tuple[Alert, ...]) -> tuple[Alert, ...]:
    """Return the alerts about a series: those of its source, by name where the source holds several series."""
    sources = {due.ref.source for due in series.dues if due.ref}
    names = {
        one.name
        for one in facts[Probes].series
        if one.seen_by == "monitor" and any(due.ref and due.ref.source in sources for due in one.dues[:1])
    }
    return tuple(
        alert
        for alert in alerts
        if alert.state == "down"
        and alert.ref.source in sources
        and (len(names) == 1 or alert.monitor == series.name or alert.monitor not in names)
    )


def replayed(series: Series, rule: int, alerts: tuple[Alert, ...]) -> list[Replay]:
    """Apply a monitor's rule to its results; each run of failed checks is judged, and each alert that none of them explains."""
    grace, period = round((series.timeout_s or 0) * SECOND), round(series.period_s * SECOND)
    explained: set[int] = set()
    found: list[Replay] = []
    # A check that the monitor itself calls up ends a run, however slow its answer was.
    for run in series.runs("failed"):
        refs = tuple(due.ref for due in run if due.ref)
        if len(run) < rule:
            found.append(Replay(series.name, rule, len(run), None, None, "not_met", refs[:2]))
            continue
        met = run[rule - 1].at
        last = run[-1].at + grace + period
        came = next((alert for alert in alerts if met - SECOND <= alert.at <= last + period), None)
        if came is None:
            found.append(
                Replay(series.name, rule, len(run), met + grace, None, "absent", refs[rule - 1 : rule])
            )
            continue
        explained.add(came.at)
        verdict = "right" if came.at <= met + grace + max(period, SECOND) / 2 else "late"
        found.append(
            Replay(
                series.name, rule, len(run), met + grace, came.at, verdict, (*refs[rule - 1 : rule], came.ref)
            )
        )
    first = series.dues[0].at
    found += [
        Replay(series.name, rule, 0, None, alert.at, "false", (alert.ref,))
        for alert in alerts
        if alert.at not in explained and first + rule * period <= alert.at <= series.dues[-1].at + period
    ]
    return sorted(found, key=lambda one: (one.due or one.alerted or 0, one.verdict))


def left_off(series: Series) -> tuple[int, int, int, Ref, Ref] | None:
    """Return the span from the last result of a series to the last one of its source, where others went on without it."""
    if series.seen_by != "monitor" or series.until is None or not series.dues or series.dues[-1].ref is None:
        return None
    last, (until, other) = series.dues[-1], series.until
    missing = round((until - last.at) / SECOND / series.period_s)
    if missing < FROZEN_FROM or last.ref is None:
        return None
    return last.at, until, missing, last.ref, other


def gap(
    series: Series,
    item: tuple[int, int, int, Ref, Ref],
    evidence: Evidence,
    facts: Facts,
    kind: str = "blind",
) -> BlindGap:
    """Describe one gap, with the incidents in it; it begins when the first missing result was due."""
    last, end, missing, before, after = item
    start = min(last + round(series.period_s * SECOND), end)
    others = (
        evidence["seconds"].filter(pl.col("second").is_between(start // SECOND + 1, end // SECOND - 1)).height
        + evidence["samples"].filter(pl.col("ts").is_between(start + 1, end - 1)).height
    )
    inside, overlapping = [], []
    others_names = {one.name for one in facts[Probes].series if one.seen_by == "monitor"} - {series.name}
    for index, incident in enumerate(facts[Incidents].items):
        if set(incident.services) <= others_names:
            continue  # only other targets' results tell of it
        stop = incident.end or facts[Incidents].last or incident.start
        if start <= incident.start and stop <= end:
            inside.append(index)
        elif incident.start < end and stop > start:
            overlapping.append(index)
    return BlindGap(
        series.name,
        start,
        end,
        missing,
        others > 0 or kind != "blind",
        kind,
        tuple(inside),
        tuple(overlapping),
        (before, after),
    )


def distinct(gaps: list[BlindGap]) -> list[BlindGap]:
    """Tell a gap once although both the monitor's state and the service's log show it; the monitor's own comes first."""
    kept: list[BlindGap] = []
    for item in gaps:
        twin = next(
            (
                other
                for other in kept
                if other.kind == item.kind == "blind"
                and min(item.end, other.end) - max(item.start, other.start) > 0.8 * (item.end - item.start)
            ),
            None,
        )
        if twin is None:
            kept.append(item)
        else:
            kept[kept.index(twin)] = BlindGap(
                twin.monitor,
                twin.start,
                twin.end,
                twin.missing,
                twin.others_alive,
                twin.kind,
                twin.inside,
                twin.overlapping,
                twin.refs + item.refs,
            )
    return sorted(kept, key=lambda item: (item.start, item.monitor))


def detectability(facts: Facts) -> list[Detectability]:
    """Return the bounds of every series whose timeout and rule are known."""
    found: dict[str, Detectability] = {}
    for series in facts[Probes].series:
        if series.timeout_s and series.alert_after:
            below = (series.alert_after - 1) * series.period_s + series.timeout_s
            above = series.alert_after * series.period_s + series.timeout_s
            found.setdefault(
                f"{round(series.period_s)}/{series.timeout_s}",
                Detectability(
                    series.name,
                    series.period_s,
                    series.timeout_s,
                    series.alert_after,
                    round(below, 1),
                    round(above, 1),
                ),
            )
    return list(found.values())


PLUG = Analysis(
    name="watch",
    question="How well did the monitor watch?",
    gives=Watch,
    run=watch,
    needs=(Probes, Incidents),
)
