"""What every transport, message format and monitor promises, checked for all of them at once."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import polars as pl
import pytest

from forensics import formats
from forensics.formats import definition, transports
from forensics.formats import messages as messages_
from forensics.ingest import plan
from forensics.ingest.understand import rows, understand
from forensics.model.errors import DefinitionError
from forensics.model.schema import RECORDS, conform
from forensics.sources.discovery import Input

if TYPE_CHECKING:
    from pathlib import Path

    from forensics.model.plug import MessageFormat, Monitor, Transport

TRANSPORTS = formats.all_transports()
MESSAGES = formats.all_messages()
MONITORS = formats.all_monitors()
TEXT = {name: plug for name, plug in TRANSPORTS.items() if plug.samples and not plug.declined}
LAST = frozenset({"text_dated", "text_stamped", "text_undated"})
"""Text of no known format: any line is one of theirs (tests/formats/test_anything.py)."""
TIMED = {name: plug for name, plug in TEXT.items() if name not in LAST | {"docker_ps", "kubectl_ages"}}
CUT = {name: plug for name, plug in TEXT.items() if plug.safe_cut is not None and name not in LAST}
"""Transports that are split at record starts; the others are streamed whole and have no lines of their own."""
DATED = {name: fmt for name, fmt in MESSAGES.items() if fmt.time}
LEVELLED = {name: fmt for name, fmt in MESSAGES.items() if fmt.levels and name != "python_logging"}
"""Formats each of whose lines states a level; Python's may stand behind the logger's name."""
TEXT_MONITORS = {name: plug for name, plug in MONITORS.items() if not plug.binary}
STATED_ELSEWHERE = frozenset({"journal_file", "uptime_kuma", "dmesg", "dmesg_json", "deployment_file"})
"""Binary formats, and those that state no instant or have no record, carry no text samples; their files are tested on their own."""

UNSTAMPED = frozenset({"pgbouncer_show"})
"""Formats that state no time by themselves: the file's name or \\watch does."""


def written(tmp_path: Path, name: str, data: bytes) -> Input:
    """Write bytes under a name that says nothing about their format."""
    path = tmp_path / name
    path.write_bytes(data)
    return Input(path, name)


def text(samples: tuple[str, ...]) -> bytes:
    """Return samples as the lines of a file."""
    return "".join(f"{sample.removesuffix(chr(10))}\n" for sample in samples).encode()


def messages(*texts: str) -> pl.DataFrame:
    """Return records that hold nothing but a message."""
    table = pl.DataFrame({"line": range(1, len(texts) + 1), "message": texts, "cont": [False] * len(texts)})
    return rows(conform(table, RECORDS), physical=True)


@pytest.mark.parametrize("path", definition.definitions(transports), ids=lambda path: path.stem)
def test_transports_of_the_house_are_proven(path: Path) -> None:
    """A run does not prove them again: this does, as it is done for a user's."""
    assert definition.transport(path).name == path.stem


@pytest.mark.parametrize("path", definition.definitions(messages_), ids=lambda path: path.stem)
def test_messages_of_the_house_are_proven(path: Path) -> None:
    """The same for what lines say."""
    assert definition.message_format(path).name == path.stem


@pytest.mark.parametrize("plug", TRANSPORTS.values(), ids=TRANSPORTS.keys())
class TestTransport:
    """The contract of every transport."""

    def test_name_and_words(self, plug: Transport) -> None:
        """A transport is named like its file and says what its time marks."""
        assert plug is TRANSPORTS[plug.name]
        assert plug.title
        assert plug.marks

    def test_carries_samples(self, plug: Transport) -> None:
        """Only a format that is binary or without instants has no text samples."""
        assert (plug.name in STATED_ELSEWHERE) == (not plug.samples)


