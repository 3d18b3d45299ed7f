"""Files that are no logs are declined with one line that says what to give instead; texts that begin like them are not."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest

from forensics.ingest import plan
from forensics.sources import magic
from forensics.sources.discovery import discover

if TYPE_CHECKING:
    from pathlib import Path


def login(kind: int, line: bytes, user: bytes) -> bytes:
    """Return a record of wtmp."""
    return struct.pack(
        "<h2xi32s4s32s256shhiii16s20x",
        kind,
        4711,
        line,
        b"ts/0",
        user,
        b"192.0.2.7",
        0,
        0,
        0,
        1_795_953_600,
        0,
        b"",
    )


def frame(text: bytes) -> bytes:
    """Return a frame of Docker's local driver."""
    entry = b"\x0a\x06stdout\x10\x91\xe6\xae\xe7\x8b\x84\xa1\xf6\x18\x1a" + bytes([len(text)]) + text
    return struct.pack(">I", len(entry)) + entry + struct.pack(">I", len(entry))


FILES = {
    "local": (b"".join(frame(b"line %d" % n) for n in range(30)), "docker logs -t NAME"),
    "sysstat": (b"\x96\xd5\x75\x21\x0c\x06\x01\0" + bytes(200), "sadf -j"),
    "sysstat-big-endian": (b"\xd5\x96\x21\x75\x0c\x06\x01\0" + bytes(200), "sadf -j"),
    "wal": (b"\x37\x7f\x06\x82\0\x2d\xe2\x18" + bytes(300), "NAME.db-wal"),
    "shm": (b"\x18\xe2\x2d\0" + bytes(300), "-wal"),
    "evtx": (b"ElfFile\0" + bytes(300), "wevtutil"),
    "pcap": (b"\xd4\xc3\xb2\xa1\x02\0\x04\0" + bytes(300), "tshark"),
    "pcapng": (b"\x0a\x0d\x0d\x0a\x1c\0\0\0\x4d\x3c\x2b\x1a" + bytes(300), "tshark"),
    "wtmp": (login(2, b"~", b"reboot") + login(7, b"pts/0", b"alice"), "last -F"),
    "parquet": (b"PAR1\x15\x04\x15\x10\x15\x14" + bytes(range(200)), "CSV"),
    "elf": (b"\x7fELF\x02\x01\x01" + bytes(300), "coredumpctl"),
    "png": (b"\x89PNG\r\n\x1a\n" + bytes(300), "an image"),
    "jpeg": (b"\xff\xd8\xff\xe0\0\x10JFIF" + bytes(300), "an image"),
    "pdf": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n", "a PDF"),
    "xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(300), "CSV"),
    "rar": (b"Rar!\x1a\x07\x01\0" + bytes(300), "unar"),
    "compress": (b"\x1f\x9d\x90" + bytes(range(200)), "gzip -d"),
    "pgdump": (b"PGDMP\x01\x0e\0" + bytes(300), "\\copy"),
    "pgp": (b"-----BEGIN PGP MESSAGE-----\n\nhQEM\n", "gpg -d"),
    "unknown": (bytes(range(256)) * 9, "binary data of an unknown kind"),
}


@pytest.mark.parametrize("name", FILES)
def test_is_declined(name: str, tmp_path: Path) -> None:
    """The reason is one line with what it is and what to do."""
    data, said = FILES[name]
    path = tmp_path / "input"
    path.write_bytes(data)
    (planned,) = plan.make(discover([str(path)]))

    assert planned.skipped is not None
    assert said in planned.skipped
    assert ";" in planned.skipped
    assert "\n" not in planned.skipped


@pytest.mark.parametrize("magic_", [found for found, _ in magic.KNOWN])
def test_every_advice_has_a_remedy(magic_: bytes) -> None:
    """What it is, then what to do."""
    said = magic.advice(magic_ + bytes(range(1, 32)) * 9)
    assert said is not None
    assert ";" in said


@pytest.mark.parametrize("begin", magic.WORDS)
def test_words_at_the_beginning_of_a_text(begin: bytes) -> None:
    """A text that begins with letters of a magic is a text."""
    text = begin + b" began at 2026-11-29T12:00:00Z\n" * 9
    assert magic.advice(text) is None
    assert not magic.is_binary(text)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"x",
        b"plain\n",
        "größe\n".encode("latin-1") * 9,
        b"\x1b[32mok\x1b[0m\r\n\x07\x08" * 9,
        b"\x1e{}\n" * 9,
    ],
)
def test_text_is_no_binary(text: bytes) -> None:
    """Colours, bells, record separators and Latin-1 are text."""
    assert magic.advice(text) is None
    assert not magic.is_binary(text)
