"""What the monitors saw, said and could have seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forensics.findings.alarms import alarms
from forensics.findings.hypotheses import Wanted
from forensics.findings.needs import needs_of
from forensics.findings.primary import edge_refs
from forensics.findings.signals import MINUTE, SECOND
from forensics.model.facts import Probes, Watch
from forensics.model.finding import Finding, Grade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.findings.alarms import Alarm
    from forensics.findings.signals import Signals
    from forensics.model.facts import Detectability, Series

SETTINGS = Wanted("the monitor's timeout and rule", fetch="monitor")
"""What tells the shortest freeze that a monitor must see."""
TIMES = "\N{MULTIPLICATION SIGN}"
ALARMS = 4
"""Alerts beside that of the incident that are told one by one."""
GREEN = 2
"""Answered checks inside an incident from which one is said not to see it."""


def alert(signals: Signals) -> Iterator[Finding]:
    """Replay the monitor's record: was the alert right, late or absent, and could it have seen this at all?"""
    judged = alarms(signals)
    false = any(one.primary and one.verdict == "false" for one in judged)
    if signals.primary is None:
        yield from quiet_series(signals)
    elif not false:
        yield from raised(signals)
    yield from each_alarm(judged)
    for series in signals.facts[Probes].series:
        yield from late_answer(series)
        yield from long_run(series)
    yield from replays(signals)
    yield from green(signals)
    for gap in signals.facts[Watch].gaps:
        yield Finding(f"alert.{gap.kind}", "alert", Grade.VERIFIED, {"gap": gap}, gap.refs[:2])
    yield from detectable(signals)


def each_alarm(judged: tuple[Alarm, ...]) -> Iterator[Finding]:
    """Tell what became of the other alerts, and of those that were false, each at its own time."""
    told = [one for one in judged if one.verdict == "false"]
    told += [one for one in judged if one.verdict != "false" and one.alerted and not one.primary]
    for one in told[:ALARMS]:
        if one.verdict == "false":
            yield Finding(
                "alert.false", "alert", Grade.INFERRED, {"at": one.at, "alarm": one}, one.refs, method="failed checks against the requests of users in the same minutes",
                alternatives=("the way from the monitor to the service failed, which its users do not take",),
            )  # fmt: skip
        else:
            yield Finding("alert.other", "alert", Grade.DERIVED, {"at": one.at, "alarm": one}, one.refs[:2])
    if len(told) > ALARMS:
        n = len(told) - ALARMS
        yield Finding("alert.further", "alert", Grade.DERIVED, {"n": n}, told[ALARMS].refs[:1])


def raised(signals: Signals) -> Iterator[Finding]:
    """Tell whether the monitor raised an alert on the incident, and how long after its start."""
    incident, watch = signals.primary, signals.facts[Watch]
    if incident is None:
        return
    downs = [item for item in watch.alerts if item.state == "down"]
    series = signals.facts[Probes].series
    if incident.detected_at and downs:
        near = [item for item in downs if item.at == incident.detected_at]
        replay = next((one for one in watch.replays if one.alerted == incident.detected_at and one.due), None)
        values = {
            "at": incident.detected_at,
            "delay": round((incident.detected_at - incident.start) / SECOND, 1),
            "incident": incident,
            "replay": replay,
        }
        refs = (*(item.ref for item in near), *edge_refs(incident))
        yield Finding("alert.right", "alert", Grade.DERIVED, values, refs)
    elif series:
        refs = tuple(due.ref for due in series[0].dues[:1] if due.ref)
        values = {"n": len(watch.alerts)}
        yield Finding("alert.absent", "alert", Grade.NO_SIGN, values, refs, scope="the monitor state given")


def quiet_series(signals: Signals) -> Iterator[Finding]:
    """Count the results of each check where there was no incident."""
    for series in signals.facts[Probes].series[:2]:
        unseen = len(series.at("blind"))
        own = sum(missing for _, _, missing, _, _ in series.gaps) if series.seen_by == "monitor" else 0
        values = {
            "series": series,
            "n": len(series.dues) - unseen,
            "bad": len(series.at("missed", "failed", "late")),
            "missing": unseen + own,
        }
        refs = tuple(due.ref for due in (series.dues[0], series.dues[-1]) if due.ref)
        yield Finding("alert.quiet", "alert", Grade.VERIFIED, values, refs)


