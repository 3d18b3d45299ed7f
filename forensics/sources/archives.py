"""Archives: zip, tar (compressed by anything) and 7z, whose members become inputs of their own.

    logs.zip/var/log/app.log        the name of a member in the report

Nothing is extracted to a place that a member names: where a member can be read from the archive as it lies (zip, plain tar) it
is, else (compressed tar, 7z, archives in archives) it is spooled to a private file, packed lightly, which goes when the process
ends. A member is put on record in :mod:`forensics.sources.streams` under the path of the archive followed by its own
name, so that companions such as ``NAME-wal`` are found as they would be in a folder.

A damaged or cut archive gives the members, and the part of a member, that are there; a zip without its table of
contents is read by the headers that stand before each member. References: PKWARE APPNOTE.TXT 4.3 to 4.5 (zip), GNU tar
manual "Basic Tar Format", py7zr.
"""

from __future__ import annotations

import atexit
import calendar
import hashlib
import io
import itertools
import lzma
import re
import shutil
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any, ClassVar, Literal, Self

from forensics.sources import compression, streams
from forensics.sources.limits import DEFAULT, RAISE, Damage, Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08", b"PK00PK\x03\x04")
"""A local header, an empty archive, and the marks of an archive in parts."""
SEVENZIP = b"7z\xbc\xaf\x27\x1c"
TAR_BLOCK = 512
PROBE = 1024
"""Unpacked bytes that tell a tar, compressed or not."""
EARLIEST_S = 315_619_200
"""Members that claim to be older than 1980-01-02 have no time: zip's clock begins there, and reproducible archives say so."""
METHODS = {
    0: "stored", 1: "shrink", 6: "implode", 8: "deflate", 9: "deflate64", 12: "bzip2", 14: "lzma", 19: "lz77", 93: "zstd",
    95: "xz", 96: "jpeg", 97: "wavpack", 98: "ppmd", 99: "AES",
}  # fmt: skip
HEADERS_MAX = 1 << 20
"""Bytes of an extended tar header; names and times take some hundred, and the reader holds it whole."""
ENCRYPTED = "encrypted; unpack the archive with its password and give the folder"
MANY = 5
"""Members of one kind that are named one by one."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member that can be read, or the reason why it can't."""

    name: str
    path: Path
    trouble: str | None = None


class NoRoomError(Exception):
    """The private copy of a member does not fit on the disk."""


@dataclass(slots=True)
class Budget:
    """What one input may still unpack to, counted over all archives inside it."""

    size: int
    members: int


@dataclass(slots=True)
class Contents:
    """What one archive holds."""

    path: Path
    limits: Limits
    budget: Budget
    depth: int
    members: list[Member] = field(default_factory=list)
    trouble: list[str] = field(default_factory=list)
    """What has to be said of the archive as a whole."""
    left_out: dict[str, list[str]] = field(default_factory=dict)
    """Members that are no files or have no safe name, by kind."""
    names: Counter[str] = field(default_factory=Counter)
    modified_us: int = 0

    def add(self, name: str, stored: streams.Stored) -> bool:
        """Put a member on record; False when the archive passes a limit, after which nothing more is taken."""
        if not self.budget.members:
            self.trouble.append(
                f"more than {self.limits.members:,} members: the first were read; give the folder that it unpacks to"
            )
            return False
        unique = self.unique(name)
        path = self.path / unique
        streams.STORED[path] = stored
        self.budget.members -= 1
        self.budget.size -= stored.size
        self.members.extend(self.inside(unique, path))
        return True

    def inside(self, name: str, path: Path) -> list[Member]:
        """Return a member, or what it holds where it is an archive itself."""
        kind = kind_of(path)
        if kind is None:
            return [Member(name, path)]
        if self.depth >= self.limits.depth:
            why = f"an archive inside {self.depth} others, deeper than is looked; unpack it and give the folder"
            return [Member(name, path, why)]
        found = unfolded(Contents(path, self.limits, self.budget, self.depth + 1), kind)
        return [replace(member, name=f"{name}/{member.name}".rstrip("/")) for member in found]

    def refuse(self, name: str, why: str) -> None:
        """List a member that can't be read."""
        unique = self.unique(name)
        self.members.append(Member(unique, self.path / unique, why))

    def unique(self, name: str) -> str:
        """Number the second and later members of one name."""
        self.names[name] += 1
        return f"{name}#{self.names[name]}" if self.names[name] > 1 else name

    def room(self, size: int) -> bool:
        """Does a member of this size fit? If not, say so."""
        if size <= self.budget.size:
            return True
        self.trouble.append(
            f"it unpacks to more than {self.limits.total:,} bytes: the members up to there were read; {RAISE}"
        )
        return False

    def leave_out(self, kind: str, name: str) -> None:
        """Count a member that is no file, or whose name leads out of the archive."""
        self.left_out.setdefault(kind, []).append(name)

    def said(self) -> str | None:
        """Return what has to be said of the archive, None if all of it was read."""
        parts = list(dict.fromkeys(self.trouble))
        for kind, names in sorted(self.left_out.items()):
            more = f" and {len(names) - MANY:,} more" if len(names) > MANY else ""
            parts.append(f"{len(names):,} {kind} left out: {', '.join(names[:MANY])}{more}")
        return "; ".join(parts) or None


