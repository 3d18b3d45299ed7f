"""The connection budget as a link of the mechanism: what the services may open against what the server has, where the report's own inputs tell enough.

Terms come from texts and gauges of the logs, from the case file, and from files of the deployment among the inputs. Without the size of any pool
there is nothing to add up; with it, a term that nobody states makes the sum a lower bound, and is named.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from forensics.findings import budget, pool_sightings
from forensics.findings.role_limits import LIMITED
from forensics.model.budget import DATABASE, POOLER
from forensics.model.errors import UsageError
from forensics.model.finding import Finding, Grade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.findings.signals import Signals
    from forensics.model.budget import Budget, Given, Range, Term
    from forensics.model.source import Ref

RUN_OUT = ("pool_exhaustion", "server_limit")
"""Failures that make one ask how many connections there may be."""
OTHERS = ("redis", "pgbouncer")
"""Libraries whose limits are not those of the database's server."""


def findings(signals: Signals) -> Iterator[Finding]:
    """Yield the budget of the server where a pool or the server's slots ran out."""
    refs = places(signals)
    found = settled(signals) if refs else None
    if found is None or not any(item.origin for item in found.terms if item.name == "pool"):
        return
    if found.over is False and len(found.demands) == 1 and not signals.known.deployment.clients:
        return  # one pool that the logs alone size, and room for it: its capacity and the gauge say that already
    if not stated(found):
        return  # defaults alone say nothing of this deployment, nor which database it has
    missing = [named(item, found) for item in found.missing]
    values = {
        "budget": found,
        "stated": stated(found),
        "given": given(found),
        "assumed": assumed(found),
        "missing": missing,
    }
    yield Finding("mechanism.budget", "mechanism", Grade.DERIVED, values, refs)


def stated(found: Budget) -> dict[str, list[tuple[str, Range]]]:
    """Return the terms that the inputs state, by the place where they stand."""
    said: dict[str, list[tuple[str, Range]]] = {}
    for item in found.terms:
        if item.origin and item.origin.kind != "default" and item.text is None:
            said.setdefault(item.origin.where, []).append((named(item, found), item.value))
    return said


def given(found: Budget) -> dict[str, list[Given]]:
    """Return the variables that gave the values of such a place, with the line that set each."""
    said: dict[str, dict[Given, None]] = {}
    for item in found.terms:
        if item.origin and item.origin.given and item.text is None:
            said.setdefault(item.origin.where, {}).update(dict.fromkeys(item.origin.given))
    return {where: list(variables) for where, variables in said.items()}


def assumed(found: Budget) -> list[tuple[str, Range]]:
    """Return the terms that rest on a default, but for what is reserved and for nothings."""
    kept = [
        item for item in found.assumed if item.value.low and item.text is None and "reserved" not in item.name
    ]
    return [(named(item, found), item.value) for item in kept]


def named(item: Term, found: Budget) -> str:
    """Name a term, with its service only where there are several."""
    alone = len(found.demands) == 1 or item.service in (DATABASE, POOLER)
    return item.name if alone else item.id


def places(signals: Signals) -> tuple[Ref, ...]:
    """Return where the logs say that a pool or the server ran out of connections, inside the incident."""
    if signals.primary is None:
        return ()
    lo, hi = signals.window
    return tuple(
        group.refs[0]
        for group in signals.groups(*RUN_OUT)
        if group.first <= hi
        and group.last >= lo
        and not group.signature.startswith(OTHERS)
        and group.signature != LIMITED
    )[:3]


def settled(signals: Signals) -> Budget | None:
    """Return the budget of what is known; None where services use several servers, or none is known."""
    deployment = signals.known.deployment
    declared = [client.name for client in deployment.clients]
    seen = pool_sightings.sightings(signals, signals.known.libraries, declared)
    fresh = (client for client in seen.clients if client.name not in declared)
    whole = replace(deployment, clients=(*deployment.clients, *fresh)).plus(*seen.said)
    try:
        return budget.settle(whole, signals.known.libraries)
    except UsageError:
        return None
