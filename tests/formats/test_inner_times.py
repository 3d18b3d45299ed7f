"""Lines that a tool shipped without a time are dated by what their program wrote, epochs in JSON among it."""

from __future__ import annotations

import pytest

from forensics import formats

BODY = '"pid":1,"hostname":"9f1c2ab44d10","msg":"request completed"}'
AT = 1_773_180_001_180_000


@pytest.mark.parametrize(
    ("time", "us"),
    [
        ("1773180001180", AT),
        ("1773180001.18", AT),
        ('"2026-03-10T22:00:01.180Z"', AT),
        ('"2026-03-10T19:00:01.180-03:00"', AT),
    ],
)
@pytest.mark.parametrize("writer", ['"level":30', '"level":"info"'])
def test_compose_without_stamps_is_dated_by_pino(writer: str, time: str, us: int) -> None:
    """An epoch in any unit, or a stamp with its zone."""
    lines = [
        f'shop-api-1  | {{{writer},"time":{time},{BODY}',
        f'shop-api-1  | {{{writer},"time":{time},{BODY}',
    ]
    parsed = formats.all_transports()["compose"].parse(("\n".join(lines) + "\n").encode())

    assert parsed.records["ts"].to_list() == [us, us]
    assert parsed.records["naive"].to_list() == [False, False]
    assert not any("without a time" in note for note in parsed.notes)


def test_the_stamp_of_the_engine_is_kept() -> None:
    """With -t the line was dated before."""
    line = f'shop-api-1  | 2026-03-10T22:00:05.000000000Z {{"level":30,"time":1773180001180,{BODY}\n'
    parsed = formats.all_transports()["compose"].parse(line.encode())

    assert parsed.records["ts"].to_list() == [AT + 3_820_000]


def test_a_number_without_a_meaning_dates_nothing() -> None:
    """A duration in a field of that name is no epoch."""
    parsed = formats.all_transports()["compose"].parse(b'api-1  | {"level":30,"time":12,"msg":"x"}\n')

    assert parsed.records["ts"].to_list() == [None]