def kind_of(path: Path) -> Callable[[Contents], None] | None:
    """Return how to read an archive, None for anything else."""
    head = streams.beginning(path, PROBE)
    if head.startswith(ZIP):
        return read_zip
    if head.startswith(SEVENZIP):
        return read_7z
    return read_tar if is_tar(head) else None


def is_tar(head: bytes) -> bool:
    """Tell the header of a tar's first member by its checksum, which the formats before POSIX have too."""
    if len(head) < TAR_BLOCK or not head[0]:
        return False
    stated = head[148:156].strip(b" \0")
    block = head[:148] + b" " * 8 + head[156:TAR_BLOCK]
    return bool(re.fullmatch(rb"[0-7]+", stated)) and sum(block) == int(stated, 8)


def unfold(path: Path, limits: Limits = DEFAULT) -> list[Member] | None:
    """Return the members of an archive, None if it is none. A member without a name speaks of the archive itself."""
    kind = kind_of(path)
    if kind is None:
        return None
    return unfolded(Contents(path, limits, Budget(limits.total, limits.members), 1), kind)


def unfolded(contents: Contents, kind: Callable[[Contents], None]) -> list[Member]:
    """Read the contents of an archive."""
    try:
        contents.modified_us = streams.modified_us(contents.path)
        kind(contents)
    except NoRoomError as error:
        contents.trouble.append(f"the folder for temporary files is full ({error}); set TMPDIR to a larger one")
    except OSError as error:
        contents.trouble.append(f"reading failed ({error.strerror}); copy the file again")
    if not contents.members and not contents.said():
        contents.trouble.append("the archive is empty; make it again and look at the messages")
    said = contents.said()
    return [*([Member("", contents.path, said)] if said else []), *contents.members]


def safe_name(name: str) -> tuple[str | None, str]:
    """Return a member's name with plain slashes, or None and what is wrong with it."""
    text = name.replace("\\", "/").split("\0")[0]
    if text.startswith("/") or text[1:3] == ":/":
        return None, "members with an absolute path"
    parts = [part for part in text.split("/") if part not in ("", ".")]
    if ".." in parts:
        return None, "members whose path leads out of the archive"
    return ("/".join(parts), "") if parts else (None, "members without a name")


def hidden(name: str) -> bool:
    """Tell what a folder's reading leaves out too: hidden files, and what macOS adds to zips and tars."""
    return any(part.startswith(".") or part == "__MACOSX" for part in PurePosixPath(name).parts)


