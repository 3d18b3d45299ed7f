"""Reading journal files: against journalctl where it is, and against files written here byte by byte."""

from __future__ import annotations

import gzip
import lzma
import mmap
import shutil
import struct
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import lz4.block
import numpy as np
import polars as pl
import pytest
import zstandard

from forensics.model.errors import UnreadableError
from forensics.sources.journal import Journal, Opened, numbers, read, reader
from forensics.sources.journal.columns import hexadecimal, template_column
from forensics.sources.journal.hashes import jenkins, siphash

if TYPE_CHECKING:
    from collections.abc import Sequence

FIXTURES = Path(__file__).parents[2] / "fixtures"
SAMPLES = [
    *sorted((FIXTURES / "formats" / "journald").glob("*.journal.gz")),
    *sorted((FIXTURES / "incidents").glob("*/inputs/*.journal.gz")),
]
SOURCE = "_SOURCE_REALTIME_TIMESTAMP"
FIELDS = ("MESSAGE", "PRIORITY", "_SYSTEMD_UNIT", "SYSLOG_IDENTIFIER", "_PID", "_COMM", "_HOSTNAME", SOURCE)
STAMPS = ("__CURSOR", "__REALTIME_TIMESTAMP", "__MONOTONIC_TIMESTAMP", "_BOOT_ID")
XZ, LZ4, KEYED, ZSTD, COMPACT = 1, 2, 4, 8, 16


def parse_export(data: bytes) -> list[dict[str, str]]:
    """Entries of a journal export, the first value of each field."""
    entries: list[dict[str, str]] = []
    entry: dict[str, str] = {}
    at = 0
    while at < len(data):
        end = data.index(b"\n", at)
        name, equals, value = data[at:end].partition(b"=")
        at = end + 1
        if name and not equals:
            size = int.from_bytes(data[at : at + 8], "little")
            value = data[at + 8 : at + 8 + size]
            at += 9 + size
        if name:
            entry.setdefault(name.decode(), value.decode(errors="replace"))
        elif entry:
            entries.append(entry)
            entry = {}
    return [*entries, entry] if entry else entries


def exported(path: Path) -> list[dict[str, str]]:
    """What journalctl says is in the file, in the order of sequence numbers."""
    command = ["journalctl", "--file", str(path), "-o", "export", "--all"]
    entries = parse_export(subprocess.run(command, capture_output=True, check=True).stdout)
    return sorted(entries, key=lambda entry: int("0x" + entry["__CURSOR"].split(";")[1][2:], base=0))


def same_as_journalctl(path: Path) -> Journal:
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        data = bytes(mapped)
    journal = read(data, FIELDS)
    entries = exported(path)
    assert journal.frame.height == len(entries)
    for column in (*STAMPS, *FIELDS):
        ours = journal.frame[column].cast(pl.String).to_list()
        assert ours == [entry.get(column) for entry in entries], column
    return journal


@pytest.mark.skipif(shutil.which("journalctl") is None, reason="journalctl is not here")
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_same_as_journalctl(sample: Path, tmp_path: Path) -> None:
    path = tmp_path / "sample.journal"
    path.write_bytes(gzip.decompress(sample.read_bytes()))
    assert same_as_journalctl(path).notes == ()


def pad(data: bytes) -> bytes:
    return data + bytes(-len(data) % 8)


