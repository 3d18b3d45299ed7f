r"""Make hostile text harmless in Slack's mrkdwn.

    ``*bold* <!channel> @here``  ->  ```` `*bold*` &lt;!channel&gt; `@here` ````

Slack has no escape for its markup: a word that holds any, or that Slack would turn into a link, a mention or a picture,
becomes code. ``<``, ``>`` and ``&`` are written as entities, everywhere, which takes their meaning from mentions such as
``<!channel>``. A backtick is written ``\x60``, for nothing may stand in code that would close it.

Slack has no tables: while a page is made and shortened, cells and quotes are kept apart by characters that no text can
hold (hidden ones are written out), and when it is finished each table becomes a block of aligned columns.

Reference: https://docs.slack.dev/messaging/formatting-message-text
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

from forensics.report.dialect import Dialect
from forensics.report.markdown import BLANK, REACTS, visible

if TYPE_CHECKING:
    from collections.abc import Iterable

ROW, HEAD, CELL, TICK = "\ue000", "\ue001", "\ue002", "\ue003"
"""Beginning of a row and of a head, between cells, and a backtick of the page's own."""
MARKUP = re.compile(r"[*_~`]")
FIRST = re.compile(r">|[-+•]$|\d+[.)]$")
"""A word that makes a list or a quotation of the line that it begins."""
ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
WIDEST = 60
"""Columns that are wider are not filled up: the last one rarely fits a screen anyway."""


def inline(text: str) -> str:
    """Return `text` as one line of literal text."""
    shown = visible(BLANK.sub(" ", text).strip(" "))
    if not shown:
        return ""
    first, *others = shown.split(" ")
    return " ".join((code(first) if FIRST.match(first) else _word(first), *map(_word, others)))


def code(text: str) -> str:
    """Return `text` as code."""
    return f"{TICK}{_literal(visible(text)) or ' '}{TICK}"


def bold(text: str) -> str:
    """Return finished text in bold: no star can stand in it outside code."""
    return f"*{text}*"


def fence(lines: Iterable[str], _info: str = "") -> str:
    """Return lines as a block that none of them can close."""
    return "\n".join(("```", *(_literal(visible(line)) for line in lines), "```"))


def table_row(_pad: str, cells: Iterable[str]) -> str:
    """Join finished cells; `finish` aligns them."""
    return ROW + CELL.join(cells)


def table_head(_pad: str, cells: Iterable[str]) -> str:
    """Join the cells of a table's head."""
    return HEAD + CELL.join(cells)


def finish(_slug: str, section: str) -> str:
    """Align the tables of a section, and write the backticks."""
    out: list[str] = []
    rows: list[list[str]] = []
    for line in [*section.split("\n"), ""]:
        if line[:1] in {ROW, HEAD} and line:
            if line[0] == HEAD and rows:
                out += _aligned(rows)
                rows = []
            rows.append(line[1:].replace(TICK, "").split(CELL))
            continue
        if rows:
            out += _aligned(rows)
            rows = []
        out.append(line.replace(TICK, "`"))
    return "\n".join(out[:-1])


def _aligned(rows: list[list[str]]) -> list[str]:
    """Return a table as a block of columns."""
    columns = max(map(len, rows))
    widths = [
        min(max((_width(row[at]) for row in rows if at < len(row)), default=0), WIDEST)
        for at in range(columns)
    ]
    lines = [
        "  ".join(
            cell + " " * max(width - _width(cell), 0) for cell, width in zip(row, widths, strict=False)
        ).rstrip()
        for row in rows
    ]
    return ["```", *lines, "```"]


def _width(text: str) -> int:
    """Count the places that a text takes in a fixed-width font; an entity is one character."""
    for char, entity in ENTITIES.items():
        text = text.replace(entity, char)
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def _word(word: str) -> str:
    """Return one word as literal text, or as code if it would mean something."""
    return code(word) if MARKUP.search(word) or REACTS.search(word) else _literal(word)


def _literal(text: str) -> str:
    """Return text in which nothing closes code or begins a mention."""
    return "".join(ENTITIES.get(char, char) for char in text.replace("`", r"\x60"))


def _closing(line: str) -> str:
    """Return the line that closes the block which this line opens."""
    return "```" if line == "```" else ""


def _no(_line: str) -> bool:
    """Tell of no line that it belongs to the one before."""
    return False


def _is_lead(block: str) -> bool:
    """Tell whether a block only leads to the next one."""
    return block.startswith(HEAD) or (block.rstrip().endswith(":") and not block.startswith(("• ", ROW)))


SLACK = Dialect(
    kit="kit/slack.j2",
    inline=inline,
    code=code,
    fence=fence,
    row=table_row,
    head=table_head,
    bold=bold,
    closing=_closing,
    joins=_no,
    leads=_is_lead,
    finish=finish,
)
"""The text of a message."""
