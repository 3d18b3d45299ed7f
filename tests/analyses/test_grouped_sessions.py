"""Sessions of a real PostgreSQL that a query counted in groups are told as those that it lists one by one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from forensics import pipeline
from forensics.model.facts import Sessions, Snapshot

FOLDER = Path(__file__).parents[2] / "fixtures" / "activity" / "grouped"
STATES = {
    "billing": {"idle in transaction": 1},
    "shop-api": {"idle": 5, "active": 2},
    "shop-worker": {"active": 3},
    "psql": {"active": 1},
    "": {"idle": 1},
}
ALL = sum((Counter(states) for states in STATES.values()), Counter[str]())
OTHERS = 5
"""The server's own processes."""
BY_APPLICATION = {
    "aligned.txt": "now", "expanded.txt": "now", "unaligned.txt": "now", "grouped.csv": "now", "with_limit.txt": "now", "waits.txt": "now", "typed.txt": "now",
    "grouped.json": "now", "undated.txt": "unknown", "undated.csv": "unknown", "named_20261201T040700Z.txt": "name", "watch.txt": "watch",
}  # fmt: skip
"""How the instant of each file is known."""
BY_OTHERS = {"users.txt": ("user", {"app": 13}), "databases.txt": ("database", {"shop": 13}), "addresses.txt": ("address", {"127.0.0.1": 13})}  # fmt: skip


def snapshots(name: str) -> tuple[Snapshot, ...]:
    """Return the snapshots of a file."""
    return pipeline.investigate([str(FOLDER / name)], pipeline.Options(tz="UTC")).facts[Sessions].snapshots


@pytest.mark.parametrize("name", BY_APPLICATION)
def test_states_of_each_application(name: str) -> None:
    """Thirteen sessions of four applications and a nameless one, each group in its state; the server's own processes are left out."""
    found = snapshots(name)

    assert len(found) == (3 if name == "watch.txt" else 1)
    for one in found:
        assert {app or "": dict(states) for app, _, states in one.applications} == STATES
        assert (one.total, one.by, one.mixed) == (13, "application", False)
        assert one.background == (OTHERS if name in ("aligned.txt", "typed.txt") else 0)
        assert one.limit == (40 if name == "with_limit.txt" else None)
        assert dict(one.states) == dict(ALL)
        assert one.dated == BY_APPLICATION[name]
        assert (one.at is None) == (one.dated == "unknown")


@pytest.mark.parametrize("name", BY_OTHERS)
def test_sessions_of_each_user_database_and_address(name: str) -> None:
    """Where no application was asked for, sessions are told apart by what was."""
    (found,) = snapshots(name)

    assert (found.by, {whose: n for whose, n, _ in found.applications}) == BY_OTHERS[name]


def test_waits_are_counted() -> None:
    """Three sessions wait for a lock, one for a transaction and two for a row; two sleep, and waiting for a client is no wait."""
    (found,) = snapshots("waits.txt")

    assert found.waiting == 3
    assert dict(found.waits) == {"Lock: tuple": 2, "Lock: transactionid": 1, "Timeout: PgSleep": 2}
    assert not found.idlers


def test_states_alone() -> None:
    """Grouped by the state and nothing else, the states are told and whose they are is not."""
    (found,) = snapshots("states.txt")

    assert dict(found.states) == dict(ALL)
    assert (found.by, found.total) == (None, 13)


def test_the_servers_own_processes_may_be_among_them() -> None:
    """Grouped by application alone, nothing tells the five processes of the server from the nameless session."""
    (found,) = snapshots("everything.txt")

    assert (found.total, found.mixed) == (13 + OTHERS, True)


def test_other_tables_that_count_are_none(tmp_path: Path) -> None:
    """A table of orders by state counts no sessions."""
    (tmp_path / "orders.txt").write_text(
        " state | count \n-------+-------\n paid  |     7\n open  |     2\n(2 rows)\n"
    )
    case = pipeline.investigate([str(tmp_path)], pipeline.Options(tz="UTC"))

    assert not case.facts[Sessions].snapshots
