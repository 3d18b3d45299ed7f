"""Archives of every kind: members become inputs, nothing leaves the archive, and what is cut gives what is there."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import os
import shutil
import stat
import struct
import tarfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import py7zr
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from packing import put, read

from forensics.sources import discovery, members, spool, streams
from forensics.sources.limits import Limits

if TYPE_CHECKING:
    from forensics.sources.discovery import Input

QUICK = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
LOG = b"".join(b"2026-11-29T12:00:00Z line %d\n" % n for n in range(400))
FILES = {
    "logs/app.log": LOG,
    "logs/app.log.1": LOG[:900],
    "logs/app.log.2.gz": gzip.compress(LOG[:500]),
    "logs/app.log.10.gz": gzip.compress(LOG[:300]),
    "logs/empty.log": b"",
    "größe/naïve.log": b"one\n",
}
ENCRYPTED = "encrypted; unpack the archive with its password and give the folder"


def tar(files: dict[str, bytes], format_: int = tarfile.PAX_FORMAT) -> bytes:
    """Return a tar of some files."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=format_) as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(data), 1_795_953_600
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a zip of some files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 11, 29, 12, 0, 0)), data, method)
    return out.getvalue()


class Pipe(io.RawIOBase):
    """A place to write to that cannot go back, so that zip states sizes behind the data."""

    def __init__(self) -> None:
        self.data = b""

    def writable(self) -> bool:
        """It can be written."""
        return True

    def write(self, data: bytes) -> int:
        """Add bytes."""
        self.data += bytes(data)
        return len(data)


def streamed(files: dict[str, bytes]) -> bytes:
    """Return a zip that was written to a pipe."""
    out = Pipe()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.data


def seven(files: dict[str, bytes], **options: str | bool) -> bytes:
    """Return a 7z of some files."""
    out = io.BytesIO()
    with py7zr.SevenZipFile(out, "w", **options) as archive:
        for name, data in files.items():
            archive.writestr(data, name)
    return out.getvalue()


KINDS = {
    "zip": zipped,
    "zip-stored": lambda files: zipped(files, zipfile.ZIP_STORED),
    "zip-bzip2": lambda files: zipped(files, zipfile.ZIP_BZIP2),
    "zip-lzma": lambda files: zipped(files, zipfile.ZIP_LZMA),
    "zip-streamed": streamed,
    "tar": tar,
    "tar-gnu": lambda files: tar(files, tarfile.GNU_FORMAT),
    "tar.gz": lambda files: gzip.compress(tar(files)),
    "tar.bz2": lambda files: bz2.compress(tar(files)),
    "tar.xz": lambda files: lzma.compress(tar(files)),
    "tar.zst": lambda files: zstandard.compress(tar(files)),
    "7z": seven,
}


def opened(tmp_path: Path, data: bytes, limits: Limits | None = None, name: str = "in") -> list[Input]:
    """Return what an archive gives, which is called ``in``."""
    return discovery.discover([str(put(tmp_path, data, name))], limits=limits or Limits())


def contents(items: list[Input]) -> dict[str, bytes]:
    """Return the bytes of all that can be read."""
    return {item.name: b"".join(streams.raw(item.path)) for item in items if item.trouble is None}


def troubles(items: list[Input]) -> dict[str, str]:
    """Return why the others can't be read."""
    return {item.name: item.trouble for item in items if item.trouble is not None}


