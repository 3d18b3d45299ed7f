"""The document of the founding case, as far as a chart needs it."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

DAY = "2026-09-09T"
ZONE = "-03:00"


def at(clock: str) -> str:
    """Write a time of the founding day as an instant."""
    return f"{DAY}{clock}{ZONE}"


def failures() -> list[dict[str, Any]]:
    """Spread 66 pool timeouts and 9 Redis timeouts over the incident, in buckets of 10 s."""
    pool = [2, 1, 2, 1, 0, 1, 3, 2, 1, 0, 2, 1] * 4 + [0, 1, 1]
    clocks = [f"09:{42 + (50 + n * 10) // 60}:{(50 + n * 10) % 60:02}" for n in range(len(pool))]
    kinds = [(clock, "pool_exhaustion", count) for clock, count in zip(clocks, pool, strict=True)]
    kinds += [(clock, "redis_timeout", 3) for clock in ("09:44:10", "09:46:30", "09:51:20")]
    return [{"at": at(c), "service": "crm-api", "family": family, "count": n} for c, family, n in kinds]


DOCUMENT: dict[str, Any] = {
    "schema": "forensics.report/1",
    "case": {
        "title": "CRM API stopped answering",
        "timezone": "America/Sao_Paulo",
        "language": "en",
        "window": [at("00:00:00"), at("12:00:00")],
    },
    "incidents": [
        {
            "id": "i1",
            "start": at("09:42:26"),
            "start_bound": "no_later_than",
            "end": at("09:51:28"),
            "ongoing": False,
            "primary": True,
            "services": ["crm-api"],
        }
    ],
    "probes": [{"series": "GET /health (client-3)", "period_s": 300.0}],
    "silences": [{"service": "crm-api", "start": at("09:46:40"), "end": at("09:49:50")}],
    "stalls": [{"service": "crm-api", "start": at("09:42:56"), "end": at("09:51:28"), "grade": "inferred"}],
    "blind_gaps": [
        {
            "monitor": "edge worker",
            "start": at("09:50:40"),
            "end": at("11:00:00"),
            "missing": 12,
            "kind": "blind",
        }
    ],
    "timeline": [
        {"at": at("09:42:56"), "kind": "error", "service": "crm-api", "text": "first pool timeout"},
        {
            "at": at("09:50:29"),
            "kind": "alert",
            "service": "edge",
            "text": "2 consecutive failures of GET /health",
        },
        {"at": at("09:41:00"), "kind": "note", "service": "crm-api", "text": "photos delivered"},
        {"at": at("09:52:30"), "kind": "restart", "service": "crm-api", "text": "unit restarted"},
    ],
    "chart": {
        "failures": failures(),
        "probes": [
            {"due": at("09:40:00"), "answered": at("09:40:00"), "state": "answered"},
            {"due": at("09:45:00"), "answered": None, "state": "missed"},
            {"due": at("09:50:00"), "answered": at("09:51:28"), "state": "late"},
        ],
        "samples": [
            {"at": at(f"09:{minute}:00"), "value": value, "limit": 100, "series": "pg connections"}
            for minute, value in (
                (40, 34),
                (42, 34),
                (44, 45),
                (46, 46),
                (48, 46),
                (50, 46),
                (52, 35),
                (54, 35),
            )
        ],
    },
}


def document(**changes: Any) -> dict[str, Any]:
    """Copy the founding document, with other top-level values."""
    return deepcopy(DOCUMENT) | changes
