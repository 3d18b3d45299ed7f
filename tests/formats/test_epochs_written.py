"""Epochs as programs and spreadsheets write them: in any unit, with a decimal comma, beside any other field."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from forensics import pipeline
from forensics.pipeline import Options

if TYPE_CHECKING:
    from pathlib import Path

WAIT = "QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00"


def instants(tmp_path: Path, name: str, text: str) -> list[int]:
    """Return when the lines of a file were written, in milliseconds."""
    (tmp_path / name).write_text(text, encoding="utf-8")
    evidence = pipeline.survey([str(tmp_path)], Options())
    seconds = evidence["seconds"].sort("first_us")
    return [first // 1000 for first in seconds["first_us"]]


@pytest.mark.parametrize(
    "line",
    [
        '{"time":1785745618500,"msg":"tick","status":200}',
        '{"time":1785745618.5,"msg":"tick","code":200}',
        '{"ts":1785745618.5,"msg":"tick","status":200,"duration":0.12}',
        '{"time":"1785745618,5","msg":"tick"}',
        '{"time":"1785745618,500","msg":"tick","status":"info"}',
    ],
)
def test_an_object_with_an_epoch_is_dated(tmp_path: Path, line: str) -> None:
    """Whatever stands beside time and message, if it is no result of a probe."""
    second = line.replace("1785745618", "1785745619")
    assert instants(tmp_path, "a.jsonl", f"{line}\n{second}\n") == [
        1785745618500,
        1785745619500,
    ]


def test_a_failure_beside_a_status_is_found(tmp_path: Path) -> None:
    """A status that is none of a probe's result hides no failure."""
    text = f'{{"time":1785745618.5,"message":"ERROR {WAIT}","status":"error"}}\n{{"time":1785745619.5,"message":"x","status":"info"}}\n'
    (tmp_path / "a.jsonl").write_text(text, encoding="utf-8")
    hits = pipeline.survey([str(tmp_path)], Options())["hits"]

    assert hits.select("ts", "line").rows() == [(1785745618500000, 1)]


def test_a_decimal_comma_is_no_separator_of_columns(tmp_path: Path) -> None:
    """Columns that semicolons part leave the comma to the number."""
    text = "ts;level;msg\n1785745615,768;info;tick\n1785745617,000;error;gone\n1785745623,584;info;tick\n"
    assert instants(tmp_path, "german.csv", text) == [1785745615768, 1785745617000, 1785745623584]


def test_a_comma_between_columns_is_no_decimal_one(tmp_path: Path) -> None:
    """The number behind it is the next column."""
    text = "ts,took,msg\n1785745615,768,tick tock\n1785745617,12,tick tock\n"
    assert instants(tmp_path, "plain.csv", text) == [1785745615000, 1785745617000]
