"""Who was hit and what went on working."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forensics.findings.primary import calls_given_up, completed, coverage_refs, lossy, places
from forensics.model.facts import EDGE_S, Impact
from forensics.model.finding import Finding, Grade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.findings.signals import Signals


def impact(signals: Signals) -> Iterator[Finding]:
    """Say who was hit and what went on working."""
    if signals.primary is None:
        return
    found = signals.facts[Impact]
    told = sum(route.count for route in found.routes)
    if found.routes:
        refs = tuple(route.ref for route in found.routes[:3])
        yield Finding(
            "impact.failed",
            "impact",
            Grade.VERIFIED,
            {
                "count": found.failed,
                "routes": len({(route.method, route.route) for route in found.routes}),
                "tellers": sorted({route.service for route in found.routes}) if told > found.failed else [],
                "clients": len(found.clients),
                "lossy": lossy(signals),
            },
            refs,
        )
    if found.completed and found.completed_refs:
        yield Finding(
            "impact.completed",
            "impact",
            Grade.VERIFIED,
            {"n": found.completed, "between": found.completed_between, "edge": EDGE_S},
            found.completed_refs,
        )
    if found.calls_failed:
        rows = calls_given_up(signals)
        yield Finding(
            "impact.calls_failed",
            "impact",
            Grade.VERIFIED,
            {"n": found.calls_failed, "service": rows["service"][0]},
            places(rows),
        )
    elif found.calls_late and found.call_refs:
        yield Finding(
            "impact.calls_late",
            "impact",
            Grade.VERIFIED,
            {"n": found.calls_late, "slowest": found.slowest_call_s},
            found.call_refs,
        )
    if not found.routes and not found.calls_failed and coverage_refs(signals):
        yield Finding(
            "impact.none_logged",
            "impact",
            Grade.NO_SIGN,
            {"service": signals.unit, "completed": completed(signals)},
            coverage_refs(signals),
            scope="access lines of the sources given; a request without a line is not seen",
        )