@pytest.mark.parametrize("kind", KINDS)
class TestKind:
    """The contract of every kind of archive."""

    def test_members(self, kind: str, tmp_path: Path) -> None:
        """Each member is an input of its own with its bytes, hash, size and a name below the archive's."""
        items = opened(tmp_path, KINDS[kind](FILES))

        assert contents(items) == {f"in!{name}": data for name, data in FILES.items()}
        assert troubles(items) == {}
        assert [streams.sha256(item.path) for item in items] == [
            hashlib.sha256(FILES[item.name.removeprefix("in!")]).hexdigest() for item in items
        ]
        assert [streams.size(item.path) for item in items] == [
            len(FILES[item.name.removeprefix("in!")]) for item in items
        ]

    def test_natural_order(self, kind: str, tmp_path: Path) -> None:
        """A rotated set inside is listed by number."""
        names = [item.name for item in opened(tmp_path, KINDS[kind](FILES))]
        assert [name for name in names if "app" in name] == [
            "in!logs/app.log",
            "in!logs/app.log.1",
            "in!logs/app.log.2.gz",
            "in!logs/app.log.10.gz",
        ]

    def test_compressed_member(self, kind: str, tmp_path: Path) -> None:
        """A member that is compressed itself is read through, and its lines are found by number."""
        item = next(i for i in opened(tmp_path, KINDS[kind](FILES)) if i.name.endswith(".2.gz"))
        assert read(item.path) == (LOG[:500], [])
        assert streams.lines_at(item.path, [2], 27) == {2: b"2026-11-29T12:00:00Z line 1"}

    def test_read_twice(self, kind: str, tmp_path: Path) -> None:
        """A member can be read again, and an archive be opened again at no cost."""
        items = opened(tmp_path, KINDS[kind](FILES))
        assert contents(items) == contents(items)
        assert discovery.discover([str(tmp_path / "in")]) == items

    def test_cut_anywhere(self, kind: str, tmp_path: Path) -> None:
        """Cut at any byte, an archive gives a beginning of each member that is there, says so, and is never an error."""
        files = {"a.log": LOG[:300], "b.log": LOG[300:900], "c.log": b"last\n"}
        packed = KINDS[kind](files)
        step = 1 if kind == "zip" else max(1, len(packed) // 40)
        for cut in range(24, len(packed) - 1, step):
            items = opened(tmp_path, packed[:cut], name=f"in{cut}")
            known = [item for item in items if item.name != f"in{cut}"]
            for item in known:
                if item.trouble is None:
                    data, notes = read(item.path)
                    truth = files[item.name.split("!")[1]]
                    assert truth.startswith(data)
                    assert notes or data == truth
            if known:
                assert items[0].name == f"in{cut}" or any(read(item.path)[1] for item in known)

    @QUICK
    @given(flips=st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(1, 255)), min_size=1, max_size=5))
    def test_damaged_anywhere(self, kind: str, flips: list[tuple[int, int]], tmp_path: Path) -> None:
        """Whatever bytes are changed, opening and reading end without an exception."""
        packed = bytearray(KINDS[kind]({"a.log": LOG[:300], "b.log": LOG[300:900]}))
        for at, bits in flips:
            packed[at % len(packed)] ^= bits
        name = hashlib.sha256(packed).hexdigest()[:16]
        for item in opened(tmp_path, bytes(packed), Limits(total=1 << 24), name):
            assert item.name.startswith(name)
            if item.trouble is None:
                read(item.path)

    def test_hidden_members(self, kind: str, tmp_path: Path) -> None:
        """What a folder's reading leaves out is left out here too, and what macOS adds."""
        files = {".git/config": b"x\n", "a/.b": b"x\n", "__MACOSX/._a": b"x\n", "./c.log": b"ok\n"}
        if kind == "7z":
            files["c.log"] = files.pop("./c.log")
        assert contents(opened(tmp_path, KINDS[kind](files))) == {"in!c.log": b"ok\n"}

    def test_total_limit(self, kind: str, tmp_path: Path) -> None:
        """Members up to the total are read, and the reason names the option."""
        files = {"a.log": LOG[:1000], "b.log": LOG[:1000], "c.log": LOG[:1000]}
        items = opened(tmp_path, KINDS[kind](files), Limits(total=2500))
        read_ = contents(items)

        assert read_["in!a.log"] == files["a.log"]
        assert set(read_) < {f"in!{name}" for name in files}
        assert "--unpack-limit" in troubles(items)["in"]

    def test_member_limit(self, kind: str, tmp_path: Path) -> None:
        """More members than the limit: the first are read."""
        items = opened(tmp_path, KINDS[kind]({f"{n}.log": b"x\n" for n in range(9)}), Limits(members=4))
        assert list(contents(items)) == ["in!0.log", "in!1.log", "in!2.log", "in!3.log"]
        assert troubles(items)["in"].startswith("more than 4 members: the first were read; ")

    def test_nested(self, kind: str, tmp_path: Path) -> None:
        """Archives inside archives are opened to the third level; a deeper one is named."""
        inner = KINDS[kind]({"a.log": b"deep\n"})
        third = tar({"3.x": inner})
        items = opened(tmp_path, zipped({"1.x": gzip.compress(third), "b.log": b"flat\n"}))
        assert contents(items) == {"in!1.x!3.x!a.log": b"deep\n", "in!b.log": b"flat\n"}

        items = opened(tmp_path, zipped({"1.x": tar({"2.x": zipped({"3.x": inner})})}), name="deeper")
        assert troubles(items) == {
            "deeper!1.x!2.x!3.x": "an archive inside 3 others, deeper than is looked; give --unpack-limit depth=N to raise it"
        }


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"7z"}))
def test_unsafe_names(kind: str, tmp_path: Path) -> None:
    """Members whose name leads out of the archive are left out and said; nothing is written anywhere."""
    files = {"../evil.log": b"x\n", "/etc/evil.log": b"x\n", "a/../../evil": b"x\n", "good.log": b"ok\n"}
    items = opened(tmp_path, KINDS[kind](files))

    assert contents(items) == {"in!good.log": b"ok\n"}
    assert list(troubles(items)) == ["in"]
    assert "members with an absolute path left out (1): /etc/evil.log" in troubles(items)["in"]
    assert "members whose path leads out of the archive left out (2)" in troubles(items)["in"]
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["in"]


