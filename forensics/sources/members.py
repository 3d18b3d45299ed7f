"""What an archive holds, whatever its kind: members with safe names, and what has to be said of those that can't be read."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING

from forensics.sources import streams
from forensics.sources.limits import RAISE_MEMBERS, RAISE_RATIO, RAISE_SIZE, Limits

if TYPE_CHECKING:
    from collections.abc import Iterator

EARLIEST_S = 315_619_200
"""Members that claim to be older than 1980-01-02 have no time: zip's clock begins there, and reproducible archives say so."""
ENCRYPTED = "encrypted; unpack the archive with its password and give the folder"
LINKS = "links left out ({n}): {names}"
DEVICES = "devices left out ({n}): {names}"
PIPES = "devices or pipes left out ({n}): {names}"
ABSOLUTE = "members with an absolute path left out ({n}): {names}"
OUTSIDE = "members whose path leads out of the archive left out ({n}): {names}"
NAMELESS = "members without a name left out ({n}): {names}"
LONGEST_NAME = 80
MANY = 5
"""Members of one kind that are named one by one."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member that can be read, or the reason why it can't."""

    name: str
    path: Path
    trouble: str | None = None


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
    """Members that are no files or have no safe name, by what is to be said of their kind."""
    names: Counter[str] = field(default_factory=Counter)
    modified_us: int = 0

    def add(self, name: str, stored: streams.Stored) -> bool:
        """Put a member on record; False when the archive passes a limit, after which nothing more is taken."""
        if not self.budget.members:
            self.trouble.append(
                f"more than {self.limits.members:,} members: the first were read; {RAISE_MEMBERS}"
            )
            return False
        unique = self.unique(name)
        path = self.path / unique
        streams.STORED[path] = stored
        self.budget.members -= 1
        self.budget.size -= stored.size
        self.members.append(Member(unique, path))
        return True

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
            f"it unpacks to more than {self.limits.total:,} bytes: the members up to there were read; {RAISE_SIZE}"
        )
        return False

    def leave_out(self, kind: str, name: str) -> None:
        """Count a member that is no file, or whose name leads out of the archive."""
        self.left_out.setdefault(kind, []).append(name)

    def said(self) -> str | None:
        """Return what has to be said of the archive, None if all of it was read."""
        parts = list(dict.fromkeys(self.trouble))
        for kind, names in sorted(self.left_out.items()):
            shown = ", ".join([name[:LONGEST_NAME] for name in names[:MANY]] + ["…"] * (len(names) > MANY))
            parts.append(kind.format(n=f"{len(names):,}", names=shown))
        if self.left_out:
            parts.append("if they matter, unpack the archive and give them by name")
        return "; ".join(parts) or None


def safe_name(name: str) -> tuple[str | None, str]:
    """Return a member's name with plain slashes, or None and what is to be said of members like it."""
    text = name.replace("\\", "/").split("\0")[0]
    if text.startswith("/") or text[1:3] == ":/":
        return None, ABSOLUTE
    parts = [part for part in text.split("/") if part not in ("", ".")]
    if ".." in parts:
        return None, OUTSIDE
    return ("/".join(parts), "") if parts else (None, NAMELESS)


def hidden(name: str) -> bool:
    """Tell what a folder's reading leaves out too: hidden files, and what macOS adds to zips and tars."""
    return any(part.startswith(".") or part == "__MACOSX" for part in PurePosixPath(name).parts)


def shortfall(given: int, stated: int) -> str:
    """Say that a member is not whole."""
    return f"the archive ends inside this member: {given:,} of {stated:,} bytes are there; copy it again for the rest"


def too_dense(packed: int, size: int, limits: Limits) -> bool:
    """Does a member unpack to more than any log does?"""
    return size > limits.granted and size > limits.ratio * max(packed, 1)


def dense(packed: int, size: int, limits: Limits) -> str:
    """Say so."""
    return f"it unpacks from {packed:,} to {size:,} bytes, more than {limits.ratio:,} to 1, which no log does; {RAISE_RATIO}"


def sane_time(seconds: float, contents: Contents) -> int:
    """Return a time in microseconds; one that means none is the archive's."""
    if not EARLIEST_S < seconds < 1 << 34:
        return contents.modified_us
    return int(seconds * 1_000_000)


def portions(file: IO[bytes], size: int | None) -> Iterator[bytes]:
    """Yield up to ``size`` bytes of a file."""
    left = size if size is not None else 1 << 62
    while left and (piece := file.read(min(left, streams.CHUNK))):
        left -= len(piece)
        yield piece
