"""Every codec, by its first bytes: as far as the file goes, within bounds, and never an exception."""

from __future__ import annotations

import gzip
import lzma
import struct
import tracemalloc
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from packing import LZMA, PACK, TEXT, put, read

from forensics.sources import compression, streams
from forensics.sources.limits import Damage, Limits

if TYPE_CHECKING:
    from pathlib import Path

QUICK = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
ALL = {**PACK, "lzma": LZMA}
SHORT = b"".join(b"2026-11-29 line %d\n" % n for n in range(60))


@pytest.mark.parametrize("name", ALL)
class TestCodec:
    """The contract of every codec."""

    def test_whole(self, name: str, tmp_path: Path) -> None:
        """What was packed comes out, in a file whose name says nothing, without a note."""
        assert read(put(tmp_path, ALL[name](TEXT))) == (TEXT, [])

    def test_packed_twice(self, name: str, tmp_path: Path) -> None:
        """A file that was compressed once too often is unpacked twice."""
        assert read(put(tmp_path, gzip.compress(ALL[name](TEXT)))) == (TEXT, [])

    def test_chunk_borders_play_no_part(self, name: str, tmp_path: Path, monkeypatch) -> None:
        """Wherever a read ends, the result is the same."""
        packed = ALL[name](SHORT) + (ALL[name](b"end\n") if name != "lzma" else b"")
        path = put(tmp_path, packed)
        whole = read(path)
        for size in (1, 2, 3, 7, len(packed) - 1):
            monkeypatch.setattr(streams, "CHUNK", size)
            assert read(path) == whole

    def test_cut_anywhere_gives_a_prefix(self, name: str, tmp_path: Path) -> None:
        """A file that was cut at any byte gives a beginning of its content and one note, and no exception."""
        packed = ALL[name](SHORT)
        for cut in range(20, len(packed)):
            data, notes = read(put(tmp_path, packed[:cut]))
            assert SHORT.startswith(data)
            if data != SHORT:
                assert notes == [
                    f"the {name} stream ends early after {len(data):,} bytes; what lies before was used, copy the file again for the rest"
                ]

    @QUICK
    @given(flips=st.lists(st.tuples(st.integers(0, 10_000), st.integers(1, 255)), min_size=1, max_size=4))
    def test_damage_is_never_an_error(self, name: str, flips: list[tuple[int, int]]) -> None:
        """Wherever bytes are changed after the magic, reading ends, with at most one note of the codec."""
        packed = bytearray(ALL[name](TEXT))
        for at, bits in flips:
            packed[13 + at % (len(packed) - 13)] ^= bits
        damage = Damage()
        data = b"".join(compression.unpack(iter([bytes(packed)]), damage, Limits(total=1 << 24)))

        assert len(data) <= (1 << 24) + compression.PIECE
        assert len(damage.notes) <= 1

    def test_most_is_saved(self, name: str, tmp_path: Path) -> None:
        """Losing the last tenth of a file does not lose more than a block of the codec."""
        noise = b"".join(b"%032x\n" % (n * 2654435761 % 2**128) ** 3 for n in range(60_000))
        packed = ALL[name](noise)
        data, notes = read(put(tmp_path, packed[: len(packed) * 9 // 10]))

        assert len(notes) == 1
        assert len(data) > 0.5 * len(noise)


@pytest.mark.parametrize("name", PACK)
class TestMembers:
    """Members, frames and streams follow one another."""

    def test_are_joined(self, name: str, tmp_path: Path) -> None:
        """What several runs of a packer wrote into one file is one text."""
        packed = b"".join(PACK[name](part) for part in (b"", TEXT, b"", b"end\n", b""))
        assert read(put(tmp_path, packed)) == (TEXT + b"end\n", [])

    @pytest.mark.parametrize("zeros", [4, 512, 3 << 20])
    def test_padding(self, name: str, zeros: int, tmp_path: Path) -> None:
        """Zeros after a member are padding, also before another one."""
        packed = PACK[name](TEXT) + bytes(zeros)
        assert read(put(tmp_path, packed)) == (TEXT, [])
        assert read(put(tmp_path, packed + PACK[name](b"end\n"))) == (TEXT + b"end\n", [])

    def test_rubbish_behind(self, name: str, tmp_path: Path) -> None:
        """Other data behind the last member is left out and said."""
        assert read(put(tmp_path, PACK[name](TEXT) + b"garbage")) == (
            TEXT,
            [f"after {len(TEXT):,} bytes the {name} stream is followed by other data, which was left out"],
        )

    def test_cut_in_the_next_header(self, name: str, tmp_path: Path) -> None:
        """A member of which only the first byte is there was cut."""
        data, notes = read(put(tmp_path, PACK[name](TEXT) + PACK[name](b"end\n")[:1]))
        assert data == TEXT
        assert notes[0].startswith(f"the {name} stream ends early after {len(TEXT):,} bytes")

    def test_damaged_second(self, name: str, tmp_path: Path) -> None:
        """Damage in the second member costs nothing of the first."""
        packed = bytearray(PACK[name](TEXT))
        packed[len(packed) // 2 : len(packed) // 2 + 40] = bytes(range(40))
        data, notes = read(put(tmp_path, PACK[name](b"whole\n") + bytes(packed)))
        about = [note for note in notes if note.startswith(f"the {name} stream ")]
        assert data.startswith(b"whole\n")
        assert len(about) == 1
        assert notes[0] == about[0]


@pytest.mark.parametrize("name", ["zstd", "lz4"])
@pytest.mark.parametrize("number", [0x184D2A50, 0x184D2A5F])
def test_skippable_frames(name: str, number: int, tmp_path: Path) -> None:
    """Frames with data of other programs are skipped before, between and behind others."""
    skip = struct.pack("<II", number, 5) + b"index"
    packed = skip + skip + PACK[name](TEXT) + skip + PACK[name](b"end\n") + skip
    assert read(put(tmp_path, packed)) == (TEXT + b"end\n", [])


@pytest.mark.parametrize("cut", [1, 9, 12])
def test_cut_skippable_frame(cut: int, tmp_path: Path) -> None:
    """A skippable frame at the end that is not whole loses nothing."""
    data, _ = read(put(tmp_path, PACK["zstd"](TEXT) + (struct.pack("<II", 0x184D2A50, 5) + b"index")[:cut]))
    assert data == TEXT


def test_zstd_with_a_window_that_is_too_large(tmp_path: Path) -> None:
    """A frame that asks for more memory than is granted is a note, not an error."""
    header = b"\x28\xb5\x2f\xfd" + b"\x00" + bytes([0xA8])  # window of 2^31 bytes
    data, notes = read(put(tmp_path, header + b"\x01\x00\x00" * 9))
    assert data == b""
    assert len(notes) == 1
    assert notes[0].startswith("the zstd stream is damaged after 0 bytes (")


def test_text_that_begins_like_lzma(tmp_path: Path) -> None:
    """A closing bracket at the beginning is no lzma header."""
    assert read(put(tmp_path, b"] done with the first thing\n")) == (b"] done with the first thing\n", [])


def test_bomb_stops_at_the_total() -> None:
    """Unpacking stops at the limit with a note that names the option."""
    damage = Damage()
    packed = gzip.compress(bytes(10 << 20))
    given = sum(len(piece) for piece in compression.unpack(iter([packed]), damage, Limits(total=3 << 20)))

    assert 3 << 20 < given <= 4 << 20
    assert damage.notes == [
        f"unpacking stopped after {given:,} bytes: the limit is 3,145,728; give --unpack-limit size=N to raise it"
    ]


def test_bomb_stops_at_the_ratio() -> None:
    """Unpacking stops where bytes come out of nothing; real logs of any repetition do not."""
    limits = Limits(granted=1 << 20)
    for data, stopped in (
        (bytes(50 << 20), True),
        (b"GET /health 200\n" * 2_000_000, True),
        (TEXT * 9, False),
    ):
        damage = Damage()
        given = sum(map(len, compression.unpack(iter([lzma.compress(data)]), damage, limits)))
        assert (given < len(data)) is stopped
        assert [note for note in damage.notes if "more than 2,000 to 1" not in note] == []
    stamped = b"".join(
        b"2026-11-29T12:%02d:%02d.%06dZ INFO GET /health 200\n" % (n // 60 % 60, n % 60, n)
        for n in range(99_999)
    )
    damage = Damage()
    assert sum(map(len, compression.unpack(iter([lzma.compress(stamped)]), damage, limits))) == len(stamped)
    assert damage.notes == []


@pytest.mark.parametrize("name", PACK)
def test_memory_is_bounded(name: str) -> None:
    """A file of 64 MiB of zeros needs a small part of that at any time, whatever packed it."""
    packed = PACK[name](bytes(64 << 20))
    tracemalloc.start()
    total = sum(map(len, compression.unpack(iter([packed]), Damage())))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert total == 64 << 20
    assert peak < 40 << 20
