r"""Make hostile text harmless in HTML, and the shapes of the report in it.

    ``<script>`` + U+202E  ->  ``&lt;script&gt;\u202e``

Text is shown as it was logged: markup is escaped, hidden characters (controls, bidi marks) are written out, and every
quote is isolated by the style sheet, so that right-to-left text cannot reorder what stands beside it.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from forensics.report.dialect import Dialect
from forensics.report.markdown import BLANK, visible

if TYPE_CHECKING:
    from collections.abc import Iterable

LONG_QUOTE = 48
"""A longer quote may be broken anywhere."""
LONG_CELL = 120
"""A cell with more characters is kept wide enough to be read."""
TAG = re.compile("<[^>]*>")


def inline(text: str) -> str:
    """Return `text` as one line of literal text, safe in an element and in a quoted attribute."""
    return escape(visible(BLANK.sub(" ", text).strip(" ")), quote=True)


def code(text: str) -> str:
    """Return `text` as a quote; white space is kept."""
    long = ' class="long"' if len(text) > LONG_QUOTE else ""
    return f"<code{long}>{escape(visible(text), quote=True)}</code>"


def fence(lines: Iterable[str], _info: str = "") -> str:
    """Return lines as a block that can be scrolled with the keyboard."""
    shown = "\n".join(escape(visible(line), quote=True) for line in lines)
    return f'<pre tabindex="0"><code>{shown}</code></pre>'


def table_row(_pad: str, cells: Iterable[str]) -> str:
    """Join finished cells to a row of a table."""
    return f"<tr>{''.join(map(_cell, cells))}</tr>"


def _cell(text: str) -> str:
    """Return a finished cell."""
    long = ' class="long"' if len(TAG.sub("", text)) > LONG_CELL else ""
    return f"<td{long}>{text}</td>"


def _closing(_line: str) -> str:
    """Return nothing: no section of a page is shortened."""
    return ""


def _no(_line: str) -> bool:
    """Tell of no line that it belongs to another."""
    return False


HTML = Dialect(
    kit="kit/html.j2",
    inline=inline,
    code=code,
    fence=fence,
    row=table_row,
    closing=_closing,
    joins=_no,
    leads=_no,
)
"""The page of ``--html``."""
