"""A deadline that passed while a Go service waited for a pooled connection, with the counters that it logs beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from forensics.model.facts import Failures
from forensics.model.finding import Verdict
from forensics.pipeline import Options, investigate
from forensics.report.statements import Statements

if TYPE_CHECKING:
    from pathlib import Path

LINE = '{{"time":"2026-03-10T13:05:{at:02}.892829Z","level":"ERROR","msg":"query failed","err":"{err}"{counters}}}'
COUNTERS = ',"pool_acquired":20,"pool_idle":0,"pool_max":20'


@pytest.mark.parametrize(
    ("err", "signature", "verdict"),
    [
        ("acquire conn: context deadline exceeded", "go.acquire-deadline", Verdict.SUPPORTED),
        ("list orders: context deadline exceeded", "go.context-deadline", Verdict.NO_SIGN),
    ],
)
def test_the_wait_for_a_connection_is_told_from_other_deadlines(
    tmp_path: Path, err: str, signature: str, verdict: Verdict
) -> None:
    """The words are the service's own: they support a pool that ran out, and confirm none."""
    lines = [LINE.format(at=at, err=err, counters=COUNTERS) for at in range(40)]
    (tmp_path / "shop-api.json").write_text("\n".join(lines) + "\n", encoding="utf-8")
    case = investigate([str(tmp_path)], Options(tz="UTC"))
    (group,) = case.facts[Failures].groups
    (pool,) = (one for one in case.diagnosis.judgements if one.id == "app_pool_exhausted")

    assert (group.signature, group.failures) == (signature, 40)
    assert pool.verdict is verdict


@pytest.mark.parametrize("tag", ["en", "pt-BR"])
def test_its_counters_are_told(tmp_path: Path, tag: str) -> None:
    """Active and idle, where nothing counts who waits."""
    lines = [
        LINE.format(at=at, err="acquire conn: context deadline exceeded", counters=COUNTERS)
        for at in range(40)
    ]
    (tmp_path / "shop-api.json").write_text("\n".join(lines) + "\n", encoding="utf-8")
    case = investigate([str(tmp_path)], Options(tz="UTC"))
    (counted,) = (one for one in case.diagnosis.findings if one.key == "mechanism.counters")

    assert counted.values == {"ranges": {"active": (20, 20), "idle": (0, 0)}, "empty": 40, "lines": 40}
    assert "active 20, idle 0" in Statements(tag, "UTC").say("mechanism.counters", counted.values)
