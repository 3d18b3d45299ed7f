"""10,000 entries written as a journal and printed by journalctl in every mode give the same events, up to what each mode loses."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl
import pytest
from remote_journal import needs_writer, write

from forensics import formats, pipeline
from forensics.pipeline import Options

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    needs_writer,
    pytest.mark.skipif(shutil.which("journalctl") is None, reason="journalctl is not here"),
]

SIZE = 10_000
START_US = 1_795_954_471_000_000
BOOTS = ("a" * 31 + "1", "b" * 31 + "2", "c" * 31 + "3", "d" * 31 + "4")
SET_BACK_US = 3_000_000_000
UNITS = ("api", "worker", "gateway", "pgbouncer")
PRIORITIES = "34567"
LEVELS = {"3": "error", "4": "warning", "5": "info", "6": None, "7": "debug"}
HUGE = 60_000
SHORT_TAB = " " * 8


@dataclass(frozen=True)
class Entry:
    """One entry, and what it means."""

    at: int
    own: int | None
    unit: str
    priority: str
    message: bytes

    @property
    def said(self) -> str:
        """What was said, without colours."""
        text = self.message.decode("utf-8", "replace").removesuffix("\n")
        return re.sub("\x1b\\[[0-9;]*m", "", text)

    def shown(self, *, colours: bool) -> str:
        """Return what a text mode shows: no control characters; most leave colours out and write blanks for a tab."""
        bare = self.message if colours else re.sub(rb"\x1b\[[0-9;]*m", b"", self.message).rstrip(b"\r")
        try:
            text = bare.decode()
        except UnicodeDecodeError:
            return self.blob(self.message)
        if re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", text):
            return self.blob(self.message)
        return text if colours else text.replace("\t", SHORT_TAB)

    def blob(self, value: bytes) -> str:
        """Return what journalctl prints for bytes that are no text."""
        return f"[{len(value)}B blob data]"


def message(rng: random.Random, number: int) -> bytes:
    """Return a message: mostly a plain line, now and then what exports trip over."""
    plain = f"request {number} of {rng.choice(UNITS)} took {rng.randrange(2, 900)} ms"
    kinds = {
        7: f"Traceback (most recent call last):\n  File \"/app/db.py\", line {number}, in get\nKeyError: 'id {number}'",
        19: f"\x1b[32mINFO\x1b[0m  listening {number}",
        31: f"{plain}\tafter a tab",
        43: "olá, ünïcödé 🚀 " + plain,
        997: "x" * 5000 + str(number),
        4999: "y" * HUGE + str(number),
    }
    for step, text in kinds.items():
        if number % step == step - 1:
            return text.encode()
    if number % 61 == 60:
        return plain.encode() + b" \xff\xfe binary"
    if number % 83 == 82:
        return b"nul \x00 " + plain.encode()
    return plain.encode()


def made() -> list[Entry]:
    """Return the entries, by number."""
    rng = random.Random(20261129)  # noqa: S311 - a fixed sequence
    entries, at = [], START_US
    for number in range(SIZE):
        at += rng.randrange(10_000, 3_000_000)
        if number == 6_000:
            at -= SET_BACK_US
        own = at - rng.randrange(0, 5000) if number % 3 == 0 else None
        entries.append(Entry(at, own, rng.choice(UNITS), rng.choice(PRIORITIES), message(rng, number)))
    return entries


ENTRIES = made()


def exported(number: int, item: Entry) -> bytes:
    """Return an entry in export format, with a field that it holds twice."""
    boot = BOOTS[number * len(BOOTS) // SIZE]
    mono = (number % (SIZE // len(BOOTS)) + 1) * 1_500_000
    fields = {
        "_SYSTEMD_UNIT": f"{item.unit}.service",
        "SYSLOG_IDENTIFIER": f"{item.unit}-main",
        "_PID": str(100 + UNITS.index(item.unit)),
        "PRIORITY": item.priority,
        "_TRANSPORT": "journal",
        "_HOSTNAME": "web-1",
    }
    own = f"_SOURCE_REALTIME_TIMESTAMP={item.own}\n" if item.own else ""
    head = f"__REALTIME_TIMESTAMP={item.at}\n__MONOTONIC_TIMESTAMP={mono}\n_BOOT_ID={boot}\n{own}"
    body = "".join(f"{name}={value}\n" for name, value in fields.items()) + "TAG=one\nTAG=two\n"
    return (
        (head + body).encode()
        + b"MESSAGE\n"
        + len(item.message).to_bytes(8, "little")
        + item.message
        + b"\n\n"
    )


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the entries through systemd-journal-remote."""
    path = tmp_path_factory.mktemp("round-trip") / "made.journal"
    return write(path, [exported(number, item) for number, item in enumerate(ENTRIES)])


