"""Weighing is monotone: over signs of any kind, and over evidence put together at random for each of the fifteen hypotheses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from findings_evidence import PIECES, draft_of, signals
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.findings.hypotheses import load
from forensics.findings.weighing import WEIGH, judge
from forensics.findings.weighing.scale import RANK, Bearing, Sign, weigh
from forensics.model.finding import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

IN_FAVOUR = (Bearing.HINT, Bearing.WITNESS, Bearing.DIRECT)
CONTRARY = (Bearing.DISPROOF, Bearing.EXPLANATION)
OPEN = Sign(Bearing.QUESTION, "x")

SUPPORT = {
    "app_pool_exhausted": ("pool text", "pool text once", "pool shown full"),
    "process_stalled": ("stall", "blocked loop", "backlog", "backlog after silence"),
    "db_slots_exhausted": ("refused by the server", "client told of refusals", "samples high"),
    "db_slow_or_locked": ("one lock wait", "many lock waits", "sessions wait", "many sessions wait"),
    "db_down": ("server told to stop", "server not accepting", "connections broken"),
    "redis_failed": (
        "Redis itself",
        "Redis refused",
        "Redis refused once",
        "Redis timeouts",
        "one Redis timeout",
    ),
    "gateway_failed": ("gateway errors",),
    "service_restarted": ("outage", "started"),
    "out_of_memory": ("killed for memory",),
    "host_rebooted": ("booted",),
    "host_frozen_or_clock_jump": ("clock set", "frozen processor"),
    "resource_exhausted": ("disk full", "disk full often"),
    "monitor_false_alarm": ("all targets failed",),
    "monitor_blind": ("blind gap",),
    "log_loss": ("lost lines", "numbers missing"),
}
"""What speaks for each hypothesis."""
AGAINST = {
    "app_pool_exhausted": ("log of the service",),
    "process_stalled": ("probes answered", "log of the service"),
    "db_slots_exhausted": ("samples low", "log of the server"),
    "db_slow_or_locked": ("log of the server", "log of the service"),
    "db_down": ("refused by the server", "samples low", "samples high", "log of the server"),
    "redis_failed": ("stall", "log of the service"),
    "gateway_failed": ("gateway alive", "stall", "pool text"),
    "service_restarted": ("same process", "log of the service"),
    "out_of_memory": ("kernel log",),
    "host_rebooted": ("one boot", "same process"),
    "host_frozen_or_clock_jump": ("samples low", "samples high"),
    "resource_exhausted": ("kernel log",),
    "monitor_false_alarm": ("alert", "checks answered"),
    "monitor_blind": ("checks answered",),
    "log_loss": ("journal", "log of the service"),
}
"""What speaks against each, or covers the window and shows nothing of it."""
QUIET = {
    "pool text", "pool text once", "stall", "probes failed", "client told of refusals", "connections broken", "Redis timeouts", "one Redis timeout",
    "Redis refused", "Redis refused once", "gateway errors", "outage", "alert",
}  # fmt: skip
"""Trouble that others than a monitor show, or its own alert: with it, failed checks of all targets speak no more for the monitor's side."""


def rank(name: str, pieces: Iterable[str]) -> int:
    """Return how much some evidence speaks for a hypothesis."""
    return RANK[judge(name, signals(draft_of(pieces))).verdict]


signs = st.lists(
    st.builds(Sign, st.sampled_from(Bearing), st.text("ab", max_size=2), outweighs=st.integers(0, 3))
)


@given(signs, st.sampled_from(IN_FAVOUR))
def test_a_sign_in_favour_never_lowers(found: list[Sign], bearing: Bearing) -> None:
    """Wherever it comes among the others."""
    before = RANK[weigh([*found, OPEN]).verdict]

    assert RANK[weigh([*found, Sign(bearing, "x"), OPEN]).verdict] >= before
    assert RANK[weigh([Sign(bearing, "x"), *found, OPEN]).verdict] >= before


