"""Words and figures of the drawings: text of a log is made fit for one line, instants and numbers are the report's."""

from __future__ import annotations

import unicodedata
from datetime import timedelta
from itertools import accumulate
from typing import TYPE_CHECKING

from forensics.report.charts.view import EPOCH
from forensics.report.prose import to_second

if TYPE_CHECKING:
    from forensics.report.charts.view import View


def clean(text: str, width: int) -> str:
    """Make log text fit for one line of a drawing: no control, format or bidi characters, at most `width` cells."""
    line = _one_line(text)
    return line if _fitting(line, width) == len(line) else line[: _fitting(line, width - 1)].rstrip() + "…"


def shorten(text: str, width: int) -> str:
    """As `clean`, but a name that is too long loses its middle: names differ at their ends."""
    line = _one_line(text)
    if _fitting(line, width) == len(line):
        return line
    tail = width // 2
    return clean(f"{clean(line, width - tail)}{line[-tail:]}", width)


def _one_line(text: str) -> str:
    """Put text on one line; a character that is no mark of its own becomes a blank."""
    return " ".join("".join(" " if unicodedata.category(c)[0] in "CZ" else c for c in text).split())


def _fitting(text: str, width: int) -> int:
    """Count the characters at the start of a text that fit into `width` cells; looks no further, since a line may be long."""
    widths = accumulate(cells(character) for character in text)
    return next((count for count, taken in enumerate(widths) if taken > width), len(text))


def cells(text: str) -> int:
    """Estimate the width of a text in narrow characters, without asking a font that another host lacks."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def text_px(text: str) -> float:
    """Estimate the width of a label in pixels, on the generous side."""
    return cells(text) * 6.2 + 4


def clock(ms: int, other: int | None = None) -> str:
    """Show a place on the axis as local time, to the second as the report does; without its date where `other` lies on the same day."""
    at = to_second(EPOCH + timedelta(milliseconds=ms))
    same = other is not None and to_second(EPOCH + timedelta(milliseconds=other)).date() == at.date()
    return f"{at:%H:%M:%S}" if same else f"{at:%Y-%m-%d %H:%M:%S}"


def zone_name(view: View) -> str:
    """Name the zone and its numeric offset."""
    minutes = int(view.offset.total_seconds() // 60)
    offset = f"UTC{'−' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"  # noqa: RUF001 - a minus sign
    name = clean(view.zone, 40)
    return f"{view.words['local']}, {name} ({offset})" if name else f"{view.words['local']}, {offset}"


def lasting(seconds: float) -> str:
    """Show a duration by its two largest units: 9 min 2 s."""
    left, parts = round(seconds), []
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1)):
        if left >= size:
            parts.append(f"{left // size} {unit}")
        left %= size
    return " ".join(parts[:2]) or "0 s"


def figure(value: float, view: View) -> str:
    """Show a number without an exponent and without needless zeros."""
    return view.language.number(round(value, 2))


def and_more(view: View, cut: int) -> str:
    """Count what a lane had no room for: it is never left out in silence."""
    return f" (+{cut} {view.words['not_drawn']})" if cut > 0 else ""


def kind_name(family: str, view: View) -> str:
    """Show a family's slug as words."""
    return view.language.text(family.replace("_", " "), "family")
