"""Gauges: what is one gauge, and what is another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from forensics.model.facts import Samples

if TYPE_CHECKING:
    from collections.abc import Callable

    from forensics.model.case import Case

HEADER = "now|pid|application_name|state|backend_type"


def page(clock: str, n: int) -> str:
    """Return a snapshot of n sessions at a time of day."""
    rows = [f"2026-11-30 {clock}+00|{700 + i}|shop|active|client backend" for i in range(n)]
    return "\n".join([HEADER, *rows, f"({n} rows)"]) + "\n"


def gauges(case: Case) -> list[tuple[int, float | None, list[float]]]:
    """Return number, period and values of the samples of all sessions."""
    return sorted(
        (one.n, one.period_s, [value for _, value in one.around])
        for one in case.facts[Samples].series
        if one.series == "pg_stat_activity connections"
    )


def test_a_file_for_each_instant_is_one_gauge(think: Callable[..., Case]) -> None:
    """Snapshots of 3, 9 and 5 sessions, a minute apart, each in a file of its own, are three samples of one gauge."""
    case = think(**{f"activity-094{i}.txt": page(f"09:4{i}:00", n) for i, n in enumerate((3, 9, 5))})

    assert gauges(case) == [(3, 60.0, [3, 9, 5])]
    (found,) = (one for one in case.facts[Samples].series if one.series == "pg_stat_activity connections")
    assert found.peak == 9
    assert case.evidence.sources[found.refs["all_peak"].source].name.endswith("activity-0941.txt")


@pytest.mark.parametrize(
    "names",
    [
        ("db1.txt", "db2.txt"),
        ("first-0940.txt", "second-0941.txt"),
        ("activity-0941.txt", "activity-0940.txt"),
    ],
    ids=["numbered servers", "other names", "another order"],
)
def test_files_of_other_gauges_stay_apart(think: Callable[..., Case], names: tuple[str, str]) -> None:
    """Two files whose names do not say that one follows the other tell of two gauges."""
    case = think(**{name: page(f"09:4{i}:00", 3 + i) for i, name in enumerate(names)})

    assert gauges(case) == [(1, None, [3]), (1, None, [4])]


def test_files_over_the_same_time_stay_apart(think: Callable[..., Case]) -> None:
    """Two files that cover each other are two servers, whatever their names."""
    case = think(
        **{"node-0001.txt": page("09:40:00", 3) + page("09:42:00", 4), "node-0002.txt": page("09:41:00", 6) + page("09:43:00", 7)}
    )  # fmt: skip

    assert [(n, values) for n, _, values in gauges(case)] == [(2, [3, 4]), (2, [6, 7])]
