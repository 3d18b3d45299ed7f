"""Compressed streams, told by their first bytes and unpacked in bounded pieces.

Members (gzip), frames (zstd, lz4) and streams (xz, bzip2) may follow one another; zeros after the last are padding (RFC 1952,
tape blocks, xz's stream padding), skippable frames (RFC 8878 3.1.2) are left out. Truncation and damage end the stream
with a note that says how far it went, never with an error: whatever was unpacked before is used.
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from forensics.sources.limits import DEFAULT, RAISE_RATIO, RAISE_SIZE, Damage, Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

PIECE = 1 << 20
"""Bytes that an engine returns at once."""
FEED = 4096
"""Bytes that an engine is given at once, which is what an error costs."""
LEAST = 256
"""Bytes that zstd is given at once while it makes much of little: it can't be told how much to return, and four bytes may
stand for 128 KiB."""
HEADER = 18
"""Bytes that tell a codec: an lzma header is 13 long, a skippable frame's 8."""
MEMORY = 1 << 30
"""Memory that one xz or lzma stream may ask for; ``xz -9`` asks for 65 MiB."""
SKIPPABLE = range(0x184D2A50, 0x184D2A60)
"""Magic numbers of frames that zstd and lz4 skip (pzstd and seekable writers use them)."""


class Engine(Protocol):
    """One member on its way."""

    @property
    def eof(self) -> bool:
        """Is the member complete?"""

    @property
    def unused(self) -> bytes:
        """Bytes after the member's end."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield what the data unpacks to."""


class Zlib:
    """gzip, or deflate without a header (zip members)."""

    def __init__(self, bits: int = 31) -> None:
        self.engine = zlib.decompressobj(bits)

    @property
    def eof(self) -> bool:
        """Is the member complete?"""
        return self.engine.eof

    @property
    def unused(self) -> bytes:
        """Return the bytes after the member's end."""
        return self.engine.unused_data

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield what the data unpacks to."""
        while True:
            out = self.engine.decompress(data, PIECE)
            if out:
                yield out
            data = self.engine.unconsumed_tail
            if self.engine.eof or (not data and len(out) < PIECE):
                return


class Pulled:
    """bz2, lzma and lz4, whose decompressors keep their input until it is asked for."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine

    @property
    def eof(self) -> bool:
        """Is the member complete?"""
        return bool(self.engine.eof)

    @property
    def unused(self) -> bytes:
        """Return the bytes after the member's end."""
        return self.engine.unused_data or b""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield what the data unpacks to."""
        while True:
            out = self.engine.decompress(data, PIECE)
            if out:
                yield out
            data = b""
            if self.engine.eof or self.engine.needs_input:
                return


class Zstd:
    """zstd, which returns all that its input holds, so that it is given little while much comes out."""

    def __init__(self) -> None:
        import zstandard  # noqa: PLC0415 - few inputs need it

        self.engine = zstandard.ZstdDecompressor().decompressobj()
        self.step = LEAST
        self.left = b""

    @property
    def eof(self) -> bool:
        """Is the member complete?"""
        return self.engine.eof

    @property
    def unused(self) -> bytes:
        """Return the bytes after the member's end."""
        return (self.engine.unused_data or b"") + self.left

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield what the data unpacks to."""
        while data and not self.eof:
            out = self.engine.decompress(data[: self.step])
            data = data[self.step :]
            self.step = LEAST if len(out) > PIECE else min(FEED, 2 * self.step)
            if out:
                yield out
        self.left = data


def lz4() -> Engine:
    """Return an engine for one lz4 frame."""
    from lz4.frame import LZ4FrameDecompressor  # type: ignore[import-untyped]  # noqa: PLC0415 - few inputs need it

    return Pulled(LZ4FrameDecompressor())


@dataclass(frozen=True, slots=True)
class Codec:
    """One way of compression."""

    name: str
    magic: bytes
    engine: Callable[[], Engine]


ZSTD = Codec("zstd", b"\x28\xb5\x2f\xfd", Zstd)
CODECS = (
    Codec("gzip", b"\x1f\x8b", Zlib),
    ZSTD,
    Codec("xz", b"\xfd7zXZ\0", lambda: Pulled(lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MEMORY))),
    Codec("bzip2", b"BZh", lambda: Pulled(bz2.BZ2Decompressor())),
    Codec("lz4", b"\x04\x22\x4d\x18", lz4),
)
LZMA = Codec("lzma", b"", lambda: Pulled(lzma.LZMADecompressor(lzma.FORMAT_ALONE, memlimit=MEMORY)))


def failures() -> tuple[type[Exception], ...]:
    """Return what engines raise at damage."""
    import zstandard  # noqa: PLC0415 - only on the way out

    return (
        zlib.error, lzma.LZMAError, zstandard.ZstdError, OSError, RuntimeError, EOFError, ValueError, MemoryError,
    )  # fmt: skip


class Supply:
    """A stream of pieces that can be looked into and given back to."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self.pieces = iter(pieces)
        self.held = b""
        self.at = 0
        self.taken = 0
        """Bytes that were taken out, less those given back."""

    def peek(self, size: int) -> bytes:
        """Return the next bytes, fewer only at the end."""
        while len(self.held) - self.at < size and (piece := next(self.pieces, None)) is not None:
            self.held, self.at = self.held[self.at :] + piece, 0
        return self.held[self.at : self.at + size]

    def take(self, size: int) -> bytes:
        """Take the next bytes out, at least one unless the stream ends."""
        self.peek(1)
        data = self.held[self.at : self.at + size]
        self.at += len(data)
        self.taken += len(data)
        return data

    def give(self, data: bytes) -> None:
        """Give bytes back."""
        self.held, self.at = data + self.held[self.at :], 0
        self.taken -= len(data)

    def skip(self, size: int) -> int:
        """Leave bytes out; return how many of them were not there."""
        while size and (data := self.take(size)):
            size -= len(data)
        return size

    def skip_zeros(self) -> None:
        """Leave zeros out."""
        while data := self.take(PIECE):
            if rest := data.lstrip(b"\0"):
                self.give(rest)
                return

    def drop(self) -> None:
        """Leave out whatever is left."""
        self.held, self.at, self.pieces = b"", 0, iter(())

    def all(self) -> Iterator[bytes]:
        """Yield whatever is left."""
        if rest := self.held[self.at :]:
            self.held, self.at = b"", 0
            yield rest
        yield from self.pieces


