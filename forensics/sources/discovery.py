"""Which files do the given inputs name?

A folder is walked, a glob expanded, standard input spooled to a private file. Names are relative to the input,
so that no path of the machine reaches a report.
"""

from __future__ import annotations

import atexit
import glob
import os
import shutil
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from forensics.model.errors import UsageError
from forensics.sources import live_request

if TYPE_CHECKING:
    from collections.abc import Iterable

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


def discover(inputs: Iterable[str], window: live_request.Window = live_request.EVERYTHING) -> list[Input]:
    """Expand inputs into files, sorted by name; a missing one is a UsageError, an unreadable one is listed.

    ``window`` is what the live journal may be restricted to.
    """
    found: dict[Path, Input] = {}
    for text in dict.fromkeys(inputs):
        for item in expand(text, window):
            found.setdefault(item.path.absolute().resolve() if item.trouble is None else item.path, item)
    return sorted(apart(list(found.values())), key=lambda item: item.name)


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