def late_answer(series: Series) -> Iterator[Finding]:
    """Tell of the probe that the service answered latest, with the rival readings of that answer."""
    late = series.at("late")
    if not late or series.seen_by != "service":
        return
    worst = max(late, key=lambda due: (due.answered or due.at) - due.at)
    refs = tuple(due.ref for due in series.at("missed", "failed", "late") if due.ref)
    values = {
        "series": series,
        "due": worst,
        "delay": ((worst.answered or worst.at) - worst.at) / SECOND,
        "rivals": [((worst.answered or 0) - rival) / SECOND for rival in worst.rivals],
    }
    yield Finding("alert.late", "alert", Grade.INFERRED, values, refs[:3])


def long_run(series: Series) -> Iterator[Finding]:
    """Tell of runs of a check that took longer than its beat: late, not dead."""
    if series.long_runs:
        longest = max(series.long_runs, key=lambda run: run.gap_s)
        values = {"series": series, "n": len(series.long_runs), "run": longest}
        refs = tuple(run.ref for run in series.long_runs)
        yield Finding("alert.long_run", "alert", Grade.DERIVED, values, refs[:3])


def detectable(signals: Signals) -> Iterator[Finding]:
    """Tell the shortest freeze that each monitor can see and the shortest that it must see."""
    for item in signals.facts[Watch].detectability:
        refs = tuple(
            due.ref
            for series in signals.facts[Probes].series
            if series.name == item.monitor
            for due in series.dues[:2]
            if due.ref
        )
        yield Finding("alert.detectability", "alert", Grade.DERIVED, {"item": item}, refs, formula=rule(item))
    yield from undetermined(signals)


def undetermined(signals: Signals) -> Iterator[Finding]:
    """Tell what is known of a monitor whose timeout or rule is not, and what would tell the rest.

    Of several targets with one beat the first speaks for all; what a service saw of probes speaks only where no monitor's results do.
    """
    known = {round(item.period_s) for item in signals.facts[Watch].detectability}
    every = signals.facts[Probes].series
    monitors = [series for series in every if series.seen_by == "monitor"]
    for series in monitors or [series for series in every if series.checks][:1]:
        refs = tuple(due.ref for due in series.dues[:2] if due.ref)
        if round(series.period_s) in known or (series.timeout_s and series.alert_after) or not refs:
            continue
        known.add(round(series.period_s))
        # An unknown rule takes one failure or more, an unknown timeout is longer than nothing.
        below = round(((series.alert_after or 1) - 1) * series.period_s + (series.timeout_s or 0), 1)
        values = {"series": series, "below": below or None}
        if below:
            yield Finding("alert.undetermined", "alert", Grade.DERIVED, values, refs)
        else:
            needs = needs_of(signals, [SETTINGS])
            yield Finding("alert.undetermined", "alert", Grade.NOT_DETERMINED, values, refs, needs=needs)


def rule(item: Detectability) -> str:
    """Show how the shortest freezes follow from period, timeout and the failures in a row that alert."""
    period, timeout, times = f"{round(item.period_s, 1):g} s", f"{item.timeout_s:g} s", item.alert_after
    return (
        f"{times - 1} {TIMES} {period} + {timeout} = {item.never_below_s:g} s; "
        f"{times} {TIMES} {period} + {timeout} = {item.always_above_s:g} s"
    )


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


def each_once(signals: Signals) -> Iterator[Series]:
    """Yield each check once: a proxy and the service behind it log the same client's requests, and the service's log decides."""
    told: set[tuple[Any, ...]] = set()
    for series in sorted(signals.watchers(), key=lambda one: one.service != signals.unit):
        key = (series.asks, series.client, round(series.period_s))
        if series.asks is None or key not in told:
            told.add(key)
            yield series


def green(signals: Signals) -> Iterator[Finding]:
    """Name checks that were answered all through an incident in which failures or other checks show trouble."""
    if signals.primary is None or not signals.told_by_others:
        return
    lo, hi = signals.window
    for series in each_once(signals):
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
