"""Replaces what identifies people and systems by stable pseudonyms, and counts what it replaced."""

from __future__ import annotations

import fnmatch
import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forensics.report.masking import encodings, networks, people
from forensics.report.masking.kinds import ENCODED, NAME, PERSONAL, SECRETS, TITLES, Rule
from forensics.report.masking.spans import apart, broken

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from forensics.report.masking.spans import Span

PSEUDONYM = re.compile(rf"({'|'.join(sorted(TITLES, key=len, reverse=True))})-\d+")
"""Letters may stand right before one: those of an escaped line break, or of a percent-encoded blank."""
SCHEMA = "forensics.pseudonyms/1"
DEEPEST = 3
"""Encodings inside each other that are undone."""
UNTOUCHED = frozenset({
    "sha256", "signatures_sha256", "id", "schema", "at", "start", "end", "first", "last", "due", "answered", "date", "cursor",
    "tz", "since", "until", "unit",
})  # fmt: skip
"""Keys whose values the tool itself makes; a mask could only break them."""


@dataclass(frozen=True, slots=True)
class Hidden:
    """A value that is masked."""

    kind: str
    value: str
    same: str
    """The spelling by which equal values are known."""


Piece = str | Hidden


class Masker:
    """Masks texts. The same value has the same pseudonym in all of them, numbered in the order in which they come."""

    def __init__(self, keep: Iterable[str] = (), names: Iterable[str] = ()) -> None:
        """Take what is to be left as it is (values, patterns with ``*``, networks), and names to be masked beside the kinds."""
        self.keep = tuple(keep)
        find = people.names(tuple(names))
        self.personal = (*PERSONAL, *([Rule(NAME, find, people.same_name)] if find else []))
        self.names: dict[tuple[str, str], str] = {}
        self.values: dict[str, str] = {}
        self.counts: Counter[str] = Counter()
        self.known: dict[str, str] = {}

    def text(self, text: str) -> str:
        """Mask one text."""
        if text not in self.known:
            self.known[text] = "".join(self.shown(piece) for piece in self.pieces(text))
        return self.known[text]

    def lines(self, texts: list[str]) -> list[str] | None:
        """Mask texts that stand one below the other as one: what is split over several has its pseudonym where it begins.

        None where it is not plain what became of each.
        """
        shown = "".join(self.shown(piece) + self.breaks(piece) for piece in self.pieces("\n".join(texts)))
        parts = shown.split("\n")
        counts = [text.count("\n") + 1 for text in texts]
        if len(parts) != sum(counts):
            return None
        return ["\n".join(parts[sum(counts[:at]) : sum(counts[: at + 1])]) for at in range(len(texts))]

    def breaks(self, piece: Piece) -> str:
        """Return the line breaks that a pseudonym hides."""
        return "\n" * piece.value.count("\n") if isinstance(piece, Hidden) and not self.kept(piece) else ""

    def pieces(self, text: str, depth: int = 0) -> list[Piece]:
        """Take a text apart into what is shown and what is masked.

        Escapes are undone only where that brings something to light, so that a text without it stays as it is.
        """
        found = self.searched(text, depth)
        plain = encodings.unescaped(text)
        if plain == text:
            return found
        also = self.searched(plain, depth)
        return also if hidden(also) and hidden(also) >= hidden(found) else found

    def searched(self, text: str, depth: int) -> list[Piece]:
        """Search a text for all kinds."""
        pieces: list[Piece] = [text]
        small = text.lower()
        for rule in SECRETS:
            if rule.may_find(small):
                pieces = list(applied(rule, pieces))
        if depth < DEEPEST:
            pieces = [
                part
                for piece in pieces
                for part in (self.decoded(piece, depth) if isinstance(piece, str) else [piece])
            ]
        for rule in self.personal:
            if rule.may_find(small):
                pieces = list(applied(rule, pieces))
        return pieces

    def decoded(self, text: str, depth: int) -> Iterator[Piece]:
        """Mask what is encoded in a text."""
        done = 0
        for match in sorted(
            [*encodings.BASE64.finditer(broken(text)), *encodings.PERCENT.finditer(text)], key=re.Match.start
        ):
            if match.start() < done:
                continue
            held = self.percent(match[0], depth) if "%" in match[0] else self.base64(match, depth)
            if held:
                yield text[done : match.start()]
                yield from held
                done = match.end()
        yield text[done:]

    def base64(self, match: re.Match[str], depth: int) -> list[Piece]:
        """Return base64 as one hidden value if there is something to mask in what it stands for, else nothing."""
        texts = list(encodings.decoded(match[0]))
        found = any(hidden(self.pieces(text, depth + 1)) for text in texts)
        if found or (texts and encodings.alone(match.string, match)):
            return [Hidden(ENCODED, match[0], match[0])]
        return []

    def percent(self, run: str, depth: int) -> list[Piece]:
        """Return percent-encoding with what it stands for masked, nothing where nothing is."""
        pieces = self.pieces(encodings.from_percent(run), depth + 1)
        if not hidden(pieces):
            return []
        return [encodings.to_percent(piece) if isinstance(piece, str) else piece for piece in pieces]

    def shown(self, piece: Piece) -> str:
        """Return what is shown of a piece."""
        if isinstance(piece, str):
            return piece
        return piece.value if self.kept(piece) else self.pseudonym(piece)

    def kept(self, piece: Hidden) -> bool:
        """Is a value in the list of what is to be left?"""
        value = piece.value.lower()
        return any(
            value == one.lower()
            or fnmatch.fnmatchcase(value, one.lower())
            or ("/" in one and networks.within(piece.same, one))
            for one in self.keep
        )

    def pseudonym(self, piece: Hidden) -> str:
        """Return the stable name of a value."""
        key = (piece.kind, piece.same)
        if key not in self.names:
            self.counts[piece.kind] += 1
            self.names[key] = f"{piece.kind}-{self.counts[piece.kind]}"
            self.values[self.names[key]] = piece.value
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

    def table(self) -> str:
        """Return which pseudonym stands for what, as JSON; where several spellings are one value, the first."""
        return json.dumps({"schema": SCHEMA, "pseudonyms": self.values}, ensure_ascii=False, indent=1) + "\n"

    def learn(self, text: str, masked: str) -> None:
        """Take over the pseudonyms that a report gave to what a text hides; where it is not plain which is which, none."""
        mine = [piece for piece in self.pieces(text) if isinstance(piece, Hidden) and not self.kept(piece)]
        theirs = list(PSEUDONYM.finditer(masked))
        kinds = [match[1] for match in theirs]
        starts = [
            at
            for at in range(len(mine) - len(theirs) + 1)
            if kinds == [piece.kind for piece in mine[at : at + len(theirs)]]
        ]
        if len(starts) == 1:
            for piece, match in zip(mine[starts[0] :], theirs, strict=False):
                self.names.setdefault((piece.kind, piece.same), match[0])

    def counted(self) -> dict[str, int]:
        """Return how many values of each kind have a pseudonym."""
        return {kind: self.counts[kind] for kind in TITLES if self.counts[kind]}


def applied(rule: Rule, pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Take what a rule finds out of the pieces that are still shown."""
    for piece in pieces:
        if isinstance(piece, Hidden):
            yield piece
            continue
        done = 0
        for start, end in found(rule, piece):
            yield piece[done:start]
            yield Hidden(rule.kind, piece[start:end], rule.same(piece[start:end]))
            done = end
        yield piece[done:]


def found(rule: Rule, text: str) -> Iterator[Span]:
    """Yield what a rule finds in a text, and in the lines that it has in itself."""
    lines = broken(text)
    spans = rule.find(text) if lines == text else [*rule.find(text), *rule.find(lines)]
    return (span for span in apart(spans) if span[0] < span[1])


def hidden(pieces: Iterable[Piece]) -> int:
    """Count what is masked."""
    return sum(isinstance(piece, Hidden) for piece in pieces)


def numberless(text: str) -> str:
    """Take the numbers off pseudonyms: they count what stood before in the whole document."""
    return PSEUDONYM.sub(r"\1-#", text)
