"""The report in pictures, drawn from a report document and from nothing else.

Two steps. *Planning* turns ``report.json`` into bands of plain values and knows nothing of drawing (one module for each kind of
chart, found by its ``PLUG``); *drawing* hands these to altair and vl-convert. The same document gives the same bytes on every
machine.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING, Any

from forensics.model.plug import discover
from forensics.report.charts import drawing
from forensics.report.charts.shapes import Chart
from forensics.report.charts.view import spoken, vocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from forensics.report.charts.shapes import Drawing

Document = dict[str, Any]

SECTIONS = ("timeline", "alert", "recurrence")
"""Sections that have charts, in the order of the report."""


@cache
def charts() -> Mapping[str, Chart]:
    """Return all kinds of charts by name, in the order of the report; a section's namesake is its first."""
    found = discover(sys.modules[__name__], Chart).values()
    ranked = sorted(found, key=lambda one: (SECTIONS.index(one.section), one.name != one.section, one.name))
    return {one.name: one for one in ranked}


def planned(document: Document, name: str, theme: str = "light") -> Drawing | None:
    """Plan a chart; None where the document has nothing for it."""
    return charts()[name].plan(document, theme)


def svg(document: Document, name: str, *, theme: str = "light") -> str | None:
    """Draw a chart as SVG, 800 pixels wide; None where there is nothing to draw. `theme` is "light" or "dark"."""
    plan = planned(document, name, theme)
    return None if plan is None else drawing.svg(plan, title(document, name), name, theme)


def png(document: Document, name: str, *, theme: str = "light", scale: float = 2) -> bytes | None:
    """Draw a chart as PNG, `scale` pixels to a unit; None where there is nothing to draw."""
    drawn = svg(document, name, theme=theme)
    return None if drawn is None else raster(document, name, drawn, scale=scale)


def raster(document: Document, name: str, drawn: str, *, scale: float = 2) -> bytes:
    """Turn a chart that is drawn already into PNG: drawing takes longer than this."""
    return drawing.png(drawn, title(document, name), alt(document, name) or "", scale)


def alt(document: Document, name: str) -> str | None:
    """Say in words what a chart shows; None where there is nothing to draw."""
    plan = planned(document, name)
    return None if plan is None else plan.said


def title(document: Document, name: str) -> str:
    """Name a kind of chart in the report's language."""
    return vocabulary(spoken(document))[name]


def of_section(name: str) -> str:
    """Return the section in which an attached file is named: by the end of its name, the timeline's if it has none of ours."""
    stem = name.rpartition(".")[0]
    return next(
        (one.section for one in charts().values() if stem == one.name or stem.endswith(f"-{one.name}")),
        SECTIONS[0],
    )
