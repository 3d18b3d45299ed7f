"""What a report states of itself: how it was made, of which inputs, and by which version; read from its JSON or its page.

    forensics report INPUT… --tz America/Sao_Paulo --json report.json -o report.md

A page is read by its shapes (commands, hashes, links) and not by its words, so that its language does not matter.
"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from forensics.model.errors import UsageError
from forensics.report.dialects import DIALECTS, USUAL

SCHEMA = "forensics.report/1"
REMEDY = "write one with forensics report --json, or with -o as Markdown"
LISTS = ("sources", "incidents", "findings", "evidence")
"""Arrays without which a document is no report."""
COMMAND = re.compile(r"^forensics report \S+ (.*)$", re.MULTILINE)
HASHED = re.compile(r"\| ?`[0-9a-f]{12}` ?\|")
ROW = re.compile(r"^\|\s*(\S.*?)\s*\|\s*`([^`|\s]{12})`\s*\|", re.MULTILINE)
MOST_CHARTS = 8
"""Charts of a report: one of each kind, and some to spare."""
UNLISTED = re.compile(r"^\D{0,40}?(\d+) [^|\n]*`--evidence FILE`", re.MULTILINE)
HEADING = re.compile(r"^## ", re.MULTILINE)
WRITTEN = re.compile(r"\bforensics (\d[\w.+-]*?)[,.]?(?: .*?`([0-9a-f]{6,64})`.*)?$", re.MULTILINE)
CHART = re.compile(r"\]\(([^()\s]+\.svg)\)")
LIMIT = re.compile(r"(size|ratio|members|depth)=([1-9]\d{0,15})")
CUT = re.compile(r"… \(\+\d+\)$")
VALUES = {
    "--tz": "tz",
    "--lang": "lang",
    "--since": "since",
    "--until": "until",
    "--case": "case",
    "--signatures": "signatures",
    "--formats": "formats",
    "--unpack-limit": "unpack_limit",
    "--unit": "unit",
    "--dialect": "dialect",
    "--max-chars": "max_chars",
}
"""Options with a value that a page's command shows, and their keys in report.json, which holds none of the last two."""


@dataclass(frozen=True, slots=True)
class StatedSource:
    """One input as the report names it."""

    id: str | None
    """None on a page, which shows no ids of sources."""
    name: str | None
    """None where a page shows only its beginning."""
    sha256: str | None
    """A page shows the first 12 digits; None for an input without one (unreadable, or the live journal)."""
    skipped: str | None = None


@dataclass(frozen=True, slots=True)
class Stated:
    """A report as it was read, and how it says that it was made."""

    name: str
    document: dict[str, Any] | None
    """None: it is a page."""
    page: str
    tz: str | None = None
    lang: str | None = None
    since: str | None = None
    until: str | None = None
    units: tuple[str, ...] = ()
    case: str | None = None
    """Name of the case file."""
    signatures: bool = False
    """Were signatures of one's own used?"""
    formats: bool = False
    unpack_limit: dict[str, int] = field(default_factory=dict)
    """Limits of unpacking that were raised, by name."""
    redact: bool = True
    dialect: str = USUAL
    """Of a page: how it is marked up."""
    max_chars: int | None = None
    """Of a page: the length that was asked for, None where its place decided."""
    sources: tuple[StatedSource, ...] = ()
    unlisted: int = 0
    """Inputs that a page does not show."""
    version: str | None = None
    signatures_sha256: str | None = None
    charts: tuple[str, ...] = field(default=())


def read(text: str, name: str) -> Stated:
    """Read a report.json or a page; anything else is a UsageError."""
    text = text.removeprefix("\ufeff")
    return of_document(loaded(text, name), name) if text.lstrip()[:1] in ("{", "[") else of_page(text, name)


def loaded(text: str, name: str) -> dict[str, Any]:
    """Return the document of a report.json of the schema that this version knows."""
    try:
        document = json.loads(text, object_pairs_hook=pairs)
    except (ValueError, RecursionError) as error:
        said = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise UsageError(f"not a report.json ({said})", where=name, remedy=REMEDY) from None
    if not isinstance(document, dict) or not isinstance(schema := document.get("schema"), str):
        raise UsageError("is no report: it states no schema", where=name, remedy=REMEDY)
    if schema != SCHEMA:
        raise UsageError(
            f"has the schema {schema!r}; this version checks {SCHEMA}",
            where=name,
            remedy="check it with the version that wrote it",
        )
    for key in LISTS:
        rows = document.get(key)
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise UsageError(f"is no report: {key} is no list of objects", where=name, remedy=REMEDY)
    return document


