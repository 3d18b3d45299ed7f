"""Year-less and zone-less times: New Year, the hour that came twice, and the offset that another input shows."""

from __future__ import annotations

import datetime as dt
import json
import os
import zoneinfo
from typing import TYPE_CHECKING

import polars as pl
import pytest

from forensics import pipeline
from forensics.ingest import offsets
from forensics.pipeline import Options

if TYPE_CHECKING:
    from pathlib import Path

    from forensics.model.digest import Evidence
    from forensics.model.source import Source

MESSAGE = 'web-1 uvicorn[81]: INFO:     203.0.113.15:0 - "GET /api/{} HTTP/1.1" 200 OK'


def read(folder: Path, tz: str | None = None, shard_size: int | None = None) -> Evidence:
    """Read a folder as the command does."""
    options = Options(tz=tz) if shard_size is None else Options(tz=tz, shard_size=shard_size)
    return pipeline.survey([str(folder)], options)


def write(folder: Path, name: str, lines: list[str], modified: str = "2027-06-01T00:00:00+00:00") -> Path:
    """Write a log whose file was last changed at an instant."""
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    stamp = dt.datetime.fromisoformat(modified).timestamp()
    os.utime(path, (stamp, stamp))
    return path


def instants(evidence: Evidence, name: str) -> list[str]:
    """Return the seconds of one source in order of their lines."""
    index = source(evidence, name).index
    rows = evidence["seconds"].filter(pl.col("source") == index).sort("first_line")
    return [dt.datetime.fromtimestamp(at, dt.UTC).strftime("%Y-%m-%d %H:%M:%S") for at in rows["second"]]


def source(evidence: Evidence, name: str) -> Source:
    """Return one source."""
    return next(item for item in evidence.sources if item.name == name)


OVER_NEW_YEAR = [
    f"{stamp} {MESSAGE.format(number)}"
    for number, stamp in enumerate(
        ("Dec 30 23:59:58", "Dec 31 23:59:59", "Jan 01 00:00:01", "Jan 02 08:00:00")
    )
]
IN_TWO_YEARS = ["2026-12-30 23:59:58", "2026-12-31 23:59:59", "2027-01-01 00:00:01", "2027-01-02 08:00:00"]


@pytest.mark.parametrize("shard_size", [1, 1 << 20])
def test_a_log_over_new_year(tmp_path: Path, shard_size: int) -> None:
    """Lines before the turn lie in the year before, wherever a shard was cut."""
    write(tmp_path, "api.log", OVER_NEW_YEAR, "2027-01-03T00:00:00+00:00")
    evidence = read(tmp_path, "UTC", shard_size)

    assert instants(evidence, "api.log") == IN_TWO_YEARS
    assert "the lines carry no year: 2027 for the last ones" in source(evidence, "api.log").limits[0]


def test_a_log_over_new_year_newest_first(tmp_path: Path) -> None:
    """``journalctl -r`` prints the new year first."""
    write(tmp_path, "api.log", OVER_NEW_YEAR[::-1], "2027-01-03T00:00:00+00:00")

    assert instants(read(tmp_path, "UTC"), "api.log") == IN_TWO_YEARS[::-1]


def test_two_new_years(tmp_path: Path) -> None:
    """A log that runs over two turns lies in three years."""
    stamps = ("Dec 31 23:00:00", "Jan 01 01:00:00", "Jul 01 01:00:00", "Dec 31 22:00:00", "Jan 01 02:00:00")
    write(
        tmp_path, "api.log", [f"{stamp} {MESSAGE.format(1)}" for stamp in stamps], "2027-01-03T00:00:00+00:00"
    )
    years = [text[:4] for text in instants(read(tmp_path, "UTC"), "api.log")]

    assert years == ["2025", "2026", "2026", "2026", "2027"]


TWICE = [
    f"{stamp} {MESSAGE.format(number)}"
    for number, stamp in enumerate(
        ("Oct 25 02:10:00", "Oct 25 02:59:59", "Oct 25 02:00:01", "Oct 25 02:10:00", "Oct 25 03:00:00")
    )
]
TOLD_APART = ["00:10:00", "00:59:59", "01:00:01", "01:10:00", "02:00:00"]


@pytest.mark.parametrize("shard_size", [1, 1 << 20])
def test_the_hour_that_came_twice(tmp_path: Path, shard_size: int) -> None:
    """Berlin, 25 October 2026: the order of lines tells 02:10 summer time from 02:10 winter time."""
    write(tmp_path, "api.log", TWICE, "2026-11-01T00:00:00+00:00")
    evidence = read(tmp_path, "Europe/Berlin", shard_size)

    assert [text[11:] for text in instants(evidence, "api.log")] == TOLD_APART
    assert "4 lines lie in an hour that Europe/Berlin had twice and were told apart by their order" in str(
        source(evidence, "api.log").limits
    )


