r"""Values that are written in another alphabet: base64, percent-encoding, escapes of JSON.

    dXNlcjpodW50ZXIy   ana%40example.com   ana\u0040example.com   https:\/\/app:hunter2@db

What they stand for is masked like any text; a piece of base64 that holds something to mask goes as a whole.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode
from binascii import Error
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.report.masking.spans import Span

NEXT = r"\s*(?:\\\s*)?\n[ \t]*"
BASE64 = re.compile(
    rf"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{{16,}}(?:{NEXT}[A-Za-z0-9+/_-]{{16,}})*"
    rf"(?:{NEXT}(?=[a-z]*[A-Z0-9])[A-Za-z0-9+/_-]{{2,15}})?={{0,2}}(?![A-Za-z0-9+/_=-])"
)
"""Base64, also in lines, the last of which may be short."""
TORN = re.compile(
    r"(?<![A-Za-z0-9+/_=-])(?:[A-Za-z0-9+/_-]|<(?:n|id)>){8,}(?:[\\\s]*\n[ \t]*(?:[A-Za-z0-9+/_-]|<(?:n|id)>){8,})*={0,2}"
)
"""What a template of messages leaves of base64: its digits are marks there, and it can be decoded no more."""
MARK = re.compile(r"(?<=[A-Za-z])<(?:n|id)>(?=[A-Za-z])")
FEWEST = 3
"""Marks between two letters from which a word is taken for torn base64; words that people write have one or two."""
PERCENT = re.compile(r"[^\s&?=/;,\"'<>]*%[0-9A-Fa-f]{2}[^\s&?=/;,\"'<>]*")
UNICODE = re.compile(r"\\+u([0-9A-Fa-f]{4})")
READABLE = 0.9
"""Share of printable characters from which decoded bytes are taken for text."""
SAFE = "".join(map(chr, range(33, 127))).replace("%", "").replace('"', "").replace("'", "")


def unescaped(text: str) -> str:
    """Return a text with the escapes of JSON undone that hide nothing of its own syntax."""
    if "\\" not in text:
        return text
    plain = UNICODE.sub(character, text)
    return re.sub(r"\\+/", "/", plain)


def character(match: re.Match[str]) -> str:
    """Return an escaped character; quotation marks, backslashes and control characters stay escaped."""
    char = chr(int(match[1], 16))
    return char if char.isprintable() and char not in "\"'\\" else match[0]


def torn(text: str) -> Iterator[Span]:
    """Yield what templates of messages leave of base64."""
    if text.count("<n>") + text.count("<id>") >= FEWEST:
        for match in TORN.finditer(text):
            letters = MARK.sub("", match[0])
            if len(MARK.findall(match[0])) >= FEWEST and letters.lower() != letters != letters.upper():
                yield match.span()


def alone(text: str, match: re.Match[str]) -> bool:
    """Is base64 all that its line holds? Then it is a piece of something longer, whatever it stands for."""
    before = text[: match.start()].rpartition("\n")[2]
    after = text[match.end() :].partition("\n")[0]
    return not before.strip(" \t\\") and not after.strip(" \t\r\\")


def decoded(run: str) -> Iterator[str]:
    """Yield the texts that base64 may stand for: all of it, its lines and the parts of a path."""
    lines = re.split(r"[\s\\]+", run)
    for part in dict.fromkeys(
        ["".join(lines), *lines, *(part for line in lines for part in line.split("/"))]
    ):
        bare = part.rstrip("=").replace("+", "-").replace("/", "_")
        if len(bare) < 12 or len(bare) % 4 == 1:
            continue
        try:
            text = urlsafe_b64decode(bare + "=" * (-len(bare) % 4)).decode()
        except (Error, UnicodeDecodeError):
            continue
        if sum(char.isprintable() or char in "\r\n\t" for char in text) >= READABLE * len(text):
            yield text


def from_percent(run: str) -> str:
    """Return what a run of percent-encoding stands for."""
    return unquote(run, errors="replace")


def to_percent(text: str) -> str:
    """Write a text in percent-encoding again; only what needs it is encoded."""
    return quote(text, safe=SAFE)
