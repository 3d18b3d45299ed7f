"""The kernel's log says which process it ended: a service is down from there to the process that took its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import small_logs as logs

from forensics import pipeline
from forensics.model.facts import Restarts

if TYPE_CHECKING:
    from pathlib import Path

KILLED = "Out of memory: Killed process 812 (node) total-vm:9000000kB, anon-rss:7800000kB, file-rss:0kB, shmem-rss:0kB, UID:1000 pgtables:16000kB oom_score_adj:0\n"


def test_the_killed_process_is_the_service_that_has_its_id(tmp_path: Path) -> None:
    """By the id that the journal knows: from the kill to the first line of the process that took its place."""
    lines = [(10.0 * n, "INFO tick") for n in range(61)]
    rows = [logs.printed(at, text, pid=812 if at <= 300 else 901) for at, text in lines if not 300 < at < 340]
    (tmp_path / "api.json").write_text(logs.entries(rows), "utf-8")
    stamp = "2026-11-29T12:05:01.500000+00:00 srv kernel: "
    (tmp_path / "kern.log").write_text(
        stamp + KILLED + stamp.replace("05:01", "09:59") + "usb 1-1: new device\n",
        "utf-8",
    )
    (outage,) = pipeline.investigate([str(tmp_path)], pipeline.Options(tz="UTC")).facts[Restarts].outages

    assert (outage.service, outage.reason) == ("crm-api", "oom")
    assert [round(at / 1e6 - logs.NOON, 1) for at in (outage.start, outage.end or 0)] == [301.5, 340.0]


ENGINE = "2026-11-29T12:{at}.400000000Z container {action} 7c0a19d0b64bc5420913c342e16e5f23b1c116da177de271a2e4e82e29a58389 ({more}image=shop/api:2.31.0, name=shop-api-1)\n"


def engine(folder: Path, *events: tuple[str, str, str]) -> list[tuple[str, str, float]]:
    """Return the outages of a container, (reason, kind of its last event, length in seconds), by what its engine did."""
    text = "".join(ENGINE.format(at=at, action=action, more=more) for at, action, more in events)
    (folder / "docker-events.txt").write_text(text, "utf-8")
    found = pipeline.investigate([str(folder)], pipeline.Options(tz="UTC")).facts[Restarts]
    return [
        (one.reason, one.service, round(((one.end or one.start) - one.start) / 1e6, 1))
        for one in found.outages
    ]


def test_a_container_that_ran_out_of_memory_is_back_when_it_starts(tmp_path: Path) -> None:
    rows = (
        ("20:07", "oom", ""),
        ("20:08", "die", "execDuration=3011, exitCode=137, "),
        ("20:11", "start", ""),
    )

    assert engine(tmp_path, *rows) == [("oom", "shop-api-1", 4.0)]


def test_a_container_that_was_asked_to_stop_did_not_crash(tmp_path: Path) -> None:
    """The engine sends the signal, and kills when the time to end is over."""
    rows = (
        ("20:07", "kill", "signal=15, "), ("20:17", "kill", "signal=9, "), ("20:18", "die", "exitCode=137, "),
        ("20:18", "stop", ""), ("20:20", "start", ""), ("20:20", "restart", ""),
    )  # fmt: skip

    assert engine(tmp_path, *rows) == [("deploy", "shop-api-1", 13.0)]


def test_a_container_that_ends_with_a_code_crashed_and_one_that_is_told_to_read_its_settings_did_not_end(
    tmp_path: Path,
) -> None:
    rows = (("20:01", "kill", "signal=1, "), ("20:07", "die", "exitCode=1, "), ("20:08", "start", ""))

    assert engine(tmp_path, *rows) == [("crash", "shop-api-1", 1.0)]
