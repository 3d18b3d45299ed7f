"""Zip archives, read from where their members lie; without the table of contents, by the headers before each member.

Reference: PKWARE APPNOTE.TXT 4.3 to 4.5 (headers), 5.8.8 (lzma).
"""

from __future__ import annotations

import calendar
import lzma
import stat
import struct
import zipfile
import zlib
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from forensics.sources import compression, streams
from forensics.sources.limits import Damage, Limits
from forensics.sources.members import (
    DEVICES,
    ENCRYPTED,
    LINKS,
    Contents,
    dense,
    hidden,
    portions,
    safe_name,
    sane_time,
    shortfall,
    too_dense,
)
from forensics.sources.spool import as_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

MAGIC = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08", b"PK00PK\x03\x04")
"""A local header, an empty archive, and the marks of an archive in parts."""
NO_FILES = {stat.S_IFLNK: LINKS, stat.S_IFBLK: DEVICES, stat.S_IFCHR: DEVICES}
"""Kinds of members that hold no data of their own (a pipe does: ``command | zip logs.zip -``)."""
METHODS = {
    0: "stored", 1: "shrink", 6: "implode", 8: "deflate", 9: "deflate64", 12: "bzip2", 14: "lzma", 19: "lz77", 93: "zstd",
    95: "xz", 96: "jpeg", 97: "wavpack", 98: "ppmd", 99: "AES",
}  # fmt: skip


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
    file = as_file(contents.path, MAGIC)
    with file.open("rb") as data:
        try:
            with zipfile.ZipFile(data) as archive:
                listed = archive.infolist()
        except (
            zipfile.BadZipFile,
            NotImplementedError,
            ValueError,
            struct.error,
            EOFError,
            OSError,
        ) as error:
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
        found = next(
            (said for start, said in kinds.items() if any(name.startswith(start) for name in names)), None
        )
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
    if (kind := stat.S_IFMT(info.external_attr >> 16)) in NO_FILES:
        contents.leave_out(NO_FILES[kind], name)
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
    return contents.add(
        name, zip_stored(entry, zip_time(info.date_time, info.extra, contents), contents.limits)
    )


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


def data_offset(data: IO[bytes], header: int) -> int | None:
    """Return where a member's data begins, by its local header."""
    if header < 0:
        return None
    data.seek(header)
    local = data.read(30)
    if len(local) < 30 or local[:4] != MAGIC[0]:
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
            damage.say(
                f"the member unpacks to more than the {stated:,} bytes that are stated; the rest was left out"
            )
            return
    if entry.size is not None and given < entry.size:
        damage.say(shortfall(given, entry.size))
    elif entry.crc is not None and crc != entry.crc:
        damage.say(
            "the member's checksum is wrong: some of its bytes are not what was packed; copy the archive again"
        )


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
        """Is the member complete?"""
        return bool(self.engine.eof)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield what the data unpacks to."""
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
        """Yield what the data unpacks to."""
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
        if (found := held.find(MAGIC[0])) >= 0:
            return base + found
        base += max(0, len(held) - 3)
        held = held[-3:]
    return None


def salvaged(contents: Contents, file: Path, local: bytes, data: IO[bytes], at: int) -> int | None:
    """Put the member of a local header on record; return where its data ends, None at a limit."""
    if len(local) < 30:
        return at + 4
    fields: tuple[int, ...] = struct.unpack("<6xHHHHIIIHH", local)
    flags, method, time, date, crc, packed, size, name_size, extra_size = fields
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
        Entry(file, begin, None, None, None, method)
        if unknown
        else Entry(file, begin, packed, size, crc, method)
    )
    length, used = measured(entry, contents.limits) if unknown else (size, packed)
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
