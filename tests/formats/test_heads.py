"""Heads of files: their lines, and that both regex engines see the same in them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl
import pytest

from forensics import formats
from forensics.formats import definition, heads, transports
from forensics.formats.starts import start

if TYPE_CHECKING:
    from forensics.model.plug import MessageFormat

SAMPLES = sorted(
    {
        line
        for plugs in (formats.all_transports(), formats.all_messages(), formats.all_monitors())
        for plug in plugs.values()
        for sample in plug.samples
        for line in sample.splitlines()
    }
)
LINES = [*SAMPLES, "", " ", "É [1] ERROR", "\uff12\uff10 x", "a\u00a0b", "\x1b[31mred\x1b[0m", "x\x0by"]
PATTERNS = sorted(
    {plug.pattern for plug in formats.all_messages().values() if plug.prepare is None}
    | {
        table["pattern"]
        for path in definition.definitions(transports)
        if "pattern" in (table := definition.loaded(path))
    }
)


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: re.sub(r"\W+", "-", pattern)[:40])
def test_both_engines_agree(pattern: str) -> None:
    """A head is scored with one engine and read with the other: they must not differ on any known line."""
    find = heads.finder(pattern)

    assert [bool(find(line)) for line in LINES] == pl.Series(LINES).str.contains(pattern).to_list()


def test_every_pattern_is_known_to_python() -> None:
    """No pattern of the package falls back to the slow way."""
    assert [pattern for pattern in PATTERNS if heads.compiled(pattern) is None] == []


def test_a_pattern_that_python_does_not_know() -> None:
    """Rust's classes are asked of polars."""
    find = heads.finder(r"^[[:upper:]&&[^X]]+$" r"|\p{Greek}")

    assert [bool(find(line)) for line in ("AB", "X", "β")] == [True, False, True]


AS_OBJECTS = (
    *LINES,
    '{"level":"","message":"m"}',
    '{"level":null,"severity":"INFO","message":"m"}',
    '{"level":["a"],"msg":{"a":1},"ts":true}',
    '{"level":30,"time":1795954471041,"pid":1,"hostname":"a","msg":"x"}',
    '{"level":NaN,"message":"m"}',
    '{"level":"info","message":"m"} more',
    '{"log":{"level":"warn"},"fields":{"message":"m"}}',
    '{"status":"20","request":"GET /a HTTP/1.1","time":"x"}',
    '{"status":"200","request":"GET /a HTTP/1.1","time":"x"}',
    '{"status":"200","request":"nonsense","time":"x"}',
    '{"time":{"epochSecond":1795954471,"nanoOfSecond":41587000}}',
    '{"time":"2026-11-29T12:00:00Z","value":1,"limit":2}',
    '{"time":"2026-11-29T12:00:00Z","Response-Time":1,"latency_ms":2}',
    '{"time":"soon","msg":"a"}',
    'level=info msg="a \\"b\\""',
    "level= msg=",
    'level=info msg=""',
    "28 août 2026 07:15:00 ERROR x",
    "28 nope 2026 07:15:00 ERROR x",
    "02/fev/2026 10:00:00 ERROR x",
)
"""Lines that show how values of objects are taken."""


@pytest.mark.parametrize(
    "fmt", [fmt for fmt in formats.all_messages().values() if fmt.of_head], ids=lambda fmt: fmt.name
)
def test_rewritten_lines_agree(fmt: MessageFormat) -> None:
    """What a head's line is told to be without a frame, it is in one."""
    assert fmt.of_head is not None
    assert fmt.prepare is not None
    for prepare in (fmt.prepare, fmt.prepare_dated or fmt.prepare):
        text = pl.DataFrame({"raw": AS_OBJECTS}).select(prepare(pl.col("raw"))).to_series()
        said = text.str.contains(fmt.pattern).fill_null(value=False).to_list()

        assert [line for line in AS_OBJECTS if fmt.of_head(line)] == [
            line for line, fits in zip(AS_OBJECTS, said, strict=True) if fits
        ]


def test_beginnings_agree() -> None:
    """A line begins in the same way for a head and for a frame."""
    said = pl.DataFrame({"line": LINES}).select(start(pl.col("line"))).to_series().to_list()

    assert [heads.beginning(line) for line in LINES] == said


@pytest.mark.parametrize(
    ("pattern", "branches"),
    [
        ("^a|^b", ["^a", "^b"]),
        ("^(?:a|b)|c", ["^(?:a|b)", "c"]),
        (r"^[|(]|^\||d", ["^[|(]", r"^\|", "d"]),
        ("^[])|]+|^x", ["^[])|]+", "^x"]),
        ("", [""]),
    ],
)
def test_branches_of_a_pattern(pattern: str, branches: list[str]) -> None:
    """A bar in a class, behind a backslash or in a group parts nothing."""
    assert heads.branches(pattern) == branches


@pytest.mark.parametrize(
    ("head", "lines"),
    [
        (b"", ()),
        (b"cut", ("cut",)),
        (b"a\r\n\n  \nb\ncut", ("a", "b")),
        (b"\xef\xbb\xbfa\n", ("a",)),
        (b"\x1b[1;31ma\x1b[0m\n", ("a",)),
        (b"\xff\n", ("\N{REPLACEMENT CHARACTER}",)),
    ],
)
def test_lines_of_a_head(head: bytes, lines: tuple[str, ...]) -> None:
    """Whole lines that are not blank, without mark, colours and carriage returns; a cut one only where it is alone."""
    assert heads.lines(head) == lines
