"""What the table of hypotheses rests on where a service runs in several replicas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forensics.findings.primary import coverage_refs
from forensics.findings.signals import replica_of
from forensics.model.finding import Finding, Grade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.findings.signals import Signals


def stands_for(signals: Signals) -> Iterator[Finding]:
    """Say which replica the rows name, and for how many it stands there: what they say of it, others may not share."""
    refs = coverage_refs(signals)
    if len(signals.fleet) > 1 and refs and signals.primary is not None:
        values = {
            "service": signals.unit,
            "name": replica_of(signals.unit),
            "replicas": len(signals.fleet),
        }
        yield Finding("ruled_out.replica", "ruled_out", Grade.VERIFIED, values, refs)
