"""Who was hit and what went on working."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forensics.findings.primary import completed, coverage_refs, lossy, together
from forensics.model.facts import EDGE_S, Deliveries, Impact, SlowRequests
from forensics.model.finding import Finding, Grade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.findings.signals import Signals
    from forensics.model.facts import FailedRoute

WITHOUT_REQUESTS = 4
"""Services without requests that are named with their failed operations."""
SLOW_SERVICES = 2
"""Services whose slow requests are told: a service and the proxy before it."""


def impact(signals: Signals) -> Iterator[Finding]:
    """Say who was hit and what went on working."""
    if signals.primary is None:
        return
    found = signals.facts[Impact]
    users = [route for route in found.routes if not route.probe]
    if users:
        yield requests_failed(signals, users)
    yield from probes_failed(signals)
    yield from operations(signals)
    if found.completed and found.completed_refs:
        values: dict[str, Any] = {"n": found.completed, "between": found.completed_between, "edge": EDGE_S}
        yield Finding("impact.completed", "impact", Grade.VERIFIED, values, found.completed_refs)
    yield from slow(signals)
    if found.calls_failed:
        values = {"n": found.calls_failed, "service": found.caller}
        values["followed"] = bool(signals.facts[Deliveries].items)
        yield Finding("impact.calls_failed", "impact", Grade.VERIFIED, values, found.attempt_refs)
        yield from messages(signals)
    elif found.calls_late and found.call_refs:
        values = {"n": found.calls_late, "slowest": found.slowest_call_s}
        yield Finding("impact.calls_late", "impact", Grade.VERIFIED, values, found.call_refs)
    if not users and not found.calls_failed and coverage_refs(signals):
        values = {"service": signals.unit, "completed": completed(signals)}
        scope = "access lines of the sources given; a request without a line is not seen"
        yield Finding(
            "impact.none_logged", "impact", Grade.NO_SIGN, values, coverage_refs(signals), scope=scope
        )


def messages(signals: Signals) -> Iterator[Finding]:
    """Say what became of the messages of which attempts failed."""
    for one in signals.facts[Deliveries].items:
        yield Finding("impact.messages", "impact", Grade.DERIVED, {"sent": one}, one.refs)


def requests_failed(signals: Signals, users: list[FailedRoute]) -> Finding:
    """Count the failed requests of users, each once."""
    found = signals.facts[Impact]
    told = sum(route.count for route in users)
    values = {
        "count": found.failed,
        "routes": len({(route.method, route.route) for route in users}),
        "tellers": sorted({route.service for route in users}) if told > found.failed else [],
        "clients": len(found.clients),
        "lossy": lossy(signals),
    }
    return Finding("impact.failed", "impact", Grade.VERIFIED, values, tuple(route.ref for route in users[:3]))


def probes_failed(signals: Signals) -> Iterator[Finding]:
    """Tell failed requests of periodic probes from those of users."""
    found = signals.facts[Impact]
    rows = [route for route in found.routes if route.probe]
    if rows:
        values = {
            "n": found.probes_failed,
            "users": bool(found.failed),
            "routes": sorted({f"{row.method} {row.route}" if row.method else row.route for row in rows}),
            "lossy": lossy(signals),
        }
        refs = tuple(row.ref for row in rows[:3])
        yield Finding("impact.probes_failed", "impact", Grade.DERIVED, values, refs)


def operations(signals: Signals) -> Iterator[Finding]:
    """Count the failed operations of services whose lines show no requests, by service."""
    found = signals.facts[Impact].operations
    if found:
        values = {
            "services": found[:WITHOUT_REQUESTS],
            "further": found[WITHOUT_REQUESTS:],
            **together(found),
        }
        refs = tuple(one.ref for one in found[:WITHOUT_REQUESTS])
        yield Finding("impact.operations", "impact", Grade.VERIFIED, values, refs)


def slow(signals: Signals) -> Iterator[Finding]:
    """Count requests that were answered late, where access lines state how long each took."""
    found = signals.facts[SlowRequests]
    for one in found.items[:SLOW_SERVICES]:
        values = {"slow": one, "from_s": found.from_s}
        yield Finding("impact.slow", "impact", Grade.VERIFIED, values, one.refs)
