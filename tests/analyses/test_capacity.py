"""Whose limit was reached: waits at the beat of a job, requests told twice, replicas as one service, refusals by client, long runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl
import pytest
import small_logs as logs

from forensics.findings import capacity
from forensics.findings.signals import replica_of
from forensics.formats.postgres_session import from_prefix
from forensics.model.facts import Failures, Impact, Probes, Rhythms, Watch
from forensics.report.statements import Statements

if TYPE_CHECKING:
    from collections.abc import Callable

    from forensics.model.case import Case
    from forensics.model.finding import Finding

KNEX = "KnexTimeoutError: Knex: Timeout acquiring a connection. The pool is probably full. Are you missing a .transacting(trx) call?"
STACK = (
    "    at Client_PG.acquireConnection (/srv/app/node_modules/knex/lib/client.js:493:26)",
    "    at async /srv/app/main.js:26:5",
)
CASE = '[[pool]]\nservice = "crm-api"\nsize = 10\ntimeout_s = 15\nfan_out = 6\n'


def job(second: float, n: int) -> list[logs.Line]:
    """Return what a worker prints of a job whose wait ran out: its message with a stack of its own."""
    return logs.at(second, f"[worker] job check#{n} failed: {KNEX}", *STACK)


def finding(case: Case, key: str) -> Finding:
    """Return the only finding of a key."""
    (found,) = [one for one in case.diagnosis.findings if one.key == key]
    return found


def page(second: float) -> list[logs.Line]:
    """Return what a request prints whose wait ran out."""
    return logs.at(second, KNEX, *STACK)


def test_a_message_with_a_stack_is_a_failure_of_its_own(think: Callable[..., Case]) -> None:
    """A job's message and, in the same instant, a page's traceback of the same text are two failures."""
    lines = [line for n in range(6) for line in (*job(60 + n, n), *page(60.01 + n))]
    (group,) = think(api=logs.journal([*logs.served(0, 200), *lines])).facts[Failures].groups

    assert (group.failures, group.failures_max, group.lines) == (12, 12, 12)


def test_waits_at_the_beat_of_a_job(think: Callable[..., Case]) -> None:
    """Waits that begin in the first seconds of each minute have its phase, and the scheduler's line is named."""
    lines = [line for n in range(8) for at in (0.4, 1.9, 4.2, 6.8) for line in page(60 * n + at + 15)]
    lines += [(60 * n + 0.2, f"[scheduler] tick: {17 + n} jobs queued") for n in range(9)]
    case = think(CASE, api=logs.journal([*logs.served(0, 560), *lines]))
    (beat,) = case.facts[Rhythms].beats

    assert (beat.period_s, beat.on, beat.instants) == (60, 32, 32)
    assert (beat.phases_s, beat.width_s) == ((0.4,), pytest.approx(6.4))
    assert beat.job is not None
    assert beat.job[0] == "[scheduler] tick: <n> jobs queued"


def test_the_case_file_dates_waits_and_tells_the_demand(think: Callable[..., Case]) -> None:
    """A text without a wait is back-dated by the pool's timeout; two requests of six connections pass a pool of ten."""
    lines = [line for n in range(8) for line in page(100 + 0.3 * n)]
    case = think(CASE, api=logs.journal([*logs.served(0, 200), *lines]))
    found = finding(case, "mechanism.fan_out")

    assert case.facts[Failures].rows["began"].min() == logs.us(85)
    assert found.formula == "2 x 6 = 12 > 10"
    assert found.values["waiting"] == 8


