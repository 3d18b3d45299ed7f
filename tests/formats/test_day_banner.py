"""Lines with a time of day under a banner that states the day."""

from __future__ import annotations

import datetime as dt

import pytest

from forensics import formats

PLUG = formats.all_transports()["day_banner"]


def instants(text: str) -> list[str]:
    """Return the times of the records."""
    records = PLUG.parse(text.encode()).records
    assert records is not None
    return [
        dt.datetime.fromtimestamp(at / 1e6, dt.UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
        for at in records["ts"]
    ]


def log(*days: str) -> str:
    """Write a log with a line under each day."""
    return "".join(f"**** Date: {day} ****\n06:00:00:health ok\n" for day in days)


def test_midnight_passes() -> None:
    """A time of day far behind the one above is of the next day; a small step back is none."""
    text = "--- Log opened: 2026-11-29 ---\n23:59:58 a\n00:00:28.5 b\n  at x\n00:00:27 c\n"

    assert instants(text) == [
        "2026-11-29 23:59:58.000",
        "2026-11-30 00:00:28.500",
        "2026-11-30 00:00:28.500",
        "2026-11-30 00:00:27.000",
    ]


@pytest.mark.parametrize(
    ("days", "first", "note"),
    [
        (
            ("01/11/26", "13/11/26"),
            "2026-11-01",
            "the day stands first in its dates, as 13 in one of them shows",
        ),
        (
            ("11/01/26", "11/13/26"),
            "2026-11-01",
            "the month stands first in its dates, as 13 in one of them shows",
        ),
        (("01/11/26", "02/11/26"), "2026-11-01", "nothing tells whether"),
        (("09/10/26", "10/09/26"), "2026-09-10", "the month stands first in its dates, as their order shows"),
        (("2026-11-01", "2026-11-02"), "2026-11-01", ""),
        (("01.11.2026",), "2026-11-01", "nothing tells whether"),
    ],
)
def test_order_of_day_and_month(days: tuple[str, ...], first: str, note: str) -> None:
    """It is told by a number above 12, else by the order of the banners, else assumed; the report says which."""
    notes = PLUG.parse(log(*days).encode()).notes

    assert instants(log(*days))[0][:10] == first
    assert " ".join(notes)[: len(note)] == note
    assert bool(notes) == bool(note)


def test_what_stands_before_the_first_banner() -> None:
    """Without a day a time is no instant: such lines are counted as unparsed."""
    parsed = PLUG.parse(b"05:00:00 early\n" + log("13/11/26").encode())

    assert (parsed.in_records, parsed.unparsed, parsed.first_unparsed) == (2, 1, 1)
    assert PLUG.sniff(b"05:00:00 early\n" + log("13/11/26").encode()) == 0.0


def test_a_day_that_does_not_exist() -> None:
    """Its lines are counted as unparsed, and never dated by the banner before."""
    parsed = PLUG.parse(b"** 13/02/26 **\n06:00:00 x\n** 31/02/26 **\n06:00:00 y\n")

    assert instants("** 13/02/26 **\n06:00:00 x\n** 31/02/26 **\n06:00:00 y\n") == ["2026-02-13 06:00:00.000"]
    assert (parsed.in_records, parsed.unparsed, parsed.first_unparsed) == (3, 1, 4)


def test_a_time_of_day_that_does_not_exist() -> None:
    """It is kept undated, and never dated by the line above."""
    records = PLUG.parse(b"** 13/02/26 **\n06:00:00 x\n25:61:00 y\n  at z\n").records

    assert records is not None
    assert [at is None for at in records["ts"]] == [False, True, True]
