"""What each section claims: findings built from facts and judgements, every number with its place. One section, one module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forensics.findings import upkeep
from forensics.findings.lines_told import told
from forensics.findings.questions import greatest
from forensics.findings.sections.alert import alert
from forensics.findings.sections.clues import clues
from forensics.findings.sections.impact import impact
from forensics.findings.sections.mechanism import mechanism
from forensics.findings.sections.noise import noise
from forensics.findings.sections.recurrence import recurrence
from forensics.findings.sections.ruled_out import stands_for
from forensics.findings.sections.summary import summary
from forensics.findings.sections.times import times

if TYPE_CHECKING:
    from forensics.findings.signals import Signals
    from forensics.model.finding import Finding, Judgement, OpenQuestion


def all_findings(
    signals: Signals, judgements: tuple[Judgement, ...], asked: tuple[OpenQuestion, ...]
) -> tuple[Finding, ...]:
    """Return every finding in the order of sections; the summary names the greatest of the open questions."""
    verdicts = {judgement.id: judgement for judgement in judgements}
    links, lines = tuple(mechanism(signals, verdicts)), tuple(told(signals))
    makers = (
        summary(signals, verdicts, greatest(asked), (*lines, *links)),
        times(signals),
        impact(signals),
        links,
        lines,
        upkeep.findings(signals, "ruled_out"),
        stands_for(signals),
        alert(signals),
        recurrence(signals),
        noise(signals),
        clues(signals),
        upkeep.findings(signals, "not_determined"),
    )
    return tuple(finding for maker in makers for finding in maker)
