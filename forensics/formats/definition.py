"""Formats as data: a TOML definition carries its own samples and does not load without them.

Keys of a transport: name, title, marks, pattern (groups time, host, service, pid, stream, message, partial),
time (strptime format), zone, continuation, samples. Keys of a message format: those of
:class:`forensics.model.plug.MessageFormat`.
"""

from __future__ import annotations

import difflib
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.formats.text import TextShape, text_transport
from forensics.model.errors import DefinitionError
from forensics.model.plug import MessageFormat, Transport

if TYPE_CHECKING:
    from types import ModuleType

TRANSPORT_KEYS = {
    "title",
    "marks",
    "pattern",
    "time",
    "zone",
    "continuation",
    "samples",
    "container",
    "reference",
    "beats",
}
MESSAGE_KEYS = {
    "title",
    "kind",
    "pattern",
    "anchors",
    "marks",
    "time",
    "zone",
    "levels",
    "service",
    "samples",
    "reference",
}


def definitions(package: ModuleType) -> list[Path]:
    """Return the TOML files that lie beside a package's modules."""
    return sorted(path for folder in package.__path__ for path in Path(folder).glob("*.toml"))


def read(path: Path, known: set[str], required: set[str]) -> dict[str, Any]:
    """Read one definition; a misspelt key, a missing key or broken TOML is refused with the reason."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise DefinitionError(
            f"not valid TOML ({error})", where=path.name, remedy="correct the file"
        ) from None
    for key in table:
        if key not in known:
            near = difflib.get_close_matches(key, sorted(known), n=1)
            raise DefinitionError(
                f"unknown key {key!r}",
                where=path.name,
                remedy=f"did you mean {near[0]!r}?" if near else "remove it",
            )
    if "samples" in table and not table["samples"]:
        raise DefinitionError("has no samples", where=path.name, remedy="a definition carries real lines")
    if lacking := sorted(required - set(table)):
        raise DefinitionError(
            f"lacks {', '.join(lacking)}",
            where=path.name,
            remedy="a definition must carry its samples and say what its time marks",
        )
    return table


def text_transports(package: ModuleType) -> dict[str, Transport]:
    """Load every transport that a pattern can describe."""
    return {path.stem: transport(path) for path in definitions(package)}


def transport(path: Path) -> Transport:
    """Load one text transport and prove it on its samples."""
    table = read(path, TRANSPORT_KEYS, {"title", "marks", "pattern", "time", "samples"})
    shape = TextShape(
        pattern=table["pattern"],
        time=table["time"],
        zone=table.get("zone", "none"),
        continuation=table.get("continuation"),
        container=bool(table.get("container")),
    )
    made = text_transport(path.stem, table["title"], table["marks"], shape, tuple(table["samples"]))
    check_pattern(shape.pattern, path)
    parsed = made.parse("\n".join(made.samples).encode())
    if parsed.records is None or parsed.unparsed or parsed.records["ts"].null_count():
        raise DefinitionError(
            "does not parse its own samples", where=path.name, remedy="correct pattern, time or samples"
        )
    return made


def check_pattern(pattern: str, path: Path) -> None:
    """Raise DefinitionError for a pattern that polars does not take."""
    try:
        pl.Series([""]).str.contains(pattern)
    except pl.exceptions.ComputeError as error:
        raise DefinitionError(
            f"the pattern is not a Rust regex ({error})",
            where=path.name,
            remedy="look-around and back-references are not available",
        ) from None


def message_formats(package: ModuleType) -> dict[str, MessageFormat]:
    """Load every message format that is a definition."""
    return {path.stem: message_format(path) for path in definitions(package)}


def message_format(path: Path) -> MessageFormat:
    """Load one message format and prove it on its samples."""
    table = read(path, MESSAGE_KEYS, {"title", "kind", "pattern", "samples"})
    made = MessageFormat(
        name=path.stem,
        title=table["title"],
        pattern=table["pattern"],
        kind=table["kind"],
        samples=tuple(table["samples"]),
        anchors=tuple(table.get("anchors", ())),
        marks=table.get("marks", ""),
        time=table.get("time"),
        zone=table.get("zone", "none"),
        levels=dict(table.get("levels", {})),
        service=table.get("service"),
        reference=table.get("reference", ""),
    )
    check_pattern(made.pattern, path)
    misses = [
        line
        for line, said in zip(made.samples, pl.Series(made.samples).str.contains(made.pattern), strict=True)
        if not said
    ]
    if misses:
        raise DefinitionError(
            f"does not match its own sample {misses[0]!r}",
            where=path.name,
            remedy="correct pattern or sample",
        )
    return made