def test_requests_that_a_proxy_tells_too_count_once(think: Callable[..., Case]) -> None:
    """Five answers with 500 stand in the log of nginx and in that of the program; one 502 in that of nginx alone."""
    lines = [line for n in range(6) for line in page(100 + n)]
    answers = [
        (100 + n, f'INFO:     203.0.113.{n}:0 - "GET / HTTP/1.1" 500 Internal Server Error') for n in range(5)
    ]
    edge = "".join(
        f'203.0.113.{n} - - [29/Nov/2026:12:01:4{n} +0000] "GET / HTTP/1.1" {502 if n == 5 else 500} 15 "-" "x" 15.001\n'
        for n in range(6)
    )
    case = think(CASE, **{"api": logs.journal([*logs.served(0, 200), *lines, *answers]), "access.log": edge})

    assert case.facts[Impact].failed == 6


@pytest.mark.parametrize(
    ("line", "whose"),
    [
        ("2026-11-29 09:46:27.525 -03 [10804] crm@crm FATAL:  sorry, too many clients already", "crm@crm"),
        ("2026-11-29 13:21:33 CET [2175]: user=app,db=shop,app=web,client=203.0.113.9(510) FATAL:  x", "app@shop web 203.0.113.9"),
        ("2026-11-29 13:21:33 CET [2175]: user=app,db=shop,app=[unknown],client=[local] FATAL:  x", "app@shop"),
        ("2026-11-29 13:21:37 UTC:203.0.113.9(51000):app@shop:[21818]:ERROR:  division by zero", "app@shop 203.0.113.9"),
        ("2026-04-13 16:07:17.704 UTC [702] FATAL:  sorry, too many clients already", None),
        ("2026-11-29 13:21:33 CET [2175] [unknown]@[unknown] LOG:  incomplete startup packet", None),
    ],
)  # fmt: skip
def test_whose_session(line: str, whose: str | None) -> None:
    """The prefix of the server log names user, database, application and address where it was asked to."""
    assert pl.DataFrame({"line": [line]}).select(from_prefix(pl.col("line"))).item() == whose


def test_who_was_refused(think: Callable[..., Case]) -> None:
    """Refusals are told by session, beside what the clients' own logs tell of."""
    said = "sorry, too many clients already"
    server = "".join(
        f"2026-11-29 12:01:{10 + n}.100 UTC [{900 + n}] {'worker' if n % 3 else 'api'}@fleet FATAL:  {said}\n"
        for n in range(9)
    )
    error = f'psycopg2.OperationalError: connection to server at "db", port 5432 failed: FATAL:  {said}'
    lines = [
        line for n in range(4) for line in logs.at(70.2 + n, "Traceback (most recent call last):", error)
    ]
    later = "2026-11-29 12:03:19.100 UTC [1] LOG:  checkpoint starting: time\n"
    case = think(**{"postgresql.log": server + later, "api": logs.journal([*logs.served(0, 200), *lines])})
    values = finding(case, "mechanism.refused").values

    assert values["whose"] == [("worker@fleet", 6), ("api@fleet", 3)]
    assert values["clients"] == [("crm-api", 4, 4)]
    assert (values["n"], values["least"], values["untold"], values["unnamed"]) == (9, False, (5, 5), 0)


def test_a_server_log_that_begins_late_counts_at_least(think: Callable[..., Case]) -> None:
    """What it refused before its first line nobody knows: the number and what follows from it are lower bounds, and say why."""
    said = "sorry, too many clients already"
    server = "".join(f"2026-11-29 12:01:{10 + n}.100 UTC [{900 + n}] FATAL:  {said}\n" for n in range(9))
    error = f'psycopg2.OperationalError: connection to server at "db", port 5432 failed: FATAL:  {said}'
    lines = [
        line
        for n in (10.2, 11.2, 40.2, 70.2)
        for line in logs.at(n, "Traceback (most recent call last):", error)
    ]
    later = "2026-11-29 12:03:19.100 UTC [1] LOG:  checkpoint starting: time\n"
    case = think(**{"postgresql.log": server + later, "api": logs.journal([*logs.served(0, 200), *lines])})
    found = finding(case, "mechanism.refused")
    texts = {tag: Statements(tag, "UTC").say("mechanism.refused", found.values) for tag in ("en", "pt-BR")}

    assert (found.values["n"], found.values["least"], found.values["untold"]) == (9, True, (5, None))
    assert "refused ≥ 9 connections from 2026-11-29 12:01:10" in texts["en"]
    assert "; its log begins at 12:01:10)" in texts["en"]
    assert "≥ 5 refusals more than these tell of" in texts["en"]
    assert "; o log dele começa às 12:01:10)" in texts["pt-BR"]
    assert "≥ 5 recusas a mais do que estes contam" in texts["pt-BR"]
    verdicts = {one.id: one for one in case.diagnosis.judgements}
    assert verdicts["db_slots_exhausted"].values["least"]
    assert verdicts["db_down"].values["least"]
    assert [one.values["least"] for one in case.diagnosis.actions if one.key == "act.budget"] == [True]


