"""Hypotheses about those who watch: the monitor's alerts and gaps, and the logs themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import polars as pl

from forensics.findings.alarms import alarms
from forensics.findings.signals import MINUTE, SECOND
from forensics.findings.weighing.scale import Sign, covered, direct, disproof, hint, hole, question, witness
from forensics.model.facts import Continuity, Coverage, Failures, Watch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.findings.signals import Signals
    from forensics.model.facts import Due, Series

TARGETS = 3
"""Targets on hosts of their own that must fail together to tell of the monitor's side."""
MANY = 5
"""Results that are missing one after another from which a gap is sure."""
AROUND_S = 600
"""Seconds around a monitor's own failures in which others are asked whether they were served."""


def monitor_false_alarm(signals: Signals) -> Iterator[Sign]:
    """An alert inside an incident that other sources show was right."""
    yield from own_failures(signals)
    yield from targets_together(signals)
    yield from alerts_weighed(signals)
    yield from checks_borne_out(signals)
    if watched := monitors(signals):
        refs = tuple(due.ref for due in (watched[0].dues[0], watched[0].dues[-1]) if due.ref)
        yield covered("alarm.none", {"series": watched[0].name}, refs)
    yield question("alarm.unknown")


def monitors(signals: Signals) -> list[Series]:
    """Return the series of a monitor's own results that reach into the window."""
    return [series for series in signals.watchers() if series.seen_by == "monitor"]


def alerts_weighed(signals: Signals) -> Iterator[Sign]:
    """Each alert at its own time: one that others bear out was right; one while users were served as always was false; one without any incident stands alone."""
    alerts = [alert for alert in signals.facts[Watch].alerts if alert.state == "down"]
    judged = alarms(signals)
    false = [one for one in judged if one.verdict == "false"]
    right = next((one for one in judged if one.primary and one.alerted and one.verdict != "false"), None)
    if false:
        said = {"alarm": false[0], "n": len(false), "right": right.at if right else None}
        yield witness("alarm.false", said, false[0].refs)
    elif right:
        yield disproof("alarm.right", {"at": right.at}, right.refs[:1], outweighs=3)
    if alerts and not signals.spans:
        yield hint("alarm.alone", {"n": len(alerts)}, tuple(alert.ref for alert in alerts)[:3])


def own_failures(signals: Signals) -> Iterator[Sign]:
    """Failures of the monitor itself, where nothing else shows trouble."""
    own = [group for group in signals.facts[Failures].groups if group.side == "monitor"]
    if not own or signals.spans:
        return
    worst = max(own, key=lambda group: group.failures)
    served = served_between(signals, worst.first // SECOND - AROUND_S, worst.last // SECOND + AROUND_S)
    said = {"service": worst.service, "n": worst.failures}
    if served:
        yield witness("alarm.own_served", said | {"served": served}, worst.refs[:4])
    else:
        yield hint("alarm.own", said, worst.refs[:4])


def targets_together(signals: Signals) -> Iterator[Sign]:
    """All targets of a monitor that began to fail together, while others were served."""
    together = all_at_once(signals)
    if not together or signals.told_by_others:
        return
    lo, hi = min(due.at for due in together), max(due.at for due in together)
    served = served_between(signals, lo // SECOND, hi // SECOND + 1)
    said = {"n": len({series.name for series in monitors(signals)}), "at": lo, "served": served}
    refs = tuple(due.ref for due in together if due.ref)[:4]
    yield witness("alarm.all_served", said, refs) if served else hint("alarm.all", said, refs)


def checks_borne_out(signals: Signals) -> Iterator[Sign]:
    """Failed checks inside trouble that others show were right; without others it stays open."""
    failed = [due for series in monitors(signals) for due in series.at("failed")]
    if not failed or not signals.spans:
        return
    if not signals.told_by_others:
        yield hole("alarm.only", {"n": len(failed)})
    elif any(lo <= due.at <= hi for due in failed for lo, hi in signals.spans):
        refs = tuple(due.ref for due in failed if due.ref)[:3]
        yield disproof("alarm.failures_right", {"n": len(failed)}, refs)


def served_between(signals: Signals, lo: int, hi: int) -> int:
    """Count the requests that any service served between two seconds."""
    during = pl.col("second").is_between(lo, hi)
    return int(signals.evidence["seconds"].filter((pl.col("kind") == "request") & during)["n"].sum())


def all_at_once(signals: Signals) -> list[Due]:
    """Return the first failed check of every target of one monitor, where all began to fail together: it is on the monitor's side, or all of them are.

    Targets behind one gateway fail together too; so few of them say nothing.
    """
    watched = monitors(signals)
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


def monitor_blind(signals: Signals) -> Iterator[Sign]:
    """Gaps in the monitor's own beat, and whether incidents fell into them."""
    gaps = signals.facts[Watch].gaps
    if gaps:
        longest = max(gaps, key=lambda gap: gap.end - gap.start)
        missed = sum(len(gap.inside) + len(gap.overlapping) for gap in gaps)
        sure = longest.others_alive and (missed > 0 or longest.missing >= MANY)
        said = {"gap": longest, "n": len(gaps), "missed": missed}
        yield (direct if sure else witness)("blind.gap", said, longest.refs)
    if watched := signals.watchers():
        yield kept_watch(signals, max(watched, key=lambda one: (one.seen_by == "monitor", len(one.dues))))
    yield question("blind.unknown")


def kept_watch(signals: Signals, series: Series) -> Sign:
    """A series that kept its beat through the window; one that ends before, or may have lost lines, leaves it open."""
    last = series.dues[-1].at
    if last < signals.window[1] - 2 * series.period_s * SECOND:
        return hole("blind.ends", {"series": series.name, "at": last})
    if series.seen_by == "service" and (unsure := series.at("blind")):
        return hole("blind.lost", {"series": series.name, "n": len(unsure)})
    refs = tuple(due.ref for due in (series.dues[0], series.dues[-1]) if due.ref)
    if not refs:
        return question("blind.unknown")
    said = {
        "series": series.name,
        "n": len(series.dues),
        "period": series.period_s,
        "runs": len(series.long_runs),
    }
    return disproof("blind.none", said, refs)


def log_loss(signals: Signals) -> Iterator[Sign]:
    """What sources declare as lost; a text export without such a line can't tell."""
    if signals.losses:
        said = {"lost": signals.losses[0], "others": len(signals.losses) - 1}
        yield direct("loss.declared", said, tuple(ref for lost in signals.losses for ref in lost.refs)[:4])
    lo, hi = signals.window
    holes = [one for one in signals.facts[Continuity].holes if one.start <= hi and one.end >= lo]
    if holes:
        yield hint("loss.hole", {"hole": holes[0]}, tuple(ref for one in holes for ref in one.refs)[:4])
    journald = any(
        source.transport and source.transport.startswith("journal") and source.records
        for source in signals.evidence.sources
    )
    cover = signals.facts[Coverage].of(signals.unit)
    if journald and cover:
        yield covered("loss.none", {"service": signals.unit}, (cover.first_ref, cover.last_ref))
    yield question("loss.unknown")
