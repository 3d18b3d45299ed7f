"""Write instants, durations and counts the one way in which every table of the report shows them.

    ``2026-09-09T09:42:26.412000-03:00``  ->  ``2026-09-09 09:42:26.412 -03:00``

Instants look alike in every language, so that they can be copied; numbers and units are those of the language.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from forensics.report.language import speak

if TYPE_CHECKING:
    from forensics.report.language import Language

UNITS = (("d", 86_400), ("h", 3_600), ("min", 60))
OPEN = "\N{GREATER-THAN OR EQUAL TO} "
"""Stands before a number that is a lower bound."""
ENGLISH = speak("en")
SLACK = 12
"""Characters: the notice of a cut is about as long as this."""


def instant(value: str, *, fraction: bool = True) -> str:
    """Show an ISO 8601 instant with date, seconds and numeric offset, in the zone in which it is given.

    A fraction is shown where there is one, unless `fraction` is false. A text that is no instant is
    returned as it is: the reader then sees what was stated.
    """
    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        return value
    if not fraction:
        at = to_second(at)
    clock = f"{at:%Y-%m-%d %H:%M:%S}"
    if fraction and at.microsecond:
        clock += f".{at.microsecond:06d}".rstrip("0")
    return f"{clock} {at.isoformat()[-6:]}" if at.utcoffset() is not None else clock


def to_second(at: datetime) -> datetime:
    """Round an instant to the second; half a second rounds up."""
    return (at + timedelta(microseconds=500_000)).replace(microsecond=0)


def elapsed(start: str | None, end: str | None) -> float | None:
    """Return the seconds from `start` to `end` as the page shows both, or None where one of them is unknown.

    Instants are shown to the second, so that the difference of what is shown is what the page states.
    """
    if start is None or end is None:
        return None
    try:
        first, last = (to_second(datetime.fromisoformat(text)) for text in (start, end))
        return (last - first).total_seconds()
    except (ValueError, TypeError):
        return None


def duration(seconds: float, language: Language = ENGLISH, *, inside: bool = False) -> str:
    """Show seconds exactly, and from one minute on also in larger units: ``542 s (9 min 2 s)``.

    A duration that stands ``inside`` brackets opens none of its own: ``542 s = 9 min 2 s``.
    """
    exact = f"{number(seconds, language)} {language.unit('s')}"
    if abs(seconds) < 60:
        return exact
    rest, parts = round(abs(seconds), 6), []
    for name, size in UNITS:
        whole, rest = divmod(rest, size)
        if whole:
            parts.append(f"{number(whole, language)} {language.unit(name)}")
    rest = round(rest, 6)
    if rest:
        parts.append(f"{number(rest, language)} {language.unit('s')}")
    larger = f"{'-' if seconds < 0 else ''}{' '.join(parts)}"
    return f"{exact} = {larger}" if inside else f"{exact} ({larger})"


def number(value: float, language: Language = ENGLISH) -> str:
    """Show a number without a needless fraction: ``300``, ``88.1``."""
    return language.number(value)


def count(least: int, most: int | None = None, *, bound: str = "exact", language: Language = ENGLISH) -> str:
    """Show a count with its bounds: ``66``, ``≥ 66`` (a lower bound) or ``26 to 27`` (a range)."""
    if bound != "exact" and (most is None or most <= least):
        return f"{OPEN}{number(least, language)}"
    if most is not None and most > least:
        return interval(least, most, language)
    return number(least, language)


def interval(least: float, most: float, language: Language = ENGLISH) -> str:
    """Show the two ends of a range: ``26 to 27``."""
    said = language.text("{least} to {most}")
    return said.format(least=number(least, language), most=number(most, language))


def clip(text: str, most: int) -> tuple[str, int]:
    """Return the first `most` characters of `text`, and how many were left off.

    The cut is made at a space where one is near; a few characters too many are not worth a cut.
    """
    if len(text) <= most + SLACK:
        return text, 0
    space = text.rfind(" ", most - SLACK, most)
    head = text[: space if space > 0 else most].rstrip()
    return head, len(text) - len(head)


def bars(rows: list[tuple[str, int]], width: int = 40) -> list[str]:
    """Draw a bar chart in text, the longest bar `width` wide, each bar beside its number.

    A count above zero never has an empty bar.
    """
    top = max((n for _, n in rows), default=0)
    wide = max((len(label) for label, _ in rows), default=0)
    digits = max((len(str(n)) for _, n in rows), default=0)
    scale = min(1.0, width / top) if top else 0.0
    return [
        f"{label:<{wide}} {n:>{digits}} {'#' * max(round(n * scale), int(n > 0))}".rstrip()
        for label, n in rows
    ]
