"""Where the timeline begins and ends: the last healthy event before the incident, the first after it, and the other incidents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.findings.alarms import alarms
from forensics.findings.signals import MINUTE, SECOND
from forensics.model.facts import Failures, Impact, Incidents, Probes
from forensics.model.finding import Grade, Moment
from forensics.model.source import Ref

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.findings.signals import Signals
    from forensics.model.facts import Incident, Series

FAULT = 500
"""Status from which a response tells of a fault of the server."""


def edges(signals: Signals) -> Iterator[Moment]:
    """Yield the last healthy event before and the first after the primary incident, and the other incidents as one row each."""
    false = {one.number for one in alarms(signals) if one.verdict == "false"}
    for number, item in enumerate(signals.facts[Incidents].items, start=1):
        if item is not signals.primary:
            yield other(signals, number, item, false=number in false)
    incident = signals.primary
    if incident is None:
        return
    seen = any(
        near_primary(signals, due.at)
        for series in signals.facts[Probes].series
        for due in series.at("missed", "failed", "late")
    )
    yield from probed(signals, incident) if seen else served(signals, incident)


def other(signals: Signals, number: int, incident: Incident, *, false: bool) -> Moment:
    """Return the row of an incident that the report is not about; ``false``: a monitor's false alarm."""
    rows = signals.facts[Failures].rows.filter(
        pl.col("ts").is_between(incident.start, (incident.end or incident.start) + 5 * SECOND)
        & (~pl.col("family").is_in(["app_error", "http_error"]))
    )
    refs = tuple(ref for ref in (incident.start_ref, incident.end_ref) if ref)
    values = {
        "number": number,
        "incident": incident,
        "n": int(rows["sure"].sum()),
        "most": rows.height,
        "false": false,
    }
    return Moment(incident.start, "incident", None, "row.incident", values, Grade.DERIVED, refs)


def probed(signals: Signals, incident: Incident) -> Iterator[Moment]:
    """Yield the last probe answered before the incident and the first after it."""
    for kind, found in (
        ("healthy", last_answered(signals, incident)),
        ("recovered", first_answered(signals, incident)),
    ):
        if found is not None:
            at, series, ref = found
            values = {"series": series.name}
            yield Moment(at, kind, series.service, f"row.{kind}", values, Grade.VERIFIED, (ref,))


def served(signals: Signals, incident: Incident) -> Iterator[Moment]:
    """Yield the last minute before the incident, and the first after it, in which requests came and none failed.

    Where no probe shows an incident, a green one beside it says nothing of health; requests to what failed do. A minute that
    the incident touches is left out.
    """
    hit = {route.service for route in signals.facts[Impact].routes} or {signals.unit}
    minutes = (
        signals.evidence["routes"]
        .filter(~pl.col("naive") & pl.col("service").is_in(sorted(hit)))
        .group_by("service", "minute")
        .agg(
            n=pl.col("n").sum(),
            bad=(pl.col("n") * (pl.col("status") >= FAULT)).sum(),
            told=pl.col("status").is_not_null().all(),
        )
        .filter(pl.col("told") & (pl.col("bad") == 0))
    )
    before = minutes.filter((pl.col("minute") + 1) * MINUTE <= incident.start).sort("minute", "service")
    after = minutes.filter(pl.col("minute") * MINUTE >= (incident.end or incident.start)).sort(
        "minute", "service"
    )
    for which, rows in (
        ("before", before.tail(1)),
        ("after", after.head(1) if incident.end else after.clear()),
    ):
        for row in rows.iter_rows(named=True):
            yield from minute_served(signals, which, row)


def minute_served(signals: Signals, which: str, row: dict[str, Any]) -> Iterator[Moment]:
    """Yield a minute of a service in which requests came and none failed, at its first request before or after the incident."""
    lo = row["minute"] * MINUTE
    seconds = (
        signals.evidence["seconds"]
        .filter(
            (pl.col("service") == row["service"])
            & (pl.col("kind") == "request")
            & pl.col("first_us").is_between(lo, lo + MINUTE, closed="left")
        )
        .sort("first_us")
    )
    for found in seconds.head(1).iter_rows(named=True):
        kind = {"before": "healthy", "after": "recovered"}[which]
        values = {"which": which, "n": row["n"]}
        ref = Ref(found["source"], found["first_line"])
        yield Moment(found["first_us"], kind, row["service"], "row.served", values, Grade.DERIVED, (ref,))


def near_primary(signals: Signals, at: int) -> bool:
    """Does an instant lie in the primary incident or right beside it?"""
    lo, hi = signals.window
    margin = max(300 * SECOND, (hi - lo) // 2)
    return signals.primary is not None and lo - margin <= at <= hi + margin


def watching(signals: Signals, incident: Incident) -> list[Series]:
    """Return the series whose probes failed in an incident, all where none did: others say nothing of its edges."""
    every = list(signals.facts[Probes].series)
    end = incident.end if incident.end is not None else signals.window[1]
    ours = [
        series
        for series in every
        if any(incident.start <= due.at <= end for due in series.at("missed", "failed", "late"))
    ]
    return ours or every


def last_answered(signals: Signals, incident: Incident) -> tuple[int, Series, Ref] | None:
    """Return the last probe answered before an incident."""
    found = [
        (due.at, series.name, series, due.ref)
        for series in watching(signals, incident)
        for due in series.at("answered")
        if due.at < incident.start and due.ref
    ]
    best = max(found, key=lambda item: item[:2], default=None)
    return (best[0], best[2], best[3]) if best and best[3] else None


def first_answered(signals: Signals, incident: Incident) -> tuple[int, Series, Ref] | None:
    """Return the first probe answered after an incident."""
    if incident.end is None:
        return None
    found = [
        (due.at, series.name, series, due.ref)
        for series in watching(signals, incident)
        for due in series.at("answered")
        if (due.answered or due.at) >= incident.end and due.ref
    ]
    best = min(found, key=lambda item: item[:2], default=None)
    return (best[0], best[2], best[3]) if best and best[3] else None