def shortfall(given: int, stated: int) -> str:
    """Say that a member is not whole."""
    return f"the archive ends inside this member: {given:,} of {stated:,} bytes are there; copy it again for the rest"


# Spooling


class Spooled:
    """A member on its way into a private file, lightly packed: a temporary folder is often memory."""

    def __init__(self, modified_us: int, limits: Limits) -> None:
        self.modified_us = modified_us
        self.limits = limits
        self.notes: list[str] = []
        """Told whenever the member is read."""
        self.digest, self.size = hashlib.sha256(), 0
        self.file = spool_file()
        self.open = ExitStack()
        self.packer: Any = None

    def write(self, piece: bytes) -> None:
        """Add bytes."""
        import zstandard  # noqa: PLC0415 - few inputs need it

        self.digest.update(piece)
        self.size += len(piece)
        try:
            if self.packer is None:
                out = self.open.enter_context(self.file.open("xb"))
                self.packer = self.open.enter_context(zstandard.ZstdCompressor(level=1).stream_writer(out))
            self.packer.write(piece)
        except OSError as error:
            raise NoRoomError(error.strerror) from None

    def seal(self) -> None:
        """Close the file."""
        try:
            self.open.close()
        except OSError as error:
            raise NoRoomError(error.strerror) from None

    def stored(self) -> streams.Stored:
        """Return what stands for the member."""
        self.seal()
        return streams.Stored(self.again, self.size, self.modified_us, self.limits, [self.digest.hexdigest()])

    def again(self, damage: Damage) -> Iterator[bytes]:
        """Yield the member's bytes."""
        for note in self.notes:
            damage.say(note)
        if not self.size:
            return
        with self.file.open("rb") as packed:
            stored = compression.Supply(iter(lambda: packed.read(streams.CHUNK), b""))
            yield from compression.member(stored, compression.ZSTD, 0, Damage())


@cache
def spool_folder() -> Path:
    """Return a private folder that goes when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="forensics-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


NUMBERS = itertools.count(1)


def spool_file() -> Path:
    """Return a new private file, named by a number."""
    return spool_folder() / str(next(NUMBERS))


def as_file(path: Path, magic: bytes | tuple[bytes, ...]) -> Path:
    """Return a file with the unpacked bytes of an input, for readers that need to seek."""
    if path not in streams.STORED:
        with path.open("rb") as file:
            if file.read(8).startswith(magic):
                return path
    target = spool_file()
    try:
        streams.write(path, target)
    except OSError as error:
        raise NoRoomError(error.strerror) from None
    return target


# zip


@dataclass(frozen=True, slots=True)
class Entry:
    """A member of a zip and where its data lies."""

    file: Path
    at: int
    packed: int | None
    """None where only the data tell."""
    size: int | None
    crc: int | None
    method: int


def read_zip(contents: Contents) -> None:
    """Put the members of a zip on record."""
    file = as_file(contents.path, ZIP)
    with file.open("rb") as data:
        try:
            with zipfile.ZipFile(data) as archive:
                listed = archive.infolist()
        except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error, EOFError, OSError) as error:
            contents.trouble.append(
                f"the zip has no readable table of contents ({compression.reason(error)}): its members were looked up one by one; copy it again for the rest"
            )
            salvage_zip(contents, file)
            return
        if why := other_purpose(archive_names(listed)):
            contents.trouble.append(why)
            return
        for info in listed:
            if not take_zip(contents, file, data, info):
                return


def archive_names(listed: list[zipfile.ZipInfo]) -> list[str]:
    """Return the names at the beginning of a zip."""
    return [info.filename for info in listed[:200]]


def other_purpose(names: list[str]) -> str | None:
    """Say what a zip is that is no archive of logs."""
    if "[Content_Types].xml" in names:
        kinds = {"xl/": "an Excel workbook; save its sheet as CSV (UTF-8)", "word/": "a Word document; save it as plain text", "ppt/": "a presentation; give the text or data that it shows"}  # fmt: skip
        found = next((said for start, said in kinds.items() if any(name.startswith(start) for name in names)), None)
        return found or "an office document; save its sheet as CSV or its text as UTF-8 text"
    if names[:1] == ["mimetype"]:
        return "an OpenDocument file or a book; save its sheet as CSV or its text as UTF-8 text"
    if names and names[0] in ("META-INF/", "META-INF/MANIFEST.MF") and "META-INF/MANIFEST.MF" in names:
        return "a Java archive, which holds a program; give the log of its process"
    if "AndroidManifest.xml" in names:
        return "an Android package, which holds a program; give the log of its process"
    return None


def take_zip(contents: Contents, file: Path, data: IO[bytes], info: zipfile.ZipInfo) -> bool:
    """Put one listed member on record; False when a limit is met."""
    name, wrong = safe_name(zip_name(info))
    if name is None:
        contents.leave_out(wrong, info.filename)
        return True
    if info.is_dir() or info.filename.endswith("\\") or hidden(name):
        return True
    mode = info.external_attr >> 16
    if mode & 0o170000 not in (0, 0o100000):
        contents.leave_out("links or devices", name)
        return True
    if why := zip_trouble(info.flag_bits, info.compress_type):
        contents.refuse(name, why)
        return True
    if not contents.room(info.file_size):
        return False
    if too_dense(info.compress_size, info.file_size, contents.limits):
        contents.refuse(name, dense(info.compress_size, info.file_size, contents.limits))
        return True
    begin = data_offset(data, info.header_offset)
    if begin is None:
        contents.refuse(name, "its header is damaged or missing; copy the archive again")
        return True
    entry = Entry(file, begin, info.compress_size, info.file_size, info.CRC, info.compress_type)
    return contents.add(name, zip_stored(entry, zip_time(info.date_time, info.extra, contents), contents.limits))


def zip_name(info: zipfile.ZipInfo) -> str:
    """Return a member's name; without the UTF-8 flag it may still be UTF-8, as many writers do."""
    if info.flag_bits & 0x800:
        return info.filename
    return legacy_name(info.orig_filename.encode("cp437", "replace"))


