"""The incident at a glance: one SVG timeline drawn from a report document.

Two steps. *Planning* turns ``report.json`` into lanes of plain values and knows nothing of drawing; *drawing* hands
these to altair and vl-convert. The same document gives the same bytes on every machine:

- instants are shifted to the offset of the case's zone and drawn on a UTC scale, since the time axes of vl-convert
  follow the zone of the machine;
- the font is the one that vl-convert carries, and no extent of the drawing depends on the width of a text;
- generated ids are renumbered, since they count on through the life of a process.

Colours are those of Okabe and Ito (https://jfly.uni-koeln.de/color/); rows and shapes tell apart what colours do.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from forensics.model.texts import ENGLISH
from forensics.report.language import speak
from forensics.report.statements import catalogue

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import altair as alt

    from forensics.report.language import Language

Document = dict[str, Any]
Row = dict[str, Any]

FONT: Final = "Liberation Sans, Arial, Helvetica, sans-serif"
"""Bundled with vl-convert; the next two have its metrics and serve a reader's browser."""
WIDTH: Final = 800
LEFT: Final = 124
PADDING: Final = 12
PLOT: Final = WIDTH - LEFT - 2 * PADDING - 2
INSET: Final = 8
"""Pixels kept free at both ends of the time axis, so that no symbol is cut in half."""
MARGIN: Final = 0.25
"""Share of the incident that is shown before and after it."""
LEAST_MARGIN_MS: Final = 180_000
"""A short incident still needs a healthy probe or sample beside it."""
MOST_BARS: Final = 60
MOST_TICKS: Final = 8
MOST_FAILURE_LANES: Final = 4
MOST_SERIES: Final = 3
MOST_DOTS: Final = 80
"""Samples beyond these are drawn as a line without dots."""
MOST_ROWS: Final = 8
MOST_LABEL_ROWS: Final = 6
MOST_CELLS: Final = 20
"""Characters of a row's name that fit into the margin."""
MOST_TITLE_CELLS: Final = 94
ROW_PX: Final = 19
DOT_PX: Final = 6
CLEAR_PX: Final = 50
HEADROOM: Final = 1.4
"""A figure stands above the highest sample."""
FAR_LIMIT: Final = 10
"""A limit more than this many times the peak would press the line flat: it is named, not drawn."""
MINUTE_S, HOUR_S, DAY_S = 60, 3600, 86400
STEPS_S: Final = (
    *(1, 2, 5, 10, 15, 20, 30),
    *(n * MINUTE_S for n in (1, 2, 5, 10, 15, 30)),
    *(n * HOUR_S for n in (1, 2, 3, 6, 12)),
    *(n * DAY_S for n in (1, 2, 7, 14, 30)),
)
"""Round steps, so that buckets and ticks fall on round local times."""
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

ORANGE, SKY, GREEN = "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE, GREY = "#0072B2", "#D55E00", "#CC79A7", "#999999"
ON_BAR: Final = "#111111"
THEMES: Final = {
    "light": {"paper": "#ffffff", "ink": "#1f2328", "muted": "#57606a", "grid": "#e3e6ea", "answered": BLUE},
    "dark": {"paper": "#0d1117", "ink": "#e6edf3", "muted": "#9da7b3", "grid": "#2b323b", "answered": SKY},
}
PROBE_STATES: Final = {
    "answered": ("circle", 0),
    "late": ("triangle-up", 0),
    "missed": ("cross", 45),
    "failed": ("square", 0),
}
EVENT_SHAPES: Final = {
    "alert": "triangle-up",
    "detected": "triangle-up",
    "restart": "square",
    "kill": "cross",
    "stop": "square",
    "start": "triangle-right",
    "deploy": "diamond",
    "mitigated": "triangle-down",
    "acknowledged": "triangle-down",
    "note": "circle",
}
"""Kinds of timeline items that are drawn as events, the weightiest first: they get a label where room is short."""
KINDS_BY_WEIGHT: Final = tuple(EVENT_SHAPES)


@dataclass(frozen=True)
class Span:
    """A stretch of time on the axis, clipped to the window."""

    at: int
    """Milliseconds of local time, counted as if it were UTC."""
    until: int
    name: str = ""
    ongoing: bool = False
    exact: bool = True
    """False where the start is "no later than"."""


