"""A monitor's own rule, applied to its own results."""

from __future__ import annotations

import datetime as dt
import json
from typing import TYPE_CHECKING

import pytest

from forensics import pipeline
from forensics.model.facts import Replay, Watch
from forensics.pipeline import Options

if TYPE_CHECKING:
    from pathlib import Path

BEGIN = dt.datetime(2026, 11, 29, 12, 0, tzinfo=dt.UTC)
PERIOD = 60


def replays(folder: Path, results: str, alerts: dict[int, str]) -> tuple[Replay, ...]:
    """Write results (``.`` up, ``s`` up but slower than the timeout, ``x`` down) and alerts (seconds, state) of a rule of two, and replay them."""
    rows = [
        (
            at * PERIOD,
            {
                "target": "https://a.example/health",
                "status": "down" if said == "x" else "up",
                "latency_ms": 6000 if said == "s" else 40,
                "error": "timeout of 4000ms exceeded" if said == "x" else None,
            },
        )
        for at, said in enumerate(results)
    ]
    rows += [
        (at, {"target": "https://a.example/health", "event": "alert", "state": state, "after_failures": 2})
        for at, state in alerts.items()
    ]
    lines = [
        json.dumps({"ts": f"{BEGIN + dt.timedelta(seconds=at):%Y-%m-%dT%H:%M:%S.123Z}", **row})
        for at, row in sorted(rows, key=lambda row: row[0])
    ]
    (folder / "monitor.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return pipeline.investigate([str(folder)], Options()).facts[Watch].replays


@pytest.mark.parametrize(
    ("results", "alerts", "want"),
    [
        ("....xxxx....", {5 * 60 + 4: "down"}, [("right", 4)]),
        ("....xxxx....", {7 * 60 + 4: "down"}, [("late", 4)]),
        ("....xx....xx..", {5 * 60 + 4: "down"}, [("right", 2), ("absent", 2)]),
        ("....x....xxx..", {10 * 60 + 4: "down"}, [("not_met", 1), ("right", 3)]),
        ("....sxs....xs..", {13 * 60: "recovered"}, [("not_met", 1), ("not_met", 1)]),
        ("..........", {5 * 60: "down"}, [("false", 0)]),
    ],
)
def test_rule_against_results(
    results: str, alerts: dict[int, str], want: list[tuple[str, int]], tmp_path: Path
) -> None:
    """An alert is due when the second check in a row has failed; what came is compared with it."""
    found = replays(tmp_path, results, alerts)

    assert sorted((one.verdict, one.failed) for one in found) == sorted(want)


def test_when_the_rule_was_met(tmp_path: Path) -> None:
    """The second failed check was sent at 12:05:00.123 and had failed when its timeout of 4 s was over."""
    (replay,) = replays(tmp_path, "....xxxx....", {5 * 60 + 4: "down"})

    met = round((BEGIN + dt.timedelta(minutes=5, seconds=4, milliseconds=123)).timestamp() * 1e6)
    assert (replay.due, replay.alerted) == (met, met)
