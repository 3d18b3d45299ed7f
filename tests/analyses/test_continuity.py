"""Clock steps, holes in the numbers and filtered exports."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from forensics import pipeline
from forensics.model.facts import Continuity
from forensics.pipeline import Options
from forensics.report import document

if TYPE_CHECKING:
    from pathlib import Path

START_US = 1_796_000_000_000_000
BOOT = "0123456789abcdef0123456789abcdef"


def entry(
    number: int, *, offset_s: float = 0.0, unit: str = "api.service", boot: str = BOOT
) -> dict[str, Any]:
    """Return entry ``number``, 20 s after the one before by the monotonic clock; the wall clock is ahead by an offset."""
    mono = 5_000_000 + number * 20_000_000
    return {
        "__REALTIME_TIMESTAMP": str(START_US + mono + round(offset_s * 1e6)),
        "__MONOTONIC_TIMESTAMP": str(mono),
        "__CURSOR": f"s={'7' * 32};i={number + 1:x};b={boot};m={mono:x}",
        "_BOOT_ID": boot,
        "_SYSTEMD_UNIT": unit,
        "SYSLOG_IDENTIFIER": "api",
        "MESSAGE": f"message {number}",
    }


def found(tmp_path: Path, entries: list[dict[str, Any]], shard_size: int = 1 << 20) -> Continuity:
    """Return what the numbers and clocks of an export say."""
    text = "".join(f"{json.dumps(one)}\n" for one in entries)
    (tmp_path / "host.json").write_text(text, encoding="utf-8")
    return pipeline.investigate([str(tmp_path)], Options(shard_size=shard_size)).facts[Continuity]


@pytest.mark.parametrize("shard_size", [1, 1 << 20])
def test_a_clock_that_was_set_back(tmp_path: Path, shard_size: int) -> None:
    """The step is placed between its entries and given its size, however the file is cut."""
    entries = [entry(number, offset_s=0 if number < 12 else -7200) for number in range(30)]
    steps = found(tmp_path, entries, shard_size).steps

    assert [(step.jump_s, [ref.line for ref in step.refs]) for step in steps] == [(-7200.0, [12, 13])]
    assert steps[0].at == START_US + 5_000_000 + 12 * 20_000_000 - 7_200_000_000


def test_a_wrong_clock_until_the_first_synchronisation(tmp_path: Path) -> None:
    """A host without a battery starts in the past; the step says by how much the first lines are off."""
    entries = [entry(number, offset_s=-40_000_000 if number < 3 else 0) for number in range(30)]

    assert [step.jump_s for step in found(tmp_path, entries).steps] == [40_000_000.0]


def test_a_slewed_clock_and_a_reboot_are_no_steps(tmp_path: Path) -> None:
    """500 ppm is what the kernel slews; the monotonic clock begins anew with a boot."""
    slewed = [entry(number * 5, offset_s=number * 100 * 0.0005) for number in range(60)]
    again = [entry(number, offset_s=90_000, boot="f" * 32) for number in range(300, 320)]

    assert found(tmp_path, slewed + again).steps == ()


def host(numbers: range) -> list[dict[str, Any]]:
    """Return entries of a whole host."""
    return [
        entry(number, unit="systemd-journald.service" if number % 9 == 0 else "api.service")
        for number in numbers
    ]


@pytest.mark.parametrize("shard_size", [1, 1 << 20])
def test_a_hole_in_the_numbers(tmp_path: Path, shard_size: int) -> None:
    """Numbers that a whole journal lacks are counted and placed."""
    entries = [
        one for number, one in enumerate(host(range(300))) if number not in range(100, 112) and number != 200
    ]
    said = found(tmp_path, entries, shard_size)

    assert [(hole.numbers, hole.largest) for hole in said.holes] == [(13, 12)]
    assert [ref.line for ref in said.holes[0].refs] == [100, 101]
    assert said.filtered == ()


def test_a_unit_of_a_busy_host_is_a_filtered_export(tmp_path: Path) -> None:
    """Numbers of other units are no loss; that the export is one of a part is said."""
    said = found(tmp_path, [entry(number) for number in range(0, 300, 4)])

    assert said.holes == ()
    assert [(one.entries, one.numbers) for one in said.filtered] == [(75, 297)]


def test_an_unbroken_journal_says_nothing(tmp_path: Path) -> None:
    """All numbers, one clock."""
    assert found(tmp_path, host(range(300))) == Continuity((), (), ())


def test_deleted_files_are_named(tmp_path: Path) -> None:
    """A vacuum that left a line says what is gone and when."""
    gone = entry(4) | {
        "MESSAGE": "Vacuuming done, freed 1.2G of archived journals from /var/log/journal/0f1e."
    }
    said = found(tmp_path, [*[entry(number) for number in range(4)], gone])

    assert [(one.size, one.at - START_US, one.ref.line) for one in said.deletions] == [
        ("1.2G", 85_000_000, 5)
    ]


def test_limits_are_told_in_words(tmp_path: Path) -> None:
    """The report says of the source what its numbers and clocks say."""
    entries = [entry(number, offset_s=0 if number < 12 else -7200) for number in range(60) if number % 3]
    found(tmp_path, entries)
    case = pipeline.investigate([str(tmp_path)], Options())
    limits = document.build(case)["sources"][0]["limits"]

    assert limits == [
        "the clock was set back by 7200 s (2 h) at 2026-11-29 22:57:45 +00:00 (by the new time), between lines 8 and 9: entries of the same boot before it are that much off",
        "filtered: 40 of 59 numbered entries; the others are of other units or journals, or were left out by -u, -p or -g; before its first line it can't tell a silent unit from a vacuumed journal (journalctl --list-boots would)",
    ]


def verdicts(tmp_path: Path, entries: list[dict[str, Any]]) -> dict[str, tuple[str, str]]:
    """Return verdict and reason of each hypothesis."""
    found(tmp_path, entries)
    said = document.build(pipeline.investigate([str(tmp_path)], Options()))
    return {row["id"]: (row["verdict"], row["why"]) for row in said["hypotheses"]}


def test_a_clock_step_is_no_quiet_clock(tmp_path: Path) -> None:
    """The hypothesis of a clock jump rests on the journal's own clocks."""
    entries = [entry(number, offset_s=0 if number < 12 else 300) for number in range(30)]

    assert verdicts(tmp_path, entries)["host_frozen_or_clock_jump"][0] == "confirmed"


def test_a_hole_is_no_whole_log(tmp_path: Path) -> None:
    """Numbers that no input has are a suspicion of loss, in words that leave open which."""
    entries = [one for number, one in enumerate(host(range(300))) if number not in range(100, 112)]
    verdict, why = verdicts(tmp_path, entries)["log_loss"]

    assert verdict == "suspected"
    assert why.startswith("12 numbered entries of the journal are in no input")