@dataclass(frozen=True)
class View:
    """What all lanes share: the window, the zone, the language and the colours."""

    lo: int
    hi: int
    offset: timedelta
    zone: str
    language: Language
    theme: str = "light"
    incidents: tuple[Span, ...] = ()

    @property
    def words(self) -> Mapping[str, str]:
        """The words of the language."""
        return _words(self.language)

    @property
    def colours(self) -> dict[str, str]:
        """The colours of the theme."""
        return THEMES[self.theme]

    def ms(self, instant: str) -> int:
        """Place an ISO 8601 instant on the axis."""
        return _ms(datetime.fromisoformat(instant), self.offset)

    def px(self, at: int) -> float:
        """Distance from the left edge of the plot."""
        return INSET + (at - self.lo) * (PLOT - 2 * INSET) / (self.hi - self.lo)

    def span(self, start: str, end: str | None) -> Span | None:
        """Clip a stretch to the window; None where it lies outside. No end: it lasts until the input ends."""
        at, until = self.ms(start), self.hi if end is None else self.ms(end)
        if until < self.lo or at >= self.hi:
            return None
        return Span(max(at, self.lo), min(until, self.hi))

    def holds(self, at: int) -> bool:
        """Whether an instant lies in the window."""
        return self.lo <= at <= self.hi


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


def timeline_svg(document: Document, *, theme: str = "light") -> str | None:
    """Draw the timeline of a report document as SVG; None where there is nothing to draw.

    The window is the primary incident and a quarter of it on either side, or the window of the case where there is no
    incident. Lanes without data are left out. `theme` is "light" or "dark".
    """
    view = _view(document, theme)
    lanes = [] if view is None else _lanes(document, view)
    if view is None or not lanes:
        return None
    return _finish(_render(lanes, document, view), document, theme)


def timeline_png(document: Document, *, theme: str = "light", scale: float = 2) -> bytes | None:
    """Draw the timeline as PNG, `scale` pixels to a unit; None where there is nothing to draw."""
    svg = timeline_svg(document, theme=theme)
    if svg is None:
        return None
    import vl_convert  # noqa: PLC0415 - costs a tenth of a second that other commands need not pay

    return bytes(vl_convert.svg_to_png(svg, scale=scale))


def timeline_alt(document: Document) -> str:
    """Say in words what the timeline shows: the window, and each lane's figures."""
    view = _view(document, "light")
    lanes = [] if view is None else _lanes(document, view)
    if view is None or not lanes:
        return _words(_language(document))["nothing"]
    shown = f"{view.words['shown']}: {_clock(view.lo)} {view.words['to']} {_clock(view.hi, view.lo)}"
    parts = [_headline(document, view), _zone(view)] + ([shown] if _primary(document) else [])
    parts += [*_say_failures(document, view), *_say_probes(document, view), *_say_spans(document, view)]
    parts += [*_say_samples(document, view), *_say_events(document, view)]
    return ". ".join(parts) + "."


# Where and when


def _language(document: Document) -> Language:
    """Return the case's language; English for one we do not speak."""
    return speak(document["case"].get("language") or ENGLISH)


def _words(language: Language) -> Mapping[str, str]:
    """Look up the words of a language."""
    words: dict[str, str] = catalogue(language.tag)["chart"]
    return words


def _ms(instant: datetime, offset: timedelta) -> int:
    """Milliseconds since 1970 on a clock that shows local time."""
    return (instant - EPOCH + offset) // timedelta(milliseconds=1)


def _primary(document: Document) -> Row | None:
    """Choose the incident that the chart is about."""
    incidents: list[Row] = document.get("incidents") or []
    return next((one for one in incidents if one.get("primary")), incidents[0] if incidents else None)


def _view(document: Document, theme: str) -> View | None:
    """Choose the window and its zone; None where neither an incident nor the case gives one."""
    incident, window = _primary(document), document["case"].get("window") or [None, None]
    start, end = (incident["start"], incident["end"]) if incident else window
    ongoing = bool(incident and incident["ongoing"])
    if ongoing:
        end = window[1] or end
    if not start or (not end and not incident):
        return None
    offset = datetime.fromisoformat(start).utcoffset() or timedelta()
    lo, hi = (_ms(datetime.fromisoformat(at), offset) for at in (start, end or start))
    if incident:
        margin = max(int((hi - lo) * MARGIN), LEAST_MARGIN_MS)
        lo, hi = lo - margin, hi if ongoing and hi > lo else hi + margin
    if hi <= lo:
        return None
    zone = document["case"].get("timezone") or ""
    bare = View(lo, hi, offset, zone, _language(document), theme)
    spans = tuple(_incident_spans(document, bare))
    return replace(bare, incidents=spans)


def _incident_spans(document: Document, view: View) -> Iterable[Span]:
    """Clip every incident to the window."""
    for one in document.get("incidents") or []:
        span = view.span(one["start"], None if one["ongoing"] else one["end"] or one["start"])
        if span:
            exact = one.get("start_bound") != "no_later_than"
            yield Span(span.at, span.until, one.get("id") or "", bool(one["ongoing"]), exact)