@pytest.mark.parametrize(
    "data",
    [zipped({}), seven({}), gzip.compress(b"PK\x05\x06" + bytes(18)), tar({"folder/../..": b""})],
    ids=["zip", "7z", "zip.gz", "tar"],
)
def test_empty(data: bytes, tmp_path: Path) -> None:
    """An archive without members is one line that says so."""
    items = opened(tmp_path, data)
    assert list(troubles(items)) == ["in"]
    assert ";" in troubles(items)["in"]


@pytest.mark.parametrize(
    "name", ["../evil.log", "/evil.log", "..\\evil.log", "C:/evil.log", "a/../b", "", ".", "./"]
)
def test_no_unsafe_name_is_safe(name: str) -> None:
    """A name that leads out, or nowhere, is none, in any kind of archive."""
    assert members.safe_name(name)[0] is None


@pytest.mark.parametrize("kind", ["zip", "zip-stored", "zip-streamed"])
def test_zip_without_its_end(kind: str, tmp_path: Path) -> None:
    """A zip whose table of contents is missing gives every member that is whole and the part of the last."""
    packed = KINDS[kind](FILES)
    cut = packed[: packed.index(b"PK\x01\x02")]
    items = opened(tmp_path, cut)
    assert contents(items) == {f"in!{name}": data for name, data in FILES.items()} or kind == "zip-streamed"
    assert troubles(items)["in"].startswith(
        "the zip has no readable table of contents (File is not a zip file)"
    )

    half = opened(tmp_path, packed[: len(zipped({"logs/app.log": LOG})) // 2], name="half")
    assert list(contents(half)) == ["half!logs/app.log"]
    data, notes = read(half[1].path)
    assert 100 < len(data) < len(LOG)
    assert LOG.startswith(data)
    assert len(notes) == 1


def test_wrong_checksum(tmp_path: Path) -> None:
    """A member whose bytes were changed is read, and its source says that they are not what was packed."""
    packed = bytearray(zipped({"a.log": b"one\ntwo\n"}, zipfile.ZIP_STORED))
    packed[packed.index(b"two")] = ord("T")
    (item,) = opened(tmp_path, bytes(packed))
    assert read(item.path) == (
        b"one\nTwo\n",
        ["the member's checksum is wrong: some of its bytes are not what was packed; copy the archive again"],
    )


def test_encrypted_zip(tmp_path: Path) -> None:
    """An encrypted member is listed with its reason; the others are read."""
    packed = bytearray(zipped({"a.log": b"secret\n", "b.log": b"open\n"}))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        packed[packed.index(signature) + offset] |= 1
    items = opened(tmp_path, bytes(packed))
    assert troubles(items) == {"in!a.log": ENCRYPTED}
    assert contents(items) == {"in!b.log": b"open\n"}


@pytest.mark.parametrize("header", [False, True])
def test_encrypted_7z(tmp_path: Path, *, header: bool) -> None:
    """An encrypted 7z is named with the remedy, whether or not it shows its names."""
    items = opened(tmp_path, seven({"a.log": b"x\n"}, password="pw", header_encryption=header))  # noqa: S106 - of a sample
    assert troubles(items) == {"in" if header else "in!a.log": ENCRYPTED}


def test_unknown_method(tmp_path: Path) -> None:
    """A method that is not read is named with a remedy; the others are read."""
    packed = bytearray(zipped({"a.log": b"x\n", "b.log": b"open\n"}))
    for signature, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        at = packed.index(signature) + offset
        packed[at : at + 2] = struct.pack("<H", 98)
    items = opened(tmp_path, bytes(packed))
    assert troubles(items) == {
        "in!a.log": "packed by ppmd, which is not read; unpack the archive (7z x FILE) and give the folder"
    }
    assert contents(items) == {"in!b.log": b"open\n"}


@pytest.mark.parametrize(
    ("method", "pack"),
    [(93, zstandard.compress), (95, lzma.compress), (9, None)],
    ids=["zstd", "xz", "deflate64"],
)
def test_methods_that_zipfile_lacks(method: int, pack, tmp_path: Path) -> None:
    """Members packed by zstd (Windows 11, WinZip), xz, and deflate64 (Windows Explorer above 2 GiB) are read."""
    if pack is None:
        import inflate64

        engine = inflate64.Deflater()
        data = engine.deflate(LOG) + engine.flush()
    else:
        data = pack(LOG)
    local = struct.pack(
        "<4sHHHHHIIIHH", b"PK\x03\x04", 20, 0, method, 0, 0x5D7D, 0, len(data), len(LOG), 5, 0
    )
    central = struct.pack("<4sHHHHHHIIIHHHHHII", b"PK\x01\x02", 20, 20, 0, method, 0, 0x5D7D, zipfile.crc32(LOG), len(data), len(LOG), 5, 0, 0, 0, 0, 0, 0)  # fmt: skip
    body = local + b"a.log" + data
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, 1, 1, len(central) + 5, len(body), 0)
    (item,) = opened(tmp_path, body + central + b"a.log" + end)
    assert read(item.path) == (LOG, [])


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (
            ["[Content_Types].xml", "_rels/.rels", "xl/workbook.xml"],
            "an Excel workbook; save its sheet as CSV (UTF-8)",
        ),
        (["[Content_Types].xml", "word/document.xml"], "a Word document; save it as plain text"),
        (
            ["mimetype", "content.xml"],
            "an OpenDocument file or a book; save its sheet as CSV or its text as UTF-8 text",
        ),
        (
            ["META-INF/MANIFEST.MF", "App.class"],
            "a Java archive, which holds a program; give the log of its process",
        ),
    ],
)
def test_zips_of_another_purpose(names: list[str], said: str, tmp_path: Path) -> None:
    """A workbook is one line with advice, not a list of its parts."""
    assert troubles(opened(tmp_path, zipped(dict.fromkeys(names, b"x")))) == {"in": said}


