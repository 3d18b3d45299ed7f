"""The path language of incident.toml and its checks."""

from __future__ import annotations

from typing import Any

import claims
import pytest

DOCUMENT: dict[str, Any] = {
    "title": "x",
    "none": None,
    "rows": [
        {"id": "a.b", "n": 1, "ok": True, "inner": {"parts": [1, 2]}, "limit": 100},
        {"id": "c", "n": 2.5, "ok": False, "inner": {"parts": []}, "limit": None},
        {"id": "d", "ok": False},
    ],
}


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("title", ["x"]),
        ("none", [None]),
        ("missing", []),
        ("title.deeper", []),
        ("rows[*].n", [1, 2.5]),
        ("rows[0].id", ["a.b"]),
        ("rows[-1].id", ["d"]),
        ("rows[3]", []),
        ("rows[-4]", []),
        ("title[0]", []),
        ("rows[id=a.b].n", [1]),
        ("rows[id=a.b,ok=true].inner.parts", [[1, 2]]),
        ("rows[id=a.b,ok=false].n", []),
        ("rows[limit=100].id", ["a.b"]),
        ("rows[limit=null].id", ["c"]),
        ("rows[n=2.5].id", ["c"]),
        ("rows[*].inner.parts[*]", [1, 2]),
        ("rows[*].inner.parts[1]", [2]),
        ("rows[id=nobody]", []),
        ("rows[*][id=a.b]", []),
    ],
)
def test_a_path_selects_the_values_along_which_its_steps_exist(path: str, values: list[Any]) -> None:
    assert claims.select(DOCUMENT, path) == values


@pytest.mark.parametrize(
    "path", ["[0]", "rows[", "rows[]", "rows[id]", "rows..id", ".rows", "rows[=x]", "rows]"]
)
def test_a_path_that_cannot_be_read_is_an_error(path: str) -> None:
    with pytest.raises(ValueError, match=r"path|\["):
        claims.select(DOCUMENT, path)


NOON = "2026-09-08T12:00:00-03:00"


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        ({"equals": 30}, [30, 30.0], [31, True, "30", None]),
        ({"equals": 1}, [1], [True]),
        ({"equals": False}, [False], [0, None, True]),
        ({"one_of": ["a", 1]}, ["a", 1], ["b", True, None]),
        ({"approx": 10, "tolerance": 0.5}, [9.5, 10, 10.5], [9.4, "10", None, True]),
        ({"approx": 30.0, "tolerance": 0}, [30], [30.1]),
        ({"near": NOON, "tolerance_s": 1}, [NOON, "2026-09-08T15:00:01Z"], ["2026-09-08T12:00:01.5-03:00", "2026-09-08T12:00:00", None, 5, "noon"]),
        ({"min": 2}, [2, 2.5], [1.9, None, "3", True]),
        ({"max": 2}, [2, -1], [2.1, None, "1", False]),
        ({"length": 2}, [[1, 2]], [[1], "ab", {"a": 1, "b": 2}, None]),
        ({"matches": "^[0-9]$"}, ["5", 5], ["55", None]),
        ({"matches": 'null|"a": 1'}, [None, {"a": 1}], ["x"]),
    ],
)  # fmt: skip
def test_a_check_passes_what_it_says(check: dict[str, Any], good: list[Any], bad: list[Any]) -> None:
    assert [value for value in good if not claims.passes(check, value)] == []
    assert [value for value in bad if claims.passes(check, value)] == []


def table(side: str, what: str, **check: Any) -> dict[str, Any]:
    """Return an incident.toml with one expectation."""
    return {side: {what: [{"why": "because", **check}]}}


@pytest.mark.parametrize(
    ("expectation", "holds"),
    [
        (table("must", "value", path="rows[*].n", equals=2.5), True),
        (table("must", "value", path="rows[*].n", equals=3), False),
        (table("must", "value", path="nowhere", equals=3), False),
        (table("must_not", "value", path="nowhere", equals=3), True),
        (table("must_not", "value", path="rows[*].n", equals=3), True),
        (table("must_not", "value", path="rows[*].n", equals=1), False),
        (table("must", "text", contains="a (b)"), True),
        (table("must", "text", contains="b a"), False),
        (table("must_not", "text", contains="a (b)"), False),
        (table("must", "text", matches="^second$"), False),
        (table("must", "text", matches="(?m)^second$"), True),
        (table("must_not", "text", matches="first.second"), True),
        (table("must_not", "text", matches="(?i)FIRST"), False),
    ],
)
def test_an_expectation_holds_or_says_what_it_got(expectation: dict[str, Any], holds: bool) -> None:
    said = claims.broken(expectation, DOCUMENT, "first a (b)\nsecond")
    assert (said == []) == holds
    assert all("got:" in line and "because" in line for line in said)


@pytest.mark.parametrize(
    "malformed",
    [
        table("must", "value", path="title"),
        table("must", "value", path="title", equals=1, min=1),
        table("must", "value", path="title", contains="x"),
        table("must", "value", path="title", near=NOON),
        table("must", "value", path="title", approx=1, tolerance_s=1),
        table("must", "value", path="a[", equals=1),
        table("must", "value", path="title", equals=1, tolerance=1),
        table("must", "text", equals=1),
        table("must", "text", contains="x", path="title"),
        table("must", "txt", contains="x"),
        {"must": {"value": [{"path": "title", "equals": 1}]}},
    ],
)
def test_a_malformed_expectation_is_an_error(malformed: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"check|keys|path|only|matches|contains"):
        claims.claims(malformed)
