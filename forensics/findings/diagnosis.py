"""Diagnosis: judgements, findings, open questions, actions and the timeline of one run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forensics.findings import capacity, lock_waits, role_limits
from forensics.findings.contradictions import contradictions
from forensics.findings.hypotheses import load
from forensics.findings.primary import called, main_pool
from forensics.findings.questions import questions
from forensics.findings.sections import all_findings
from forensics.findings.signals import Signals
from forensics.findings.timeline import timeline
from forensics.findings.weighing import judge_all
from forensics.model.facts import Rhythms, Stalls, Watch
from forensics.model.finding import POSITIVE, Action, Diagnosis, Judgement, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.model.digest import Evidence
    from forensics.model.facts import Facts
    from forensics.model.known import Known


def diagnose(evidence: Evidence, known: Known, facts: Facts) -> Diagnosis:
    """Conclude everything that these inputs allow."""
    signals = Signals(evidence, known, facts)
    judgements = judge_all(signals)
    asked = questions(signals, judgements)
    findings = all_findings(signals, judgements, asked)
    return Diagnosis(
        findings,
        judgements,
        asked,
        tuple(actions(signals, judgements)),
        timeline(signals),
        contradictions(judgements, findings),
    )


def actions(signals: Signals, judgements: tuple[Judgement, ...]) -> Iterator[Action]:
    """Suggest what to do, by value; each answers findings."""
    verdict = {judgement.id: judgement.verdict for judgement in judgements}
    unit = {"service": signals.unit}
    if signals.facts[Stalls].items and verdict["app_pool_exhausted"] in POSITIVE:
        yield Action("act.sync_checkout", unit, ("mechanism.stall", "mechanism.serial", "mechanism.pool"), 1)
    if verdict["app_pool_exhausted"] in POSITIVE:
        yield from shares(signals, verdict["db_slots_exhausted"])
        pool = main_pool(signals)
        whose = {"service": called(signals, pool)["name"]} if pool else unit
        yield Action("act.pool_metrics", whose, ("mechanism.pool", "mechanism.gauge"), 2)
        if not any(group.holder for group in lock_waits.told(signals)):
            yield Action("act.lock_logging", {}, ("mechanism.pool",), 3)
    yield from limits(signals, verdict["db_slots_exhausted"])
    for one in load():
        for step in one.next_steps if verdict[one.id] in POSITIVE else ():
            if step.unless is None or verdict[step.unless] not in POSITIVE:
                yield Action(step.key, unit, step.answers, step.value)
    yield from of_monitors(signals)
    limited = next((lost for lost in signals.losses if lost.limited), None)
    # A larger limit fills a full disk faster.
    if limited is not None and not signals.hits("os.no-space").height:
        yield Action("act.rate_limit", {"service": limited.service}, ("mechanism.loss",), 3)


def of_monitors(signals: Signals) -> Iterator[Action]:
    """Suggest what to change of what watches, and of the certificate that it sees."""
    if signals.failed_checks["tls"]:
        yield Action("act.certificate", {}, ("mechanism.probes",), 1)
    if signals.facts[Watch].gaps:
        yield Action("act.dead_man", {}, ("alert.blind",), 2)
    if signals.facts[Watch].detectability:
        yield Action("act.probe_rule", {}, ("alert.detectability",), 4)


def limits(signals: Signals, slots: Verdict) -> Iterator[Action]:
    """Suggest what to set against the limit that was reached: the server's, or that of a role or a database."""
    if slots in POSITIVE:
        rows = capacity.refusals(signals)
        said = {
            "n": rows.height,
            "least": capacity.fewer_told(signals, rows),
            "both": bool(capacity.both_limits(signals)),
        }
        yield Action(
            "act.budget",
            said,
            ("mechanism.refused", "mechanism.sides", "why.slots.refused", "why.slots.client"),
            1,
        )
    limited = role_limits.refusals(signals)
    if limited.height:
        yield Action("act.role_limit", role_limits.values_of(signals, limited), ("mechanism.limited",), 1)


def shares(signals: Signals, slots: Verdict) -> Iterator[Action]:
    """Suggest pools of their own for pages and jobs where the server has room and failures come at the beat of a job, or two requests are too many."""
    pool, gauge = main_pool(signals), signals.gauge
    if pool is None or slots is not Verdict.RULED_OUT or gauge is None or not gauge.limit:
        return
    beats = [
        beat
        for beat in signals.facts[Rhythms].beats
        if beat.service == pool.service and beat.width_s is not None
    ]
    asked = capacity.fan_out_values(signals, pool)
    if beats or asked:
        peak = gauge.incident_peak[1] if gauge.incident_peak else gauge.peak
        said = {
            "service": pool.service,
            "asked": asked,
            "beat": next(iter(beats), None),
            "peak": peak,
            "limit": gauge.limit,
            "free": gauge.limit - peak,
        }
        yield Action(
            "act.shares",
            said,
            ("mechanism.fan_out", "mechanism.rhythm", "mechanism.pool", "mechanism.gauge"),
            1,
        )
