"""Every way in which journalctl prints a journal gives the same entries, up to what the mode leaves out."""

from __future__ import annotations

import datetime as dt
import gzip
import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from forensics import formats
from forensics.formats.text import MONTHS
from forensics.ingest import plan
from forensics.sources.discovery import Input

if TYPE_CHECKING:
    from forensics.model.plug import Parsed

FOLDER = Path(__file__).parents[2] / "fixtures" / "formats" / "journald"
EXPECTED: dict[str, dict[str, Any]] = tomllib.loads((FOLDER / "expected.toml").read_text(encoding="utf-8"))
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
WHOLE_SECONDS = (
    "short.",
    "short-all",
    "short-colors",
    "short-nofull",
    "short-de",
    "short-iso.",
    "short-full",
    "with-unit",
)
BOOT = "-- Boot bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb2 --"


def sample(name: str) -> bytes:
    """Return what journalctl wrote."""
    return gzip.decompress((FOLDER / f"{name}.gz").read_bytes())


def micros(moment: dt.datetime) -> int:
    """Return an instant in microseconds; a local time is taken as if it were UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)
    return (aware - EPOCH) // dt.timedelta(microseconds=1)


def parse(name: str, *lines: str) -> Parsed:
    """Parse lines as one transport."""
    return formats.all_transports()[name].parse("".join(f"{line}\n" for line in lines).encode())


def rows(parsed: Parsed) -> pl.DataFrame:
    """Return the records of a parse."""
    assert parsed.records is not None
    return parsed.records


def whole(records: pl.DataFrame) -> list[str | None]:
    """Return messages with their further lines."""
    starts = (~pl.col("cont").fill_null(value=False)).cum_sum()
    joined = records.group_by(starts.alias("entry"), maintain_order=True).agg(
        pl.when(pl.col("message").is_not_null().any()).then(pl.col("message").str.join("\n"))
    )
    return joined["message"].to_list()


def recognised(tmp_path: Path, *lines: str) -> str | None:
    """Return the transport that a file of lines is taken for."""
    path = tmp_path / "x"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return plan.recognise(Input(path, "x"), 0).format_name


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, said in EXPECTED.items()
        if name.startswith("synth.") and "first" in said and said["format"] != "plain"
    ],
)
def test_the_table_is_the_programs_own_account(name: str) -> None:
    """The instants of the table are those that journald wrote, cut to the mode's precision."""
    said = EXPECTED[name]
    entries = [json.loads(line) for line in sample("synth.json.txt").splitlines()]
    instants = [int(one.get("_SOURCE_REALTIME_TIMESTAMP", one["__REALTIME_TIMESTAMP"])) for one in entries]
    step = 1_000_000 if name.removeprefix("synth.").startswith(WHOLE_SECONDS) else 1
    shift = dt.timedelta(hours=int("Berlin" in name))
    moments = [EPOCH + dt.timedelta(microseconds=one - one % step) + shift for one in instants]
    if said["first"].tzinfo is None:
        moments = [moment.replace(year=2000) for moment in moments]

    assert len(entries) == said["records"] + said.get("joined", 0)
    assert (micros(said["first"]), micros(said["last"])) == (micros(min(moments)), micros(max(moments)))


@pytest.mark.parametrize("mode", ["json-pretty", "json-sse", "json-seq"])
def test_json_modes_say_the_same(mode: str) -> None:
    """All JSON modes give the entries of ``-o json``, field by field."""
    same = ["ts", "service", "pid", "stream", "level", "cursor", "boot"]
    plain = rows(formats.all_transports()["journald_json"].parse(sample("synth.json.txt")))
    other = rows(
        formats.all_transports()[EXPECTED[f"synth.{mode}.txt"]["format"]].parse(sample(f"synth.{mode}.txt"))
    )
    starts = other.filter(~pl.col("cont").fill_null(value=False))

    assert starts.select(same).sort("cursor").equals(plain.select(same).sort("cursor"))
    assert whole(other) == plain["message"].to_list()


