"""What gzip, zstd, xz, bzip2, lz4, tar and zip wrote, against the originals that lie beside them."""

from __future__ import annotations

from pathlib import Path

import pytest
from packing import read

from forensics.sources import discovery, streams

FOLDER = Path(__file__).parents[2] / "fixtures" / "formats" / "compressed"
A, B = (FOLDER / "a.log").read_bytes(), (FOLDER / "b.log").read_bytes()
OBJECTS = (FOLDER / "x.ndjson").read_bytes()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.log.lz4", A),
        ("pad.log.gz", A),
        ("multi.log.bz2", A + B),
        ("multi.log.gz", A + B),
        ("multi.log.xz", A + B),
        ("multi.log.zst", A + B),
        ("x.ndjson.gz", OBJECTS),
        ("x.ndjson.xz", OBJECTS),
        ("x.ndjson.zst", OBJECTS),
    ],
)
def test_file(name: str, content: bytes) -> None:
    """A sample unpacks to its original without a note."""
    assert read(FOLDER / name) == (content, [])


def test_garbage_behind() -> None:
    """The member before the garbage is whole."""
    assert read(FOLDER / "garbage.log.gz") == (
        A,
        ["after 12 bytes the gzip stream is followed by other data, which was left out"],
    )


def test_truncated() -> None:
    """All that zlib can save of a cut file is there: the numbers from 1 up, one a line."""
    data, notes = read(FOLDER / "trunc.log.gz")
    whole = "".join(f"{number}\n" for number in range(1, 10_000)).encode()

    assert len(data) == 41_909
    assert whole.startswith(data)
    assert [note.split(";")[0] for note in notes] == ["the gzip stream ends early after 41,909 bytes"]


@pytest.mark.parametrize("name", ["logs.tar.gz", "logs.tar.zst", "logs.zip"])
def test_archive(name: str) -> None:
    """An archive is its two members, with the bytes and the hash of each."""
    items = discovery.discover([str(FOLDER / name)])

    assert [item.name for item in items] == [f"{name}!a.log", f"{name}!b.log"]
    assert [item.trouble for item in items] == [None, None]
    assert [read(item.path) for item in items] == [(A, []), (B, [])]
    assert [streams.sha256(item.path) for item in items] == [
        streams.sha256(FOLDER / "a.log"),
        streams.sha256(FOLDER / "b.log"),
    ]
