"""PostgreSQL's own work, inside an incident and outside: by the log of a real server, and by lines of one that vacuums for long."""

from __future__ import annotations

import datetime as dt
import gzip
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from forensics import pipeline
from forensics.model.facts import Upkeep, Upkeeps
from forensics.model.finding import Verdict

if TYPE_CHECKING:
    from forensics.model.case import Case

FOLDER = Path(__file__).parents[2] / "fixtures" / "activity"
LOG = FOLDER / "upkeep" / "postgresql.log.gz"
SAID: dict[str, Any] = tomllib.loads((FOLDER / "upkeep.toml").read_text("utf-8"))
POOL = "QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 3.00"


def investigated(folder: Path, start: dt.datetime, seconds: int, log: str) -> Case:
    """Return the case of a service whose pool runs out for some seconds, with the log of its database."""
    lines = [
        f"{start + dt.timedelta(seconds=at):%Y-%m-%dT%H:%M:%SZ} ERROR shop: sqlalchemy.exc.TimeoutError: {POOL}"
        for at in range(3, seconds, 2)
    ]
    (folder / "shop.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "postgresql.log").write_text(log, encoding="utf-8")
    return pipeline.investigate([str(folder)], pipeline.Options(tz="UTC"))


def work(case: Case) -> dict[str, Upkeep]:
    """Return the server's work by kind."""
    return {one.kind: one for one in case.facts[Upkeeps].items}


def keys(case: Case) -> set[str]:
    """Return the keys of all findings."""
    return {one.key for one in case.diagnosis.findings}


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Case:
    """Return the case whose incident is the span in which the real server ran slow statements."""
    start, end = SAID["slow_from"], SAID["slow_until"]
    return investigated(
        tmp_path_factory.mktemp("slow"),
        start,
        round((end - start).total_seconds()),
        gzip.decompress(LOG.read_bytes()).decode(),
    )


class TestARealServer:
    """A server with steady checkpoints and vacuums, and slow statements for a while."""

    def test_slow_statements_are_counted(self, slow: Case) -> None:
        """Every slow statement lies inside; those that the deadlock held up are slow too; thousands of fast ones are none."""
        found = work(slow)["statement"]

        assert SAID["slow"] <= found.inside + found.outside <= SAID["slow"] + 2 * SAID["deadlocks"]
        assert found.inside >= SAID["slow"] - 2
        assert found.longest_s >= SAID["slow_s"]

    def test_slow_statements_are_told_and_suspected(self, slow: Case) -> None:
        """They belong to the incident, because there are hardly any outside."""
        assert "mechanism.statements" in keys(slow)

    def test_steady_checkpoints_are_not_told(self, slow: Case) -> None:
        """Checkpoints overlap the incident, as often as they come outside: no word about them."""
        found = work(slow)["checkpoint"]

        assert found.inside > 5
        assert found.per_hour_outside is not None
        assert found.per_hour_inside < 3 * found.per_hour_outside
        assert "clue.upkeep" not in keys(slow)

    def test_a_vacuum_has_its_length_and_its_table(self, slow: Case) -> None:
        """What a vacuum took stands lines below the one that names the table."""
        found = work(slow)["autovacuum"]

        assert found.what == "shop.public.account"
        assert 0 < found.longest_s < 60
        assert found.waiters == 0

    def test_deadlocks_are_told_with_their_circle(self, slow: Case) -> None:
        """Two sessions waited for each other."""
        found = slow.facts[Upkeeps].deadlocks

        assert len(found) == SAID["deadlocks"]
        assert {one[0] for one in found[0].edges} == {one[2] for one in found[0].edges}
        assert "mechanism.deadlocks" in keys(slow)


VACUUM = """{0:%Y-%m-%d %H:%M:%S}.000 UTC [411] LOG:  automatic vacuum to prevent wraparound of table "shop.public.orders": index scans: 1
\tpages: 0 removed, 900 remain, 900 scanned (100.00% of total)
\tsystem usage: CPU: user: 2.00 s, system: 1.00 s, elapsed: 240.00 s
"""
WAIT = """{0:%Y-%m-%d %H:%M:%S}.000 UTC [77] LOG:  process 77 still waiting for AccessExclusiveLock on relation 16385 of database 16384 after 1000.2 ms
{0:%Y-%m-%d %H:%M:%S}.000 UTC [77] DETAIL:  Process holding the lock: 411. Wait queue: 77.
""".replace("1000.2 ms", "1000.200 ms")
QUIET = "{0:%Y-%m-%d %H:%M:%S}.000 UTC [9] LOG:  checkpoint starting: time\n"
START = dt.datetime(2026, 11, 30, 12, 0, tzinfo=dt.UTC)


def log_of(*lines: tuple[int, str]) -> str:
    """Return a log of an hour around the incident, with more lines at some seconds of it."""
    quiet = [(at, QUIET) for at in range(-1800, 1801, 300)]
    return "".join(text.format(START + dt.timedelta(seconds=at)) for at, text in sorted([*quiet, *lines]))


def test_autovacuum_that_holds_a_lock_is_to_blame(tmp_path: Path) -> None:
    """A logged wait names its process as the holder."""
    case = investigated(tmp_path, START, 120, log_of((20, WAIT), (110, VACUUM)))

    assert work(case)["autovacuum"].waiters == 1
    assert "mechanism.autovacuum" in keys(case)
    assert "clue.upkeep" not in keys(case)


def test_autovacuum_that_only_runs_is_a_clue(tmp_path: Path) -> None:
    """A long vacuum in the incident, of which no wait tells, is a coincidence; it supports nothing."""
    case = investigated(tmp_path, START, 120, log_of((110, VACUUM)))
    verdicts = {one.id: one.verdict for one in case.diagnosis.judgements}

    assert "clue.upkeep" in keys(case)
    assert "mechanism.autovacuum" not in keys(case)
    assert verdicts["db_slow_or_locked"] is Verdict.NOT_DETERMINED


def test_fast_statements_support_nothing(tmp_path: Path) -> None:
    """Durations of a server that logs every statement are no slow statements."""
    fast = "{0:%Y-%m-%d %H:%M:%S}.000 UTC [12] LOG:  duration: 0.412 ms  statement: select 1\n"
    case = investigated(tmp_path, START, 120, log_of(*[(at, fast) for at in range(-600, 600, 5)]))
    verdicts = {one.id: one.verdict for one in case.diagnosis.judgements}

    assert "statement" not in work(case)
    assert verdicts["db_slow_or_locked"] is Verdict.NOT_DETERMINED
