"""Text of any encoding and with any hole comes out as UTF-8, line by line, and what was changed is said."""

from __future__ import annotations

import codecs
import gzip
import time
import tracemalloc
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from packing import put, read

from forensics.engine import read_all
from forensics.ingest import plan
from forensics.signatures import Matcher, load
from forensics.sources import encodings, streams
from forensics.sources.discovery import discover
from forensics.sources.limits import Damage

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from forensics.model.source import Source

QUICK = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
LINES = "".join(f"2026-11-29T12:00:{n:02d}Z stdout F größe {n} €\n" for n in range(60))
MATCHER = Matcher(load())


def text(data: bytes) -> tuple[bytes, list[str]]:
    """Return bytes as later stages see them."""
    damage = Damage()
    return b"".join(encodings.as_text(iter([data]), damage)), damage.notes


def survey(path: Path) -> tuple[Source, pl.DataFrame | None]:
    """Return the only source of an input and its counts."""
    reading = read_all(plan.make(discover([str(path)])), MATCHER, streams.SHARD_BYTES)
    return reading.facts[0].source, reading.digest.frames.get("shards")


class TestUnicode:
    """UTF-16 and UTF-32, with and without a mark."""

    @pytest.mark.parametrize(
        ("mark", "encoding"),
        [
            (codecs.BOM_UTF8, "utf-8"),
            (codecs.BOM_UTF16_LE, "utf-16-le"),
            (codecs.BOM_UTF16_BE, "utf-16-be"),
            (codecs.BOM_UTF32_LE, "utf-32-le"),
            (codecs.BOM_UTF32_BE, "utf-32-be"),
        ],
    )
    @pytest.mark.parametrize("chunk", [1, 3, 4097, 1 << 20])
    def test_with_a_mark(self, mark: bytes, encoding: str, chunk: int, tmp_path: Path, monkeypatch) -> None:
        """The mark decides and is left out, wherever reads end; CRLF becomes LF."""
        monkeypatch.setattr(streams, "CHUNK", chunk)
        data = mark + LINES.replace("\n", "\r\n").encode(encoding)
        assert read(put(tmp_path, data)) == (LINES.encode(), [])

    @pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
    def test_without_a_mark(self, encoding: str, tmp_path: Path) -> None:
        """Zeros at every second place tell UTF-16, and the report says that they did."""
        assert read(put(tmp_path, LINES.encode(encoding))) == (
            LINES.encode(),
            [f"it has no byte order mark and was read as {encoding.upper()}, by its zeros"],
        )

    def test_cut_in_a_letter(self) -> None:
        """A file that ends in half a letter loses that letter and says so."""
        assert text(codecs.BOM_UTF16_LE + "ab".encode("utf-16-le")[:-1]) == (
            "a\ufffd".encode(),
            ["1 places are no UTF-16 and were replaced by U+FFFD"],
        )

    def test_compressed(self, tmp_path: Path) -> None:
        """UTF-16 inside gzip is UTF-16 too."""
        data = gzip.compress(codecs.BOM_UTF16_LE + LINES.encode("utf-16-le"))
        assert read(put(tmp_path, data)) == (LINES.encode(), [])

    def test_appended_to_another_encoding(self) -> None:
        """What PowerShell appended as UTF-16 to a file of bytes is read, line for line."""
        data = b"one\ntwo\n" + "three and more\r\nfour and more\r\n".encode("utf-16-le")
        assert text(data) == (
            b"one\ntwo\nthree and more\nfour and more\n",
            ["UTF-16 stands inside other text and was read as such, first in line 3"],
        )

    def test_line_numbers_are_those_of_the_file(self, tmp_path: Path) -> None:
        """A cited line of a UTF-16 file is the line that an editor shows."""
        path = put(tmp_path, codecs.BOM_UTF16_LE + "one\r\ntwo\r\nthree\r\n".encode("utf-16-le"))
        assert streams.lines_at(path, [2, 3], 20) == {2: b"two\nthree\n", 3: b"three\n"}