def legacy_name(raw: bytes) -> str:
    """Decode a name without the UTF-8 flag."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("cp437", "replace")


def zip_trouble(flags: int, method: int) -> str | None:
    """Say why a member can't be read."""
    if flags & 1 or method == 99:
        return ENCRYPTED
    if method not in (0, 8, 9, 12, 14, 93, 95):
        named = METHODS.get(method, f"method {method}")
        return f"packed by {named}, which is not read; unpack the archive (7z x FILE) and give the folder"
    return None


def too_dense(packed: int, size: int, limits: Limits) -> bool:
    """Does a member unpack to more than any log does?"""
    return size > limits.granted and size > limits.ratio * max(packed, 1)


def dense(packed: int, size: int, limits: Limits) -> str:
    """Say so."""
    return f"it unpacks from {packed:,} to {size:,} bytes, more than {limits.ratio:,} to 1, which no log does; unpack it yourself and give the result"


def data_offset(data: IO[bytes], header: int) -> int | None:
    """Return where a member's data begins, by its local header."""
    if header < 0:
        return None
    data.seek(header)
    local = data.read(30)
    if len(local) < 30 or local[:4] != ZIP[0]:
        return None
    name, extra = struct.unpack("<HH", local[26:30])
    return header + 30 + int(name) + int(extra)


def zip_time(stamp: tuple[int, ...], extra: bytes, contents: Contents) -> int:
    """Return when a member was written: the UTC of the extended timestamp, else the local time as if it were UTC."""
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, at)
        if kind == 0x5455 and length >= 5 and at + 9 <= len(extra) and extra[at + 4] & 1:
            return sane_time(int(struct.unpack_from("<i", extra, at + 5)[0]), contents)
        at += 4 + length
    try:
        return sane_time(calendar.timegm((*stamp[:6], 0, 0, 0)), contents)
    except (ValueError, OverflowError):
        return contents.modified_us


