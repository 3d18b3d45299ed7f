"""Entries that two text exports of one journal hold for less than whole minutes count once, whatever the shards."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl
import pytest

from forensics import pipeline
from forensics.pipeline import Options

if TYPE_CHECKING:
    from pathlib import Path

    from forensics.model.digest import Evidence

START = 1_780_328_401_000_100
BOOT = "0123456789abcdef0123456789abcdef"
SIZES = (None, 1500, 6000)
FAILED = "ERROR QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00"


def export(path: Path, numbers: range, unit: str = "shelf", *, every: int = 5) -> None:
    """Write entries, one a second, as ``journalctl -o json``; each ``every`` th is a failure."""
    entries = [
        {
            "__CURSOR": f"s={'9' * 32};i={1000 + number:x};b={BOOT};m={number:x};t={number:x};x=1",
            "__REALTIME_TIMESTAMP": str(START + number * 1_000_037),
            "__MONOTONIC_TIMESTAMP": str(5_000_000_000 + number * 1_000_000),
            "_BOOT_ID": BOOT,
            "_SYSTEMD_UNIT": f"{unit}.service",
            "_PID": "900",
            "SYSLOG_IDENTIFIER": unit,
            "MESSAGE": f"{FAILED} of {number}" if number % every == 0 else f"INFO request {number} done",
        }
        for number in numbers
    ]
    path.write_text("".join(f"{json.dumps(entry)}\n" for entry in entries), encoding="utf-8")


def read(folder: Path, size: int | None) -> Evidence:
    """Read a folder by shards of a size."""
    options = Options()
    return pipeline.survey([str(folder)], replace(options, shard_size=size) if size else options)


def counts(evidence: Evidence) -> tuple[int, ...]:
    """Return the counted lines by second and by template, and the failures one by one and by minute."""
    sums = [int(evidence[name]["n"].sum()) for name in ("seconds", "templates", "hit_counts")]
    return (*sums[:2], evidence["hits"].height, sums[2])


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("overlap", [1, 20, 45, 79])
def test_a_short_overlap_counts_once(tmp_path: Path, overlap: int, size: int | None) -> None:
    """What the second export holds behind the first's end is kept, and only that."""
    export(tmp_path / "monday.jsonl", range(200))
    export(tmp_path / "tuesday.jsonl", range(200 - overlap, 320))
    evidence = read(tmp_path, size)

    assert counts(evidence) == (320, 320, 64, 64)
    assert evidence.sources[1].limits == (f"{overlap} of its entries are also in s1 and counted there",)


@pytest.mark.parametrize("size", SIZES)
def test_a_short_cut_is_a_copy(tmp_path: Path, size: int | None) -> None:
    """An export of forty seconds out of another's minutes is counted in the other."""
    export(tmp_path / "all.jsonl", range(60))
    export(tmp_path / "cut.jsonl", range(20, 60))
    evidence = read(tmp_path, size)

    assert counts(evidence) == (60, 60, 12, 12)
    assert [source.copy_of for source in evidence.sources] == [None, 0]
    assert evidence.sources[1].services == ("shelf",)


@pytest.mark.parametrize("size", SIZES)
def test_three_exports_count_each_entry_once(tmp_path: Path, size: int | None) -> None:
    """An entry that three exports hold is counted in one."""
    export(tmp_path / "a.jsonl", range(100))
    export(tmp_path / "b.jsonl", range(90, 190))
    export(tmp_path / "c.jsonl", range(95, 200))

    assert counts(read(tmp_path, size)) == (200, 200, 40, 40)


def test_exports_of_two_units_share_no_entry(tmp_path: Path) -> None:
    """Numbers of one span that belong to two services are entries of their own."""
    for number, unit in enumerate(("shelf", "till")):
        export(tmp_path / f"{unit}.jsonl", range(number, 100, 2), unit)
    evidence = read(tmp_path, None)

    assert evidence["seconds"]["n"].sum() == 100
    assert [source.limits for source in evidence.sources] == [(), ()]


def test_errors_alone_are_part_of_the_whole_export(tmp_path: Path) -> None:
    """An export of some priorities has every entry in the other one, though no minute of it agrees."""
    export(tmp_path / "all.jsonl", range(100))
    lines = (tmp_path / "all.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "errors.jsonl").write_text("".join(lines[::5]), encoding="utf-8")
    evidence = read(tmp_path, None)

    assert counts(evidence) == (100, 100, 20, 20)
    assert [source.copy_of for source in evidence.sources] == [None, 0]
    assert evidence["seconds"].filter(pl.col("source") == 1).height == 0
