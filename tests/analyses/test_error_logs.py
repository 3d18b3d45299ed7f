"""An error log ends with its last error; the access log beside it tells what came after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from small_logs import us

from forensics.model.facts import Events, Incidents

if TYPE_CHECKING:
    from collections.abc import Callable

    from forensics.model.case import Case


def access(seconds: range, status: int = 200) -> str:
    """Return requests that nginx answered."""
    return "".join(
        f'203.0.113.15 - - [29/Nov/2026:{12 + s // 3600:02d}:{s // 60 % 60:02d}:{s % 60:02d} +0000] "GET /api/views HTTP/1.1" {status} 12 "-" "curl/8"\n'
        for s in seconds
    )


def errors(seconds: range, text: str) -> str:
    """Return lines of nginx's error log."""
    return "".join(
        f'2026/11/29 12:{s // 60:02d}:{s % 60:02d} [error] 31#31: *9 {text}, client: 203.0.113.15, server: shop, request: "GET /api/views HTTP/1.1", host: "shop.example"\n'
        for s in seconds
    )


LIMIT = 'limiting requests, excess: 20.400 by zone "api"'
RESET = "upstream prematurely closed connection while reading response header from upstream"


def test_refusals_by_a_rule_are_events_and_no_incident(think: Callable[..., Case]) -> None:
    """Requests over a limit that was set are refused by rule: counted as events, they open no incident."""
    logs = {"nginx-access.log": access(range(0, 3600, 3)), "nginx-error.log": errors(range(600, 900), LIMIT)}
    case = think(**logs)
    assert not case.facts[Incidents].items
    assert [(one.signature, one.events) for one in case.facts[Events].groups] == [("nginx.limiting", 300)]


def test_an_error_log_that_ends_is_no_trouble_that_goes_on(think: Callable[..., Case]) -> None:
    """The access log goes on for 45 minutes: the incident ended with the last error, and is over with the next request."""
    logs = {
        "nginx-access.log": access(range(1, 3600, 3)),
        "nginx-error.log": errors(range(600, 900, 3), RESET),
    }
    (incident,) = think(**logs).facts[Incidents].items
    assert not incident.ongoing
    assert (incident.start, incident.end) == (us(600), us(897))
    assert incident.recovered_at == us(898)


def test_where_both_logs_end_in_trouble_it_goes_on(think: Callable[..., Case]) -> None:
    """With the access log at its end, too, nothing tells that it was over."""
    logs = {"nginx-access.log": access(range(0, 900, 3)), "nginx-error.log": errors(range(600, 900), RESET)}
    (incident,) = think(**logs).facts[Incidents].items
    assert incident.ongoing
