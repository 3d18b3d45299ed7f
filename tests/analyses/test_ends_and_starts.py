"""What ends right after its start was not back; a job that ends is no service that restarted; a worker is not its service."""

from __future__ import annotations

from typing import TYPE_CHECKING

import small_logs as logs

from forensics import pipeline
from forensics.model.facts import Restarts
from forensics.report import document

if TYPE_CHECKING:
    from pathlib import Path

    from forensics.model.case import Case

UNIT = "shop-api.service"


def case(folder: Path, *lines: tuple[float, str]) -> Case:
    """Read what the manager says, beside an application that prints all the time."""
    rows = [logs.manager(at, text) for at, text in lines]
    rows += [logs.printed(10.0 * n, "INFO tick", unit="other") for n in range(400)]
    (folder / "host.json").write_text(logs.entries(rows), "utf-8")
    return pipeline.investigate([str(folder)], pipeline.Options(tz="UTC"))


def ended(found: Case) -> list[tuple[str, float, float | None, int]]:
    """Return (reason, start, end, failed starts) of each outage, in seconds after noon."""
    return [
        (
            one.reason,
            round(one.start / 1e6 - logs.NOON, 1),
            None if one.end is None else round(one.end / 1e6 - logs.NOON, 1),
            one.failed,
        )
        for one in found.facts[Restarts].outages
    ]


def test_starts_that_fail_at_once_bring_nothing_back(tmp_path: Path) -> None:
    """A new version crashes twice after the stop that was asked for; the third start holds."""
    lines = [(600.0, f"Stopping {UNIT} - Shop..."), (600.8, f"Stopped {UNIT} - Shop.")]
    for at in (601.0, 603.5):
        lines += [
            (at, f"Started {UNIT} - Shop."),
            (at + 1.3, f"{UNIT}: Main process exited, code=exited, status=1/FAILURE"),
        ]
    lines += [(700.0, f"Started {UNIT} - Shop.")]

    assert ended(case(tmp_path, *lines)) == [("deploy_loop", 600.0, 700.0, 2)]


def test_a_stop_that_is_asked_for_twice_is_two_stops(tmp_path: Path) -> None:
    lines = [
        (600.0, f"Stopping {UNIT} - Shop..."), (601.0, f"Started {UNIT} - Shop."), (605.0, f"Stopping {UNIT} - Shop..."),
        (606.0, f"Started {UNIT} - Shop."),
    ]  # fmt: skip

    assert [one[0] for one in ended(case(tmp_path, *lines))] == ["deploy", "deploy"]


def test_a_kill_that_nobody_explains_is_no_end_by_itself(tmp_path: Path) -> None:
    lines = [
        (600.0, f"{UNIT}: Main process exited, code=killed, status=9/KILL"), (602.0, f"Started {UNIT} - Shop."),
    ]  # fmt: skip
    found = case(tmp_path, *lines)
    acts = [row["text"] for row in document.build(found)["actions"]]

    assert ended(found) == [("killed", 600.0, 602.0, 0)]
    assert [text.partition(",")[0] for text in acts] == ["Look at what shop-api printed before it ended"]


def test_a_job_that_ends_is_no_restart(tmp_path: Path) -> None:
    """It runs each hour for twenty seconds: nothing of it restarted, and no open question is told as evidence."""
    lines = []
    for at in (60.0, 3660.0):
        lines += [(at, "Started dump.service - Dump."), (at + 20, "dump.service: Deactivated successfully.")]
    found = case(tmp_path, *lines)
    (judged,) = [one for one in found.diagnosis.judgements if one.id == "service_restarted"]

    assert ended(found) == []
    assert judged.verdict.value not in ("confirmed", "supported", "suspected")
    assert not [one for one in found.diagnosis.findings if one.key.startswith("why.restart")]


KILLED = "Out of memory: Killed process 22 (gunicorn) total-vm:9000000kB, anon-rss:7800000kB, file-rss:0kB, shmem-rss:0kB, UID:1000 pgtables:16000kB oom_score_adj:0\n"


def test_a_worker_that_is_killed_is_not_its_service(tmp_path: Path) -> None:
    """The master printed before and after: the service was there all the time."""
    rows = [logs.printed(5.0 * n, "INFO tick", pid=22 if n % 2 else 18) for n in range(40)]
    rows += [logs.printed(200.0 + 5.0 * n, "INFO tick", pid=23 if n % 2 else 18) for n in range(40)]
    (tmp_path / "api.json").write_text(logs.entries(rows), "utf-8")
    (tmp_path / "kern.log").write_text(
        f"2026-11-29T12:03:19.119000+00:00 srv kernel: {KILLED}2026-11-29T12:06:00.000000+00:00 srv kernel: usb 1-1: new device\n",
        "utf-8",
    )

    assert pipeline.investigate([str(tmp_path)], pipeline.Options(tz="UTC")).facts[Restarts].outages == ()
