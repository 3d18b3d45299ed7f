"""Writing results: to a temporary name first, so that no partial file is left behind."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import click


def write_all(files: dict[Path, str | bytes]) -> None:
    """Write files and give them their names only when all are complete."""
    done: list[tuple[str, Path]] = []
    try:
        for path, content in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
            done.append((name, path))
            with os.fdopen(handle, "wb") as out:
                out.write(content if isinstance(content, bytes) else content.encode())
            Path(name).chmod(0o644)
        for name, path in done:
            Path(name).replace(path)
    finally:
        for name, _ in done:
            Path(name).unlink(missing_ok=True)


def show(text: str) -> None:
    """Print a result on standard output, and nothing else with it."""
    click.echo(text, nl=not text.endswith("\n"))
