"""Lock waits of a real PostgreSQL, by holder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from forensics import pipeline
from forensics.model.facts import Locks
from forensics.pipeline import Options

if TYPE_CHECKING:
    from forensics.model.facts import LockGroup

RECORDED = Path(__file__).parents[2] / "fixtures" / "counting" / "postgres-locks" / "inputs"
LOG = """\
2026-11-29 12:00:00.000 UTC [50] app@shop LOG:  connection authorized: user=app database=shop
2026-11-29 12:00:11.000 UTC [51] app@shop LOG:  process 51 still waiting for ShareLock on transaction 9 after 1000.100 ms
2026-11-29 12:00:11.000 UTC [51] app@shop DETAIL:  Process holding the lock: 50. Wait queue: 51.
2026-11-29 12:00:13.000 UTC [52] app@shop LOG:  process 52 still waiting for ShareLock on transaction 9 after 1000.200 ms
2026-11-29 12:00:13.000 UTC [52] app@shop DETAIL:  Process holding the lock: 50. Wait queue: 51, 52.
2026-11-29 12:00:40.000 UTC [50] app@shop FATAL:  terminating connection due to idle-in-transaction timeout
2026-11-29 12:00:40.001 UTC [51] app@shop LOG:  process 51 acquired ShareLock on transaction 9 after 30001.000 ms
2026-11-29 12:00:40.002 UTC [52] app@shop LOG:  process 52 acquired ShareLock on transaction 9 after 28002.000 ms
"""


def groups(*paths: Path) -> tuple[LockGroup, ...]:
    """Return the lock waits of some inputs."""
    return pipeline.investigate([str(path) for path in paths], Options()).facts[Locks].groups


def test_a_recorded_server() -> None:
    """Four sessions waited for one transaction's end and none got it; the holder printed nothing."""
    (group,) = groups(RECORDED)

    assert (group.holder, group.waiters) == ("13574", ("13575", "13576", "13577", "13579"))
    assert (group.what, group.obtained, group.longest_s) == ("ShareLock on transaction 726", 0, 0.201)
    assert group.holder_said == ()


def test_waits_that_end_and_a_holder_that_prints(tmp_path: Path) -> None:
    """The line of the obtained lock states the whole wait; the holder was idle in its transaction."""
    (tmp_path / "postgresql.log").write_text(LOG, encoding="utf-8")
    (group,) = groups(tmp_path)

    assert (group.holder, group.waiters, group.obtained, group.longest_s) == ("50", ("51", "52"), 2, 30.001)
    assert (group.last - group.first) / 1_000_000 == pytest.approx(30.002, abs=0.001)
    assert group.holder_said == ("PostgreSQL: session ended while idle inside a transaction",)
