"""What a report document must be, and what the schema refuses."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from anatomy import HYPOTHESES
from jsonschema import Draft202012Validator

from forensics.report.schema import schema

START, END = "2026-09-09T09:42:26-03:00", "2026-09-09T09:51:28.114000-03:00"
NEED = {
    "input": "kernel log",
    "command": "journalctl -k -o export",
    "expires": "when the journal is vacuumed",
}

MINIMAL: dict[str, Any] = {
    "schema": "forensics.report/1",
    "tool": {"version": "0.1.0", "signatures_sha256": "0" * 64},
    "options": {"tz": None},
    "case": {"title": None, "timezone": None, "language": "en", "window": None},
    "sources": [],
    "incidents": [],
    "signatures": [],
    "probes": [],
    "silences": [],
    "stalls": [],
    "samples": [],
    "blind_gaps": [],
    "detectability": [],
    "daily": [],
    "hypotheses": [
        {"id": name, "verdict": "not_determined", "scope": None, "for": [], "against": [], "needs": [NEED]}
        for name in HYPOTHESES
    ],
    "background": [],
    "impact": {"requests_failed": [], "clients": None},
    "timeline": [],
    "findings": [],
    "not_determined": [],
    "evidence": [],
}

FULL: dict[str, list[dict[str, Any]]] = {
    "sources": [
        {
            "id": "s1",
            "name": "logs.zip!api.journal",
            "sha256": "a" * 64,
            "bytes": 1,
            "transport": "journald",
            "message_formats": ["uvicorn_access"],
            "zone": {"name": "UTC", "rule": "stated"},
            "first": START,
            "last": END,
            "lines": None,
            "records": 3,
            "copy_of": None,
            "limits": [],
            "skipped": None,
        }
    ],
    "incidents": [
        {
            "id": "i1",
            "start": START,
            "start_bound": "no_later_than",
            "end": END,
            "ongoing": False,
            "recovered_at": END,
            "detected_at": None,
            "services": ["crm-api"],
            "findings": ["F1"],
        }
    ],
    "signatures": [
        {
            "id": "sqlalchemy.queuepool-timeout",
            "family": "pool_exhaustion",
            "service": "crm-api",
            "failures": 66,
            "failures_max": None,
            "lines": 198,
            "bound": "at_least",
            "first": START,
            "last": END,
            "first_wait_began": START,
            "inside_incidents": 66,
            "parameters": {"size": 5},
        }
    ],
    "probes": [
        {
            "series": "GET /health (client-3)",
            "seen_by": "service",
            "period_s": 300.0,
            "jitter_s": 0.6,
            "due": 12,
            "answered": 9,
            "late": [
                {"due": START, "answered": END, "delay_s": 88.1, "rivals": [{"due": START, "delay_s": 388.1}]}
            ],
            "missed": [START],
            "failed": [],
        }
    ],
    "silences": [
        {"service": "crm-api", "start": START, "end": END, "expected_lines": 412, "burst_after": 31}
    ],
    "stalls": [
        {
            "service": "crm-api",
            "start": START,
            "end": None,
            "grade": "inferred",
            "evidence": ["E4"],
            "parts": [[START, END], [END, None]],
        }
    ],
    "samples": [{"series": "pg", "period_s": 120.0, "before": 34, "peak": 46, "after": None, "limit": 100}],
    "blind_gaps": [
        {
            "monitor": "edge worker",
            "start": START,
            "end": END,
            "missing": 102,
            "others_alive": True,
            "kind": "blind",
            "incidents_inside": ["i2"],
            "incidents_overlapping": [],
        }
    ],
    "detectability": [{"monitor": "edge worker", "never_below_s": 308, "always_above_s": 608}],
    "daily": [
        {
            "date": "2026-09-08",
            "service": "crm-api",
            "signature": "sqlalchemy.queuepool-timeout",
            "failures": 41,
            "lines": 123,
            "partial": False,
            "bound": "exact",
        }
    ],
    "background": [
        {
            "template": "Inbox <uuid>",
            "inside_per_hour": 60.1,
            "outside_per_hour": 59.7,
            "verdict": "pre_existing",
        }
    ],
    "timeline": [
        {"at": START, "kind": "error", "service": None, "text": "…", "grade": "verified", "evidence": ["E1"]}
    ],
    "findings": [
        {
            "id": "F1",
            "section": "mechanism",
            "text": "…",
            "grade": "clue",
            "method": "…",
            "formula": None,
            "evidence": ["E1"],
            "scope": "…",
            "alternatives": [],
            "needs": [NEED],
        }
    ],
    "not_determined": [{"question": "…", "reason": "does not cover", "needs": [NEED]}],
    "evidence": [{"id": "E1", "source": "s1", "line": 10234, "cursor": None, "at": START, "text": "…"}],
}

CHECK = Draft202012Validator(schema())


def document(**changes: Any) -> dict[str, Any]:
    """Copy the minimal document, with other top-level values."""
    return deepcopy(MINIMAL) | deepcopy(changes)


def test_schema_is_a_schema() -> None:
    """The file itself is valid JSON Schema 2020-12."""
    Draft202012Validator.check_schema(schema())


def test_minimal_and_full_documents_pass() -> None:
    """A document of a quiet day is valid, and so is one where every list has an item."""
    assert list(CHECK.iter_errors(document())) == []
    assert list(CHECK.iter_errors(document(**FULL))) == []


@pytest.mark.parametrize("key", MINIMAL)
def test_every_key_is_required(key: str) -> None:
    """A missing top-level key is never silence about it."""
    broken = document()
    del broken[key]

    assert not CHECK.is_valid(broken)


@pytest.mark.parametrize(("section", "key"), [(s, key) for s, items in FULL.items() for key in items[0]])
def test_every_item_key_is_required(section: str, key: str) -> None:
    """An item without one of its keys is refused."""
    broken = document(**FULL)
    del broken[section][0][key]

    assert not CHECK.is_valid(broken)


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        ("hypotheses", "verdict", "probable"),
        ("findings", "grade", "confirmed"),
        ("signatures", "bound", "about"),
        ("incidents", "start_bound", "at_least"),
        ("blind_gaps", "kind", "asleep"),
        ("probes", "seen_by", "nobody"),
        ("background", "verdict", "confirmed"),
        ("not_determined", "reason", "unknown"),
        ("sources", "zone", {"name": "UTC", "rule": "guessed"}),
        ("incidents", "start", "2026-09-09 09:42:26"),
        ("incidents", "start", "2026-09-09T09:42:26"),
        ("incidents", "start", None),
        ("evidence", "line", 0),
        ("stalls", "parts", [[START]]),
    ],
)
def test_wrong_values_fail(section: str, key: str, value: Any) -> None:
    """A word outside its enum, an instant without offset and the like are refused."""
    broken = document(**FULL)
    broken[section][0][key] = value

    assert not CHECK.is_valid(broken)


def test_hypotheses_are_all_there_in_order() -> None:
    """One fewer, one more or two swapped are refused."""
    rows = MINIMAL["hypotheses"]

    assert not CHECK.is_valid(document(hypotheses=rows[:-1]))
    assert not CHECK.is_valid(document(hypotheses=[*rows, rows[0]]))
    assert not CHECK.is_valid(document(hypotheses=[rows[1], rows[0], *rows[2:]]))


def test_more_keys_are_welcome() -> None:
    """Later versions may add keys anywhere."""
    richer = document(**FULL, extra=1)
    for section in FULL:
        richer[section][0]["extra"] = {"any": "thing"}

    assert CHECK.is_valid(richer)


def test_each_call_loads_a_fresh_copy() -> None:
    """A caller who edits the schema spoils it for nobody."""
    schema().clear()

    assert schema()["title"] == "forensics.report/1"
