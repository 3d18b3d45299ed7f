"""What would tell that was not given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forensics.findings.hypotheses import fill, load
from forensics.findings.signals import MINUTE

if TYPE_CHECKING:
    from forensics.findings.signals import Signals
    from forensics.model.finding import Need


def refused_needs(signals: Signals, name: str) -> tuple[Need, ...]:
    """Return the filled needs of one hypothesis."""
    lo, hi = signals.window
    hypothesis = next(item for item in load() if item.id == name)
    return fill(
        hypothesis.needs(signals.engine, ongoing=bool(signals.primary and signals.primary.ongoing)),
        unit=signals.unit,
        container="CONTAINER",
        since=max(0, lo - 5 * MINUTE),
        until=hi + 5 * MINUTE if hi else 0,
    )
