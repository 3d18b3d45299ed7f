"""Planted secrets and personal items leave no trace in any output."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import planted
import pytest

from forensics.report.masking import TITLES, Masker

if TYPE_CHECKING:
    from pathlib import Path

ITEMS = planted.items()
CARRIED = [carried for item in ITEMS for carried in planted.places(item)]
BATCHES = 6
"""Incidents over which the items are spread, so that many of them are quoted."""


def traces(text: str, carried: list[planted.Carried]) -> list[tuple[str, str, str]]:
    """Return what of the planted items stands in a text."""
    return [
        (one.item.kind, one.place, trace)
        for one in carried
        for trace in one.traces
        if trace in text and re.search(rf"(?<!\w){re.escape(trace)}(?!\w)", text)
    ]


def test_there_are_enough_items() -> None:
    """300 items of 25 classes and more, in eight places."""
    assert len(ITEMS) >= 300
    assert len({item.kind for item in ITEMS}) >= 25
    assert len({one.place for one in CARRIED}) == 8
    assert len({secret for item in ITEMS for secret in item.secrets[:1]}) > 0.98 * len(ITEMS)


@pytest.mark.parametrize("place", sorted({one.place for one in CARRIED}))
def test_no_place_shows_an_item(place: str) -> None:
    """Every item is masked in every place, whatever stands around it."""
    masker = Masker(names=planted.PEOPLE)
    left = [
        (one.item.kind, trace, shown)
        for one in CARRIED
        if one.place == place
        for shown in [masker.text(one.text)]
        for trace in one.traces
        if trace in shown
    ]

    assert left == []