def test_verbose_says_the_same_as_export() -> None:
    """Fields, times and multi-line messages agree; binary values are what journalctl left of them."""
    same = ["ts", "service", "pid", "stream", "level", "cursor", "boot"]
    export = rows(formats.all_transports()["journald_export"].parse(sample("synth.export.txt")))
    verbose = rows(formats.all_transports()["journald_verbose"].parse(sample("synth.verbose.txt")))
    starts = verbose.filter(~pl.col("cont").fill_null(value=False))
    pairs = zip(whole(verbose), export["message"].to_list(), strict=True)

    assert starts.select(same).equals(export.select(same))
    assert [pair for pair in pairs if pair[0] != pair[1] and "blob data]" not in str(pair[0])] == []
    assert verbose["line"].to_list()[2:6] == [27, 40, 41, 42]


@pytest.mark.parametrize(
    "mode",
    [
        "short",
        "short-precise",
        "short-full",
        "with-unit",
        "short-unix",
        "short-monotonic",
        "short-delta",
        "short-colors",
    ],
)
def test_text_modes_hold_the_same_messages(mode: str) -> None:
    """Every text mode gives the messages of short-iso; no mark between boots becomes part of one."""
    name = f"synth.{mode}.txt"
    iso = rows(formats.all_transports()["journald_short_iso"].parse(sample("synth.short-iso.txt")))
    other = rows(formats.all_transports()[EXPECTED[name]["format"]].parse(sample(name)))

    assert other["message"].to_list() == iso["message"].to_list()
    assert other["cont"].to_list() == iso["cont"].to_list()
    assert not other["message"].str.contains("-- Boot").any()


def test_colour_is_the_level() -> None:
    """Colours that journalctl kept say what PRIORITY said; 6 has none."""
    said = rows(formats.all_transports()["journald_short"].parse(sample("synth.short-colors.txt")))
    starts = said.filter(~pl.col("cont").fill_null(value=False))
    exported = rows(formats.all_transports()["journald_json"].parse(sample("synth.json.txt")))
    expected = ["error" if level == "critical" else level for level in exported["level"]]

    assert starts["level"].to_list() == expected
    assert said["level"].to_list()[2:6] == ["error"] * 4


def test_reversed_order_gives_the_same_events() -> None:
    """``-r`` turns the order of entries, not that of a message's lines."""
    lines = [
        "2026-12-31T23:58:00+0000 web-1 a[1]: one",
        f"{' ' * 33}  two",
        "2026-12-31T23:58:01+0000 web-1 a[1]: three",
    ]
    order = ["ts", "message"]
    forward, back = (rows(parse("journald_short_iso", *text)) for text in (lines, [lines[2], *lines[:2]]))

    assert back.select(order).sort(order).equals(forward.select(order).sort(order))


@pytest.mark.parametrize(
    "mark",
    [BOOT, "-- Reboot --", "-- No entries --", "-- Journal begins at Mon 2026-11-23 09:00:00 UTC, ends at Mon 2026-11-30 10:00:00 UTC. --",
     "-- Logs begin at Mon 2026-11-23 09:00:00 UTC, end at Mon 2026-11-30 10:00:00 UTC. --", "-- cursor: s=92c38a71;i=1;b=aa;m=1d;t=66;x=83", f"\x1b[0;1;39m{BOOT}\x1b[0m"],
)  # fmt: skip
@pytest.mark.parametrize(
    "name", ["journald_short_iso", "journald_short_full", "journald_seconds", "journald_verbose"]
)
def test_marks_are_no_part_of_a_message(name: str, mark: str) -> None:
    """A mark is a line that is accounted for and changes nothing."""
    plug = formats.all_transports()[name]
    parsed = parse(name, mark, plug.samples[0], mark, plug.samples[-1], mark)
    bare = parse(name, plug.samples[0], plug.samples[-1])

    assert rows(parsed)["message"].to_list() == rows(bare)["message"].to_list()
    assert (parsed.in_records, parsed.blank, parsed.unparsed) == (bare.in_records + 3, 0, 0)