def test_without_a_step_the_first_reading_is_taken(tmp_path: Path) -> None:
    """Nothing tells the readings apart: the report says which was taken."""
    write(tmp_path, "api.log", TWICE[:2], "2026-11-01T00:00:00+00:00")
    evidence = read(tmp_path, "Europe/Berlin")

    assert [text[11:] for text in instants(evidence, "api.log")] == TOLD_APART[:2]
    assert "2 lines lie in an hour that Europe/Berlin had twice and are taken as the first of the two" in str(
        source(evidence, "api.log").limits
    )


def test_an_hour_that_never_was(tmp_path: Path) -> None:
    """A time that the zone skipped hints at a wrong zone; the line is kept, undated."""
    lines = [f"Mar 29 {clock} {MESSAGE.format(1)}" for clock in ("01:30:00", "02:30:00", "03:30:00")]
    write(tmp_path, "api.log", lines, "2026-11-01T00:00:00+00:00")
    evidence = read(tmp_path, "Europe/Berlin")

    assert "1 lines have a time that Europe/Berlin skipped and are not placed" in str(
        source(evidence, "api.log").limits
    )


def journal(stamps: list[int]) -> list[str]:
    """Return entries of the same messages as JSON, stamped in UTC."""
    return [
        json.dumps(
            {
                "__REALTIME_TIMESTAMP": str(stamp * 1_000_000),
                "__CURSOR": f"s={'0' * 32};i={number:x}",
                "_SYSTEMD_UNIT": "api.service",
                "SYSLOG_IDENTIFIER": "uvicorn",
                "MESSAGE": MESSAGE.format(number).partition(": ")[2],
            }
        )
        for number, stamp in enumerate(stamps)
    ]


def test_the_offset_of_a_copy_in_utc(tmp_path: Path) -> None:
    """A zone-less log takes its offset from an input that shows the same lines in UTC, and both count once."""
    start = int(dt.datetime(2026, 7, 1, 22, 0, tzinfo=dt.UTC).timestamp())
    stamps = [start + number * 40 for number in range(30)]
    local = dt.timezone(dt.timedelta(hours=5, minutes=30))
    lines = [
        f"{dt.datetime.fromtimestamp(stamp, local):%b %d %H:%M:%S} {MESSAGE.format(number)}"
        for number, stamp in enumerate(stamps)
    ]
    write(tmp_path, "api.json", journal(stamps))
    write(tmp_path, "api.log", lines)
    evidence = read(tmp_path)
    zone = source(evidence, "api.log").zone

    assert (zone.name, zone.rule) == ("UTC+05:30", "inferred")
    assert "minutes of its lines stand in api.json" in zone.why
    assert source(evidence, "api.log").copy_of == source(evidence, "api.json").index
    assert source(evidence, "api.log").first_us == start * 1_000_000
    assert evidence["seconds"]["n"].sum() == 30


def test_a_heartbeat_tells_no_offset(tmp_path: Path) -> None:
    """What is said every minute fits everywhere: the zone stays unknown."""
    start = int(dt.datetime(2026, 7, 1, 22, 0, tzinfo=dt.UTC).timestamp())
    entries = [
        {
            "__REALTIME_TIMESTAMP": str((start + number * 60) * 1_000_000),
            "SYSLOG_IDENTIFIER": "uvicorn",
            "MESSAGE": "still alive",
        }
        for number in range(90)
    ]
    lines = [
        f"{dt.datetime.fromtimestamp(start + number * 60, dt.UTC):%b %d %H:%M:%S} web-2 uvicorn[7]: still alive"
        for number in range(60, 150)
    ]
    write(tmp_path, "host.json", [json.dumps(entry) for entry in entries])
    write(tmp_path, "other.log", lines)

    assert source(read(tmp_path), "other.log").zone.rule == "assumed"


def test_a_given_zone_is_not_argued_with(tmp_path: Path) -> None:
    """What the user says stands."""
    start = int(dt.datetime(2026, 7, 1, 22, 0, tzinfo=dt.UTC).timestamp())
    stamps = [start + number * 40 for number in range(30)]
    lines = [
        f"{dt.datetime.fromtimestamp(stamp, dt.UTC):%b %d %H:%M:%S} {MESSAGE.format(number)}"
        for number, stamp in enumerate(stamps)
    ]
    write(tmp_path, "api.json", journal(stamps))
    write(tmp_path, "api.log", lines)

    assert source(read(tmp_path, "Asia/Kolkata"), "api.log").zone.rule == "given"


