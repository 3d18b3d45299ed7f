"""What a chart is made of: bands of plain values that know nothing of altair, and the words for those who do not see them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from forensics.report.charts.view import Document, Row, View


@dataclass(frozen=True)
class Marks:
    """Values drawn in one way. Their keys are the channels: at, until, row, value, base, text, color, shape, angle."""

    name: str
    mark: Row
    """A Vega-Lite mark definition."""
    values: list[Row]


@dataclass(frozen=True)
class Lane:
    """One band of the drawing, with rows or with a scale from 0 to `top`."""

    name: str
    title: str
    height: int
    marks: list[Marks]
    rows: tuple[str, ...] = ()
    top: float = 1
    ticks: tuple[float, ...] = ()


@dataclass(frozen=True)
class Axis:
    """Where a band is ruled, in milliseconds of local time, and how the last band of a panel names these places."""

    ticks: tuple[int, ...]
    pattern: str
    """How a tick is written, in the notation of d3-time-format."""
    labelled: bool = True
    grid: bool = True


@dataclass(frozen=True)
class Band:
    """A lane with the window that it shows; the window's incidents are shaded in it."""

    lane: Lane
    view: View
    axis: Axis


@dataclass(frozen=True)
class Drawing:
    """A planned chart."""

    headline: str
    notes: str
    """Second line: the zone, and what shading and hatching mean."""
    bands: list[Band]
    said: str
    """What one sees, in words: the figures of every band."""


@dataclass(frozen=True, slots=True)
class Chart:
    """One kind of chart; a module of this package, found by its ``PLUG``."""

    name: str
    """The module's name; the file is called ``REPORT-NAME.svg``, and the words of the catalogue have its title."""
    section: str
    """Slug of the section of the report that it belongs to."""
    plan: Callable[[Document, str], Drawing | None]
    """Draws a report document in a theme; None where it asks an empty question."""