def test_no_entries_is_said(tmp_path: Path) -> None:
    """An export of nothing is read and named as such."""
    parsed = parse("journald_verbose", "-- No entries --")

    assert recognised(tmp_path, "-- No entries --") == "journald_verbose"
    assert (rows(parsed).height, parsed.in_records, parsed.unparsed) == (0, 1, 0)
    assert "no entries" in parsed.notes[0]


@pytest.mark.parametrize(
    ("zone", "naive", "hour"),
    [("UTC", False, 12), ("+0545", False, 6), ("-03", False, 15), ("CET", False, 11), ("EST", False, 17), ("IST", True, 12), ("CST", True, 12)],
)  # fmt: skip
def test_only_a_zone_of_one_meaning_is_stated(zone: str, naive: bool, hour: int) -> None:
    """An abbreviation that stands for several offsets leaves its stamps local times."""
    records = rows(parse("journald_short_full", f"Sun 2026-11-29 12:15:00 {zone} web-1 a[1]: x"))
    moment = EPOCH + dt.timedelta(microseconds=records["ts"][0])

    assert records["naive"].to_list() == [naive]
    assert (moment.hour, moment.minute) == (hour, 30 if zone == "+0545" else 15)


@pytest.mark.parametrize(
    ("stamp", "month"),
    [("janv. 01", 1), ("févr. 03", 2), ("Mär 01", 3), ("мая 09", 5), (" 1月 01", 1), ("12月 31", 12), ("Dez 31", 12), ("Nov 29", 11), ("août 15", 8)],
)  # fmt: skip
@pytest.mark.parametrize(
    ("fraction", "name"), [("", "journald_short"), (".123456", "journald_short_precise")]
)
def test_localised_months(stamp: str, month: int, fraction: str, name: str, tmp_path: Path) -> None:
    """Month names of the host's language are read, alone and beside English ones."""
    line = f"{stamp} 12:14:31{fraction} web-1 gdm-password][81]: x"
    records = rows(parse(name, line, f"Jan 02 00:00:00{fraction} web-1 a[1]: y"))

    assert recognised(tmp_path, line) == name
    assert (EPOCH + dt.timedelta(microseconds=records["ts"][0])).month == month
    assert records["service"].to_list() == ["gdm-password]", "a"]
    assert records["ts"].null_count() == 0


def test_no_month_has_two_meanings() -> None:
    """No name stands for two months."""
    names = [name for month in MONTHS for name in set(month)]

    assert sorted(set(names)) == sorted(names)


def test_without_host_names(tmp_path: Path) -> None:
    """The process is not taken for a host, nor the unit that a message names for a process."""
    line = "Nov 29 12:14:31 systemd[1]: api.service: Failed with result 'exit-code'."

    assert recognised(tmp_path, line) == "journald_no_hostname"
    records = rows(parse("journald_no_hostname", line))
    assert records.select("service", "pid", "message").row(0) == (
        "systemd",
        "1",
        "api.service: Failed with result 'exit-code'.",
    )


def test_systemctl_status(tmp_path: Path) -> None:
    """The properties of a unit are no messages; a rotated journal is a limit."""
    lines = [
        "● api.service - API",
        "     Loaded: loaded (/etc/systemd/system/api.service; enabled)",
        "     Active: active (running) since Sun 2026-11-29 12:00:00 UTC; 1h ago",
        "     CGroup: /system.slice/api.service",
        "             └─812 uvicorn",
        "",
        "Nov 29 12:14:31 web-1 uvicorn[812]: one",
        "Nov 29 12:14:32 web-1 uvicorn[812]: two…",
        "Notice: journal has been rotated since unit was started, output may be incomplete.",
    ]
    parsed = parse("journald_short", *lines)

    assert recognised(tmp_path, *lines) == "journald_short"
    assert rows(parsed)["message"].to_list() == ["one", "two…"]
    assert (parsed.in_records, parsed.blank, parsed.unparsed) == (8, 1, 0)
    assert "rotated" in parsed.notes[0]


