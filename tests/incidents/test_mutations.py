"""A report in which anything was changed does not pass the check, and one in which nothing was changed does."""

from __future__ import annotations

import copy
import datetime as dt
import json
import random
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import golden
import pytest

from forensics import checking
from forensics.model.errors import UsageError
from forensics.report import stated
from forensics.report.comparison import instant
from forensics.report.masking import Masker
from forensics.sources import casefile
from forensics.sources.discovery import Input, discover

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.checking import Again, Found, Verdict
    from forensics.report.stated import Stated

NAMES = ("s10-quiet-day", "s6-blind-monitor", "crm-freeze", "prisma-replicas", "s3-redis-frozen")
"""A quiet day, an incident that a monitor did not see, the founding incident, a fleet of replicas, a frozen Redis."""
CHANGES = {"s10-quiet-day": 200, "s6-blind-monitor": 200}
FEWER = 25
"""Changes of the other reports, which are long: each is compared as a whole."""
GRADES = (
    "verified",
    "derived",
    "inferred",
    "clue",
    "no_sign",
    "ruled_out",
    "not_determined",
    "confirmed",
    "supported",
    "suspected",
)
SHOWN_GRADES = (
    "Verified",
    "Derived",
    "Inferred",
    "Clue, never cause",
    "No sign (not proof)",
    "Ruled out",
    "Not determined",
    "Confirmed",
    "Supported",
)
ID = re.compile(r"[EFis]\d+")
TOLD_APART = ("tool", "options", "charts")
"""What is no claim of a report: its version (told as a note), how it was made, and the name of its chart."""
PAGE = {
    "instant": re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"),
    "id": re.compile(r"\b[EF]\d+\b"),
    "grade": re.compile("|".join(map(re.escape, SHOWN_GRADES))),
    "quoted": re.compile(r"(?<=`)[^`\n]+(?=`)"),
    "number": re.compile(r"\d+"),
}


@dataclass(frozen=True)
class Original:
    """A report as it was written, and as it is made again."""

    text: str
    said: Stated
    made: Again


@cache
def given(name: str) -> tuple[Input, ...]:
    """Return the inputs of a fixture."""
    return tuple(discover([str(golden.INCIDENTS / name / "inputs")]))


@cache
def original(name: str, file: str) -> Original:
    """Return a report, made again once."""
    text = golden.produced(name)[file]
    said = stated.read(text, file)
    return Original(text, said, made_again(said, find(said, name), name))


def find(said: Stated, name: str) -> Found:
    """Find the inputs of a report."""
    case = casefile.read(own(name).case) if own(name).case else casefile.CaseFile()  # type: ignore[arg-type]
    return checking.find(said, list(given(name)), Masker(case.keep, case.names))


def own(name: str) -> checking.Own:
    """Return what a reader has to give: the case file of a fixture that has one."""
    return checking.Own(case=golden.case_file(name))


AGAIN: dict[str, Again] = {}


def made_again(said: Stated, found: Found, name: str) -> Again:
    """Make a report again, once for the same inputs and options."""
    options = checking.options_of(said, own(name))
    key = f"{name} {said.name} {said.redact} {options} {found.items}"
    if key not in AGAIN:
        AGAIN[key] = checking.again(said, found, options, [str(golden.INCIDENTS / name / "inputs")])
    return AGAIN[key]


def verdict(name: str, file: str, text: str) -> Verdict:
    """Check a changed report; it is made again only if it says that it was made in another way."""
    said = stated.read(text, file)
    found = find(said, name)
    if found.mismatches:
        return checking.Verdict(found.mismatches, (), "")
    return checking.judged(said, found, made_again(said, found, name))


def caught(name: str, file: str, text: str) -> bool:
    """Tell whether a changed report is refused or found to disagree."""
    try:
        return bool(verdict(name, file, text).mismatches)
    except UsageError:
        return True


# --- report.json


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield every single value with its path."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*path, key))
    else:
        yield path, value


def kind_of(path: tuple[Any, ...], value: Any) -> str | None:
    """Say what a value is; None for words, which no rule can change and still make sense."""
    if path[0] in TOLD_APART:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if not isinstance(value, str):
        return "number"
    if path[0] == "evidence" and path[-1] == "text":
        return "quoted"
    if value in GRADES:
        return "grade"
    if ID.fullmatch(value):
        return "id"
    if path[0] == "hypotheses" and path[-1] == "id":
        return "id"
    return "instant" if instant(value) else None


def changed(rng: random.Random, kind: str, value: Any) -> Any:
    """Change a value into another of its kind."""
    if kind == "number":
        return value + rng.choice((-1, 1, 10, 0.5))
    if kind == "grade":
        return rng.choice([grade for grade in GRADES if grade != value])
    if kind == "id":
        return re.sub(r"\d+|$", lambda match: str(int(match[0] or 0) + rng.randint(1, 9)), value, count=1)
    if kind == "instant":
        moved = dt.datetime.fromisoformat(value) + dt.timedelta(seconds=rng.choice((-3600, -1, 0.001, 1, 60)))
        return moved.isoformat(timespec="milliseconds")
    return one_character(rng, value)


