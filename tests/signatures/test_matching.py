"""One pass finds all anchors; what is found does not depend on how it was found, on colours or on JSON's escapes."""

from __future__ import annotations

import json

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.signatures import Matcher, load

CATALOGUE = load()
MATCHER = Matcher(CATALOGUE)
SAMPLES = sorted({line for signature in CATALOGUE for line in (*signature.hit, *signature.miss)})
POOL = "QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00"
TRACE = f'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    raise Refused("connection pool exhausted")\nsqlalchemy.exc.TimeoutError: {POOL}'


def safe(line: str) -> str:
    """Escape what .NET escapes in JSON strings although it need not."""
    for char, code in (('\\"', "0022"), ("'", "0027"), ("<", "003c"), (">", "003e"), ("&", "0026")):
        line = line.replace(char, rf"\u{code}")
    return line


def found(*lines: str) -> list[tuple[int, str]]:
    """Return (row, signature) of each match."""
    return list(MATCHER.match(pl.Series(lines)).select("row", "signature").iter_rows())


def plainly(lines: pl.Series) -> pl.DataFrame:
    """Match without any design: every pattern on every line that has one of its anchors."""
    parts = [pl.DataFrame(schema={"row": pl.UInt32, "signature": pl.String, "parameters": pl.String})]
    table = pl.DataFrame({"message": lines}).with_row_index("row")
    for one in CATALOGUE:
        rows = table.filter(
            pl.col("message").str.contains_any(list(one.anchors))
            & pl.col("message").str.contains(one.pattern)
        )
        said = pl.col("message").str.extract_groups(one.pattern).struct.json_encode()
        parts.append(
            rows.select("row", signature=pl.lit(one.id), parameters=said if one.parameters else pl.lit("{}"))
        )
    hits = pl.concat(parts)
    outer = {one.id: set(one.inner_of) for one in CATALOGUE}
    by_row = {row: set(names) for row, names in hits.group_by("row").agg("signature").iter_rows()}
    kept = [not outer[name] & by_row[row] for row, name in hits.select("row", "signature").iter_rows()]
    return hits.filter(pl.Series(kept, dtype=pl.Boolean)).sort("row", "signature")


def test_all_samples_match_as_they_would_plainly() -> None:
    """The one pass changes the cost and nothing else: rows, signatures and parameters, over every sample."""
    lines = pl.Series(SAMPLES)

    assert MATCHER.match(lines).equals(plainly(lines))


@settings(max_examples=6, deadline=None)
@given(
    st.lists(
        st.sampled_from(SAMPLES) | st.text(max_size=40).filter(lambda text: "\\" not in text), max_size=6
    )
)
def test_any_lines_match_as_they_would_plainly(lines: list[str]) -> None:
    """The same for lines in any order and company."""
    series = pl.Series(lines, dtype=pl.String)

    assert MATCHER.match(series).equals(plainly(series))


def test_a_signature_without_a_candidate_is_never_asked() -> None:
    """Cost grows with what is found: ordinary lines run no pattern at all."""
    matcher = Matcher(CATALOGUE)
    matcher.match(
        pl.Series(['INFO:     192.0.2.7:1 - "GET /api/orders/3 HTTP/1.1" 200 OK', "job finished"] * 50)
    )
    assert matcher.questions == {}

    matcher.match(pl.Series([POOL, "job finished"]))
    assert set(matcher.questions) == {"sqlalchemy.queuepool-timeout"}


def test_a_text_without_parameters_needs_no_pattern() -> None:
    """A pattern that is nothing but text is its own anchor."""
    matcher = Matcher(CATALOGUE)

    assert matcher.match(pl.Series(["ERROR:    Exception in ASGI application"])).rows() == [
        (0, "uvicorn.asgi-exception", "{}")
    ]
    assert matcher.questions == {}


def test_colours_are_no_part_of_a_text() -> None:
    """They may stand inside an anchor or a parameter."""
    coloured = POOL.replace("limit", "\x1b[1;31mlimit\x1b[0m").replace("30.00", "\x1b[33m30.00\x1b[0m")

    assert MATCHER.match(pl.Series([coloured])).rows() == MATCHER.match(pl.Series([POOL])).rows()


@pytest.mark.parametrize("escaped", [False, True], ids=["as Python writes it", "as .NET writes it"])
def test_every_hit_matches_inside_a_json_string(escaped: bool) -> None:
    """A text that a program put into a field of a JSON object is found there too, escapes or not."""
    told = [
        (one.id, hit)
        for one in CATALOGUE
        for hit in one.hit
        if not ("^" in one.pattern or "\\" in hit or "{" in hit or hit.startswith(" ") or one.inner_of)
    ]
    lines = [json.dumps({"err": {"stack": f"Error\n{hit}\n    at f (a.js:1:1)"}}) for _, hit in told]
    if escaped:
        lines = [safe(line) for line in lines]
    hits = set(found(*lines))

    assert [(name, lines[row]) for row, (name, _) in enumerate(told) if (row, name) not in hits] == []


def test_lines_inside_a_json_string_are_lines() -> None:
    """What must begin or end a line is found there, but not in an indented line: a traceback echoes source text."""
    line = json.dumps({"exc": "Traceback:\n  f()\nError: Command timed out\nat g"})
    echo = json.dumps({"exc": "Traceback:\n  Error: Command timed out\nat g"})

    assert found(line, echo) == [(0, "ioredis.command-timeout")]


def test_a_text_counts_once_a_message() -> None:
    """A message that states a text twice, raw and escaped, is one hit."""
    line = json.dumps({"msg": POOL, "exc": TRACE})

    assert found(line).count((0, "sqlalchemy.queuepool-timeout")) == 1


def test_nothing_is_found_in_nothing() -> None:
    """An empty series, empty lines and nulls."""
    assert MATCHER.match(pl.Series([], dtype=pl.String)).height == 0
    assert found("", "{", '{"a":"\\\\"}') == []
    assert MATCHER.match(pl.Series([None, POOL], dtype=pl.String)).height == 1
