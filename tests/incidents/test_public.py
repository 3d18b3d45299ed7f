"""Small cases from public bug reports: what is read, counted and dated on each.

A case is a folder below fixtures/public with inputs/ and expected.toml. Its tables, by path into report.json
(:mod:`claims`):

    tz = "Europe/Berlin"                                  zone given on the command line
    [value]    "signatures[id=knex.acquire-timeout].failures" = 4     one selected value is this
    [instant]  "evidence[*].at" = ["2026-01-09T14:15:39Z"]            each is there, to the millisecond
    [never]    "hypotheses[id=db_down].verdict" = ["confirmed"]       no selected value is any of these
    [none]     paths = ["stalls[*]"]                                  nothing is selected
    [text]     says = ["…"], never = ["…"]                            about the page
"""

from __future__ import annotations

import functools
import json
import tomllib
from pathlib import Path
from typing import Any

import claims
import golden
import pytest

from forensics import pipeline

CASES = Path(__file__).parents[2] / "fixtures" / "public"
NAMES = sorted(path.parent.name for path in CASES.glob("*/expected.toml"))
KEYS = {"tz", "value", "instant", "never", "none", "text"}
NEAR_S = 0.0015
"""Reports state milliseconds."""
FILES = [(name, file.name) for name in NAMES for file in sorted((CASES / name / "inputs").iterdir())]


@functools.cache
def table(name: str) -> dict[str, Any]:
    """Return what a case must hold."""
    return tomllib.loads((CASES / name / "expected.toml").read_text("utf-8"))


@functools.cache
def report(name: str) -> tuple[dict[str, Any], str]:
    """Return document and page of a case, computed once; not to be changed."""
    options = pipeline.Options(tz=table(name).get("tz"))
    found = pipeline.investigate([str(CASES / name / "inputs")], options)
    document, page = golden.tell(found)
    return json.loads(json.dumps(document)), page


def several(value: Any) -> list[Any]:
    """Return a list as it is, anything else as the only one of a list."""
    return value if isinstance(value, list) else [value]


def expected(kind: str) -> list[Any]:
    """Return case, path and value of every expectation of a kind."""
    return [
        pytest.param(name, path, value, id=f"{name.partition('-')[0]}-{path}-{value}")
        for name in NAMES
        for path, values in table(name).get(kind, {}).items()
        for value in several(values)
    ]


def near(value: Any, want: str) -> bool:
    """Is a value the instant that is wanted, whatever its offset?"""
    found, wanted = claims.instant(value), claims.instant(want)
    return found is not None and wanted is not None and abs((found - wanted).total_seconds()) <= NEAR_S


@pytest.mark.parametrize("name", NAMES)
def test_only_known_keys_are_used(name: str) -> None:
    assert set(table(name)) <= KEYS


@pytest.mark.parametrize(("name", "file"), FILES)
def test_every_line_is_accounted_for(name: str, file: str) -> None:
    source = next(source for source in report(name)[0]["sources"] if source["name"] == file)
    if source["skipped"] is not None or source["lines"] is None:
        return
    held = (CASES / name / "inputs" / file).read_bytes().removesuffix(b"\n").count(b"\n") + 1
    counted = source["lines"]
    assert counted["total"] == held
    assert counted["total"] == counted["in_records"] + counted["blank"] + counted["unparsed"]


@pytest.mark.parametrize(("name", "path", "want"), expected("value"))
def test_value(name: str, path: str, want: Any) -> None:
    found = claims.select(report(name)[0], path)
    assert any(claims.same(value, want) for value in found), found


@pytest.mark.parametrize(("name", "path", "want"), expected("instant"))
def test_instant(name: str, path: str, want: str) -> None:
    found = claims.select(report(name)[0], path)
    assert any(near(value, want) for value in found), found


@pytest.mark.parametrize(("name", "path", "unwanted"), expected("never"))
def test_never(name: str, path: str, unwanted: Any) -> None:
    found = claims.select(report(name)[0], path)
    assert not any(claims.same(value, unwanted) for value in found)


@pytest.mark.parametrize(("name", "kind", "path"), expected("none"))
def test_none(name: str, kind: str, path: str) -> None:
    del kind
    assert claims.select(report(name)[0], path) == []


@pytest.mark.parametrize(("name", "kind", "words"), expected("text"))
def test_text(name: str, kind: str, words: str) -> None:
    assert (words in report(name)[1]) == (kind == "says")