class TestHoles:
    """Blocks of zeros."""

    def test_block_after_a_crash(self) -> None:
        """Zeros in front of a line leave the line."""
        assert text(b"one\n" + bytes(4096) + b"two\nthree\n") == (
            b"one\ntwo\nthree\n",
            [
                "4,096 zero bytes were left out, the first in line 2 (a crash, or a file that was cut while it was written): what stood there is lost"
            ],
        )

    @pytest.mark.parametrize("size", [4, 5000, 70_000, 3 << 20])
    def test_preallocated_tail(self, size: int) -> None:
        """Zeros behind the last line are no line."""
        data, notes = text(b"one\ntwo\n" + bytes(size))
        assert data == b"one\ntwo\n"
        assert [note.split(" were")[0] for note in notes] == [f"{size:,} zero bytes"]
        assert "in line 3 " in notes[0]

    @pytest.mark.parametrize("size", [5000, 70_000, (9 << 20) + 1])
    def test_hole_in_front(self, size: int) -> None:
        """A file that was cut under its writer begins with zeros, however many."""
        data, notes = text(bytes(size) + b"one\ntwo\n")
        assert data == b"one\ntwo\n"
        assert [note.split(" (")[0] for note in notes] == [
            f"{size:,} zero bytes were left out, the first in line 1"
        ]

    def test_hole_of_many_pieces_in_the_middle(self) -> None:
        """A hole that is longer than any line may be costs nothing of the line behind it."""
        data, notes = text(b"one\n" + bytes(9 << 20) + b"two\nthree\n")
        assert data == b"one\ntwo\nthree\n"
        assert notes[0].startswith(f"{9 << 20:,} zero bytes were left out, the first in line 2 ")

    def test_nothing_but_zeros(self, tmp_path: Path) -> None:
        """A file of zeros is declined and the reason says what it holds."""
        for size in (100, 1 << 20):
            source, _ = survey(put(tmp_path, bytes(size), f"x{size}"))
            assert source.skipped is not None
            assert source.skipped.startswith(f"nothing in it can be read; {size:,} zero bytes were left out")

    def test_single_zeros_stay(self) -> None:
        """A zero inside a message is part of it."""
        assert text(b"a command\0line\nand more of the text\n") == (
            b"a command\0line\nand more of the text\n",
            [],
        )


class TestBytes:
    """Bytes that are no UTF-8, and lines that overwrite themselves."""

    def test_latin_1(self) -> None:
        """A byte that is no UTF-8 is replaced and counted with its line; the letters around it stay."""
        data = "eins\nGröße\nzwei\n€".encode("latin-1", "replace").replace(b"?", b"\xff")
        assert text(data) == (
            "eins\nGr\ufffd\ufffde\nzwei\n\ufffd".encode(),
            ["3 places are no UTF-8 (perhaps Latin-1) and were replaced by U+FFFD, the first in line 2"],
        )

    def test_replacement_characters_of_others_are_not_counted(self) -> None:
        """U+FFFD that another program wrote is text."""
        assert text("a \ufffd b\n".encode()) == ("a \ufffd b\n".encode(), [])

    def test_crlf(self) -> None:
        """The carriage return of CRLF goes without a word."""
        assert text(b"one\r\ntwo\r\n\r\nlast") == (b"one\ntwo\n\nlast", [])

    def test_progress_bar(self) -> None:
        """Of a line that overwrites itself the last part stays, as on a terminal."""
        data = b"start\n 10%\r 20%\r100%\nend\n"
        assert text(data) == (
            b"start\n100%\nend\n",
            [
                "1 lines were overwritten by carriage returns (a progress bar) and read as a terminal shows them last, the first is line 2"
            ],
        )

    def test_progress_behind_a_stamp(self) -> None:
        """A stamp in front of a progress bar stays with it."""
        data, notes = text(b"2026-11-29T12:00:00Z pull 10%\r 100%\r\nnext\n")
        assert data == b"2026-11-29T12:00:00Z pull 10%  100%\nnext\n"
        assert len(notes) == 1

    def test_record_behind_a_progress_bar(self) -> None:
        """A record that follows a progress bar in the same line is a record."""
        assert text(b"pull 10%\rpull 100%\r2026-11-29T12:00:00Z done\n")[0] == b"2026-11-29T12:00:00Z done\n"

    def test_carriage_returns_alone(self) -> None:
        """A file whose lines end in carriage returns alone has lines."""
        assert text(b"2026-11-29 one\r2026-11-29 two\r") == (
            b"2026-11-29 one\n2026-11-29 two\n",
            ["its lines end in carriage returns alone and were read as lines"],
        )

    def test_typescript(self, tmp_path: Path) -> None:
        """A session that script(1) recorded is read behind its colours, titles and prompts."""
        body = (
            'Script started on 2026-11-29 12:00:00+00:00 [TERM="xterm" TTY="/dev/pts/0" COLUMNS="80" LINES="24"]\n'
            "\x1b]0;root@db1: ~\x07\x1b[?2004hroot@db1:~# docker logs -t api\r\n\x1b[?2004l\r"
            + "".join(f"\x1b[32m2026-11-29T12:00:{n:02d}.123456789Z\x1b[0m request {n}\r\n" for n in range(9))
            + "\x1b]0;root@db1: ~\x07\x1b[?2004hroot@db1:~# exit\r\n"
        )
        source, shards = survey(put(tmp_path, body.encode()))
        assert source.transport == "docker_timestamps"
        assert shards is not None
        assert (shards["lines"].sum(), shards["records"].sum(), shards["unparsed"].sum()) == (12, 9, 3)


