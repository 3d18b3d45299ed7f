"""PostgreSQL's own work, inside an incident and outside: by the log of a real server, and by lines of one that vacuums for long."""

from __future__ import annotations

import datetime as dt
import gzip
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from forensics import pipeline
from forensics.model.facts import Incidents, Upkeep, Upkeeps
from forensics.model.finding import Grade, Verdict

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

    def test_steady_checkpoints_explain_nothing(self, slow: Case) -> None:
        """Checkpoints overlap the incident, as often as they come outside, and so do vacuums: that is said with both rates."""
        found = work(slow)["checkpoint"]

        assert found.inside > 5
        assert found.per_hour_outside is not None
        assert found.per_hour_inside < 3 * found.per_hour_outside
        assert "clue.upkeep" not in keys(slow)
        assert {
            (one.section, one.grade, one.values["upkeep"].kind)
            for one in slow.diagnosis.findings
            if one.key == "upkeep.innocent"
        } == {
            ("ruled_out", Grade.RULED_OUT, "checkpoint"),
            ("ruled_out", Grade.RULED_OUT, "autovacuum"),
        }

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
    assert not [one for one in case.diagnosis.findings if one.key.startswith("mechanism.statements")]
    assert verdicts["db_slow_or_locked"] is Verdict.NOT_DETERMINED


COMPLETE = (
    "{0:%Y-%m-%d %H:%M:%S}.000 UTC [9] LOG:  checkpoint complete: wrote 141 buffers (3.4%); 0 WAL file(s) added, 0 removed, 0 recycled; "
    "write=13.843 s, sync=SYNC s, total=13.848 s; sync files=0, longest=0.000 s, average=0.000 s; distance=642 kB, estimate=642 kB\n"
)
FREQUENT = (
    "{0:%Y-%m-%d %H:%M:%S}.000 UTC [9] LOG:  checkpoints are occurring too frequently (9 seconds apart)\n"
    '{0:%Y-%m-%d %H:%M:%S}.000 UTC [9] HINT:  Consider increasing the configuration parameter "max_wal_size".\n'
)
SLOW = "{0:%Y-%m-%d %H:%M:%S}.000 UTC [12] LOG:  duration: 2400.000 ms  statement: select 1\n"
DEADLOCK = (
    "{0:%Y-%m-%d %H:%M:%S}.000 UTC [88] ERROR:  deadlock detected\n"
    "{0:%Y-%m-%d %H:%M:%S}.000 UTC [88] DETAIL:  Process 88 waits for ShareLock on transaction 731; blocked by process 89.\n"
    "\tProcess 89 waits for ShareLock on transaction 730; blocked by process 88.\n"
)


def told(case: Case) -> dict[str, list[tuple[str, Grade]]]:
    """Return section and grade of the findings about the server's work and its locks, by key."""
    found: dict[str, list[tuple[str, Grade]]] = {}
    for one in case.diagnosis.findings:
        if one.key.startswith(
            (
                "upkeep.",
                "clue.frequent",
                "clue.upkeep",
                "mechanism.locks",
                "mechanism.deadlocks",
                "mechanism.statements",
            )
        ):
            found.setdefault(one.key, []).append((one.section, one.grade))
    return found


def steady(sync: str, *, inside: str | None = None) -> list[tuple[int, str]]:
    """Return a checkpoint every five minutes, with another wait for the disk in the incident."""
    return [
        (at, COMPLETE.replace("SYNC", inside if inside and 0 <= at < 120 else sync))
        for at in range(-1740, 1800, 300)
    ]


def test_a_checkpoint_without_a_wait_explains_nothing(tmp_path: Path) -> None:
    """Checkpoints overlap the incident, as often and as long as outside; of autovacuum the log tells nothing, and the setting is named."""
    case = investigated(tmp_path, START, 120, log_of(*steady("0.001")))
    found = told(case)

    assert found == {
        "upkeep.innocent": [("ruled_out", Grade.RULED_OUT)],
        "upkeep.unknown": [("not_determined", Grade.NOT_DETERMINED)],
    }
    (unknown,) = (one for one in case.diagnosis.findings if one.key == "upkeep.unknown")
    assert unknown.values["kinds"] == ["autovacuum"]
    assert unknown.needs[0].input.startswith("log_autovacuum_min_duration = 0")


def test_a_checkpoint_that_waits_for_the_disk_is_a_suspect(tmp_path: Path) -> None:
    """8 s of waiting against 0.001 s outside: consistent with a busy disk, and no word of innocence."""
    found = told(investigated(tmp_path, START, 120, log_of(*steady("0.001", inside="8.000"))))

    assert found["clue.upkeep"] == [("clues", Grade.CLUE)]
    assert "upkeep.innocent" not in found


def test_no_checkpoint_in_the_incident_is_no_sign(tmp_path: Path) -> None:
    """Where none overlaps and others are logged, that is said; it is no proof of more."""
    lines = [one for one in steady("0.001") if one[0] < 0]
    found = told(investigated(tmp_path, START, 120, log_of(*lines)))

    assert found["upkeep.innocent"] == [("ruled_out", Grade.NO_SIGN)]


