"""Bytes: unpacked as far as they go, cut only where records begin, found again by line."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forensics import formats
from forensics.sources import streams

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
TEXT = b"".join(b"line %05d of a log that compresses\n" % n for n in range(5000))


def read(path: Path) -> tuple[bytes, list[str]]:
    """Return the bytes of a file as the reader sees them, and what it says about damage."""
    damage = streams.Damage()
    return b"".join(streams.chunks(path, damage)), damage.notes


def put(tmp_path: Path, data: bytes) -> Path:
    """Write bytes under a name without extension."""
    path = tmp_path / "input"
    path.write_bytes(data)
    return path


class TestGzip:
    """Compressed input is known by its first bytes, and damage costs only what it damaged."""

    def test_plain_and_compressed_are_the_same(self, tmp_path: Path) -> None:
        """Compression changes nothing that a reader sees."""
        assert read(put(tmp_path, TEXT)) == (TEXT, [])
        assert read(put(tmp_path, gzip.compress(TEXT))) == (TEXT, [])

    def test_members_are_concatenated(self, tmp_path: Path) -> None:
        """Members that follow one another are one stream, as gunzip has it."""
        assert read(put(tmp_path, b"".join(gzip.compress(part) for part in (TEXT, b"", b"end\n")))) == (
            TEXT + b"end\n",
            [],
        )

    def test_member_that_begins_at_a_chunk_border(self, tmp_path: Path, monkeypatch) -> None:
        """Where a chunk ends plays no part, not even between two members or inside a header."""
        packed = gzip.compress(b"one\n") + gzip.compress(b"two\n")
        path = put(tmp_path, packed)
        for size in range(1, len(packed) + 1):
            monkeypatch.setattr(streams, "CHUNK", size)
            assert read(path) == (b"one\ntwo\n", [])

    @pytest.mark.parametrize("zeros", [1, 512, 3 << 20])
    def test_trailing_zeros_are_padding(self, zeros: int, tmp_path: Path) -> None:
        """Zeros after the last member (tape blocks) are left out without a note."""
        assert read(put(tmp_path, gzip.compress(TEXT) + bytes(zeros))) == (TEXT, [])

    @pytest.mark.parametrize("cut", [3, 11, 200, -9, -1])
    def test_truncated_file_is_salvaged(self, cut: int, tmp_path: Path) -> None:
        """What lies before the cut is used, and one note says that the rest is missing and what to do."""
        data, notes = read(put(tmp_path, gzip.compress(TEXT)[:cut]))

        assert TEXT.startswith(data)
        assert len(notes) == 1
        assert notes[0].startswith(f"the gzip stream ends early after {len(data):,} bytes; ")
        assert "copy the file again" in notes[0]

    def test_most_of_a_truncated_file_is_there(self, tmp_path: Path) -> None:
        """Losing the last tenth of the file does not lose more than that."""
        packed = gzip.compress(TEXT)
        data, _ = read(put(tmp_path, packed[: len(packed) * 9 // 10]))

        assert len(data) > 0.8 * len(TEXT)

    def test_damage_in_the_middle(self, tmp_path: Path) -> None:
        """A member that is broken inside ends the stream with a note that names the place."""
        packed = bytearray(gzip.compress(TEXT))
        packed[len(packed) // 2] ^= 0xFF
        data, notes = read(put(tmp_path, gzip.compress(b"whole\n") + bytes(packed)))

        assert data.startswith(b"whole\n")
        assert len(notes) == 1
        assert notes[0].startswith("the gzip stream is damaged after ")

    def test_rubbish_after_a_member(self, tmp_path: Path) -> None:
        """Bytes after the last member that are no member are named, never an error."""
        data, notes = read(put(tmp_path, gzip.compress(b"whole\n") + b"rubbish"))

        assert data == b"whole\n"
        assert len(notes) == 1

    @QUICK
    @given(cut=st.integers(0, 400), flip=st.integers(0, 400))
    def test_no_damage_is_an_error(self, cut: int, flip: int, tmp_path: Path) -> None:
        """Whatever happens to a file, reading it ends without an exception and gives a beginning of the truth."""
        packed = bytearray(gzip.compress(TEXT))
        packed[2 + flip] ^= 0x10
        data, notes = read(put(tmp_path, bytes(packed[: max(2, len(packed) - cut)])))

        assert len(data) <= len(TEXT) + 40_000
        assert len(notes) <= 1


class TestShards:
    """A stream is cut only where a record may begin, and the shards are the stream."""

    @QUICK
    @given(
        lines=st.lists(st.sampled_from([b"S start", b"  continues", b"", b"S" * 90]), max_size=60),
        size=st.integers(1, 400),
        chunk=st.integers(1, 300),
        ended=st.booleans(),
    )
    def test_shards_begin_at_record_starts(
        self, lines: list[bytes], size: int, chunk: int, *, ended: bool
    ) -> None:
        """Every shard but the first begins with a start line; joined they are the input."""
        data = b"\n".join(lines) + b"\n" * ended
        pieces = [data[at : at + chunk] for at in range(0, len(data), chunk)]
        found = list(streams.shards(iter(pieces), size, lambda _, line: line.startswith(b"S")))

        assert b"".join(found) == data
        assert all(shard.startswith(b"S") for shard in found[1:])
        assert all(shard.endswith(b"\n") and len(shard) >= size for shard in found[:-1])

    @QUICK
    @given(size=st.integers(1, 400), one=st.integers(1, 300), other=st.integers(1, 300))
    def test_chunks_do_not_move_the_cuts(self, size: int, one: int, other: int) -> None:
        """How the bytes arrive does not decide where they are cut."""
        data = b"".join(b"S %03d\n  more\n" % n for n in range(60))
        both = [
            list(
                streams.shards(
                    iter([data[at : at + chunk] for at in range(0, len(data), chunk)]),
                    size,
                    lambda _, line: line.startswith(b"S"),
                )
            )
            for chunk in (one, other)
        ]

        assert both[0] == both[1]

    def test_no_safe_cut_is_read_whole(self) -> None:
        """A format without record starts is never cut."""
        assert list(streams.shards(iter([b"a\n", b"b\n", b"c"]), 1, None)) == [b"a\nb\nc"]

    def test_nothing_gives_no_shard(self) -> None:
        """An empty stream has no shards."""
        assert list(streams.shards(iter([]), 1, lambda *_: True)) == []

    def test_no_place_is_safe(self, monkeypatch) -> None:
        """Where no safe place is found for long, a plain line end is taken instead of unbounded memory."""
        monkeypatch.setattr(streams, "LONGEST_SEARCH", 1000)
        data = b"  continues\n" * 500
        found = list(
            streams.shards(
                iter([data[at : at + 100] for at in range(0, len(data), 100)]), 64, lambda *_: False
            )
        )

        assert b"".join(found) == data
        assert len(found) > 1
        assert all(shard.endswith(b"\n") and len(shard) <= 2000 for shard in found[:-1])

    @pytest.mark.parametrize("name", ["docker_json", "cri"])
    def test_no_cut_inside_a_partial_line(self, name: str) -> None:
        """A container log is not cut while one of its streams waits for the rest of a line."""
        safe_cut = formats.all_transports()[name].safe_cut
        assert safe_cut is not None
        if name == "cri":
            part, rest, other = (b"2026-11-29T12:00:00Z stdout " + tag for tag in (b"P a", b"F b", b"F c"))
            other = other.replace(b"stdout", b"stderr")
        else:
            part, rest = (
                b'{"log":"a","stream":"stdout","time":"2026-11-29T12:00:00Z"}',
                b'{"log":"b\\n","stream":"stdout","time":"2026-11-29T12:00:00Z"}',
            )
            other = rest.replace(b"stdout", b"stderr")

        assert [
            safe_cut(before, other)
            for before in ([part], [part, other], [part, rest], [part, other, rest], [])
        ] == [False, False, True, True, True]


class TestLinesAt:
    """A cited line is found again by its number."""

    @QUICK
    @given(
        lines=st.lists(
            st.binary(max_size=12).map(lambda raw: raw.replace(b"\n", b"")), min_size=1, max_size=40
        ),
        wanted=st.lists(st.integers(1, 45), max_size=12),
        window=st.integers(1, 60),
        chunk=st.integers(1, 50),
        ended=st.booleans(),
    )
    def test_windows(
        self,
        lines: list[bytes],
        wanted: list[int],
        window: int,
        chunk: int,
        tmp_path: Path,
        monkeypatch_module,
        *,
        ended: bool,
    ) -> None:
        """Each wanted line gives the bytes from its start, whatever the chunks; a line that is not there gives none."""
        data = b"\n".join(lines) + b"\n" * ended
        path = put(tmp_path, data)
        monkeypatch_module.setattr(streams, "CHUNK", chunk)
        data = b"".join(streams.chunks(path))
        found = streams.lines_at(path, wanted, window)
        starts = [0, *[at + 1 for at, byte in enumerate(data) if byte == 10]]
        truth = {line: data[starts[line - 1] :][:window] for line in wanted if line <= len(starts)}

        assert {line: text for line, text in found.items() if text} == {
            line: text for line, text in truth.items() if text
        }

    def test_first_and_last_line(self, tmp_path: Path) -> None:
        """The first line and an unfinished last one are found, in a compressed file too."""
        data = b"first\nsecond\nlast"
        for packed in (data, gzip.compress(data)):
            assert streams.lines_at(put(tmp_path, packed), [3, 1, 1], 100) == {1: data, 3: b"last"}

    def test_nothing_wanted(self, tmp_path: Path) -> None:
        """No line wanted, none returned."""
        assert streams.lines_at(put(tmp_path, b"a\nb\n"), [], 10) == {}


@pytest.fixture(scope="module")
def monkeypatch_module() -> Iterator[pytest.MonkeyPatch]:
    """Patch for all examples of a property and undo it afterwards."""
    with pytest.MonkeyPatch.context() as patch:
        yield patch


def test_head_is_unpacked(tmp_path: Path) -> None:
    """Recognition sees the beginning of what was compressed, and no more than it asked for."""
    assert streams.head(put(tmp_path, gzip.compress(TEXT)), 100) == TEXT[:100]
    assert streams.head(put(tmp_path, b""), 100) == b""


def test_hash_is_that_of_the_file(tmp_path: Path) -> None:
    """SHA-256 is taken of the bytes on disk, so that `sha256sum` says the same."""
    assert (
        streams.sha256(put(tmp_path, b"abc"))
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )
