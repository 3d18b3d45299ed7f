"""A dialect: how one place writes the same vocabulary. Portable Markdown is one, HTML, Jira and Slack are others.

Section templates speak of headings, items, rows and quotes; a kit (a template) and the functions below make these of
text. Whatever `inline`, `code` and `fence` are given may come from a log: what they return is safe where it will be read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def _plain_head(_pad: str, _cells: Iterable[str]) -> str:
    """Return nothing: this kit writes heads of tables by itself."""
    return ""


def _same(_slug: str, section: str) -> str:
    """Leave a section as it is."""
    return section


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a place writes text, quotes, rows and blocks, and how its sections can be shortened."""

    kit: str
    """Template of the shapes: headings, items, tables."""
    inline: Callable[[str], str]
    """Text to one line that shows it and does nothing else."""
    code: Callable[[str], str]
    """Text to a quote within a line."""
    fence: Callable[[Iterable[str], str], str]
    """Lines, and the name of their language, to a block."""
    row: Callable[[str, Iterable[str]], str]
    """What stands beside a cell's content, and finished cells, to a row of a table."""
    closing: Callable[[str], str]
    """A line that opens a block, to the line that closes it; to nothing where it opens none."""
    joins: Callable[[str], bool]
    """Whether a line belongs to the line before it."""
    leads: Callable[[str], bool]
    """Whether a block only leads to the next one: a table's head."""
    head: Callable[[str, Iterable[str]], str] = _plain_head
    """As `row`, for a table's head, where the kit asks for it."""
    bold: Callable[[str], str] = str
    """Finished text to bold text, where the kit asks for it."""
    finish: Callable[[str, str], str] = _same
    """A section's name and its text, to what is written."""
