"""The same lines in several inputs count once, whole or in part, under one name."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl

from forensics import pipeline
from forensics.ingest import copies
from forensics.pipeline import Options

if TYPE_CHECKING:
    from pathlib import Path

    from forensics.model.digest import Evidence

START = 1_796_000_000
BOOT = "0123456789abcdef0123456789abcdef"


def message(number: int) -> str:
    """Return one message of the API."""
    return f'INFO:     203.0.113.15:0 - "GET /api/contacts/{number} HTTP/1.1" 200 OK'


def as_json(path: Path, numbers: range) -> None:
    """Write entries, two a minute, as ``journalctl -o json``."""
    entries = [
        {
            "__REALTIME_TIMESTAMP": str((START + number * 30) * 1_000_000),
            "__CURSOR": f"s={'9' * 32};i={number + 1:x};b={BOOT}",
            "_BOOT_ID": BOOT,
            "_SYSTEMD_UNIT": "crm-api.service",
            "SYSLOG_IDENTIFIER": "uvicorn",
            "_PID": "81",
            "MESSAGE": message(number),
        }
        for number in numbers
    ]
    path.write_text("".join(f"{json.dumps(entry)}\n" for entry in entries), encoding="utf-8")


def as_text(path: Path, numbers: range) -> None:
    """Write the same entries as ``journalctl -o short-iso``, which names the program, not the unit."""
    stamps = pl.from_epoch(pl.Series([START + number * 30 for number in numbers])).dt.strftime(
        "%Y-%m-%dT%H:%M:%S"
    )
    lines = [
        f"{stamp}+0000 web-1 uvicorn[81]: {message(number)}\n"
        for stamp, number in zip(stamps, numbers, strict=True)
    ]
    path.write_text("".join(lines), encoding="utf-8")


def read(folder: Path) -> Evidence:
    """Read a folder."""
    return pipeline.survey([str(folder)], Options())


def counted(evidence: Evidence) -> dict[str, int]:
    """Return the counted lines of each service."""
    rows = evidence["seconds"].group_by("service").agg(pl.col("n").sum()).sort("service")
    return dict(rows.iter_rows())


def test_a_text_without_units_is_a_copy_of_an_export_with_them(tmp_path: Path) -> None:
    """The program's name in one and the unit's in the other do not make two services of one."""
    as_json(tmp_path / "a.json", range(60))
    as_text(tmp_path / "b.log", range(60))
    evidence = read(tmp_path)

    assert counted(evidence) == {"crm-api": 60}
    assert [source.copy_of for source in evidence.sources] == [None, 0]


def test_exports_that_overlap_count_each_entry_once(tmp_path: Path) -> None:
    """What only the second export holds is kept."""
    as_json(tmp_path / "a.json", range(60))
    as_json(tmp_path / "b.json", range(40, 90))
    evidence = read(tmp_path)

    assert counted(evidence) == {"crm-api": 90}
    assert [source.copy_of for source in evidence.sources] == [None, None]
    assert evidence.sources[1].limits == (
        "its lines of crm-api are also in s1 and, as far as they reach, counted there",
    )


def test_what_only_the_text_holds_takes_the_name_of_the_unit(tmp_path: Path) -> None:
    """An overlapping text goes on under the unit's name."""
    as_json(tmp_path / "a.json", range(60))
    as_text(tmp_path / "b.log", range(40, 90))

    assert counted(read(tmp_path)) == {"crm-api": 90}


def test_other_lines_of_the_same_time_are_no_copies(tmp_path: Path) -> None:
    """Two hosts that run the same program are two."""
    as_json(tmp_path / "a.json", range(60))
    as_text(tmp_path / "b.log", range(60))
    text = (tmp_path / "b.log").read_text(encoding="utf-8").replace("/api/contacts/", "/api/people/")
    (tmp_path / "b.log").write_text(text, encoding="utf-8")

    assert counted(read(tmp_path)) == {"crm-api": 60, "uvicorn": 60}


def test_a_thousand_identical_inputs_are_copies_of_the_richest() -> None:
    """Those who say the same throughout are all copies of one, and who says something else is none."""
    told = pl.DataFrame({"minute": [1, 2, 3], "lane": [0, 0, 0], "n": [5, 6, 7], "hash": [11, 12, 13]})
    other = told.with_columns(pl.col("hash") + 1)
    sketch = pl.concat(
        [
            (told if source < 2_000 else other).with_columns(
                source=pl.lit(source, dtype=pl.UInt16),
                service=pl.lit("api"),
                hash=pl.col("hash").cast(pl.UInt64),
            )
            for source in range(2_001)
        ],
        how="diagonal_relaxed",
    )
    rank = dict.fromkeys(range(2_001), 8) | {7: 0}
    found = copies.agreeing(sketch, "service", rank)

    assert found.height == 1_999
    assert found["of"].unique().to_list() == [7]
    assert not {7, 2_000} & set(found["source"])


def test_copies_of_a_part_are_copies_of_the_whole() -> None:
    """Two equal parts of a longer input are counted in it, not in each other."""
    rows = [(source, minute) for source, end in ((0, 3), (1, 9), (2, 3)) for minute in range(end)]
    sketch = pl.DataFrame(
        {
            "source": pl.Series([source for source, _ in rows], dtype=pl.UInt16),
            "service": ["api"] * len(rows), "minute": [minute for _, minute in rows], "lane": [0] * len(rows),
            "n": [2] * len(rows), "hash": pl.Series([90 + minute for _, minute in rows], dtype=pl.UInt64),
        }
    )  # fmt: skip
    found = copies.agreeing(sketch, "service", dict.fromkeys(range(3), 8))

    assert found.rows() == [(0, "api", 1), (2, "api", 1)]
