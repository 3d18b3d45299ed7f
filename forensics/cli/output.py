"""Writing results: to a temporary name first, so that no partial file is left behind."""

from __future__ import annotations

import json
import os
import re
import tempfile
import unicodedata
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forensics.model.errors import UsageError
from forensics.sources.discovery import STDIN, files

if TYPE_CHECKING:
    from collections.abc import Iterable

UNUSUAL = re.compile(r"[^\n -~]")
HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Categories of characters that no reader sees: controls, marks of direction, halves of characters, breaks of lines."""


def write_all(files: dict[Path, str | bytes], private: dict[Path, str] | None = None) -> None:
    """Write files and give them their names only when all are complete; nothing is written if one name is a folder.

    Those that are ``private`` can be read by their owner alone.
    """
    secret = private or {}
    files = {**files, **secret}
    if folder := next((path for path in files if path.is_dir()), None):
        raise UsageError("is a folder", where=str(folder), remedy="give the name of a file")
    done: list[tuple[str, Path]] = []
    try:
        for path, content in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
            done.append((name, path))
            with os.fdopen(handle, "wb") as out:
                out.write(content if isinstance(content, bytes) else content.encode())
            Path(name).chmod(0o600 if path in secret else 0o644)
        named: list[Path] = []
        try:
            for name, path in done:
                Path(name).replace(path)
                named.append(path)
        except OSError:
            for path in named:
                path.unlink(missing_ok=True)
            raise
    finally:
        for name, _ in done:
            Path(name).unlink(missing_ok=True)


def check_outputs(outputs: Iterable[Path | None], inputs: Iterable[str]) -> None:
    """Refuse two outputs of one name, and an output that would overwrite an input: evidence is never touched."""
    named = [path.absolute().resolve() for path in outputs if path is not None]
    if double := next((path for path, n in Counter(named).items() if n > 1), None):
        raise UsageError("two outputs have this name", where=double.name, remedy="give each its own")
    evidence = {item.path.absolute().resolve() for item in files(text for text in inputs if text != STDIN)}
    if taken := next((path for path in named if path in evidence), None):
        raise UsageError(
            "is an input and would be overwritten", where=taken.name, remedy="write somewhere else"
        )


def as_json(value: Any, indent: int | None = 1) -> str:
    """Write a value as JSON; characters that no reader sees, and a terminal may obey, are escaped in it."""
    return UNUSUAL.sub(escaped, json.dumps(value, ensure_ascii=False, indent=indent))


def escaped(found: re.Match[str]) -> str:
    """Write a hidden character of a JSON text as its escape."""
    char = found[0]
    if unicodedata.category(char) not in HIDDEN:
        return char
    return "\\u007f" if char == "\x7f" else json.dumps(char)[1:-1]


def printable(text: str) -> str:
    """Keep control characters of names and notes off the terminal."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)


def check_apart(table: Path, outputs: Iterable[Path | None], *, no_redact: bool) -> None:
    """Refuse a table of pseudonyms beside any other output: who is given that folder would be given what the masks hide."""
    if no_redact:
        raise UsageError(
            "nothing is masked with --no-redact", where="--pseudonyms", remedy="leave one of the two out"
        )
    folder = table.absolute().resolve().parent
    if beside := next(
        (path for path in outputs if path and path.absolute().resolve().parent == folder), None
    ):
        raise UsageError(
            f"would lie beside {beside.name}, and undo its masks for everyone who is given that folder",
            where=f"--pseudonyms {table.name}",
            remedy="name a file in a folder of its own",
        )


def show(text: str) -> None:
    """Print a result on standard output, and nothing else with it."""
    click.echo(text, nl=not text.endswith("\n"))
