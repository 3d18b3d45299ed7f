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
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.formats.bare import NEEDS
from forensics.formats.fields import GROUPS, LEVELS, Fields
from forensics.formats.starts import STARTS
from forensics.formats.text import TextShape, text_transport
from forensics.model.errors import DefinitionError
from forensics.model.plug import MessageFormat, Transport

if TYPE_CHECKING:
    from collections.abc import Iterable
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
KINDS: dict[str, type] = {
    **dict.fromkeys(("samples", "anchors", "starts"), list),
    **dict.fromkeys(("levels", "json", "logfmt"), dict),
    **dict.fromkeys(("container", "unconfirmed"), bool),
}
"""Types of the values that are no text."""
WORDS = {str: "text in quotes", list: "a list of texts", dict: "a table", bool: "true or false"}
RESERVED = {"row", "line", "format", "kind", "g", "raw"}
"""Names of columns beside those of a pattern's groups."""
FIELD_KEYS = GROUPS | {"needs", "where", "fixed", "absent"}


def definitions(package: ModuleType) -> list[Path]:
    """Return the TOML files that lie beside a package's modules."""
    return sorted(path for folder in package.__path__ for path in Path(folder).glob("*.toml"))


@dataclass(frozen=True, slots=True)
class Own:
    """Formats that a user brought along, by name."""

    transports: dict[str, Transport] = field(default_factory=dict)
    messages: dict[str, MessageFormat] = field(default_factory=dict)


def own(folders: Iterable[Path], blocks: Iterable[dict[str, Any]] = (), where: str = "case.toml") -> Own:
    """Load the definitions of folders, and those that stand as blocks with a ``name`` in the case file.

    One with ``kind`` is a message format, any other a transport. Raises DefinitionError as for the formats of the house.
    """
    tables = [
        (path.stem, loaded(path), path.name) for folder in folders for path in sorted(folder.glob("*.toml"))
    ]
    for block in blocks:
        name = block.get("name")
        if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            raise DefinitionError(
                "a format needs a name", where=f"{where}: [[format]]", remedy='write name = "pm2_dated"'
            )
        rest = {key: value for key, value in block.items() if key != "name"}
        tables.append((name, rest, f"{where}: [[format]] {name}"))
    made = Own()
    for name, table, place in tables:
        if name in made.transports or name in made.messages:
            raise DefinitionError(f"the format {name!r} is there twice", where=place, remedy="rename one")
        if "kind" in table:
            made.messages[name] = message_of(name, table, place)
        else:
            made.transports[name] = transport_of(name, table, place)
    return made