def one_character(rng: random.Random, text: str) -> str:
    """Change one character of a text."""
    at = rng.randrange(len(text))
    return text[:at] + rng.choice([char for char in "abcxyz0189" if char != text[at]]) + text[at + 1 :]


@cache
def targets(name: str) -> dict[str, list[tuple[Any, ...]]]:
    """Return the paths of all values that can be changed, by kind."""
    out: dict[str, list[tuple[Any, ...]]] = {}
    for path, value in leaves(json.loads(original(name, "report.json").text)):
        if kind := kind_of(path, value):
            out.setdefault(kind, []).append(path)
    return out


@pytest.mark.parametrize("name", NAMES)
def test_every_change_of_the_document_is_caught(name: str) -> None:
    rng = random.Random(f"{name} json")  # noqa: S311 - a fixed seed is wanted
    document = json.loads(original(name, "report.json").text)
    passed = []
    for number in range(CHANGES.get(name, FEWER)):
        kind = sorted(targets(name))[number % len(targets(name))]
        path = rng.choice(targets(name)[kind])
        other = copy.deepcopy(document)
        spot = other
        for key in path[:-1]:
            spot = spot[key]
        before = spot[path[-1]]
        spot[path[-1]] = changed(rng, kind, before)
        if not caught(name, "report.json", json.dumps(other)):
            passed.append((path, before, spot[path[-1]]))
    assert set(targets(name)) == {"number", "instant", "grade", "id", "quoted"}
    assert passed == []


# --- report.md


def changed_page(rng: random.Random, kind: str, page: str) -> str:
    """Change one thing of a kind on a page, above the line that names the version."""
    body = page[: list(stated.WRITTEN.finditer(page))[-1].start()]
    found = rng.choice(list(PAGE[kind].finditer(body)))
    value = found[0]
    if kind == "grade":
        other = rng.choice([grade for grade in SHOWN_GRADES if grade != value])
    elif kind == "quoted":
        other = one_character(rng, value)
    else:
        digit = rng.choice([match.start() for match in re.finditer(r"\d", value)])
        other = (
            value[:digit] + rng.choice([d for d in "0123456789" if d != value[digit]]) + value[digit + 1 :]
        )
    return page[: found.start()] + other + page[found.end() :]


@pytest.mark.parametrize("name", NAMES)
def test_every_change_of_the_page_is_caught(name: str) -> None:
    rng = random.Random(f"{name} page")  # noqa: S311 - a fixed seed is wanted
    page = original(name, "report.md").text
    passed = []
    for number in range(CHANGES.get(name, FEWER)):
        kind = sorted(PAGE)[number % len(PAGE)]
        other = changed_page(rng, kind, page)
        if not caught(name, "report.md", other):
            passed.append([b for a, b in zip(page.split("\n"), other.split("\n"), strict=True) if a != b])
    assert passed == []


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("file", golden.CORE)
def test_an_unchanged_report_agrees(name: str, file: str) -> None:
    found = verdict(name, file, original(name, file).text)
    assert found.mismatches == ()
    assert found.notes == ()


@pytest.mark.parametrize("file", golden.CORE)
def test_another_version_is_told_and_is_no_mismatch(file: str) -> None:
    text = original(NAMES[0], file).text
    version = original(NAMES[0], file).made.case.version
    found = verdict(NAMES[0], file, text.replace(version, "9.9.9"))
    assert found.mismatches == ()
    assert "written by forensics 9.9.9" in found.notes[0]
    assert "numbers may differ for that reason" in found.notes[0]


def test_a_row_that_was_taken_out_is_one_mismatch() -> None:
    document = json.loads(original(NAMES[1], "report.json").text)
    del document["timeline"][4]
    found = verdict(NAMES[1], "report.json", json.dumps(document))
    assert len(found.mismatches) == 1
    assert "not in the report, the inputs give" in found.mismatches[0].text


def test_a_line_that_was_taken_out_is_one_mismatch() -> None:
    page = original(NAMES[1], "report.md").text
    at = page.index("|Redis failed|")
    found = verdict(NAMES[1], "report.md", page[:at] + page[page.index("\n", at) + 1 :])
    assert [mismatch.place for mismatch in found.mismatches] == ["Ruled out"]


def test_a_remark_that_was_added_is_told_and_is_no_mismatch() -> None:
    page = original(NAMES[1], "report.md").text.replace("## Impact", "Read by the team on call.\n\n## Impact")
    found = verdict(NAMES[1], "report.md", page.replace("\n", "\r\n"))
    assert found.mismatches == ()
    assert "was added" in found.notes[0]


def test_a_claim_that_was_added_is_a_mismatch() -> None:
    page = original(NAMES[1], "report.md").text.replace("## Impact", "- F99 Ruled out: Redis\n\n## Impact")
    assert len(verdict(NAMES[1], "report.md", page).mismatches) == 1
