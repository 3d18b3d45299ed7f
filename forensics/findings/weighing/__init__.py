"""Weighing: from signals to a verdict on each hypothesis.

Each rule gathers the signs for and against its hypothesis and knows nothing of verdicts; the scale makes one of them
(:func:`forensics.findings.weighing.scale.weigh`). Confirmed needs direct evidence, or two independent witnesses; ruled out needs
disconfirming evidence and coverage; no sign needs coverage; else the verdict is not determined, with the input that would tell.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from forensics.findings.hypotheses import load
from forensics.findings.needs import needs_of
from forensics.findings.weighing.application import app_pool_exhausted, process_stalled
from forensics.findings.weighing.database import db_down, db_slots_exhausted, db_slow_or_locked
from forensics.findings.weighing.machine import (
    host_frozen_or_clock_jump,
    host_rebooted,
    out_of_memory,
    resource_exhausted,
    service_restarted,
)
from forensics.findings.weighing.neighbours import gateway_failed, redis_failed
from forensics.findings.weighing.scale import Bearing, Sign, Weight, weigh
from forensics.findings.weighing.watching import log_loss, monitor_blind, monitor_false_alarm
from forensics.model.finding import Judgement, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from forensics.findings.hypotheses import Hypothesis
    from forensics.findings.signals import Signals

WEIGH: dict[str, Callable[[Signals], Iterator[Sign]]] = {
    rule.__name__: rule
    for rule in (
        app_pool_exhausted, process_stalled, db_slots_exhausted, db_slow_or_locked, db_down, redis_failed, gateway_failed, service_restarted, out_of_memory,
        host_rebooted, host_frozen_or_clock_jump, resource_exhausted, monitor_false_alarm, monitor_blind, log_loss,
    )
}  # fmt: skip
"""One rule for each hypothesis; the function's name is the hypothesis' id."""


def judge_all(signals: Signals) -> tuple[Judgement, ...]:
    """Return all fifteen judgements, in their fixed order."""
    return tuple(judgement_of(signals, hypothesis, judge(hypothesis.id, signals)) for hypothesis in load())


def judgement_of(signals: Signals, hypothesis: Hypothesis, weight: Weight) -> Judgement:
    """Return a row of the differential diagnosis, with what would tell where its verdict is open."""
    is_open = weight.verdict in (Verdict.NOT_DETERMINED, Verdict.SUSPECTED)
    return Judgement(
        hypothesis.id,
        hypothesis.title,
        weight.verdict,
        weight.why,
        weight.values,
        weight.supports,
        weight.contradicts,
        hypothesis.scope,
        needs_of(signals, hypothesis.wanted) if is_open else (),
    )


def judge(name: str, signals: Signals) -> Weight:
    """Weigh one hypothesis; KeyError for an unknown one."""
    return weigh(at_most_witnessed(sign, signals) for sign in WEIGH[name](signals))


def at_most_witnessed(sign: Sign, signals: Signals) -> Sign:
    """Take its directness from a sign that rests on texts known from documents only: a program may print them otherwise, or others may."""
    if sign.bearing is Bearing.DIRECT and signals.unproven(sign.refs):
        return replace(sign, bearing=Bearing.WITNESS)
    return sign