def codec_of(head: bytes) -> Codec | None:
    """Return how bytes are compressed, None for bytes that are not."""
    found = next((codec for codec in CODECS if head.startswith(codec.magic)), None)
    return found or (LZMA if is_lzma(head) else None)


def is_lzma(head: bytes) -> bool:
    """Tell the header of an .lzma file: the usual properties, a dictionary of 2^n or 2^n + 2^(n-1), a size below 256 GiB or none."""
    if len(head) < 13 or head[0] != 0x5D:
        return False
    dictionary = int.from_bytes(head[1:5], "little")
    size = int.from_bytes(head[5:13], "little")
    lowest = dictionary & -dictionary
    powers = dictionary in (lowest, lowest * 3) or dictionary == 0xFFFFFFFF
    return dictionary >= 4096 and powers and (size == (1 << 64) - 1 or size < 1 << 38)


def skippable(head: bytes) -> int | None:
    """Return how long the skippable frame at the beginning of some bytes is, None where there is none."""
    if len(head) < 8 or int.from_bytes(head[:4], "little") not in SKIPPABLE:
        return None
    return 8 + int.from_bytes(head[4:8], "little")


def unpack(pieces: Iterable[bytes], damage: Damage, limits: Limits = DEFAULT) -> Iterator[bytes]:
    """Yield the bytes of a stream, unpacked where it is compressed, also where it was compressed twice."""
    supply = Supply(pieces)
    for _ in range(limits.depth):
        head = supply.peek(HEADER)
        first = skippable(head)
        codec = codec_of(head) if first is None else follower(supply, first)
        if codec is None:
            break
        supply = Supply(members(supply, codec, damage, limits))
    yield from supply.all()


def follower(supply: Supply, first: int) -> Codec | None:
    """Return the codec behind skippable frames."""
    length: int | None = first
    while length is not None:
        supply.skip(length)
        length = skippable(supply.peek(HEADER))
    return codec_of(supply.peek(HEADER))


def members(supply: Supply, codec: Codec, damage: Damage, limits: Limits) -> Iterator[bytes]:
    """Unpack members one after another."""
    given, begun, first = 0, supply.taken, True
    while head := supply.peek(HEADER):
        if (length := skippable(head)) is not None and codec.name in ("zstd", "lz4"):
            supply.skip(length)
            continue
        if not first and codec_of(head) is not codec:
            supply.skip_zeros()
            if not (head := supply.peek(HEADER)):
                return
            if codec_of(head) is not codec:
                damage.say(
                    ends_early(codec, given)
                    if codec.magic.startswith(head)
                    else f"after {given:,} bytes the {codec.name} stream is followed by other data, which was left out"
                )
                return
        first = False
        for out in member(supply, codec, given, damage):
            given += len(out)
            yield out
            if over := beyond(given, supply.taken - begun, limits):
                damage.say(over)
                return


def member(supply: Supply, codec: Codec, given: int, damage: Damage) -> Iterator[bytes]:
    """Unpack one member; after damage nothing of the stream is left."""
    engine = codec.engine()
    while not engine.eof:
        data = supply.take(FEED)
        if not data:
            damage.say(ends_early(codec, given))
            return
        try:
            for out in engine.feed(data):
                given += len(out)
                yield out
        except failures() as error:
            damage.say(
                f"the {codec.name} stream is damaged after {given:,} bytes ({reason(error)}); what lies before was used"
            )
            supply.drop()
            return
    supply.give(engine.unused)


def ends_early(codec: Codec, given: int) -> str:
    """Say that a stream was cut."""
    return f"the {codec.name} stream ends early after {given:,} bytes; what lies before was used, copy the file again for the rest"


def reason(error: Exception) -> str:
    """Return what an engine says, in one line."""
    return " ".join(str(error).split()) or type(error).__name__


def beyond(given: int, packed: int, limits: Limits) -> str | None:
    """Say which limit unpacked bytes pass."""
    if given > limits.total:
        return f"unpacking stopped after {given:,} bytes: the limit is {limits.total:,}; {RAISE_SIZE}"
    if given > limits.granted and given > limits.ratio * max(packed, 1):
        return f"unpacking stopped after {given:,} bytes: they come from {packed:,}, more than {limits.ratio:,} to 1, which no log does; {RAISE_RATIO}"
    return None