def test_names_of_old_writers(tmp_path: Path) -> None:
    """A name without the UTF-8 flag is UTF-8 where it can be, else code page 437; backslashes part folders."""
    packed = zipped({"naXXve.log": b"1\n", "graX.log": b"2\n", "win/app.log": b"3\n"})
    packed = (
        packed.replace(b"naXXve", "naïve".encode())
        .replace(b"graX", b"gra\xe1")
        .replace(b"win/app", b"win\\app")
    )
    assert list(contents(opened(tmp_path, packed))) == ["in!graß.log", "in!naïve.log", "in!win/app.log"]


def test_links_and_devices(tmp_path: Path) -> None:
    """Links, devices and pipes are left out and said; nothing outside the archive is opened."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, kind in (("link", tarfile.SYMTYPE), ("hard", tarfile.LNKTYPE), ("null", tarfile.CHRTYPE), ("pipe", tarfile.FIFOTYPE)):  # fmt: skip
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
        info = tarfile.TarInfo("a.log")
        info.size = 3
        archive.addfile(info, io.BytesIO(b"ok\n"))
    items = opened(tmp_path, out.getvalue())
    assert contents(items) == {"in!a.log": b"ok\n"}
    assert troubles(items) == {
        "in": "devices or pipes left out (2): null, pipe; links left out (2): link, hard; if they matter, unpack the archive and give them by name"
    }

    with zipfile.ZipFile(tmp_path / "links.zip", "w") as archive:
        info = zipfile.ZipInfo("link")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    assert troubles(discovery.discover([str(tmp_path / "links.zip")]))["links.zip"].startswith(
        "links left out (1): link"
    )


def test_sparse_member(tmp_path: Path) -> None:
    """A file with a hole comes out whole, with its zeros."""
    path = tmp_path / "sparse.log"
    with path.open("wb") as file:
        file.write(b"start\n")
        file.seek(1 << 20)
        file.write(b"end\n")
    assert os.system(f"tar -C {tmp_path} -S -cf {tmp_path}/in.tar sparse.log") == 0  # noqa: S605 - our own path
    (item,) = discovery.discover([str(tmp_path / "in.tar")])
    data, notes = read(item.path)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == streams.sha256(item.path)
    assert data == b"start\nend\n"
    assert len(notes) == 1


def test_joined_tars(tmp_path: Path) -> None:
    """Two tars in one file are both read, and padding behind them is none."""
    items = opened(tmp_path, tar({"a.log": b"1\n"}) + tar({"b.log": b"2\n"}) + bytes(10240))
    assert contents(items) == {"in!a.log": b"1\n", "in!b.log": b"2\n"}
    assert troubles(items) == {}


def test_damaged_header_of_a_tar(tmp_path: Path) -> None:
    """A member whose header is broken is lost, the ones behind it are not, and the report says so."""
    packed = bytearray(tar({"a.log": b"1\n", "b.log": b"2\n", "c.log": b"3\n"}, tarfile.USTAR_FORMAT))
    packed[1024 + 148] ^= 0x01
    items = opened(tmp_path, bytes(packed))
    assert contents(items) == {"in!a.log": b"1\n", "in!c.log": b"3\n"}
    assert troubles(items)["in"].startswith("2 blocks of the tar are no headers and were passed over")


def test_two_members_of_one_name(tmp_path: Path) -> None:
    """An archive that was appended to keeps both versions apart."""
    items = opened(tmp_path, tar({"a.log": b"old\n"})[:1024] + tar({"a.log": b"new\n"}))
    assert contents(items) == {"in!a.log": b"old\n", "in!a.log#2": b"new\n"}


def test_two_archives_of_one_name(tmp_path: Path) -> None:
    """Members of archives that share a name are told apart by the archives' folders."""
    for day in ("monday", "tuesday"):
        (tmp_path / day).mkdir()
        put(tmp_path / day, zipped({"a.log": day.encode()}), "logs.zip")
    items = discovery.discover([str(tmp_path / "monday/logs.zip"), str(tmp_path / "tuesday/logs.zip")])
    assert contents(items) == {"monday/logs.zip!a.log": b"monday", "tuesday/logs.zip!a.log": b"tuesday"}


