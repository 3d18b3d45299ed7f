"""Free-form JSON of a home-grown monitor: an array of results, or a state object that keeps its history in a list.

    {"lastStatus": "down", "since": 1795954471123, "history": [{"t": 1795954411000, "ok": true, "ms": 88}]}

Every list whose objects have a time and a result, or a gauge with its limit, is read, wherever it stands; a row is named by
its ordinal from 1. Cloudflare KV values and Durable Object storage are of this kind. The time is when the check began, as far as such a file says.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path  # noqa: TC003 - part of the plug's signature
from typing import TYPE_CHECKING, Any

from forensics.formats.jsonl import TIME, head_values, known_as, loaded, read, table
from forensics.formats.state import TARGET, gauges, joined, kind_of, probes, time_columns
from forensics.model.errors import UnreadableError
from forensics.model.plug import Monitor, Parsed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SURE = 0.7
"""A format that knows its fields wins over names that merely fit, one object a line over a list."""
DEEP = 6
"""Levels of nesting that are searched."""
GENERIC = frozenset(
    ["history", "results", "checks", "data", "items", "entries", "log", "logs", "events", "heartbeats", "samples", "records", "probes", "values"]
)  # fmt: skip
"""Keys that hold a history and name nothing."""


@dataclass(frozen=True, slots=True)
class Found:
    """One list of results: what it is called, what it is, its rows."""

    name: str
    kind: str
    rows: list[dict[str, Any]]


def sniff(head: bytes) -> float:
    """Fits where some list of objects has times that can be read; one object a line is another format."""
    lines = [line for line in head.splitlines() if line.strip()]
    if len(lines) > 1 and isinstance(loaded(lines[0]), dict):
        return 0.0
    found = list(search(head_values(head), {}))
    if not found:
        return 0.0
    best = max(found, key=lambda item: len(item.rows))
    rows = table([(index, row) for index, row in enumerate(best.rows[:50], 1)])
    read_ = time_columns(rows)
    return SURE * (1.0 if read_.notes else 1 - read_.frame["ts"].null_count() / rows.height)


def search(value: Any, fields: Mapping[str, str], name: str = "probe", depth: int = 0) -> Iterator[Found]:
    """Yield the lists of results in a value, named by what stands around them."""
    if depth > DEEP:
        return
    if isinstance(value, list):
        rows = [item for item in value if isinstance(item, dict)]
        kinds = [row_kind(row, fields) for row in rows]
        for wanted in dict.fromkeys(kind for kind in kinds if kind):
            yield Found(name, wanted, [row for row, its in zip(rows, kinds, strict=True) if its == wanted])
        rest: list[Any] = [row for row, its in zip(rows, kinds, strict=True) if its is None]
        for item in rest + [item for item in value if isinstance(item, list)]:
            yield from search(item, fields, name, depth + 1)
    elif isinstance(value, dict):
        named = called(value) or name
        inner = [
            item for key, item in value.items() for item in search(item, fields, under(key, named), depth + 1)
        ]
        if inner:
            yield from inner
        elif depth == 0 and (kind := row_kind(value, fields)):
            yield Found(named, kind, [value])
        elif states := [
            {**item, "name": called(item) or key}
            for key, item in value.items()
            if isinstance(item, dict) and row_kind(item, fields)
        ]:
            yield Found(named, row_kind(states[0], fields) or "probes", states)


def row_kind(row: Mapping[str, Any], fields: Mapping[str, str]) -> str | None:
    """Tell what an object is, None where it has no time."""
    names = {known_as(name) for name, item in row.items() if not isinstance(item, dict | list)}
    dated = names & set(TIME) or known_as(fields.get("time", "")) in names
    return kind_of(names, fields) if dated else None


def called(value: Mapping[str, Any]) -> str | None:
    """Return the name of a monitor's object."""
    names = {known_as(key): item for key, item in value.items() if isinstance(item, str)}
    return next((names[key] for key in TARGET if key in names), None)


def under(key: str, name: str) -> str:
    """Name what stands under a key: the key, unless it only says that a history follows."""
    return name if known_as(key) in GENERIC or name != "probe" else key


def parse(path: Path, fields: Mapping[str, str]) -> Parsed:
    """Read every list of results."""
    document = read(path)
    values: Any = list(document.values) if len(document.values) > 1 else document.values[0]
    parts: list[Parsed] = []
    at = 1
    for found in search(values, fields):
        rows = table(list(enumerate(found.rows, at)))
        at += len(found.rows)
        parts.append(gauges(rows, fields) if found.kind == "gauges" else probes(rows, fields, found.name))
    if not parts:
        raise UnreadableError(
            "no list in it has a time and a result or a gauge",
            remedy="name its fields in case.toml: [[source]] fields",
        )
    return joined(parts, document.notes)


PLUG = Monitor(
    name="state_json",
    title="state of a home-grown monitor, JSON",
    marks="as the program has it: start of the check, or when the sample was taken",
    sniff=sniff,
    parse=parse,
    binary=True,
)
