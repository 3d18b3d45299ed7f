"""Diagnosis: judgements, findings, open questions, actions and the timeline of one run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forensics.findings import capacity
from forensics.findings.needs import refused_needs
from forensics.findings.primary import called, main_pool
from forensics.findings.sections import all_findings
from forensics.findings.signals import Signals
from forensics.findings.timeline import timeline
from forensics.findings.weighing import judge_all
from forensics.model.facts import Losses, Rhythms, Stalls, Watch
from forensics.model.finding import Action, Diagnosis, Judgement, OpenQuestion, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.model.digest import Evidence
    from forensics.model.facts import Facts
    from forensics.model.known import Known

POSITIVE = (Verdict.CONFIRMED, Verdict.SUPPORTED)
EXCLUDES = (("service_restarted", "host_rebooted"),)
DATABASES = ("postgres", "mysql", "mariadb")
INPUT_OF = {
    "db_slow_or_locked": DATABASES, "db_slots_exhausted": DATABASES, "db_down": DATABASES, "redis_failed": ("redis",),
    "gateway_failed": ("nest", "pino", "nginx_access"),
}  # fmt: skip
"""Message formats that would answer a hypothesis: there but silent means that they do not cover the question."""


def diagnose(evidence: Evidence, known: Known, facts: Facts) -> Diagnosis:
    """Conclude everything that these inputs allow."""
    signals = Signals(evidence, known, facts)
    judgements = judge_all(signals)
    findings = all_findings(signals, judgements)
    return Diagnosis(
        findings,
        judgements,
        tuple(questions(signals, judgements)),
        tuple(actions(signals, judgements)),
        timeline(signals),
        tuple(contradictions(judgements)),
    )


def questions(signals: Signals, judgements: tuple[Judgement, ...]) -> Iterator[OpenQuestion]:
    """Ask what is not determined, the question that matters most first."""
    by_id = {judgement.id: judgement for judgement in judgements}
    if (
        by_id["app_pool_exhausted"].verdict in POSITIVE
        and by_id["db_slow_or_locked"].verdict is not Verdict.CONFIRMED
    ):
        yield OpenQuestion(
            "open.holder",
            {"service": signals.unit},
            reason_of(signals, "db_slow_or_locked"),
            refused_needs(signals, "db_slow_or_locked"),
            None,
        )
    for judgement in judgements:
        if judgement.verdict is Verdict.NOT_DETERMINED and judgement.needs:
            yield OpenQuestion(
                "open.hypothesis",
                {"title": judgement.title},
                reason_of(signals, judgement.id),
                judgement.needs,
                judgement.id,
            )
    for source in signals.evidence.sources:
        if source.skipped:
            yield OpenQuestion(
                "open.source", {"name": source.name, "why": source.skipped}, "unreadable", (), None
            )


def reason_of(signals: Signals, hypothesis: str) -> str:
    """Tell an input that is not there from one that was given and not read, and one that does not cover the question."""
    formats = INPUT_OF.get(hypothesis, ())
    if any(
        source.skipped and any(word.partition("_")[0] in source.name.lower() for word in formats)
        for source in signals.evidence.sources
    ):
        return "unreadable"
    return "does not cover" if formats and signals.services_in(*formats) else "not given"


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
        yield Action("act.lock_logging", {}, ("mechanism.pool",), 3)
    if verdict["db_slots_exhausted"] in POSITIVE:
        said = {"n": capacity.refusals(signals).height, "both": bool(capacity.both_limits(signals))}
        yield Action(
            "act.budget",
            said,
            ("mechanism.refused", "mechanism.sides", "why.slots.refused", "why.slots.client"),
            1,
        )
    if verdict["redis_failed"] in POSITIVE:
        yield Action("act.redis", unit, ("why.redis.clients", "why.redis.server"), 1)
    if verdict["service_restarted"] in POSITIVE:
        yield Action("act.restart", unit, ("why.restart.deploy", "why.restart.crash"), 2)
    if signals.facts[Watch].gaps:
        yield Action("act.dead_man", {}, ("alert.blind",), 2)
    if signals.facts[Watch].detectability:
        yield Action("act.probe_rule", {}, ("alert.detectability",), 4)
    if signals.facts[Losses].items:
        yield Action(
            "act.rate_limit", {"service": signals.facts[Losses].items[0].service}, ("mechanism.loss",), 3
        )


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


def contradictions(judgements: tuple[Judgement, ...]) -> Iterator[str]:
    """Name verdicts that cannot both hold; a server that says itself that it ends may have refused before."""
    by_id = {judgement.id: judgement.verdict for judgement in judgements}
    ended = any(judgement.why == "db_down.lifecycle" for judgement in judgements)
    if by_id["host_rebooted"] in POSITIVE and by_id["service_restarted"] is Verdict.RULED_OUT:
        yield "host_rebooted is supported while service_restarted is ruled out"
    if by_id["db_down"] in POSITIVE and by_id["db_slots_exhausted"] is Verdict.CONFIRMED and not ended:
        yield "db_down is supported while the server itself refused connections"
