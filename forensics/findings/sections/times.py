"""How the edges of the incident are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forensics.findings.primary import edge_refs
from forensics.findings.signals import SECOND
from forensics.model.finding import Finding, Grade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.findings.signals import Signals


def times(signals: Signals) -> Iterator[Finding]:
    """Explain how the edges of the incident are known."""
    incident = signals.primary
    if incident is None:
        return
    if incident.start_wait_s:
        yield Finding(
            "times.backdated",
            "times",
            Grade.DERIVED,
            {"incident": incident, "logged": incident.start + round(incident.start_wait_s * SECOND)},
            edge_refs(incident)[:1],
        )
    elif incident.start_ref:
        yield Finding("times.start", "times", Grade.DERIVED, {"incident": incident}, (incident.start_ref,))
    if incident.ongoing:
        yield Finding(
            "times.ongoing", "times", Grade.VERIFIED, {"last": signals.window[1]}, edge_refs(incident)[-1:]
        )