def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; a key that is there twice is refused, since readers disagree on which value counts."""
    made = dict(found)
    if len(made) < len(found):
        keys = [key for key, _ in found]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} is there twice")
    return made


def of_document(document: dict[str, Any], name: str) -> Stated:
    """Read how a document says that it was made."""
    options, tool = (
        value if isinstance(value := document.get(key), dict) else {} for key in ("options", "tool")
    )
    texts = {key: typed(options, key, str, name) for key in ("tz", "lang", "since", "until")}
    units = typed(options, "unit", list, name) or []
    if not all(isinstance(unit, str) for unit in units):
        raise UsageError("options.unit holds no names", where=name, remedy=REMEDY)
    case = typed(options, "case", dict, name)
    charts = document.get("charts")
    return Stated(
        name, document, "", **texts, units=tuple(units),
        case=str(case.get("name")) if case else None,
        signatures=bool(typed(options, "signatures", list, name)),
        formats=bool(typed(options, "formats", list, name)),
        unpack_limit=raised(options, name),
        redact=options.get("redact") is not False,
        sources=tuple(source(row, name) for row in document["sources"]),
        version=typed(tool, "version", str, name, where="tool"),
        signatures_sha256=typed(tool, "signatures_sha256", str, name, where="tool"),
        charts=tuple(map(str, charts[:MOST_CHARTS])) if isinstance(charts, list) else (),
    )  # fmt: skip


def raised(options: dict[str, Any], name: str) -> dict[str, int]:
    """Return the limits of unpacking that a report.json states."""
    limits = typed(options, "unpack_limit", dict, name) or {}
    return spelled([f"{key}={value}" for key, value in limits.items()], name)


def spelled(words: list[str], name: str) -> dict[str, int]:
    """Return limits of unpacking from the words of a command."""
    found = [LIMIT.fullmatch(word) for word in words]
    if not all(found):
        raise UsageError("states a limit of unpacking that is none", where=name, remedy=REMEDY)
    return {one[1]: int(one[2]) for one in found if one}


def typed(table: dict[str, Any], key: str, kind: type, name: str, where: str = "options") -> Any:
    """Return a value of a type, None where there is none."""
    value = table.get(key)
    if value is None or (isinstance(value, kind) and not isinstance(value, bool)):
        return value
    raise UsageError(f"{where}.{key} is of the wrong type", where=name, remedy=REMEDY)


def source(row: dict[str, Any], name: str) -> StatedSource:
    """Return one row of ``sources``."""
    shown = {key: typed(row, key, str, name, "sources") for key in ("id", "name", "sha256", "skipped")}
    if not shown["name"]:
        raise UsageError("a source has no name", where=name, remedy=REMEDY)
    return StatedSource(**shown)


def of_page(page: str, name: str) -> Stated:
    """Read how a page says that it was made: by its command, its table of inputs and its last line."""
    commands, written = COMMAND.findall(page), list(WRITTEN.finditer(page))
    if not page.lstrip().startswith("# ") or not written:
        raise UsageError("is no report", where=name, remedy=REMEDY)
    if not commands:
        raise UsageError(
            "the page does not show the command that made it", where=name, remedy="check its report.json"
        )
    said = arguments(commands[-1], name)
    dialect, longest = form(said, name)
    part = next((part for part in HEADING.split(page) if HASHED.search(part)), "")
    left = UNLISTED.search(part)
    return Stated(
        name, None, page,
        **{key: next(iter(said[key]), None) for key in ("tz", "lang", "since", "until", "case")},
        units=tuple(said["unit"]), signatures=bool(said["signatures"]), formats=bool(said["formats"]),
        unpack_limit=spelled(said["unpack_limit"], name), redact=not said["no_redact"],
        dialect=dialect, max_chars=longest,
        sources=tuple(StatedSource(None, shown_name(cell), digits) for cell, digits in ROW.findall(part)),
        unlisted=int(left[1]) if left else 0, version=written[-1][1], signatures_sha256=written[-1][2],
        charts=tuple(unquote(link) for link in CHART.findall(page)[:MOST_CHARTS]),
    )  # fmt: skip


def form(said: dict[str, list[str]], name: str) -> tuple[str, int | None]:
    """Return the dialect and the length of a page from the words of its command."""
    dialect, longest = (next(iter(said[key]), None) for key in ("dialect", "max_chars"))
    if dialect not in (None, *DIALECTS) or not re.fullmatch(r"[1-9]\d{3,8}", longest or "3000"):
        raise UsageError("states a dialect or a length that is none", where=name, remedy=REMEDY)
    return dialect or USUAL, int(longest) if longest else None


def arguments(command: str, name: str) -> dict[str, list[str]]:
    """Read the options of the command that a page shows."""
    said: dict[str, list[str]] = {key: [] for key in (*VALUES.values(), "no_redact")}
    try:
        words = iter(shlex.split(command))
    except ValueError as error:
        raise UsageError(
            f"its command cannot be read ({error})", where=name, remedy="check its report.json"
        ) from None
    for word in words:
        if word == "--no-redact":
            said["no_redact"].append(word)
        elif word in VALUES:
            said[VALUES[word]].append(next(words, ""))
    return said


def shown_name(cell: str) -> str | None:
    """Return the name that a table's cell shows, None where the cell shows only its beginning."""
    if CUT.search(cell):
        return None
    return re.sub(r"`+ ?|\\(?=[^\w\s])", "", cell).replace("&#124;", "|")