class Writer:
    """A journal file made by hand: as many entries as given, one entry array for each eight."""

    file_id = bytes(range(16))
    boot_id = bytes(range(16, 32))

    def __init__(self, flags: int, coding: int = 0) -> None:
        self.flags, self.coding = flags, coding
        self.body = bytearray()
        self.table = self.put(4, bytes(16 * 8)) + 16
        self.fields = self.put(5, bytes(16 * 8)) + 16
        self.data: dict[bytes, int] = {}
        self.entries: list[int] = []

    def put(self, kind: int, payload: bytes, coding: int = 0) -> int:
        """Append an object; give its byte offset."""
        offset = 272 + len(self.body)
        self.body += pad(struct.pack("<BB6xQ", kind, coding, 16 + len(payload)) + payload)
        return offset

    def hashes(self, payload: bytes) -> tuple[int, int]:
        """Give the Jenkins hash, and the one the file uses."""
        words = np.frombuffer(pad(payload), "<u8")
        zero, length = np.zeros(1, np.int64), np.array([len(payload)])
        plain = int(jenkins(words.view("<u4"), zero, length)[0])
        return plain, int(siphash(words, self.file_id, zero, length)[0]) if self.flags & KEYED else plain

    def datum(self, payload: bytes) -> int:
        """Append a DATA object once per payload; give its byte offset."""
        if payload not in self.data:
            coding = self.coding if len(payload) >= 512 else 0
            stored = {
                0: lambda: payload,
                1: lambda: lzma.compress(payload, lzma.FORMAT_XZ, lzma.CHECK_NONE),
                2: lambda: struct.pack("<Q", len(payload)) + lz4.block.compress(payload, store_size=False),
                4: lambda: zstandard.ZstdCompressor().compress(payload),
            }[coding]()
            head = struct.pack("<6Q", self.hashes(payload)[1], 0, 0, 0, 0, 1)
            self.data[payload] = self.put(1, head + bytes(8 if self.flags & COMPACT else 0) + stored, coding)
        return self.data[payload]

    def entry(self, payloads: Sequence[bytes], seqnum: int, realtime: int, monotonic: int) -> None:
        """Append an entry of ``NAME=value`` payloads."""
        xor = 0
        items = []
        for payload in payloads:
            xor ^= self.hashes(payload)[0]
            items.append((self.datum(payload), self.hashes(payload)[1]))
        if self.flags & COMPACT:
            tail = b"".join(struct.pack("<I", offset) for offset, _ in dict.fromkeys(items))
        else:
            tail = b"".join(struct.pack("<QQ", *item) for item in dict.fromkeys(items))
        head = struct.pack("<3Q16sQ", seqnum, realtime, monotonic, self.boot_id, xor)
        self.entries.append(self.put(3, head + tail))
        for offset, _ in items:
            self.body[offset - 272 + 40 : offset - 272 + 48] = struct.pack("<Q", self.entries[-1])

    def file(self, state: int = 2) -> bytes:
        """Give the whole file, with its entry arrays."""
        groups = [self.entries[at : at + 8] for at in range(0, len(self.entries), 8)]
        form, size = ("<I", 4) if self.flags & COMPACT else ("<Q", 8)
        first = following = 272 + len(self.body)
        for group in groups:
            following += len(pad(bytes(24 + 8 * size)))
            links = b"".join(struct.pack(form, offset) for offset in group) + bytes(size * (8 - len(group)))
            self.put(6, struct.pack("<Q", following if group is not groups[-1] else 0) + links)
        times = [struct.unpack_from("<3Q", self.body, offset - 272 + 16) for offset in self.entries]
        head = struct.pack("<8sIIB7x16s16s16s16s", b"LPKSHHRH", 0, self.flags, state, self.file_id, bytes(16), self.boot_id, self.file_id)  # fmt: skip
        head += struct.pack("<8Q", 272, len(self.body), self.table, 128, self.fields, 128, following, 0)
        head += struct.pack("<4Q", len(times), times[-1][0], times[0][0], first)
        head += struct.pack("<3Q", times[0][1], times[-1][1], times[-1][2])
        return head.ljust(272, b"\0") + bytes(self.body)


CODINGS = [
    (flags | extra | flag, coding)
    for flags in (0, KEYED)
    for extra in (0, COMPACT)
    for flag, coding in ((0, 0), (XZ, 1), (LZ4, 2), (ZSTD, 4))
]


def written(flags: int, coding: int) -> tuple[bytes, list[str]]:
    """A file of 20 entries, and their messages."""
    writer = Writer(flags, coding)
    messages = [f"message {number} " + "long é\n" * (number % 3 * 100) for number in range(20)]
    for number, message in enumerate(messages):
        payloads = [b"MESSAGE=" + message.encode(), b"PRIORITY=%d" % (number % 2), b"_HOSTNAME=web"]
        writer.entry(payloads, 7 + number * 2, 1_700_000_000_000_000 + number, number + 1)
    return writer.file(), messages


@pytest.mark.parametrize(("flags", "coding"), CODINGS)
def test_every_layout_and_compression(flags: int, coding: int) -> None:
    data, messages = written(flags, coding)
    journal = read(data, ("MESSAGE", "PRIORITY", "UNIT"))
    assert journal.notes == ()
    assert journal.frame["MESSAGE"].to_list() == messages
    assert journal.frame["PRIORITY"].to_list() == ["0", "1"] * 10
    assert journal.frame["UNIT"].null_count() == 20
    assert journal.frame["__SEQNUM"].to_list() == list(range(7, 47, 2))
    assert journal.frame["ordinal"].to_list() == list(range(1, 21))
    assert journal.header.state == "archived"
    assert (journal.header.compact, journal.header.keyed) == (bool(flags & COMPACT), bool(flags & KEYED))


@pytest.mark.skipif(shutil.which("journalctl") is None, reason="journalctl is not here")
@pytest.mark.parametrize(("flags", "coding"), CODINGS)
def test_files_written_here_are_journals(flags: int, coding: int, tmp_path: Path) -> None:
    path = tmp_path / "written.journal"
    path.write_bytes(written(flags, coding)[0])
    same_as_journalctl(path)


def test_unknown_feature_is_refused_with_the_remedy() -> None:
    data, _ = written(0, 0)
    with pytest.raises(UnreadableError, match="incompatible feature") as caught:
        read(data[:12] + struct.pack("<I", 32) + data[16:], ["MESSAGE"])
    assert "journalctl --file FILE -o json" in caught.value.remedy