@pytest.mark.parametrize("plug", TEXT.values(), ids=TEXT.keys())
class TestTextTransport:
    """The contract of transports whose samples are text."""

    def test_samples_parse(self, plug: Transport) -> None:
        """Every sample becomes a record of the promised shape, and its lines are accounted for."""
        data = text(plug.samples)
        parsed = plug.parse(data)

        assert parsed.records is not None
        assert dict(parsed.records.schema) == RECORDS
        assert parsed.records.height == len(plug.samples)
        assert plug.binary or data.count(b"\n") == parsed.in_records + parsed.blank
        assert parsed.unparsed == 0

    def test_samples_have_a_time(self, plug: Transport) -> None:
        """Every sample has a time that is naive only where its lines carry no zone."""
        if plug.name not in TIMED:
            return
        records = plug.parse(text(plug.samples)).records

        assert records is not None
        assert records["ts"].null_count() == 0
        assert records["naive"].unique().to_list() == [plug.zone == "none"]

    def test_samples_are_recognised(self, plug: Transport, tmp_path: Path) -> None:
        """A file of samples is recognised as this transport, without a tie."""
        found = plan.recognise(written(tmp_path, "x", text(plug.samples)), 0)

        assert found.format_name == plug.name, found.choice
        assert found.skipped is None

    def test_each_sample_is_recognised_alone(self, plug: Transport, tmp_path: Path) -> None:
        """A file of one record is recognised too."""
        found = [
            plan.recognise(written(tmp_path, f"x{i}", text((one,))), i).format_name
            for i, one in enumerate(plug.samples)
        ]

        assert found == [plug.name] * len(plug.samples)

    def test_samples_are_recognised_compressed(self, plug: Transport, tmp_path: Path) -> None:
        """The same file compressed by gzip is recognised whatever its name."""
        found = plan.recognise(written(tmp_path, "x", gzip.compress(text(plug.samples))), 0)

        assert found.format_name == plug.name

    def test_empty_input_gives_no_record(self, plug: Transport) -> None:
        """Nothing in, nothing out."""
        parsed = plug.parse(b"")

        assert parsed.records is not None
        assert (parsed.records.height, parsed.in_records, parsed.blank, parsed.unparsed) == (0, 0, 0, 0)


@pytest.mark.parametrize("plug", CUT.values(), ids=CUT.keys())
class TestLineTransport:
    """The contract of transports that are cut into shards."""

    def test_other_lines_are_unparsed(self, plug: Transport) -> None:
        """A line of no shape between samples is counted as unparsed with its place."""
        parsed = plug.parse(text((plug.samples[0], "\x01 no shape", plug.samples[0])))

        assert (parsed.in_records, parsed.blank, parsed.unparsed, parsed.first_unparsed) == (2, 0, 1, 2)

    def test_own_samples_begin_records(self, plug: Transport) -> None:
        """A shard may begin at each of a transport's samples."""
        assert plug.safe_cut is not None
        assert all(plug.safe_cut([], sample.encode()) for sample in plug.samples)


@pytest.mark.parametrize("fmt", MESSAGES.values(), ids=MESSAGES.keys())
class TestMessage:
    """The contract of every message format."""

    def test_has_samples(self, fmt: MessageFormat) -> None:
        """A format carries samples, a title, and a kind that rows may have."""
        assert fmt is MESSAGES[fmt.name]
        assert fmt.samples
        assert fmt.title
        assert fmt.kind in ("request", "log", "sample", "unit")

    def test_anchors_stand_in_samples(self, fmt: MessageFormat) -> None:
        """Every sample has one of the anchors, else the pattern never runs."""
        assert [one for one in fmt.samples if not any(anchor in one for anchor in fmt.anchors or ("",))] == []

    def test_samples_are_claimed_by_it_alone(self, fmt: MessageFormat) -> None:
        """Every sample becomes a row of this format and of its kind."""
        events = understand(messages(*fmt.samples), MESSAGES)

        assert events["format"].to_list() == [fmt.name] * len(fmt.samples)
        assert events["kind"].to_list() == [fmt.kind] * len(fmt.samples)

    def test_pattern_is_a_rust_regex(self, fmt: MessageFormat) -> None:
        """The pattern compiles in polars' engine and matches no empty line."""
        assert pl.Series([""]).str.contains(fmt.pattern).to_list() == [False]


@pytest.mark.parametrize("fmt", LEVELLED.values(), ids=LEVELLED.keys())
def test_levels_are_read(fmt: MessageFormat) -> None:
    """Every sample of a format with levels gets one of them."""
    events = understand(messages(*fmt.samples), MESSAGES)

    assert events["level"].null_count() == 0
    assert set(events["level"]) <= {"debug", "info", "warning", "error", "critical"}


@pytest.mark.parametrize("fmt", DATED.values(), ids=DATED.keys())
class TestDatedMessage:
    """The contract of message formats that carry a time of their own."""

    def test_bare_file_is_recognised_and_dated(self, fmt: MessageFormat, tmp_path: Path) -> None:
        """A bare file of samples is plain text dated by this format."""
        found = plan.recognise(written(tmp_path, "x", text(fmt.samples)), 0)
        assert found.format_name == "plain"
        assert found.first_format == fmt.name
        parsed = plan.plain_transport(fmt.name).parse(text(fmt.samples))
        assert parsed.records is not None
        assert parsed.records["ts"].null_count() == 0
        assert parsed.in_records == len(fmt.samples)


