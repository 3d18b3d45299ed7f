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
from babel.numbers import format_decimal
from babel.support import NullTranslations, Translations

from forensics.model import texts

if TYPE_CHECKING:
    from babel.messages.catalog import Catalog

NUMBER = "0.######"
"""Message, in the context ``number``, whose translation is the pattern of numbers (Unicode TR 35)."""
NOTE = "note"
"""Context of texts that the reading wing has put its values into; their messages are patterns."""
LONGEST_NOTE = 1000
"""Characters of a text that patterns are tried on."""
PLACE = re.compile(r"\{(\w+)\}")


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
        """Return a text with values in it in this language, part by part; what no message fits stays as it is."""
        if self.tag == texts.ENGLISH or not said or len(said) > LONGEST_NOTE:
            return said
        return self.fitted(said) or "; ".join(self.fitted(part) or part for part in said.split("; "))

    def fitted(self, said: str) -> str | None:
        """Return the translation of the message that a whole text fits, with the text's values in it."""
        for pattern, translation in self.notes:
            if found := pattern.fullmatch(said):
                return PLACE.sub(lambda place: self.value(found[place[1]]), translation)
        return None

    def value(self, text: str) -> str:
        """Return a value of a note: a whole number in the language's form, any other text as it is."""
        bare = text.replace(",", "")
        return self.number(int(bare)) if "," in text and bare.isdecimal() else text

    @cached_property
    def notes(self) -> list[tuple[re.Pattern[str], str]]:
        """The patterns of notes, the longest first: it is the most specific."""
        found = [
            (str(message.id), str(message.string)) for message in self.messages if message.context == NOTE
        ]
        return [
            (
                re.compile(PLACE.sub(r"(?P<\1>.+?)", re.sub(r"[^\w\s{}]", r"\\\g<0>", source)), re.DOTALL),
                target,
            )
            for source, target in sorted(found, key=lambda pair: (-len(pair[0]), pair[0]))
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
