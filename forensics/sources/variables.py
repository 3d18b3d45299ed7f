r"""``NAME=VALUE`` files, and the ``${NAME:-default}`` of Compose.

    export DATABASE_URL="postgresql://app:${DB_PASSWORD}@db/app?connection_limit=12"  # the pool

A variable without a value leaves a mark in the text instead of nothing, so that what depends on it is known to be unknown.

Reference: https://docs.docker.com/compose/how-tos/environment-variables/env-file/ and
https://github.com/compose-spec/compose-spec/blob/main/12-interpolation.md
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forensics.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

OPEN, CLOSE = "\ue000", "\ue001"
"""Around the name of a variable that has no value: of Unicode's private use area, so that no setting has them."""
UNSET = re.compile(f"{OPEN}([^{CLOSE}]*){CLOSE}")
ASSIGNMENT = re.compile(r"\s*(?:export\s+)?([A-Za-z_][\w.\-\[\]]*)\s*(?:[=:](?!//)\s*(.*))?$", re.DOTALL)
REFERENCE = re.compile(r"\$(?:(\$)|([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(:?[-?+])?)")
ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
DEEPEST = 20
"""Defaults inside defaults: more are no setting that anybody wrote."""


@dataclass(frozen=True, slots=True)
class Value:
    """The value of a setting, and where it stands; None: the name is there, the value is not."""

    text: str | None
    where: str


def unset(text: str) -> list[str]:
    """Return the variables without a value that a text depends on."""
    return UNSET.findall(text)


def expand(text: str, known: Mapping[str, Value], depth: int = 0) -> str:
    """Replace references; one without value and default becomes a mark that :func:`unset` finds."""
    out: list[str] = []
    at = 0
    while found := REFERENCE.search(text, at):
        out.append(text[at : found.start()])
        at = found.end()
        if found[1]:
            out.append("$")
            continue
        name, rule, word = found[2] or found[3], found[4] or "", ""
        if found[3]:
            word, at = braced(text, at)
            if not rule and word:
                out.append(text[found.start() : at])
                continue
        value = known[name].text if name in known else None
        out.append(chosen(name, value, rule, expand(word, known, depth + 1) if depth < DEEPEST else word))
    return "".join(out) + text[at:]


def braced(text: str, at: int) -> tuple[str, int]:
    """Return what stands before the closing brace, and where the text goes on; inner braces are paired."""
    depth = 1
    for place in range(at, len(text)):
        if text[place] == "}":
            depth -= 1
            if not depth:
                return text[at:place], place + 1
        elif text.startswith("${", place):
            depth += 1
    return text[at:], len(text)


def chosen(name: str, value: str | None, rule: str, word: str) -> str:
    """Return what a reference stands for."""
    given = bool(value) if rule.startswith(":") else value is not None
    if rule.endswith("+"):
        return word if given else ""
    if given and value is not None:
        return value
    if rule.endswith("-"):
        return word
    return f"{OPEN}{name}{CLOSE}"


def parse(text: str, name: str, known: Mapping[str, Value] | None = None) -> dict[str, Value]:
    """Read a ``.env`` or ``.properties`` file; later lines see the variables of earlier ones.

    Raises UsageError, with the line, for a line that is no assignment and for a quote that is never closed.
    """
    found: dict[str, Value] = {}
    lines = text.removeprefix("\ufeff").splitlines()
    number = 0
    while number < len(lines):
        first, line = number + 1, lines[number]
        number += 1
        if not line.strip() or line.lstrip()[0] in "#!;":
            continue
        where = f"{name}:{first}"
        match = ASSIGNMENT.match(line)
        if match is None:
            raise UsageError(
                "is no NAME=VALUE",
                where=where,
                remedy="correct the line, or begin it with # if it is a remark",
            )
        key, raw = match[1], match[2]
        if raw is None:
            found[key] = Value(None, where)
            continue
        if raw[:1] in ("'", '"'):
            while (end := closing(raw)) is None:
                if number == len(lines):
                    raise UsageError("a quote is never closed", where=where, remedy=f"close it with {raw[0]}")
                raw += "\n" + lines[number]
                number += 1
            body = raw[1:end]
            if raw[0] == '"':
                body = expand(unescaped(body), {**(known or {}), **found})
            found[key] = Value(body, where)
            continue
        plain = re.sub(r"(?:^|\s+)#.*$", "", raw).strip()
        found[key] = Value(expand(plain, {**(known or {}), **found}), where)
    return found


def closing(raw: str) -> int | None:
    """Return where a quoted value ends, None where it does not."""
    quote, place = raw[0], 1
    while place < len(raw):
        if raw[place] == "\\" and quote == '"':
            place += 1
        elif raw[place] == quote:
            return place
        place += 1
    return None


def unescaped(text: str) -> str:
    r"""Undo the escapes of a double-quoted value: ``\n``, ``\"``; ``\$`` is a dollar sign that expands nothing."""
    return re.sub(
        r"\\(.)",
        lambda found: "$$" if found[1] == "$" else ESCAPES.get(found[1], found[1]),
        text,
        flags=re.DOTALL,
    )
