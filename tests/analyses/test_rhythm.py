"""Failures that come at a beat, and those that do not."""

from __future__ import annotations

import random

import polars as pl
import pytest

from forensics.analyses.rhythm import chained, of
from forensics.model.source import Ref

SECOND = 1_000_000
HOUR = 1_795_953_600 * SECOND


def instants(times_s: list[float]) -> list[tuple[int, Ref]]:
    """Return instants after a full hour with places."""
    return [(HOUR + round(at * SECOND), Ref(0, line)) for line, at in enumerate(sorted(times_s), 1)]


@pytest.mark.parametrize("period", [10, 60, 300])
def test_a_beat_is_found_with_its_phase(period: int) -> None:
    """Twelve failures at one second of the period, with a little jitter."""
    rng = random.Random(period)  # noqa: S311 - made-up jitter
    beat = of("api", "x.y", instants([period * n + 3 + rng.uniform(-0.1, 0.1) for n in range(12)]))

    assert beat is not None
    assert (beat.period_s, beat.on, beat.instants) == (period, 12, 12)
    assert beat.phases_s == (pytest.approx(3.0, abs=0.15),)


def test_two_phases_and_one_stray() -> None:
    """Two probes of one period at different seconds, and a client that has nothing to do with them."""
    times = [10 * n + 7.704 for n in range(4)] + [10 * n + 8.412 for n in range(4)] + [31.09]
    beat = of("db", "x.y", instants(times))

    assert beat is not None
    assert (beat.period_s, beat.phases_s, beat.on, beat.instants) == (10, (7.7, 8.4), 8, 9)


@pytest.mark.parametrize("seed", range(20))
def test_chance_is_no_beat(seed: int) -> None:
    """Forty failures at random instants of an hour have none."""
    rng = random.Random(seed)  # noqa: S311 - made-up instants

    assert of("api", "x.y", instants([rng.uniform(0, 3600) for _ in range(40)])) is None


@pytest.mark.parametrize(("every", "wait", "want"), [(30, 30, True), (60, 30, False), (60, 59.5, True)])
def test_the_wait_itself_is_no_beat(every: float, wait: float, want: bool) -> None:
    """Callers that wait and ask again keep their distance, whatever the clock says; a scheduler does not wait for them."""
    rows = pl.DataFrame({"began": [round((every * n) * SECOND) for n in range(10)]})
    rows = rows.with_columns(ts=pl.col("began") + round(wait * SECOND))

    assert chained(rows) is want