def printed(journal: Path, mode: str, *options: str) -> bytes:
    """Return what journalctl prints."""
    command = ["journalctl", "--file", str(journal), "--utc", "--no-pager", "-o", mode, *options]
    return subprocess.run(command, check=True, capture_output=True).stdout


@dataclass(frozen=True)
class Mode:
    """One way of printing, and what it loses."""

    transport: str
    precision_us: int | None = 1
    """Of the time; None: no time at all."""
    year: bool = True
    unit: bool = True
    level: bool = True
    text: bool = False
    """Messages are made printable."""
    colours: bool = False
    """A coloured message is shown as a blob."""
    options: tuple[str, ...] = ("--all",)


MODES = {
    "json": Mode("journald_json"),
    "json-pretty": Mode("journald_json_pretty"),
    "json-sse": Mode("journald_json_sse"),
    "json-seq": Mode("journald_json_seq"),
    "export": Mode("journald_export"),
    "verbose": Mode("journald_verbose", text=True, colours=True, options=()),
    "short": Mode("journald_short", 1_000_000, year=False, unit=False, level=False, text=True, options=()),
    "short-precise": Mode(
        "journald_short_precise", year=False, unit=False, level=False, text=True, options=()
    ),
    "short-iso": Mode("journald_short_iso", 1_000_000, unit=False, level=False, text=True, options=()),
    "short-iso-precise": Mode("journald_short_iso_precise", unit=False, level=False, text=True, options=()),
    "short-full": Mode("journald_short_full", 1_000_000, unit=False, level=False, text=True, options=()),
    "with-unit": Mode("journald_short_full", 1_000_000, level=False, text=True, options=()),
    "short-unix": Mode("journald_seconds", unit=False, level=False, text=True, options=()),
    "short-monotonic": Mode("journald_seconds", None, unit=False, level=False, text=True, options=()),
    "short-delta": Mode("journald_seconds", None, unit=False, level=False, text=True, options=()),
}
"""What each mode of journalctl 252 loses: the table that the test holds true."""


def expected(mode: Mode) -> list[tuple[int | None, str, str | None, str]]:
    """Return (time, service, level, message) of every entry as a mode tells it."""
    rows = []
    for item in ENTRIES:
        at = item.own or item.at
        step = mode.precision_us
        rows.append(
            (
                None if step is None else at - at % step,
                item.unit if mode.unit else f"{item.unit}-main",
                LEVELS[item.priority] if mode.level else None,
                item.shown(colours=mode.colours) if mode.text else item.said,
            )
        )
    return rows


def told(records: pl.DataFrame, *, year: bool) -> list[tuple[int | None, str, str | None, str]]:
    """Return the same of parsed records, their lines joined; a stamp without a year is moved into that of the entries."""
    starts = (~pl.col("cont").fill_null(value=False)).cum_sum()
    joined = records.group_by(starts.alias("entry"), maintain_order=True).agg(
        pl.col("ts", "service", "level").first(), pl.col("message").str.join("\n")
    )
    if not year:
        moved = pl.from_epoch("ts", time_unit="us")
        late = moved.dt.month() >= 11
        joined = joined.with_columns(
            ts=pl.when(late)
            .then(moved.dt.replace(year=2026))
            .otherwise(moved.dt.replace(year=2027))
            .dt.epoch("us")
        )
    return joined.select("ts", "service", "level", "message").rows()


@pytest.mark.parametrize("name", MODES)
def test_every_mode_tells_the_same_events(journal: Path, name: str) -> None:
    """Time, unit, level and message of all entries, up to the table."""
    mode = MODES[name]
    parsed = formats.all_transports()[mode.transport].parse(printed(journal, name, *mode.options))
    assert parsed.records is not None

    assert parsed.unparsed == 0
    assert told(parsed.records, year=mode.year) == expected(mode)


def test_the_file_itself_loses_nothing(journal: Path) -> None:
    """Our reader gives what was written."""
    parsed = formats.all_transports()["journal_file"].parse(journal.read_bytes())
    assert parsed.records is not None

    assert told(parsed.records, year=True) == expected(Mode("journal_file"))


def test_all_at_once_are_counted_once(journal: Path, tmp_path: Path) -> None:
    """A folder with the journal and its exports in every dated mode counts each line once, under its unit."""
    alone = pipeline.survey([str(journal)], Options())
    shutil.copy(journal, tmp_path / "made.journal")
    for name, mode in MODES.items():
        if mode.precision_us is not None:
            (tmp_path / f"{name}.log").write_bytes(printed(journal, name, *mode.options))
    together = pipeline.survey([str(tmp_path)], Options(tz="UTC"))
    counts = [
        dict(found["seconds"].group_by("service").agg(pl.col("n").sum()).sort("service").iter_rows())
        for found in (alone, together)
    ]

    assert set(counts[0]) == set(UNITS)
    assert counts[1] == counts[0]
    assert sum(source.copy_of is not None for source in together.sources) == len(together.sources) - 1
