"""What the report claims: findings with their grade and the places they rest on.

A finding names a statement and its values; the words are found by the telling wing, so that every language says the
same thing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forensics.model.source import Ref


class Grade(StrEnum):
    """How sure a claim is, best first."""

    VERIFIED = "verified"
    DERIVED = "derived"
    INFERRED = "inferred"
    CLUE = "clue"
    NO_SIGN = "no_sign"
    RULED_OUT = "ruled_out"
    NOT_DETERMINED = "not_determined"


class Verdict(StrEnum):
    """What became of a hypothesis."""

    CONFIRMED = "confirmed"
    SUPPORTED = "supported"
    SUSPECTED = "suspected"
    NO_SIGN = "no_sign"
    RULED_OUT = "ruled_out"
    NOT_DETERMINED = "not_determined"


POSITIVE = (Verdict.CONFIRMED, Verdict.SUPPORTED)
"""Verdicts that find a hypothesis."""
GRADE_OF = {
    Verdict.CONFIRMED: Grade.DERIVED,
    Verdict.SUPPORTED: Grade.INFERRED,
    Verdict.SUSPECTED: Grade.CLUE,
    Verdict.NO_SIGN: Grade.NO_SIGN,
    Verdict.RULED_OUT: Grade.RULED_OUT,
    Verdict.NOT_DETERMINED: Grade.NOT_DETERMINED,
}
"""Verdicts and grades say the same on two scales."""


class Store(StrEnum):
    """Where an input lies that was not given; the one that loses it soonest comes first."""

    LIVE = "live"
    """State of a running program: the next instant has another."""
    EVENTS = "events"
    """Events that an orchestrator keeps for an hour, or the last few hundred of."""
    COUNTERS = "counters"
    """Counters and short histories in a server's memory."""
    CONTAINER_LOG = "container_log"
    JOURNAL = "journal"
    SERVER_LOG = "server_log"
    SYSSTAT = "sysstat"
    MONITOR = "monitor"
    FILES = "files"
    """Settings and other files, which stay until somebody changes them."""


URGENCY = {store: rank for rank, store in enumerate(Store)}
"""Stores by how soon they lose what they hold, the soonest first."""


@dataclass(frozen=True, slots=True)
class Expiry:
    """What will delete an input, and what those that were given say of whether it is still there."""

    store: Store
    state: str = "unknown"
    """``now`` (it tells of this instant alone), ``partly_gone``, ``at_risk`` (something of it was deleted, or its time is nearly over), ``gone``
    (older than any usual retention), ``kept`` (its retention reaches further) or ``unknown``."""
    values: dict[str, Any] = field(default_factory=dict)
    """What its statement, ``expires.<store>``, tells beside that."""


@dataclass(frozen=True, slots=True)
class Need:
    """An input that would tell, the read-only command that fetches it, and what may soon delete it."""

    input: str
    command: str
    expires: Expiry


@dataclass(frozen=True, slots=True)
class Finding:
    """One claim. A number without a place, a formula or a need cannot be built (law 3); a clue may name the file that states it."""

    key: str
    """Statement in the catalogue of the telling wing."""
    section: str
    grade: Grade
    values: dict[str, Any] = field(default_factory=dict)
    refs: tuple[Ref, ...] = ()
    method: str = ""
    formula: str | None = None
    scope: str | None = None
    alternatives: tuple[str, ...] = ()
    needs: tuple[Need, ...] = ()
    incident: int | None = None

    def __post_init__(self) -> None:
        """Refuse a claim that nobody can check."""
        stated = (self.grade is Grade.NO_SIGN and self.scope) or (self.grade is Grade.CLUE and self.method)
        checkable = self.refs or self.needs or stated
        if not checkable:
            raise ValueError(f"finding {self.key!r} has neither evidence nor needs")


@dataclass(frozen=True, slots=True)
class Judgement:
    """One hypothesis with its verdict."""

    id: str
    title: str
    verdict: Verdict
    why: str
    """Statement that explains the verdict."""
    values: dict[str, Any]
    supports: tuple[Ref, ...]
    contradicts: tuple[Ref, ...]
    scope: str
    needs: tuple[Need, ...]


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question that these inputs cannot answer."""

    question: str
    values: dict[str, Any]
    reason: str
    """``not given``, ``unreadable`` or ``does not cover``."""
    needs: tuple[Need, ...]
    hypothesis: str | None = None
    what: str = ""
    """Its name in the summary: that of a hypothesis, or of what stays open beyond a found one."""
    bears: int | None = None
    """How much it matters for what was found, 0 most; None: it does not bear on it."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two conclusions of one run that cannot both hold: statement and values."""

    key: str
    values: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Action:
    """Something to do, never done by the tool; ``answers`` names findings or hypotheses by key."""

    key: str
    values: dict[str, Any]
    answers: tuple[str, ...]
    value: int


@dataclass(frozen=True, slots=True)
class Moment:
    """One row of the timeline."""

    at: int
    kind: str
    service: str | None
    key: str
    values: dict[str, Any]
    grade: Grade
    refs: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Everything the thinking wing concludes."""

    findings: tuple[Finding, ...]
    judgements: tuple[Judgement, ...]
    open_questions: tuple[OpenQuestion, ...]
    actions: tuple[Action, ...]
    timeline: tuple[Moment, ...]
    contradictions: tuple[Contradiction, ...] = ()
