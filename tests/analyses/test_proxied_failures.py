"""A proxy dates a request by its start: it belongs to the incident in which it ended."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import pytest
from small_logs import NOON, Line, journal, served

from forensics.model.facts import Clocks, Impact, Incidents

if TYPE_CHECKING:
    from collections.abc import Callable

    from forensics.model.case import Case

TOOK = 5.045
"""Seconds that a failed request took; the application waited a millisecond less."""
ERROR = "could not obtain a connection from the pool within 5.000 seconds (waited 5.044 seconds); all pooled connections were in use"


def line(begin: float, took: float, status: int, *, syslog: bool) -> str:
    """Return a line of HAProxy, alone or as syslog keeps it: written when the request ends."""
    at = dt.datetime.fromtimestamp(NOON + begin, dt.UTC)
    text = f'203.0.113.9:56410 [{at:%d/%b/%Y:%H:%M:%S}.{at.microsecond // 1000:03d}] fe be/app1 0/0/1/{round(took * 1000) - 1}/{round(took * 1000)} {status} 135 - - ---- 1/1/0/0/0 0/0 "GET /api/orders HTTP/1.1"\n'
    end = dt.datetime.fromtimestamp(NOON + begin + took, dt.UTC)
    return f"{end:%Y-%m-%dT%H:%M:%S.%f}+00:00 lb1 haproxy[8121]: {text}" if syslog else text


@pytest.mark.parametrize("syslog", [True, False])
def test_the_first_failed_request_is_counted(think: Callable[..., Case], *, syslog: bool) -> None:
    """It was accepted a millisecond before the application began to wait, and ended in the incident: 30 of 30."""
    failed: list[Line] = [
        (600 + 4 * k + TOOK, f"ActiveRecord::ConnectionTimeoutError ({ERROR}):") for k in range(30)
    ]
    access = [line(float(s), 0.1, 200, syslog=syslog) for s in range(0, 1200, 7)]
    access += [line(600 + 4 * k - 0.002, TOOK, 500, syslog=syslog) for k in range(30)]
    case = think(**{"app.json": journal([*served(0, 1200, step=5), *failed]), "haproxy.log": "".join(access)})
    assert case.facts[Incidents].primary() is not None
    assert case.facts[Impact].failed == 30
    assert case.facts[Impact].failed_outside == 0
    assert not case.facts[Clocks].lags