class TestBinary:
    """What is no text passes as it is."""

    @pytest.mark.parametrize(
        "data",
        [
            b"SQLite format 3\0" + b"some text \r\n" * 500 + bytes(5000) + b"\xff\xfe",
            b"LPKSHHRH" + bytes(500) + b"text\r\n" * 500,
            b"__CURSOR=s=1\nMESSAGE\n" + (12).to_bytes(8, "little") + b"a\r\n" + bytes(8) + b"\xff\n\n",
            bytes(range(256)) * 600,
        ],
    )
    def test_is_not_touched(self, data: bytes) -> None:
        """Databases, journals, journald's export format and unknown data keep every byte."""
        assert text(data) == (data, [])

    def test_zeros_in_front_of_binary_data(self) -> None:
        """A hole in front of binary data stays where it is."""
        data = bytes(200_000) + bytes(range(256)) * 600
        assert b"".join(encodings.as_text(iter([data[:100_000], data[100_000:]]), Damage())) == data


class TestEndlessLines:
    """A line of any length is one line, in bounded memory."""

    SIZE = 20 << 20

    @pytest.mark.parametrize(("ended", "packed"), [(True, False), (False, True)])
    def test_text(self, tmp_path: Path, *, ended: bool, packed: bool) -> None:
        """A line of 20 MB between two others is one record, of which the beginning is read."""
        stamp = b"2026-11-29T12:00:00.123456789Z"
        long = stamp + b" " + b"x" * self.SIZE
        data = stamp + b" before\n" + long + (b"\n" + stamp + b" after\n") * ended
        begun = time.process_time()
        source, shards = survey(put(tmp_path, gzip.compress(data, 1) if packed else data))

        assert shards is not None
        assert (shards["lines"].sum(), shards["records"].sum()) == ((3, 3) if ended else (2, 2))
        assert source.limits == (f"line 2 is {len(long):,} bytes long; its first 2,097,152 were read",)
        assert time.process_time() - begun < 30

    def test_memory(self, tmp_path: Path) -> None:
        """Reading it holds a few pieces at a time."""
        path = put(tmp_path, gzip.compress(b"x" * (3 * self.SIZE), 1))
        tracemalloc.start()
        size = sum(map(len, streams.chunks(path)))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()

        assert size == encodings.LONGEST_LINE
        assert peak < 12 << 20

    def test_json(self, tmp_path: Path) -> None:
        """A document in one line is not cut, since a part of it would be none."""
        data = b'{"items": [' + b'"abcdefgh", ' * (self.SIZE // 12) + b'""]}\n'
        assert read(put(tmp_path, data)) == (data, [])

    def test_cut_never_splits_a_letter(self) -> None:
        """The beginning of an endless line ends between two letters."""
        data, notes = text(b"x" + "€".encode() * (encodings.LONGEST_LINE // 2) + b"\nnext\n")
        first, second = data.split(b"\n")[:2]
        assert first.decode() == "x" + "€" * ((encodings.LONGEST_LINE - 1) // 3)
        assert second == b"next"
        assert len(notes) == 1

    def test_many_endless_lines(self, monkeypatch) -> None:
        """Three are named, the others counted."""
        monkeypatch.setattr(encodings, "PIECE", 100)
        monkeypatch.setattr(encodings, "LONGEST_LINE", 300)
        data, notes = text((b"y" * 1000 + b"\n") * 5)
        assert data == (b"y" * 300 + b"\n") * 5
        assert notes == [
            "line 1 is 1,000 bytes long; its first 300 were read",
            "line 2 is 1,000 bytes long; its first 300 were read",
            "line 3 is 1,000 bytes long; its first 300 were read",
            "2 more lines are longer than 300 bytes; the beginning of each was read",
        ]


class TestAnything:
    """Laws over any bytes."""

    @QUICK
    @given(
        data=st.lists(
            st.sampled_from(
                [b"text ", b"\n", b"\r", b"\r\n", b"\0", bytes(7), b"\xff", "€".encode(), b"2026-11-29 "]
            ),
            max_size=80,
        ).map(b"".join),
        chunk=st.integers(1, 40),
        piece=st.sampled_from([8, 64, 1 << 20]),
    )
    def test_lines_stay(self, data: bytes, chunk: int, piece: int) -> None:
        """Text keeps its number of lines and becomes valid UTF-8, wherever reads end."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(encodings, "PIECE", piece)
            pieces = iter([data[at : at + chunk] for at in range(0, len(data), chunk)])
            out = b"".join(encodings.as_text(pieces, Damage()))
        encoding, _ = encodings.encoding_of(data)
        if encoding != "utf-8":
            return
        out.decode()
        if b"\n" in data:
            assert out.count(b"\n") == data.count(b"\n")

    @QUICK
    @given(data=st.binary(max_size=400))
    def test_never_an_error(self, data: bytes) -> None:
        """No bytes break the reading of text."""
        text(data)