@pytest.mark.parametrize("plug", TEXT_MONITORS.values(), ids=TEXT_MONITORS.keys())
class TestMonitor:
    """The contract of every monitor."""

    def test_samples_parse(self, plug: Monitor, tmp_path: Path) -> None:
        """Every sample, alone, gives rows that have a time where its format states one, and its lines are accounted for."""
        for index, sample in enumerate(plug.samples):
            data = text((sample,))
            parsed = plug.parse(written(tmp_path, f"x{index}", data).path, {})
            tables = [table for table in (parsed.beats, parsed.samples, parsed.alerts) if table is not None]

            assert sum(table.height for table in tables) >= 1
            assert plug.name in UNSTAMPED or all(table["ts"].null_count() == 0 for table in tables)
            assert (parsed.in_records, parsed.blank, parsed.unparsed) == (data.count(b"\n"), 0, 0)

    def test_samples_are_recognised(self, plug: Monitor, tmp_path: Path) -> None:
        """A file of samples is recognised as this monitor, each alone; where a sample is one line, all together too."""
        whole = [] if any("\n" in one for one in plug.samples) else [plug.samples]
        files = [*whole, *[(one,) for one in plug.samples]]
        found = [
            plan.recognise(written(tmp_path, f"x{i}", text(one)), i).format_name
            for i, one in enumerate(files)
        ]

        assert found == [plug.name] * len(files)

    def test_words(self, plug: Monitor) -> None:
        """A monitor is named like its file and says what its time marks."""
        assert plug is MONITORS[plug.name]
        assert plug.title
        assert plug.marks


TRANSPORT = """
title = "test"
marks = "test"
pattern = '^(?P<time>\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ) (?P<message>.*)$'
time = "iso"
zone = "offset"
samples = ["2026-11-29T12:00:00Z hello"]
"""
MESSAGE = """
title = "test"
kind = "log"
pattern = '^(?P<level>[A-Z]+) (?P<message>.*)$'
samples = ["INFO hello"]
"""


@pytest.mark.parametrize(
    ("load", "good", "change", "said"),
    [
        (definition.transport, TRANSPORT, ('samples = ["2026-11-29T12:00:00Z hello"]', ""), "my.toml: lacks samples"),
        (definition.transport, TRANSPORT, ("T12:00:00Z hello", "T12:00:00 hello"), "my.toml: does not parse its own samples"),
        (definition.transport, TRANSPORT, ("-29T12", "-31T12"), "my.toml: does not parse its own samples"),
        (definition.transport, TRANSPORT, ("zone =", "zonee ="), "my.toml: unknown key 'zonee'; did you mean 'zone'?"),
        (definition.transport, TRANSPORT, ("title =", "title"), "my.toml: not valid TOML"),
        (definition.message_format, MESSAGE, ('samples = ["INFO hello"]', ""), "my.toml: lacks samples"),
        (definition.message_format, MESSAGE, ("INFO hello", "nothing"), "my.toml: does not match its own sample 'nothing'"),
        (definition.message_format, MESSAGE, ("kind =", "kinds ="), "my.toml: unknown key 'kinds'; did you mean 'kind'?"),
    ],
)  # fmt: skip
def test_bad_definition_is_refused(
    load, good: str, change: tuple[str, str], said: str, tmp_path: Path
) -> None:
    """A definition that is misspelt, incomplete or fails its own samples does not load and says where and why."""
    path = tmp_path / "my.toml"
    path.write_text(good)
    load(path)
    path.write_text(good.replace(*change))

    with pytest.raises(DefinitionError) as refused:
        load(path)

    assert str(refused.value).startswith(said)


@pytest.mark.parametrize(
    ("load", "good"),
    [(definition.transport, TRANSPORT), (definition.message_format, MESSAGE)],
    ids=["transport", "message"],
)
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("samples = [", 'samples = [] # ["'), "my.toml: "),
        (("(?P<message>", "(?=x)(?P<message>"), "my.toml: "),
    ],
    ids=["no-samples", "look-around"],
)
def test_empty_samples_and_foreign_regex_are_refused(
    load, good: str, change: tuple[str, str], said: str, tmp_path: Path
) -> None:
    """An empty list of samples and a pattern that Rust can't run are refused like a failing sample."""
    path = tmp_path / "my.toml"
    path.write_text(good.replace(*change))

    with pytest.raises(DefinitionError) as refused:
        load(path)

    assert str(refused.value).startswith(said)


def test_no_two_kinds_share_a_name() -> None:
    """A slug names one format, whatever its kind."""
    names = [*TRANSPORTS, *MESSAGES, *MONITORS]

    assert sorted(set(names)) == sorted(names)
