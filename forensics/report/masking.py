"""Masking, on by default: addresses, e-mails, phone numbers and secrets become stable pseudonyms.

The same value has the same pseudonym in the report, in report.json, in charts and in evidence. Pseudonyms are numbered in
the order of the document, so that two runs agree.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from typing import Any

KEEP = re.compile(r"^(?:127\.|0\.0\.0\.0$|255\.255\.255\.255$)")
"""Addresses that identify nobody."""
RULES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("key", re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)")),
    ("secret", re.compile(r"(?<=://)[^/\s:@]+:[^@\s/]+(?=@)")),
    ("token", re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*")),
    ("token", re.compile(r"(?i)\b(?:bearer|basic)\s+[\w.~+/=-]{8,}")),
    (
        "secret",
        re.compile(
            r"(?i)\b(?:pass(?:word|wd)?|secret|token|api[_-]?key|apikey|access[_-]?key|authorization|cookie|set-cookie)[\"']?\s*[=:]\s*[\"']?[^\s\"',;&]{3,}"
        ),
    ),
    (
        "key",
        re.compile(
            r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{20,}\b|\bxox[abprs]-[\w-]{10,}\b|\bsk_(?:live|test)_\w{10,}\b"
        ),
    ),
    ("email", re.compile(r"\b[\w.+-]+@[\w-]+\.[\w.-]*\w\b")),
    ("account", re.compile(r"\b\d{6,}@[A-Za-z][\w.]*")),
    ("mac", re.compile(r"\b(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}\b")),
    (
        "client",
        re.compile(
            r"(?<![\d.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\d.]*\d)"
        ),
    ),
    (
        "client",
        re.compile(
            r"(?<![\w:.])(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}(?![\w:])|(?<![\w:.])(?:[0-9A-Fa-f]{1,4}:){2,6}:[0-9A-Fa-f]{1,4}(?![\w:])"
        ),
    ),
    ("phone", re.compile(r"(?<![\w./:-])\+?\d{2,3}[ -]?\(?\d{2}\)?[ -]?9?\d{4}[ -]?\d{4}(?![\w./:-])")),
    ("home", re.compile(r"(?<=/home/)[A-Za-z_][\w.-]*|(?<=/Users/)[A-Za-z_][\w.-]*")),
)
"""Class and pattern, the most specific first."""
UNTOUCHED = (
    "sha256",
    "signatures_sha256",
    "id",
    "schema",
    "at",
    "start",
    "end",
    "first",
    "last",
    "due",
    "answered",
    "command",
    "date",
    "cursor",
    "tz",
    "since",
    "until",
    "unit",
)
"""Keys whose values the tool itself makes; a mask could only break them."""


class Masker:
    """Replaces what identifies people and systems, and counts what it replaced."""

    def __init__(self) -> None:
        self.names: dict[tuple[str, str], str] = {}
        self.counts: Counter[str] = Counter()

    def text(self, text: str) -> str:
        """Mask one text."""
        for kind, pattern in RULES:
            text = pattern.sub(partial(self.replace, kind), text)
        return text

    def replace(self, kind: str, match: re.Match[str]) -> str:
        """Return what stands for one match."""
        return self.pseudonym(kind, match[0])

    def pseudonym(self, kind: str, value: str) -> str:
        """Return the stable name of a value."""
        if kind == "client" and KEEP.match(value):
            return value
        key = (kind, value.lower())
        if key not in self.names:
            self.counts[kind] += 1
            self.names[key] = f"{kind}-{self.counts[kind]}"
        return self.names[key]

    def document(self, value: Any, key: str = "") -> Any:
        """Mask every text of a document, keys and values of the tool's own making left alone."""
        if isinstance(value, str):
            return value if key in UNTOUCHED else self.text(value)
        if isinstance(value, list):
            return [self.document(item, key) for item in value]
        if isinstance(value, dict):
            return {name: self.document(item, name) for name, item in value.items()}
        return value
