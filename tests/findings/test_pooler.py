"""A real PgBouncer whose callers wait: what its pages and its log tell, and which limit is whose."""

from __future__ import annotations

import datetime as dt
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from forensics import pipeline
from forensics.analyses import poolers
from forensics.model.facts import Poolers
from forensics.model.finding import Grade, Verdict
from forensics.report.statements import Statements

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
    stats, period = (found["mechanism.pooler_stats"].values[name] for name in ("stats", "period"))

    assert {key: (one.section, one.grade) for key, one in found.items()} == {
        "mechanism.pooler": ("mechanism", Grade.VERIFIED),
        "mechanism.pooler_stats": ("mechanism", Grade.VERIFIED),
    }
    assert period.wait_s == 27.615449  # five callers at once, counted in the two seconds in which they ended
    assert (period.where, [(one.where, one.wait_s) for one in stats.worst]) == (
        "inside",
        [("inside", 27.615449), ("partly", 0.006041)],
    )
    assert stats.wait_outside == 0.0
    assert not found["mechanism.pooler_stats"].values["slower"]


def test_the_limit_of_a_pooler_is_not_the_servers() -> None:
    """Clients that PgBouncer refuses for max_client_conn do not show that PostgreSQL was full."""
    found = pipeline.investigate([str(LIMITS)], pipeline.Options(tz="UTC")).diagnosis.judgements
    verdicts = {one.id: one.verdict for one in found}

    assert verdicts["db_slots_exhausted"] not in (Verdict.CONFIRMED, Verdict.SUPPORTED)
    assert verdicts["app_pool_exhausted"] is Verdict.CONFIRMED


MINUTE = 60_000_000


def lines(*ends: float, pid: str = "1") -> pl.DataFrame:
    """Return lines of statistics at some minutes."""
    return pl.DataFrame(
        [
            {"service": "pgbouncer", "pid": pid, "ts": round(at * MINUTE), "source": 0, "line": place}
            for place, at in enumerate(ends, 1)
        ]
    )


@pytest.mark.parametrize(
    ("lo", "hi", "where"),
    [
        (2.0, 5.0, ["outside", "outside", "inside", "inside", "inside", "after", "outside"]),
        (2.5, 4.5, ["outside", "outside", "partly", "inside", "partly", "outside", "outside"]),
        (2.2, 2.8, ["outside", "outside", "partly", "outside", "outside", "outside", "outside"]),
        (2.0, 3.5, ["outside", "outside", "inside", "partly", "outside", "outside", "outside"]),
    ],
)
def test_both_ends_of_a_period_count(lo: float, hi: float, where: list[str]) -> None:
    """One that only ends inside the incident, or only begins there, lies partly inside: neither inside nor outside."""
    found = poolers.placed(lines(1, 2, 3, 4, 5, 6, 7), round(lo * MINUTE), round(hi * MINUTE))

    assert found["where"].to_list() == where


def test_begins_are_those_of_the_same_process_and_reach_over_no_hole() -> None:
    """Lines of two processes interleave; behind a hole, and at the first line, a period is as long as usual; a line alone tells no length."""
    both = pl.concat([lines(1, 2, 3, 7, 8), lines(1.5, 2.5, 3.5, pid="2")])
    found = poolers.placed(both, 0, MINUTE)
    begins = {(row["pid"], row["ts"] / MINUTE): row["start"] / MINUTE for row in found.iter_rows(named=True)}

    assert begins == {
        ("1", 1.0): 0.0, ("1", 2.0): 1.0, ("1", 3.0): 2.0, ("1", 7.0): 6.0, ("1", 8.0): 7.0, ("2", 1.5): 0.5, ("2", 2.5): 1.5, ("2", 3.5): 2.5,
    }  # fmt: skip
    alone = poolers.placed(lines(3), 2 * MINUTE, 4 * MINUTE)
    assert alone.select("start", "where").rows() == [(None, "partly")]


REFUSED = 'ERROR [shop] psycopg2.OperationalError: connection to server at "db", port 6432 failed: Connection refused'
START = dt.datetime(2026, 11, 30, 18, 0, tzinfo=dt.UTC)


def failing(folder: Path, first: int, last: int, waits: dict[int, int]) -> Case:
    """Return the case of a service that fails between two seconds, beside a pooler with a line a minute of which some tell of waits, in microseconds."""
    shop = [
        f"{START + dt.timedelta(seconds=at):%Y-%m-%dT%H:%M:%SZ} "
        + (REFUSED if first <= at <= last else 'INFO: 192.0.2.4:5000 - "GET /items HTTP/1.1" 200 OK')
        for at in range(-1200, 1201, 2)
    ]  # fmt: skip
    stats = [
        f"{START + dt.timedelta(minutes=at):%Y-%m-%d %H:%M:%S}.000 UTC [1] LOG stats: 3 xacts/s, 3 queries/s, in 9 B/s, out 9 B/s, xact 900 us, query 900 us, wait {waits.get(at, 10)} us"
        for at in range(-20, 21)
    ]
    (folder / "shop.log").write_text("\n".join(shop) + "\n", encoding="utf-8")
    (folder / "pgbouncer.log").write_text("\n".join(stats) + "\n", encoding="utf-8")
    return pipeline.investigate([str(folder)], pipeline.Options(tz="UTC"))


@pytest.mark.parametrize(
    ("waits", "last", "where", "english", "portuguese"),
    [
        ({0: 9_000_000}, 160, None, "", ""),
        ({2: 4_000_000, 1: 9_000_000}, 160, "inside", "in the worst period inside the incident, 2026-11-30 18:01:00 +00:00 to 18:02:00, against", "em seu pior período dentro do incidente, de 2026-11-30 18:01:00 +00:00 a 18:02:00, contra"),
        ({1: 9_000_000}, 160, "partly", "in a period that lies only partly inside the incident, 2026-11-30 18:00:00 +00:00 to 18:01:00", "em um período só em parte dentro do incidente, de 2026-11-30 18:00:00 +00:00 a 18:01:00"),
        ({4: 9_000_000}, 180, "after", "in a period that begins after the incident, which counts the waits that end in it, 2026-11-30 18:03:00 +00:00 to 18:04:00", "em um período que começa depois do incidente, que conta as esperas que nele terminam, de 2026-11-30 18:03:00 +00:00 a 18:04:00"),
    ],
)  # fmt: skip
def test_a_period_that_is_partly_inside_is_told_as_that(
    tmp_path: Path, waits: dict[int, int], last: int, where: str | None, english: str, portuguese: str
) -> None:
    """The period before the incident counts in no way, one wholly inside comes first, and another says where it lies."""
    case = failing(tmp_path, 30, last, waits)
    found = {one.key: one for one in case.diagnosis.findings if one.key.startswith("mechanism.pooler")}

    assert set(found) == ({"mechanism.pooler_stats"} if where else set())
    for one in found.values():
        assert one.values["period"].where == where
        assert english in Statements("en", "UTC").say(one.key, one.values)
        assert portuguese in Statements("pt-BR", "UTC").say(one.key, one.values)
