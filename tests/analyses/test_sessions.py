"""Snapshots of a real PostgreSQL whose sessions are known one by one, in every shape that psql prints, are classified exactly."""

from __future__ import annotations

import datetime as dt
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from forensics import pipeline
from forensics.model.facts import Sessions, Snapshot
from forensics.report.statements import Statements

FOLDER = Path(__file__).parents[2] / "fixtures" / "activity"
SAID: dict[str, Any] = tomllib.loads((FOLDER / "expected.toml").read_text("utf-8"))
FILES = {name: row for name, row in SAID.items() if name.endswith((".txt", ".csv", ".json"))}
STATES: dict[str, dict[str, int]] = {**SAID["states"], "psql": {"active": 1}}
WHOLE_S = dt.timedelta(seconds=1)
"""A stamp of ``\\watch`` and a file's name have whole seconds."""
CASE = "[database]\nidle_in_transaction_s = {}\nmax_connections = 77\n"


@pytest.fixture(scope="module")
def told() -> dict[str, Sessions]:
    """Return what the analysis says of each file."""
    return {
        name: pipeline.investigate([str(FOLDER / "snapshots" / name)], pipeline.Options(tz="UTC")).facts[
            Sessions
        ]
        for name in FILES
    }


def listed(name: str) -> bool:
    """Does a file list the sessions, and not only who waits for whom?"""
    return "pairs" not in FILES[name]["shows"]


def moment(snapshot: Snapshot) -> dt.datetime:
    """Return a snapshot's instant."""
    assert snapshot.at is not None
    return dt.datetime.fromtimestamp(snapshot.at / 1e6, dt.UTC)


@pytest.mark.parametrize("name", FILES)
class TestEveryShape:
    """What holds of a snapshot in whatever shape it is printed."""

    def test_sessions_of_each_application_by_state(self, name: str, told: dict[str, Sessions]) -> None:
        """Every session of a client is counted once, in its state; the server's own processes are not, a walsender among them."""
        found = told[name].snapshots

        assert len(found) == FILES[name]["snapshots"]
        for snapshot in found if listed(name) else ():
            by_name = {app or "": dict(states) for app, _, states in snapshot.applications}
            assert by_name == STATES
            assert snapshot.total == sum(sum(states.values()) for states in STATES.values())
            assert snapshot.background == SAID["others"]
            assert dict(snapshot.states) == dict(
                sum((Counter(states) for states in STATES.values()), Counter())
            )

    def test_its_instant_and_how_it_is_known(self, name: str, told: dict[str, Sessions]) -> None:
        """A snapshot lies where it was taken, or says that this is not known, or that it was taken later."""
        row = FILES[name]
        for snapshot in told[name].snapshots:
            assert snapshot.dated == row["dated"]
            if row["dated"] == "unknown":
                assert snapshot.at is None
            elif row["dated"] == "newest":
                assert moment(snapshot) <= row["before"]
            else:
                assert row["after"] - WHOLE_S <= moment(snapshot) <= row["before"]

    def test_who_waits_for_whom(self, name: str, told: dict[str, Sessions]) -> None:
        """Three sessions wait in a queue, and one at its head blocks them all; without that knowledge they only wait."""
        for snapshot in told[name].snapshots:
            heads = [
                (int(one.pid), one.application, [int(pid) for pid in one.waiters])
                for one in snapshot.blockers
            ]
            expected = [(SAID["holder"], "billing", sorted(SAID["waiters"]))]

            assert heads == (expected if "queue" in FILES[name]["shows"] else [])
            assert snapshot.waiting == len(SAID["waiters"])

    def test_who_idles_in_a_transaction(self, name: str, told: dict[str, Sessions]) -> None:
        """Sessions that idle in a transaction are named, aborted or not; only the old one is a candidate; the idle pool is neither."""
        shows = FILES[name]["shows"]
        for snapshot in told[name].snapshots if listed(name) else ():
            pids = {int(one.pid) for one in snapshot.idlers}
            candidates = {int(one.pid): one.age_s or 0 for one in told[name].candidates(snapshot)}

            assert pids == set(SAID["idle_in_transaction"])
            assert not pids & set(SAID["pool"])
            assert set(candidates) == (
                {one["pid"] for one in SAID["candidate"]} if "ages" in shows else set()
            )
            assert all(
                SAID["candidate"][0]["least_s"] <= age <= SAID["oldest_s"] + 1 for age in candidates.values()
            )
            assert sum(one.aborted for one in snapshot.idlers) == 1

    def test_what_is_held(self, name: str, told: dict[str, Sessions]) -> None:
        """What a session holds is said where the locks are given, of the tables alone."""
        for snapshot in told[name].snapshots if listed(name) else ():
            held = {one.application: one.holds for one in snapshot.idlers}

            if "locks" in FILES[name]["shows"]:
                assert "RowExclusiveLock on account" in str(held["billing"])
                assert "AccessShareLock on account" in str(held["reports"])
                assert held["shop-jobs"] is None
            else:
                assert set(held.values()) == {None}

    def test_the_limit(self, name: str, told: dict[str, Sessions]) -> None:
        """max_connections stands beside the sessions only where the page shows it."""
        limits = {snapshot.limit for snapshot in told[name].snapshots}

        assert limits == {SAID["max_connections"] if "limit" in FILES[name]["shows"] else None}


