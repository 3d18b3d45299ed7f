"""Bands that several charts have, and their axes of time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from forensics.report.charts.shapes import Axis, Lane, Marks
from forensics.report.charts.theme import MOST_ROWS, MOST_TICKS, ON_BAR, PLOT, ROW_PX
from forensics.report.charts.view import DAY_MS, DAY_S, MINUTE_S, step_s
from forensics.report.charts.wording import and_more, text_px

if TYPE_CHECKING:
    from forensics.report.charts.view import Row, Span, View

MOST_SERIES: Final = 3
CELL_PX: Final = 6.2
"""Width of a character of a label, on the generous side."""


def haloed(name: str, mark: Row, texts: list[Row], view: View, opacity: float = 0.8) -> list[Marks]:
    """Write text over a halo of paper, so that lines may pass behind it."""
    if not texts:
        return []
    paper, ink = view.colours["paper"], view.colours["ink"]
    text = {"type": "text", "fontSize": 11} | mark
    halo = text | {"color": paper, "stroke": paper, "strokeWidth": 3, "opacity": opacity}
    return [Marks(f"{name}_halo", halo, texts), Marks(name, text | {"color": ink}, texts)]


def bar_lane(name: str, title: str, bars: list[tuple[str, Span, str, str]], view: View) -> Lane:
    """Draw stretches of time as (row, span, label, colour); the label stands in its bar, or beside it where nothing else does."""
    named = tuple(dict.fromkeys(row for row, *_ in bars))
    rows, title = named[:MOST_ROWS], (title + and_more(view, len(named) - MOST_ROWS)).strip()
    boxes: list[Row] = []
    texts: dict[str, list[Row]] = {"center": [], "left": [], "right": []}
    taken: dict[str, list[tuple[float, float]]] = {}
    for row, span, label, colour in (bar for bar in bars if bar[0] in rows):
        boxes.append({"at": span.at, "until": span.until, "row": row, "color": colour})
        left, right, wide = view.px(span.at), view.px(span.until), text_px(label)
        text = {"row": row, "text": label, "color": view.colours["ink"]}
        if not label:
            continue
        others = [
            *(
                (view.px(other.at), view.px(other.until))
                for name, other, *_ in bars
                if name == row and other is not span
            ),
            *taken.get(row, []),
        ]
        after = min([PLOT, *(start for start, _ in others if start >= left)])
        before = max([0.0, *(end for _, end in others if end <= right)])
        if right - left >= wide:
            texts["center"].append(text | {"at": (span.at + span.until) // 2, "color": ON_BAR})
        elif right + wide <= after:
            texts["left"].append(text | {"at": span.until})
            taken.setdefault(row, []).append((right, right + wide))
        elif left - wide >= before:
            texts["right"].append(text | {"at": span.at})
            taken.setdefault(row, []).append((left - wide, left))
    mark = {"type": "bar", "height": 13, "stroke": view.colours["ink"], "strokeWidth": 0.7}
    marks = [Marks("bars", mark, boxes)]
    shift = {"center": 0, "left": 5, "right": -5}
    for align, values in texts.items():
        if values:
            mark = {"type": "text", "align": align, "dx": shift[align], "fontSize": 11, "baseline": "middle"}
            marks.append(Marks(f"labels_{align}", mark, values))
    return Lane(name, title, ROW_PX * len(rows), marks, rows=rows)


def first_series(lanes: list[Lane], view: View) -> list[Lane]:
    """Keep the first series; the last one kept counts the others."""
    kept = lanes[:MOST_SERIES]
    if kept:
        kept[-1] = replace(kept[-1], title=kept[-1].title + and_more(view, len(lanes) - MOST_SERIES))
    return kept


def clock_axis(view: View, *, labelled: bool) -> Axis:
    """Rule a lane at round local times, but for one whose label would reach over the edge."""
    seconds = step_s(view, MOST_TICKS)
    step = seconds * 1000
    if seconds >= DAY_S:
        pattern, wide = "%Y-%m-%d", 10
    elif view.lo // DAY_MS != view.hi // DAY_MS:
        pattern, wide = "%m-%d %H:%M", 11
    else:
        pattern, wide = ("%H:%M:%S", 8) if seconds < MINUTE_S else ("%H:%M", 5)
    edge = PLOT - wide * CELL_PX / 2
    ticks = range(-(-view.lo // step) * step, view.hi + 1, step)
    return Axis(tuple(at for at in ticks if view.px(at) <= edge), pattern, labelled=labelled)
