"""Dates with slashes are read in the order that a day above 12 proves, and in none where no day does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from forensics import pipeline
from forensics.pipeline import Options

if TYPE_CHECKING:
    from pathlib import Path

    from forensics.model.digest import Evidence

MIDNIGHT = 1_794_528_000
"""2026-11-13 00:00:00 UTC."""


def read(tmp_path: Path, *lines: str) -> Evidence:
    """Read a log of these lines."""
    (tmp_path / "a.log").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return pipeline.survey([str(tmp_path)], Options())


def seconds(evidence: Evidence) -> list[int]:
    """Return the seconds from midnight of the lines."""
    return [second - MIDNIGHT for second in evidence["seconds"].sort("first_line")["second"]]


@pytest.mark.parametrize(
    "lines",
    [
        ("11/12/2026 23:59:58 INFO ok", "11/13/2026 00:00:28 ERROR timeout", "11/13/2026 12:30:00 INFO noon"),
        ("12/11/2026 23:59:58 INFO ok", "13/11/2026 00:00:28 ERROR timeout", "13/11/2026 12:30:00 INFO noon"),
        ("11/12/2026 11:59:58 PM INFO ok", "11/13/2026 12:00:28 AM ERROR timeout", "11/13/2026 12:30:00 PM INFO noon"),
        ("12/11/2026 11:59:58 pm INFO ok", "13/11/2026 12:00:28 am ERROR timeout", "13/11/2026 12:30:00 pm INFO noon"),
    ],
    ids=["month-24", "day-24", "month-12", "day-12"],
)  # fmt: skip
def test_a_day_above_twelve_tells_the_order(tmp_path: Path, lines: tuple[str, ...]) -> None:
    """One such line decides for the file."""
    assert seconds(read(tmp_path, *lines)) == [-2, 28, 45000]


@pytest.mark.parametrize("half", ["", " PM"])
def test_no_order_is_assumed(tmp_path: Path, half: str) -> None:
    """Where every date can be read in both orders, none is."""
    evidence = read(tmp_path, f"11/12/2026 11:59:58{half} INFO a", f"11/12/2026 11:59:59{half} ERROR timeout")

    assert evidence["seconds"].height == 0
    assert evidence.sources[0].undated == 2
