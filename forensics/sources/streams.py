"""Bytes of one input, decompressed on the way, in pieces that fit into memory.

A truncated gzip gives what can be saved and a :class:`Damage` note, never an error: the first member is inflated
by zlib as far as it goes (RFC 1952 members may follow one another).
"""

from __future__ import annotations

import hashlib
import zlib
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

CHUNK = 1 << 20
"""Bytes read at once: large enough that the loop costs nothing, small enough to bound memory."""
HEAD = 1 << 16
"""Bytes that recognition sees."""
SHARD_BYTES = 32 << 20
"""Default size of a shard: some hundred thousand lines, well below a second of work."""
LONGEST_SEARCH = 32 << 20
"""A shard ends at a plain line end if no safe place was found within this many bytes after its size."""
CONTEXT_LINES = 4096
"""Lines before a candidate cut that the transport may look at."""
CONTEXT_BYTES = 1 << 20
"""Bytes before a candidate cut that are looked at."""
GZIP = b"\x1f\x8b"


@dataclass(slots=True)
class Damage:
    """What went wrong while unpacking, filled in as the stream is read."""

    notes: list[str] = field(default_factory=list)


def sha256(path: Path) -> str:
    """Hash a file as it lies on disk (compressed if it is)."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def chunks(path: Path, damage: Damage | None = None) -> Iterator[bytes]:
    """Yield the decompressed bytes of a file; the magic bytes decide, never the extension."""
    damage = damage or Damage()
    with path.open("rb") as file:
        head = file.read(2)
        file.seek(0)
        pieces = iter(lambda: file.read(CHUNK), b"")
        yield from inflate(pieces, damage) if head == GZIP else pieces


def inflate(pieces: Iterator[bytes], damage: Damage) -> Iterator[bytes]:
    """Inflate gzip members one after another; damage ends the stream with a note instead of an error."""
    engine = zlib.decompressobj(31)
    given = 0
    try:
        for piece in pieces:
            rest = piece
            while rest:
                if engine.eof:
                    if not rest.lstrip(b"\0"):
                        break
                    engine = zlib.decompressobj(31)
                out = engine.decompress(rest)
                given += len(out)
                if out:
                    yield out
                rest = engine.unused_data if engine.eof else b""
    except zlib.error as error:
        damage.notes.append(
            f"the gzip stream is damaged after {given:,} bytes ({error}); what lies before was used"
        )
        return
    if not engine.eof:
        if out := engine.flush():
            given += len(out)
            yield out
        damage.notes.append(
            f"the gzip stream ends early after {given:,} bytes; what lies before was used, copy the file again for the rest"
        )


def head(path: Path, size: int = HEAD) -> bytes:
    """Return the first decompressed bytes of a file."""
    taken = b""
    for piece in chunks(path):
        taken += piece
        if len(taken) >= size:
            break
    return taken[:size]


def shards(
    pieces: Iterator[bytes], size: int, safe_cut: Callable[[Sequence[bytes], bytes], bool] | None
) -> Iterator[bytes]:
    """Cut a stream into shards that begin where ``safe_cut`` allows; None reads the stream whole."""
    buffer = bytearray()
    for piece in pieces:
        buffer += piece
        if safe_cut is None:
            continue
        while len(buffer) >= size:
            cut = find_cut(buffer, size, safe_cut)
            if cut is None:
                break
            yield bytes(buffer[:cut])
            del buffer[:cut]
    if safe_cut is not None:
        while len(buffer) > size and (cut := find_cut(buffer, size, safe_cut)):
            yield bytes(buffer[:cut])
            del buffer[:cut]
    if buffer:
        yield bytes(buffer)


def find_cut(buffer: bytearray, size: int, safe_cut: Callable[[Sequence[bytes], bytes], bool]) -> int | None:
    """Return the offset of the first safe record start at or after ``size``; None: read more first."""
    at = buffer.find(b"\n", max(0, size - 1))
    context = bytes(buffer[max(0, at - CONTEXT_BYTES) : at + 1]).split(b"\n")[:-1] if at >= 0 else []
    before = deque(context, maxlen=CONTEXT_LINES)
    while at >= 0:
        end = buffer.find(b"\n", at + 1)
        if end < 0:
            break
        line = bytes(buffer[at + 1 : end])
        if safe_cut(before, line):
            return at + 1
        before.append(line)
        at = end
    if len(buffer) > size + LONGEST_SEARCH:
        return buffer.rfind(b"\n", 0, size + LONGEST_SEARCH) + 1 or None
    return None


def lines_at(path: Path, wanted: list[int], window: int) -> dict[int, bytes]:
    """Return ``window`` bytes from the start of each wanted line (1-based), in one pass over the file."""
    todo = sorted(set(wanted))
    open_: dict[int, bytearray] = {}
    done: dict[int, bytes] = {}
    line = 1
    at_start = True
    for piece in chunks(path):
        for have in open_.values():
            have.extend(piece[: window - len(have)])
        for key in [key for key, have in open_.items() if len(have) >= window]:
            done[key] = bytes(open_.pop(key)[:window])
        if at_start and todo and todo[0] == line:
            open_[todo.pop(0)] = bytearray(piece[:window])
        at_start = False
        count = piece.count(b"\n")
        at = 0
        while todo and todo[0] <= line + count:
            at = nth_newline(piece, todo[0] - line, at) if todo[0] > line else at
            line_no = todo.pop(0)
            count -= line_no - line
            line = line_no
            open_[line_no] = bytearray(piece[at : at + window])
        line += count
        if not todo and not open_:
            break
    done.update({key: bytes(have[:window]) for key, have in open_.items()})
    return done


def nth_newline(piece: bytes, n: int, start: int) -> int:
    """Return the offset just after the n-th newline at or after ``start``."""
    at = start
    for _ in range(n):
        at = piece.index(b"\n", at) + 1
    return at
