"""Journal files that hold entries of one another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from remote_journal import entry, needs_writer, write

from forensics import pipeline
from forensics.ingest import twins
from forensics.pipeline import Options

if TYPE_CHECKING:
    from pathlib import Path


def made(numbers: range) -> list[bytes]:
    """Return entries of a service."""
    fields = [("_SYSTEMD_UNIT", b"api.service"), ("SYSLOG_IDENTIFIER", b"api")]
    return [entry(number, [*fields, ("MESSAGE", f"message {number}".encode())]) for number in numbers]


@needs_writer
def test_a_file_copied_twice_counts_each_entry_once(tmp_path: Path) -> None:
    """The later copy of a growing file holds all of the earlier one."""
    path = write(tmp_path / "later.journal", made(range(120)))
    early = tmp_path / "early.journal"
    data = path.read_bytes()
    early.write_bytes(data[: data.index(b"message 60")])
    evidence = pipeline.survey([str(tmp_path)], Options())
    by_name = {source.name: source for source in evidence.sources}

    assert by_name["early.journal"].copy_of == by_name["later.journal"].index
    assert evidence["seconds"]["n"].sum() == 120
    assert by_name["early.journal"].skipped is None


def test_numbers_are_counted_in_the_fuller_file() -> None:
    """Runs of common numbers are left to the file with more entries; disjoint files leave nothing."""
    held = twins.settle(
        {
            0: np.array([5, 6, 7, 9], np.uint64),
            1: np.arange(1, 8, dtype=np.uint64),
            2: np.array([20, 21], np.uint64),
        }
    )

    assert held == {0: twins.Held(((5, 7),), 3, 1, whole=False)}


def test_a_file_of_users_shares_the_numbering(tmp_path: Path) -> None:
    """Numbers that interleave are different entries."""
    del tmp_path
    system, user = np.array([1, 2, 4, 5, 8], np.uint64), np.array([3, 6, 7], np.uint64)

    assert twins.settle({0: system, 1: user}) == {}
    assert pl.Series(system).is_in(pl.Series(user)).sum() == 0
