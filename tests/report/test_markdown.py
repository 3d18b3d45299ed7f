"""Hostile text stays text: in paragraphs, table cells, code spans and fences."""

from __future__ import annotations

import re
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from forensics.report import markdown as md

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
NASTY = (
    "`", "```", "~~~", "|", "\\", "\\|", "\n", "\r\n", "#", "# ", "#1", "@all", "GH-1", "http://x.y", "www.x.y",
    "a@b.c", "<b>", "<!--", "&amp;", "&#64;", "![x](y)", "[x]: y", "[ ] ", "**", "_", "__", "~~", "- ", "+ ", "1. ",
    "1) ", "> ", "---", "===", "    ", "\t", "\x00", "\x1b[31m", "\u202e", "\u2028", "\u200b", "\ufeff", "\ud800",
    "$x$", "/close", ":tada:", "!1", "{{ x }}", "{% x %}", "| --- |", " ", "x", "é", "\u3000", "\xa0", "deadbeef",
)  # fmt: skip
HOSTILE = st.one_of(st.lists(st.sampled_from(NASTY), max_size=14).map("".join), st.text(max_size=60))
HOSTS = re.compile(r"@\w|#\w|://|\bwww\.|\bGH-\d|:[a-z]+:|\$")
"""What GitHub and GitLab look for in the text that a renderer leaves outside code."""


def spans(source: str) -> list[tuple[str, str]]:
    """Return the inline tokens of a text that must be one paragraph."""
    tokens = PARSER.parse(source)
    assert [t.type for t in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    return [(t.type, t.content) for t in tokens[1].children or []]


def plain(text: str) -> str:
    """Return what a reader of `inline` must see."""
    return md.visible(md.BLANK.sub(" ", text).strip(" "))


@given(HOSTILE)
def test_inline_is_text_and_code_only(text: str) -> None:
    """A paragraph of it shows every character, as text or as code, and nothing else."""
    if not plain(text):
        assert md.inline(text) == ""
        return
    found = spans(md.inline(text))

    assert {kind for kind, _ in found} <= {"text", "code_inline"}
    assert "".join(content for _, content in found) == plain(text).replace("\\|", "\\\\x7c") or (
        "".join(content for _, content in found).replace("\\\\x7c", "\\|") == plain(text)
    )


@given(HOSTILE)
def test_inline_gives_hosts_nothing_to_react_to(text: str) -> None:
    """No mention, issue link, address, emoji or formula stands outside code."""
    found = spans(f"x {md.inline(text)}") if plain(text) else []

    assert [content for kind, content in found if kind == "text" and HOSTS.search(content)] == []


@given(st.lists(HOSTILE, min_size=3, max_size=3))
def test_rows_keep_their_cells(texts: list[str]) -> None:
    """A row of three hostile cells is a row of three cells, with the same text."""
    row = f"| {' | '.join(md.cell(text) or 'none' for text in texts)} |"
    tokens = PARSER.parse(f"| a | b | c |\n|---|---|---|\n{row}\n| 1 | 2 | 3 |\n")
    cells = [tokens[i + 1] for i, t in enumerate(tokens) if t.type == "td_open"]

    assert len(cells) == 6
    for text, token in zip(texts, cells, strict=False):
        assert {child.type for child in token.children or []} <= {"text", "code_inline"}
        shown = "".join(child.content for child in token.children or [])
        assert shown.replace("\\\\x7c", "\\|") == (plain(text) or "none").replace("\\\\x7c", "\\|")


@given(HOSTILE, st.booleans())
def test_no_backslash_stands_before_a_bare_pipe(text: str, quoted: bool) -> None:
    r"""Renderers split ``\\|`` in different ways, so it never occurs in a row."""
    made = md.row_safe(md.code(text)) if quoted else md.cell(text)

    assert re.findall(r"(?<!\\)\||\\\\\|", made) == []


@given(HOSTILE)
def test_code_shows_the_text(text: str) -> None:
    """A code span is one code span and shows what was logged, hidden characters written out."""
    shown = md.visible(text).replace("\\|", "\\\\x7c")

    assert spans(f"x{md.code(text)}x") == [("text", "x"), ("code_inline", shown or " "), ("text", "x")]


@given(st.lists(HOSTILE))
def test_fence_is_never_closed_by_its_lines(lines: list[str]) -> None:
    """A fence holds exactly its lines."""
    tokens = PARSER.parse(md.fence(lines, "text") + "\n\nafter\n")

    assert [t.type for t in tokens] == ["fence", "paragraph_open", "inline", "paragraph_close"]
    assert tokens[0].content == "".join(f"{md.visible(line)}\n" for line in lines)


@given(HOSTILE)
def test_nothing_hidden_remains(text: str) -> None:
    """No control, format or bidi character comes out."""
    made = md.inline(text) + md.cell(text) + md.code(text) + md.fence([text]).replace("\n", "")

    assert [char for char in made if char != " " and not char.isprintable() and category(char) != "Zs"] == [
        char for char in made if category(char) == "Cn"
    ]


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("**b** @all | #1", r"\*\*b\*\* `@all` \| `#1`"),
        ("GET http://x/y www.x.y a@b.c", "GET `http://x/y` `www.x.y` `a@b.c`"),
        (
            "inbound_durable: 09:42:26.412 UTC-03:00 client-3",
            "inbound_durable: 09:42:26.412 UTC-03:00 client-3",
        ),
        ("1. one", r"1\. one"),
        ("\x1b[31mred\u202e", r"\\x1b\[31mred\\u202e"),
        ("a\nb\tc", "a b c"),
        (r"a\|b", r"a\\&#124;b"),
        ("/close", "`/close`"),
        ("", ""),
    ],
)
def test_inline_examples(text: str, made: str) -> None:
    """Ordinary prose stays readable in the source; only what is dangerous changes."""
    assert md.inline(text) == made


@pytest.mark.parametrize("unit", ["`", "@", ":a", "#", "A", "0", "\\|", " ", "x\n"])
def test_a_megabyte_is_quick(unit: str) -> None:
    """No pattern backtracks over a line of one megabyte."""
    text = unit * (1_000_000 // len(unit))

    assert len(md.inline(text)) + len(md.code(text)) > 1_000_000 or unit in {" ", "x\n"}
