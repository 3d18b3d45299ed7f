"""What failed beside requests: operations of services whose lines show none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import small_logs as logs

from forensics.model.facts import Impact
from forensics.report.statements import Statements

if TYPE_CHECKING:
    from collections.abc import Callable

    from forensics.model.case import Case

SAID = {
    "en": "9 failed operations of services without an access log (jobs, scripts): worker, 2 replicas, 7; mailer 2, each try counted",
    "pt-BR": "9 operações com falha de serviços sem log de acesso (jobs, scripts): worker, 2 réplicas, 7; mailer 2, cada tentativa contada",
}


def waits(unit: str, pid: int, *seconds: float) -> str:
    """Return the log of a service that serves nothing and whose waits for its pool run out."""
    lines = [(float(second), "reconciled 3 instances") for second in range(0, 240, 20)]
    return logs.journal([*lines, *((second, logs.POOL) for second in seconds)], unit=unit, pid=pid)


@pytest.fixture
def case(think: Callable[..., Case]) -> Case:
    """Return a case of an API with two failed requests, two workers and a mailer."""
    failed = [
        (100.5 + n, 'INFO:     203.0.113.7:0 - "GET /api/x HTTP/1.1" 500 Internal Server Error')
        for n in range(2)
    ]
    api = [*logs.served(0, 240), *failed, (100.4, logs.POOL), (101.4, logs.POOL)]
    return think(
        api=logs.journal(api),
        one=waits("worker-1", 91, 90.0, 95.0, 100.0, 105.0),
        two=waits("worker-2", 92, 92.0, 97.0, 102.0),
        mail=waits("mailer", 93, 98.0, 103.0),
    )


def test_failed_jobs_are_told_by_service(case: Case) -> None:
    """The waits of the API that serves are those of its requests; workers and the mailer have none, and replicas are one service."""
    found = case.facts[Impact]
    (told,) = [one for one in case.diagnosis.findings if one.key == "impact.operations"]

    assert [(one.service, one.replicas, one.n, one.most, one.at_least) for one in found.operations] == [
        ("worker", 2, 7, 7, False),
        ("mailer", 1, 2, 2, False),
    ]
    assert told.section == "impact"
    assert len(told.refs) == 2
    assert {tag: Statements(tag, "UTC").say(told.key, told.values) for tag in SAID} == SAID


def test_they_are_in_the_summary_where_they_are_more_than_requests(case: Case) -> None:
    """Two requests and nine operations failed: who reads the first sentence alone knows both."""
    (told,) = [one for one in case.diagnosis.findings if one.key == "summary.window"]
    said = {tag: Statements(tag, "UTC").say(told.key, told.values) for tag in SAID}

    assert "2 requests to" in said["en"]
    assert said["en"].endswith("; 9 operations of worker, mailer failed")
    assert said["pt-BR"].endswith("; 9 operações de worker, mailer falharam")
    assert case.facts[Impact].operations[0].ref in told.refs
