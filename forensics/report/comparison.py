"""Compares what a report says with what the same inputs give: values by path, a page by line.

signatures[id=sqlalchemy.queuepool-timeout].failures: the report says 67, the inputs give 66
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

ABSENT = object()
SHOWN = 160
"""Characters of a value that are shown."""
NAMED = ("id", "series", "monitor", "date", "service", "signature", "route", "at", "due")
"""Keys that name a row of a list, the first of which that does so alone is shown."""
CLAIM = re.compile(
    r"\d|`|^\||^#|\*\[|\b(verified|derived|inferred|clue|no sign|ruled out|not determined|confirmed|supported|suspected)\b",
    re.IGNORECASE,
)
"""What makes a line more than a remark: a number, a quotation, a row, a heading, a grade or a verdict."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One place in which a report and its inputs, or two places of a report, disagree."""

    place: str
    text: str

    def __str__(self) -> str:
        """Tell it in one line."""
        return f"{self.place}: {self.text}"


def documents(says: dict[str, Any], gives: dict[str, Any]) -> list[Mismatch]:
    """Compare two documents value by value."""
    return list(values(plain(says), plain(gives), ""))


def plain(value: Any) -> Any:
    """Write whole numbers as such, as JSON does not tell 30 from 30.0."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def count(value: Any) -> int:
    """Count the single values of a document."""
    if isinstance(value, dict | list):
        return sum(count(item) for item in (value.values() if isinstance(value, dict) else value))
    return 1


def values(says: Any, gives: Any, path: str) -> Iterator[Mismatch]:
    """Yield what differs between two values, and where."""
    if isinstance(says, dict) and isinstance(gives, dict):
        for key in (*gives, *(key for key in says if key not in gives)):
            where = f"{path}.{key}" if path else key
            yield from values(says.get(key, ABSENT), gives.get(key, ABSENT), where)
    elif isinstance(says, list) and isinstance(gives, list):
        yield from rows(says, gives, path)
    elif written(says) != written(gives):
        yield Mismatch(path, told(says, gives))


def rows(says: list[Any], gives: list[Any], path: str) -> Iterator[Mismatch]:
    """Yield what differs between two lists; a row too many or too few does not make all that follow it differ."""
    left, right = ([written(item) for item in side] for side in (says, gives))
    if left == right:
        return
    names = row_names(says)
    for kind, lo, hi, from_, to in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        pairs = zip_longest(range(lo, hi), range(from_, to))
        for here, there in pairs:
            name = names[here] if here is not None else row_names(gives)[there or 0]
            mine = says[here] if here is not None else ABSENT
            yield from values(mine, gives[there] if there is not None else ABSENT, f"{path}[{name}]")


def row_names(items: list[Any]) -> list[str]:
    """Name each row by a key that tells it from all others, else by its number."""
    for key in NAMED:
        found = [item.get(key) if isinstance(item, dict) else None for item in items]
        if found and all(isinstance(value, str) for value in found) and max(Counter(found).values()) == 1:
            return [f"{key}={value}" for value in found]
    return [str(index) for index in range(len(items))]


def written(value: Any) -> str:
    """Write a value so that equal ones are written alike, and true is not 1."""
    return "" if value is ABSENT else json.dumps(value, sort_keys=True, ensure_ascii=False)


def told(says: Any, gives: Any) -> str:
    """Say what a report says and what its inputs give."""
    if says is ABSENT:
        return f"not in the report, the inputs give {shown(gives)}"
    if gives is ABSENT:
        return f"the report says {shown(says)}, the inputs give nothing of the kind"
    return f"the report says {shown(says)}, the inputs give {shown(gives)}{apart(says, gives)}"


def shown(value: Any) -> str:
    """Show a value on one line."""
    text = value if isinstance(value, str) else written(value)
    text = " ".join(text.split()) if text else repr(text)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}… ({len(text)} characters)"


def apart(says: Any, gives: Any) -> str:
    """Say how far two instants lie apart, or where two long texts begin to differ."""
    left, right = instant(says), instant(gives)
    if left and right:
        seconds = (left - right).total_seconds()
        return f" ({abs(seconds):g} s {'later' if seconds > 0 else 'earlier'})" if seconds else ""
    if isinstance(says, str) and isinstance(gives, str) and max(len(says), len(gives)) > SHOWN:
        same = next((n for n, (a, b) in enumerate(zip_longest(says, gives)) if a != b), 0)
        return f"; they differ from character {same + 1} on: {shown(says[same : same + 40])} against {shown(gives[same : same + 40])}"
    return ""


def instant(value: Any) -> dt.datetime | None:
    """Read an instant with its offset, None if it is none."""
    try:
        read = dt.datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return read if read.tzinfo else None


def pages(says: str, gives: str) -> tuple[list[Mismatch], list[str], int]:
    """Compare two pages line by line; return what differs, remarks that were added by hand, and how many lines were compared.

    Blank lines and blanks at the ends of lines do not matter. A line that was added and makes no claim is a remark.
    """
    left, right = stripped(says), stripped(gives)
    found: list[Mismatch] = []
    remarks: list[str] = []
    matcher = SequenceMatcher(
        None, [line for _, _, line in left], [line for _, _, line in right], autojunk=False
    )
    for kind, lo, hi, from_, to in matcher.get_opcodes():
        if kind == "equal":
            continue
        for here, there in zip_longest(left[lo:hi], right[from_:to]):
            if here is None:
                _, section, line = there
                found.append(Mismatch(section, f"a line is missing, the inputs give {shown(line)}"))
                continue
            number, section, line = here
            place = f"line {number} ({section})"
            if there is not None:
                found.append(Mismatch(place, told_line(line, there[2])))
            elif CLAIM.search(line):
                found.append(Mismatch(place, f"the report says {shown(line)}, the inputs give no such line"))
            else:
                remarks.append(
                    f"{place} was added, and is no claim that inputs could bear out: {shown(line)}"
                )
    return found, remarks, len(left)


def stripped(page: str) -> list[tuple[int, str, str]]:
    """Return (number, heading above, text) of the lines that are not blank."""
    out = []
    section = "title"
    for number, line in enumerate(page.splitlines(), start=1):
        if line.startswith("## "):
            section = line[3:].strip()
        if line.strip():
            out.append((number, section, line.rstrip()))
    return out


def told_line(says: str, gives: str) -> str:
    """Say in which words two lines differ, and what the whole line should be."""
    left, right = (re.findall(r"\w+(?:[.:-]\w+)*|\s+|.", line) for line in (says, gives))
    parts = [
        f"{shown(''.join(left[lo:hi]).strip() or 'nothing')} for {shown(''.join(right[from_:to]).strip() or 'nothing')}"
        for kind, lo, hi, from_, to in SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
        if kind != "equal"
    ]
    return f"the report says {'; '.join(parts[:3]) or 'the same in other blanks'}; the inputs give {shown(gives)}"