def sane_time(seconds: float, contents: Contents) -> int:
    """Return a time in microseconds; one that means none is the archive's."""
    if not EARLIEST_S < seconds < 1 << 34:
        return contents.modified_us
    return int(seconds * 1_000_000)


def zip_stored(entry: Entry, modified_us: int, limits: Limits, size: int | None = None) -> streams.Stored:
    """Return what stands for a member of a zip."""
    length = size if size is not None else entry.size or 0
    return streams.Stored(lambda damage: zip_pieces(entry, damage, limits), length, modified_us, limits)


def zip_pieces(entry: Entry, damage: Damage, limits: Limits) -> Iterator[bytes]:
    """Yield the bytes of a member as far as they go."""
    given, crc = 0, 0
    stated = entry.size if entry.size is not None else limits.total
    for piece in unzipped(entry, damage):
        kept = piece[: stated - given]
        given += len(kept)
        crc = zlib.crc32(kept, crc)
        if kept:
            yield kept
        if len(kept) < len(piece):
            damage.say(f"the member unpacks to more than the {stated:,} bytes that are stated; the rest was left out")
            return
    if entry.size is not None and given < entry.size:
        damage.say(shortfall(given, entry.size))
    elif entry.crc is not None and crc != entry.crc:
        damage.say("the member's checksum is wrong: some of its bytes are not what was packed; copy the archive again")


def unzipped(entry: Entry, damage: Damage) -> Iterator[bytes]:
    """Yield the unpacked data of a member; damage ends it."""
    with entry.file.open("rb") as file:
        file.seek(entry.at)
        packed = portions(file, entry.packed)
        if entry.method == 0:
            yield from packed
            return
        inner = Damage()
        yield from compression.member(compression.Supply(packed), zip_codec(entry), 0, inner)
        for note in inner.notes:
            if "ends early" not in note or entry.size is None:
                damage.say(note)


def portions(file: IO[bytes], size: int | None) -> Iterator[bytes]:
    """Yield up to ``size`` bytes of a file."""
    left = size if size is not None else 1 << 62
    while left and (piece := file.read(min(left, streams.CHUNK))):
        left -= len(piece)
        yield piece


def zip_codec(entry: Entry) -> compression.Codec:
    """Return how a member is packed."""
    named = {codec.name: codec.engine for codec in compression.CODECS}
    engines: dict[int, Callable[[], compression.Engine]] = {
        8: lambda: compression.Zlib(-15),
        9: Deflate64,
        12: named["bzip2"],
        14: lambda: ZipLzma(entry.size),
        93: named["zstd"],
        95: named["xz"],
    }
    return compression.Codec(METHODS[entry.method], b"", engines[entry.method])


class Deflate64:
    """What Windows packs files above 2 GiB with."""

    unused = b""

    def __init__(self) -> None:
        import inflate64  # noqa: PLC0415 - few inputs need it

        self.engine = inflate64.Inflater()

    @property
    def eof(self) -> bool:
        return bool(self.engine.eof)

    def feed(self, data: bytes) -> Iterator[bytes]:
        out = self.engine.inflate(data)
        if out:
            yield out


class ZipLzma(compression.Pulled):
    """lzma in a zip: version and length of the properties, the properties, then raw data (APPNOTE 5.8.8)."""

    def __init__(self, size: int | None) -> None:
        super().__init__(lzma.LZMADecompressor(lzma.FORMAT_ALONE, memlimit=compression.MEMORY))
        self.size = size
        self.header: bytes | None = b""

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self.header is not None:
            self.header += data
            if len(self.header) < 9:
                return
            length = int.from_bytes(self.header[2:4], "little")
            if length != 5:
                raise ValueError("unknown lzma properties")
            size = (1 << 64) - 1 if self.size is None else self.size
            data = self.header[4:9] + size.to_bytes(8, "little") + self.header[9:]
            self.header = None
        yield from super().feed(data)


