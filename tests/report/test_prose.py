"""How instants, durations, counts and bars are written."""

from __future__ import annotations

import pytest

from forensics.report import prose


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("2026-09-09T09:42:26.412000-03:00", "2026-09-09 09:42:26.412 -03:00"),
        ("2026-09-09T09:42:26-03:00", "2026-09-09 09:42:26 -03:00"),
        ("2026-09-09T12:42:26Z", "2026-09-09 12:42:26 +00:00"),
        ("2026-09-09T12:42:26.000001+05:30", "2026-09-09 12:42:26.000001 +05:30"),
        ("2026-09-09T12:42:26", "2026-09-09 12:42:26"),
        ("yesterday", "yesterday"),
    ],
)
def test_instant(value: str, shown: str) -> None:
    """Date, seconds and numeric offset are always there; what was not stated is not added."""
    assert prose.instant(value) == shown


def test_instant_without_fraction() -> None:
    """A fraction can be left off."""
    assert prose.instant("2026-09-09T09:42:26.412-03:00", fraction=False) == "2026-09-09 09:42:26 -03:00"


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0 s"),
        (59, "59 s"),
        (88.1, "88.1 s (1 min 28.1 s)"),
        (542, "542 s (9 min 2 s)"),
        (30_600, "30600 s (8 h 30 min)"),
        (172_805, "172805 s (2 d 5 s)"),
        (-90, "-90 s (-1 min 30 s)"),
    ],
)
def test_duration(seconds: float, shown: str) -> None:
    """The seconds stay exact; larger units stand beside them."""
    assert prose.duration(seconds) == shown


@pytest.mark.parametrize(
    ("shown", "least", "most", "bound"),
    [
        ("66", 66, 66, "exact"),
        ("66", 66, None, "exact"),
        ("≥ 66", 66, None, "at_least"),
        ("≥ 66", 66, 66, "at_least"),
        ("26 to 27", 26, 27, "exact"),
    ],
)
def test_count(shown: str, least: int, most: int | None, bound: str) -> None:
    """A count is shown with its bounds."""
    assert prose.count(least, most, bound=bound) == shown


@pytest.mark.parametrize(
    ("start", "end", "seconds"),
    [
        ("2026-09-09T09:42:26-03:00", "2026-09-09T12:51:28Z", 542.0),
        (None, "2026-09-09T12:51:28Z", None),
        ("2026-09-09T09:42:26", "2026-09-09T12:51:28Z", None),
    ],
)
def test_elapsed(start: str | None, end: str | None, seconds: float | None) -> None:
    """A span needs two instants of known offset."""
    assert prose.elapsed(start, end) == seconds


def test_clip_counts_what_it_leaves_off() -> None:
    """The head and the count add up to the text, and the cut is at a space."""
    text = "one two three four five six seven eight"
    head, left = prose.clip(text, 20)

    assert (head, len(head) + left) == ("one two three four", len(text))


def test_clip_spares_a_few_characters() -> None:
    """A text that is hardly too long stays whole."""
    assert prose.clip("x" * 22, 20) == ("x" * 22, 0)


def test_bars_scale_and_never_vanish() -> None:
    """Every count above zero has a bar, and the longest is as wide as allowed."""
    drawn = prose.bars([("09:42", 1), ("09:43", 0), ("09:44", 200)], width=10)

    assert drawn == ["09:42   1 #", "09:43   0", "09:44 200 ##########"]
