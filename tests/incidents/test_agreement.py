"""What a report says in two places agrees: counts with their bounds, sums with the parts that stand on the page."""

from __future__ import annotations

import re
from typing import Any

import golden
import pytest

from forensics.report.prose import count
from forensics.report.statements import catalogue

ROUGH = "s6-blind-monitor"
"""A fixture in which two lines may tell of one failure or of two, and in which the process stood still twice."""
SPAN = re.compile(r"stood still from .*? \((\d+) s\b")


@pytest.fixture(params=golden.approved())
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def document(name: str) -> dict[str, Any]:
    return golden.report(name)[0]


def of(document: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """Return the findings of one statement."""
    return [row for row in document["findings"] if row["key"] == key]


def section(page: str, title: str) -> str:
    """Return what stands below one heading."""
    return re.split(r"(?m)^## ", page.split(f"\n## {title}\n", 1)[1])[0]


def test_a_count_with_two_bounds_has_them_everywhere() -> None:
    """26 to 27 waits are not 26 in another section."""
    document, page = golden.report(ROUGH)
    (row,) = [one for one in document["signatures"] if one["id"] == "sqlalchemy.queuepool-timeout"]
    said = count(row["failures"], row["failures_max"])

    assert (row["failures"], row["failures_max"]) == (26, 27)
    for key in ("summary.pool", "mechanism.pool", "mechanism.serial", "recurrence.sum"):
        assert [said in one["text"] for one in of(document, key)] == [True], key
    assert document["hypotheses"][0]["why"].startswith(f"{said} failures")
    assert f"`sqlalchemy.queuepool-timeout` {said} (27)" in section(page, "Recurrence")
    assert sum(one["most"] - one["count"] for one in document["bars"]) == 1
    assert "(and at most 1 more," in section(page, "Timeline")


def test_what_a_blind_gap_holds_is_named() -> None:
    """Of 1150 probes due, 102 fell into the monitor's gap; of a loss of lines it is not known what became of them."""
    founding, suppressed = (golden.report(one) for one in ("crm-freeze", "s11-journald-suppressed"))

    assert (
        "due 1150, answered 1046, late 1, missed 1, failed 0; ambiguous among the late 1; in a blind gap 102"
    ) in founding[1]
    assert [(row["due"], row["in_blind_gap"]) for row in founding[0]["probes"]] == [(1150, 102)] * 2
    assert "due 20, answered 18, late 0, missed 0, failed 0; not known 2" in suppressed[1]


def test_days_have_the_bounds_of_their_signature(document: dict[str, Any]) -> None:
    """What the days count at most makes what the signature counts at most; no day counts more surely than at most."""
    for row in document["signatures"]:
        days = [
            day
            for day in document["daily"]
            if (day["service"], day["signature"]) == (row["service"], row["id"])
        ]
        if row["failures_max"] is None:
            assert {day["failures_max"] for day in days} <= {None}
        else:
            assert sum(day["failures_max"] for day in days) == row["failures_max"]
            assert all(day["failures"] <= day["failures_max"] for day in days)


def test_stalls_make_their_sum(document: dict[str, Any]) -> None:
    """The time that a process stood still in all is the sum of the parts that the page shows."""
    parts = [int(SPAN.search(row["text"])[1]) for row in of(document, "mechanism.stall")]  # type: ignore[index]
    for row in of(document, "summary.stall"):
        assert f"{sum(parts)} s" in row["text"], (parts, row["text"])
    for row in of(document, "mechanism.serial"):
        assert f"into {sum(parts)} s" in row["text"]
        assert [int(n) for n in re.findall(r"(\d+) s", row["formula"].split("/")[0])] == parts


def test_window_and_outside_make_the_whole(document: dict[str, Any]) -> None:
    """The sum that is shown adds up with either bound, and says of what it is."""
    bound = r"≥? ?([\d,]+)(?: to ([\d,]+))?"
    for row in of(document, "recurrence.sum"):
        found = re.search(rf": {bound} failures? of .+ and {bound} outside make {bound} over", row["text"])
        assert found, row["text"]
        ends = [int(one.replace(",", "")) if one else None for one in found.groups()]
        low = ends[::2]
        high = [most if most is not None else least for least, most in zip(low, ends[1::2], strict=True)]
        assert low[0] + low[1] == low[2]  # type: ignore[operator]
        assert high[0] + high[1] == high[2]  # type: ignore[operator]


def test_both_languages_count_alike() -> None:
    """A statement that shows a count with two bounds shows it so in every language."""
    english, other = (catalogue(tag)["recurrence"]["sum"] for tag in ("en", "pt-BR"))

    assert all(
        f"{name}|count" in text for name in ("inside", "outside", "total") for text in (english, other)
    )
