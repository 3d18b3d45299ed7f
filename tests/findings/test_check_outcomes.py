"""How checks failed is told apart: who refused, answered with a status, or has a bad certificate did not stand still."""

from __future__ import annotations

import datetime as dt
import json
from typing import TYPE_CHECKING

import pytest

from forensics import pipeline
from forensics.model.facts import Stalls
from forensics.model.outcomes import outcome, unanswered
from forensics.report import document

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

ERRORS = {
    "timeout of 8000ms exceeded": "timeout",
    "timed out after 8000 ms": "timeout",
    'Get "https://shop.example/health": context deadline exceeded': "timeout",
    "connect ECONNREFUSED 192.0.2.7:443": "refused",
    "dial tcp 192.0.2.7:443: connect: connection refused": "refused",
    "getaddrinfo ENOTFOUND shop.example": "dns",
    "dial tcp: lookup shop.example: no such host": "dns",
    "certificate has expired": "tls",
    "tls: failed to verify certificate: x509: certificate has expired or is not yet valid": "tls",
    "Request failed with status code 502": "http",
    "HTTP 500": "http",
    "503 - Service Unavailable": "http",
    "socket hang up": "reset",
    "connect EHOSTUNREACH 192.0.2.7:443": "unreachable",
    "keyword is not in the page": "unknown",
}  # fmt: skip


@pytest.mark.parametrize("error", ERRORS)
def test_kinds(error: str) -> None:
    assert outcome("failed", error) == ERRORS[error]


def test_who_answers_did_not_stand_still() -> None:
    """But for a proxy that tells of the server behind it."""
    told = {error: unanswered("failed", error) for error in ("HTTP 500", "HTTP 502", "HTTP 504", "HTTP 404")}

    assert told == {"HTTP 500": False, "HTTP 502": True, "HTTP 504": True, "HTTP 404": False}
    assert unanswered("missed", None)
    assert not unanswered("failed", "certificate has expired")
    assert (outcome("missed", None), outcome("late", None)) == ("missing", "late")


def monitor(folder: Path, *errors: str) -> dict[str, Any]:
    """Return the report of a monitor that checks every minute and fails ten times in the middle, in turn for these reasons."""
    rows = []
    for n in range(60):
        at = dt.datetime(2026, 11, 29, 12, n, tzinfo=dt.UTC)
        error = errors[n % len(errors)] if 20 <= n < 30 else None
        rows.append(
            {"ts": at.isoformat(), "target": "https://shop.example/health", "status": "down" if error else "up", "latency_ms": None if error else 20, "error": error}
        )  # fmt: skip
    (folder / "monitor.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    case = pipeline.investigate([str(folder)], pipeline.Options(tz="UTC"))
    assert case.facts[Stalls].items == ()
    return document.build(case)


def test_reasons_are_counted(tmp_path: Path) -> None:
    page = monitor(tmp_path, "connect ECONNREFUSED 192.0.2.7:443", "timeout of 8000ms exceeded")
    (text,) = {row["text"] for row in page["findings"] if row["key"] == "mechanism.probes"}

    assert "10 probes of https://shop.example/health failed (due 12:20:00 to 12:29:00, every 60 s): " in text
    assert text.partition("every 60 s): ")[2].startswith(
        "5 \N{MULTIPLICATION SIGN} the connection was refused, 5 "
    )
    assert "timed out (connect ECONNREFUSED " in text


def test_a_certificate_is_what_to_look_at(tmp_path: Path) -> None:
    """No question about processes, memory or a database is the greatest unknown then."""
    page = monitor(tmp_path, "certificate has expired")
    said = [row["key"] for row in page["findings"] if row["section"] == "summary"]

    assert said == ["summary.window", "mechanism.probes"]
    assert page["actions"][0]["text"].startswith("Look at the certificate that is served (openssl s_client ")


def test_silence_keeps_its_words(tmp_path: Path) -> None:
    page = monitor(tmp_path, "timeout of 8000ms exceeded")
    (text,) = {row["text"] for row in page["findings"] if row["key"] == "mechanism.probes"}

    assert text.startswith(
        "10 probes of https://shop.example/health were not answered in time (due 12:20:00 to "
    )
    assert text.endswith(", every 60 s)")
