"""Several incidents of one kind are said to be so."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[1] / "analyses"))

from small_logs import POOL, Line, journal, served, us

if TYPE_CHECKING:
    from forensics.model.case import Case


def pool(start: float, n: int) -> list[Line]:
    """Return failures of a pool, one every five seconds."""
    return [(start + 5 * k, f"sqlalchemy.exc.TimeoutError: {POOL}") for k in range(n)]


def gone(start: float, n: int) -> list[Line]:
    """Return failures of another kind."""
    text = "asyncpg.exceptions.ConnectionDoesNotExistError: connection was closed in the middle of operation"
    return [(start + 5 * k, text) for k in range(n)]


def told(folder: Path, *parts: list[Line]) -> dict[str, Any]:
    """Return the values of what summary and recurrence say, by key."""
    from forensics import pipeline

    lines = [line for part in (served(0, 7200, step=3), *parts) for line in part]
    (folder / "api.json").write_text(journal(lines))
    case: Case = pipeline.investigate([str(folder)], pipeline.Options())
    return {
        one.key: one.values for one in case.diagnosis.findings if one.section in ("summary", "recurrence")
    }


def test_incidents_that_share_their_failure_are_of_one_kind(tmp_path: Path) -> None:
    """The pool ran out three times: the summary says so, and since when."""
    found = told(tmp_path, pool(900, 10), pool(3000, 30), pool(6000, 12))
    assert found["summary.window"]["alike"] == (3, us(900 - 30))


def test_incidents_of_another_kind_are_not_counted(tmp_path: Path) -> None:
    """The earlier one is of lost connections: nothing was repeated."""
    found = told(tmp_path, gone(900, 12), pool(3000, 30))
    assert found["recurrence.others"]["n"] == 1
    assert found["summary.window"]["alike"] is None
