r"""Make hostile text harmless in Jira's wiki markup.

    ``*bold* [~all] {code} OPS-1``  ->  ``\*bold\* \[\~all\] \{code\} OPS\-1``

Jira reads ``\X`` as the character itself for most of its markup; a backslash, and what has no such escape (the colon of an
address, the dot of ``h1.``, the sign of a numbered list), is written as a character reference, which Jira leaves alone.
Issue keys would become links, so that their dash is escaped.

Reference: https://jira.atlassian.com/secure/WikiRendererHelpAction.jspa?section=all
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from forensics.report.dialect import Dialect
from forensics.report.markdown import BLANK, visible

if TYPE_CHECKING:
    from collections.abc import Iterable

REFERENCE = re.compile(r"\\|&(?=#?\w+;)|:(?=//|[()DPp])|(?<=mailto):|;(?=\))")
"""What only a character reference takes the meaning from: backslashes, entities, addresses, smileys."""
MARKUP = re.compile(
    r"[{}\[\]|*^~!?@+%]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|(?<![A-Za-z0-9])-(?!\d)|-(?![A-Za-z0-9])|\((?=.{1,3}\))"
)
"""What a backslash takes the meaning from. A dash or ``_`` within a word means nothing, except in an issue's key."""
KEY = re.compile(r"\b([A-Z][A-Z0-9_]+)-(?=\d)")
"""How the key of an issue begins."""
FIRST = re.compile(r"#|(?:bq|h[1-6])(?=\.)|\.{3}|-{2,}", re.IGNORECASE)
"""What opens a block when it stands first."""
MACRO = re.compile(r"\{(?=\s*(?:code|noformat)\b)", re.IGNORECASE)
"""What could close a block."""
LANGUAGES = {"sh": "bash"}


def inline(text: str) -> str:
    """Return `text` as one line of literal text, safe in a paragraph, a heading, a list item and a cell."""
    return " ".join(_word(word, first=at == 0) for at, word in enumerate(_words(text)))


def code(text: str) -> str:
    """Return `text` in a fixed-width font; Jira reads markup there as everywhere, so that it is escaped as well."""
    return "{{" + (inline(text) or " ") + "}}"


def fence(lines: Iterable[str], info: str = "") -> str:
    """Return lines as a block that none of them can close."""
    language = LANGUAGES.get(info)
    head, foot = (f"{{code:{language}}}", "{code}") if language else ("{noformat}", "{noformat}")
    return "\n".join((head, *(MACRO.sub(r"\\x7b", visible(line)) for line in lines), foot))


def table_row(pad: str, cells: Iterable[str]) -> str:
    """Join finished cells to a row of a table."""
    return f"|{'|'.join(f'{pad}{text}{pad}' for text in cells)}|"


def table_head(pad: str, cells: Iterable[str]) -> str:
    """Join finished cells to the head of a table."""
    return f"||{'||'.join(f'{pad}{text}{pad}' for text in cells)}||"


def _words(text: str) -> list[str]:
    """Return the words of a text, hidden characters written out."""
    shown = visible(BLANK.sub(" ", text).strip(" "))
    return shown.split(" ") if shown else []


def _word(word: str, *, first: bool) -> str:
    """Return one word as literal text."""
    safe = REFERENCE.sub(_reference, word)
    pieces = re.split(r"(&(?:#\d+|amp);)", safe)
    safe = "".join(piece if at % 2 else _escaped(piece) for at, piece in enumerate(pieces))
    if first and (match := FIRST.match(word)):
        at = match.end() if match[0][0].isalpha() else 0
        safe = safe[:at] + _reference(word[at]) + safe[at + 1 :] if safe[at] != "\\" else safe
    return safe


def _escaped(text: str) -> str:
    """Put a backslash before what means something."""
    return MARKUP.sub(r"\\\g<0>", KEY.sub("\\1\0", text)).replace("\0", r"\-")


def _reference(match: re.Match[str] | str) -> str:
    """Return a character as a reference."""
    char = match if isinstance(match, str) else match[0]
    return "&amp;" if char == "&" else f"&#{ord(char)};"


def _closing(line: str) -> str:
    """Return the line that closes the block which this line opens."""
    found = re.fullmatch(r"\{(code|noformat)(?::\w+)?\}", line)
    return f"{{{found[1]}}}" if found else ""


def _no(_line: str) -> bool:
    """Tell of no line that it belongs to the one before."""
    return False


def _is_lead(block: str) -> bool:
    """Tell whether a block only leads to the next one."""
    return block.startswith("||") or (block.rstrip().endswith(":") and not block.startswith(("* ", "|")))


JIRA = Dialect(
    kit="kit/jira.j2",
    inline=inline,
    code=code,
    fence=fence,
    row=table_row,
    head=table_head,
    closing=_closing,
    joins=_no,
    leads=_is_lead,
)
"""Wiki markup, as Jira's own editor and its REST interface of version 2 take it."""
