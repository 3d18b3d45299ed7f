"""Errors per day: bars, days without any, days that are covered in part, and lower bounds."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest
from reading import boxes, drawn, founding, lanes, marks, texts

from forensics.report import charts


def days(count: int, *partial: int) -> list[dict[str, Any]]:
    """Return the days of a report, some of them partial."""
    first = date(2026, 5, 1)
    return [{"date": f"{first + timedelta(days=n)}", "partial": n in partial} for n in range(count)]


def row(day: int, failures: int, signature: str = "a.b", **changes: Any) -> dict[str, Any]:
    """Return a row of `daily`."""
    bare = {"service": "api", "signature": signature, "lines": 9, "partial": False, "bound": "exact"}
    return {"date": days(day + 1)[day]["date"], "failures": failures, **bare, **changes}


def report(count: int, *rows: dict[str, Any], partial: tuple[int, ...] = ()) -> dict[str, Any]:
    """Return as much of a report as the chart needs."""
    return {"case": {"timezone": "UTC", "language": "en"}, "days": days(count, *partial), "daily": list(rows)}


def test_founding_days() -> None:
    """A lane for each signature, the partial first and last day hatched, zeros written."""
    root = drawn(founding(), "daily")

    assert lanes(root) == ["days_0", "days_1", "days_2"]
    assert [len(marks(root, f"days_0_{name}")) for name in ("whole", "partial", "columns")] == [1, 1, 2]
    assert {"crm-api sqlalchemy.queuepool-timeout: 129", "63", "66", "7"} <= set(texts(root))
    assert texts(root).count("0") >= 3 * 3
    assert "Hatched: a day that the inputs cover only in part. 2026-09-05, 2026-09-09" in (
        charts.alt(founding(), "daily") or ""
    )


def test_a_day_is_hatched_where_its_service_is_covered_in_part() -> None:
    """The mark of a row counts, also where the inputs as a whole cover the day."""
    root = drawn(report(3, row(0, 4), row(1, 2, partial=True)), "daily")

    assert len(marks(root, "days_0_partial")) == len(marks(root, "days_0_columns")) == 1
    assert boxes(marks(root, "days_0_whole"))[0][2] == pytest.approx(
        2 * boxes(marks(root, "days_0_partial"))[0][2]
    )
    assert 'fill="url(#daily-light-hatch-bar)"' in (
        charts.svg(report(3, row(1, 2, partial=True)), "daily") or ""
    )


def test_whole_days_have_no_hatching_and_no_word_of_it() -> None:
    """What is not drawn is not explained."""
    svg = charts.svg(report(3, row(0, 4)), "daily") or ""

    assert "hatch" not in svg.lower()


def test_lower_bounds_say_so() -> None:
    """A count that is a lower bound is written as one, in the drawing and in words."""
    doc = report(2, row(0, 4, bound="at_least"))

    assert "≥ 4" in texts(drawn(doc, "daily"))
    assert "api a.b: 4 (2026-05-01 ≥ 4)" in (charts.alt(doc, "daily") or "")


def test_one_day_or_no_failure_is_no_chart() -> None:
    """A single bar shows nothing that its number does not."""
    assert charts.svg(report(1, row(0, 4)), "daily") is None
    assert charts.svg(report(9), "daily") is None
    assert charts.svg(report(9, row(0, 0)), "daily") is None


def test_many_days_and_kinds_are_cut_and_counted() -> None:
    """Two months and five signatures are drawn; only the highest bar is labelled; the words have all."""
    rows = [row(n, 10 + n % 9, f"lib.sig-{k}") for n in range(100) for k in range(7)]
    doc = report(100, *rows, partial=(99,))
    root = drawn(doc, "daily")

    assert (
        "Errors per day, 2026-06-08 to 2026-08-08 (+38 earlier days not drawn) (+2 more not drawn)"
        in texts(root)
    )
    assert len(marks(root, "days_0_whole")) + len(marks(root, "days_0_partial")) == 62
    assert len(marks(root, "days_0_figures")) == 1
    assert (charts.alt(doc, "daily") or "").count("lib.sig-") == 7


def test_bars_of_a_kind_that_is_older_than_the_drawing() -> None:
    """A signature whose failures all lie before the days that are drawn has an empty band."""
    doc = report(100, row(0, 5, "old.one"), row(99, 3))

    assert lanes(drawn(doc, "daily")) == ["days_0", "days_1"]
    assert marks(drawn(doc, "daily"), "days_0_whole") == []
