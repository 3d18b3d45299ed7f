"""Refusals that only clients tell of, while the server's own log covers them without one: a contradiction, and no proof of full slots."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import pytest

from forensics import pipeline
from forensics.model.finding import Grade, Verdict
from forensics.report.statements import Statements

if TYPE_CHECKING:
    from pathlib import Path

    from forensics.model.case import Case
    from forensics.model.finding import Finding

START = dt.datetime(2026, 11, 29, 12, 10, tzinfo=dt.UTC)
FULL = "sorry, too many clients already"
ASYNCPG = f"asyncpg.exceptions.TooManyConnectionsError: {FULL}"
LIBPQ = f'psycopg2.OperationalError: connection to server at "db", port 6432 failed: FATAL:  {FULL}'
CHECKPOINT = "LOG:  checkpoint starting: time"


def server(*minutes: float, text: str = CHECKPOINT) -> list[str]:
    """Return lines of a server's log, some minutes from the first refusal on."""
    return [
        f"{START + dt.timedelta(minutes=at):%Y-%m-%d %H:%M:%S}.000 UTC [{100 + place}] {text}"
        for place, at in enumerate(minutes)
    ]


def client(text: str, waits: int = 0) -> list[str]:
    """Return the log of a service that serves, waits for its pool, is refused six times and serves again."""

    def line(second: float, message: str) -> str:
        return f"{START + dt.timedelta(seconds=second):%Y-%m-%dT%H:%M:%SZ} {message}"

    ok = 'INFO: 192.0.2.4:5000 - "GET /items HTTP/1.1" 200 OK'
    pool = "ERROR shop: sqlalchemy.exc.TimeoutError: QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00"
    return [
        *(line(at, ok) for at in range(-1200, -40, 2)),
        *(line(at - 30, pool) for at in range(waits)),
        *(line(at, f"ERROR shop: {text}") for at in range(6)),
        *(line(at, ok) for at in range(30, 1200, 2)),
    ]


