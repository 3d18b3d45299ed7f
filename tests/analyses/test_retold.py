"""A failure that a client's log tells of and the database server's own log as well is one failure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest
import small_logs as logs

from forensics.model.facts import Failures
from forensics.report.document import build

if TYPE_CHECKING:
    from collections.abc import Callable

    from forensics.model.case import Case

FULL = "sorry, too many clients already"
ROLE = 'too many connections for role "app"'
TIMES = (60.1, 61.1, 62.1, 63.1, 64.1, 65.1)


def connect(text: str) -> str:
    """Return what a client of libpq prints of a refusal."""
    return f'psycopg2.OperationalError: connection to server at "db", port 5432 failed: FATAL:  {text}'


def server(text: str, *seconds: float) -> str:
    """Return a server's log: its refusals between two checkpoints."""
    lines = [(0.5, "LOG:  checkpoint starting: time"), *((s, f"FATAL:  {text}") for s in seconds)]
    lines.append((199.5, "LOG:  checkpoint starting: time"))
    return "".join(
        f"2026-11-29 12:{int(s) // 60:02}:{s % 60:06.3f} UTC [{900 + n}] {said}\n"
        for n, (s, said) in enumerate(lines)
    )


def marked(case: Case, service: str) -> list[bool]:
    """Return which failures of a service are told of in the server's log too, in time order."""
    rows = case.facts[Failures].rows.filter(pl.col("service") == service).sort("ts")
    return rows["retold"].to_list()


def drawn(case: Case) -> tuple[int, int]:
    """Return how many failures the bars stand for, and how many lines of clients about them are left out."""
    bars = build(case)["bars"]
    return sum(one["count"] for one in bars), sum(one["retold"] for one in bars)


@pytest.mark.parametrize(
    ("server_says", "client_says", "both"),
    [(FULL, FULL, True), (ROLE, ROLE, True), (FULL, ROLE, False), (ROLE, FULL, False)],
)
def test_a_refusal_that_both_log_is_one(
    think: Callable[..., Case], server_says: str, client_says: str, both: bool
) -> None:
    """Six refusals in the server's log and four of them in a client's are six; those for another limit are others."""
    lines = [(at + 0.2, connect(client_says)) for at in TIMES[:4]]
    case = think(
        **{"postgresql.log": server(server_says, *TIMES), "api": logs.journal([*logs.served(0, 200), *lines])}
    )

    assert marked(case, "crm-api") == [both] * 4
    assert marked(case, "postgres") == [False] * 6
    assert drawn(case) == ((6, 4) if both else (10, 0))


def test_what_the_server_did_not_log_is_a_failure_of_its_own(think: Callable[..., Case]) -> None:
    """A refusal two seconds from any line of the server may be that of another one."""
    lines = [(at + 0.2, connect(FULL)) for at in TIMES[:2]] + [(70.0, connect(FULL))]
    case = think(
        **{"postgresql.log": server(FULL, *TIMES), "api": logs.journal([*logs.served(0, 200), *lines])}
    )

    assert marked(case, "crm-api") == [True, True, False]
    assert drawn(case) == (7, 2)


def test_a_wait_amid_refusals_is_no_refusal(think: Callable[..., Case]) -> None:
    """A pool whose wait ran out while the server refused failed once more."""
    lines = [(at + 0.2, logs.POOL) for at in TIMES[:3]]
    case = think(
        **{"postgresql.log": server(FULL, *TIMES), "api": logs.journal([*logs.served(0, 200), *lines])}
    )

    assert marked(case, "crm-api") == [False] * 3
    assert drawn(case) == (9, 0)
