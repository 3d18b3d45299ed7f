"""What a report asks for: of the database that the failures speak of, and told apart from what was given but not read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BEFORE, AFTER = (
    "".join(
        f'2026-11-29T12:0{minute}:{second:02d}.000000000Z INFO:     203.0.113.15:0 - "GET /api HTTP/1.1" 200 OK\n'
        for second in range(60)
    )
    for minute in (0, 2)
)
MYSQL = "pymysql.err.OperationalError: (2006, \"MySQL server has gone away (BrokenPipeError(32, 'Broken pipe'))\")"
POSTGRES = "psycopg2.OperationalError: server closed the connection unexpectedly"
BINARY = bytes(range(256)) * 20


def document(run: Callable[..., Any], tmp_path: Path, failure: str, **files: bytes) -> dict[str, Any]:
    """Return the report on an API that failed for a minute."""
    folder = tmp_path / "exports"
    folder.mkdir()
    failures = "".join(f"2026-11-29T12:01:{second:02d}.000000000Z {failure}\n" for second in range(60))
    (folder / "api.log").write_text(BEFORE + failures + AFTER)
    for name, content in files.items():
        (folder / f"{name}.log").write_bytes(content)
    assert run("report", folder, "-o", tmp_path / "r.md", "--json", tmp_path / "r.json").code == 0
    return dict(json.loads((tmp_path / "r.json").read_text()))


def asked(report: dict[str, Any]) -> str:
    """Return all inputs and commands that the database's hypotheses ask for."""
    wanted = [row["needs"] for row in report["hypotheses"] if row["id"].startswith("db_")]
    return json.dumps(wanted)


@pytest.mark.parametrize(
    ("failure", "command", "other"),
    [(MYSQL, "sudo mysql -e", "postgres"), (POSTGRES, "psql -X", "mysql")],
    ids=["mysql", "postgres"],
)
def test_the_database_that_failed_is_the_one_that_is_asked(
    run: Callable[..., Any], tmp_path: Path, failure: str, command: str, other: str
) -> None:
    text = asked(document(run, tmp_path, failure))
    assert command in text
    assert other not in text.lower()


@pytest.mark.parametrize(
    ("files", "why"),
    [({}, "not given"), ({"mysql-error": BINARY}, "unreadable"), ({"redis": BINARY}, "not given")],
    ids=["nothing", "the server's", "another's"],
)
def test_a_log_that_was_given_but_not_read_is_not_called_missing(
    run: Callable[..., Any], tmp_path: Path, files: dict[str, bytes], why: str
) -> None:
    report = document(run, tmp_path, MYSQL, **files)
    found = {row["hypothesis"]: row["reason"] for row in report["not_determined"]}
    assert found["db_slow_or_locked"] == why