def salvage_zip(contents: Contents, file: Path) -> None:
    """Look up the members of a zip whose table of contents is missing, header by header."""
    end = file.stat().st_size
    with file.open("rb") as data:
        at = find_header(data, 0)
        while at is not None:
            data.seek(at)
            found = salvaged(contents, file, data.read(30), data, at)
            if found is None:
                return
            at = find_header(data, min(max(found, at + 4), end))


def find_header(data: IO[bytes], start: int) -> int | None:
    """Return where the next local header begins at or after an offset."""
    data.seek(start)
    held, base = b"", start
    while piece := data.read(streams.CHUNK):
        held += piece
        if (found := held.find(ZIP[0])) >= 0:
            return base + found
        base += max(0, len(held) - 3)
        held = held[-3:]
    return None


def salvaged(contents: Contents, file: Path, local: bytes, data: IO[bytes], at: int) -> int | None:
    """Put the member of a local header on record; return where its data ends, None at a limit."""
    if len(local) < 30:
        return at + 4
    flags, method, time, date, crc, packed, size, name_size, extra_size = struct.unpack("<6xHHHHIIIHH", local)
    raw_name, extra = data.read(name_size), data.read(extra_size)
    begin = at + 30 + name_size + extra_size
    if len(raw_name) < name_size or len(extra) < extra_size:
        return at + 4
    unknown = bool(flags & 8) and not packed
    packed, size = zip64(extra, packed, size)
    end = begin + (0 if unknown else packed)
    text = raw_name.decode("utf-8", "replace") if flags & 0x800 else legacy_name(raw_name)
    name, wrong = safe_name(text)
    if name is None:
        contents.leave_out(wrong, text)
        return end
    if text.endswith(("/", "\\")) or hidden(name):
        return end
    if why := zip_trouble(flags, method):
        contents.refuse(name, why)
        return end
    if unknown and method == 0:
        contents.refuse(name, "stored without its size, and the table of contents that has it is missing")
        return end
    stamp = (1980 + (date >> 9), date >> 5 & 15, date & 31, time >> 11, time >> 5 & 63, time % 32 * 2)
    entry = (
        Entry(file, begin, None, None, None, method) if unknown else Entry(file, begin, packed, size, crc, method)
    )
    length, used = (measured(entry, contents.limits) if unknown else (size, packed))
    if not contents.room(length):
        return None
    if too_dense(packed if not unknown else used, length, contents.limits):
        contents.refuse(name, dense(used, length, contents.limits))
        return begin + used
    stored = zip_stored(entry, zip_time(stamp, extra, contents), contents.limits, length)
    return begin + used if contents.add(name, stored) else None


def zip64(extra: bytes, packed: int, size: int) -> tuple[int, int]:
    """Return the sizes of a member, which stand in an extra field where 32 bits are too few."""
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, at)
        if kind == 1 and length >= 16 and at + 20 <= len(extra):
            big, small = struct.unpack_from("<QQ", extra, at + 4)
            return (
                int(small) if packed == 0xFFFFFFFF else packed,
                int(big) if size == 0xFFFFFFFF else size,
            )
        at += 4 + length
    return packed, size


def measured(entry: Entry, limits: Limits) -> tuple[int, int]:
    """Unpack a member whose size is not stated: (unpacked size, packed size)."""
    with entry.file.open("rb") as file:
        file.seek(entry.at)
        supply = compression.Supply(portions(file, None))
        length = 0
        for piece in compression.member(supply, zip_codec(entry), 0, Damage()):
            length += len(piece)
            if length > limits.total:
                break
        return length, max(supply.taken, 0)


# tar