def test_other_files_are_refused() -> None:
    for data in (b"", b"LPKSHHR", b"{}" * 500):
        with pytest.raises(UnreadableError):
            read(data, ["MESSAGE"])


def test_first_of_several_values_and_the_same_value_twice() -> None:
    writer = Writer(KEYED | COMPACT)
    writer.entry([b"MESSAGE=one", b"MESSAGE=two", b"A=same", b"A=same", b"AB=x", b"A"], 1, 1 << 50, 1)
    frame = read(writer.file(), ("MESSAGE", "A", "AB", "MESSAGE", "__CURSOR")).frame
    assert frame.select("MESSAGE", "A", "AB").rows() == [("one", "same", "x")]


@pytest.mark.parametrize("length", range(15))
def test_values_of_every_length_at_every_alignment(length: int) -> None:
    writer = Writer(COMPACT)
    names = ["N" * size for size in range(1, 19)]
    writer.entry([f"{name}=".encode() + b"0123456789abcdef"[:length] for name in names], 1, 1 << 50, 1)
    row = read(writer.file(), names).frame.row(0, named=True)
    assert {row[name] for name in names} == {"0123456789abcdef"[:length]}


def test_invalid_utf8_becomes_replacement_characters() -> None:
    writer = Writer(0)
    values = [b"plain", b"\xff", b"caf\xe9 au lait, longer than twelve", "é".encode(), b"a\0b"] * 30
    for number, value in enumerate(values):
        writer.entry([b"MESSAGE=" + value], number + 1, (1 << 50) + number, number + 1)
    frame = read(writer.file(), ["MESSAGE"]).frame
    assert frame["MESSAGE"].to_list() == [value.decode(errors="replace") for value in values]


def test_damaged_compressed_value_is_null_and_counted() -> None:
    data, messages = written(KEYED | COMPACT | ZSTD, 4)
    at = data.index(b"\x28\xb5\x2f\xfd") + 2
    damaged = read(data[:at] + b"\0" + data[at + 1 :], ["MESSAGE"])
    assert damaged.frame["MESSAGE"].null_count() == 1
    assert damaged.frame.height == len(messages)
    assert any("1 entries lack" in note for note in damaged.notes)


def test_online_file_is_noted() -> None:
    writer = Writer(KEYED)
    writer.entry([b"MESSAGE=x"], 1, 1 << 50, 1)
    journal = read(writer.file(state=1), ["MESSAGE"])
    assert journal.header.state == "online"
    assert journal.frame.height == 1
    assert len(journal.notes) == 1


def test_frame_outlives_the_data() -> None:
    data, messages = written(COMPACT | ZSTD, 4)
    frame = read(bytearray(data), ["MESSAGE"]).frame.filter(pl.col("ordinal") > 3)
    del data
    assert frame["MESSAGE"].to_list() == messages[3:]


def test_parts_say_what_the_whole_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Frames of three entries at a time are the frame of all, cut, and count from 1 each."""
    monkeypatch.setattr(reader, "PART", 3)
    data, messages = written(COMPACT | ZSTD, 4)
    whole = read(data, ["MESSAGE"]).frame
    parts = [part.frame for part in Opened(data, ["MESSAGE"]).parts()]

    assert [part.height for part in parts] == [3] * 6 + [2]
    assert pl.concat(parts).drop("ordinal").equals(whole.drop("ordinal"))
    assert parts[1]["ordinal"].to_list() == [1, 2, 3]
    assert pl.concat(parts)["MESSAGE"].to_list() == messages


def test_numbers_are_those_of_the_entries() -> None:
    data, _ = written(KEYED, 0)

    assert numbers(data).tolist() == read(data, ["MESSAGE"]).frame["__SEQNUM"].to_list()


def test_hexadecimal_text() -> None:
    numbers = [0, 1, 15, 16, 255, 256, 2**32 - 1, 2**32, 2**53 + 1, 2**60 - 1, 2**64 - 1]
    column = template_column("", (b"the number in hex: ", hexadecimal(np.array(numbers, np.uint64)), b"."))
    assert column.to_list() == [f"the number in hex: {number:x}." for number in numbers]


def test_siphash_reference_value() -> None:
    """The example of the paper: key 00..0f, message 00..0e."""
    words = np.frombuffer(bytes(range(15)) + b"\0", "<u8")
    result = siphash(words, bytes(range(16)), np.zeros(1, np.int64), np.array([15]))
    assert int(result[0]) == 0xA129CA6149BE45E5


def test_jenkins_reference_values() -> None:
    """The published example of lookup3.c: "Four score and seven years ago" from 0 and 0."""
    text = b"Four score and seven years ago"
    halves = np.frombuffer(pad(text), "<u4")
    result = jenkins(halves, np.zeros(1, np.int64), np.array([len(text)]))
    assert int(result[0]) == 0x17770551CE7226E6
