"""Words: what findings, verdicts, timeline rows and actions say, from the catalogue of a language."""

from __future__ import annotations

import datetime as dt
import tomllib
from functools import cache
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from jinja2 import Environment, StrictUndefined

from forensics.model import texts
from forensics.report import prose
from forensics.report.language import speak

if TYPE_CHECKING:
    from jinja2 import Template

    from forensics.report.language import Language

HALF = 500_000
"""Microseconds added before an instant is cut to the second, which rounds it."""


def moment(us: int, zone: ZoneInfo) -> dt.datetime:
    """Return an instant in a zone."""
    return dt.datetime.fromtimestamp(us // 1_000_000, zone).replace(microsecond=us % 1_000_000)


def iso(us: int | None, zone: ZoneInfo) -> str | None:
    """Return an instant as ISO 8601 with offset, with milliseconds where it has a fraction."""
    if us is None:
        return None
    return moment(us, zone).isoformat(timespec="milliseconds" if us % 1_000_000 else "seconds")


class Statements:
    """One language's catalogue, ready to speak about instants of one zone."""

    def __init__(self, language: str, zone: str) -> None:
        self.zone = ZoneInfo(zone)
        self.language = speak(language)
        self.environment = Environment(autoescape=False, undefined=StrictUndefined)  # noqa: S701 - plain text; the renderer escapes it
        self.environment.filters.update(
            at=self.at,
            clock=self.clock,
            till=self.till,
            between=self.between,
            span=self.span,
            secs=self.secs,
            num=self.number,
            count=self.count,
            form=self.language.form,
            tr=self.language.text,
            note=self.language.note,
        )
        self.table = catalogue(self.language.tag)
        self.compiled: dict[str, Template] = {}

    def at(self, us: int) -> str:
        """Show an instant with date and offset, to the second."""
        return prose.instant(moment(us + HALF, self.zone).isoformat(timespec="seconds"))

    def clock(self, us: int) -> str:
        """Show the time of day of an instant."""
        return f"{moment(us + HALF, self.zone):%H:%M:%S}"

    def till(self, us: int, start: int) -> str:
        """Show the end of a span: its time of day, with date and offset where these are not those of the start."""
        shown, begun = self.at(us), self.at(start)
        return self.clock(us) if (shown[:10], shown[-6:]) == (begun[:10], begun[-6:]) else shown

    def secs(self, value: float, *, inside: bool = False) -> str:
        """Show a duration, rounded to the second; ``inside`` brackets without brackets of its own."""
        return prose.duration(round(value), self.language, inside=inside)

    def between(self, edges: tuple[int, int], *, inside: bool = False) -> str:
        """Show the time between two instants as shown to the second, so that it equals their difference on the page."""
        return self.secs((edges[1] + HALF) // 1_000_000 - (edges[0] + HALF) // 1_000_000, inside=inside)

    def span(self, edges: tuple[float, float]) -> str:
        """Show an interval of durations in one unit: ``6 to 10 min``."""
        return span(edges, self.language)

    def number(self, value: float | str) -> str:
        """Show a number without a needless fraction: two digits of it below ten, one below a hundred."""
        size = abs(float(value))
        digits = 2 if size < 10 else 1 if size < 100 else 0
        return prose.number(round(float(value), digits), self.language)

    def count(self, edges: tuple[int, int | None]) -> str:
        """Show a count that is known between two numbers, the second None where it has no upper bound of its own: ``26 to 27``."""
        return prose.count(*edges, language=self.language)

    def opens_with_words(self, key: str) -> bool:
        """Tell whether a statement begins with a word of its own, not with a name or a number that it is given."""
        section, _, name = key.rpartition(".")
        return str(self.table[section][name])[:1].isalpha()

    def say(self, key: str, values: dict[str, Any]) -> str:
        """Return one statement as plain text."""
        if key not in self.compiled:
            section, _, name = key.rpartition(".")
            self.compiled[key] = self.environment.from_string(self.table[section][name])
        return " ".join(self.compiled[key].render(values).split())


def span(edges: tuple[float, float], language: Language = prose.ENGLISH) -> str:
    """Show an interval of durations in one unit: ``6 to 10 min``."""
    edges = (round(edges[0]), round(edges[1]))
    unit, size = ("min", 60) if edges[0] >= 120 and not any(edge % 60 for edge in edges) else ("s", 1)
    return f"{prose.interval(edges[0] / size, edges[1] / size, language)} {language.unit(unit)}"


@cache
def catalogue(language: str) -> dict[str, Any]:
    """Load the statements of a language."""
    path = texts.root() / "statements" / f"{language}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))
