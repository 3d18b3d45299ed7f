"""What lies in another incident bears on no verdict of the one that the report is about."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1] / "analyses"))

from small_logs import POOL, Line, journal, served

from forensics.model.finding import Verdict

if TYPE_CHECKING:
    from forensics.model.case import Case


def run(folder: Path, **files: str) -> Case:
    """Return what the pipeline concludes from files."""
    from forensics import pipeline

    for name, text in files.items():
        (folder / name).write_text(text)
    return pipeline.investigate([str(folder)], pipeline.Options())


def pool(start: float, n: int) -> list[Line]:
    """Return failures of a pool, one every five seconds."""
    return [(start + 5 * k, f"sqlalchemy.exc.TimeoutError: {POOL}") for k in range(n)]


def errors(start: float, n: int) -> list[Line]:
    """Return requests that failed, one a second."""
    return [
        (start + k, f'INFO:     203.0.113.15:0 - "GET /api/{k} HTTP/1.1" 500 Internal Server Error')
        for k in range(n)
    ]


def test_a_pool_that_ran_out_in_another_incident_confirms_nothing_in_this_one(tmp_path: Path) -> None:
    """The heavier incident has none of its texts: they are told with the number of the incident in which they lie."""
    lines = [*served(0, 7200, step=3), *errors(600, 120), *pool(5400, 12)]
    case = run(tmp_path, **{"api.json": journal(lines)})
    judged = next(one for one in case.diagnosis.judgements if one.id == "app_pool_exhausted")
    assert judged.verdict is Verdict.NO_SIGN
    assert judged.why == "pool.elsewhere"
    assert judged.values["incidents"] == [2]
    assert "mechanism.pool" not in {one.key for one in case.diagnosis.findings}


def test_only_failures_inside_are_counted(tmp_path: Path) -> None:
    """Of one pool that ran out in two incidents, the verdict counts those of the incident that the report is about."""
    lines = [*served(0, 7200, step=3), *pool(600, 30), *pool(5400, 12)]
    case = run(tmp_path, **{"api.json": journal(lines)})
    judged = next(one for one in case.diagnosis.judgements if one.id == "app_pool_exhausted")
    assert judged.verdict is Verdict.CONFIRMED
    assert judged.values["most"] == 30