def entry(number: int, **fields: object) -> dict[str, object]:
    """Return an entry as JSON has it."""
    return {
        "__REALTIME_TIMESTAMP": str(1_798_761_480_000_000 + number),
        "__CURSOR": f"s=1;i={number}",
        "_PID": "8",
        **fields,
    }


def split_entries() -> list[dict[str, object]]:
    """Return a long line in three parts with another stream's line among them."""
    part = {"_STREAM_ID": "a", "_LINE_BREAK": "line-max"}
    return [
        entry(1, MESSAGE="one ", **part), entry(2, MESSAGE="other", _STREAM_ID="b"), entry(3, MESSAGE="two ", **part),
        entry(4, MESSAGE="three", _STREAM_ID="a"), entry(5, MESSAGE="next", _STREAM_ID="a"),
    ]  # fmt: skip


def as_export(one: dict[str, object]) -> str:
    """Return an entry as ``-o export`` writes it."""
    return "".join(f"{name}={value}\n" for name, value in one.items())


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("journald_json", json.dumps),
        ("journald_json_sse", lambda one: f"data: {json.dumps(one)}\n"),
        ("journald_json_seq", lambda one: f"\x1e{json.dumps(one)}"),
        ("journald_json_pretty", lambda one: json.dumps(one, indent="\t", separators=(",", " : "))),
        ("journald_export", as_export),
    ],
)
def test_split_lines_are_joined(name: str, write) -> None:
    """The parts of a line over 48 KiB become one record with the first part's time, and every line counts."""
    text = [write(one) for one in split_entries()]
    parsed = parse(name, *text)
    records = rows(parsed)

    assert records["message"].to_list() == ["one two three", "other", "next"]
    assert records["ts"].to_list() == [1_798_761_480_000_000 + number for number in (1, 2, 5)]
    assert parsed.in_records + parsed.blank == sum(one.count("\n") + 1 for one in text)


def test_fields_that_an_entry_holds_twice() -> None:
    """All of a message is kept, and the first name of the process; text that looks like a list stays what it is."""
    several = [
        entry(1, MESSAGE=["a", "b"], SYSLOG_IDENTIFIER=["one", "two"]), entry(2, MESSAGE='["a", "b"]', SYSLOG_IDENTIFIER="one"),
        entry(3, MESSAGE=[[111, 107], "b"], SYSLOG_IDENTIFIER="one"), entry(4, MESSAGE=[None, "b"], SYSLOG_IDENTIFIER="one"),
    ]  # fmt: skip
    records = rows(parse("journald_json", *map(json.dumps, several)))

    assert records["message"].to_list() == ["a\nb", '["a", "b"]', "ok\nb", "b"]
    assert set(records["service"]) == {"one"}


def test_a_traceback_in_a_field_of_its_own() -> None:
    """Python's journal handler sends it so; it is part of the record unless the message has it already."""
    trace = "Traceback (most recent call last):\n  File x\nValueError: y"
    lines = [
        json.dumps(entry(1, MESSAGE="boom", EXCEPTION_TEXT=trace)),
        json.dumps(entry(2, MESSAGE=f"boom\n{trace}", EXCEPTION_TEXT=trace)),
        json.dumps(entry(3, MESSAGE="quiet")),
    ]

    assert rows(parse("journald_json", *lines))["message"].to_list() == [
        f"boom\n{trace}",
        f"boom\n{trace}",
        "quiet",
    ]


def test_coloured_json_is_read() -> None:
    """Colours that wrap keys and values are taken off before the JSON is read."""
    line = '{"\x1b[0;32m__REALTIME_TIMESTAMP\x1b[0m":"\x1b[0;1;39m1798761480000000\x1b[0m","\x1b[0;32mMESSAGE\x1b[0m":"x"}'
    parsed = parse("journald_json", line)

    assert formats.all_transports()["journald_json"].sniff(line.encode()) == 1.0
    assert rows(parsed).select("ts", "message").row(0) == (1_798_761_480_000_000, "x")


