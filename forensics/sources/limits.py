"""How far an input is unpacked, and what went wrong on the way."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

NAMES = {"size": "total", "ratio": "ratio", "members": "members", "depth": "depth"}
"""What ``--unpack-limit`` calls each limit."""
RAISE_SIZE = "give --unpack-limit size=N to raise it"
RAISE_RATIO = "give --unpack-limit ratio=N to raise it"
RAISE_MEMBERS = "give --unpack-limit members=N to raise it"
RAISE_DEPTH = "give --unpack-limit depth=N to raise it"


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds that no real log meets and a decompression bomb does; what lies before one is used."""

    total: int = 64 << 30
    """Bytes that one input may unpack to: a week of a busy gateway is a tenth of it, a bomb many times as much."""
    ratio: int = 2_000
    """Unpacked bytes for one packed byte. Logs reach 200, and lines that differ in their stamp alone 1000, since a stamp
    costs a few bytes however it is packed; deflate ends at 1032. Blocks of one byte in xz, bzip2 or zstd pass 7000."""
    granted: int = 256 << 20
    """Unpacked bytes below which the ratio is not looked at: a preallocated tail of zeros is harmless."""
    members: int = 50_000
    """Members of one archive; a collection of a whole host's diagnostics has 10 to 30 thousand."""
    depth: int = 3
    """Archives inside archives, and compressions around one another."""

    def said(self) -> dict[str, int]:
        """Return the limits that are not the usual ones, by what ``--unpack-limit`` calls them."""
        return {
            name: value
            for name, key in NAMES.items()
            if (value := getattr(self, key)) != getattr(DEFAULT, key)
        }


def limits_of(said: Mapping[str, int]) -> Limits:
    """Return limits, the usual ones where nothing is said."""
    return Limits(**{NAMES[name]: value for name, value in said.items()})


DEFAULT = Limits()


@dataclass(slots=True)
class Damage:
    """What went wrong while unpacking or was changed while reading, filled in as the stream is read."""

    notes: list[str] = field(default_factory=list)

    def say(self, note: str) -> None:
        """Add a note, once."""
        if note not in self.notes:
            self.notes.append(note)


AMBIENT: ContextVar[Damage | None] = ContextVar("damage", default=None)


@contextmanager
def noting(damage: Damage) -> Iterator[Damage]:
    """Collect the notes of whatever is read inside, for readers that are given a path alone."""
    token = AMBIENT.set(damage)
    try:
        yield damage
    finally:
        AMBIENT.reset(token)


def collector(damage: Damage | None) -> Damage:
    """Return where notes go: the given place, else the ambient one, else nowhere."""
    return damage if damage is not None else AMBIENT.get() or Damage()
