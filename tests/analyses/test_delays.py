"""Messages that show when they were written and read: a receiver that stood still, another zone, another clock."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import pytest

from forensics import pipeline
from forensics.model.facts import Delays
from forensics.pipeline import Options

if TYPE_CHECKING:
    from pathlib import Path

    from forensics.model.case import Case

NOON = dt.datetime(2026, 11, 29, 12, 0, tzinfo=dt.UTC)


def stamp(second: float) -> str:
    """Show an instant as the receiver prints it."""
    return f"{NOON + dt.timedelta(seconds=second):%Y-%m-%d %H:%M:%S.%f}"


def warning(read: float, written: float, host: str, *, lines: int = 1) -> str:
    """Return a warning of a worker in UTC, on one line or on two."""
    gap = "\n" if lines > 1 else " "
    return (
        f"[{NOON + dt.timedelta(seconds=read):%Y-%m-%d %H:%M:%S},{round(read % 1 * 1000):03}: WARNING/MainProcess] Substantial drift from {host} may mean "
        f"clocks are out of sync.  Current drift is{gap}{round(read - written)} seconds.  [orig: {stamp(read)} recv: {stamp(written)}]\n\n"
    )


def task(second: float, name: str = "mail.send") -> str:
    """Return an ordinary line."""
    return f"[{NOON + dt.timedelta(seconds=second):%Y-%m-%d %H:%M:%S},000: INFO/MainProcess] Received task: {name}[7f]\n"


def case(folder: Path, *texts: str) -> Case:
    """Read a worker's log."""
    (folder / "worker.log").write_text("".join(texts), encoding="utf-8")
    return pipeline.investigate([str(folder)], Options())


@pytest.mark.parametrize("lines", [1, 2])
def test_messages_read_at_once_tell_of_a_receiver_that_stood_still(tmp_path: Path, lines: int) -> None:
    """Five messages of two senders, 15 s apart, are read within 4 ms after 70 s without a line."""
    said = [
        warning(100 + n / 1000, 32 + 15 * (n // 2), f"mailer@node-{n % 2}", lines=lines) for n in range(5)
    ]
    delays = case(tmp_path, task(28), task(30), *said, task(101)).facts[Delays]

    (one,) = delays.backlogs
    assert (one.n, len(one.peers), one.oldest_s, one.newest_s) == (5, 2, 68.0, 38.0)
    assert (one.sent_last - one.sent_first, one.silent_s) == (30_000_000, 70.0)
    assert delays.skews == ()


def test_a_receiver_that_went_on_is_no_witness(tmp_path: Path) -> None:
    """It printed lines all along: the backlog is told, and its silence is not."""
    said = [warning(100 + n / 1000, 40 + 10 * n, "mailer@node-1") for n in range(4)]
    (one,) = case(tmp_path, *[task(second) for second in range(20, 100, 5)], *said).facts[Delays].backlogs

    assert (one.n, one.silent_since) == (4, None)


@pytest.mark.parametrize(
    ("offset", "zone"),
    [(-19_800, True), (10_800, True), (2_700, True), (95, False), (-1_000, False)],
    ids=["+05:30", "-03:00", "+00:45", "clock 95 s behind", "clock 1000 s ahead"],
)
def test_the_same_amount_each_time_is_a_zone_or_a_clock(tmp_path: Path, offset: int, zone: bool) -> None:
    """A whole number of quarter hours is a zone; any other amount is a clock."""
    said = [warning(10 * n, 10 * n - offset - 0.2 + n / 20, "worker@desk") for n in range(1, 5)]
    delays = case(tmp_path, *said).facts[Delays]

    (skew,) = delays.skews
    assert (skew.peer, skew.n, skew.zone) == ("worker@desk", 4, zone)
    assert skew.offset_s == pytest.approx(offset, abs=0.3)
    assert skew.within_s < 0.3
    assert delays.backlogs == ()


def test_one_late_message_tells_nothing(tmp_path: Path) -> None:
    """It may be anything."""
    assert case(tmp_path, task(1), warning(60, 25, "worker@desk")).facts[Delays] == Delays((), ())


def test_a_stall_is_supported_and_no_clock_is_blamed(tmp_path: Path) -> None:
    """The receiver's own silence is the second sign; a foreign zone moves no hypothesis."""
    backlog = [warning(100 + n / 1000, 35 + 20 * n, f"mailer@node-{n}") for n in range(3)]
    zone = [warning(200 + 10 * n, 200 + 10 * n - 7200, "worker@desk") for n in range(3)]
    found = case(tmp_path, task(29), *backlog, task(101), *zone)
    verdicts = {item.id: item.verdict.value for item in found.diagnosis.judgements}
    said = [finding.key for finding in found.diagnosis.findings if finding.section == "mechanism"]

    assert verdicts["process_stalled"] == "supported"
    assert verdicts["host_frozen_or_clock_jump"] not in ("confirmed", "supported", "suspected")
    assert said == ["mechanism.backlog", "mechanism.zone"]
