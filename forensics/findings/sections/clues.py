"""Coincidences in time, never told as causes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forensics.findings import activity, lock_waits, pooler, upkeep
from forensics.findings.primary import DNS, OVERLOAD, of_family
from forensics.findings.signals import SECOND
from forensics.model.facts import Events, Incidents
from forensics.model.finding import Finding, Grade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.findings.signals import Signals

NEAR_US = 600 * SECOND
"""Events this near to the incident are named."""
ENDED_IDLE = "postgres.idle-in-transaction-timeout"
"""Sessions that the server ended while they kept a transaction open: told wherever they are, since others may have waited for them."""
STATED = "an event that the case file states"
"""Where an event of people's knowledge stands; the line that a clue cites shows the incident's start, from which it counts."""
SEEN = 6
"""Kinds of events that are named."""


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
        near = min(
            (item for item in signals.facts[Incidents].items),
            key=lambda item: abs(item.start - event.at),
            default=None,
        )
        if near is not None:
            yield Finding(
                "clue.event",
                "clues",
                Grade.CLUE,
                {"event": event, "incident": near, "apart": (event.at - near.start) / SECOND},
                (near.start_ref,) if near.start_ref else (),
                method=STATED,
            )
