"""The fifteen hypotheses as data, with what would tell, what stays open beyond them, and what cannot hold together."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from forensics.findings.places import FETCH
from forensics.findings.signals import GATEWAYS
from forensics.model.finding import POSITIVE, Store, Verdict

PATH = Path(__file__).with_name("hypotheses.toml")


@dataclass(frozen=True, slots=True)
class Wanted:
    """One input that would tell, and when to ask for it."""

    input: str
    command: str = ""
    store: Store | None = None
    """None: it depends on how it is fetched."""
    fetch: str | None = None
    """One of :data:`forensics.findings.places.FETCH`, None where the command is written out."""
    engine: str | None = None
    """The database that it is asked of (``postgres``, ``mysql``), or null for any."""
    given: str | None = None
    """Asked only where a log of this message format covers the window."""
    missing: str | None = None
    """Asked only where no log of this message format does."""
    ongoing: bool = False
    """Does it help only while the incident is going on?"""
    settings: bool = False
    """Does the log hold it only where settings say so?"""
    unless: tuple[str, ...] = ()
    """Not asked where lines of one of these signatures were read: they answer it."""


@dataclass(frozen=True, slots=True)
class NextStep:
    """What to change where a hypothesis is found."""

    key: str
    answers: tuple[str, ...]
    """Findings that it answers, by key; not suggested where none of them is told."""
    value: int
    """1 for what would have prevented the incident, more for what tells next time."""
    unless: str | None
    """Not suggested where this hypothesis is found, too: it has a better one."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One row of the differential diagnosis."""

    id: str
    title: str
    scope: str
    wanted: tuple[Wanted, ...]
    supported_by: tuple[str, ...]
    contradicted_by: tuple[str, ...]
    coverage: str
    """What must cover the window before it is ruled out or without sign."""
    formats: tuple[str, ...]
    """Message formats that would answer it: there but silent means that they do not cover the question."""
    raises: tuple[str, ...]
    """Hypotheses that bear on it once it is found."""
    next_steps: tuple[NextStep, ...]


@dataclass(frozen=True, slots=True)
class Beyond:
    """A question that stays open although a hypothesis is found."""

    id: str
    of: str
    settled_by: str | None
    """The hypothesis whose confirmation answers it, and whose needs are its own."""
    formats: tuple[str, ...]
    answered_by: str | None
    """``snapshot``: not asked where one inside the incident shows whose sessions they are; ``last_words``: where a process said why it ended."""
    restart: tuple[str, ...]
    """Reasons of a restart for which it is asked; none: any."""
    not_for: tuple[str, ...]
    """Reasons of the hypothesis that answer it."""
    wanted: tuple[Wanted, ...]
    last: bool
    """Does it matter less than the hypotheses that bear on what was found?"""


@dataclass(frozen=True, slots=True)
class Side:
    """One of two conclusions that exclude each other: a hypothesis with some verdicts, or a finding."""

    hypothesis: str | None
    verdicts: tuple[Verdict, ...]
    finding: str | None


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Two conclusions that cannot both hold, but for some reasons of a verdict."""

    one: Side
    other: Side
    unless: tuple[str, ...]
    of: tuple[str, ...] = ()
    """Path of a value that both findings must share: they speak of the same thing."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number that several findings tell, each at a path through its values."""

    name: str
    instant: bool
    told: tuple[tuple[str, tuple[str, ...]], ...]
    """Key of the finding, and names of a value and of what it holds."""


@cache
def tables() -> dict[str, list[dict[str, Any]]]:
    """Return the file's tables."""
    return tomllib.loads(PATH.read_text(encoding="utf-8"))


@cache
def load() -> tuple[Hypothesis, ...]:
    """Return all hypotheses in their fixed order; ValueError for a name that is none."""
    found = tuple(
        Hypothesis(
            block["id"],
            block["title"],
            block["scope"],
            tuple(wanted(need) for need in block["needs"]),
            tuple(block["supported_by"]),
            tuple(block["contradicted_by"]),
            block["coverage"],
            tuple(
                each
                for name in block.get("formats", ())
                for each in (GATEWAYS if name == "gateways" else (name,))
            ),
            tuple(block["raises"]),
            tuple(
                NextStep(step["key"], tuple(step["answers"]), step["value"], step.get("unless"))
                for step in block.get("next", ())
            ),
        )
        for block in tables()["hypothesis"]
    )
    known({name for one in found for name in one.raises})
    known({step.unless for one in found for step in one.next_steps if step.unless})
    return found


@cache
def beyond() -> tuple[Beyond, ...]:
    """Return what stays open beyond a found hypothesis, the greatest unknown first."""
    found = tuple(
        Beyond(
            block["id"],
            block["of"],
            block.get("settled_by"),
            tuple(block.get("formats", ())),
            block.get("answered_by"),
            tuple(block.get("restart", ())),
            tuple(block.get("not_for", ())),
            tuple(wanted(need) for need in block["needs"]),
            bool(block.get("last")),
        )
        for block in tables()["question"]
    )
    known({name for one in found for name in (one.of, one.settled_by) if name})
    return found


@cache
def exclusions() -> tuple[Exclusion, ...]:
    """Return the pairs of conclusions that exclude each other."""
    found = tuple(
        Exclusion(
            side(block["one"]),
            side(block["other"]),
            tuple(block.get("unless", ())),
            tuple(block["of"].split(".")) if "of" in block else (),
        )
        for block in tables()["exclusion"]
    )
    known({each.hypothesis for one in found for each in (one.one, one.other) if each.hypothesis})
    return found


@cache
def quantities() -> tuple[Quantity, ...]:
    """Return the numbers that several findings tell."""
    return tuple(
        Quantity(block["name"], bool(block.get("instant")), tuple(map(path, block["told"])))
        for block in tables()["quantity"]
    )


def known(names: set[str]) -> None:
    """Refuse names of hypotheses that there are not."""
    if strange := names - {block["id"] for block in tables()["hypothesis"]}:
        raise ValueError(f"{PATH.name} names no hypothesis {', '.join(sorted(strange))}")


def side(block: dict[str, Any]) -> Side:
    """Return one side of an exclusion; ValueError for a verdict that is none, or a side that names nothing."""
    if ("finding" in block) == ("hypothesis" in block):
        raise ValueError(f"{PATH.name}: a side is a hypothesis or a finding, {block} is not")
    verdicts: list[Verdict] = []
    for name in block.get("verdicts", ()):
        verdicts += POSITIVE if name == "positive" else (Verdict(name),)
    return Side(block.get("hypothesis"), tuple(verdicts), block.get("finding"))


def path(text: str) -> tuple[str, tuple[str, ...]]:
    """Take ``section.name.value.part`` apart: a finding's key has two parts."""
    section, name, *values = text.split(".")
    return f"{section}.{name}", tuple(values)


def wanted(need: dict[str, Any]) -> Wanted:
    """Return one row of ``needs``; ValueError where it says neither how it is fetched nor where it lies."""
    fetch = need.get("fetch")
    if (fetch is None) == ("command" not in need or "store" not in need) or fetch not in (None, *FETCH):
        raise ValueError(f"{PATH.name}: {need['input']!r} has a known fetch, or a command and a store")
    return Wanted(
        need["input"],
        need.get("command", ""),
        Store(need["store"]) if "store" in need else None,
        fetch,
        need.get("engine"),
        need.get("with"),
        need.get("without"),
        bool(need.get("ongoing")),
        bool(need.get("settings")),
        tuple(need.get("unless", ())),
    )