def loaded(path: Path) -> dict[str, Any]:
    """Read a TOML file."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DefinitionError(
            f"not valid TOML ({error})", where=path.name, remedy="correct the file"
        ) from None
    except OSError as error:
        raise DefinitionError(
            f"cannot be read ({error.strerror})", where=path.name, remedy="make it readable"
        ) from None


def check(table: dict[str, Any], known: set[str], required: set[str], where: str) -> None:
    """Refuse a misspelt key, a value of the wrong type or a missing key with the reason."""
    check_keys(table, known, where)
    for key, value in table.items():
        kind = KINDS.get(key, str)
        texts = value if isinstance(value, list) else []
        if not isinstance(value, kind) or not all(isinstance(item, str) for item in texts):
            raise DefinitionError(f"{key} is of the wrong type", where=where, remedy=f"give {WORDS[kind]}")
    if "samples" in table and not table["samples"]:
        raise DefinitionError("has no samples", where=where, remedy="a definition carries real lines")
    if lacking := sorted(required - set(table)):
        raise DefinitionError(
            f"lacks {', '.join(lacking)}",
            where=where,
            remedy="a definition must carry its samples and say what its time marks",
        )


def check_keys(table: dict[str, Any], known: set[str] | frozenset[str], where: str) -> None:
    """Raise DefinitionError for a key that is not known."""
    for key in table:
        if key not in known:
            near = difflib.get_close_matches(key, sorted(known), n=1)
            raise DefinitionError(
                f"unknown key {key!r}",
                where=where,
                remedy=f"did you mean {near[0]!r}?" if near else "remove it",
            )


def text_transports(package: ModuleType) -> dict[str, Transport]:
    """Load every transport of the house that a pattern can describe; that each fits its samples is a test's work, not every run's."""
    return {path.stem: shaped(path.stem, loaded(path)) for path in definitions(package)}


def transport(path: Path) -> Transport:
    """Load one text transport and prove it on its samples."""
    return transport_of(path.stem, loaded(path), path.name)


def transport_of(name: str, table: dict[str, Any], where: str) -> Transport:
    """Make one text transport of a definition and prove it on its samples."""
    check(table, TRANSPORT_KEYS, {"title", "marks", "pattern", "time", "samples"}, where)
    for pattern in ("pattern", "continuation"):
        if pattern in table:
            check_pattern(table[pattern], where)
    if "(?P<time>" not in table["pattern"] or "(?P<message>" not in table["pattern"]:
        raise DefinitionError(
            "its pattern needs the groups time and message", where=where, remedy="name them (?P<time>…)"
        )
    made = shaped(name, table)
    parsed = made.parse("\n".join(made.samples).encode())
    if parsed.records is None or parsed.unparsed or parsed.records["ts"].null_count():
        raise DefinitionError(
            "does not parse its own samples", where=where, remedy="correct pattern, time or samples"
        )
    return made


def shaped(name: str, table: dict[str, Any]) -> Transport:
    """Make one text transport of a definition that has been checked."""
    shape = TextShape(
        pattern=table["pattern"],
        time=table["time"],
        zone=table.get("zone", "none"),
        continuation=table.get("continuation"),
        container=bool(table.get("container")),
    )
    return text_transport(name, table["title"], table["marks"], shape, tuple(table["samples"]))


def check_pattern(pattern: str, where: str) -> None:
    """Raise DefinitionError for a pattern that polars does not take."""
    try:
        pl.Series([""]).str.contains(pattern)
    except pl.exceptions.ComputeError as error:
        raise DefinitionError(
            f"the pattern is not a Rust regex ({error})",
            where=where,
            remedy="look-around and back-references are not available",
        ) from None


def message_formats(package: ModuleType) -> dict[str, MessageFormat]:
    """Load every message format of the house that is a definition, as :func:`text_transports` does."""
    return {path.stem: composed(path.stem, loaded(path), path.name)[0] for path in definitions(package)}


def message_format(path: Path) -> MessageFormat:
    """Load one message format and prove it on its samples."""
    return message_of(path.stem, loaded(path), path.name)


def message_of(name: str, table: dict[str, Any], where: str) -> MessageFormat:
    """Make one message format of a definition and prove it on its samples."""
    check(table, MESSAGE_KEYS, {"title", "kind", "samples"}, where)
    if table["kind"] not in NEEDS:
        raise DefinitionError(
            f"unknown kind {table['kind']!r}", where=where, remedy=f"known are {', '.join(NEEDS)}"
        )
    made, fields = composed(name, table, where)
    check_pattern(made.pattern, where)
    if unknown := set(made.starts) - set(STARTS):
        raise DefinitionError(
            f"unknown start {min(unknown)!r}", where=where, remedy=f"known are {', '.join(STARTS)}"
        )
    if taken := RESERVED & set(re.findall(r"\(\?P<(\w+)>", made.pattern)):
        raise DefinitionError(
            f"the group {min(taken)!r} has a name that the reader uses itself",
            where=where,
            remedy="rename it",
        )
    lines = pl.Series("message", made.samples)
    said = (fields.join(lines) if fields else lines).str.contains(made.pattern).fill_null(value=False)
    misses = [line for line, fits in zip(made.samples, said, strict=True) if not fits]
    if misses:
        raise DefinitionError(
            f"does not match its own sample {misses[0]!r}",
            where=where,
            remedy="correct pattern or sample",
        )
    return made


def composed(name: str, table: dict[str, Any], where: str) -> tuple[MessageFormat, Fields | None]:
    """Make one message format of a definition, and the fields that it names instead of a pattern."""
    fields = fields_of(table, where)
    if fields is None and "pattern" not in table:
        raise DefinitionError("lacks pattern", where=where, remedy="or name its fields in a table json")
    made = MessageFormat(
        name=name,
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
        of_head=fields.of_head if fields else None,
        reference=table.get("reference", ""),
        unconfirmed=bool(table.get("unconfirmed")),
    )
    return made, fields


def fields_of(table: dict[str, Any], where: str) -> Fields | None:
    """Return the fields that a definition names instead of a pattern."""
    kind = next((name for name in TABLES if name in table), None)
    if kind is None:
        return None
    said = table[kind]
    check_keys(said, FIELD_KEYS, where)
    groups = {key: tuple(value) for key, value in said.items() if key in GROUPS}
    if condition := said.get("where"):
        check_pattern(condition, where)
    return Fields(
        kind=kind,
        groups=groups,
        needs=tuple(said.get("needs", ())),
        where=condition,
        fixed=dict(said.get("fixed", {})),
        absent=dict(said.get("absent", {})),
    )
