"""When monitors were watching: strips of days, blind gaps, incidents, and the hours of days when the clock changes."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from reading import boxes, drawn, founding, lanes, marks, texts

from forensics.report import charts
from forensics.report.charts.theme import INSET, PLOT

HOUR_PX = (PLOT - 2 * INSET) / 24


def report(*watched: tuple[str, str, str], zone: str = "Etc/UTC", **changes: Any) -> dict[str, Any]:
    """Return as much of a report as the chart needs."""
    rows = [{"monitor": name, "start": start, "end": end} for name, start, end in watched]
    return {
        "case": {"timezone": zone, "language": "en", "window": None},
        "chart": {"watched": rows},
        "blind_gaps": [],
        "incidents": [],
        **changes,
    }


def gap(start: str, end: str, monitor: str = "m", kind: str = "blind") -> dict[str, Any]:
    """Return a blind gap."""
    return {"monitor": monitor, "start": start, "end": end, "missing": 3, "kind": kind}


def test_founding_monitor() -> None:
    """Five days, 8 h 30 min of the fourth blind with two incidents in it, the third incident seen."""
    root = drawn(founding(), "coverage")

    assert lanes(root) == ["monitor_0"]
    assert [len(marks(root, f"monitor_0_{name}")) for name in ("seen", "blind", "incidents")] == [5, 1, 3]
    ((_, wide, _),) = boxes(marks(root, "monitor_0_blind"))
    assert wide == pytest.approx(8.5 * HOUR_PX, abs=0.1)
    assert {"09-08: 15 h 30 min", "09-06: 24 h"} <= set(texts(root))
    assert "blind 2026-09-08 09:50:00 to 2026-09-08 18:20:00 (8 h 30 min, Incident 1, 2)" in (
        charts.alt(founding(), "coverage") or ""
    )


def test_no_monitor_no_chart() -> None:
    """Without a monitor, or with one that was asked for minutes, there is nothing to show."""
    assert charts.svg(report(), "coverage") is None
    assert (
        charts.svg(report(("m", "2026-05-01T08:00:00+00:00", "2026-05-01T13:00:00+00:00")), "coverage")
        is None
    )
    assert charts.svg(report(("m", "2026-05-01T08:00:00+00:00", "2026-05-01T14:00:00+00:00")), "coverage")


@pytest.mark.parametrize(("day", "hours"), [("2026-10-25", 25), ("2026-10-24", 24), ("2026-03-29", 23)])
def test_a_day_has_the_hours_that_passed(day: str, hours: int) -> None:
    """Where the clock changes a day is 23 or 25 hours long; its strip is as long as any."""
    noon = datetime.fromisoformat(f"{day}T12:00:00+00:00")
    start, end = (f"{noon + timedelta(days=n):%Y-%m-%dT%H:%M:%S%z}" for n in (-1, 1))
    doc = report(("m", f"{start[:-2]}:00", f"{end[:-2]}:00"), zone="Europe/Berlin")
    root = drawn(doc, "coverage")

    assert f"{day[5:]}: {hours} h" in texts(root)
    assert boxes(marks(root, "monitor_0_seen"))[1][1] == pytest.approx(24 * HOUR_PX, abs=0.1)


def test_a_gap_over_midnight_is_on_both_days() -> None:
    """A gap is cut at midnight of the zone; a monitor that stays frozen is watched until its last gap ends."""
    doc = report(
        ("m", "2026-05-01T00:00:00+00:00", "2026-05-02T12:00:00+00:00"),
        blind_gaps=[
            gap("2026-05-01T22:00:00+00:00", "2026-05-02T01:00:00+00:00"),
            gap("2026-05-02T12:00:00+00:00", "2026-05-02T20:00:00+00:00", kind="frozen"),
        ],
    )
    root = drawn(doc, "coverage")

    assert {"05-01: 22 h", "05-02: 11 h"} <= set(texts(root))
    assert "m, 2026-05-01 to 2026-05-02: watching 33 h of 44 h" in texts(root)
    assert [round(wide / HOUR_PX) for _, wide, _ in boxes(marks(root, "monitor_0_blind"))] == [2, 1, 8]
    assert "frozen 2026-05-02 12:00:00" in (charts.alt(doc, "coverage") or "")


def test_the_blindest_monitors_are_drawn_and_the_rest_counted() -> None:
    """Three monitors, 42 strips: what is not drawn is counted, and said in words."""
    spans = [(f"m{n}", "2026-05-01T00:00:00+00:00", "2026-06-10T00:00:00+00:00") for n in range(5)]
    blind = gap("2026-05-30T00:00:00+00:00", "2026-05-31T00:00:00+00:00", "m4")
    doc = report(*spans, blind_gaps=[blind])
    said = texts(drawn(doc, "coverage"))

    assert "When the monitors were watching (+2 more not drawn)" in said
    assert "m4, 2026-05-01 to 2026-06-10: watching 936 h of 960 h (+27 more not drawn)" in said
    assert all(f"m{n}, 2026-05-01" in (charts.alt(doc, "coverage") or "") for n in range(5))


def test_a_zone_that_nobody_knows_is_the_offset_of_the_inputs() -> None:
    """A zone may be masked or mistyped; days are then those of the window's offset."""
    doc = report(("m", "2026-05-01T00:00:00-03:00", "2026-05-02T00:00:00-03:00"), zone="../etc/passwd")
    doc["case"]["window"] = ["2026-05-01T00:00:00-03:00", "2026-05-02T00:00:00-03:00"]

    assert "05-01: 24 h" in texts(drawn(doc, "coverage"))
