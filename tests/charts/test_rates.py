"""Errors per minute around each incident: what is counted, what is shaded, what is said."""

from __future__ import annotations

from typing import Any

import pytest
from founding_chart import at, document
from reading import boxes, drawn, founding, lanes, marks, texts

from forensics.report import charts


def rated(*counts: tuple[str, int, int], bucket_s: int = 60, **changes: Any) -> dict[str, Any]:
    """Return a document with rates around its one incident."""
    doc = document(**changes)
    doc["chart"]["rates"] = [
        {
            "incident": "i1",
            "start": at("09:27:00"),
            "end": at("10:07:00"),
            "bucket_s": bucket_s,
            "counts": [
                {"at": at(clock), "failures": failed, "errors": errors} for clock, failed, errors in counts
            ],
        }
    ]
    return doc


def test_every_incident_has_its_panel() -> None:
    """The founding report has three; failures and the errors that tell of them again are counted apart."""
    root = drawn(founding(), "rates")

    assert lanes(root) == [f"{what}_{n}" for n in range(3) for what in ("failures", "errors")]
    assert "Incident 3, 2026-09-09 09:42:26 to 09:51:28. Failures: 73, per 1 min" in texts(root)
    assert len(marks(root, "failures_2_bars")) == 6
    assert "Errors around incidents, per minute" in texts(root)


def test_bars_stand_on_their_minutes() -> None:
    """A bar is a minute wide, and as high as its share of the highest one."""
    root = drawn(rated(("09:45:00", 8, 0), ("09:46:00", 4, 0)), "rates")
    (first, wide, high), (second, _, lower) = boxes(marks(root, "failures_0_bars"))

    assert second - first == pytest.approx(wide, abs=0.01)
    assert wide == pytest.approx((charts.theme.PLOT - 2 * charts.theme.INSET) / 40, abs=0.01)
    assert lower == pytest.approx(high / 2)


def test_the_window_is_shaded_and_what_lies_outside_is_counted() -> None:
    """The incident is shaded in every band; errors beside it are named in words."""
    doc = rated(("09:30:00", 2, 0), ("09:45:00", 8, 1), ("10:00:00", 1, 0))
    root = drawn(doc, "rates")

    assert len(marks(root, "failures_0_shade")) == len(marks(root, "errors_0_shade")) == 1
    assert "Failures: 11, per 1 min, peak 8 (2026-09-09 09:45:00), outside the shaded spans 3" in (
        charts.alt(doc, "rates") or ""
    )


def test_wider_buckets_are_no_minutes() -> None:
    """A long incident has wider bars; the title claims minutes only where all bars are minutes."""
    said = texts(drawn(rated(("09:45:00", 8, 0), bucket_s=300), "rates"))

    assert "Errors around incidents" in said
    assert any(text.endswith("Failures: 8, per 5 min") for text in said)


def test_an_incident_without_errors_has_no_panel() -> None:
    """Nothing is drawn where nothing was counted."""
    assert charts.svg(rated(), "rates") is None
    assert lanes(drawn(rated(("09:45:00", 0, 3)), "rates")) == ["errors_0"]


def test_of_many_incidents_the_primary_is_drawn_and_the_rest_counted() -> None:
    """Four panels at most: the primary incident and those with the most errors."""
    doc = rated(("09:45:00", 1, 0))
    one, rate = doc["incidents"][0], doc["chart"]["rates"][0]
    doc["incidents"] += [one | {"id": f"i{n}", "primary": False} for n in range(2, 8)]
    doc["chart"]["rates"] += [
        rate | {"incident": f"i{n}", "counts": [{"at": at("09:45:00"), "failures": n, "errors": 0}]}
        for n in range(2, 8)
    ]
    said = texts(drawn(doc, "rates"))

    assert "Errors around incidents, per minute (+3 more not drawn)" in said
    assert [text.split(",")[0] for text in said if text.startswith("Incident i")] == [
        f"Incident i{n}" for n in (1, 5, 6, 7)
    ]
    assert (charts.alt(doc, "rates") or "").count("Failures") == 7


def test_an_ongoing_incident_says_so() -> None:
    """It has no end to name."""
    doc = rated(("09:45:00", 8, 0))
    doc["incidents"][0] |= {"ongoing": True, "end": None}

    assert "Incident i1, 2026-09-09 09:42:26, ongoing. Failures: 8, per 1 min" in texts(drawn(doc, "rates"))
