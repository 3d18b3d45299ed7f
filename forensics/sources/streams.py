"""Bytes of one input, unpacked and as UTF-8 text on the way, in pieces that fit into memory.

A path names a file, or a member of an archive that :mod:`forensics.sources.archives` has put on record here: recognition,
reading, quoting and hashing ask for the same path and see the same bytes.
"""

from __future__ import annotations

import hashlib
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from forensics.sources import compression, encodings
from forensics.sources.limits import DEFAULT, Damage, Limits, collector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["Damage", "Limits"]

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


@dataclass(slots=True)
class Stored:
    """What a path stands for that is no file of its own."""

    pieces: Callable[[Damage], Iterator[bytes]]
    """Yields the stored bytes, from the beginning at every call."""
    size: int
    modified_us: int
    limits: Limits = DEFAULT
    hashed: list[str] = field(default_factory=list)
    """The SHA-256, once it is known."""


STORED: dict[Path, Stored] = {}
"""Members of archives by the path that stands for each: that of the archive, then the member's name."""
BOUNDED: dict[Path, Limits] = {}
"""Files that are unpacked up to other limits than the usual ones."""


def raw(path: Path, damage: Damage | None = None) -> Iterator[bytes]:
    """Yield the bytes of an input as they are stored."""
    if (stored := STORED.get(path)) is not None:
        yield from stored.pieces(collector(damage))
        return
    with path.open("rb") as file:
        yield from iter(lambda: file.read(CHUNK), b"")


def unpacked(path: Path, damage: Damage | None = None) -> Iterator[bytes]:
    """Yield the bytes of an input, unpacked where its first bytes say that it is compressed."""
    damage = collector(damage)
    stored = STORED.get(path)
    yield from compression.unpack(
        raw(path, damage), damage, stored.limits if stored else BOUNDED.get(path, DEFAULT)
    )


def chunks(path: Path, damage: Damage | None = None) -> Iterator[bytes]:
    """Yield the unpacked bytes of an input, as UTF-8 where they are text; the first bytes decide, never the extension."""
    damage = collector(damage)
    yield from encodings.as_text(unpacked(path, damage), damage)


def sha256(path: Path) -> str:
    """Hash an input as it is stored (compressed if it is)."""
    stored = STORED.get(path)
    if stored and stored.hashed:
        return stored.hashed[0]
    digest = hashlib.sha256()
    for piece in raw(path):
        digest.update(piece)
    if stored:
        stored.hashed.append(digest.hexdigest())
    return digest.hexdigest()


def size(path: Path) -> int:
    """Return the stored size of an input in bytes."""
    stored = STORED.get(path)
    return stored.size if stored else path.stat().st_size


def modified_us(path: Path) -> int:
    """Return when an input was last written, in microseconds."""
    stored = STORED.get(path)
    return stored.modified_us if stored else path.stat().st_mtime_ns // 1000


def beginning(path: Path, size: int) -> bytes:
    """Return the first unpacked bytes of an input, whatever they are."""
    taken = b""
    if path not in STORED:
        with path.open("rb") as file:
            first = file.read(max(size, compression.HEADER))
        if compression.codec_of(first) is None and compression.skippable(first) is None:
            return first[:size]
    for piece in unpacked(path, Damage()):
        taken += piece
        if len(taken) >= size:
            break
    return taken[:size]


def exists(path: Path) -> bool:
    """Is there such a file or member?"""
    return path in STORED or path.is_file()


@contextmanager
def copied(*paths: Path) -> Iterator[list[Path]]:
    """Give private unpacked copies of inputs to a reader that needs files; they are removed afterwards."""
    with TemporaryDirectory(prefix="forensics-") as folder:
        copies = []
        for number, path in enumerate(paths):
            copies.append(Path(folder, str(number)))
            write(path, copies[-1])
        yield copies


def write(path: Path, target: Path) -> None:
    """Write an input, unpacked, into a new file."""
    with target.open("xb") as out:
        for piece in unpacked(path):
            out.write(piece)


def head(path: Path, size: int = HEAD) -> bytes:
    """Return the first bytes of an input as :func:`chunks` has them."""
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
        if safe_cut is None or b"\n" not in piece:
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