class Header(tarfile.TarInfo):
    """A tar header that notices what tarfile passes over in silence."""

    broken: ClassVar[int] = 0
    """Blocks that should be a header and are none."""
    ended: ClassVar[bool] = False
    """Was the last thing seen the mark of the end?"""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """Read a header; one that asks for a huge extension is refused, since tarfile would hold it whole."""
        try:
            info = super().frombuf(buf, encoding, errors)
            extended = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)  # fmt: skip
            if info.size < 0 or (info.type in extended and info.size > HEADERS_MAX):
                raise tarfile.InvalidHeaderError("absurd size")  # type: ignore[attr-defined]
        except (tarfile.InvalidHeaderError, tarfile.TruncatedHeaderError):  # type: ignore[attr-defined]
            cls.broken += 1
            raise
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]
            cls.ended = True
            raise
        cls.ended = False
        return info


class Unpacked(io.RawIOBase):
    """A stream of pieces as a file that can only be read on."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self.supply = compression.Supply(pieces)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Return ``size`` bytes, fewer only at the end."""
        parts = []
        while size and (data := self.supply.take(size if size > 0 else streams.CHUNK)):
            parts.append(data)
            size -= len(data) if size > 0 else 0
        return b"".join(parts)


TAR_TROUBLE = (tarfile.TarError, ValueError, ArithmeticError, EOFError, LookupError, struct.error, zlib.error)
"""What tarfile raises at damaged bytes."""


def read_tar(contents: Contents) -> None:
    """Put the members of a tar on record: by their place where it is plain, else spooled in one pass."""
    damage = Damage()
    plain = contents.path not in streams.STORED and is_tar(next(streams.raw(contents.path), b"")[:TAR_BLOCK])
    mode: Literal["r:", "r|"] = "r:" if plain else "r|"
    header = type("Header", (Header,), {})
    last = None
    with contents.path.open("rb") if plain else Unpacked(streams.unpacked(contents.path, damage)) as data:
        try:
            with tarfile.open(fileobj=data, mode=mode, tarinfo=header, ignore_zeros=True, errorlevel=0) as archive:
                while (info := archive.next()) is not None:
                    last = info.name
                    if not take_tar(contents, archive, info, plain=plain):
                        return
                    archive.members = []  # type: ignore[attr-defined]
        except TAR_TROUBLE as error:
            if not damage.notes:
                damage.say(f"the tar ends early or is damaged ({compression.reason(error)}); copy it again")
    if header.broken and not damage.notes:
        damage.say(f"{header.broken:,} blocks of the tar are no headers and were passed over; copy it again")
    if not header.ended and not damage.notes:
        damage.say("the tar has no end mark, so that members may be missing; copy it again")
    contents.trouble.extend(f"{note} (its last member is {last})" if last else note for note in damage.notes)


def take_tar(
    contents: Contents, archive: tarfile.TarFile, info: tarfile.TarInfo, *, plain: bool
) -> bool:
    """Put one member on record; False when a limit is met."""
    name, wrong = safe_name(info.name)
    if name is None:
        if not info.isdir():
            contents.leave_out(wrong, info.name)
        return True
    if info.isdir() or hidden(name):
        return True
    if info.issym() or info.islnk():
        contents.leave_out("links", name)
        return True
    if not info.isfile():
        contents.leave_out("devices or pipes", name)
        return True
    if not contents.room(info.size):
        return False
    modified = sane_time(info.mtime, contents)
    if plain and not info.issparse():
        place = (contents.path, info.offset_data, info.size)
        stored = streams.Stored(lambda damage: tar_pieces(*place, damage), info.size, modified, contents.limits)
        return contents.add(name, stored)
    body = archive.extractfile(info)
    assert body is not None
    spooled = Spooled(modified, contents.limits)
    for piece in tar_body(body, info.size, spooled.notes):
        spooled.write(piece)
    return contents.add(name, spooled.stored())


def tar_pieces(path: Path, at: int, size: int, damage: Damage) -> Iterator[bytes]:
    """Yield the bytes of a member of a plain tar."""
    given = 0
    with path.open("rb") as file:
        file.seek(at)
        for piece in portions(file, size):
            given += len(piece)
            yield piece
    if given < size:
        damage.say(shortfall(given, size))


