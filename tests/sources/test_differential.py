"""Three readers say the same of one journal: ours, systemd-python's and journalctl."""

from __future__ import annotations

import gzip
import shutil
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from remote_journal import Fields, entry, needs_writer, write

from forensics.formats.journald_fields import FIELDS
from forensics.sources import journal, live
from forensics.sources.live_request import Request

if TYPE_CHECKING:
    from collections.abc import Iterator

systemd = pytest.importorskip("systemd.journal", reason="systemd-python (extra journald) is not here")
pytestmark = pytest.mark.skipif(shutil.which("journalctl") is None, reason="journalctl is not here")

FIXTURES = Path(__file__).parents[2] / "fixtures" / "formats" / "journald"
INCIDENTS = FIXTURES.parents[1] / "incidents"
SAMPLES = [*sorted(FIXTURES.glob("*.journal.gz")), *sorted(INCIDENTS.glob("*/inputs/*.journal.gz"))]
STAMPS = ("__CURSOR", "__REALTIME_TIMESTAMP", "__MONOTONIC_TIMESTAMP")
FROM_THE_EXPORT_ONLY = frozenset({"__SEQNUM", "__SEQNUM_ID"})
"""Newer journalctls print them; they are part of the cursor."""
EXAMPLES = 60
Entry = dict[str, list[bytes]]


def by_journalctl(path: Path) -> list[Entry]:
    """Return every value of every field that journalctl exports."""
    command = ["journalctl", "--file", str(path), "-o", "export", "--all"]
    return list(entries_of(subprocess.run(command, capture_output=True, check=True).stdout))


def entries_of(data: bytes) -> Iterator[Entry]:
    """Yield the entries of an export."""
    found: Entry = defaultdict(list)
    at = 0
    while at < len(data):
        end = data.index(b"\n", at)
        name, equals, value = data[at:end].partition(b"=")
        at = end + 1
        if not name:
            yield dict(found)
            found = defaultdict(list)
            continue
        if not equals:
            size = int.from_bytes(data[at : at + 8], "little")
            value, at = data[at + 8 : at + 8 + size], at + 9 + size
        if name.decode() not in FROM_THE_EXPORT_ONLY:
            found[name.decode()].append(value)


def by_libsystemd(path: Path, names: set[str]) -> list[Entry]:
    """Return the same of systemd-python's Reader, none of whose conversions is wanted."""
    raw: dict[str, Any] = dict.fromkeys(names, lambda value: value)
    raw |= {"__REALTIME_TIMESTAMP": int, "__MONOTONIC_TIMESTAMP": lambda value: value[0]}
    with systemd.Reader(files=[str(path)], converters=raw) as reader:
        reader.data_threshold = 0
        return [{name: as_bytes(value) for name, value in found.items()} for found in reader]


def as_bytes(value: object) -> list[bytes]:
    """Return one value or several as a list of bytes."""
    values = value if isinstance(value, list) else [value]
    return [one if isinstance(one, bytes) else str(one).encode() for one in values]


def first_text(entries: list[Entry], names: list[str]) -> list[tuple[str | None, ...]]:
    """Return the first value of each field as text, in the order of sequence numbers."""
    rows = [
        tuple(found[name][0].decode(errors="replace") if name in found else None for name in names)
        for found in entries
    ]
    return by_number(rows, names)


def by_number(rows: list[tuple[str | None, ...]], names: list[str]) -> list[tuple[str | None, ...]]:
    """Sort rows by the sequence number in their cursor."""
    place = names.index("__CURSOR")
    return sorted(rows, key=lambda row: int((row[place] or "").split(";")[1].removeprefix("i="), base=16))


def texts(frame: pl.DataFrame, names: list[str]) -> list[tuple[str | None, ...]]:
    """Return columns of a frame as rows of text."""
    return by_number(frame.select(pl.col(names).cast(pl.String)).rows(), names)


def compare(path: Path) -> int:
    """Hold all readers against each other; give the number of entries."""
    told = by_journalctl(path)
    names = sorted({name for found in told for name in found})
    told_too = by_libsystemd(path, set(names))
    rows = first_text(told, names)
    in_order = sorted(told, key=lambda found: found["__CURSOR"])

    assert sorted(told_too, key=lambda found: found["__CURSOR"]) == in_order
    assert texts(journal.read(path.read_bytes(), names).frame, names) == rows
    assert texts(pl.concat(live.frames(Request(str(path)), names)), names) == rows
    return len(rows)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_samples(tmp_path: Path, sample: Path) -> None:
    """Entries, every field, times and cursors of every sample are the same for all readers."""
    path = tmp_path / "sample.journal"
    path.write_bytes(gzip.decompress(sample.read_bytes()))

    assert compare(path) > 0


NAMES = st.sampled_from(
    [
        *(name for name in FIELDS if not name.startswith(("__", "_SOURCE", "_BOOT"))),
        "CODE_LINE",
        "X",
        "A_LONGER_NAME_OF_A_FIELD",
    ]
)
VALUES = st.one_of(
    st.binary(max_size=40),
    st.text(max_size=40).map(str.encode),
    st.builds(lambda piece, times: piece * times, st.binary(min_size=1, max_size=9), st.integers(60, 9000)),
)
ENTRIES = st.lists(
    st.tuples(
        st.lists(st.tuples(NAMES, VALUES), min_size=1, max_size=8),
        st.integers(-1_700_000_000, 1_700_000_000),  # an hour off and back at once is a damaged time
        st.sampled_from(["a" * 32, "b" * 32]),
    ),
    min_size=1,
    max_size=12,
)


@needs_writer
@settings(max_examples=EXAMPLES)
@given(made=ENTRIES)
def test_made_entries(made: list[tuple[Fields, int, str]]) -> None:
    """The same for entries of any bytes, several values of a field, a clock that jumps, two boots."""
    with tempfile.TemporaryDirectory() as folder:
        written = [
            entry(number, fields, at=1_795_954_471_000_000 + jump, boot=boot)
            for number, (fields, jump, boot) in enumerate(made)
        ]
        assert compare(write(Path(folder, "made.journal"), written)) == len(made)
