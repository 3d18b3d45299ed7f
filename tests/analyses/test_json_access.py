"""Access logs in JSON: the status is in a field, and a request answered with 5xx is a failure as in any other log."""

from __future__ import annotations

import datetime as dt
import json
from typing import TYPE_CHECKING

import pytest
import small_logs as logs

from forensics.model.facts import Failures, Impact, Incidents
from forensics.pipeline import Options, investigate

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def pino(at: float, status: int) -> dict[str, object]:
    """Return a line of pino-http."""
    return {
        "level": 50 if status >= 500 else 30, "time": round((logs.NOON + at) * 1000), "pid": 81, "hostname": "a", "req": {"method": "GET", "url": "/orders", "remoteAddress": "203.0.113.7"},
        "res": {"statusCode": status}, "responseTime": 4, "msg": "request errored" if status >= 500 else "request completed",
    }  # fmt: skip


def caddy(at: float, status: int) -> dict[str, object]:
    """Return a line of Caddy's access log."""
    return {
        "level": "info", "ts": logs.NOON + at, "logger": "http.log.access.log0", "msg": "handled request", "request": {"remote_ip": "203.0.113.7", "proto": "HTTP/2.0", "method": "GET", "host": "shop.example", "uri": "/orders"},
        "duration": 0.004, "size": 12, "status": status,
    }  # fmt: skip


def traefik(at: float, status: int) -> dict[str, object]:
    """Return a line of Traefik's access log."""
    stamp = dt.datetime.fromtimestamp(logs.NOON + at, dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "ClientHost": "203.0.113.7", "DownstreamStatus": status, "Duration": 4_000_000, "OriginStatus": status, "RequestMethod": "GET", "RequestPath": "/orders", "RequestProtocol": "HTTP/2.0",
        "ServiceName": "shop@docker", "StartUTC": stamp, "entryPointName": "web", "level": "info", "msg": "", "time": stamp,
    }  # fmt: skip


@pytest.mark.parametrize("line", [pino, caddy, traefik])
def test_a_burst_of_5xx_is_an_incident(
    line: Callable[[float, int], dict[str, object]], tmp_path: Path
) -> None:
    """Three minutes in which every request fails, one a second, are 180 failures and as many failed requests."""
    rows = [line(float(at), 503 if 600 <= at < 780 else 200) for at in range(1800)]
    (tmp_path / "web.log").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    case = investigate([str(tmp_path)], Options())
    (group,) = case.facts[Failures].groups
    incident = case.facts[Incidents].primary()

    assert (group.signature, group.failures) == ("http.server-error", 180)
    assert case.facts[Impact].failed == 180
    assert incident is not None
    assert incident.start == round((logs.NOON + 600) * 1e6)


def test_a_line_that_the_catalogue_tells_of_counts_once(tmp_path: Path) -> None:
    """A request whose line names the cause is a failure of that cause, not of two kinds."""
    rows = [pino(float(at), 500 if 600 <= at < 780 else 200) for at in range(1800)]
    for row in rows[600:780]:
        row["err"] = {"type": "Error", "message": "timeout exceeded when trying to connect"}
    (tmp_path / "web.log").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    groups = investigate([str(tmp_path)], Options()).facts[Failures].groups

    assert [(group.family, group.failures) for group in groups] == [("pool_exhaustion", 180)]
