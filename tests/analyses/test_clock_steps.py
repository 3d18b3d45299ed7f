"""A clock that a time service sets forward leaves a gap in which no time passed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from small_logs import Line, journal, probes, served, us

from forensics.model.facts import Continuity, Incidents, Probes, Stalls
from forensics.model.finding import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from forensics.model.case import Case

JUMP = 95.301843
CHRONYD = f"System clock was stepped by {JUMP} seconds"
NTPD = f"time reset +{JUMP} s"


def lines() -> list[Line]:
    """Return requests and probes, all of them later by the jump from second 600 on."""
    steady = [*served(0, 1200, step=0.7), *probes(range(5, 1200, 30))]
    return [(second + JUMP if second > 600 else second, text) for second, text in steady]


def stepped(text: str) -> str:
    """Return the line of a time service at the step, as syslog writes it."""
    at = int(600 + JUMP)
    return f"2026-11-29T12:{at // 60:02d}:{at % 60:02d}+00:00 web-1 {text}\n"


@pytest.mark.parametrize(
    "text",
    [f"chronyd[655]: {CHRONYD}", f"ntpd[655]: {NTPD}", f"ntpd[655]: 0.0.0.0 c61c 0c clock_step +{JUMP} s"],
)
def test_a_gap_that_a_stated_step_explains_is_no_stall_and_no_missed_probe(
    think: Callable[..., Case], text: str
) -> None:
    """Neither a stall nor an incident nor a missed probe is made of time that did not pass."""
    case = think(**{"api.json": journal(lines()), "syslog": stepped(text)})
    assert [round(step.jump_s, 1) for step in case.facts[Continuity].steps] == [95.3]
    assert not case.facts[Stalls].items
    assert not case.facts[Incidents].items
    assert [len(series.at("answered")) for series in case.facts[Probes].series] == [40]
    assert not [due for series in case.facts[Probes].series for due in series.at("missed", "blind", "late")]


def test_the_line_that_states_a_step_confirms_it_and_is_told(think: Callable[..., Case]) -> None:
    """Summary, mechanism and timeline tell the step; the verdict rests on the line."""
    case = think(**{"api.json": journal(lines()), "syslog": stepped(f"chronyd[655]: {CHRONYD}")})
    verdicts = {one.id: one.verdict for one in case.diagnosis.judgements}
    assert verdicts["host_frozen_or_clock_jump"] is Verdict.CONFIRMED
    told = {(one.section, one.key) for one in case.diagnosis.findings}
    assert {("summary", "why.host.step"), ("mechanism", "why.host.step")} <= told
    assert [row.key for row in case.diagnosis.timeline if row.kind == "clock"] == ["row.clock"]


def test_a_gap_longer_than_the_step_is_a_stall_still(think: Callable[..., Case]) -> None:
    """What the step does not explain of a gap stays: 60 s without a line and two probes."""
    late = [(second + 60 if second > 600 + JUMP else second, text) for second, text in lines()]
    case = think(**{"api.json": journal(late), "syslog": stepped(f"chronyd[655]: {CHRONYD}")})
    dues = [due for series in case.facts[Probes].series for due in series.at("missed")]
    assert len(dues) == 2
    assert all(due.at > us(600 + JUMP) for due in dues)
    assert [item.start_ref is not None for item in case.facts[Incidents].items] == [True]
