"""Workers that missed their heartbeat: by whom they were ended, and what was begun instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forensics import pipeline
from forensics.model.facts import Workers
from forensics.pipeline import Options

if TYPE_CHECKING:
    from pathlib import Path

    from forensics.model.case import Case


def line(second: int, pid: int, level: str, text: str, offset: str = "+0000", hour: int = 12) -> str:
    """Return a line of gunicorn."""
    return f"[2026-11-29 {hour}:24:{second:02} {offset}] [{pid}] [{level}] {text}\n"


def case(folder: Path, **files: str) -> Case:
    """Read logs, one a service."""
    for name, text in files.items():
        (folder / f"{name}.log").write_text(text, encoding="utf-8")
    return pipeline.investigate([str(folder)], Options())


def test_each_kill_is_paired_with_its_missed_heartbeat(tmp_path: Path) -> None:
    """Newer versions name the signal; one worker leaves by itself, another one's end is not in the log."""
    text = (
        line(0, 7, "INFO", "Booting worker with pid: 31")
        + line(10, 7, "CRITICAL", "WORKER TIMEOUT (pid:31)")
        + line(10, 7, "CRITICAL", "WORKER TIMEOUT (pid:32)")
        + line(11, 7, "ERROR", "Worker (pid:31) was sent SIGABRT!")
        + line(11, 32, "INFO", "Worker exiting (pid: 32)")
        + line(12, 7, "INFO", "Booting worker with pid: 41")
        + line(12, 7, "INFO", "Booting worker with pid: 42")
        + line(30, 7, "CRITICAL", "WORKER TIMEOUT (pid:33)")
    )
    workers = case(tmp_path, shop=text).facts[Workers]

    assert [(one.pid, one.signal, one.ended is not None) for one in workers.missed] == [
        ("31", "6", True),
        ("32", None, True),
        ("33", None, False),
    ]
    assert [pid for _, _, pid, _ in workers.begun] == ["41", "42"]


def test_two_hosts_of_two_zones_are_told_apart(tmp_path: Path) -> None:
    """The same process id on another host is another worker; a kill by signal 9 says nothing of memory."""
    found = case(
        tmp_path,
        east=line(20, 7, "CRITICAL", "WORKER TIMEOUT (pid:31)", "+0530", 17)
        + line(21, 7, "ERROR", "Worker (pid:31) was sent SIGKILL! Perhaps out of memory?", "+0530", 17),
        west=line(25, 9, "CRITICAL", "WORKER TIMEOUT (pid:31)")
        + line(26, 9, "WARNING", "Worker with pid 31 was terminated due to signal 6"),
    )
    workers = found.facts[Workers].missed

    assert sorted((one.service, one.signal) for one in workers) == [("east", "9"), ("west", "6")]
    assert {item.id: item.verdict.value for item in found.diagnosis.judgements}["out_of_memory"] == (
        "not_determined"
    )
    assert [
        (finding.values["service"], finding.values["killed"], finding.values["signals"])
        for finding in found.diagnosis.findings
        if (finding.key, finding.section) == ("mechanism.workers", "mechanism")
    ] == [("east", 1, [("9", 1)]), ("west", 1, [("6", 1)])]


def test_a_text_that_kills_in_the_same_line_names_its_limit(tmp_path: Path) -> None:
    """Unicorn says how long the worker was silent, and that it kills it now."""
    text = "E, [2026-11-29T12:24:31.000000 #7] ERROR -- : worker=2 PID:51 timeout (61s > 60s), killing\n"
    (worker,) = case(tmp_path, rails=text).facts[Workers].missed

    assert (worker.pid, worker.signal, worker.limit_s) == ("51", "9", 60.0)


def test_an_ordinary_stop_misses_no_heartbeat(tmp_path: Path) -> None:
    """Workers that end on a stop or a reload are none of these."""
    text = line(1, 7, "INFO", "Handling signal: hup") + line(
        2, 7, "ERROR", "Worker (pid:31) was sent SIGTERM!"
    )

    assert case(tmp_path, shop=text).facts[Workers] == Workers((), ())
