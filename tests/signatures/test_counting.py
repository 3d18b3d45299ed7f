"""Logs of real libraries and servers in which a known number of operations failed: does the tool count them so?

A fixture is a folder below fixtures/counting with inputs/ and expected.toml. ``made`` says what ran; each ``[[failure]]`` is true
by construction: so many ``failures`` of a ``service`` are told by so many ``lines``, and the first of their waits began at ``onset``
(to within ``tolerance_s``). Where a log cannot tell how many, ``within`` is the widest interval that may be said instead; it must
hold the truth. ``holds = false`` marks what the tool does not yet say, ``fault`` why. What is not listed did not fail.
"""

from __future__ import annotations

import datetime as dt
import functools
import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

FIXTURES = Path(__file__).parents[2] / "fixtures" / "counting"
NAMES = sorted(path.parent.name for path in FIXTURES.glob("*/expected.toml"))
ROW = {
    "signature",
    "service",
    "failures",
    "lines",
    "within",
    "onset",
    "tolerance_s",
    "note",
    "holds",
    "fault",
}
Group = dict[str, Any]


@functools.cache
def expected(name: str) -> dict[str, Any]:
    """Return a fixture's expected.toml."""
    return tomllib.loads((FIXTURES / name / "expected.toml").read_text("utf-8"))


@functools.cache
def counted(name: str) -> dict[tuple[str, str], Group]:
    """Return what the report says of a fixture, by signature and service."""
    from forensics import pipeline
    from forensics.report import document

    found = pipeline.investigate([str(FIXTURES / name / "inputs")], pipeline.Options(tz="UTC"))
    said = json.loads(json.dumps(document.build(found, redact=True)))
    return {(group["id"], group["service"]): group for group in said["signatures"]}


def rows() -> Iterator[Any]:
    """Yield every expectation, a strict expected failure where it does not hold."""
    for name in NAMES:
        for row in expected(name)["failure"]:
            fault = [] if row.get("holds", True) else [pytest.mark.xfail(reason=row["fault"], strict=True)]
            yield pytest.param(name, row, marks=fault, id=f"{name}:{row['signature']}:{row['service']}")


def wrong(row: Group, group: Group | None) -> list[str]:
    """Say in what a group of the report differs from what is true."""
    if group is None:
        return ["it is not in the report"]
    low, high = row.get("within", (row["failures"], row["failures"]))
    least, most = group["failures"], group["failures_max"]
    said = []
    if not low <= least <= row["failures"] <= (most or row["failures"]) <= high:
        said.append(f"failures {least} to {most}, not {row['failures']} (within {low} to {high})")
    if group["lines"] != row["lines"]:
        said.append(f"lines {group['lines']}, not {row['lines']}")
    if "onset" in row:
        began = group["first_wait_began"] or group["first"]
        off_s = abs((dt.datetime.fromisoformat(began) - row["onset"]).total_seconds())
        if off_s > row["tolerance_s"]:
            said.append(f"onset {began}, not {row['onset'].isoformat()}")
    return said


@pytest.mark.parametrize(("name", "row"), list(rows()))
def test_failures_are_counted(name: str, row: Group) -> None:
    """The report counts the operations that failed, not the lines that say so."""
    assert wrong(row, counted(name).get((row["signature"], row["service"]))) == []


def extras(name: str) -> list[str]:
    """Name what the report counts and the fixture does not list."""
    listed = {(row["signature"], row["service"]) for row in expected(name)["failure"]}
    return [
        f"{signature} of {service}"
        for signature, service in sorted(counted(name))
        if (signature, service) not in listed
    ]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_else_is_counted(name: str) -> None:
    """Nothing that did not fail is counted."""
    assert extras(name) == []


@pytest.mark.parametrize("name", NAMES)
def test_expectations_are_complete(name: str) -> None:
    """Each expectation says what is true, in known words, and why the tool says otherwise where it does."""
    table = expected(name)
    assert set(table) == {"made", "failure"}
    for row in table["failure"]:
        assert set(row) <= ROW
        assert {"signature", "service", "failures", "lines"} <= set(row)
        assert ("onset" in row) == ("tolerance_s" in row)
        assert (row.get("holds", True) is False) == bool(row.get("fault"))
