"""Lock waits of a real PostgreSQL, by holder."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from forensics import pipeline
from forensics.model.facts import Clocks, Locks
from forensics.pipeline import Options
from forensics.report.statements import Statements

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


COLUMNS = "now,pid,backend_type,application_name,state,wait_event_type,wait_event,xact_start"
HELD = "50,client backend,shop-jobs,idle in transaction,Client,ClientRead,2026-11-29 11:58:00+00"


def beside(folder: Path, at: str, *rows: str, log: str = LOG) -> LockGroup:
    """Return the waits of the log above with a snapshot of the server's sessions at a time of that day."""
    (folder / "postgresql.log").write_text(log, encoding="utf-8")
    lines = [COLUMNS, *(f"2026-11-29 {at}+00,{row}" for row in rows)]
    (folder / "sessions.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (group,) = groups(folder)
    return group


def test_a_snapshot_during_the_waits_tells_whose_the_holder_is(tmp_path: Path) -> None:
    """Application, state, wait event and the begin of its transaction stand in the snapshot's line of that process."""
    group = beside(tmp_path, "12:00:20", "51,client backend,shop-api,active,Lock,transactionid,2026-11-29 12:00:10+00", HELD)  # fmt: skip
    (one,) = group.seen

    assert (one.member.pid, one.member.application, one.member.state) == (
        "50",
        "shop-jobs",
        "idle in transaction",
    )
    assert (one.member.wait, one.member.xact_s, one.apart_s, one.later) == (
        "Client: ClientRead",
        140.0,
        0.0,
        False,
    )
    assert one.since == round(dt.datetime(2026, 11, 29, 11, 58, tzinfo=dt.UTC).timestamp()) * 1_000_000
    assert one.member.ref.line == 3
    assert group.application == "shop-jobs"


@pytest.mark.parametrize(
    ("at", "apart_s"), [("11:59:50", -20.0), ("12:01:40.002", 60.0), ("12:10:39", 598.999), ("12:10:41", None), ("11:50:09", None)]
)  # fmt: skip
def test_how_far_a_snapshot_lies_from_the_waits(tmp_path: Path, at: str, apart_s: float | None) -> None:
    """Up to ten minutes before or after it is told with its distance; further off another process may bear the number."""
    held = HELD.replace("11:58:00", "11:50:00")
    group = beside(tmp_path, at, held)

    assert [one.apart_s for one in group.seen] == (
        [] if apart_s is None else [pytest.approx(apart_s, abs=0.002)]
    )
    assert group.application is None


def test_a_snapshot_without_the_holder_tells_nothing(tmp_path: Path) -> None:
    """Neither other sessions nor a line that only bears the number say who it was."""
    others = [HELD.replace("50,", "49,", 1), "50,client backend,,,,,"]

    assert beside(tmp_path, "12:00:20", *others).seen == ()


def test_a_later_transaction_is_another_one(tmp_path: Path) -> None:
    """The session that held the lock may have begun anew when the snapshot was taken."""
    (one,) = beside(tmp_path, "12:02:00", HELD.replace("11:58:00", "12:01:00")).seen

    assert (one.later, one.member.xact_s) == (True, 60.0)


def test_the_nearest_of_several_snapshots(tmp_path: Path) -> None:
    """One during the waits comes before one of a minute later."""
    (tmp_path / "later.csv").write_text(f"{COLUMNS}\n2026-11-29 12:01:30+00,{HELD}\n", encoding="utf-8")

    assert [one.apart_s for one in beside(tmp_path, "12:00:30", HELD).seen] == [0.0]


@pytest.mark.parametrize("other", ["db-1", "replica-1"])
def test_of_two_servers_a_snapshot_is_of_either(tmp_path: Path, other: str) -> None:
    """Each server has process ids of its own, and a snapshot does not say whose it is."""
    checkpoints = "".join(
        f"{other:<10} | 2026-11-29 12:00:0{n}.000 UTC [27] LOG:  checkpoint starting: time\n"
        for n in range(5)
    )
    log = "".join(f"{'db-1':<10} | {line}\n" for line in LOG.splitlines()) + checkpoints

    assert len(beside(tmp_path, "12:00:20", HELD, log=log).seen) == (other == "db-1")


@pytest.mark.parametrize(
    ("lang", "at", "said"),
    [
        ("en", "12:00:20", ". A snapshot at 2026-11-29 12:00:20 +00:00, during these waits, lists process 50 of shop-jobs, idle in transaction, wait event Client: ClientRead, in a transaction since 2026-11-29 11:58:00 +00:00, 140 s (2 min 20 s) by then"),
        ("en", "12:01:40.002", ". A snapshot at 2026-11-29 12:01:40 +00:00, 60 s (1 min) after the nearest of these waits, lists process 50"),
        ("pt-BR", "12:00:20", ". Um snapshot de 2026-11-29 12:00:20 +00:00, durante essas esperas, lista o processo 50 de shop-jobs, ocioso em transação, evento de espera Client: ClientRead, em transação desde 2026-11-29 11:58:00 +00:00, há 140 s (2 min 20 s) então"),
        ("pt-BR", "11:59:50", ", 20 s antes da mais próxima dessas esperas, lista o processo 50"),
    ],
)  # fmt: skip
def test_it_is_told_in_both_languages(tmp_path: Path, lang: str, at: str, said: str) -> None:
    """With its distance, since an instant tells of no other."""
    group = beside(tmp_path, at, HELD)
    values = {"group": group, "n": 2, "apart": None, "seen": None}

    assert said in Statements(lang, "UTC").say("mechanism.locks", values)
    held = Statements("en", "UTC").say("summary.locks", values | {"pool": False})
    assert ("process 50 of shop-jobs held" in held) == (at == "12:00:20")


QUEUE = """\
2026-11-29 12:00:01.100 UTC [71] migrator@shop LOG:  process 71 still waiting for AccessExclusiveLock on relation 16501 of database 16384 after 1000.100 ms
2026-11-29 12:00:01.100 UTC [71] migrator@shop DETAIL:  Process holding the lock: 69. Wait queue: 71.
2026-11-29 12:00:01.100 UTC [71] migrator@shop STATEMENT:  ALTER TABLE orders ADD COLUMN note text
2026-11-29 12:00:08.100 UTC [80] shop@shop LOG:  process 80 still waiting for AccessShareLock on relation 16501 of database 16384 after 1000.100 ms
2026-11-29 12:00:08.100 UTC [80] shop@shop DETAIL:  Process holding the lock: 69. Wait queue: 71, 80.
2026-11-29 12:00:08.100 UTC [80] shop@shop STATEMENT:  SELECT total FROM orders WHERE id = $1
2026-11-29 12:00:09.100 UTC [81] shop@shop LOG:  process 81 still waiting for AccessShareLock on relation 16501 of database 16384 after 1000.100 ms
2026-11-29 12:00:09.100 UTC [81] shop@shop DETAIL:  Process holding the lock: 69. Wait queue: 71, 80, 81.
2026-11-29 12:00:30.000 UTC [71] migrator@shop ERROR:  canceling statement due to user request
2026-11-29 12:00:30.000 UTC [71] migrator@shop STATEMENT:  ALTER TABLE orders ADD COLUMN note text
2026-11-29 12:00:45.000 UTC [69] analytics@shop LOG:  duration: 812.000 ms
"""


def test_the_head_of_a_queue_is_told_with_its_statement(tmp_path: Path) -> None:
    """Who asks for a lock that excludes all others makes those wait that ask later, whoever holds it."""
    (tmp_path / "postgresql.log").write_text(QUEUE, encoding="utf-8")
    (group,) = groups(tmp_path)
    assert group.head is not None

    assert (group.head.pid, group.head.mode, group.head.statement, group.head.peer) == (
        "71", "AccessExclusiveLock", "ALTER TABLE orders", "migrator@shop",
    )  # fmt: skip
    assert (
        dt.datetime.fromtimestamp((group.head.cancelled or 0) / 1e6, dt.UTC).isoformat()
        == "2026-11-29T12:00:30+00:00"
    )
    assert group.kinds == (("AccessShareLock", 2), ("AccessExclusiveLock", 1))
    assert (group.object, group.holder_lines) == ("relation 16501 of database 16384", 1)


def test_a_queue_of_one_mode_has_no_head(tmp_path: Path) -> None:
    (tmp_path / "postgresql.log").write_text(LOG, encoding="utf-8")
    (group,) = groups(tmp_path)

    assert group.head is None
    assert group.kinds == (("ShareLock", 2),)


def test_waits_in_a_servers_log_are_no_calls_that_ended_elsewhere(tmp_path: Path) -> None:
    """A line a second after a wait began, and a request that ends four seconds later, say nothing of two clocks."""
    server, web = [], []
    for n in range(30):
        at = dt.datetime(2026, 11, 29, 12, 0, tzinfo=dt.UTC) + dt.timedelta(seconds=20 * n)
        server.append(
            f"{at:%Y-%m-%d %H:%M:%S}.000 UTC [{100 + n}] app@shop LOG:  process {100 + n} still waiting for ShareLock on transaction {n} after 1000.100 ms"
        )
        end = at + dt.timedelta(seconds=4, milliseconds=10)
        web.append(
            f'203.0.113.{n} - - [{end:%d/%b/%Y:%H:%M:%S} +0000] "GET /orders HTTP/1.1" 500 12 "-" "curl/8" 5.010'
        )
    (tmp_path / "postgresql.log").write_text("\n".join(server) + "\n", encoding="utf-8")
    (tmp_path / "access.log").write_text("\n".join(web) + "\n", encoding="utf-8")

    assert pipeline.investigate([str(tmp_path)], Options()).facts[Clocks].offsets == ()
