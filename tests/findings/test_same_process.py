"""One process id before and after the window rules a restart out: lines inside it are neither."""

from __future__ import annotations

import pytest
from findings_evidence import API, FIRST, HI, LAST, LO, SECOND, Draft, signals


@pytest.mark.parametrize(
    ("first", "last", "same"),
    [
        (FIRST, LAST, True),
        (LO - SECOND, HI + SECOND, True),
        (LO, HI, False),
        (LO, LAST, False),
        (FIRST, HI, False),
        (LO + 2 * SECOND, HI + SECOND, False),
    ],
)
def test_lines_stand_really_before_and_after(first: int, last: int, same: bool) -> None:
    """The first and the last failure are the window's edges, and nothing that stands outside of it."""
    draft = Draft()
    draft.row(
        "processes",
        service=API,
        pid="911",
        boot="b",
        first_us=first,
        last_us=last,
        n=9,
        first_line=1,
        last_line=2,
    )

    assert (signals(draft).same_process(API) is not None) == same
