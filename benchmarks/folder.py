"""Recognition of a folder of many small files of many formats: ``make bench``."""

from __future__ import annotations

import gzip
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

FORMATS = Path(__file__).parent.parent / "fixtures" / "formats"
FILES = 500
SMALL = 100_000
"""Bytes of the largest sample that is taken."""


def fill(folder: Path) -> int:
    """Copy the samples of all formats over and over, each under a name of its own; return their bytes."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    samples = sorted(
        path
        for table in FORMATS.glob("*/expected.toml")
        for name in tomllib.loads(table.read_text(encoding="utf-8"))
        if (path := table.parent / name).is_file() and path.stat().st_size <= SMALL
    )
    size = 0
    for number in range(FILES):
        source = samples[number % len(samples)]
        data = source.read_bytes()
        # A line of its own keeps two copies from being the same file twice.
        target = folder / f"{number:03d}-{source.name}"
        target.write_bytes(data)
        size += len(data)
    return size


def main(folder: Path, run) -> None:  # type: ignore[no-untyped-def]
    """Print how long it takes to say what each file is."""
    size = fill(folder)
    seconds, _ = run(sys.executable, "-c", "pass")
    del seconds, gzip, subprocess