@given(signs, st.sampled_from((*CONTRARY, Bearing.COVERAGE)), st.integers(0, 3))
def test_a_contrary_sign_or_coverage_never_raises(
    found: list[Sign], bearing: Bearing, outweighs: int
) -> None:
    """Neither does what it outweighs matter."""
    before = RANK[weigh([*found, OPEN]).verdict]

    assert RANK[weigh([*found, Sign(bearing, "x", outweighs=outweighs), OPEN]).verdict] <= before


@given(signs)
def test_without_coverage_nothing_is_denied_more_strongly(found: list[Sign]) -> None:
    """Taking coverage away, or a hole in it, lets a denial be weaker or stay."""
    before = RANK[weigh([*found, OPEN]).verdict]
    less = [sign for sign in found if sign.bearing is not Bearing.COVERAGE]

    assert RANK[weigh([*less, OPEN]).verdict] >= before
    assert RANK[weigh([*found, Sign(Bearing.HOLE, "x"), OPEN]).verdict] >= before


@given(signs)
def test_every_verdict_has_what_it_asks_for(found: list[Sign]) -> None:
    """Confirmed direct evidence, ruled out a disproof, no sign coverage or an explanation; the order of signs decides the reason alone."""
    has = {sign.bearing for sign in found}
    verdict = weigh([*found, OPEN]).verdict

    assert verdict is not Verdict.CONFIRMED or Bearing.DIRECT in has
    assert verdict is not Verdict.RULED_OUT or Bearing.DISPROOF in has
    assert verdict is not Verdict.NO_SIGN or has & {Bearing.COVERAGE, Bearing.EXPLANATION}
    assert weigh([*reversed(found), OPEN]).verdict is verdict


def test_without_any_sign_there_is_no_verdict() -> None:
    """A rule says at least why its hypothesis stays open."""
    with pytest.raises(ValueError, match="no sign"):
        weigh([])


def test_every_hypothesis_has_a_rule_and_pieces() -> None:
    """The fifteen of the file, no more and no fewer."""
    names = [hypothesis.id for hypothesis in load()]

    assert names == list(WEIGH) == list(SUPPORT) == list(AGAINST)
    assert {piece for each in (SUPPORT, AGAINST) for pieces in each.values() for piece in pieces} <= set(
        PIECES
    )


@pytest.mark.parametrize("name", SUPPORT)
def test_pieces_bear_on_their_hypothesis(name: str) -> None:
    """Each piece in favour alone makes the hypothesis suspected at least, all together the most of them."""
    alone = [rank(name, [piece]) for piece in SUPPORT[name]]

    assert min(alone) >= RANK[Verdict.SUSPECTED], dict(zip(SUPPORT[name], alone, strict=True))
    assert rank(name, SUPPORT[name]) >= max(alone)


@pytest.mark.parametrize("name", SUPPORT)
@settings(max_examples=25, deadline=None)
@given(st.data())
def test_evidence_for_never_weakens(name: str, data: st.DataObject) -> None:
    """Whatever else is there, a piece that supports a hypothesis does not lower its verdict."""
    others = sorted(set(PIECES) - (QUIET if name == "monitor_false_alarm" else set()))
    base = data.draw(st.sets(st.sampled_from(others)))
    piece = data.draw(st.sampled_from(SUPPORT[name]))

    assert rank(name, base | {piece}) >= rank(name, base - {piece})


@pytest.mark.parametrize("name", AGAINST)
@settings(max_examples=25, deadline=None)
@given(st.data())
def test_evidence_against_never_strengthens(name: str, data: st.DataObject) -> None:
    """Whatever else is there, contrary evidence or coverage does not raise a verdict; taking it away denies nothing more strongly."""
    base = data.draw(st.sets(st.sampled_from(sorted(PIECES))))
    piece = data.draw(st.sampled_from(AGAINST[name]))

    assert rank(name, base | {piece}) <= rank(name, base - {piece})


@settings(max_examples=50, deadline=None)
@given(st.sets(st.sampled_from(sorted(PIECES))))
def test_lost_lines_deny_no_stall(base: set[str]) -> None:
    """Where lines are declared lost, a silent log covers nothing."""
    assert rank("process_stalled", base | {"lost lines"}) >= rank("process_stalled", base - {"lost lines"})