def _step_s(view: View, most: int, least_s: float = 0) -> int:
    """Choose the smallest round step that cuts the window into at most `most` pieces."""
    wanted = max((view.hi - view.lo) / 1000 / most, least_s)
    return next((step for step in STEPS_S if step >= wanted), int(-(-wanted // 86400)) * 86400)


# Text


def _clean(text: str, width: int) -> str:
    """Make log text fit for one line of a drawing: no control, format or bidi characters, at most `width` cells."""
    text = " ".join("".join(" " if unicodedata.category(c)[0] in "CZ" else c for c in text).split())
    if _cells(text) <= width:
        return text
    while _cells(text) >= width:
        text = text[:-1]
    return text.rstrip() + "…"


def _cells(text: str) -> int:
    """Estimate the width of a text in narrow characters, without asking a font that another host lacks."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _text_px(text: str) -> float:
    """Estimate the width of a label in pixels, on the generous side."""
    return _cells(text) * 6.2 + 4


def _clock(ms: int, other: int | None = None) -> str:
    """Show a place on the axis as local time; the date is left out where `other` lies on the same day."""
    at = EPOCH + timedelta(milliseconds=ms)
    same = other is not None and (EPOCH + timedelta(milliseconds=other)).date() == at.date()
    return f"{at:%H:%M:%S}" if same else f"{at:%Y-%m-%d %H:%M:%S}"


def _zone(view: View) -> str:
    """Name the zone and its numeric offset."""
    minutes = int(view.offset.total_seconds() // 60)
    offset = f"UTC{'−' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"  # noqa: RUF001 - a minus sign
    name = _clean(view.zone, 40)
    return f"{view.words['local']}, {name} ({offset})" if name else f"{view.words['local']}, {offset}"


def _lasting(seconds: float) -> str:
    """Show a duration by its two largest units: 9 min 2 s."""
    left, parts = round(seconds), []
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1)):
        if left >= size:
            parts.append(f"{left // size} {unit}")
        left %= size
    return " ".join(parts[:2]) or "0 s"


def _number(value: float, view: View) -> str:
    """Show a number without an exponent and without needless zeros."""
    return view.language.number(round(value, 2))


def _more(view: View, cut: int) -> str:
    """Count what a lane had no room for: it is never left out in silence."""
    return f" (+{cut} {view.words['not_drawn']})" if cut > 0 else ""


def _kind(family: str, view: View) -> str:
    """Show a family's slug as words."""
    return view.language.text(family.replace("_", " "), "family")


def _headline(document: Document, view: View) -> str:
    """Say which incident this is, from when to when."""
    incident, say = _primary(document), view.words
    if not incident:
        return f"{say['quiet']}, {_clock(view.lo)} {say['to']} {_clock(view.hi, view.lo)}"
    start = view.ms(incident["start"])
    bound = f" {say['earlier']}" if incident.get("start_bound") == "no_later_than" else ""
    when = f"{_clock(start)}{bound}"
    if incident["ongoing"]:
        when = f"{say['since']} {when}, {say['ongoing']}"
    else:
        end = view.ms(incident["end"] or incident["start"])
        when += f" {say['to']} {_clock(end, start)} ({_lasting((end - start) / 1000)})"
    said = f"{say['incident']} {when}"
    services = _clean(", ".join(incident.get("services") or []), MOST_TITLE_CELLS - len(said))
    return f"{said}: {services}" if services else said


# The lanes, top to bottom


def _lanes(document: Document, view: View) -> list[Lane]:
    """Plan every lane that has data; none where there is only a window."""
    chart = document.get("chart") or {}
    evidence = [
        *_failure_lanes(chart, view),
        *_probe_lanes(document, view),
        *_quiet_lane(document, view),
        *_sample_lanes(chart, view),
    ]
    if not evidence and not view.incidents:
        return []
    rest = [*evidence, *_blind_lane(document, view), *_event_lane(document, view)]
    return [*_incident_lane(view), *rest] if rest else []


def _incident_lane(view: View) -> list[Lane]:
    """Draw incidents as bars, named where there are several; one that is ongoing ends in an arrow."""
    several = len(view.incidents) > 1
    bars, arrows = [], []
    for span in view.incidents:
        row = _clean(
            f"{view.words['incident']} {span.name}" if several else view.words["incident"], MOST_CELLS
        )
        lasted = view.words["ongoing"] if span.ongoing else _lasting((span.until - span.at) / 1000)
        bars.append((row, span, lasted, ORANGE))
        arrows += [{"at": span.until, "row": row}] if span.ongoing else []
    if not bars:
        return []
    lane = _bar_lane("incidents", "", bars, view)
    if arrows:
        mark = {"type": "point", "shape": "triangle-right", "size": 110, "filled": True, "xOffset": -9}
        lane.marks.append(Marks("ongoing", mark | {"color": ON_BAR, "opacity": 1}, arrows))
    return [lane]


def _buckets(chart: Row, view: View) -> tuple[dict[tuple[str, str], dict[int, int]], int]:
    """Count failures per service and family in round buckets; also the bucket's milliseconds."""
    step = _step_s(view, MOST_BARS, chart.get("bucket_s") or 0) * 1000
    counts: dict[tuple[str, str], dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for one in chart.get("failures") or []:
        at = view.ms(one["at"])
        if one["count"] and view.holds(at):
            counts[one["service"] or "", one["family"]][at // step * step] += one["count"]
    return counts, step


def _failure_lanes(chart: Row, view: View) -> list[Lane]:
    """Draw failures as bars, a lane per service and family; the rarest share one."""
    counts, step = _buckets(chart, view)
    ranked = sorted(counts, key=lambda key: (-sum(counts[key].values()), key))
    named = ranked if len(ranked) <= MOST_FAILURE_LANES else ranked[: MOST_FAILURE_LANES - 1]
    lanes = [
        _failure_lane(n, f"{key[0]} {_kind(key[1], view)}", counts[key], step, view)
        for n, key in enumerate(named)
    ]
    rest: dict[int, int] = defaultdict(int)
    for key in ranked[len(named) :]:
        for at, count in counts[key].items():
            rest[at] += count
    if rest:
        label = f"{view.words['other']} ({len(ranked) - len(named)})"
        lanes.append(_failure_lane(len(named), label, rest, step, view))
    return lanes


def _failure_lane(number: int, label: str, counts: dict[int, int], step: int, view: View) -> Lane:
    """Draw one kind of failure."""
    bars = [
        {"at": max(at, view.lo), "until": min(at + step, view.hi), "value": counts[at], "base": 0}
        for at in sorted(counts)
    ]
    top = max(counts.values())
    total = f"{sum(counts.values())}, {view.words['per']} {_lasting(step / 1000)}"
    title = f"{view.words['failure_lane']}: {_clean(label, 60)} ({total})"
    mark = {"type": "rect", "color": VERMILION, "stroke": view.colours["paper"], "strokeWidth": 0.6}
    return Lane(f"failures_{number}", title, 46, [Marks("bars", mark, bars)], top=top, ticks=(0, top))


def _probe_rows(chart: Row, view: View) -> dict[str, dict[str, list[Row]]]:
    """Sort the probes of the window by series and state."""
    rows: dict[str, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for one in chart.get("probes") or []:
        due = view.ms(one["due"])
        at = due if one["answered"] is None else view.ms(one["answered"])
        if view.holds(due) or (one["state"] == "late" and due < view.hi and at > view.lo):
            rows[one.get("series") or ""][one["state"]].append({"due": due, "at": at})
    return rows


def _probe_lanes(document: Document, view: View) -> list[Lane]:
    """Draw probes, a row per state; a late one trails a line from when it was due."""
    series = _probe_rows(document.get("chart") or {}, view)
    lanes = [_probe_lane(n, name, series[name], document, view) for n, name in enumerate(sorted(series))]
    return _first(lanes, view)


def _first(lanes: list[Lane], view: View) -> list[Lane]:
    """Keep the first series; the last one kept counts the others."""
    kept = lanes[:MOST_SERIES]
    if kept:
        kept[-1] = replace(kept[-1], title=kept[-1].title + _more(view, len(lanes) - MOST_SERIES))
    return kept


def _probe_title(name: str, document: Document, view: View) -> str:
    """Name a series and its period, where the report tells them."""
    known = document.get("probes") or []
    told = next(
        (one for one in known if one["series"] == name), known[0] if len(known) == 1 and not name else None
    )
    title = view.words["probes"]
    if name or told:
        title += f": {_clean(name or (told or {})['series'], 60)}"
    if told and told.get("period_s"):
        title += f", {view.words['every']} {_lasting(told['period_s'])}"
    return title


def _probe_lane(number: int, name: str, states: dict[str, list[Row]], document: Document, view: View) -> Lane:
    """Draw one series of probes."""
    colours = {"answered": view.colours["answered"], "late": ORANGE, "missed": VERMILION, "failed": PURPLE}
    rows, points, trails = [], [], []
    for state, (shape, angle) in PROBE_STATES.items():
        if not states.get(state):
            continue
        row = f"{view.words[state]} {len(states[state])}"
        rows.append(row)
        look = {"row": row, "color": colours[state], "shape": shape, "angle": angle}
        seen = _thin(states[state], view, key="due" if state == "missed" else "at")
        points += [
            look | {"at": one["due"] if state == "missed" else min(one["at"], view.hi)} for one in seen
        ]
        if state == "late":
            trails = [
                {"at": max(o["due"], view.lo), "until": min(o["at"], view.hi), "row": row} for o in seen
            ]
    marks = [Marks("trails", {"type": "rule", "color": ORANGE, "strokeWidth": 2}, trails)] if trails else []
    mark = {
        "type": "point",
        "filled": True,
        "size": 75,
        "stroke": view.colours["ink"],
        "strokeWidth": 0.7,
        "opacity": 1,
    }
    marks.append(Marks("points", mark, points))
    title = _probe_title(name, document, view)
    return Lane(f"probes_{number}", title, ROW_PX * len(rows), marks, rows=tuple(rows))


def _thin(rows: list[Row], view: View, key: str) -> list[Row]:
    """Keep the first of those whose symbols would cover each other."""
    rows = sorted(rows, key=lambda row: row[key], reverse=True)
    kept = {int(view.px(row[key]) // DOT_PX): row for row in rows}
    return [kept[place] for place in sorted(kept)]


def _bar_lane(name: str, title: str, bars: list[tuple[str, Span, str, str]], view: View) -> Lane:
    """Draw stretches of time as (row, span, label, colour); the label stands in its bar, or beside it where nothing else does."""
    named = tuple(dict.fromkeys(row for row, *_ in bars))
    rows, title = named[:MOST_ROWS], (title + _more(view, len(named) - MOST_ROWS)).strip()
    boxes: list[Row] = []
    texts: dict[str, list[Row]] = {"center": [], "left": [], "right": []}
    taken: dict[str, list[tuple[float, float]]] = {}
    for row, span, label, colour in (bar for bar in bars if bar[0] in rows):
        boxes.append({"at": span.at, "until": span.until, "row": row, "color": colour})
        left, right, wide = view.px(span.at), view.px(span.until), _text_px(label)
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


def _quiet_lane(document: Document, view: View) -> list[Lane]:
    """Draw where a service wrote nothing and where a process stood still."""
    bars = []
    for key, state, colour in (("silences", "silent", SKY), ("stalls", "stalled", PURPLE)):
        for one in sorted(document.get(key) or [], key=lambda one: (one["service"] or "", one["start"])):
            span = view.span(one["start"], one["end"])
            if span:
                row = _clean(f"{one['service'] or ''} {view.words[state]}", MOST_CELLS)
                bars.append((row, span, _lasting(_seconds(one, view)), colour))
    return [_bar_lane("quiet", view.words["quiet_lane"], bars, view)] if bars else []


def _seconds(one: Row, view: View) -> float:
    """Measure a stretch in full, also where the window cuts it."""
    end = view.hi if one["end"] is None else view.ms(one["end"])
    return (end - view.ms(one["start"])) / 1000


def _series(chart: Row, view: View) -> dict[str, list[Row]]:
    """Sort the samples of the window by series and time."""
    series: dict[str, list[Row]] = defaultdict(list)
    for one in chart.get("samples") or []:
        at = view.ms(one["at"])
        if one["value"] is not None and view.holds(at):
            series[one["series"]].append({"at": at, "value": one["value"], "limit": one["limit"]})
    return {name: sorted(series[name], key=lambda one: one["at"]) for name in sorted(series)}


def _sample_lanes(chart: Row, view: View) -> list[Lane]:
    """Draw samples as a line, a lane per series."""
    series = _series(chart, view)
    return _first([_sample_lane(n, name, series[name], view) for n, name in enumerate(series)], view)


def _extremes(rows: list[Row], view: View) -> list[Row]:
    """Keep the lowest and the highest sample of each pixel: a line through them looks like one through all."""
    pixels: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        pixels[int(view.px(row["at"]))].append({"at": row["at"], "value": row["value"]})
    ends = [(min(these, key=_value), max(these, key=_value)) for these in pixels.values()]
    unique = {row["at"]: row for pair in ends for row in pair}
    return [unique[at] for at in sorted(unique)]


def _value(row: Row) -> float:
    """Order samples by height."""
    return float(row["value"])


def _sample_lane(number: int, name: str, rows: list[Row], view: View) -> Lane:
    """Draw one series with its limit."""
    kept = _extremes(rows, view)
    peak = max(kept, key=_value)
    limit = next((row["limit"] for row in reversed(rows) if row["limit"] is not None), None)
    drawn = limit is not None and limit <= FAR_LIMIT * max(peak["value"], 0)
    top = max(peak["value"], limit if drawn and limit is not None else 0) or 1
    dots = {"filled": True, "size": 28, "color": GREEN, "opacity": 1}
    line = {"type": "line", "color": GREEN, "strokeWidth": 2 if len(kept) <= MOST_DOTS else 1}
    marks = [Marks("line", line | ({"point": dots} if len(kept) <= MOST_DOTS else {}), kept)]
    if drawn:
        mark = {"type": "rule", "color": view.colours["ink"], "strokeDash": [6, 4], "strokeWidth": 1.2}
        marks.insert(0, Marks("limit", mark, [{"value": limit}]))
    marks += _figures(rows, peak, view)
    title = _clean(f"{name}, {view.words['peak']} {_number(peak['value'], view)}", 60)
    if limit is not None:
        title += f", {view.words['limit']} {_number(limit, view)}" + (
            "" if drawn else f" ({view.words['off_scale']})"
        )
    return Lane(f"samples_{number}", title, 64, marks, top=top * HEADROOM, ticks=(0, top))


def _around(rows: list[Row], peak: Row, view: View) -> tuple[Row, Row]:
    """Return the last sample before the incident of the peak and the first after it; without one, first and last."""
    span = next(
        (span for span in view.incidents if span.at <= peak["at"] <= span.until), Span(view.lo, view.hi)
    )
    before = [row for row in rows if row["at"] <= span.at]
    after = [row for row in rows if row["at"] >= span.until]
    return (before or rows)[-1 if before else 0], (after or rows)[0 if after else -1]


def _figures(rows: list[Row], peak: Row, view: View) -> list[Marks]:
    """Label the peak, and the samples before and after its incident where they stand clear of it."""
    ends = [
        row for row in _around(rows, peak, view) if abs(view.px(row["at"]) - view.px(peak["at"])) > CLEAR_PX
    ]
    sides: dict[str, dict[int, Row]] = {"left": {}, "center": {}, "right": {}}
    for row in (peak, *ends):
        x = view.px(row["at"])
        side = "left" if x < CLEAR_PX else "right" if x > PLOT - CLEAR_PX else "center"
        sides[side][row["at"]] = {"at": row["at"], "value": row["value"], "text": _number(row["value"], view)}
    return [
        marks
        for side, rows in sides.items()
        for marks in _haloed(
            f"figures_{side}", {"align": side, "dy": -4, "baseline": "bottom"}, list(rows.values()), view
        )
    ]


def _blind_lane(document: Document, view: View) -> list[Lane]:
    """Draw where a monitor saw nothing."""
    bars = []
    for one in sorted(document.get("blind_gaps") or [], key=lambda one: (one["monitor"] or "", one["start"])):
        span = view.span(one["start"], one["end"])
        if span:
            missing = f", {one['missing']} {view.words['missed']}" if one["missing"] else ""
            label = f"{view.words.get(one['kind'], one['kind'])} {_lasting(_seconds(one, view))}{missing}"
            bars.append((_clean(one["monitor"] or "", MOST_CELLS), span, label, GREY))
    return [_bar_lane("blind", view.words["blind_lane"], bars, view)] if bars else []


def _events(document: Document, view: View) -> list[Row]:
    """Pick the timeline items that are events, in order."""
    items = [
        (view.ms(one["at"]), one) for one in document.get("timeline") or [] if one["kind"] in EVENT_SHAPES
    ]
    events = []
    for at, one in sorted(items, key=lambda item: (item[0], item[1]["kind"], item[1]["text"])):
        if view.holds(at):
            text = _clean(f"{_clock(at, view.lo)} {view.words[one['kind']]}: {one['text']}", 58)
            events.append({"at": at, "text": text, "shape": EVENT_SHAPES[one["kind"]], "kind": one["kind"]})
    return events


def _placed(events: list[Row], view: View) -> list[Row]:
    """Give each event the first line where its label fits, and the side of its symbol where there is room."""
    taken: list[list[tuple[float, float]]] = [[] for _ in range(MOST_LABEL_ROWS)]
    placed = []
    for event in events:
        x, wide = view.px(event["at"]), _text_px(event["text"]) + 12
        side = "left" if x + wide <= PLOT or x < wide else "right"
        reach = (x - 6, x + wide) if side == "left" else (x - wide, x + 6)
        for line, used in enumerate(taken):
            if all(reach[1] < start or reach[0] > end for start, end in used):
                used.append(reach)
                placed.append(event | {"line": line, "side": side})
                break
    return placed


def _event_lane(document: Document, view: View) -> list[Lane]:
    """Draw events as symbols with labels; those that find no room are counted."""
    events = _events(document, view)
    if not events:
        return []
    placed = _placed(events, view)
    if len(placed) < len(events):
        placed = _placed(sorted(events, key=lambda one: KINDS_BY_WEIGHT.index(one["kind"])), view)
    rows = max(one["line"] for one in placed) + 1
    dots = [{"at": one["at"], "value": rows - one["line"] - 0.5, "shape": one["shape"]} for one in placed]
    tops = {one["at"]: 0.4 for one in events} | {one["at"]: one["value"] for one in dots}
    stems = [{"at": at, "value": top, "base": 0} for at, top in sorted(tops.items())]
    ink = view.colours["ink"]
    marks = [
        Marks("stems", {"type": "rule", "color": view.colours["muted"], "strokeWidth": 1}, stems),
        Marks("points", {"type": "point", "filled": True, "size": 60, "color": ink, "opacity": 1}, dots),
    ]
    for side, dx in (("left", 8), ("right", -8)):
        texts = [
            {"at": one["at"], "value": rows - one["line"] - 0.5, "text": one["text"]}
            for one in placed
            if one["side"] == side
        ]
        marks += _haloed(f"labels_{side}", {"align": side, "dx": dx, "baseline": "middle"}, texts, view)
    more = len(events) - len(placed)
    title = view.words["events"] + (f" (+{more} {view.words['unlabelled']})" if more else "")
    return [Lane("events", title, ROW_PX * rows, marks, top=rows)]


def _haloed(name: str, mark: Row, texts: list[Row], view: View) -> list[Marks]:
    """Write text over a halo of paper, so that lines may pass behind it."""
    if not texts:
        return []
    paper, ink = view.colours["paper"], view.colours["ink"]
    text = {"type": "text", "fontSize": 11} | mark
    halo = text | {"color": paper, "stroke": paper, "strokeWidth": 3, "opacity": 0.8}
    return [Marks(f"{name}_halo", halo, texts), Marks(name, text | {"color": ink}, texts)]


# The same in words


def _say_failures(document: Document, view: View) -> list[str]:
    """Count the failures that the bars show."""
    counts, _ = _buckets(document.get("chart") or {}, view)
    if not counts:
        return []
    each = [
        f"{_clean(f'{service} {_kind(family, view)}', 60)} {sum(found.values())}"
        for (service, family), found in sorted(counts.items(), key=lambda i: (-sum(i[1].values()), i[0]))
    ]
    total = sum(sum(found.values()) for found in counts.values())
    return [f"{view.words['failure_lane']}: {total} ({', '.join(each)})"]


def _say_probes(document: Document, view: View) -> list[str]:
    """Count the probes of the window by state."""
    said = []
    for name, states in sorted(_probe_rows(document.get("chart") or {}, view).items()):
        counts = [f"{view.words[state]} {len(states[state])}" for state in PROBE_STATES if states.get(state)]
        title = view.words["probes"] + (f" ({_clean(name, 60)})" if name else "")
        said.append(f"{title}: {', '.join(counts)}")
    return said


def _say_spans(document: Document, view: View) -> list[str]:
    """Name the silences, stalls and blind gaps that touch the window."""
    said = []
    for key, who, state in (
        ("silences", "service", "silent"),
        ("stalls", "service", "stalled"),
        ("blind_gaps", "monitor", ""),
    ):
        for one in document.get(key) or []:
            if view.span(one["start"], one["end"]):
                what = view.words[state] if state else view.words.get(one["kind"], one["kind"])
                start = view.ms(one["start"])
                said.append(
                    f"{_clean(one[who] or '', 40)} {what} {_lasting(_seconds(one, view))} {view.words['since']} {_clock(start, view.lo)}"
                )
    return said


def _say_samples(document: Document, view: View) -> list[str]:
    """Give each series before its peak's incident, after it, at its peak, and its limit."""
    said = []
    for name, rows in _series(document.get("chart") or {}, view).items():
        peak = max(rows, key=_value)
        before, after = (_number(row["value"], view) for row in _around(rows, peak, view))
        limit = next((row["limit"] for row in reversed(rows) if row["limit"] is not None), None)
        path = f"{before} {view.words['to']} {after}, {view.words['peak']} {_number(peak['value'], view)}"
        said.append(
            f"{_clean(name, 60)}: {path}"
            + (f", {view.words['limit']} {_number(limit, view)}" if limit is not None else "")
        )
    return said


def _say_events(document: Document, view: View) -> list[str]:
    """List the events that have a label's worth of text."""
    events = [event["text"] for event in _events(document, view)]
    return [f"{view.words['events']}: {'; '.join(events)}"] if events else []


# Drawing


def _render(lanes: list[Lane], document: Document, view: View) -> str:
    """Stack the lanes and let vl-convert turn them into SVG."""
    import altair as alt  # noqa: PLC0415 - costs a third of a second that other commands need not pay
    import vl_convert  # noqa: PLC0415 - the same

    bands = [_band(lane, view, last=lane is lanes[-1]) for lane in lanes]
    subtitle = _zone(view) + (f". {view.words['shaded']}" if view.incidents else "")
    colours = view.colours
    title = alt.Title(
        _headline(document, view),
        subtitle=subtitle,
        anchor="start",
        frame="bounds",
        fontSize=14,
        subtitleFontSize=11,
        subtitlePadding=5,
        offset=8,
        color=colours["ink"],
        subtitleColor=colours["muted"],
    )
    chart = (
        alt.vconcat(*bands, spacing=7, title=title, background=colours["paper"], padding=PADDING)
        .configure(font=FONT, aria=False)
        .configure_view(stroke=colours["grid"], fill=None)
        .configure_axis(labelColor=colours["ink"], gridColor=colours["grid"], labelFontSize=11, labelLimit=0)
    )
    return str(vl_convert.vegalite_to_svg(chart.to_dict()))


def _band(lane: Lane, view: View, *, last: bool) -> alt.LayerChart | alt.FacetChart:
    """Draw a lane over the shaded incidents; the last one bears the time axis."""
    import altair as alt  # noqa: PLC0415 - see `_render`

    marks = [*_shades(view), *lane.marks]
    layers = [
        alt.Chart(alt.InlineData(values=one.values), mark=alt.MarkDef(**one.mark, clip=True))
        .encode(**_channels(one, lane, view, last=last))
        .properties(name=f"{lane.name}_{one.name}")
        for one in marks
        if one.values
    ]
    title = alt.Title(
        lane.title,
        anchor="start",
        frame="group",
        fontSize=11,
        fontWeight="bold",
        offset=3,
        color=view.colours["ink"],
    )
    heading = {"title": title} if lane.title else {}
    return alt.layer(*layers, width=PLOT, height=lane.height, name=lane.name, **heading)


def _shades(view: View) -> list[Marks]:
    """Shade the incidents and rule their edges, dashed where an edge is not exact."""
    boxes = [{"at": span.at, "until": span.until} for span in view.incidents]
    edges: dict[bool, list[Row]] = {True: [], False: []}
    for span in view.incidents:
        edges[span.exact] += [{"at": span.at}]
        edges[True] += [] if span.ongoing else [{"at": span.until}]
    rule = {"type": "rule", "color": ORANGE, "strokeWidth": 1.2}
    return [
        Marks("shade", {"type": "rect", "color": ORANGE, "opacity": 0.14}, boxes),
        Marks("edges", rule, edges[True]),
        Marks("edges_no_later", rule | {"strokeDash": [4, 3]}, edges[False]),
    ]


def _channels(marks: Marks, lane: Lane, view: View, *, last: bool) -> dict[str, Any]:
    """Choose the encoding from the keys that the values have."""
    import altair as alt  # noqa: PLC0415 - see `_render`

    every: dict[str, Any] = {
        "at": (
            "x",
            alt.X("at:T")
            .scale(type="utc", domain=[view.lo, view.hi], padding=INSET, nice=False)
            .axis(_time_axis(view, last=last)),
        ),
        "until": ("x2", alt.X2("until:T")),
        "row": ("y", alt.Y("row:N").scale(domain=list(lane.rows)).axis(_row_axis(lane))),
        "value": ("y", alt.Y("value:Q").scale(domain=[0, lane.top], nice=False).axis(_row_axis(lane))),
        "base": ("y2", alt.Y2("base:Q")),
        "text": ("text", alt.Text("text:N")),
        "color": ("color", alt.Color("color:N").scale(None).legend(None)),
        "shape": ("shape", alt.Shape("shape:N").scale(None).legend(None)),
        "angle": ("angle", alt.Angle("angle:Q").scale(None)),
    }
    return dict(every[key] for key in marks.values[0])


def _time_axis(view: View, *, last: bool) -> alt.Axis:
    """Rule the lane at round local times; only the last lane names them."""
    import altair as alt  # noqa: PLC0415 - see `_render`

    step_s = _step_s(view, MOST_TICKS)
    step = step_s * 1000
    if step_s >= 86400:
        pattern = "%Y-%m-%d"
    elif view.lo // 86_400_000 != view.hi // 86_400_000:
        pattern = "%m-%d %H:%M"
    else:
        pattern = "%H:%M:%S" if step_s < 60 else "%H:%M"
    ticks = list(range(-(-view.lo // step) * step, view.hi + 1, step))
    return alt.Axis(
        title=None,
        format=pattern,
        values=ticks,
        labels=last,
        ticks=last,
        domain=last,
        labelFlush=True,
        labelOverlap=False,
    )


def _row_axis(lane: Lane) -> alt.Axis:
    """Name the rows of a lane, or the two ends of its scale, in a margin of fixed width."""
    import altair as alt  # noqa: PLC0415 - see `_render`

    look: dict[str, Any] = {
        "title": None,
        "minExtent": LEFT,
        "maxExtent": LEFT,
        "domain": False,
        "ticks": False,
    }
    look |= {"labelPadding": 6, "labelOverlap": False}
    if lane.rows:
        return alt.Axis(grid=False, **look)
    return alt.Axis(
        values=list(lane.ticks), format=".12~g", grid=bool(lane.ticks), labels=bool(lane.ticks), **look
    )


def _finish(svg: str, document: Document, theme: str) -> str:
    """Renumber generated ids and tell readers who do not see the image what it shows."""
    prefix = f"timeline-{theme}"
    numbers: dict[str, int] = {}
    for name in re.findall(r'\bid="(\w+)"', svg):
        numbers.setdefault(name, len(numbers) + 1)

    def renamed(found: re.Match[str]) -> str:
        """Replace one generated id, at its definition or where it is used."""
        number = numbers.get(found[2])
        return f"{found[1]}{prefix}-{number}{found[3]}" if number else found[0]

    svg = re.sub(r'(\bid=")(\w+)(")', renamed, svg)
    svg = re.sub(r"(url\(#)(\w+)(\))", renamed, svg)
    words = _words(_language(document))
    about = (
        f'<title id="{prefix}-title">{html.escape(words["timeline"], quote=False)}</title>'
        f'<desc id="{prefix}-desc">{html.escape(timeline_alt(document), quote=False)}</desc>'
    )
    head, _, body = svg.partition(">")
    return (
        f'{head} role="img" aria-labelledby="{prefix}-title" aria-describedby="{prefix}-desc">{about}{body}\n'
    )
