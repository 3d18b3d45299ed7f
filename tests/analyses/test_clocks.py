"""Offsets between the clocks of two sources, and lines that lay in a buffer."""

from __future__ import annotations

import datetime as dt
import random
from typing import TYPE_CHECKING

import pytest

from forensics import pipeline
from forensics.model.facts import Clocks, Silences
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
    assert (offset.source, offset.other, offset.pairs >= 50) == (0, 1, True)
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


@pytest.mark.parametrize("ahead", [-4.0, 0.0, 6.5])
def test_offset_by_calls_out_and_in(ahead: float, tmp_path: Path) -> None:
    """A call ends at the caller when the request ends at the other side, whatever either calls it."""
    calls = traffic(11, 60)
    took = [40 + 7 * step % 300 for step in range(60)]
    case = investigate(
        tmp_path,
        gateway=[
            f"{at:%Y-%m-%dT%H:%M:%S.%f}000Z [WebhookService] Webhook delivered id=3EB0{step:04X} status=200 ({ms}ms)"
            for step, ((at, _), ms) in enumerate(zip(calls, took, strict=True))
        ],
        web=[api(at + dt.timedelta(seconds=ahead), "/webhooks/gateway") for at, _ in calls],
    )

    (offset,) = case.facts[Clocks].offsets
    assert (offset.by, offset.source, offset.other, offset.pairs >= 50) == ("calls", 0, 1, True)
    assert abs(offset.offset_s - ahead) <= offset.uncertainty_s + 0.001 <= 0.6


def beats(ahead: float, many: int = 40) -> tuple[list[str], list[str]]:
    """Return a monitor's results, and the access lines of what it watches, whose clock is ahead of the monitor's."""
    sent = [BEGIN + dt.timedelta(seconds=30 * step, milliseconds=123) for step in range(many)]
    results = [
        f'{{"ts": "{at:%Y-%m-%dT%H:%M:%S.%f}Z", "target": "https://crm.example.net/health", "status": "up", "latency_ms": 40}}'
        for at in sent
    ]
    served = [api(at + dt.timedelta(seconds=ahead + 0.02), "/health") for at in sent]
    return results, served


@pytest.mark.parametrize("ahead", [-9.0, 0.0, 3.5])
def test_offset_by_probes_sent_and_served(ahead: float, tmp_path: Path) -> None:
    """A probe is served between its sending and its answer; the period within which that holds is told."""
    results, served = beats(ahead)
    case = investigate(tmp_path, monitor=results, web=served)

    (offset,) = case.facts[Clocks].offsets
    assert (offset.by, offset.source, offset.other, offset.pairs, offset.beat_s) == ("probes", 0, 1, 40, 30.0)
    assert abs(offset.offset_s - ahead) <= offset.uncertainty_s <= 0.05


def test_probes_of_two_monitors_with_one_period_measure_nothing(tmp_path: Path) -> None:
    """Which of the two sent what was served is not known."""
    results, served = beats(2.0)
    other = [line.replace("crm.example.net/health", "shop.example.net/") for line in results]

    assert investigate(tmp_path, monitor=results, other=other, web=served).facts[Clocks].offsets == ()


@pytest.mark.parametrize("ahead", [-2.5, 0.0, 7.0])
def test_offset_by_lines_that_two_inputs_hold(ahead: float, tmp_path: Path) -> None:
    """The same requests in two exports of one log compare the clocks that dated them, although one copy is counted."""
    rng = random.Random(3)  # noqa: S311 - made-up traffic
    # Early in the minutes, so that both clocks put a line into the same one, by which copies are known.
    requests = [
        (BEGIN + dt.timedelta(minutes=step // 3, seconds=10 + 15 * (step % 3) + rng.uniform(0, 5)), path)
        for step, (_, path) in enumerate(traffic(5, 90))
    ]
    ours = [api(at, path) for at, path in requests]
    theirs = [f"web  | {api(at + dt.timedelta(seconds=ahead), path)}" for at, path in requests]
    case = investigate(tmp_path, web=ours, compose=theirs)
    sources = case.evidence.sources

    assert [source.copy_of is None for source in sources].count(True) == 1
    (offset,) = case.facts[Clocks].offsets
    assert offset.by == "copies"
    assert abs(abs(offset.offset_s) - abs(ahead)) <= offset.uncertainty_s + 0.001
    assert (offset.offset_s > 0) == (sources[offset.other].name == "compose.log") or ahead <= 0


def test_failures_of_lines_that_lay_in_a_buffer_are_dated_by_the_program(tmp_path: Path) -> None:
    """Where lines arrive in blocks, a failure happened when the program wrote it down; the silence between blocks is none."""
    lines = []
    for step in range(400):
        at = BEGIN + dt.timedelta(seconds=3 * step)
        arrived = BEGIN + dt.timedelta(seconds=3 * (step // 40 * 40 + 39), milliseconds=step % 40)
        own = f"{at - dt.timedelta(hours=3):%Y-%m-%d %H:%M:%S},000"
        said = (
            "ERROR app.jobs: QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00 (Background on this error at: https://sqlalche.me/e/20/3o7r)"
            if step == 210
            else f"INFO app.jobs: job {step} done"
        )
        lines.append(f"{arrived:%Y-%m-%dT%H:%M:%S.%f}000Z {own} {said}")
    case = investigate(tmp_path, worker=lines)

    hit = case.evidence["hits"].row(0, named=True)
    happened = round((BEGIN + dt.timedelta(seconds=630)).timestamp() * 1e6)
    assert (hit["ts"], hit["arrived"] - hit["ts"]) == (
        pytest.approx(happened, abs=50_000),
        pytest.approx(87_000_000, abs=100_000),
    )
    assert case.facts[Silences].items == ()
