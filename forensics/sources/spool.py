"""Private temporary files for what can be read in one pass only, or must be sought in. They go when the process ends."""

from __future__ import annotations

import atexit
import hashlib
import itertools
import shutil
import tempfile
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forensics.sources import compression, streams
from forensics.sources.limits import Damage, Limits

if TYPE_CHECKING:
    from collections.abc import Iterator


SMALL = 1 << 16


class NoRoomError(Exception):
    """The private copy of a member does not fit on the disk."""


class Spooled:
    """A member on its way into a private file, lightly packed: a temporary folder is often memory."""

    def __init__(self, modified_us: int, limits: Limits) -> None:
        self.modified_us = modified_us
        self.limits = limits
        self.notes: list[str] = []
        """Told whenever the member is read."""
        self.digest, self.size = hashlib.sha256(), 0
        self.file = spool_file()
        self.few = b""
        """The member as long as it is small: most are, and packing them costs more than it saves."""
        self.open = ExitStack()
        self.packer: Any = None

    def write(self, piece: bytes) -> None:
        """Add bytes."""
        self.digest.update(piece)
        self.size += len(piece)
        self.few += piece
        if self.size > SMALL:
            try:
                self.packed().write(self.few)
            except OSError as error:
                raise NoRoomError(error.strerror) from None
            self.few = b""

    def packed(self) -> Any:
        """Return the file that packs what is written to it."""
        import zstandard  # noqa: PLC0415 - few inputs need it

        if self.packer is None:
            out = self.open.enter_context(self.file.open("xb"))
            self.packer = self.open.enter_context(zstandard.ZstdCompressor(level=1).stream_writer(out))
        return self.packer

    def seal(self) -> None:
        """Close the file."""
        try:
            if self.few:
                self.file.write_bytes(self.few)
            self.few = b""
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
        with self.file.open("rb") as file:
            pieces = iter(lambda: file.read(streams.CHUNK), b"")
            if self.packer is None:
                yield from pieces
            else:
                yield from compression.member(compression.Supply(pieces), compression.ZSTD, 0, Damage())


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