TRACE = (
    "Traceback (most recent call last):",
    '  File "/app/db.py", line 12, in get',
    "sqlalchemy.exc.TimeoutError: QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00",
    "During handling of the above exception, another exception occurred:",
    "sqlalchemy.exc.TimeoutError: QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00",
)


def test_newest_first_is_read_in_the_order_of_making(tmp_path: Path) -> None:
    """A chain of exceptions, printed upside down by ``journalctl -r``, is still one failure; its lines keep their numbers."""
    lines = [f"2026-11-30T04:02:{second:02d}+0000 web-1 api[81]: {text}" for second, text in enumerate(TRACE)]
    write(tmp_path, "api.log", lines[::-1])
    evidence = read(tmp_path)
    hits = evidence["hits"].sort("line")

    assert hits["fid"].n_unique() == 1
    assert hits["line"].to_list() == [1, 3]


POSTGRES = [
    "2026-11-29 18:14:00.434 IST [1] LOG:  starting PostgreSQL 15.14",
    "2026-11-29 18:19:02.450 IST [27] LOG:  checkpoint starting: time",
]


def test_the_offset_of_a_sibling(tmp_path: Path) -> None:
    """A log without a zone takes the offset of another of its kind where only that puts it among the dated inputs."""
    stamps = [1_795_956_242 + 7 * step for step in range(60)]
    write(tmp_path, "host.jsonl", journal(stamps))
    local = [dt.datetime.fromtimestamp(at + 19800, dt.UTC).strftime("%b %d %H:%M:%S") for at in stamps]
    write(tmp_path, "host.short.txt", [f"{at} {MESSAGE.format(n)}" for n, at in enumerate(local)])
    write(tmp_path, "postgres.log", POSTGRES)

    evidence = read(tmp_path)

    zone = source(evidence, "postgres.log").zone
    assert (zone.name, zone.rule) == ("UTC+05:30", "inferred")
    assert instants(evidence, "postgres.log") == ["2026-11-29 12:44:00", "2026-11-29 12:49:02"]
    assert zone.why.startswith("at the offset of host.short.txt its times lie among")


def test_a_span_alone_is_told_and_not_applied(tmp_path: Path) -> None:
    """Where nothing but the span fits an offset, the log stays as assumed and the report says which would fit."""
    write(tmp_path, "host.jsonl", journal([1_795_956_242 + 7 * step for step in range(60)]))
    write(tmp_path, "postgres.log", POSTGRES)

    zone = source(read(tmp_path), "postgres.log").zone

    assert (zone.name, zone.rule) == ("UTC", "assumed")
    assert zone.why.endswith("; at UTC+05:30 they would lie among those of the dated inputs")


def test_the_offset_of_the_same_requests(tmp_path: Path) -> None:
    """A gateway with an offset and an application without one log the same requests: that tells the offset."""
    paths = [f"/{name}" for name in ("cart", "login", "search", "list", "cart", "order", "login", "pay")]
    at = [dt.datetime(2026, 11, 29, 12, 44, 7 * step, tzinfo=dt.UTC) for step in range(len(paths))]
    write(
        tmp_path,
        "gateway.log",
        [
            f'203.0.113.9 - - [{moment:%d/%b/%Y:%H:%M:%S} +0000] "GET {path} HTTP/1.1" 200 12'
            for moment, path in zip(at, paths, strict=True)
        ],
    )
    write(
        tmp_path,
        "app.log",
        [
            f'[GIN] {moment - dt.timedelta(hours=3):%Y/%m/%d - %H:%M:%S} | 200 |     1.5ms |    10.0.0.1 | GET      "{path}"'
            for moment, path in zip(at, paths, strict=True)
        ],
    )

    evidence = read(tmp_path)

    assert (source(evidence, "app.log").zone.name, source(evidence, "app.log").zone.rule) == (
        "UTC-03:00",
        "inferred",
    )
    assert instants(evidence, "app.log")[0] == "2026-11-29 12:44:00"


def test_offsets_are_those_of_the_tz_database() -> None:
    """No quarter of an hour is tried that no zone has, and none is left out."""
    said = {
        round(offset.total_seconds() / 60)
        for name in zoneinfo.available_timezones()
        for year in range(2019, 2027)
        for month in (1, 7)
        if (offset := dt.datetime(year, month, 1, tzinfo=zoneinfo.ZoneInfo(name)).utcoffset()) is not None
    }

    assert said <= set(offsets.OFFSETS_MIN)
    assert {minutes for minutes in offsets.OFFSETS_MIN if minutes % 60} <= said


