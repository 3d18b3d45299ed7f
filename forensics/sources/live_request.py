"""What to ask of libsystemd: understood from an INPUT before anything is read, at no cost to other inputs."""

from __future__ import annotations

import atexit
import importlib
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forensics.model.errors import UsageError

PREFIX = "journal:"


@dataclass(frozen=True, slots=True)
class Window:
    """What libsystemd may leave out: entries outside an interval (µs) and those of other units."""

    since: int | None = None
    until: int | None = None
    units: tuple[str, ...] = ()


EVERYTHING = Window()


@dataclass(frozen=True, slots=True)
class Request:
    """What to read: nothing in ``where`` means this host, else a folder or a file."""

    where: str = ""
    window: Window = EVERYTHING


def request(text: str, window: Window = EVERYTHING) -> Request:
    """Understand ``journal:`` and ``journal:PATH``; a missing extra or path is a UsageError."""
    where = text.removeprefix(PREFIX)
    module()
    if where and not Path(where).exists():
        raise UsageError(
            "no such file or folder",
            where=text,
            remedy="give journal: for this host, or journal:/var/log/journal",
        )
    return Request(where, window)


def module() -> Any:
    """Return the low-level reader of systemd-python; its high-level one makes local times of floats."""
    try:
        return importlib.import_module("systemd._reader")
    except ImportError as error:
        raise UsageError(
            "reading the live journal needs systemd-python",
            where=PREFIX,
            remedy="pip install 'incident-forensics[journald]' (to build it: gcc, pkg-config and libsystemd's headers, Debian libsystemd-dev)",
        ) from error


def ledger() -> Path:
    """Return a new private file for the ledger of one input, removed when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="forensics-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "journal").touch()
    return folder / "journal"
