"""What lock waits say of slow queries: each once, by its interval, and without asking for settings that the log shows to be on."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from forensics import pipeline
from forensics.model.facts import Locks
from forensics.model.finding import Verdict
from forensics.report.statements import Statements

if TYPE_CHECKING:
    from forensics.model.case import Case

START = dt.datetime(2026, 11, 29, 12, 10, tzinfo=dt.UTC)
FLEET = Path(__file__).parents[2] / "fixtures" / "incidents" / "prisma-replicas" / "inputs"
POOL = "QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00"


def waiting(at: str, pid: int, ms: float, *, holder: str | None = "50") -> str:
    """Return the lines of a session that still waits at an instant."""
    head = f"2026-11-29 {at} UTC [{pid}] app@shop"
    detail = f"{head} DETAIL:  Process holding the lock: {holder}. Wait queue: {pid}.\n" if holder else ""
    return (
        f"{head} LOG:  process {pid} still waiting for ShareLock on transaction 9 after {ms:.3f} ms\n{detail}"
    )


def acquired(at: str, pid: int, ms: float) -> str:
    """Return the line of a lock that was obtained."""
    return f"2026-11-29 {at} UTC [{pid}] app@shop LOG:  process {pid} acquired ShareLock on transaction 9 after {ms:.3f} ms\n"


def investigated(folder: Path, server: str) -> Case:
    """Return the case of a service whose pool runs out from 12:10 to 12:12, beside its server's log."""

    def line(second: int, message: str) -> str:
        return f"{START + dt.timedelta(seconds=second):%Y-%m-%dT%H:%M:%SZ} {message}"

    ok = 'INFO: 192.0.2.4:5000 - "GET /items HTTP/1.1" 200 OK'
    lines = [
        *(line(at, ok) for at in range(-1800, 0, 2)),
        *(line(at, f"ERROR shop: sqlalchemy.exc.TimeoutError: {POOL}") for at in range(30, 120, 3)),
        *(line(at, ok) for at in range(180, 1200, 2)),
    ]
    (folder / "shop.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "postgresql.log").write_text(server, encoding="utf-8")
    return pipeline.investigate([str(folder)], pipeline.Options(tz="UTC"))


def judged(case: Case) -> tuple[Verdict, str, dict[str, object]]:
    """Return verdict, reason and values of slow queries or locks."""
    (one,) = [one for one in case.diagnosis.judgements if one.id == "db_slow_or_locked"]
    return one.verdict, one.why, one.values


def asked(case: Case) -> str:
    """Return the commands of all open questions."""
    return " ".join(need.command for one in case.diagnosis.open_questions for need in one.needs)


def test_a_wait_that_spans_the_incident(tmp_path: Path) -> None:
    """No line lies near the window, but the wait covers it: supported, with no question about log_lock_waits."""
    case = investigated(
        tmp_path, waiting("12:07:00.000", 51, 1000.1) + acquired("12:21:05.000", 51, 846000.0)
    )
    verdict, why, values = judged(case)

    assert (verdict, why) == (Verdict.SUPPORTED, "slow.locks")
    assert (values["waits"], values["ended"], values["holders"]) == (1, 0, 1)
    assert "log_lock_waits" not in asked(case)
    assert "act.lock_logging" not in {one.key for one in case.diagnosis.actions}


def test_three_waits_are_three(tmp_path: Path) -> None:
    """With a DETAIL each they make six lines, which confirmed."""
    server = "".join(waiting(f"12:10:{20 + at}.000", 51 + at, 1000.1) for at in range(3))
    case = investigated(tmp_path, server)
    verdict, _, values = judged(case)

    assert verdict is Verdict.SUPPORTED
    assert values["waits"] == 3
    assert (
        Statements("en", "UTC").say("why.slow.locks", values)
        == "3 waits for locks in the server's log, for 1 holder"
    )


@pytest.mark.parametrize(("holder", "advised"), [("50", False), (None, True)])
def test_logging_is_advised_where_no_holder_is_named(
    tmp_path: Path, holder: str | None, *, advised: bool
) -> None:
    """Lines that name the holder show that the setting is on."""
    case = investigated(tmp_path, waiting("12:10:20.000", 51, 1000.1, holder=holder))

    assert ("act.lock_logging" in {one.key for one in case.diagnosis.actions}) is advised


def test_a_log_with_lock_waits_elsewhere_logs_them(tmp_path: Path) -> None:
    """A wait 25 minutes before decides nothing, but nobody has to ask whether waits are logged."""
    case = investigated(tmp_path, waiting("11:45:01.000", 51, 1000.1) + acquired("11:45:02.000", 51, 2000.1))
    verdict, why, values = judged(case)

    assert (verdict, why, values) == (Verdict.NOT_DETERMINED, "slow.logged", {"waits": 2, "durations": 0})
    assert "log_lock_waits" not in asked(case)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (waiting("12:10:20.000", 51, 1000.1), "from 2026-11-29 12:10:19 +00:00 on, last seen waiting at 12:10:20, the longest ≥ 1"),
        (
            waiting("12:10:20.000", 51, 1000.1) + waiting("12:10:25.000", 52, 1000.1) + acquired("12:10:40.000", 51, 21000.1),
            "from 2026-11-29 12:10:19 +00:00 on, those that did not obtain it last seen waiting at 12:10:25",
        ),
        (waiting("12:10:20.000", 51, 1000.1) + acquired("12:10:40.000", 51, 21000.1), "from 2026-11-29 12:10:19 +00:00 to 12:10:40"),
    ],
)  # fmt: skip
def test_a_wait_without_an_end_has_none(tmp_path: Path, lines: str, said: str) -> None:
    """The last line of a wait that was never obtained saw it waiting: that is no end."""
    case = investigated(tmp_path, lines)
    told = [one for one in case.diagnosis.findings if one.key == "mechanism.locks"]

    assert any(said in Statements("en", "UTC").say(one.key, one.values) for one in told)


def test_a_session_that_waits_again_waits_twice(tmp_path: Path) -> None:
    """What lies between two waits of one session for the same lock is no wait."""
    case = investigated(
        tmp_path,
        waiting("11:45:01.000", 51, 1000.0)
        + acquired("11:45:02.000", 51, 2000.0)
        + waiting("12:25:01.000", 51, 1000.0)
        + acquired("12:25:02.000", 51, 2000.0),
    )
    (group,) = case.facts[Locks].groups

    assert [(one.last - one.began) / 1_000_000 for one in group.waits] == [2.0, 2.0]
    assert (group.waiters, group.obtained) == (("51",), 1)
    assert judged(case)[0] is Verdict.NOT_DETERMINED


def test_sessions_that_run_for_seconds_in_a_snapshot() -> None:
    """73 workers were 7.9 to 20.7 s in their statements at 18:45:30: slow at that instant, and who held the slots is known."""
    case = pipeline.investigate([str(FLEET)], pipeline.Options(case=FLEET.parent / "case.toml"))
    verdict, why, values = judged(case)

    assert (verdict, why) == (Verdict.SUPPORTED, "slow.busy")
    assert (
        Statements("en", "UTC")
        .say(f"why.{why}", values)
        .startswith(
            "73 of 100 sessions in a snapshot at 2026-11-30 18:45:30 +00:00 had been in their statement for 7.9 to 20.7 s"
        )
    )
    assert "open.slots" not in {one.question for one in case.diagnosis.open_questions}