def test_a_cut_object_is_counted() -> None:
    """An object that is cut off is unparsed with all its lines; the others are read."""
    text = formats.all_transports()["journald_json_pretty"].samples[0]
    parsed = parse("journald_json_pretty", text, *text.split("\n")[:3])

    assert rows(parsed).height == 1
    assert (parsed.in_records, parsed.unparsed, parsed.first_unparsed) == (6, 3, 7)


@pytest.mark.parametrize(
    "lines",
    [
        ["[    0.000000] Linux version 6.1.0-28-amd64", "[    1.5] usb 1-1: new high-speed USB device", "[    2.000000] systemd[1]: Detected virtualization kvm."],
        sample("synth.cat.txt").decode("utf-8", "replace").splitlines(),
    ],
    ids=["dmesg", "cat"],
)  # fmt: skip
def test_text_without_a_time_is_not_claimed(lines: list[str], tmp_path: Path) -> None:
    """The kernel's ring buffer and ``-o cat`` hold nothing that dates a line, and are not taken for an export."""
    assert not str(recognised(tmp_path, *lines)).startswith("journald")


def as_json(**fields: object) -> str:
    """Return one entry as ``journalctl -o json`` writes it."""
    return json.dumps({"__REALTIME_TIMESTAMP": "1798761480000000", "__CURSOR": "s=1;i=1", **fields})


def test_a_text_that_looks_like_bytes_stays_a_text() -> None:
    """Only an array in the object itself is an array of bytes."""
    lines = (
        as_json(MESSAGE="[104, 105]"),
        as_json(MESSAGE=[104, 105]),
        as_json(MESSAGE='said "MESSAGE":[1] and', _PID="1"),
        as_json(MESSAGE="[104]", X='"MESSAGE":['),
    )

    assert rows(parse("journald_json", *lines))["message"].to_list() == [
        "[104, 105]",
        "hi",
        'said "MESSAGE":[1] and',
        "[104]",
    ]


@pytest.mark.parametrize("whose", [{}, {"CONTAINER_PARTIAL_ID": "f" * 64}])
def test_chunks_of_a_container_line_are_joined(whose: dict[str, str]) -> None:
    """Per container and stream; with the engine's id for a line, only what carries it."""
    web = {"CONTAINER_NAME": "web-1", "PRIORITY": "6"}
    part = {"CONTAINER_PARTIAL_MESSAGE": "true"}
    lines = (
        as_json(MESSAGE="begin ", **web, **part, **whose),
        as_json(MESSAGE="another", CONTAINER_NAME="db-1", PRIORITY="6"),
        as_json(MESSAGE="on stderr", CONTAINER_NAME="web-1", PRIORITY="3"),
        as_json(MESSAGE="middle ", **web, **part, **whose),
        as_json(MESSAGE="end", **web, **whose),
        as_json(MESSAGE="next", **web),
    )
    records = rows(parse("journald_json", *lines))

    assert records["message"].to_list() == ["begin middle end", "another", "on stderr", "next"]
    assert records["line"].to_list() == [1, 2, 3, 6]
    assert records["parts"].to_list()[0] == 3


def test_the_numbers_of_an_entry_are_those_of_its_cursor() -> None:
    """Sequence number, numbering, and both clocks, whichever way it was exported."""
    names = ["seq_id", "seq", "mono_us", "receipt_us", "boot"]
    exported = rows(parse_bytes("journald_export", sample("synth.export.txt"))).select(names)
    by_json = rows(parse_bytes("journald_json", sample("synth.json.txt"))).select(names)
    by_verbose = rows(parse_bytes("journald_verbose", sample("synth.verbose.txt")))
    by_file = rows(parse_bytes("journal_file", sample("synth.journal"))).select(names)

    assert by_json["seq"].to_list() == list(range(1, 17))
    assert exported.equals(by_json.filter(pl.col("seq") != 6))
    assert by_file.equals(exported)
    assert by_verbose.filter(~pl.col("cont").fill_null(value=False)).select(names).equals(exported)


def parse_bytes(name: str, data: bytes) -> Parsed:
    """Parse the bytes of a file as one transport."""
    return formats.all_transports()[name].parse(data)