def tar_body(body: IO[bytes], size: int, notes: list[str]) -> Iterator[bytes]:
    """Yield the bytes of a member of a stream, as many as there are."""
    given = 0
    while given < size:
        try:
            piece = body.read(min(compression.FEED * 16, size - given))
        except TAR_TROUBLE:
            piece = b""
        if not piece:
            notes.append(shortfall(given, size))
            return
        given += len(piece)
        yield piece


# 7z


def read_7z(contents: Contents) -> None:
    """Put the members of a 7z on record; they are packed as one, so they are spooled in one pass."""
    import py7zr  # noqa: PLC0415 - few inputs need it

    file = as_file(contents.path, SEVENZIP)
    spooled: dict[str, Spooled] = {}
    wanted: dict[str, tuple[str, int]] = {}
    try:
        with py7zr.SevenZipFile(file) as archive:
            wanted = wanted_7z(contents, archive, spooled)
            if wanted:
                archive.extract(targets=list(wanted), factory=factory_7z(spooled))
    except NoRoomError:
        raise
    except py7zr.PasswordRequired:
        contents.trouble.append(ENCRYPTED)
    except Exception as error:  # noqa: BLE001 - the library fails in any way at damaged bytes
        contents.trouble.append(
            f"the 7z archive is damaged or cut ({compression.reason(error)}); copy it again (its table of contents stands at its end)"
        )
    for inside, (name, size) in wanted.items():
        member = spooled[inside]
        if member.size < size:
            member.notes.append(shortfall(member.size, size))
        stored = member.stored()
        if not size or stored.size:
            contents.add(name, stored)


def wanted_7z(contents: Contents, archive: Any, spooled: dict[str, Spooled]) -> dict[str, tuple[str, int]]:
    """Return what to read of a 7z: safe name and size by the name inside."""
    wanted: dict[str, tuple[str, int]] = {}
    total = 0
    encrypted = archive.needs_password()
    for info in archive.list():
        name, wrong = safe_name(info.filename)
        if name is None:
            contents.leave_out(wrong, info.filename)
        elif info.is_directory or hidden(name):
            continue
        elif info.is_symlink or not info.is_file:
            contents.leave_out("links", name)
        elif encrypted:
            contents.refuse(name, ENCRYPTED)
        elif not contents.room(total + (info.uncompressed or 0)):
            break
        elif info.filename not in wanted:
            total += info.uncompressed or 0
            when = info.creationtime.timestamp() if info.creationtime else 0
            spooled[info.filename] = Spooled(sane_time(when, contents), contents.limits)
            wanted[info.filename] = (name, info.uncompressed or 0)
    packed = max(streams.size(contents.path), 1)
    if too_dense(packed, total, contents.limits):
        contents.trouble.append(dense(packed, total, contents.limits))
        return {}
    return wanted


def factory_7z(spooled: dict[str, Spooled]) -> Any:
    """Return what py7zr asks for a place to write each member to."""
    from py7zr.io import Py7zIO, WriterFactory  # noqa: PLC0415 - few inputs need it

    class Sink(Py7zIO):
        """One member, written once from beginning to end."""

        def __init__(self, member: Spooled) -> None:
            self.member = member

        def write(self, s: bytes | bytearray) -> int:
            """Add bytes."""
            self.member.write(bytes(s))
            return len(s)

        def read(self, size: int | None = None) -> bytes:
            """Nothing is read back."""
            del size
            return b""

        def seek(self, offset: int, whence: int = 0) -> int:
            """There is one place only."""
            del offset, whence
            return self.member.size

        def flush(self) -> None:
            """Nothing waits."""

        def close(self) -> None:
            """The member is complete."""
            self.member.seal()

        def size(self) -> int:
            """Return what was written."""
            return self.member.size

    class Sinks(WriterFactory):
        """A place for each member."""

        def create(self, filename: str) -> Py7zIO:
            """Return the place of one member."""
            return Sink(spooled[filename])

    return Sinks()
