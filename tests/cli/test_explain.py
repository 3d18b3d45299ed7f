"""`forensics explain` on a hypothesis."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from forensics.cli.main import cli
from forensics.findings.hypotheses import load

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the report.json of a small log."""
    folder = tmp_path_factory.mktemp("explain")
    lines = [
        f'2026-11-29T12:{at // 60:02}:{at % 60:02}.000000000Z INFO:     10.0.0.1:5 - "GET /health HTTP/1.1" 200 OK'
        for at in range(0, 1200, 20)
    ]
    (folder / "api.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    out = folder / "report.json"
    done = CliRunner().invoke(
        cli, ["report", str(folder / "api.log"), "--json", str(out), "-o", str(folder / "report.md")]
    )
    assert done.exit_code == 0, done.output
    return out


@pytest.mark.parametrize("name", [one.id for one in load()])
def test_how_a_verdict_is_weighed(name: str, report: Path) -> None:
    """Verdict, what would support and contradict it, the coverage that it needs, and the commands that would tell."""
    done = CliRunner().invoke(cli, ["explain", str(report), name])
    verdict = next(one for one in json.loads(report.read_text("utf-8"))["hypotheses"] if one["id"] == name)

    assert done.exit_code == 0, done.output
    assert f"[{verdict['verdict']}]" in done.output
    for label in ("supported by: ", "contradicted by: ", "ruled out only with: "):
        assert label in done.output
    assert done.output.count("would tell: ") == len(verdict["needs"])


def test_the_lines_behind_a_verdict_are_shown(report: Path) -> None:
    """What speaks against a stall is quoted with its place."""
    done = CliRunner().invoke(cli, ["explain", str(report), "monitor_blind"])

    assert "api.log:1" in done.output
    assert "GET /health" in done.output