def test_a_probe_tells_no_offset(tmp_path: Path) -> None:
    """What comes every 30 s fits at every quarter of an hour."""
    at = [
        dt.datetime(2026, 11, 29, 8, tzinfo=dt.UTC) + dt.timedelta(seconds=30 * step) for step in range(600)
    ]
    gateway = [f'203.0.113.9 - - [{one:%d/%b/%Y:%H:%M:%S} +0000] "GET /health HTTP/1.1" 200 12' for one in at]
    write(tmp_path, "gateway.log", gateway)
    app = [
        f'[GIN] {one:%Y/%m/%d - %H:%M:%S} | 200 |     1.5ms |    10.0.0.1 | GET      "/health"'
        for one in at[60:500]
    ]
    write(tmp_path, "app.log", app)

    assert source(read(tmp_path), "app.log").zone.rule == "assumed"


def test_an_error_log_takes_the_offset_of_the_access_log_with_the_same_requests(tmp_path: Path) -> None:
    """Nginx writes its errors in local time without a zone, its access log with an offset: both name the requests."""
    start = dt.datetime(2026, 11, 29, 12, 1, tzinfo=dt.UTC)
    at = [start + dt.timedelta(seconds=41 * n) for n in range(12)]
    access = [
        f'203.0.113.{n} - - [{one:%d/%b/%Y:%H:%M:%S} +0000] "GET /p/{n} HTTP/1.1" 504 160 "-" "curl/8"'
        for n, one in enumerate(at)
    ]
    errors = [
        f"{one + dt.timedelta(hours=1):%Y/%m/%d %H:%M:%S} [error] 12#12: *{n} upstream timed out (110: Connection timed out) while reading response "
        f'header from upstream, client: 203.0.113.{n}, server: x, request: "GET /p/{n} HTTP/1.1", upstream: "http://10.0.0.1:80/p/{n}", host: "x"'
        for n, one in enumerate(at)
    ]
    write(tmp_path, "access.log", access)
    write(tmp_path, "error.log", errors)
    found = {source.name: source for source in read(tmp_path).sources}

    assert (found["error.log"].zone.name, found["error.log"].zone.rule) == ("UTC+01:00", "inferred")
    assert "12 of its requests stand in access.log" in found["error.log"].zone.why
    assert found["error.log"].first_us == found["access.log"].first_us


def test_errors_that_name_no_request_of_another_log_keep_their_assumed_zone(tmp_path: Path) -> None:
    """Requests of other routes tell nothing."""
    at = [dt.datetime(2026, 11, 29, 12, 1, tzinfo=dt.UTC) + dt.timedelta(seconds=41 * n) for n in range(12)]
    write(
        tmp_path,
        "access.log",
        [
            f'203.0.113.1 - - [{one:%d/%b/%Y:%H:%M:%S} +0000] "GET /other HTTP/1.1" 200 160 "-" "curl/8"'
            for one in at
        ],
    )
    write(
        tmp_path,
        "error.log",
        [
            f'{one:%Y/%m/%d %H:%M:%S} [error] 12#12: *1 upstream timed out (110: Connection timed out) while reading response header from upstream, client: 203.0.113.1, server: x, request: "GET /p HTTP/1.1", upstream: "http://10.0.0.1:80/p", host: "x"'
            for one in at
        ],
    )  # fmt: skip
    found = {source.name: source for source in read(tmp_path).sources}

    assert found["error.log"].zone.rule == "assumed"


def test_an_hour_that_clocks_skipped_is_named(tmp_path: Path) -> None:
    """Two lines an hour apart on the wall are thirty seconds apart where summer time began between them."""
    walls = ("01:58:30", "01:59:30", "03:00:00", "03:01:00")
    write(tmp_path, "app.log", [f"2026-03-29 {wall},004 INFO tick" for wall in walls])
    evidence = read(tmp_path, "Europe/Berlin")

    assert instants(evidence, "app.log") == [
        f"2026-03-29 {at}" for at in ("00:58:30", "00:59:30", "01:00:00", "01:01:00")
    ]
    assert source(evidence, "app.log").limits == (
        "clocks of Europe/Berlin went forward by 60 min between 2026-03-29 01:59:30 and 2026-03-29 03:00:00: these lines are 30 s apart",
    )


def test_a_day_without_a_change_names_none(tmp_path: Path) -> None:
    """An hour without lines is no skipped one."""
    write(tmp_path, "app.log", [f"2026-03-28 {wall},004 INFO tick" for wall in ("01:59:30", "03:00:00")])

    assert source(read(tmp_path, "Europe/Berlin"), "app.log").limits == ()
