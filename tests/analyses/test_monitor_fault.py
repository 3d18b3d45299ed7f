"""All targets of a monitor at once: the monitor's side, unless other sources show trouble."""

from __future__ import annotations

import datetime as dt
import json
from typing import TYPE_CHECKING

import pytest

from forensics import pipeline
from forensics.pipeline import Options

if TYPE_CHECKING:
    from pathlib import Path

BEGIN = dt.datetime(2026, 11, 29, 12, 0, tzinfo=dt.UTC)
HOSTS = ("a.example", "b.example", "c.example", "d.example")


def verdict(folder: Path, down: tuple[str, ...], *, served: bool) -> tuple[str, str]:
    """Let some targets fail from 12:10 to 12:13; return verdict and reason of the false alarm."""
    lines = []
    for minute in range(30):
        for number, name in enumerate(HOSTS):
            failed = name in down and 10 <= minute < 13
            at = BEGIN + dt.timedelta(minutes=minute, seconds=2 * number)
            row = {"ts": f"{at:%Y-%m-%dT%H:%M:%S.200Z}", "target": f"https://{name}/health"}
            row |= {"status": "down", "error": "getaddrinfo EAI_AGAIN"} if failed else {"status": "up"}
            lines.append(json.dumps(row))
    (folder / "monitor.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    if served:
        access = [
            f'203.0.113.{n % 9} - - [{BEGIN + dt.timedelta(seconds=7 * n):%d/%b/%Y:%H:%M:%S} +0000] "GET /p/{n} HTTP/1.1" 200 12 "-" "curl/8.5"'
            for n in range(240)
        ]
        (folder / "access.log").write_text("\n".join(access) + "\n", encoding="utf-8")
    case = pipeline.investigate([str(folder)], Options())
    judged = next(one for one in case.diagnosis.judgements if one.id == "monitor_false_alarm")
    return judged.verdict.value, judged.why


@pytest.mark.parametrize(
    ("down", "served", "want"),
    [
        (HOSTS, True, ("supported", "alarm.all_served")),
        (HOSTS, False, ("suspected", "alarm.all")),
        (HOSTS[:1], False, ("not_determined", "alarm.only")),
    ],
)
def test_all_targets_at_once(
    down: tuple[str, ...], served: bool, want: tuple[str, str], tmp_path: Path
) -> None:
    """Four hosts that fail in one beat while customers are served: the monitor; one host of four: that host."""
    assert verdict(tmp_path, down, served=served) == want