@pytest.mark.parametrize(
    ("refused", "clients", "more", "left", "said"),
    [
        ((566, False), [("api", 115, 118), ("gauge", 9, 9)], False, (439, 442), "439 to 442 refusals more"),
        ((566, False), [("api", 115, 115)], False, (451, 451), "451 refusals more"),
        ((566, True), [("api", 115, 118)], False, (448, None), "≥ 448 refusals more"),
        ((566, False), [("api", 115, 118)], True, (0, 451), "up to 451 refusals more"),
        ((118, False), [("api", 115, 118)], False, (0, 3), "up to 3 refusals more"),
        ((566, True), [("api", 115, 118)], True, None, None),
        ((115, False), [("api", 115, 118)], False, None, None),
        ((9, False), [], False, None, None),
    ],
)
def test_a_difference_has_the_bounds_of_its_numbers(
    refused: tuple[int, bool],
    clients: list[tuple[str, int, int]],
    more: bool,
    left: tuple[int, int | None] | None,
    said: str | None,
) -> None:
    """566 less 124 to 127 are 439 to 442; of a lower bound only a lower bound is left."""
    found = capacity.untold(refused, clients, more)
    values = {
        "server": "postgres", "n": refused[0], "least": refused[1], "first": 0, "last": 9_000_000, "pause": 0, "whose": [], "further": 0,
        "unnamed": 0, "clients": clients, "untold": found, "begins": None, "ends": None,
    }  # fmt: skip
    text = Statements("en", "UTC").say("mechanism.refused", values)

    assert found == left
    assert said in text if said else "more than these tell of" not in text


@pytest.mark.parametrize(
    ("service", "base"), [("worker-3", "worker"), ("worker_12", "worker"), ("api.1", "api"), ("crm-api", "crm-api"), ("pg-15-1", "pg-15-1"), ("db2", "db2")]
)  # fmt: skip
def test_replicas_have_one_name(service: str, base: str) -> None:
    """Only a number of its own at the end is that of a replica."""
    assert replica_of(service) == base


def test_a_run_that_takes_longer_is_late_not_dead(think: Callable[..., Case]) -> None:
    """A pause that the job's own duration fills is no blind gap; one that it does not fill is."""

    def results(took: float) -> str:
        times = (
            [(30 * n, 2.0) for n in range(10)] + [(450, took)] + [(450 + 30 * n, 2.0) for n in range(1, 8)]
        )
        rows = (
            {"ts": logs.NOON + at, "monitor": "instances", "status": "ok", "duration_s": d} for at, d in times
        )
        return "".join(json.dumps(row) + "\n" for row in rows)

    late = think(**{"checks.jsonl": results(170), "api": logs.journal(logs.served(0, 700))})
    dead = think(**{"checks.jsonl": results(2), "api": logs.journal(logs.served(0, 700))})
    (series,) = [one for one in late.facts[Probes].series if one.seen_by == "monitor"]

    assert [(run.gap_s, run.took_s) for run in series.long_runs] == [(180, 170)]
    assert late.facts[Watch].gaps == ()
    assert len(dead.facts[Watch].gaps) == 1
