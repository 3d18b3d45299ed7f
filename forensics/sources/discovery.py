"""Which files do the given inputs name?

A folder is walked, a glob expanded, standard input spooled to a private file, an archive replaced by its members. Names are
relative to the input, so that no path of the machine reaches a report; they are listed in natural order, so that
``app.log.2.gz`` comes before ``app.log.10.gz``.
"""

from __future__ import annotations

import atexit
import glob
import os
import re
import shutil
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from forensics.model.errors import UsageError
from forensics.sources import archives, companions, live_request, streams
from forensics.sources.limits import DEFAULT, Limits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from forensics.sources.members import Member

STDIN = "-"
LINKED = "a linked folder is not followed; give its target as an input"
WILDCARDS = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class Input:
    """One file to read: where it is, and the name that the report gives it."""

    path: Path
    name: str
    trouble: str | None = None
    """Why it can't be opened (permissions, a dangling link), None when it can."""
    live: live_request.Request | None = None
    """What to ask libsystemd; ``path`` is then the ledger of what it answered."""


def discover(
    inputs: Iterable[str],
    window: live_request.Window = live_request.EVERYTHING,
    limits: Limits = DEFAULT,
) -> list[Input]:
    """Expand inputs into files and members of archives, in natural order of their names; a missing input is a UsageError, an unreadable one is listed.

    ``window`` is what the live journal may be restricted to, ``limits`` how far anything is unpacked.
    """
    unfolded = [part for item in files(inputs, window) for part in unfold(item, limits)]
    return without_parts(sorted(unfolded, key=lambda item: natural(item.name)))


def files(inputs: Iterable[str], window: live_request.Window = live_request.EVERYTHING) -> list[Input]:
    """Expand inputs into the files that they name on disk."""
    found: dict[Path, Input] = {}
    for text in dict.fromkeys(inputs):
        for item in expand(text, window):
            found.setdefault(item.path.absolute().resolve() if item.trouble is None else item.path, item)
    return sorted(apart(list(found.values())), key=lambda item: natural(item.name))


def natural(name: str) -> tuple[tuple[str, int, str], ...]:
    """Return a key that sorts the numbers in names by value."""
    parts = re.split(r"([0-9]+)", name)
    return (
        *(
            (text, len(digits := number.lstrip("0")), digits)
            for text, number in zip(parts[::2], [*parts[1::2], ""], strict=True)
        ),
        (name, 0, ""),
    )


def unfold(item: Input, limits: Limits) -> list[Input]:
    """Return the members of an archive; any other input as it is."""
    if item.trouble is not None or item.live is not None:
        return [item]
    streams.BOUNDED[item.path] = limits
    try:
        state = item.path.stat()
        found = members(item.path, state.st_size, state.st_mtime_ns, limits)
    except OSError as error:
        return [replace(item, trouble=f"cannot be read ({error.strerror}); copy it again")]
    if found is None:
        return [item]
    return [
        Input(member.path, f"{item.name}!{member.name}" if member.name else item.name, member.trouble)
        for member in found
    ]


@cache
def members(path: Path, size: int, modified_ns: int, limits: Limits) -> list[Member] | None:
    """Return what an archive holds; one that has not changed is unfolded once."""
    del size, modified_ns
    return archives.unfold(path, limits)


def without_parts(items: list[Input]) -> list[Input]:
    """Leave out the write-ahead logs of databases that are listed: they are read together with those."""
    names = {item.name for item in items}
    return [item for item in items if not companions.is_part(item.name, names)]


def apart(items: list[Input]) -> list[Input]:
    """Give files of one name their folder's name too, and a number where even that is the same."""
    taken = Counter(item.name for item in items)
    named = [
        replace(item, name=f"{item.path.absolute().parent.name}/{item.name}")
        if taken[item.name] > 1
        else item
        for item in items
    ]
    seen: Counter[str] = Counter()
    out = []
    for item in sorted(named, key=lambda item: (item.name, str(item.path))):
        seen[item.name] += 1
        out.append(replace(item, name=f"{item.name}#{seen[item.name]}") if seen[item.name] > 1 else item)
    return out


def expand(text: str, window: live_request.Window = live_request.EVERYTHING) -> list[Input]:
    """Return the files of one input."""
    if text == STDIN:
        return [Input(spool(), "stdin")]
    if text.startswith(live_request.PREFIX):
        wanted = live_request.request(text, window)
        return [Input(live_request.ledger(), f"{live_request.PREFIX}{Path(wanted.where).name}", live=wanted)]
    path = Path(text)
    if path.is_dir():
        return walk(path)
    if path.exists() or path.is_symlink():
        return [check(path, path.name)]
    if WILDCARDS & set(text):
        matches = sorted(Path(hit) for hit in glob.glob(text, recursive=True))  # noqa: PTH207 - a glob may be absolute
        if matches:
            return [
                item
                for match in matches
                for item in (walk(match) if match.is_dir() else [check(match, match.name)])
            ]
    raise UsageError(
        "no such file or folder", where=text, remedy="give a file, a folder, a glob or - for standard input"
    )


def walk(folder: Path) -> list[Input]:
    """Return all files below a folder; hidden files and folders are left out."""
    items: list[Input] = []

    def refused(error: OSError) -> None:
        path = Path(error.filename or folder)
        name = path.relative_to(folder).as_posix() if path != folder else folder.name
        items.append(
            Input(path, name, f"the folder cannot be listed ({error.strerror}); copy its files with sudo")
        )

    for root, folders, files in os.walk(folder, onerror=refused):
        linked = [name for name in folders if Path(root, name).is_symlink()]
        items.extend(
            Input(Path(root, name), Path(root, name).relative_to(folder).as_posix(), LINKED)
            for name in linked
        )
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in linked)
        for name in sorted(files):
            if not name.startswith("."):
                path = Path(root, name)
                items.append(check(path, path.relative_to(folder).as_posix()))
    return items


def check(path: Path, name: str) -> Input:
    """Say now why a file can't be opened, so that the rest can be read."""
    try:
        if not path.is_file():
            return Input(path, name, "not a regular file; export its content into a file")
        with path.open("rb"):
            return Input(path, name)
    except PermissionError:
        return Input(
            path,
            name,
            f"permission denied (mode {path.stat().st_mode & 0o777:o}); copy it with sudo and make the copy readable",
        )
    except OSError as error:
        return Input(path, name, f"cannot be opened ({error.strerror}); export it again")


def spool() -> Path:
    """Copy standard input to a private temporary file, which is removed when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="forensics-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    target = folder / "stdin"
    with target.open("wb") as out:
        shutil.copyfileobj(sys.stdin.buffer, out)
    return target
