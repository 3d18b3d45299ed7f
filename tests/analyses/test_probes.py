"""Probes: answered, late with rivals, missed, and a monitor that looked away."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest
import small_logs as logs

from forensics.analyses.probes import rounding, stamped_at_end
from forensics.model.facts import Probes, Watch

if TYPE_CHECKING:
    from collections.abc import Callable

    from forensics.model.case import Case
    from forensics.model.facts import Due, Series

PERIOD = 60


def series(case: Case, seen_by: str = "service") -> Series:
    """Return the only series of health checks as one side saw it."""
    (found,) = [
        item for item in case.facts[Probes].series if item.seen_by == seen_by and ("/health" in item.name)
    ]
    return found


def states(found: Series) -> dict[int, str]:
    """Return what became of the probes, by minute; the answered ones are left out."""
    return {
        round((due.at / 1e6 - logs.NOON) / PERIOD): due.state for due in found.dues if due.state != "answered"
    }


def due(found: Series, minute: int) -> Due:
    """Return the probe that was due in one minute."""
    (item,) = [item for item in found.dues if round((item.at / 1e6 - logs.NOON) / PERIOD) == minute]
    return item


def watched(
    think: Callable[..., Case],
    arrivals: list[float],
    *,
    busy: tuple[tuple[float, float], ...] = ((0, 1800),),
    **files: str,
) -> Case:
    """Run half an hour of a service that serves others in the spans `busy` and is probed at `arrivals`."""
    lines = [line for start, end in busy for line in logs.served(start + 0.5, end, 2)]
    return think(api=logs.journal([*lines, *logs.probes(arrivals)]), **files)


BEAT = [float(PERIOD * n) for n in range(1, 30)]


class TestSeenByTheService:
    """A periodic client of the access log is a metronome."""

    def test_steady(self, think) -> None:
        """Every probe was answered: its period is the median gap and nothing is missing."""
        found = series(watched(think, BEAT))

        assert (found.period_s, states(found), len(found.dues)) == (60.0, {}, 29)

    def test_jitter_is_no_fault(self, think) -> None:
        """A second earlier or later is still the beat."""
        assert (
            states(series(watched(think, [at + (0.4, -0.4, 0.0)[n % 3] for n, at in enumerate(BEAT)]))) == {}
        )

    def test_missed(self, think) -> None:
        """A beat without an arrival while the service served no one else was missed."""
        found = series(watched(think, [at for at in BEAT if at != 600], busy=((0, 570), (640, 1800))))

        assert states(found) == {10: "missed"}

    def test_late(self, think) -> None:
        """An arrival off the beat is the late answer to the last due time before it."""
        found = series(watched(think, sorted({*BEAT, 622.0} - {600.0}), busy=((0, 570), (621, 1800))))

        assert states(found) == {10: "late"}
        assert due(found, 10).answered == logs.us(622)
        assert due(found, 10).rivals == ()

    def test_late_with_a_rival(self, think) -> None:
        """After two due times without answer one late arrival may belong to either; the earlier one is its rival."""
        found = series(watched(think, sorted({*BEAT, 688.0} - {600.0, 660.0}), busy=((0, 570), (687, 1800))))

        assert states(found) == {10: "missed", 11: "late"}
        assert (due(found, 11).answered, due(found, 11).rivals) == (logs.us(688), (logs.us(600),))

    def test_failed(self, think) -> None:
        """A 5xx on the beat is a failed probe."""
        text = logs.journal(
            [
                *logs.served(0.5, 1800, 2),
                *[
                    (at, line.replace("200 OK", "503 Service Unavailable") if at == 600 else line)
                    for at, line in logs.probes(BEAT)
                ],
            ]
        )

        assert states(series(think(api=text))) == {10: "failed"}

    def test_blind(self, think) -> None:
        """Where the service went on serving others for several beats, the monitor did not ask."""
        found = series(watched(think, [at for at in BEAT if not 600 <= at <= 900]))

        assert states(found) == dict.fromkeys(range(10, 16), "blind")
        assert [(gap[0], gap[1], gap[2]) for gap in found.gaps] == [(logs.us(540), logs.us(960), 6)]

    def test_people_are_no_probe(self, think) -> None:
        """Irregular visits are no series."""
        at = [7.0 * n * n % 1790 for n in range(1, 40)]
        lines = [
            *logs.served(0.5, 1800, 2),
            *[(second, 'INFO:     203.0.113.77:0 - "GET /api/orders HTTP/1.1" 200 OK') for second in at],
        ]

        assert [
            item for item in think(api=logs.journal(lines)).facts[Probes].series if "orders" in item.name
        ] == []


class TestSeenByTheMonitor:
    """A monitor's own state says what it asked and what it got."""

    def test_failed_and_timeout(self, think) -> None:
        """A failed probe is told with its text, and the timeout is read from it."""
        found = series(
            watched(think, [at for at in BEAT if at != 600], monitor=logs.beats(BEAT, down=(600.0,))),
            "monitor",
        )

        assert states(found) == {10: "failed"}
        assert (due(found, 10).error, found.timeout_s) == ("timeout of 8000ms exceeded", 8.0)

    def test_monitor_did_not_ask(self, think) -> None:
        """What the service seems to have missed while the monitor's record has a hole is blindness."""
        asked = [at for at in BEAT if not 600 <= at <= 900]
        case = watched(think, asked, busy=((0, 590), (910, 1800)), monitor=logs.beats(asked))

        assert set(states(series(case)).values()) <= {"blind"}
        (gap,) = case.facts[Watch].gaps
        assert (gap.start, gap.end, gap.missing) == (logs.us(600), logs.us(960), 6)

    def test_one_lost_beat_is_no_gap(self, think) -> None:
        """One missing result is jitter."""
        asked = [at for at in BEAT if at != 600]

        assert watched(think, asked, monitor=logs.beats(asked)).facts[Watch].gaps == ()

    def test_gap_and_who_was_alive(self, think) -> None:
        """A gap says whether other inputs went on meanwhile, and which incidents lie in it."""
        asked = [at for at in BEAT if not 600 <= at <= 900]
        pool = [(700.0 + n, logs.TRACEBACK[-1]) for n in range(20)]
        text = logs.journal([*logs.served(0.5, 1800, 2), *logs.probes(asked), *pool])
        (gap,) = think(api=text, monitor=logs.beats(asked)).facts[Watch].gaps

        assert (gap.others_alive, gap.inside, gap.overlapping) == (True, (0,), ())

    @pytest.mark.parametrize("after", [2, 3])
    def test_detectability(self, think, after: int) -> None:
        """With period P, timeout T and n failures, a freeze below (n-1)P+T can hide and one above nP+T cannot."""
        hint = f'[[probe]]\npath = "/health"\nperiod_s = 60\ntimeout_s = 8\nalert_after = {after}\n'
        case = think(hint, api=logs.journal([*logs.served(0.5, 1800, 2), *logs.probes(BEAT)]))
        (found,) = case.facts[Watch].detectability

        assert (found.never_below_s, found.always_above_s) == ((after - 1) * 60 + 8, after * 60 + 8)


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        pytest.param([(0, 2), (30, 2), (60, 2)], False, id="short"),
        pytest.param([(0, 2), (156, 128), (306, 128), (328, 2)], True, id="over at its stamp"),
        pytest.param([(0, 128), (150, 128), (300, 2), (330, 2)], False, id="begun at its stamp"),
        pytest.param([(0, 2), (5, 8), (10, 8), (15, 2)], False, id="several at once"),
        pytest.param([(0, None), (30, None)], False, id="unknown"),
    ],
)
def test_what_the_time_of_a_result_marks(runs: list[tuple[float, float | None]], *, expected: bool) -> None:
    """A run that took longer than the time to the next result was over at its stamp."""
    rows = pl.DataFrame(
        {
            "ts": [round(at * 1e6) for at, _ in runs],
            "latency_ms": [None if took is None else took * 1e3 for _, took in runs],
        },
        schema={"ts": pl.Int64, "latency_ms": pl.Float64},
    )

    assert stamped_at_end(rows) is expected


@pytest.mark.parametrize("cut", [0.97, 1.0])
def test_a_stamp_cut_to_seconds_makes_no_answer_late(cut: float) -> None:
    """Stamps of whole seconds move a beat of ten seconds by one; where they are finer, one second late is late."""
    at = [round(10 * n + (1.0 if n == 20 else 0.03), 3) for n in range(40)]
    times = pl.Series([round((logs.NOON + (second // 1 if cut == 1.0 else second)) * 1e6) for second in at])

    assert rounding(times) == (1_100_000 if cut == 1.0 else 700_000)
