"""What was there before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forensics.model.facts import Background
from forensics.model.finding import Finding, Grade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.findings.signals import Signals

NOISE_SHOWN = 1


def noise(signals: Signals) -> Iterator[Finding]:
    """Name the messages that were there before."""
    shown = [
        item
        for item in signals.facts[Background].items
        if item.verdict == "pre_existing" and item.inside + item.outside >= 3
    ]
    for item in shown[:NOISE_SHOWN]:
        yield Finding("noise.pre_existing", "noise", Grade.DERIVED, {"item": item}, (item.ref,))