def test_bomb_in_a_zip(tmp_path: Path) -> None:
    """A member that unpacks to more than any log does is refused before it is unpacked; the others are read."""
    items = opened(
        tmp_path,
        zipped({"bomb.log": bytes(20 << 20), "a.log": b"ok\n"}, zipfile.ZIP_BZIP2),
        Limits(granted=1 << 20),
    )
    assert contents(items) == {"in!a.log": b"ok\n"}
    assert troubles(items)["in!bomb.log"].endswith(
        "more than 2,000 to 1, which no log does; give --unpack-limit ratio=N to raise it"
    )


def test_member_that_lies_about_its_size(tmp_path: Path) -> None:
    """A member is read up to the size that it states."""
    packed = zipped({"a.log": LOG})
    short = packed.replace(struct.pack("<I", len(LOG)), struct.pack("<I", 100))
    (item,) = opened(tmp_path, short)
    data, notes = read(item.path)
    assert data == LOG[:100]
    assert notes == ["the member unpacks to more than the 100 bytes that are stated; the rest was left out"]


def test_full_disk(tmp_path: Path, monkeypatch) -> None:
    """Where a member can't be spooled the reason names the folder for temporary files."""

    def full(*_: object) -> None:
        raise spool.NoRoomError("No space left on device")

    monkeypatch.setattr(spool.Spooled, "write", full)
    assert troubles(opened(tmp_path, gzip.compress(tar({"a.log": LOG})))) == {
        "in": "the folder for temporary files is full (No space left on device); set TMPDIR to a larger one"
    }