def investigated(folder: Path, **logs: list[str]) -> Case:
    """Return the case of some logs."""
    for name, lines in logs.items():
        (folder / f"{name}.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return pipeline.investigate([str(folder)], pipeline.Options(tz="UTC"))


def judged(case: Case) -> dict[str, tuple[Verdict, str]]:
    """Return verdict and reason of every hypothesis."""
    return {one.id: (one.verdict, one.why) for one in case.diagnosis.judgements}


def told(case: Case) -> list[Finding]:
    """Return the findings on refusals, without what the summary repeats of the mechanism."""
    keys = ("mechanism.unlogged", "mechanism.refused", "mechanism.sides", "summary.both")
    return [
        one for one in case.diagnosis.findings if one.key in keys and one.key.partition(".")[0] == one.section
    ]


@pytest.mark.parametrize(("text", "peers"), [(ASYNCPG, []), (LIBPQ, ["db:6432"])])
def test_a_clean_log_that_covers_them_contradicts_them(tmp_path: Path, text: str, peers: list[str]) -> None:
    """Told with both sides and what else may be; slots are suspected at most, nothing is advised, and the server was not down."""
    case = investigated(tmp_path, shop=client(text), postgresql=server(-30, -5, 10, 30))
    (one,) = told(case)
    at = round(START.timestamp()) * 1_000_000

    assert (one.key, one.section, one.grade, one.scope) == (
        "mechanism.unlogged",
        "mechanism",
        Grade.INFERRED,
        "capacity only",
    )
    assert (one.values["n"], one.values["first"], one.values["last"]) == (6, at, at + 5_000_000)
    assert (one.values["since"], one.values["until"]) == (at - 1_800_000_000, at + 1_800_000_000)
    assert (one.values["peers"], one.values["elsewhen"], len(one.alternatives)) == (peers, 0, 3)
    assert len(one.refs) == 4
    assert judged(case)["db_slots_exhausted"] == (Verdict.SUSPECTED, "slots.unlogged")
    assert judged(case)["db_down"] == (Verdict.RULED_OUT, "db_down.unlogged")
    assert "act.budget" not in {act.key for act in case.diagnosis.actions}


@pytest.mark.parametrize(
    ("minutes", "why"),
    [((), "slots.refused"), ((-30, -5), "slots.refused"), ((0.05, 30), "slots.refused")],
    ids=["no log", "ends before", "begins after the first"],
)  # fmt: skip
def test_a_log_that_does_not_cover_them_contradicts_nothing(
    tmp_path: Path, minutes: tuple[float, ...], why: str
) -> None:
    """What a log does not reach it cannot lack."""
    logs = {"postgresql": server(*minutes)} if minutes else {}
    case = investigated(tmp_path, shop=client(ASYNCPG), **logs)

    assert told(case) == []
    assert judged(case)["db_slots_exhausted"] == (Verdict.CONFIRMED, why)


def test_one_refusal_of_its_own_ends_the_contradiction(tmp_path: Path) -> None:
    """The server's log tells of refusals in the incident: slots were full, however many of them it has."""
    log = sorted([*server(-30, 30), *server(0.02, text=f"FATAL:  {FULL}")])
    case = investigated(tmp_path, shop=client(ASYNCPG), postgresql=log)

    assert [one.key for one in told(case)] == ["mechanism.refused"]
    assert judged(case)["db_slots_exhausted"] == (Verdict.CONFIRMED, "slots.refused")


def test_refusals_at_another_time_show_that_the_log_has_them(tmp_path: Path) -> None:
    """A server that wrote two of them a quarter of an hour before is not set to keep them to itself."""
    log = sorted([*server(-30, 30), *server(-15, -14.9, text=f"FATAL:  {FULL}")])
    case = investigated(tmp_path, shop=client(ASYNCPG), postgresql=log)
    (one,) = told(case)

    assert (one.key, one.values["elsewhen"], len(one.alternatives)) == ("mechanism.unlogged", 2, 2)
    assert "and 2 at another time" in Statements("en", "UTC").say(one.key, one.values)


def test_it_is_not_told_as_the_servers_limit(tmp_path: Path) -> None:
    """Beside waits for a pool, refusals that the server's log contradicts make no second limit of the server."""
    case = investigated(tmp_path, shop=client(ASYNCPG, waits=4), postgresql=server(-30, 30))

    assert [one.key for one in told(case)] == ["mechanism.unlogged"]


@pytest.mark.parametrize(
    ("lang", "words", "why"),
    [
        ("en", "6 connections were refused for lack of slots from 2026-11-29 12:10:00 +00:00 to 12:10:05, addressed to db:6432, by the logs of clients alone: shop (6). The log of postgres, given from 2026-11-29 11:40:00 +00:00 to 2026-11-29 12:40:00 +00:00, has none of them, where PostgreSQL writes each refusal by default: the two contradict each other",
         "6 refusals for lack of slots in clients' logs and none in the log of postgres, which covers them"),
        ("pt-BR", "6 conexões recusadas por falta de vagas de 2026-11-29 12:10:00 +00:00 a 12:10:05, dirigidas a db:6432, só segundo os logs dos clientes: shop (6). O log de postgres, fornecido de 2026-11-29 11:40:00 +00:00 a 2026-11-29 12:40:00 +00:00, não traz nenhuma delas, onde o PostgreSQL por padrão registra cada recusa: os dois se contradizem",
         "6 recusas por falta de vagas nos logs dos clientes e nenhuma no log de postgres, que as cobre"),
    ],
)  # fmt: skip
def test_it_is_told_in_both_languages(tmp_path: Path, lang: str, words: str, why: str) -> None:
    """With who was asked, what the log covers, and what is left open."""
    case = investigated(tmp_path, shop=client(LIBPQ), postgresql=server(-30, 30))
    (one,) = told(case)
    say = Statements(lang, "UTC").say

    assert say(one.key, one.values).startswith(words)
    assert say("why.slots.unlogged", one.values).startswith(why)
