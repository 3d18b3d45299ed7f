"""The header of a journal file, and the mapped file as arrays of words.

Layout: systemd, docs/JOURNAL_FILE_FORMAT.md, "Header". All numbers are little-endian and every object starts
on a multiple of 8, so a file is looked at as one array of 64-bit words; positions inside this package are
word positions unless a name says bytes.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from forensics.model.errors import UnreadableError

if TYPE_CHECKING:
    from mmap import mmap

Words: TypeAlias = npt.NDArray[np.uint64]
Halves: TypeAlias = npt.NDArray[np.uint32]
Octets: TypeAlias = npt.NDArray[np.uint8]
Index: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Data: TypeAlias = "memoryview | bytes | bytearray | mmap"

SIGNATURE = b"LPKSHHRH"
SMALLEST_HEADER = 208
"""Bytes up to ``n_data``: the fields every revision of the format has."""

XZ, LZ4, KEYED, ZSTD, COMPACT = 1, 2, 4, 8, 16
KNOWN_FLAGS = XZ | LZ4 | KEYED | ZSTD | COMPACT
STATES = ("offline", "online", "archived")

_FIELDS = struct.Struct("<8sIIB7x16s16s16s16s15Q")


@dataclass(frozen=True, slots=True)
class Header:
    """What the first 208 bytes say. Instants are microseconds UTC, ids 32 hexadecimal digits.

    ``head_realtime`` and ``tail_realtime`` belong to the first and last entry *written*: after a clock jump
    an entry may lie outside of them. They are None while the file has no entry.
    """

    machine_id: str
    seqnum_id: str
    file_id: str
    state: str
    """``offline``, ``online`` (copied live, or never closed), ``archived`` or ``unknown``."""
    n_entries: int
    head_seqnum: int
    tail_seqnum: int
    head_realtime: int | None
    tail_realtime: int | None
    flags: int
    """The incompatible flags."""
    size: int
    """Bytes of the header."""
    arena: int
    """Bytes of all objects: ``size + arena`` is what the file should have at least."""
    entry_array: int
    """Byte offset of the first entry array, 0 without entries."""

    @property
    def compact(self) -> bool:
        """Whether items are 32-bit offsets."""
        return bool(self.flags & COMPACT)

    @property
    def keyed(self) -> bool:
        """Whether DATA hashes are siphash24 keyed with the file id (Jenkins lookup3 when not)."""
        return bool(self.flags & KEYED)


def parse_header(data: Data) -> Header:
    """Read the header at the beginning of ``data``.

    Raises UnreadableError when it is no journal, is cut inside the header, or uses an incompatible feature
    this reader does not know (the format demands a refusal then).
    """
    head = bytes(memoryview(data)[: _FIELDS.size])
    if head[:8] != SIGNATURE:
        raise UnreadableError(
            "not a journal file: the signature LPKSHHRH is missing",
            remedy="give a .journal file, or the output of journalctl -o json",
        )
    if len(head) < SMALLEST_HEADER:
        raise UnreadableError(
            f"the journal file ends inside its header, after {len(head)} bytes",
            remedy="copy the file again, whole",
        )
    (_, _, flags, state, file_id, machine, _, seqnum_id, size, arena, *rest) = _FIELDS.unpack(head)
    entries, tail_seqnum, head_seqnum, array, head_time, tail_time, _ = rest[6:]
    if flags & ~KNOWN_FLAGS:
        raise UnreadableError(
            f"the journal file uses an incompatible feature this reader does not know (flags {flags:#x})",
            remedy="export it on a host of its own systemd version: journalctl --file FILE -o json --all",
        )
    return Header(
        machine_id=machine.hex(),
        seqnum_id=seqnum_id.hex(),
        file_id=file_id.hex(),
        state=STATES[state] if state < len(STATES) else "unknown",
        n_entries=entries,
        head_seqnum=head_seqnum,
        tail_seqnum=tail_seqnum,
        head_realtime=head_time or None,
        tail_realtime=tail_time or None,
        flags=flags,
        size=size,
        arena=arena,
        entry_array=array,
    )


class Image:
    """A journal file as arrays over the given buffer; nothing is copied."""

    def __init__(self, data: Data, header: Header) -> None:
        view = memoryview(data)
        self.header = header
        self.bytes = view.nbytes
        self.octets: Octets = np.frombuffer(view, np.uint8)
        self.words: Words = np.frombuffer(view, "<u8", count=self.bytes // 8)
        self.halves: Halves = np.frombuffer(view, "<u4", count=self.bytes // 4)
        self.first = SMALLEST_HEADER // 8
        """Word before which no object lies, whatever the header (which may be damaged) says of its size."""
        self.payload = 9 if header.compact else 8
        """Words from the start of a DATA object to its payload."""

    def pick(self, at: Index) -> Words:
        """Words at ``at``; positions beyond the end give the last word (callers mask what they read)."""
        taken: Words = self.words.take(at, mode="clip")
        return taken


def as_index(values: npt.NDArray[Any]) -> Index:
    """Unsigned numbers of a file as positions; those that fit in no file become -1."""
    index = values.astype(np.int64)
    index[(index < 0) | (index >= 1 << 56)] = -1
    return index
