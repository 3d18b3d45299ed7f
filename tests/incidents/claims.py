"""What a report must and must not claim: the path language of incident.toml and its checks.

The language is described at the top of ``fixtures/incidents/crm-freeze/incident.toml``.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FIRST = re.compile(r"(?P<key>[^.\[\]]+)(?P<bracket>)")
STEP = re.compile(r"\.(?P<key>[^.\[\]]+)|\[(?P<bracket>[^\]]+)\]")
INDEX = re.compile(r"-?\d+")
KINDS = ("equals", "one_of", "approx", "near", "min", "max", "length", "matches")
COMPANION = {"approx": "tolerance", "near": "tolerance_s"}
"""The second key of a check that has one."""
SHOWN = 160
"""Characters of a value in a message."""


def text(value: Any) -> str:
    """Return a value as JSON text, a string without its quotes."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def steps(path: str) -> Iterator[tuple[str, Any]]:
    """Split a path into ("key", name), ("index", n), ("all", None) and ("where", {key: text})."""
    at = 0
    while at < len(path):
        found = (STEP if at else FIRST).match(path, at)
        if found is None:
            raise ValueError(f"path {path!r}: cannot be read at {path[at:]!r}")
        at = found.end()
        yield bracket(found["bracket"]) if found["key"] is None else ("key", found["key"])


def bracket(inner: str) -> tuple[str, Any]:
    """Read what stands between brackets."""
    if inner == "*":
        return "all", None
    if INDEX.fullmatch(inner):
        return "index", int(inner)
    pairs = [part.partition("=") for part in inner.split(",")]
    if not all(key and equals for key, equals, _ in pairs):
        raise ValueError(f"[{inner}] is neither an index, * nor key=value")
    return "where", {key.strip(): value for key, _, value in pairs}


def select(document: Any, path: str) -> list[Any]:
    """Return every value along which all steps of a path exist."""
    values = [document]
    for kind, detail in steps(path):
        values = [inner for value in values for inner in walk(value, kind, detail)]
    return values


def walk(value: Any, kind: str, detail: Any) -> list[Any]:
    """Take one step from one value."""
    if kind == "key":
        return [value[detail]] if isinstance(value, dict) and detail in value else []
    if not isinstance(value, list):
        return []
    if kind == "all":
        return value
    if kind == "index":
        return [value[detail]] if -len(value) <= detail < len(value) else []
    return [
        item
        for item in value
        if isinstance(item, dict)
        and all(key in item and text(item[key]) == want for key, want in detail.items())
    ]


def same(left: Any, right: Any) -> bool:
    """Compare as JSON does: 30 equals 30.0, true is no number."""
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)


def number(value: Any) -> bool:
    """Is it a number, and no boolean?"""
    return isinstance(value, int | float) and not isinstance(value, bool)


def instant(value: Any) -> dt.datetime | None:
    """Read an instant with its offset, None if it is none."""
    try:
        read = dt.datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return read if read.tzinfo else None


def passes(check: Mapping[str, Any], value: Any) -> bool:
    """Does one value pass a check?"""
    kind = next(kind for kind in KINDS if kind in check)
    want = check[kind]
    match kind:
        case "equals":
            return same(value, want)
        case "one_of":
            return any(same(value, item) for item in want)
        case "approx":
            return number(value) and abs(value - want) <= check["tolerance"]
        case "near":
            left, right = instant(value), instant(want)
            return (
                left is not None
                and right is not None
                and abs((left - right).total_seconds()) <= check["tolerance_s"]
            )
        case "min":
            return number(value) and value >= want
        case "max":
            return number(value) and value <= want
        case "length":
            return isinstance(value, list) and len(value) == want
        case _:
            return re.search(want, text(value)) is not None


@dataclass(frozen=True)
class Claim:
    """One expectation of an incident.toml."""

    must: bool
    check: Mapping[str, Any]
    path: str | None
    """None: the check is about the text of the page."""

    def __str__(self) -> str:
        """Name the expectation."""
        said = ", ".join(f"{key} {text(value)}" for key, value in self.check.items() if key != "why")
        return f"{'must' if self.must else 'must not'}: {self.path or 'the page'} {said}"

    def broken(self, document: Any, page: str) -> str | None:
        """Say what was found instead, None if the expectation holds."""
        if self.path is None:
            found = said(self.check, page)
            holds = (found is not None) == self.must
            got = "nothing of the kind" if found is None else f"{found!r}"
        else:
            values = select(document, self.path)
            hits = [value for value in values if passes(self.check, value)]
            holds = bool(hits) == self.must
            shown = values if self.must else hits
            got = "; ".join(clip(text(value)) for value in shown[:6]) or "no such value"
        return None if holds else f"{self} - got: {got} (why: {self.check['why']})"


def said(check: Mapping[str, Any], page: str) -> str | None:
    """Return the line of the page that a check of the text hits, None if there is none."""
    if "contains" in check:
        at, length = page.find(check["contains"]), len(check["contains"])
    else:
        found = re.search(check["matches"], page)
        at, length = (found.start(), found.end() - found.start()) if found else (-1, 0)
    if at < 0:
        return None
    return clip(page[max(0, at - 40) : at + length + 40].replace("\n", " "))


def clip(value: str) -> str:
    """Shorten a value for a message."""
    return value if len(value) <= SHOWN else f"{value[:SHOWN]}…"


def claims(table: Mapping[str, Any]) -> list[Claim]:
    """Return the expectations of an incident.toml; a malformed one is an error, for it would hold by mistake."""
    return [
        claim(check, must=side == "must", what=what)
        for side in ("must", "must_not")
        for what, checks in table.get(side, {}).items()
        for check in checks
    ]


def claim(check: Mapping[str, Any], *, must: bool, what: str) -> Claim:
    """Read one expectation."""
    if what not in ("value", "text"):
        raise ValueError(f"[[must.{what}]]: only value and text are known")
    kinds = [kind for kind in (*KINDS, "contains") if kind in check]
    if len(kinds) != 1:
        raise ValueError(f"{dict(check)}: needs one check, has {kinds}")
    if what == "text" and kinds[0] not in ("contains", "matches"):
        raise ValueError(f"{dict(check)}: a text contains or matches")
    if what == "value" and kinds[0] == "contains":
        raise ValueError(f"{dict(check)}: a value matches")
    allowed = {
        kinds[0],
        "why",
        *(["path"] if what == "value" else []),
        *([COMPANION[kinds[0]]] if kinds[0] in COMPANION else []),
    }
    if set(check) != allowed:
        raise ValueError(f"{dict(check)}: keys must be {sorted(allowed)}")
    if "matches" in check:
        re.compile(check["matches"])
    if what == "value":
        list(steps(check["path"]))
    return Claim(must, {key: value for key, value in check.items() if key != "path"}, check.get("path"))


def broken(table: Mapping[str, Any], document: Any, page: str) -> list[str]:
    """Return what does not hold, one line each."""
    return [said for item in claims(table) if (said := item.broken(document, page))]