def test_spool_is_private_and_named_by_numbers(tmp_path: Path) -> None:
    """What is spooled lies in a folder of the owner alone, under no name of a member."""
    opened(tmp_path, gzip.compress(tar({"evil.sh": LOG})))
    folder = spool.spool_folder()
    assert folder.stat().st_mode & 0o077 == 0
    assert all(path.name.isdecimal() for path in folder.iterdir())


def test_archive_that_is_cut_by_its_compression(tmp_path: Path) -> None:
    """A cut tar.gz gives the members before the cut whole, the one at the cut in part, and says where it broke."""
    noise = b"".join(b"%032x\n" % (n * 2654435761 % 2**128) ** 3 for n in range(9_000))
    packed = gzip.compress(tar({"a.log": LOG, "b.log": noise, "c.log": LOG}))
    items = opened(tmp_path, packed[: len(packed) // 2])
    a, b = (read(item.path) for item in items if item.trouble is None)

    assert a == (LOG, [])
    assert noise.startswith(b[0])
    assert b[1] == [
        f"the archive ends inside this member: {len(b[0]):,} of {len(noise):,} bytes are there; copy it again for the rest"
    ]
    assert troubles(items)["in"].startswith("the gzip stream ends early after ")
    assert troubles(items)["in"].endswith("; its last member is b.log")


def test_times_of_members(tmp_path: Path) -> None:
    """A member's time is its own; one that has none takes the archive's."""
    (item,) = opened(tmp_path, zipped({"a.log": b"x\n"}))
    assert streams.modified_us(item.path) == 1_795_953_600_000_000
    (item,) = opened(tmp_path, tar({"a.log": b"x\n"}), name="t")
    assert streams.modified_us(item.path) == 1_795_953_600_000_000
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(zipfile.ZipInfo("a.log"), b"x\n")
    path = put(tmp_path, out.getvalue(), "old")
    (item,) = discovery.discover([str(path)])
    assert streams.modified_us(item.path) == path.stat().st_mtime_ns // 1000


def test_standard_input(tmp_path: Path, monkeypatch) -> None:
    """An archive on standard input is opened too."""
    path = put(tmp_path, zipped({"a.log": b"x\n"}))
    monkeypatch.setattr(discovery, "spool", lambda: shutil.copy(path, tmp_path / "stdin"))
    assert contents(discovery.discover(["-"])) == {"stdin!a.log": b"x\n"}


def test_two_members_of_one_name_in_a_7z(tmp_path: Path) -> None:
    """Both versions are read; py7zr numbers the second."""
    out = io.BytesIO()
    with py7zr.SevenZipFile(out, "w") as archive:
        for data in (b"old\n", b"new\n"):
            archive.writestr(data, "a.log")
    assert list(contents(opened(tmp_path, out.getvalue())).values()) == [b"old\n", b"new\n"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cut", [1, 3, 8, 20])
def test_hardly_anything_of_an_archive(kind: str, cut: int, tmp_path: Path) -> None:
    """The first bytes of an archive are one input that can't be read, whatever is missing."""
    items = opened(tmp_path, KINDS[kind](FILES)[:cut])
    assert [item.name for item in items] == ["in"]


def test_many_members(tmp_path: Path) -> None:
    """Thousands of members need no more open files than one."""
    files = {f"{n}.log": b"x\n" for n in range(600)}
    before = len(list(Path("/dev/fd").iterdir()))
    for kind in ("zip", "tar.gz", "7z"):
        items = opened(tmp_path, KINDS[kind](files), name=kind)
        assert [item.name for item in items] == [f"{kind}!{n}.log" for n in range(600)]
        assert {read(item.path)[0] for item in items} == {b"x\n"}
    assert len(list(Path("/dev/fd").iterdir())) <= before + 1
