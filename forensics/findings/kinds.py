"""Which other incidents are of the same kind as the one that the report is about?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from forensics.findings.alarms import alarms
from forensics.findings.signals import MARGIN, replica_of
from forensics.model.facts import Coverage, Failures, Incidents, Restarts, Stalls

if TYPE_CHECKING:
    from forensics.findings.signals import Signals
    from forensics.model.facts import Incident

KILLS = ("oom", "memory")
Kinds = tuple[set[str], ...]
"""What an incident shows, the most telling first: processes killed for memory, ends of services, stalls, the most frequent failure."""


def same_kind(signals: Signals) -> list[Incident]:
    """Return the other incidents that show the most telling thing that the primary one shows, of the same service, in order of time."""
    primary = signals.primary
    others = [item for item in signals.facts[Incidents].items if item is not primary]
    if primary is None or not others:
        return []
    false = {one.number for one in alarms(signals) if one.verdict == "false"}
    numbered = [
        item
        for number, item in enumerate(signals.facts[Incidents].items, start=1)
        if item is not primary and number not in false
    ]
    shown = shows(signals, primary)
    level = next((index for index, kinds in enumerate(shown) if kinds), None)
    if level is None:
        return []
    return [item for item in numbered if shown[level] & shows(signals, item)[level]]


def shows(signals: Signals, incident: Incident) -> Kinds:
    """Return what one incident shows."""
    facts = signals.facts
    lo, hi = incident.start - MARGIN, (incident.end or facts[Coverage].last or incident.start) + MARGIN
    killed = {
        replica_of(event.service)
        for event in facts[Restarts].events
        if event.kind in KILLS and lo <= event.at <= hi
    }
    ended = {
        f"{replica_of(item.service)} {item.reason}"
        for item in facts[Restarts].outages
        if lo <= item.start <= hi
    }
    stood = {replica_of(stall.service) for stall in facts[Stalls].items if lo <= stall.start <= hi}
    return killed, ended, stood, {most_frequent(signals, lo, hi)} - {""}


def most_frequent(signals: Signals, lo: int, hi: int) -> str:
    """Return service and signature of the most frequent failure of a span; empty where none lies in it."""
    rows = signals.facts[Failures].rows.filter(
        pl.col("ts").is_between(lo, hi) & (pl.col("side") != "monitor") & (pl.col("family") != "app_error")
    )
    counts = (
        rows.group_by("service", "signature")
        .len()
        .sort(["len", "service", "signature"], descending=[True, False, False])
    )
    return f"{replica_of(counts['service'][0])} {counts['signature'][0]}" if counts.height else ""
