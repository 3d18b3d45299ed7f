"""An entry that holds several records tells of each of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from forensics import pipeline
from forensics.pipeline import Options

if TYPE_CHECKING:
    from pathlib import Path

ACCESS = [
    f'INFO:     203.0.113.{n}:5{n} - "GET /health HTTP/1.1" {status}'
    for n, status in ((1, "200 OK"), (2, "503"))
]
HELD = "\n".join([ACCESS[0], "an application said this", *ACCESS])
ERROR = f"ERROR:    failed\nTraceback (most recent call last):\n  {ACCESS[0]}\nValueError: no"
ENTRIES = {
    "journal.json": [
        json.dumps({"__REALTIME_TIMESTAMP": f"179595450{n}000000", "_SYSTEMD_UNIT": "api.service", "SYSLOG_IDENTIFIER": "uvicorn", "_BOOT_ID": "9" * 32, "__CURSOR": f"s=1;i={n}", "MESSAGE": message})
        for n, message in enumerate((HELD, ERROR))
    ],
    "container-json.log": [
        json.dumps({"log": f"{message}\n", "stream": "stdout", "time": f"2026-11-29T12:00:0{n}.5Z"}, separators=(",", ":"))
        for n, message in enumerate((HELD, ERROR))
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", ENTRIES)
def test_each_access_line_of_an_entry_is_a_request(name: str, tmp_path: Path) -> None:
    """Three access lines in one entry are three requests; other lines, and one that a traceback echoes, are parts of theirs."""
    (tmp_path / name).write_text("".join(f"{entry}\n" for entry in ENTRIES[name]), encoding="utf-8")
    evidence = pipeline.survey([str(tmp_path)], Options())

    assert [source.records for source in evidence.sources] == [2]
    counted = evidence["routes"].group_by("route", "status").agg(n="n").sort("status")
    assert [(route, status, sum(n)) for route, status, n in counted.rows()] == [
        ("/health", 200, 2),
        ("/health", 503, 1),
    ]
    assert evidence["failed"].height == 1
