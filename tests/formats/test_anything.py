"""Text of no known format: read by the times near the beginning of its lines, or without any."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import pytest

from forensics import formats, pipeline
from forensics.formats import anything
from forensics.ingest import plan
from forensics.model.facts import Failures
from forensics.pipeline import Options
from forensics.sources.discovery import discover

if TYPE_CHECKING:
    from pathlib import Path

    from forensics.model.digest import Evidence

POOL = "QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00"


def read(folder: Path, text: str) -> Evidence:
    """Read one file as the command does."""
    (folder / "own.log").write_text(text, encoding="utf-8")
    return pipeline.survey([str(folder)], Options())


@pytest.mark.parametrize(
    ("stamp", "instant", "naive"),
    [
        ("### 2026-11-29 12:14:31.204", "2026-11-29T12:14:31.204+00:00", True),
        ("{2026/11/29 12:14:31,204}", "2026-11-29T12:14:31.204+00:00", True),
        ("<2026-11-29T12:14:31Z>", "2026-11-29T12:14:31+00:00", False),
        ("w1 at 2026-11-29 12:14:31 +0100:", "2026-11-29T11:14:31+00:00", False),
        ("w1 at 2026-11-29 12:14:31 UTC:", "2026-11-29T12:14:31+00:00", False),
        ("[29/Nov/2026:12:14:31 -0300] w1", "2026-11-29T15:14:31+00:00", False),
        ("<<29 Nov 2026 12:14:31>>", "2026-11-29T12:14:31+00:00", True),
        ("## Sun Nov 29 12:14:31 2026", "2026-11-29T12:14:31+00:00", True),
        ("Nov  1 12:14:31 2026 w1", "2026-11-01T12:14:31+00:00", True),
        ("w1 29/Nov/2026 12:14:31", "2026-11-29T12:14:31+00:00", True),
        ("w1 29/Nov/2026:12:14:31", "2026-11-29T12:14:31+00:00", True),
        ("29-Nov-2026 12:14:31.5 w1", "2026-11-29T12:14:31.500+00:00", True),
        ("1795954471 w1", "2026-11-29T12:14:31+00:00", False),
        ("[1795954471.204] w1", "2026-11-29T12:14:31.204+00:00", False),
        ("1795954471204;w1", "2026-11-29T12:14:31.204+00:00", False),
    ],
)
def test_times_of_many_kinds(stamp: str, instant: str, naive: bool) -> None:
    """The first time in a line dates it; whether its zone is known is kept."""
    said = anything.parse(f"{stamp} something odd\n".encode(), dated=True).records
    assert said is not None

    assert dt.datetime.fromtimestamp(said["ts"][0] / 1e6, dt.UTC) == dt.datetime.fromisoformat(instant)
    assert said["naive"][0] is naive
    assert said["message"][0] == f"{stamp} something odd"


def test_a_log_of_ones_own(tmp_path: Path) -> None:
    """Signatures are found in it, tracebacks stay whole, and the report says that the format is not known."""
    evidence = read(
        tmp_path,
        f"### 2026-11-29 12:14:31 ERROR w1 {POOL}\nTraceback (most recent call last):\n  File x\n### 2026-11-29 12:14:32 w1 ok\n"
        * 3,
    )
    source = evidence.sources[0]

    assert source.transport == "text_dated"
    assert (source.records, source.lines.unparsed if source.lines else None) == (6, 0)
    assert evidence["hits"]["signature"].to_list() == ["sqlalchemy.queuepool-timeout"] * 3
    assert anything.DATED in source.limits


def test_known_lines_behind_times(tmp_path: Path) -> None:
    """A layout that puts a time before uvicorn's lines hides no request, nor does another line among them."""
    rows = [
        f'2026-11-29T12:14:{n:02}Z INFO: 192.0.2.4:5000 - "GET /items HTTP/1.1" {500 if n == 7 else 200} OK\n'
        + (f"2026-11-29T12:14:{n:02}Z ERROR shop: {POOL}\n" if n == 7 else "")
        for n in range(40)
    ]
    evidence = read(tmp_path, "".join(rows))
    source = evidence.sources[0]

    assert (source.transport, source.message_formats) == ("text_stamped", ("uvicorn_access",))
    assert (source.records, source.lines.unparsed if source.lines else None) == (41, 0)
    assert anything.BARE in source.limits
    assert evidence["routes"]["n"].sum() == 40
    assert evidence["failed"]["status"].to_list() == [500]
    assert evidence["hits"]["signature"].to_list() == [
        "http.server-error",
        "sqlalchemy.queuepool-timeout",
    ]


def test_times_before_lines_of_no_known_format_stay(tmp_path: Path) -> None:
    source = read(
        tmp_path, "2026-11-29T12:14:31Z job 81 failed\n2026-11-29T12:14:32Z job 82 done\n" * 9
    ).sources[0]

    assert source.transport == "text_dated"


def test_text_without_times(tmp_path: Path) -> None:
    """What has no time is read and counted, and placed nowhere."""
    evidence = read(tmp_path, f"worker started\n{POOL}\n  at x\n" * 3)
    source = evidence.sources[0]

    assert (source.transport, source.records, source.undated) == ("text_undated", 6, 6)
    assert anything.UNDATED in source.limits
    assert (source.first_us, source.last_us) == (None, None)
    (undated,) = pipeline.investigate([str(tmp_path)], Options()).facts[Failures].undated
    assert (undated.lines, undated.ref.line) == (3, 2)


def test_times_that_are_not_understood(tmp_path: Path) -> None:
    """A time of day without a date dates nothing, and the report says what would help."""
    source = read(tmp_path, "12:14:31 one\n12:14:32 two\n" * 5).sources[0]

    assert source.transport == "text_undated"
    assert anything.ODD in source.limits


def test_any_known_format_comes_first() -> None:
    """The last resort never competes: its score is below what any choice needs."""
    head = b"### 2026-11-29 12:14:31 one\n" * 9

    assert max(formats.all_transports()[name].sniff(head) for name in plan.LAST) < plan.ENOUGH


def test_a_document_is_no_log(tmp_path: Path) -> None:
    """JSON over many lines is not read as lines."""
    (tmp_path / "package.json").write_text('{\n  "name": "shop",\n  "version": "1.0.0"\n}\n')
    item = discover([str(tmp_path)])[0]

    assert plan.recognise(item, 0).skipped is not None


def test_a_health_record_without_its_numbers(tmp_path: Path) -> None:
    """A check without an exit code has no result, and an unknown streak is not called none."""
    (tmp_path / "health.json").write_text(
        '{"Status":"unhealthy","Log":[{"Start":"2026-11-29T12:00:00Z","End":"2026-11-29T12:00:01Z","ExitCode":null,"Output":""}]}'
    )

    evidence = pipeline.survey([str(tmp_path)], Options())

    assert evidence.sources[0].skipped is None
    assert evidence["beats"]["status"].to_list() == [None]
    assert evidence["alerts"]["text"].to_list() == ["unhealthy"]
