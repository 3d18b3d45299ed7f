"""Formats as data: a TOML definition carries its own samples and does not load without them.

Keys of a transport: name, title, marks, pattern (groups time, host, service, pid, stream, message, partial),
time (strptime format), zone, continuation, samples. Keys of a message format: those of
:class:`forensics.model.plug.MessageFormat`; instead of a pattern it may have a table ``json`` or ``logfmt`` that names the
fields of each group (:mod:`forensics.formats.fields`), with ``needs``, ``where``,
``fixed`` and ``absent``.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.formats.fields import GROUPS, LEVELS, Fields
from forensics.formats.starts import STARTS
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
    "starts",
    "marks",
    "time",
    "zone",
    "levels",
    "service",
    "samples",
    "reference",
    "unconfirmed",
    "json",
    "logfmt",
}
TABLES = ("json", "logfmt")
RESERVED = {"row", "line", "format", "kind", "g", "raw"}
"""Names of columns beside those of a pattern's groups."""
FIELD_KEYS = GROUPS | {"needs", "where", "fixed", "absent"}


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
    check_keys(table, known, path)
    if "samples" in table and not table["samples"]:
        raise DefinitionError("has no samples", where=path.name, remedy="a definition carries real lines")
    if lacking := sorted(required - set(table)):
        raise DefinitionError(
            f"lacks {', '.join(lacking)}",
            where=path.name,
            remedy="a definition must carry its samples and say what its time marks",
        )
    return table


def check_keys(table: dict[str, Any], known: set[str] | frozenset[str], path: Path) -> None:
    """Raise DefinitionError for a key that is not known."""
    for key in table:
        if key not in known:
            near = difflib.get_close_matches(key, sorted(known), n=1)
            raise DefinitionError(
                f"unknown key {key!r}",
                where=path.name,
                remedy=f"did you mean {near[0]!r}?" if near else "remove it",
            )


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
    table = read(path, MESSAGE_KEYS, {"title", "kind", "samples"})
    fields = fields_of(table, path)
    if fields is None and "pattern" not in table:
        raise DefinitionError("lacks pattern", where=path.name, remedy="or name its fields in a table json")
    made = MessageFormat(
        name=path.stem,
        title=table["title"],
        pattern=fields.pattern if fields else table["pattern"],
        kind=table["kind"],
        samples=tuple(table["samples"]),
        anchors=tuple(table.get("anchors", ())),
        starts=tuple(table.get("starts", ("brace",) if fields and fields.kind == "json" else ())),
        marks=table.get("marks", ""),
        time=table.get("time"),
        zone=table.get("zone", "none"),
        levels=dict(table.get("levels", LEVELS if fields and "level" in fields.groups else {})),
        service=table.get("service"),
        prepare=fields.prepare if fields else None,
        prepare_dated=fields.prepare_dated if fields else None,
        reference=table.get("reference", ""),
        unconfirmed=bool(table.get("unconfirmed")),
    )
    check_pattern(made.pattern, path)
    if unknown := set(made.starts) - set(STARTS):
        raise DefinitionError(
            f"unknown start {min(unknown)!r}", where=path.name, remedy=f"known are {', '.join(STARTS)}"
        )
    if taken := RESERVED & set(re.findall(r"\(\?P<(\w+)>", made.pattern)):
        raise DefinitionError(
            f"the group {min(taken)!r} has a name that the reader uses itself",
            where=path.name,
            remedy="rename it",
        )
    lines = pl.Series("message", made.samples)
    said = (fields.join(lines) if fields else lines).str.contains(made.pattern).fill_null(value=False)
    misses = [line for line, fits in zip(made.samples, said, strict=True) if not fits]
    if misses:
        raise DefinitionError(
            f"does not match its own sample {misses[0]!r}",
            where=path.name,
            remedy="correct pattern or sample",
        )
    return made


def fields_of(table: dict[str, Any], path: Path) -> Fields | None:
    """Return the fields that a definition names instead of a pattern."""
    kind = next((name for name in TABLES if name in table), None)
    if kind is None:
        return None
    said = table[kind]
    check_keys(said, FIELD_KEYS, path)
    groups = {key: tuple(value) for key, value in said.items() if key in GROUPS}
    if where := said.get("where"):
        check_pattern(where, path)
    return Fields(
        kind=kind,
        groups=groups,
        needs=tuple(said.get("needs", ())),
        where=where,
        fixed=dict(said.get("fixed", {})),
        absent=dict(said.get("absent", {})),
    )
