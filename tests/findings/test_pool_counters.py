"""A pool that counts no connection, or only idle ones, did not run out, whatever its timeout says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from forensics import pipeline
from forensics.model.finding import Verdict

if TYPE_CHECKING:
    from pathlib import Path

LINE = "2026-11-29T12:00:{at:02}.000Z ERROR 1 --- [orders] [nio-8080-exec-{at}] c.e.orders.OrderController : HikariPool-1 - Connection is not available, request timed out after 30001ms (total={total}, active={active}, idle={idle}, waiting=2)\n"
FULL, EMPTY, IDLE = (10, 10, 0), (0, 0, 0), (10, 0, 10)


def judged(folder: Path, *states: tuple[int, int, int]) -> dict[str, tuple[Verdict, str]]:
    """Return verdicts and reasons for timeouts that state these counters; nothing contradicts itself."""
    (folder / "orders.log").write_text(
        "".join(
            LINE.format(at=n + 1, total=total, active=active, idle=idle)
            for n, (total, active, idle) in enumerate(states)
        ),
        "utf-8",
    )
    diagnosis = pipeline.investigate([str(folder)], pipeline.Options()).diagnosis
    assert diagnosis.contradictions == ()
    return {one.id: (one.verdict, one.why) for one in diagnosis.judgements}


def test_a_pool_whose_connections_are_all_taken_ran_out(tmp_path: Path) -> None:
    assert judged(tmp_path, *[FULL] * 6)["app_pool_exhausted"] == (Verdict.CONFIRMED, "pool.text")


def test_a_pool_without_connections_could_open_none(tmp_path: Path) -> None:
    found = judged(tmp_path, *[EMPTY] * 6)

    assert found["app_pool_exhausted"] == (Verdict.NO_SIGN, "pool.none_open")
    assert found["db_down"] == (Verdict.SUPPORTED, "db_down.pool_empty")


def test_an_idle_pool_did_not_run_out(tmp_path: Path) -> None:
    assert judged(tmp_path, *[IDLE] * 6)["app_pool_exhausted"] == (Verdict.NO_SIGN, "pool.idle")


@pytest.mark.parametrize("other", [EMPTY, IDLE])
def test_one_timeout_of_a_full_pool_tells(tmp_path: Path, other: tuple[int, int, int]) -> None:
    """Counters are read a moment after the wait: some of them may be of a pool that has just got one back."""
    assert judged(tmp_path, *[FULL] * 3, *[other] * 3)["app_pool_exhausted"][0] is Verdict.CONFIRMED
