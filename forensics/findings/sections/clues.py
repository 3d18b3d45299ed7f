"""Coincidences in time, never told as causes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from forensics.findings import activity, lock_waits, pooler, upkeep
from forensics.findings.primary import DNS, OVERLOAD, of_family, seconds_shown
from forensics.findings.signals import SECOND
from forensics.findings.timeline import TOLD_ELSEWHERE, by_service
from forensics.model.facts import Events, Failures, Incidents, Stalls
from forensics.model.finding import Finding, Grade
from forensics.model.source import Ref

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.findings.signals import Signals

NEAR_US = 600 * SECOND
"""Events this near to the incident are named."""
ENDED_IDLE = "postgres.idle-in-transaction-timeout"
"""Sessions that the server ended while they kept a transaction open: told wherever they are, since others may have waited for them."""
STATED = "an event that the case file states"
"""Where an event of people's knowledge stands; the line that a clue cites shows the onset from which it counts."""
SEEN = 6
"""Kinds of events that are named."""


@dataclass(frozen=True, slots=True)
class Onset:
    """When something began that an event may be near to."""

    at: int
    """µs UTC; of a wait its begin."""
    kind: str
    """``incident``, ``stall`` or ``failure``."""
    name: str
    """The incident's number, or the service."""
    title: str | None
    """Of the failure."""
    ref: Ref | None


def seen(signals: Signals) -> Iterator[Finding]:
    """Name what lines near the incident tell of that is no failed operation; on a quiet day, anywhere."""
    lo, hi = signals.window
    primary = signals.primary
    told = of_family(signals, OVERLOAD, DNS)
    groups = [one for one in signals.facts[Events].groups if one not in told]
    every = sorted(groups, key=lambda one: (-one.events, one.signature, one.service))
    near = [
        one for one in every if primary is None or (one.first <= hi + NEAR_US and one.last >= lo - NEAR_US)
    ]
    ended = [one for one in every if one.signature == ENDED_IDLE and one not in near]
    for group in [*near, *ended][:SEEN]:
        yield Finding("clue.seen", "clues", Grade.CLUE, {"group": group}, group.refs)


def clues(signals: Signals) -> Iterator[Finding]:
    """Name coincidences in time: what people know happened near an incident, and never as its cause."""
    yield from seen(signals)
    yield from activity.findings(signals, "clues")
    yield from pooler.findings(signals, "clues")
    yield from lock_waits.findings(signals, "clues")
    yield from upkeep.findings(signals, "clues")
    for event in signals.known.events:
        if event.kind not in ("note", "deploy"):
            continue
        onset = min(onsets(signals), key=lambda one: abs(one.at - event.at), default=None)
        if onset is not None:
            values = {
                "event": event,
                "onset": onset,
                "apart": seconds_shown(onset.at, event.at),
                "near": abs(event.at - onset.at) <= NEAR_US,
            }
            refs = (onset.ref,) if onset.ref else ()
            yield Finding("clue.event", "clues", Grade.CLUE, values, refs, method=STATED)


def onsets(signals: Signals) -> Iterator[Onset]:
    """Yield when each incident began, and in the primary one each stall and each kind of failure, replicas as one."""
    for index, item in enumerate(signals.facts[Incidents].items, start=1):
        yield Onset(item.start, "incident", str(index), None, item.start_ref)
    if signals.primary is None:
        return
    lo, hi = signals.window
    for stall in signals.facts[Stalls].items:
        if lo <= stall.start <= hi:
            yield Onset(stall.start, "stall", stall.service, None, stall.silence.before)
    rows = signals.facts[Failures].rows.filter(
        pl.col("ts").is_between(lo, hi) & ~pl.col("family").is_in(TOLD_ELSEWHERE)
    )
    kinds = by_service(rows).group_by("service", "signature", maintain_order=True)
    for (service, signature), part in kinds:
        first = part.sort("began", "ts", "source", "line").row(0, named=True)
        title = signals.known.signatures[str(signature)].title
        yield Onset(first["began"], "failure", str(service), title, Ref(first["source"], first["line"]))
