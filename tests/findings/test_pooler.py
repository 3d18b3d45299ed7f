"""A real PgBouncer whose callers wait: what its pages and its log tell, and which limit is whose."""

from __future__ import annotations

import datetime as dt
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from forensics import pipeline
from forensics.model.facts import Poolers
from forensics.model.finding import Grade, Verdict

if TYPE_CHECKING:
    from forensics.model.case import Case

FIXTURES = Path(__file__).parents[2] / "fixtures"
POOLER = FIXTURES / "activity" / "pooler"
SAID: dict[str, Any] = tomllib.loads((FIXTURES / "activity" / "pooler.toml").read_text("utf-8"))
LIMITS = FIXTURES / "counting" / "pgbouncer-limits" / "inputs"


def shown(name: str) -> Poolers:
    """Return what one page tells."""
    return pipeline.investigate([str(POOLER / name)], pipeline.Options(tz="UTC")).facts[Poolers]


def dated() -> str:
    """Name the page that has its instant in its name."""
    return next(path.name for path in POOLER.glob("pools_*.txt"))


@pytest.mark.parametrize("name", ["expanded.txt", "pools.csv", "with_sizes.txt", "watch.txt", dated()])
def test_every_shape_shows_who_waits(name: str) -> None:
    """Clients that wait and servers at work are those that were there; the console's own pool is none."""
    states = shown(name).states

    assert len(states) == (3 if name == "watch.txt" else 1)
    for one in states:
        assert (one.pool, one.waiting, one.clients, one.servers, one.idle) == (
            "shop/app",
            SAID["waiting"],
            SAID["servers"],
            SAID["servers"],
            0,
        )
        assert one.longest_wait_s is not None
        assert SAID["waited_s"] - 1 <= one.longest_wait_s <= SAID["held_s"]
        assert one.size == (SAID["servers"] if name == "with_sizes.txt" else None)
        assert (one.at is not None) == (one.dated != "unknown") == (name in ("watch.txt", dated()))


def test_nobody_waits() -> None:
    """Before the servers were held no client waits."""
    assert [one.waiting for one in shown("quiet.txt").states] == [0]


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    """Return the case of a service that fails for want of a connection while the servers are held."""
    folder = tmp_path_factory.mktemp("pooler")
    start = SAID["taken"] - dt.timedelta(seconds=3)
    lines = [
        f"{start + dt.timedelta(seconds=at):%Y-%m-%dT%H:%M:%SZ} ERROR shop: Connection terminated due to connection timeout"
        for at in range(0, 12, 1)
    ]
    (folder / "shop.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name in ("pgbouncer.log", dated()):
        (folder / name).write_bytes((POOLER / name).read_bytes())
    return pipeline.investigate([str(folder)], pipeline.Options(tz="UTC"))


def test_inside_the_incident_it_is_mechanism(case: Case) -> None:
    """The page and the log's own statistics are part of the mechanism; the log tells of the waits when they end."""
    found = {one.key: one for one in case.diagnosis.findings if one.key.startswith("mechanism.pooler")}
    stats = found["mechanism.pooler_stats"].values["stats"]

    assert {key: (one.section, one.grade) for key, one in found.items()} == {
        "mechanism.pooler": ("mechanism", Grade.VERIFIED),
        "mechanism.pooler_stats": ("mechanism", Grade.VERIFIED),
    }
    assert (
        stats.wait_inside == 27.615449
    )  # five callers at once, counted in the two seconds in which they ended
    assert stats.wait_outside == 0.0
    assert not found["mechanism.pooler_stats"].values["slower"]


def test_the_limit_of_a_pooler_is_not_the_servers() -> None:
    """Clients that PgBouncer refuses for max_client_conn do not show that PostgreSQL was full."""
    found = pipeline.investigate([str(LIMITS)], pipeline.Options(tz="UTC")).diagnosis.judgements
    verdicts = {one.id: one.verdict for one in found}

    assert verdicts["db_slots_exhausted"] not in (Verdict.CONFIRMED, Verdict.SUPPORTED)
    assert verdicts["app_pool_exhausted"] is Verdict.CONFIRMED
