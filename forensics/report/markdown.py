r"""Make hostile text harmless in the portable subset of Markdown (CommonMark and GFM).

    ``**bold** @all | #1``  ->  ``\*\*bold\*\* `@all` \| `#1` ``

Log text may hold anything: a table's pipe, a fence, HTML, a mention, bidi controls. Two means are used:

- A backslash where the character itself is markup (CommonMark 2.4), so that it reads as it was logged.
- A code span around a word that a *host* would act on after rendering: mentions, issue links, bare
  addresses, e-mails, commit hashes, emoji codes, formulas. GitHub and GitLab look for these in the rendered
  text, so neither ``\@x`` nor ``&#64;x`` would stop them (both render as ``@x``); they do not look in code.

References: https://spec.commonmark.org/0.31.2/ and https://github.github.com/gfm/
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from unicodedata import category

from forensics.report.dialect import Dialect

if TYPE_CHECKING:
    from collections.abc import Iterable

HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
"""Categories whose characters cannot be seen or reorder what can: they are shown as an escape."""
SHORT = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
BLANK = re.compile(r"[ \t\n\v\f\r\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
"""What counts as a space between words of a sentence; other controls are shown."""
MARKUP = re.compile(r"[\\`*\[\]<|~]|&(?=[#A-Za-z])|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
"""Characters that mean something inside a line. ``_`` between two letters means nothing (6.2)."""
FIRST = re.compile(r"[-+=>#]|\d{1,9}(?=[.)](?: |$))")
"""What opens a block when it stands first: list, quote, heading, rule."""
TICKS = re.compile("`{3,}(?=[^`]*$)")
"""How a line begins that opens a fence."""
REACTS = re.compile(
    r"@|#\w|://|\$"
    r"|(?i:\bwww\.|\b(?:mailto|xmpp|javascript|data):|\bgh-\d)"
    r"|\b(?!(?:UTC|GMT|UTF|SHA)-)[A-Z][A-Z0-9_]+-\d"  # an issue's key: ABC-1
    r"|(?:^|\W)[!%~&]\w"  # GitLab: merge request, milestone, label, epic
    r"|:(?!\d\d:)[+\w-]+:"  # an emoji's code, but not the minutes of 09:42:26
    r"|\b(?=\d{0,39}[a-f])[0-9a-f]{7,40}\b"  # a commit
)
"""A word that a host turns into a link, a notification, a picture or a formula."""


def visible(text: str) -> str:
    r"""Return `text` with every hidden character written out: ``\x1b``, ``\u202e``, ``\n``."""
    return "".join(map(_seen, text))


def inline(text: str) -> str:
    """Return `text` as one line of literal text, safe in a paragraph, a heading and a list item.

    Runs of white space become one space. The result renders as text and code spans only.
    """
    words = visible(BLANK.sub(" ", text).strip(" ")).split(" ")
    if words == [""]:
        return ""
    first = _word(words[0]) if not words[0].startswith("/") else code(words[0])
    return " ".join((_opening(first, more=len(words) > 1), *map(_word, words[1:])))


def cell(text: str) -> str:
    """Return `text` as the content of one table cell."""
    return row_safe(inline(text))


def row_safe(markdown: str) -> str:
    """Escape the pipes that are still bare (those in code spans) in text that is already Markdown."""
    return re.sub(r"(?<!\\)\|", r"\\|", markdown)


def code(text: str) -> str:
    r"""Return `text` as a code span, delimited by more backticks than it holds in a row.

    A pipe behind a backslash becomes ``\x7c``: renderers disagree on how ``\\|`` splits a table row.
    """
    shown = visible(text).replace("\\|", "\\\\x7c") or " "
    ticks = "`" * (_longest_run(shown) + 1)
    pad = " " if "`" in (shown[0], shown[-1]) or (shown[0] == shown[-1] == " " and shown.strip(" ")) else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def fence(lines: Iterable[str], info: str = "") -> str:
    """Return `lines` as a fenced block that none of them can close; `info` names the language."""
    shown = [visible(line) for line in lines]
    ticks = "`" * max(3, 1 + max(map(_longest_run, shown), default=0))
    return "\n".join((ticks + re.sub(r"[^A-Za-z0-9_+-]", "", info), *shown, ticks))


def _seen(char: str) -> str:
    """Return one character, or its escape if it cannot be seen."""
    if " " <= char <= "~" or category(char) not in HIDDEN:
        return char
    number = ord(char)
    form = r"\x{:02x}" if number < 0x100 else r"\u{:04x}" if number < 0x10000 else r"\U{:08x}"
    return SHORT.get(char, form.format(number))


def _word(word: str) -> str:
    """Return one word as literal text, or as code if a host would react to it."""
    return code(word) if REACTS.search(word) else MARKUP.sub(_escape, word)


def _escape(match: re.Match[str]) -> str:
    r"""Put a backslash before a character; behind another backslash a pipe needs ``&#124;``."""
    char = match[0]
    behind = match.string[match.start() - 1 : match.start()]
    return "&#124;" if char == "|" and behind == "\\" else f"\\{char}"


def _opening(word: str, *, more: bool) -> str:
    """Stop the first word of a line from opening a block."""
    match = FIRST.match(word + (" " if more else ""))
    if match is None:
        return word
    at = 0 if not match[0].isdigit() else match.end()
    return f"{word[:at]}\\{word[at:]}"


def _longest_run(text: str) -> int:
    """Count the backticks of the longest run of them."""
    return max(map(len, re.findall("`+", text)), default=0)


def table_row(pad: str, cells: Iterable[str]) -> str:
    """Join finished cells to a row of a table."""
    return f"|{'|'.join(pad + row_safe(text) + pad for text in cells)}|"


def _closing(line: str) -> str:
    """Return the line that closes the fence which this line opens."""
    opened = TICKS.match(line)
    return opened[0] if opened else ""


def _is_rule(line: str) -> bool:
    """Tell whether a line is the rule below a table's head."""
    return line.startswith("|---")


def _is_lead(block: str) -> bool:
    """Tell whether a block only leads to the next one: a table's head, "Failures ...:" before a chart."""
    return "\n|---" in block or (block.rstrip().endswith(":") and not block.startswith(("- ", "|")))


PORTABLE = Dialect(
    kit="kit/markdown.j2",
    inline=inline,
    code=code,
    fence=fence,
    row=table_row,
    closing=_closing,
    joins=_is_rule,
    leads=_is_lead,
)
"""The subset that every host renders."""
