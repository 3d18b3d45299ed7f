"""Tar archives: a plain one is read from where its members lie, a compressed one spooled in one pass.

Reference: GNU tar manual "Basic Tar Format"; POSIX pax.
"""

from __future__ import annotations

import io
import re
import struct
import tarfile
import zlib
from dataclasses import dataclass
from tarfile import EOFHeaderError, InvalidHeaderError, TruncatedHeaderError  # type: ignore[attr-defined]
from typing import IO, TYPE_CHECKING, ClassVar, Literal, Self

from forensics.sources import compression, streams
from forensics.sources.limits import Damage
from forensics.sources.members import (
    LINKS,
    PIPES,
    Contents,
    hidden,
    portions,
    safe_name,
    sane_time,
    shortfall,
)
from forensics.sources.spool import Spooled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

BLOCK = 512
EXTENDED = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)
HEADERS_MAX = 1 << 20
"""Bytes of an extended tar header; names and times take some hundred, and the reader holds it whole."""


def is_tar(head: bytes) -> bool:
    """Tell the header of a tar's first member by its checksum, which the formats before POSIX have too."""
    if len(head) < BLOCK or not head[0]:
        return False
    stated = head[148:156].strip(b" \0")
    block = head[:148] + b" " * 8 + head[156:BLOCK]
    return bool(re.fullmatch(rb"[0-7]+", stated)) and sum(block) == int(stated, 8)


@dataclass(slots=True)
class Seen:
    """What stood where headers should."""

    broken: int = 0
    """Blocks that are no header."""
    ended: bool = False
    """Was the last of it the mark of the end?"""


class Header(tarfile.TarInfo):
    """A tar header that notices what tarfile passes over in silence."""

    seen: ClassVar[Seen]

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """Read a header; one that asks for a huge extension is refused, since tarfile would hold it whole."""
        try:
            info = super().frombuf(buf, encoding, errors)
        except (InvalidHeaderError, TruncatedHeaderError):
            cls.seen.broken += 1
            raise
        except EOFHeaderError:
            cls.seen.ended = True
            raise
        if info.size < 0 or (info.type in EXTENDED and info.size > HEADERS_MAX):
            cls.seen.broken += 1
            raise InvalidHeaderError("absurd size")
        cls.seen.ended = False
        return info


class Unpacked(io.RawIOBase):
    """A stream of pieces as a file that can only be read on."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self.supply = compression.Supply(pieces)

    def readable(self) -> bool:
        """It can be read."""
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
    plain = contents.path not in streams.STORED and is_tar(next(streams.raw(contents.path), b"")[:BLOCK])
    mode: Literal["r:", "r|"] = "r:" if plain else "r|"
    seen = Seen()
    header = type("Header", (Header,), {"seen": seen})
    last = None
    with contents.path.open("rb") if plain else Unpacked(streams.unpacked(contents.path, damage)) as data:
        try:
            with tarfile.open(
                fileobj=data, mode=mode, tarinfo=header, ignore_zeros=True, errorlevel=0
            ) as archive:
                while (info := archive.next()) is not None:
                    last = info.name
                    if not take_tar(contents, archive, info, plain=plain):
                        return
                    archive.members = []  # type: ignore[attr-defined] # each has been taken
        except TAR_TROUBLE as error:
            if not damage.notes:
                damage.say(f"the tar ends early or is damaged ({compression.reason(error)}); copy it again")
    if seen.broken and not damage.notes:
        damage.say(f"{seen.broken:,} blocks of the tar are no headers and were passed over; copy it again")
    if not seen.ended and not damage.notes:
        damage.say("the tar has no end mark, so that members may be missing; copy it again")
    contents.trouble.extend(f"{note}; its last member is {last}" if last else note for note in damage.notes)


def take_tar(contents: Contents, archive: tarfile.TarFile, info: tarfile.TarInfo, *, plain: bool) -> bool:
    """Put one member on record; False when a limit is met."""
    name, wrong = safe_name(info.name)
    if name is None:
        if not info.isdir():
            contents.leave_out(wrong, info.name)
        return True
    if info.isdir() or hidden(name):
        return True
    if info.issym() or info.islnk():
        contents.leave_out(LINKS, name)
        return True
    if not info.isfile():
        contents.leave_out(PIPES, name)
        return True
    if not contents.room(info.size):
        return False
    modified = sane_time(info.mtime, contents)
    if plain and not info.issparse():
        place = (contents.path, info.offset_data, info.size)
        stored = streams.Stored(
            lambda damage: tar_pieces(*place, damage), info.size, modified, contents.limits
        )
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
