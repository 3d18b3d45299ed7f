"""Lines of a small service: 12:00 UTC on 2026-11-29 is second 0."""

from __future__ import annotations

import datetime as dt
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

NOON = 1_795_953_600
"""2026-11-29T12:00:00Z in seconds."""
POOL = "QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00 (Background on this error at: https://sqlalche.me/e/20/3o7r)"
FRAMES = ('  File "/app/db.py", line 12, in checkout', f'    raise TimeoutError("{POOL}")')
TRACEBACK = ("Traceback (most recent call last):", *FRAMES, f"sqlalchemy.exc.TimeoutError: {POOL}")
DURING = ("", "During handling of the above exception, another exception occurred:", "")

Line = tuple[float, str]
"""Seconds after noon, and what is printed."""


def us(second: float) -> int:
    """Return an instant in microseconds UTC."""
    return round((NOON + second) * 1_000_000)


def journal(lines: Iterable[Line], *, unit: str = "crm-api", pid: int = 81) -> str:
    """Render lines as journalctl -o json, in time order."""
    return entries(
        (
            second,
            {"_SYSTEMD_UNIT": f"{unit}.service", "_PID": str(pid), "_TRANSPORT": "stdout", "MESSAGE": text},
        )
        for second, text in lines
    )


def entries(rows: Iterable[tuple[float, dict[str, str]]]) -> str:
    """Render journal entries of any fields, in time order."""
    out = []
    for number, (second, fields) in enumerate(sorted(rows, key=lambda row: row[0])):
        out.append(
            json.dumps(
                {
                    "__REALTIME_TIMESTAMP": str(us(second)),
                    "__CURSOR": f"s=1;i={number:x}",
                    "PRIORITY": "6",
                    **fields,
                }
            )
            + "\n"
        )
    return "".join(out)


def manager(second: float, text: str, unit: str = "crm-api") -> tuple[float, dict[str, str]]:
    """Return an entry of systemd about a unit."""
    return second, {
        "_PID": "1",
        "_COMM": "systemd",
        "UNIT": f"{unit}.service",
        "SYSLOG_IDENTIFIER": "systemd",
        "MESSAGE": text,
    }


def printed(second: float, text: str, unit: str = "crm-api", pid: int = 81) -> tuple[float, dict[str, str]]:
    """Return an entry of a service."""
    return second, {
        "_SYSTEMD_UNIT": f"{unit}.service",
        "_PID": str(pid),
        "_TRANSPORT": "stdout",
        "MESSAGE": text,
    }


def at(second: float, *texts: str) -> list[Line]:
    """Return several lines of one instant, a few microseconds apart."""
    return [(second + index * 1e-5, text) for index, text in enumerate(texts)]


def served(
    start: float,
    end: float,
    step: float = 1.0,
    path: str = "/api/views",
    status: str = "200 OK",
    client: str = "203.0.113.15",
) -> list[Line]:
    """Return requests served at an even rate."""
    count = int((end - start) / step)
    return [
        (start + index * step, f'INFO:     {client}:0 - "GET {path} HTTP/1.1" {status}')
        for index in range(count)
    ]


def probes(seconds: Iterable[float], client: str = "203.0.113.9") -> list[Line]:
    """Return the lines of a prober."""
    return [(second, f'INFO:     {client}:0 - "GET /health HTTP/1.1" 200 OK') for second in seconds]


def beats(seconds: Iterable[float], down: Iterable[float] = (), timeout_ms: int = 8000) -> str:
    """Render a prober's own state; `down` names the probes that failed."""
    failed = set(down)
    return "".join(
        json.dumps(
            {
                "ts": dt.datetime.fromtimestamp(NOON + second, dt.UTC).isoformat(timespec="milliseconds"),
                "target": "https://crm.example.net/health",
                "status": "down" if second in failed else "up",
                "latency_ms": None if second in failed else 20,
                "error": f"timeout of {timeout_ms}ms exceeded" if second in failed else None,
            }
        )
        + "\n"
        for second in seconds
    )
