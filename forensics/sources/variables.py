r"""``NAME=VALUE`` files, and the ``${NAME:-default}`` of Compose.

    export DATABASE_URL="postgresql://app:${DB_PASSWORD}@db/app?connection_limit=12"  # the pool

A variable without a value leaves a mark in the text instead of nothing, so that what depends on it is known to be unknown. Beside its text a value keeps
an outline, the same with a mark for every variable: what is cut out of both tells which variables, of which lines, gave that piece.

Reference: https://docs.docker.com/compose/how-tos/environment-variables/env-file/ and
https://github.com/compose-spec/compose-spec/blob/main/12-interpolation.md
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from forensics.model.budget import Given
from forensics.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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
    outline: str | None = None
    """The text with a mark for every variable; None where it has none."""
    references: tuple[Reference, ...] = ()
    """The variables, in order."""

    def part(self, text: str | None, find: Callable[[str], str | None]) -> Value:
        """Return a piece of this value, with the variables of that piece alone.

        ``find`` cuts the piece out of an outline, and returns None where the outline does not show it: it is then looked for in the values of the
        variables, of which one may hold the whole.
        """
        return replace(cut(self, find, {}), text=text)

    def given(self) -> tuple[Given, ...]:
        """Return the variables that gave this value, those in their own values among them, each once."""
        found: dict[Given, None] = {}
        waiting, seen = [self], {id(self)}
        while waiting:
            for one in waiting.pop(0).references:
                found[Given(one.name, one.value.where if one.value else None, one.default)] = None
                if one.value and not one.default and id(one.value) not in seen:
                    seen.add(id(one.value))
                    waiting.append(one.value)
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Reference:
    """A variable that a text names, with its value; None: no given file sets it."""

    name: str
    value: Value | None
    default: bool = False
    """Did the reference's default stand in?"""


def cut(value: Value, find: Callable[[str], str | None], done: dict[int, Value]) -> Value:
    """Return a value with the variables of one piece; ``done`` keeps what was cut, since values may share others."""
    if value.outline is None:
        return value
    piece = find(value.outline)
    if piece is not None:
        names = unset(piece)
        return Value(
            value.text, value.where, piece, tuple(one for one in value.references if one.name in names)
        )
    if id(value) not in done:
        done[id(value)] = value
        inner = (
            replace(one, value=cut(one.value, find, done)) if one.value and not one.default else one
            for one in value.references
        )
        done[id(value)] = replace(value, references=tuple(inner))
    return done[id(value)]


def unset(text: str) -> list[str]:
    """Return the variables without a value that a text depends on."""
    return UNSET.findall(text)


def expand(text: str, known: Mapping[str, Value]) -> str:
    """Replace references; one without value and default becomes a mark that :func:`unset` finds."""
    return resolve(text, known, "").text or ""


def resolve(text: str, known: Mapping[str, Value], where: str, depth: int = 0) -> Value:
    """Return what :func:`expand` makes of a text at a place, with the variables that it came from."""
    made = Resolved()
    at = 0
    while found := REFERENCE.search(text, at):
        made.plain(text[at : found.start()])
        at, word = found.end(), ""
        if found[3]:
            word, at = braced(text, at)
        if found[1]:
            made.plain("$")
        elif word and not found[4]:
            made.plain(text[found.start() : at])
        else:
            inner = resolve(word, known, where, depth + 1) if depth < DEEPEST else Value(word, where)
            made.reference(found[2] or found[3], found[4] or "", known, inner)
    made.plain(text[at:])
    return made.value(where)


@dataclass(slots=True)
class Resolved:
    """A text in the making."""

    text: list[str] = field(default_factory=list)
    outline: list[str] = field(default_factory=list)
    references: dict[str, Reference] = field(default_factory=dict)

    def plain(self, text: str) -> None:
        """Add what refers to nothing."""
        self.text.append(text)
        self.outline.append(text)

    def reference(self, name: str, rule: str, known: Mapping[str, Value], word: Value) -> None:
        """Add a reference with its rule (``:-`` and the like) and the word behind it."""
        value = known.get(name)
        made, default = chosen(name, value.text if value else None, rule, word.text or "")
        self.text.append(made)
        self.outline.append(mark(name))
        self.references.setdefault(name, Reference(name, value, default))
        if default or (rule.endswith("+") and made):
            self.outline.append(word.outline or word.text or "")
            for one in word.references:
                self.references.setdefault(one.name, one)

    def value(self, where: str) -> Value:
        """Return the whole."""
        outline = "".join(self.outline) if self.references else None
        return Value("".join(self.text), where, outline, tuple(self.references.values()))


def within(value: Value, known: Mapping[str, Value]) -> Value:
    """Return a value in which what is still a reference is replaced, as by a shell inside the container."""
    if "$" not in (value.text or ""):
        return value
    made = resolve(value.text or "", known, value.where)
    outline = resolve(value.outline or value.text or "", known, value.where).outline
    return Value(made.text, value.where, outline, (*value.references, *made.references))


def joined(parts: Sequence[Value], where: str, join: Callable[[list[str]], str]) -> Value:
    """Return several values as one."""
    references = {one.name: one for part in parts for one in part.references}
    outline = join([part.outline or part.text or "" for part in parts]) if references else None
    return Value(join([part.text or "" for part in parts]), where, outline, tuple(references.values()))


def mark(name: str) -> str:
    """Return what stands for a variable."""
    return f"{OPEN}{name}{CLOSE}"


def handed(name: str, known: Mapping[str, Value], where: str) -> Value:
    """Return a variable that is handed through by its name alone."""
    value = known.get(name)
    if value is None:
        return Value(None, where)
    return Value(value.text, where, mark(name), (Reference(name, value),))


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


def chosen(name: str, value: str | None, rule: str, word: str) -> tuple[str, bool]:
    """Return what a reference stands for, and whether that is its default."""
    given = bool(value) if rule.startswith(":") else value is not None
    if rule.endswith("+"):
        return (word if given else ""), False
    if given and value is not None:
        return value, False
    if rule.endswith("-"):
        return word, True
    return mark(name), False


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
                found[key] = resolve(unescaped(body), {**(known or {}), **found}, where)
            else:
                found[key] = Value(body, where)
            continue
        plain = re.sub(r"(?:^|\s+)#.*$", "", raw).strip()
        found[key] = resolve(plain, {**(known or {}), **found}, where)
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
