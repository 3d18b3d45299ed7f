"""``journal:`` as an input: the same entries as from the file, in bounded pieces, restricted by libsystemd."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from remote_journal import BOOT, START, WRITER, entry, write

from forensics.cli import main
from forensics.formats.transports import journal_file, journald_live
from forensics.model.errors import UnreadableError, UsageError
from forensics.sources import discovery, live
from forensics.sources.live_request import Request, Window, ledger, request

if TYPE_CHECKING:
    from collections.abc import Sequence

FIXTURES = Path(__file__).parents[2] / "fixtures" / "formats" / "journald"
LONG = b"long " * 40_000
"""More than libsystemd gives by default."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder of two journal files: 60 entries of three units, then 40 of the kernel and the manager."""
    pytest.importorskip("systemd._reader", reason="systemd-python (extra journald) is not here")
    if not WRITER.exists():
        pytest.skip("systemd-journal-remote is not here")
    first = [
        entry(
            number,
            [
                ("MESSAGE", b"request %d" % number),
                ("_SYSTEMD_UNIT", b"svc%d.service" % (number % 3)),
                ("_PID", b"7"),
            ],
        )
        for number in range(60)
    ]
    second = [
        entry(number, [("MESSAGE", b"kernel %d" % number), ("_TRANSPORT", b"kernel")])
        for number in range(60, 98)
    ]
    second += [
        entry(98, [("MESSAGE", b"svc1.service: Failed"), ("_PID", b"1"), ("UNIT", b"svc1.service")]),
        entry(99, [("MESSAGE", LONG), ("MESSAGE", b"second value"), ("_COMM", b"caf\xe9")]),
    ]
    (tmp_path / "j").mkdir()
    write(tmp_path / "j" / "a.journal", first)
    write(tmp_path / "j" / "b.journal", second)
    return tmp_path / "j"


def told(
    where: Path, *, size: int = live.FRAME_BYTES, book: Path | None = None, window: Window | None = None
) -> pl.DataFrame:
    """Return the records of a folder or file, with the number of their piece."""
    wanted = Request(str(where), window or Window())
    pieces = journald_live.parts(wanted, book or ledger(), size)
    return pl.concat(
        piece.records.with_columns(piece=pl.lit(number))
        for number, piece in enumerate(pieces)
        if piece.records is not None
    )


def messages(where: Path, **window: int | tuple[str, ...] | None) -> list[str]:
    """Return the messages inside a window."""
    return told(where, window=Window(**window))["message"].to_list()  # type: ignore[arg-type]


def run(args: Sequence[object]) -> int:
    """Run the command line; give its exit code."""
    with pytest.raises(SystemExit) as stop:
        main([str(arg) for arg in args])
    return int(stop.value.code or 0)


def test_records_are_those_of_the_file(folder: Path) -> None:
    """A journal file gives the same records whether libsystemd or our own reader reads it."""
    for path in sorted(folder.iterdir()):
        ours = journal_file.parse(path.read_bytes()).records

        assert ours is not None
        assert told(path).drop("piece").equals(ours)


def test_folder_is_read_in_order(folder: Path) -> None:
    """The files of a folder are one journal, whole values and all."""
    found = told(folder)

    assert found["message"].to_list()[:99] == [
        *(f"request {number}" for number in range(60)),
        *(f"kernel {number}" for number in range(60, 98)),
        "svc1.service: Failed",
    ]
    assert found["message"][99] in (LONG.decode(), "second value")
    assert found["ts"].to_list() == [START + number * 1_000_000 for number in range(100)]
    assert found["service"].unique().sort().to_list() == [
        "caf\N{REPLACEMENT CHARACTER}",
        "kernel",
        "svc0",
        "svc1",
        "svc2",
    ]
    assert found["boot"].unique().to_list() == [BOOT]


def test_raw_fields(folder: Path) -> None:
    """A frame has exact integers of microseconds, the boot and the cursor beside the wanted fields."""
    frame = next(
        live.frames(Request(str(folder / "a.journal")), ["_SYSTEMD_UNIT", "NO_SUCH_FIELD", "_BOOT_ID"])
    )

    assert frame.columns == [
        "ordinal", "__REALTIME_TIMESTAMP", "__MONOTONIC_TIMESTAMP", "_BOOT_ID", "__CURSOR", "_SYSTEMD_UNIT", "NO_SUCH_FIELD",
    ]  # fmt: skip
    assert frame.row(1)[:4] == (2, START + 1_000_000, 2_000_000, BOOT)
    assert frame["NO_SUCH_FIELD"].null_count() == 60


def test_pieces_are_bounded_and_read_again(folder: Path) -> None:
    """Small pieces say the same as one, and the ledger gives every entry again under its number through all of them."""
    book = ledger()
    whole, cut = told(folder), told(folder, size=2000, book=book)
    again = journald_live.parse(book.read_bytes()).records
    some = journald_live.parse(book.read_bytes(), [1, 17, 99]).records

    assert cut["piece"].n_unique() > 5
    assert cut["cursor"].equals(whole["cursor"])
    assert cut.filter(pl.col("piece") == 1)["line"][0] == 1
    assert again is not None
    assert some is not None
    assert again.select("line", "message", "ts", "cursor").equals(
        whole.select("line", "message", "ts", "cursor")
    )
    assert some.select("line", "cursor").rows() == [(at, whole["cursor"][at - 1]) for at in (1, 17, 99)]


