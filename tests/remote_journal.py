"""Journals written by systemd itself: entries go through systemd-journal-remote (Debian: package of that name)."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

WRITER = Path("/lib/systemd/systemd-journal-remote")
START = 1_795_954_471_000_000
BOOT = "0123456789abcdef0123456789abcdef"
Fields = list[tuple[str, bytes]]

needs_writer = pytest.mark.skipif(not WRITER.exists(), reason="systemd-journal-remote is not here")


def entry(
    number: int, fields: Iterable[tuple[str, bytes]], *, at: int | None = None, boot: str = BOOT
) -> bytes:
    """Return one entry as a journal export, every value as a binary one."""
    stamps = f"__REALTIME_TIMESTAMP={at or START + number * 1_000_000}\n__MONOTONIC_TIMESTAMP={(number + 1) * 1_000_000}\n_BOOT_ID={boot}\n"
    body = [
        name.encode() + b"\n" + len(value).to_bytes(8, "little") + value + b"\n" for name, value in fields
    ]
    return stamps.encode() + b"".join(body) + b"\n"


def write(path: Path, entries: Sequence[bytes]) -> Path:
    """Write entries into a new journal file."""
    command = [str(WRITER), "-o", str(path), "-"]
    subprocess.run(command, input=b"".join(entries), check=True, capture_output=True)
    return path
