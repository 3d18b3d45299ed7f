"""Offsets between the clocks of two sources, and lines that lay in a buffer."""

from __future__ import annotations

import datetime as dt
import random
from typing import TYPE_CHECKING

import pytest

from forensics import pipeline
from forensics.model.facts import Clocks
from forensics.pipeline import Options

if TYPE_CHECKING:
    from pathlib import Path

    from forensics.model.case import Case

BEGIN = dt.datetime(2026, 11, 29, 12, 0, tzinfo=dt.UTC)


def gateway(at: dt.datetime, path: str) -> str:
    """Write nginx' combined line."""
    return f'203.0.113.9 - - [{at:%d/%b/%Y:%H:%M:%S} +0000] "GET {path} HTTP/1.1" 200 12 "-" "curl/8.5"'


def api(at: dt.datetime, path: str) -> str:
    """Write uvicorn's line as docker logs -t shows it."""
    return f'{at:%Y-%m-%dT%H:%M:%S.%f}000Z INFO:     10.0.0.1:5 - "GET {path} HTTP/1.1" 200 OK'


def traffic(seed: int, many: int) -> list[tuple[dt.datetime, str]]:
    """Return requests at irregular times."""
    rng = random.Random(seed)  # noqa: S311 - made-up traffic
    at = BEGIN
    made = []
    for _ in range(many):
        at += dt.timedelta(seconds=rng.uniform(2, 60))
        made.append((at, f"/{rng.choice(['cart', 'login', 'search', 'pay'])}"))
    return made


def investigate(folder: Path, **files: list[str]) -> Case:
    """Read files as the command does."""
    for name, lines in files.items():
        (folder / f"{name}.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return pipeline.investigate([str(folder)], Options())


@pytest.mark.parametrize("ahead", [-7.25, 0.0, 3.5, 41.0])
def test_offset_by_requests_that_both_log(ahead: float, tmp_path: Path) -> None:
    """The difference that the requests share is the offset, to within the precision of the coarser stamp."""
    requests = traffic(7, 60)
    case = investigate(
        tmp_path,
        api=[api(at, path) for at, path in requests],
        gateway=[gateway(at + dt.timedelta(seconds=ahead), path) for at, path in requests],
    )

    (offset,) = case.facts[Clocks].offsets
    assert (offset.source, offset.other, offset.requests >= 50) == (0, 1, True)
    assert abs(offset.offset_s - ahead) <= offset.uncertainty_s <= 1.1


def test_a_beat_measures_nothing(tmp_path: Path) -> None:
    """Two probes of a beat lie at a fixed distance whatever the clocks say."""
    at = [BEGIN + dt.timedelta(seconds=30 * step) for step in range(60)]
    case = investigate(
        tmp_path,
        api=[api(one, "/health") for one in at],
        gateway=[gateway(one + dt.timedelta(seconds=4), "/health") for one in at],
    )

    assert case.facts[Clocks].offsets == ()


def test_other_traffic_measures_nothing(tmp_path: Path) -> None:
    """Requests of two services that have nothing to do with each other share no difference."""
    case = investigate(
        tmp_path,
        api=[api(at, path) for at, path in traffic(1, 60)],
        gateway=[gateway(at, path) for at, path in traffic(2, 60)],
    )

    assert case.facts[Clocks].offsets == ()


def test_lines_that_lay_in_a_buffer(tmp_path: Path) -> None:
    """A program that writes its own time shows how late its lines arrived, whatever zone it writes in."""
    own = [BEGIN + dt.timedelta(seconds=2 * step) for step in range(60)]
    lines = []
    for step, at in enumerate(own):
        arrived = own[step // 20 * 20 + 19] + dt.timedelta(milliseconds=5)
        local = at - dt.timedelta(hours=3)
        lines.append(
            f"{arrived:%Y-%m-%dT%H:%M:%S.%f}000Z {local:%Y-%m-%d %H:%M:%S},{local.microsecond // 1000:03d} INFO app.jobs: job {step} done"
        )
    case = investigate(tmp_path, worker=lines)

    (lag,) = case.facts[Clocks].lags
    assert (lag.service, lag.lines, lag.ref.line) == ("worker", 60, 1)
    assert lag.most_s == pytest.approx(38.0, abs=0.01)


def test_lines_that_arrive_at_once(tmp_path: Path) -> None:
    """A delay that is the same for all lines is none of a buffer."""
    lines = [
        f"{at:%Y-%m-%dT%H:%M:%S.%f}000Z {at:%Y-%m-%d %H:%M:%S},000 INFO app.jobs: job done"
        for at in (BEGIN + dt.timedelta(seconds=2 * step) for step in range(60))
    ]

    assert investigate(tmp_path, worker=lines).facts[Clocks].lags == ()