def test_entries_vacuumed_meanwhile_are_left_out(folder: Path) -> None:
    """What is gone when it is read again is missing; what is left keeps its number."""
    book = ledger()
    whole = told(folder, size=2000, book=book)
    (folder / "a.journal").unlink()
    again = journald_live.parse(book.read_bytes()).records

    assert again is not None
    assert 30 < again.height <= 40
    assert again["cursor"].to_list() == [whole["cursor"][line - 1] for line in again["line"]]


def test_window_and_units_are_left_to_libsystemd(folder: Path) -> None:
    """An interval of receipt and units restrict what is read; a unit is wanted by whichever field names it."""
    assert messages(folder, since=START + 97_000_000)[:2] == ["kernel 97", "svc1.service: Failed"]
    assert messages(folder, until=START - live.LATE_US + 1_000_000) == ["request 0", "request 1"]
    assert messages(folder, units=("svc1",)) == [
        *(f"request {number}" for number in range(1, 60, 3)), "svc1.service: Failed",
    ]  # fmt: skip
    assert messages(folder, units=("svc0.service", "svc2"), since=START + 57_000_000) == [
        "request 57",
        "request 59",
    ]
    assert len(messages(folder, units=("kernel",))) == 38
    with pytest.raises(UnreadableError, match="no entries"):
        messages(folder, units=("nothing",))


def test_window_is_kept_when_read_again(folder: Path) -> None:
    """The ledger remembers what was asked."""
    book = ledger()
    found = told(folder, book=book, size=500, window=Window(since=START + 5_000_000, units=("svc1",)))
    again = journald_live.parse(book.read_bytes()).records

    assert again is not None
    assert again["cursor"].equals(found["cursor"])


def test_newest_entry(folder: Path) -> None:
    """A span of --since counts back from the newest entry of all live inputs; other inputs do not matter."""
    assert (
        live.latest([f"journal:{folder / 'a.journal'}", f"journal:{folder}", "other.log"])
        == START + 99_000_000
    )
    assert live.latest(["other.log"]) == 0


def test_commands(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The commands take the input and name it without its path; it has no lines and no hash."""
    assert run(["sources", f"journal:{folder}", "--format", "json"]) == 0
    source = json.loads(capsys.readouterr().out)[0]
    assert run(["daily", f"journal:{folder}", "--since", "1m"]) == 0

    assert "| none | 0 | 0 |" in capsys.readouterr().out
    assert (source["name"], source["transport"], source["records"]) == ("journal:j", "journald_live", 100)
    assert (source["sha256"], source["bytes"], source["lines"]) == (None, 0, None)


def test_options_are_left_to_libsystemd(folder: Path, tmp_path: Path) -> None:
    """A report reads of the live journal only what --since, --until and --unit leave; a span counts from its newest entry."""
    report = tmp_path / "report.json"
    counts = []
    for said in (["--since", "1m"], ["--unit", "svc1"], ["--until", "2026-11-29 12:14:00"]):
        run(["report", f"journal:{folder}", "--json", report, *said])
        counts.append(json.loads(report.read_text())["sources"][0]["records"])

    assert counts == [61, 21, 30]


def test_quotes(folder: Path, tmp_path: Path) -> None:
    """A report quotes the entries that it cites, as it does from the file itself, however small the pieces."""
    del folder
    path = tmp_path / "busy.journal"
    path.write_bytes(gzip.decompress((FIXTURES / "busy.journal.gz").read_bytes()))
    quoted = []
    for said in (f"journal:{path}", path):
        report = tmp_path / "report.json"
        assert run(["report", said, "--json", report, "--shard-size", "5000", "-o", tmp_path / "r.md"]) == 0
        assert str(tmp_path) not in report.read_text()
        quoted.append([(item["line"], item["text"]) for item in json.loads(report.read_text())["evidence"]])

    assert quoted[0]
    assert quoted[0] == quoted[1]


def test_truncated_file_is_listed_with_the_way_out(folder: Path) -> None:
    """Libsystemd refuses a file that our own reader salvages."""
    data = (folder / "a.journal").read_bytes()
    (folder / "a.journal").write_bytes(data[: len(data) // 2])

    with pytest.raises(UnreadableError, match="without journal:, which reads damaged ones too"):
        told(folder / "a.journal")


def test_missing_path(folder: Path) -> None:
    """A path that does not exist is a mistake of usage."""
    with pytest.raises(UsageError, match="no such file or folder"):
        request(f"journal:{folder}/missing")


def test_this_host(folder: Path) -> None:
    """The journal of this host can be asked, whether it has entries or none for this user."""
    del folder
    (item,) = discovery.discover(["journal:", "journal:"])

    assert (item.name, item.live) == ("journal:", Request())
    try:
        piece = next(journald_live.parts(Request(), item.path, 1))
    except UnreadableError as error:
        assert "systemd-journal" in error.remedy  # noqa: PT017 - either is right
    else:
        assert piece.in_records > 0


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """One line says how to get it."""
    monkeypatch.setitem(sys.modules, "systemd._reader", None)

    assert run(["report", "journal:"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "pip install 'incident-forensics[journald]'" in said
