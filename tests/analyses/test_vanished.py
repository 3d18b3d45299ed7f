"""Messages that stay away in an incident: those at a beat are owed, ordinary ones are less traffic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from small_logs import POOL, journal, served

from forensics.model.facts import Background

if TYPE_CHECKING:
    from collections.abc import Callable

    from forensics.model.case import Case


def test_only_a_beat_or_trouble_is_told_as_vanished(think: Callable[..., Case]) -> None:
    """Orders saved and a job at its beat both stay away for eight minutes: the job is told, the orders are not."""
    quiet = range(2330, 2830)
    orders = sorted({k * k % 7193 for k in range(1200)})
    lines = [
        *served(0, 7200, step=3),
        *[(s + 0.3, f"order {s} saved") for s in orders if s not in quiet],
        *[(s + 0.2, "flush of the outbox done") for s in range(0, 7200, 60) if s not in quiet],
        *[(2405 + 5 * k, f"sqlalchemy.exc.TimeoutError: {POOL}") for k in range(80)],
    ]
    items = think(**{"api.json": journal(lines)}).facts[Background].items
    gone = [item.template for item in items if item.verdict == "vanished"]
    assert gone == ["flush of the outbox done"]
