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
