"""What is found in columns is what a walk through all rows finds."""

from __future__ import annotations

import random

import polars as pl
import pytest

from forensics.analyses import failures, silences
from forensics.model.facts import Due, Series


@pytest.mark.parametrize("seed", range(20))
def test_stretches_leave_out_no_span(seed: int) -> None:
    """The spans of the stretches that are walked through are those of all gains."""
    rng = random.Random(seed)  # noqa: S311 - the same rows for the same seed
    gains = [rng.choice((-2.3, -1.0, -0.2, 0.4, 3.0, 8.0)) - seed / 20 for _ in range(400)]

    found = silences.segments(pl.Series(gains))

    assert silences.highest(gains) == found
    assert found


@pytest.mark.parametrize("seed", range(20))
def test_first_pause_decides_what_is_held_back(seed: int) -> None:
    """A traceback may be held back where any pause lies between a message and any traceback."""
    rng = random.Random(seed)  # noqa: S311 - the same rows for the same seed
    edges = sorted(rng.sample(range(400), 12))
    pauses = [(lo * 1_000_000, hi * 1_000_000) for lo, hi in zip(edges[::2], edges[1::2], strict=True)]
    tracebacks = sorted(rng.randrange(400) * 1_000_000 for _ in range(6))
    for message in range(0, 400_000_000, 7_000_000):
        expected = any(
            0 <= at - message <= failures.PERHAPS and any(message <= lo and hi <= at for lo, hi in pauses)
            for at in tracebacks
        )

        assert failures.held_back(message, tracebacks, pauses) is expected


def test_runs_end_at_any_other_state() -> None:
    """Runs are told in order, each without what stands between them."""
    states = ("failed", "failed", "late", "failed", "answered", "missed")
    dues = tuple(Due(at, state) for at, state in enumerate(states))
    series = Series("health", "monitor", None, 20.0, 0.0, None, None, dues)

    assert series.runs("failed") == (dues[0:2], dues[3:4])
    assert series.runs("failed", "missed") == (dues[0:2], dues[3:4], dues[5:6])
