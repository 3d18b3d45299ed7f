"""A text export of one unit takes its name only where the lines can be of that unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from forensics import pipeline
from forensics.pipeline import Options

if TYPE_CHECKING:
    from pathlib import Path

STOPPED = ("api.service: Deactivated successfully.", "Stopped api.service - API.")
STARTED = ("Started api.service - API.",)
ONE_SHOT = {
    "03:20": ("Starting dump.service - Nightly dump...",),
    "03:24": ("dump.service: Deactivated successfully.", "Finished dump.service - Nightly dump."),
}


def services(folder: Path, said: dict[str, tuple[str, ...]], pids: dict[str, int]) -> list[str]:
    """Return the services of a journal's text: the manager's lines by their minute, and a line of ``app`` at every minute with a process id."""
    rows = [(at, f"systemd[1]: {text}") for at, texts in said.items() for text in texts]
    rows += [(at, f"app[{pid}]: INFO job done in 59 ms") for at, pid in pids.items()]
    text = "".join(
        f"2026-03-10T{at}:00.100000+00:00 web-1 {line}\n" for at, line in sorted(rows, key=lambda row: row[0])
    )
    (folder / "journal.txt").write_text(text, encoding="utf-8")
    return sorted(pipeline.survey([str(folder)], Options())["seconds"]["service"].unique().to_list())


def minutes(first: int, last: int, pid: int) -> dict[str, int]:
    """Return a line each minute of an hour from 03:00 on."""
    return {f"03:{minute:02}": pid for minute in range(first, last)}


def test_a_process_that_outlives_a_one_shot_is_none_of_it(tmp_path: Path) -> None:
    """A nightly job beside an application: both keep their names."""
    assert services(tmp_path, ONE_SHOT, minutes(0, 59, 900)) == ["app", "dump"]


def test_what_ran_while_the_unit_was_down_is_none_of_it(tmp_path: Path) -> None:
    short = {f"03:{minute:02}": 100 + minute for minute in range(1, 59, 7)}

    assert services(tmp_path, ONE_SHOT, short) == ["app", "dump"]


@pytest.mark.parametrize(
    ("said", "pids"),
    [
        ({"03:30": (*STOPPED, *STARTED)}, minutes(0, 29, 81) | minutes(31, 59, 82)),
        ({"03:00": STARTED}, minutes(1, 59, 81)),
        ({"03:58": STOPPED}, minutes(1, 58, 81)),
    ],
)
def test_a_process_that_lives_with_the_unit_takes_its_name(
    tmp_path: Path, said: dict[str, tuple[str, ...]], pids: dict[str, int]
) -> None:
    """Started by it, ended with it, or replaced as it restarted."""
    assert services(tmp_path, said, pids) == ["api"]


def test_no_line_is_lost_by_a_name(tmp_path: Path) -> None:
    services(tmp_path, ONE_SHOT, minutes(0, 59, 900))
    evidence = pipeline.survey([str(tmp_path)], Options())

    assert evidence["seconds"].filter(pl.col("service") == "app")["n"].sum() == 59
