"""A connection limit of one role is told as that: not as full slots of the server, and not as a server that was down."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import pytest

from forensics import pipeline
from forensics.model.finding import Verdict
from forensics.report.statements import Statements

if TYPE_CHECKING:
    from pathlib import Path

    from forensics.model.case import Case

START = dt.datetime(2026, 11, 29, 12, 10, tzinfo=dt.UTC)
ROLE = 'too many connections for role "app"'
SLOTS = "sorry, too many clients already"


def server(text: str, n: int = 6) -> list[str]:
    """Return the log of a server that refuses one connection a second from the start on."""
    lines = [
        f"{START - dt.timedelta(minutes=20):%Y-%m-%d %H:%M:%S}.000 UTC [1] LOG:  checkpoint starting: time"
    ]
    lines += [
        f"{START + dt.timedelta(seconds=at):%Y-%m-%d %H:%M:%S}.100 UTC [{900 + at}] app@shop FATAL:  {text}"
        for at in range(n)
    ]
    end = START + dt.timedelta(minutes=20)
    return [*lines, f"{end:%Y-%m-%d %H:%M:%S}.000 UTC [1] LOG:  checkpoint starting: time"]


def client(text: str, *, waits: int = 0) -> list[str]:
    """Return the log of a service that serves, waits for its pool, is refused and serves again."""

    def line(second: float, message: str) -> str:
        return f"{START + dt.timedelta(seconds=second):%Y-%m-%dT%H:%M:%SZ} {message}"

    ok = 'INFO: 192.0.2.4:5000 - "GET /items HTTP/1.1" 200 OK'
    pool = "ERROR shop: sqlalchemy.exc.TimeoutError: QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00"
    refused = f'ERROR shop: psycopg2.OperationalError: connection to server at "db", port 5432 failed: FATAL:  {text}'
    return [
        *(line(at, ok) for at in range(-1200, -40, 2)),
        *(line(at - 30, pool) for at in range(waits)),
        *(line(at, refused) for at in range(6)),
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


@pytest.mark.parametrize("own", [True, False])
def test_the_limit_of_a_role_is_no_full_server(tmp_path: Path, *, own: bool) -> None:
    """By the server's log or by a client's alone: neither slots nor a server that was down, and no advice on max_connections."""
    logs = {"postgresql": server(ROLE)} if own else {}
    case = investigated(tmp_path, shop=client(ROLE), **logs)
    found = judged(case)
    acts = {one.key for one in case.diagnosis.actions}
    (told,) = [
        one for one in case.diagnosis.findings if (one.key, one.section) == ("mechanism.limited", "mechanism")
    ]

    assert found["db_slots_exhausted"] == (
        Verdict.NO_SIGN if own else Verdict.NOT_DETERMINED,
        "slots.limited",
    )
    assert found["db_down"] == (Verdict.RULED_OUT, "db_down.limited")
    assert (told.values["n"], told.values["limits"], told.values["by_server"]) == (
        6,
        [("role", "app", 6)],
        own,
    )
    assert "act.role_limit" in acts
    assert "act.budget" not in acts
    assert not [one for one in case.diagnosis.findings if one.key in ("mechanism.refused", "mechanism.sides")]


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("en", "6 connections were refused for the connection limit of role app, from 2026-11-29 12:10:00 +00:00 to 12:10:05:"),
        ("pt-BR", "6 conexões recusadas pelo limite de conexões da role app, de 2026-11-29 12:10:00 +00:00 a 12:10:05:"),
    ],
)  # fmt: skip
def test_it_is_told_in_both_languages(tmp_path: Path, lang: str, words: str) -> None:
    """With whose limit it is."""
    case = investigated(tmp_path, shop=client(ROLE), postgresql=server(ROLE))
    (told,) = [
        one for one in case.diagnosis.findings if (one.key, one.section) == ("mechanism.limited", "mechanism")
    ]

    assert Statements(lang, "UTC").say(told.key, told.values).startswith(words)


def test_slots_are_slots(tmp_path: Path) -> None:
    """The server's refusal for lack of slots stays what it is."""
    case = investigated(tmp_path, shop=client(SLOTS), postgresql=server(SLOTS))

    assert judged(case)["db_slots_exhausted"] == (Verdict.CONFIRMED, "slots.refused")
    assert judged(case)["db_down"] == (Verdict.RULED_OUT, "db_down.refusing")


def test_the_first_refusal_is_no_wait(tmp_path: Path) -> None:
    """Where clients alone tell of refusals, the first of them is dated, not the pool's wait that ran out half a minute before."""
    case = investigated(tmp_path, shop=client(SLOTS, waits=4))
    (told,) = [one for one in case.diagnosis.findings if one.key == "mechanism.sides"]

    assert told.values["first_refusal"] == round(START.timestamp()) * 1_000_000
    assert (told.values["waits"], told.values["refused"]) == (4, 6)