def test_without_a_line_both_are_not_determined(tmp_path: Path) -> None:
    """A log that tells of neither checkpoints that ended nor autovacuum leaves both open, each with its setting."""
    case = investigated(tmp_path, START, 120, log_of())
    (found,) = (one for one in case.diagnosis.findings if one.key == "upkeep.unknown")
    needs = [one.input for one in found.needs]

    assert [need.partition(" = ")[0] for need in needs] == ["log_checkpoints", "log_autovacuum_min_duration"]


def test_too_frequent_checkpoints_are_told(tmp_path: Path) -> None:
    """What the server says itself is told with the closest two, in the incident as consistent with a busy disk; its checkpoints are then not cleared."""
    case = investigated(tmp_path, START, 120, log_of((30, FREQUENT), (50, FREQUENT), *steady("0.001")))
    (found,) = (one for one in case.diagnosis.findings if one.key == "clue.frequent")

    assert (found.section, found.grade) == ("clues", Grade.CLUE)
    assert (found.values["frequent"].n, found.values["frequent"].closest_s, found.values["during"]) == (
        2,
        9,
        True,
    )
    assert "upkeep.innocent" not in told(case)


def test_outside_the_incident_they_are_clues(tmp_path: Path) -> None:
    """Lock waits, deadlocks and slow statements twenty minutes before are told with their distance, and are no part of the mechanism."""
    case = investigated(
        tmp_path, START, 120, log_of((-1200, WAIT), (-1190, DEADLOCK), (-1180, SLOW), *steady("0.001"))
    )
    found = told(case)

    assert found["mechanism.locks"] == found["mechanism.deadlocks"] == [("clues", Grade.CLUE)]
    assert found["mechanism.statements_apart"] == [("clues", Grade.CLUE)]
    (locks,) = (one for one in case.diagnosis.findings if one.key == "mechanism.locks")
    assert locks.values["apart"] is not None
    assert -1300 < locks.values["apart"] < -1100


def test_without_an_incident_they_are_told(tmp_path: Path) -> None:
    """A server's log alone tells who waited for whom, the deadlock, the slow statement and what it says of its checkpoints."""
    (tmp_path / "postgresql.log").write_text(
        log_of((10, WAIT), (20, DEADLOCK), (30, SLOW), (40, FREQUENT)), encoding="utf-8"
    )
    case = pipeline.investigate([str(tmp_path)], pipeline.Options(tz="UTC"))

    assert told(case) == {
        key: [("mechanism", Grade.VERIFIED)]
        for key in ("mechanism.locks", "mechanism.statements_apart", "clue.frequent", "mechanism.deadlocks")
    }
    assert [one.section for one in case.diagnosis.findings if one.key == "summary.locks"] == ["summary"]


STOP = "{0:%Y-%m-%d %H:%M:%S}.000 UTC [7] LOG:  received fast shutdown request\n"
READY = "{0:%Y-%m-%d %H:%M:%S}.000 UTC [8] LOG:  database system is ready to accept connections\n"


@pytest.mark.parametrize("failing", [True, False], ids=["in an incident", "without one"])
def test_each_stop_of_the_server_is_told(tmp_path: Path, failing: bool) -> None:
    """Two stops are two, each with when the server was open again."""
    log = log_of((10, STOP), (15, READY), (60, STOP), (68, READY))
    if failing:
        case = investigated(tmp_path, START, 120, log)
    else:
        (tmp_path / "postgresql.log").write_text(log, encoding="utf-8")
        case = pipeline.investigate([str(tmp_path)], pipeline.Options(tz="UTC"))
    (found,) = (
        one
        for one in case.diagnosis.findings
        if (one.key, one.section) == ("mechanism.server_end", "mechanism")
    )

    assert found.values["n"] == 2
    assert [stop["shut"] for stop in found.values["stops"]] == [5, 8]
    assert len(found.refs) == 4
    assert [row.kind for row in case.diagnosis.timeline if row.key == "row.lifecycle"] == [
        "stop",
        "start",
        "stop",
        "start",
    ]


def test_where_redis_failed_nobody_asks_for_autovacuum(tmp_path: Path) -> None:
    """A log that does not tell of the server's work leaves no question where every failure names another server."""
    lines = [
        f"{START + dt.timedelta(seconds=at):%Y-%m-%dT%H:%M:%SZ} ERROR shop: redis.exceptions.TimeoutError: Timeout reading from cache:6379"
        for at in range(3, 120, 2)
    ]
    (tmp_path / "shop.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "postgresql.log").write_text(log_of(), encoding="utf-8")
    case = pipeline.investigate([str(tmp_path)], pipeline.Options(tz="UTC"))

    assert case.facts[Incidents].primary() is not None
    assert "upkeep.unknown" not in told(case)


def test_a_log_that_ends_before_is_asked_for(tmp_path: Path) -> None:
    """Checkpoints of a log that does not reach over the incident clear nothing: the rest of it is asked for, with a command."""
    (tmp_path / "inputs").mkdir()
    lines = [(at, text) for at, text in steady("0.001") if at < 0]
    log = "".join(text.format(START + dt.timedelta(seconds=at)) for at, text in lines)
    case = investigated(tmp_path / "inputs", START, 120, log)
    (found,) = (one for one in case.diagnosis.findings if one.key == "upkeep.unknown")

    assert found.values["kinds"] == ["checkpoint", "autovacuum"]
    assert found.needs[0].input == "the server's log over the whole incident"
    assert all(need.command for need in found.needs)
