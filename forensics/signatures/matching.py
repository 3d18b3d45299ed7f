r"""Matching: one pass over the text finds all anchors, and a pattern runs only on the rows where its own anchor stands.

The pass is one automaton over every anchor, so its cost hardly grows with the number of signatures; which anchors a row
has is asked only of the rows that have any. Everything after the pass costs by what was found: a signature without a
candidate is never looked at.

What a program printed may stand in colours or inside a JSON string. Colours are taken out first. A text inside JSON is
looked at as it stands, and with its escapes undone (``\"``, ``\n``, ``\u003c``), a line at a time; an anchor that JSON
would escape is looked for in its escaped forms too.

A line may carry several texts, one inside the other; where a signature declares what it is ``inner_of``, only the
outer one counts on that line.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import polars as pl

from forensics.formats.heads import ANSI

if TYPE_CHECKING:
    from collections.abc import Iterable

    from forensics.model.signature import Signature

HITS = {"row": pl.UInt32, "signature": pl.String, "parameters": pl.String}
ESCAPE = "\x1b"
WHOLE = "_whole"
"""A group around the pattern: a pattern whose own groups are all optional matches with every one of them empty."""
NOTHING = f'{{"{WHOLE}":null'
"""How the answer of a pattern begins that does not match."""
FIRST = rf'^\{{"{WHOLE}":"(?:[^"\\]|\\.)*",?'
"""The whole match in the answer of a pattern."""
LETTER = re.compile(r"\\([^\w\s])")
"""An escaped character that stands for itself."""
SPECIAL = re.compile(r"[\\.+*?()|\[\]{}^$]")
"""Characters that make a pattern more than a text."""
SPECIALS = re.compile(r"[\\.+*?()|\[\]{}^$#&~-]")
"""Characters that are escaped in a text that is to stand for itself."""
UNESCAPE = {
    **{rf"\u{code:04x}": chr(code) for code in range(256)},
    **{rf"\u{code:04X}": chr(code) for code in range(256)},
    r"\\": "\\",
    r"\"": '"',
    r"\/": "/",
    r"\n": "\n",
    r"\r": "\r",
    r"\t": "\t",
    r"\b": "\b",
    r"\f": "\f",
}
"""Escapes of JSON strings; characters beyond Latin-1 stay as they are, since no anchor has one."""
HTML_SAFE = {'"': r"\u0022", "'": r"\u0027", "<": r"\u003c", ">": r"\u003e", "&": r"\u0026"}
"""What writers of JSON escape although they need not: Go the last three, .NET and Gson all of them."""


class Matcher:
    """The catalogue, prepared for matching many messages."""

    def __init__(self, signatures: Iterable[Signature]) -> None:
        self.signatures = {signature.id: signature for signature in signatures}
        self.successes = {name for name, one in self.signatures.items() if one.counts == "success"}
        self.then = {name: re.compile(one.then) for name, one in self.signatures.items() if one.then}
        self.operation = {
            name: re.compile(one.operation) for name, one in self.signatures.items() if one.operation
        }
        texts = {name: text for name, one in self.signatures.items() if (text := literal(one)) is not None}
        owners = [
            (anchor, name, name in texts)
            for name, one in self.signatures.items()
            for anchor in ((texts[name],) if name in texts else one.anchors)
        ]
        self.owners = pl.DataFrame(
            owners, schema={"anchor": pl.String, "signature": pl.String, "sure": pl.Boolean}, orient="row"
        ).unique(maintain_order=True)
        self.anchors = self.owners["anchor"].unique().sort().to_list()
        needles = sorted({form for anchor in self.anchors for form in forms(anchor)} | {ESCAPE})
        # As an alternation of texts: Rust's regex engine makes a DFA of up to 500 of them (regex-automata
        # src/util/prefilter/aho_corasick.rs), polars' own search for several texts one of up to 100 only.
        self.near = "|".join(SPECIALS.sub(r"\\\g<0>", needle) for needle in needles)
        self.questions: dict[str, pl.Expr] = {}
        self.inner = pl.DataFrame(
            [(name, outer) for name, one in self.signatures.items() for outer in one.inner_of],
            schema={"signature": pl.String, "outer": pl.String},
            orient="row",
        )

    def match(self, messages: pl.Series) -> pl.DataFrame:
        """Return one row per (message, signature) that matches: ``row``, ``signature``, ``parameters`` (JSON)."""
        rows = messages.str.contains(self.near).fill_null(value=False).arg_true()
        table = pl.DataFrame({"row": rows, "message": messages.gather(rows)})
        if not table.height:
            return pl.DataFrame(schema=HITS)
        if table["message"].str.contains(ESCAPE, literal=True).any():
            table = table.with_columns(pl.col("message").str.replace_all(ANSI, ""))
        hits = self.search(table)
        if (undone := unescaped(table)).height:
            further = self.search(undone).unique(["row", "signature"], keep="first", maintain_order=True)
            hits = pl.concat([hits, further.join(hits, on=["row", "signature"], how="anti")])
        return self.outermost(hits).sort("row", "signature")

    def search(self, table: pl.DataFrame) -> pl.DataFrame:
        """Match rows that may have an anchor: each signature on the rows of its own anchors."""
        anchors = pl.col("message").str.extract_many(self.anchors, overlapping=True).list.unique()
        found = (
            table.with_columns(anchor=anchors)
            .explode("anchor", empty_as_null=False, keep_nulls=False)
            .join(self.owners, on="anchor", maintain_order="left")
        )
        sure = found.filter("sure").select("row", "signature", parameters=pl.lit("{}"))
        asked = (
            found.filter(~pl.col("sure"))
            .unique(["row", "message", "signature"], maintain_order=True)
            .group_by("signature", maintain_order=True)
            .agg("row", "message")
        )
        return pl.concat([sure, self.ask(asked)])

    def ask(self, asked: pl.DataFrame) -> pl.DataFrame:
        """Run the patterns, each on the list of its own messages: ``asked`` has signature, row and message (lists).

        One call for all, since calls one by one would cost more than the patterns do.
        """
        names = asked["signature"].to_list()
        if not names:
            return pl.DataFrame(schema=HITS)
        texts = pl.DataFrame([asked["message"].slice(at, 1).alias(name) for at, name in enumerate(names)])
        answers = texts.select(self.question(name) for name in names)
        return (
            asked.select("signature", "row", parameters=pl.concat([answers[name] for name in names]))
            .explode("row", "parameters")
            .filter(pl.col("parameters").is_not_null() & ~pl.col("parameters").str.starts_with(NOTHING))
            .select("row", "signature", pl.col("parameters").str.replace(FIRST, "{"))
        )

    def question(self, name: str) -> pl.Expr:
        """Return how the pattern of a signature is asked of the list in the column of its name, null for no match.

        Kept, because making it compiles the pattern once more.
        """
        if name not in self.questions:
            signature = self.signatures[name]
            text = pl.col(name).explode()
            pattern = ascii_digits(signature.pattern)
            if signature.parameters:
                whole = f"(?P<{WHOLE}>{pattern})"
                said = text.str.extract_groups(whole).struct.json_encode()
            else:
                said = pl.when(text.str.contains(pattern)).then(pl.lit("{}"))
            self.questions[name] = said.implode().alias(name)
        return self.questions[name]

    def outermost(self, hits: pl.DataFrame) -> pl.DataFrame:
        """Leave out a text on whose line a text stands that holds it."""
        if not self.inner.height or not hits.height:
            return hits
        outer = hits.select("row", outer="signature")
        covered = hits.join(self.inner, on="signature").join(outer, on=["row", "outer"], how="semi")
        return hits.join(covered, on=["row", "signature"], how="anti")


def forms(anchor: str) -> list[str]:
    """Return an anchor as it stands, and as it stands inside a JSON string where that differs."""
    plain = json.dumps(anchor, ensure_ascii=False)[1:-1]
    go = "".join(HTML_SAFE[char] if char in "<>&" else char for char in plain)
    safe = "".join(HTML_SAFE.get(char, char) for char in anchor)
    return list(dict.fromkeys((anchor, plain, go, safe)))


def literal(signature: Signature) -> str | None:
    """Return the text of a pattern that is nothing but text, else None."""
    plain = LETTER.sub("", signature.pattern)
    return None if SPECIAL.search(plain) else LETTER.sub(r"\1", signature.pattern)


def ascii_digits(pattern: str) -> str:
    r"""Let ``\d`` be the ten digits that programs print: all of Unicode's take a quarter of the time to compile a pattern."""
    return re.sub(r"\\.", lambda found: "[0-9]" if found[0] == r"\d" else found[0], pattern)


def unescaped(table: pl.DataFrame) -> pl.DataFrame:
    """Return the rows that hold JSON with escapes, undone, a line each; lines that a traceback echoes are left out."""
    escaped = pl.col("message").str.contains("\\", literal=True) & pl.col("message").str.contains(
        '{"', literal=True
    )
    rows = table.filter(escaped)
    if not rows.height:
        return rows
    text = pl.col("message").str.replace_many(list(UNESCAPE), list(UNESCAPE.values()))
    lines = rows.select("row", text.str.split("\n")).with_columns(several=pl.col("message").list.len() > 1)
    split = lines.explode("message")
    return split.filter(~(pl.col("several") & pl.col("message").str.contains(r"^\s"))).select(
        "row", "message"
    )
