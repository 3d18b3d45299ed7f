"""What the files of syslog daemons have in common: priorities, escaped control characters, repeated messages."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from forensics.formats import heads
from forensics.formats.heads import ANSI
from forensics.formats.text import VAGUENESS

if TYPE_CHECKING:
    from forensics.model.plug import Parsed

SEVERITIES = ("critical", "critical", "critical", "error", "warning", "info", "info", "debug")
"""Levels of the severities 0 (emergency) to 7 (debug); a priority is facility * 8 + severity."""
HOST = r"[^\s\[\]:]+(?::+[^\s\[\]:]+)*"
TAGGED = r"(?:(?P<service>[^\s\[\]:]+)(?:\[(?P<pid>[^\]]*)\])?: ?)?(?P<message>.*)$"
"""Tag and process before the message; a line of a program that sends no tag has none."""
HAS_TAG = r" [^\s\[\]:]+(?:\[[^\]]*\])?: ?"
ESCAPED = r"#0(?:0[0-7]|1[0-7]|2[0-7]|3[0-7])"
"""rsyslog writes a control character as # and three octal digits (rsyslog/rsyslog runtime/parser.c)."""
REPEATED = r"last message repeated \d+ times?$|message repeated \d+ times: \["
NOTE = 'messages that the daemon saw repeated are written once ("message repeated n times"): counts of them are lower bounds'
LESS = 0.98
"""Factor for a file in which nothing tells a syslog daemon's file from journalctl's."""


def score(head: bytes, pattern: str, evidence: str) -> float:
    """Score a head by its tagged lines; a little more than journalctl's formats where only a syslog daemon writes so."""
    lines = heads.fitting(heads.lines(head), r"^\S")
    own = heads.fitting(lines, rf"{evidence}|{ESCAPED}|{REPEATED}")
    return heads.share(lines, pattern) * (1 - VAGUENESS / 8 if own else LESS)


def finished(parsed: Parsed) -> Parsed:
    """Turn priorities into levels, nil values into none, and escapes into the characters they stand for."""
    assert parsed.records is not None
    priority = pl.col("level").cast(pl.Int64, strict=False)
    message = pl.col("message").str.strip_prefix("\ufeff")
    records = parsed.records.with_columns(
        level=(priority % 8).replace_strict(
            dict(enumerate(SEVERITIES)), default=None, return_dtype=pl.String
        ),
        service=pl.when(pl.col("service") != "-").then(pl.col("service")),
        pid=pl.when(~pl.col("pid").is_in(["-", ""])).then(pl.col("pid")),
        message=pl.when(message.str.contains(ESCAPED)).then(unescaped(message)).otherwise(message),
    )
    repeated = records["message"].str.contains(REPEATED).any()
    return replace(parsed, records=records, notes=(*parsed.notes, *((NOTE,) if repeated else ())))


def unescaped(message: pl.Expr) -> pl.Expr:
    """Return a message with line ends and tabs again, without colours."""
    return (
        message.str.replace_all("#012", "\n", literal=True)
        .str.replace_all("#011", "\t", literal=True)
        .str.replace_all("#015", "", literal=True)
        .str.replace_all("#033", "\x1b", literal=True)
        .str.replace_all(ANSI, "")
        .str.strip_suffix("\n")
    )
