"""One language: its messages, plural forms and numbers, from ``templates/locale/TAG.po``.

    LANGUAGE.text("Timeline")  ->  "Linha do tempo"

Messages are English sentences, so English itself needs no catalogue. A message may hold ``{name}`` for a value. The
catalogue is read as it is: nothing needs compiling, and adding a language means adding its two files.
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cache, cached_property
from io import BytesIO
from typing import TYPE_CHECKING

from babel import Locale
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.numbers import format_decimal, get_decimal_symbol
from babel.support import NullTranslations, Translations

from forensics.model import texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from babel.messages.catalog import Catalog

NUMBER = "0.######"
"""Message, in the context ``number``, whose translation is the pattern of numbers (Unicode TR 35)."""
NOTE = "note"
"""Context of texts that the reading wing has put its values into; their messages are patterns."""
LONGEST_NOTE = 1000
"""Characters of a text that patterns are tried on."""
BETWEEN = "; "
"""What stands between remarks that make one text, as between what is wrong and what to do."""
MOST_PARTS = 4
"""Parts of a text that may be one remark: no message has more."""
PLACE = re.compile(r"\{(\w+)\}")
POINT = re.compile(r"(?<=\d)\.(?=\d)")
"""The decimal mark of a formula, which has no groups of digits."""
VALUE = rf"(?P<\1>(?:(?!{BETWEEN}).)+?)"
"""What stands for a value in a pattern: any text that is one part."""


class Language:
    """Speaks one language."""

    def __init__(self, tag: str) -> None:
        self.tag = tag
        self.locale = Locale.parse(tag, sep="-")
        self.messages = read(tag)
        self.translations = compiled(self.messages)

    def text(self, message: str, context: str | None = None) -> str:
        """Return a message in this language; one that is in no catalogue (a user's own) stays as it is."""
        if not message:
            return message
        if context is None:
            return str(self.translations.gettext(message))
        return str(self.translations.pgettext(context, message))

    def plural(self, one: str, many: str, n: float) -> str:
        """Return the form of a message that goes with a number."""
        return str(self.translations.ngettext(one, many, whole(n)))

    def form(self, n: float, *forms: str) -> str:
        """Return the one of these forms, in the order of the catalogue's plural rule, that goes with a number."""
        return forms[min(int(self.translations.plural(whole(n))), len(forms) - 1)]

    def unit(self, symbol: str) -> str:
        """Return the symbol of a unit of time."""
        return self.text(symbol, "unit")

    def number(self, value: float) -> str:
        """Show a number without a needless fraction."""
        pattern = self.text(NUMBER, "number")
        return str(format_decimal(Decimal(f"{value:.6f}"), format=pattern, locale=self.locale))

    def note(self, said: str) -> str:
        """Return a text with values in it in this language, remark by remark; what no message fits stays as it is."""
        if self.tag == texts.ENGLISH or not said:
            return said
        return BETWEEN.join(told or run for run, told in self.remarks(said))

    def formula(self, said: str) -> str:
        """Return a formula with its words and its decimal marks in this language."""
        mark = get_decimal_symbol(self.locale)
        return POINT.sub(mark, self.note(said))

    def remarks(self, said: str) -> Iterator[tuple[str, str | None]]:
        """Yield the remarks that make a text, each with its translation or None where no message fits it."""
        parts = said.split(BETWEEN)
        while parts:
            # A message may hold what stands between remarks, so the longest run of parts that one fits is taken.
            runs = ((BETWEEN.join(parts[:n]), n) for n in range(min(len(parts), MOST_PARTS), 0, -1))
            fits = ((run, told, n) for run, n in runs if (told := self.fitted(run)) is not None)
            run, told, taken = next(fits, (parts[0], None, 1))
            yield run, told
            parts = parts[taken:]

    def fitted(self, said: str) -> str | None:
        """Return the translation of the most specific message that a whole text fits, with the text's values in it."""
        if (exact := self.plain_notes.get(said)) is not None:
            return exact
        if len(said) > LONGEST_NOTE:
            return None
        for literal, pattern, translation in self.notes:
            if literal in said and (found := pattern.fullmatch(said)):
                return PLACE.sub(lambda place: self.value(found[place[1]]), translation)
        return None

    def value(self, text: str) -> str:
        """Return a value of a note: a whole message or number in the language's form, any other text as it is."""
        bare = text.replace(",", "")
        if "," in text and bare.isdecimal():
            return self.number(int(bare))
        return self.plain_notes.get(text, text)

    @cached_property
    def plain_notes(self) -> dict[str, str]:
        """The notes without values, which need no pattern."""
        return {
            str(message.id): str(message.string)
            for message in self.messages
            if message.context == NOTE and not PLACE.search(str(message.id))
        }

    @cached_property
    def notes(self) -> list[tuple[str, re.Pattern[str], str]]:
        """The patterns of notes with the longest text that each needs; first those that leave least to their values."""
        found = [
            (PLACE.sub("{}", str(message.id)).split("{}"), str(message.id), str(message.string))
            for message in self.messages
            if message.context == NOTE and PLACE.search(str(message.id))
        ]
        found.sort(key=lambda one: (-sum(map(len, one[0])), one[1]))
        return [
            (
                max(literals, key=len),
                re.compile(PLACE.sub(VALUE, re.sub(r"[^\w\s{}]", r"\\\g<0>", source)), re.DOTALL),
                target,
            )
            for literals, source, target in found
        ]


def whole(n: float) -> int:
    """Return the whole number that decides a plural form; a fraction goes with the form of many."""
    return int(n) if float(n).is_integer() else 2


def read(tag: str) -> Catalog:
    """Read a language's catalogue; that of English is empty."""
    if tag == texts.ENGLISH:
        return read_po(BytesIO())
    return read_po(BytesIO((texts.root() / "locale" / f"{tag}.po").read_bytes()))


def compiled(catalogue: Catalog) -> NullTranslations:
    """Return what looks messages up."""
    if not len(catalogue):
        return NullTranslations()
    file = BytesIO()
    write_mo(file, catalogue)
    file.seek(0)
    return Translations(file)


@cache
def speak(tag: str) -> Language:
    """Return a language, English where it is not there."""
    return Language(tag if tag in texts.languages() else texts.ENGLISH)
