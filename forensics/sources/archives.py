"""Archives: zip, tar (compressed by anything) and 7z, whose members become inputs of their own.

    logs.zip!var/log/app.log        the name of a member in the report

Nothing is extracted to a place that a member names: where a member can be read from the archive as it lies (zip, plain tar) it
is, else (compressed tar, 7z, archives in archives) it is spooled to a private file, packed lightly, which goes when the process
ends. A member is put on record in :mod:`forensics.sources.streams` under the path of the archive followed by its own
name, so that companions such as ``NAME-wal`` are found as they would be in a folder.

A damaged or cut archive gives the members, and the part of a member, that are there; a zip without its table of
contents is read by the headers that stand before each member.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from forensics.sources import sevenzips, streams, tars, zips
from forensics.sources.limits import DEFAULT, RAISE_DEPTH, Limits
from forensics.sources.members import Budget, Contents, Member
from forensics.sources.spool import NoRoomError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PROBE = 1024
"""Unpacked bytes that tell an archive, compressed or not."""


def kind_of(path: Path) -> Callable[[Contents], None] | None:
    """Return how to read an archive, None for anything else."""
    head = streams.beginning(path, PROBE)
    if head.startswith(zips.MAGIC):
        return zips.read_zip
    if head.startswith(sevenzips.MAGIC):
        return sevenzips.read_7z
    return tars.read_tar if tars.is_tar(head) else None


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
        contents.trouble.append(
            f"the folder for temporary files is full ({error}); set TMPDIR to a larger one"
        )
    except OSError as error:
        contents.trouble.append(f"reading failed ({error.strerror}); copy the file again")
    if not contents.members and not contents.said():
        contents.trouble.append("the archive is empty; make it again and look at the messages")
    said = contents.said()
    inside = [found for member in contents.members for found in opened(contents, member)]
    return [*([Member("", contents.path, said)] if said else []), *inside]


def opened(contents: Contents, member: Member) -> list[Member]:
    """Return a member, or what it holds where it is an archive itself."""
    kind = kind_of(member.path) if member.trouble is None else None
    if kind is None:
        return [member]
    if contents.depth >= contents.limits.depth:
        why = f"an archive inside {contents.depth} others, deeper than is looked; {RAISE_DEPTH}"
        return [replace(member, trouble=why)]
    found = unfolded(Contents(member.path, contents.limits, contents.budget, contents.depth + 1), kind)
    return [replace(part, name=f"{member.name}!{part.name}".rstrip("!")) for part in found]
