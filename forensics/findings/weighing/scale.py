"""The scale: signs for and against one hypothesis, and the one place where a verdict is made of them.

A rule only gathers signs. :func:`weigh` alone decides, so that what holds of it holds of every hypothesis: a further sign in
favour never lowers a verdict, a further contrary sign or more coverage never raises one, and without coverage nothing is denied
more strongly than with it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from forensics.model.finding import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from forensics.model.source import Ref

RANK = {
    verdict: rank
    for rank, verdict in enumerate(
        (
            Verdict.RULED_OUT,
            Verdict.NO_SIGN,
            Verdict.NOT_DETERMINED,
            Verdict.SUSPECTED,
            Verdict.SUPPORTED,
            Verdict.CONFIRMED,
        )
    )
}
"""Verdicts from the strongest denial to the strongest support."""


class Bearing(Enum):
    """What a sign does to a hypothesis."""

    DIRECT = "a line says it, or two independent witnesses do"
    WITNESS = "independent signs point to it"
    HINT = "one sign points to it"
    DISPROOF = "evidence against it that covers the window"
    EXPLANATION = "what points to it has another cause, or was as frequent before"
    COVERAGE = "a source that would show it covers the window and shows none"
    HOLE = "that coverage has a hole"
    QUESTION = "why it stays open where nothing else is known"


STRENGTH = {Bearing.HINT: 1, Bearing.WITNESS: 2, Bearing.DIRECT: 3}
POSITIVE = {1: Verdict.SUSPECTED, 2: Verdict.SUPPORTED, 3: Verdict.CONFIRMED}


MANY = 5
"""Failures or lines of one kind that are more than an accident."""


@dataclass(frozen=True, slots=True)
class Sign:
    """One piece of evidence about one hypothesis."""

    bearing: Bearing
    why: str
    """Statement that tells it, without its ``why.``."""
    values: dict[str, Any] = field(default_factory=dict)
    refs: tuple[Ref, ...] = ()
    outweighs: int = 1
    """Strength of support up to which a disproof or an explanation wins: 0 none, 1 a hint, 2 witnesses, 3 even direct evidence."""


@dataclass(frozen=True, slots=True)
class Weight:
    """A verdict with its reason."""

    verdict: Verdict
    why: str
    values: dict[str, Any] = field(default_factory=dict)
    supports: tuple[Ref, ...] = ()
    contradicts: tuple[Ref, ...] = ()


def weigh(signs: Iterable[Sign]) -> Weight:
    """Make a verdict of all signs about a hypothesis, with the reason of the sign that decided; of equal ones the first tells it.

    Raises ValueError where there is no sign at all: a rule says at least why its hypothesis stays open.
    """
    by: dict[Bearing, list[Sign]] = {}
    for sign in signs:
        by.setdefault(sign.bearing, []).append(sign)
    strongest = max(
        (bearing for bearing in by if bearing in STRENGTH), key=STRENGTH.__getitem__, default=None
    )
    against = [*by.get(Bearing.DISPROOF, ()), *by.get(Bearing.EXPLANATION, ())]
    strength = STRENGTH[strongest] if strongest else 0
    if strongest and all(sign.outweighs < strength for sign in against):
        first = by[strongest][0]
        return Weight(POSITIVE[strength], first.why, first.values, supports=first.refs)
    if against:
        verdict = Verdict.RULED_OUT if Bearing.DISPROOF in by else Verdict.NO_SIGN
        return denied(verdict, against[0])
    if Bearing.COVERAGE in by and Bearing.HOLE not in by:
        return denied(Verdict.NO_SIGN, by[Bearing.COVERAGE][0])
    for bearing in (Bearing.HOLE, Bearing.QUESTION):
        if bearing in by:
            return denied(Verdict.NOT_DETERMINED, by[bearing][0])
    raise ValueError("a rule gave no sign")


def denied(verdict: Verdict, sign: Sign) -> Weight:
    """Return a verdict that is not in favour."""
    return Weight(verdict, sign.why, sign.values, contradicts=sign.refs)


def direct(why: str, values: dict[str, Any], refs: tuple[Ref, ...]) -> Sign:
    """Return direct evidence."""
    return Sign(Bearing.DIRECT, why, values, refs)


def witness(why: str, values: dict[str, Any], refs: tuple[Ref, ...]) -> Sign:
    """Return what independent signs say together."""
    return Sign(Bearing.WITNESS, why, values, refs)


def hint(why: str, values: dict[str, Any], refs: tuple[Ref, ...]) -> Sign:
    """Return a single sign."""
    return Sign(Bearing.HINT, why, values, refs)


def disproof(why: str, values: dict[str, Any], refs: tuple[Ref, ...], *, outweighs: int = 1) -> Sign:
    """Return evidence against a hypothesis that covers the window."""
    return Sign(Bearing.DISPROOF, why, values, refs, outweighs)


def explained(why: str, values: dict[str, Any], refs: tuple[Ref, ...], *, outweighs: int = 1) -> Sign:
    """Return what takes its weight from signs in favour."""
    return Sign(Bearing.EXPLANATION, why, values, refs, outweighs)


def covered(why: str, values: dict[str, Any], refs: tuple[Ref, ...]) -> Sign:
    """Return coverage that would show it."""
    return Sign(Bearing.COVERAGE, why, values, refs)


def hole(why: str, values: dict[str, Any] | None = None) -> Sign:
    """Return a hole that takes coverage away."""
    return Sign(Bearing.HOLE, why, values or {})


def question(why: str, values: dict[str, Any] | None = None, refs: tuple[Ref, ...] = ()) -> Sign:
    """Return why it stays open."""
    return Sign(Bearing.QUESTION, why, values or {}, refs)