def test_threshold_and_limit_of_the_case_file(tmp_path: Path) -> None:
    """The case file gives the age from which an idle transaction is named, and the limit where the page shows none."""
    case = tmp_path / "case.toml"
    case.write_text(CASE.format(2), encoding="utf-8")
    found = pipeline.investigate(
        [str(FOLDER / "snapshots" / "aligned.txt")], pipeline.Options(case=case)
    ).facts[Sessions]

    assert [one.application for one in found.candidates(found.snapshots[0])] == [
        "billing",
        "reports",
        "shop-jobs",
    ]
    assert found.snapshots[0].limit == 77


def test_sessions_that_wait_for_each_other(tmp_path: Path) -> None:
    """In a circle of waits everyone is named, and nothing runs for ever."""
    path = tmp_path / "now.csv"
    path.write_text(
        "now,pid,state,wait_event_type,blocked_by\n2026-11-30 10:00:00+00,1,active,Lock,{2}\n2026-11-30 10:00:00+00,2,active,Lock,{1}\n"
    )
    found = pipeline.investigate([str(path)], pipeline.Options()).facts[Sessions].snapshots[0]

    assert [(one.pid, one.waiters) for one in found.blockers] == [("1", ("2",)), ("2", ("1",))]


STACK = """services:
  db:
    image: postgres:16
    command: {}
"""
GAUGE = '{{"ts": "2026-11-30T18:0{}:00Z", "level": "ok", "connections": 9, "max_connections": 60}}\n'


def beside(folder: Path, case: str = "", name: str = "aligned.txt", **files: str) -> Snapshot:
    """Return a snapshot that lies among other inputs."""
    inputs = folder / "inputs"
    inputs.mkdir()
    (inputs / name).write_bytes((FOLDER / "snapshots" / name).read_bytes())
    for stem, text in files.items():
        (inputs / stem.replace("_", ".")).write_text(text, encoding="utf-8")
    (folder / "case.toml").write_text(case, encoding="utf-8")
    options = pipeline.Options(tz="UTC", case=folder / "case.toml")
    (found,) = pipeline.investigate([str(inputs)], options).facts[Sessions].snapshots
    return found


@pytest.mark.parametrize(
    "command",
    [
        "postgres -c max_connections=200",
        '["postgres", "-c", "max_connections=200"]',
        "-c shared_buffers=1GB -c max_connections=200",
        "[postgres, -N, '200']",
    ],
)
def test_the_limit_of_a_compose_file(tmp_path: Path, command: str) -> None:
    """What the server is told to be started with stands beside the sessions, with its place, where the snapshot shows no limit."""
    found = beside(tmp_path, compose_yaml=STACK.format(command))

    assert (found.limit, found.limit_where) == (200, "compose.yaml:4")


def test_the_limit_of_a_configuration(tmp_path: Path) -> None:
    """postgresql.conf says it as well; of two files that say different things none counts, and of two that agree the first is named."""
    conf = "# settings\nmax_connections = {}\n"
    agreed = beside(tmp_path, compose_yaml=STACK.format("postgres -c max_connections=200"), postgresql_conf=conf.format(200))  # fmt: skip
    (tmp_path / "other").mkdir()
    differing = beside(tmp_path / "other", compose_yaml=STACK.format("postgres -c max_connections=200"), postgresql_conf=conf.format(90))  # fmt: skip

    assert agreed.limit == 200
    assert (differing.limit, differing.limit_where) == (None, None)


def test_what_comes_before_a_file(tmp_path: Path) -> None:
    """The snapshot's own limit, then that of a gauge of the logs, then the case file's, whose place is not told."""
    files = {"compose_yaml": STACK.format("postgres -c max_connections=200")}
    gauge = "".join(GAUGE.format(at) for at in range(5))
    stated = "[database]\nmax_connections = 77\n"
    found = []
    for name, given in {
        "own": {"name": "with_locks.txt", "gauge_jsonl": gauge, "case": stated},
        "gauge": {"gauge_jsonl": gauge, "case": stated},
        "case": {"case": stated},
        "file": {},
    }.items():
        (tmp_path / name).mkdir()
        one = beside(tmp_path / name, **files, **given)
        found.append((one.limit, one.limit_where))

    assert found == [
        (SAID["max_connections"], None),
        (60, "gauge.jsonl:1"),
        (77, None),
        (200, "compose.yaml:4"),
    ]


def test_another_servers_setting_is_none_of_this_one(tmp_path: Path) -> None:
    """A MySQL server of the same stack, to which a service connects, says nothing of PostgreSQL."""
    stack = (
        STACK.format("--max-connections=200").replace("postgres:16", "mysql:8").replace("  db:", "  store:")
    )
    found = beside(
        tmp_path, compose_yaml=stack + "  api:\n    environment: {DATABASE_URL: mysql://app:x@store/app}\n"
    )

    assert (found.limit, found.limit_where) == (None, None)


@pytest.mark.parametrize(
    ("lang", "said"),
    [("en", ": 15 of 200 (max_connections of compose.yaml:4)"), ("pt-BR", ": 15 de 200 (max_connections de compose.yaml:4)")],
)  # fmt: skip
def test_its_place_is_told(tmp_path: Path, lang: str, said: str) -> None:
    """In the summary and in the mechanism, since no line of the server states it."""
    found = beside(tmp_path, compose_yaml=STACK.format("postgres -c max_connections=200"))
    say = Statements(lang, "UTC").say

    for key in ("summary.snapshot", "mechanism.sessions"):
        assert said in say(key, {"snapshot": found, "apart": None, "more": 0})
