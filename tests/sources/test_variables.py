"""Settings files and the references in them: what Compose would make of them, and what stays unknown."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.model.errors import UsageError
from forensics.sources.variables import Value, expand, parse, unset

KNOWN = {"SET": Value("s", "f:1"), "EMPTY": Value("", "f:2"), "BARE": Value(None, "f:3")}


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("$SET", "s"),
        ("a${SET}b", "asb"),
        ("${SET:-x}", "s"),
        ("${EMPTY:-x}", "x"),
        ("${EMPTY-x}", ""),
        ("${NONE-x}", "x"),
        ("${NONE:-${SET}}", "s"),
        ("${NONE:-${OTHER:-deep}}", "deep"),
        ("${SET:+x}", "x"),
        ("${EMPTY:+x}", ""),
        ("${SET:?needed}", "s"),
        ("$$SET", "$SET"),
        ("cost: 5$", "cost: 5$"),
        ("${SET", "s"),
        ("${SET!}", "${SET!}"),
    ],
)
def test_reference(text: str, made: str) -> None:
    """A reference stands for its value or its default, as for Compose; what is no reference stays as it is."""
    assert expand(text, KNOWN) == made


@pytest.mark.parametrize("text", ["$NONE", "${NONE}", "${BARE}", "${NONE:?needed}", "a${NONE}b"])
def test_unset_is_known_to_be_unset(text: str) -> None:
    """A variable without a value is no empty text."""
    assert unset(expand(text, KNOWN)) == [text.strip("ab").strip("${}").partition(":")[0]]


def test_lines() -> None:
    """Quotes, remarks, exports, references to earlier lines, lines of Windows, and values over several lines."""
    text = (
        "\ufeff# remark\n"
        "export A=1\n"
        "B = two # remark\n"
        "C='$A # as it is'\n"
        'D="$A\\n\\"x\\" \\$A"\n'
        "E=${A}${B}\n"
        'F="first\nsecond"\n'
        "spring.pool.max-size: 7\n"
        "G\n"
        "H=#\n"
        "I=a#b\r\n"
    )
    found = parse(text, "x.env")

    assert {name: value.text for name, value in found.items()} == {
        "A": "1",
        "B": "two",
        "C": "$A # as it is",
        "D": '1\n"x" $A',
        "E": "1two",
        "F": "first\nsecond",
        "spring.pool.max-size": "7",
        "G": None,
        "H": "",
        "I": "a#b",
    }
    assert found["spring.pool.max-size"].where == "x.env:9"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("A=1\nno assignment", "x.env:2: is no NAME=VALUE; "),
        ('A="1\nB=2', "x.env:1: a quote is never closed; "),
    ],
)
def test_slip(text: str, said: str) -> None:
    """A slip is told with its line."""
    with pytest.raises(UsageError) as refused:
        parse(text, "x.env")
    assert str(refused.value).startswith(said)


@given(st.text(alphabet="${}:-?+AB \n'\"#=\\"))
def test_any_text_ends(text: str) -> None:
    """Whatever stands there, it is expanded or refused, never a fault."""
    expand(text, KNOWN)
    with suppress(UsageError):
        parse(text, "x.env")
