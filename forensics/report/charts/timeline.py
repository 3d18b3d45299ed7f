"""The incident at a glance: failures, probes, silences and stalls, samples with their limit, blind monitors and events."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from forensics.report.charts.lanes import bar_lane, clock_axis, first_series, haloed
from forensics.report.charts.shapes import Band, Chart, Drawing, Lane, Marks
from forensics.report.charts.theme import (
    GREEN,
    GREY,
    HEADROOM,
    MOST_CELLS,
    MOST_TITLE_CELLS,
    ON_BAR,
    ORANGE,
    PLOT,
    PURPLE,
    ROW_PX,
    SKY,
    VERMILION,
)  # fmt: skip
from forensics.report.charts.view import Span, incident_view, primary, runs, step_s
from forensics.report.charts.wording import (
    clean,
    clock,
    figure,
    kind_name,
    lasting,
    text_px,
    zone_name,
)  # fmt: skip

if TYPE_CHECKING:
    from forensics.report.charts.view import Document, Row, View

MOST_BARS: Final = 60
MOST_FAILURE_LANES: Final = 4
MOST_DOTS: Final = 80
"""Samples beyond these are drawn as a line without dots."""
MOST_LABEL_ROWS: Final = 6
MOST_EVENT_CELLS: Final = 66
DOT_PX: Final = 6
CLEAR_PX: Final = 50
FAR_LIMIT: Final = 10
"""A limit more than this many times the peak would press the line flat: it is named, not drawn."""
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


def plan(document: Document, theme: str) -> Drawing | None:
    """Plan the timeline of a report document; None where there is nothing to draw.

    The window is the primary incident and a quarter of it on either side, or the window of the case where there is no
    incident. Lanes without data are left out.
    """
    view = incident_view(document, theme)
    lanes = [] if view is None else _lanes(document, view)
    if view is None or not lanes:
        return None
    bands = [Band(lane, view, clock_axis(view, labelled=lane is lanes[-1])) for lane in lanes]
    notes = zone_name(view) + (f". {view.words['shaded']}" if view.incidents else "")
    return Drawing(_headline(document, view), notes, bands, _say(document, view))


def _say(document: Document, view: View) -> str:
    """Say in words what the timeline shows: the window, and each lane's figures."""
    shown = f"{view.words['shown']}: {clock(view.lo)} {view.words['to']} {clock(view.hi, view.lo)}"
    parts = [_headline(document, view), zone_name(view)] + ([shown] if primary(document) else [])
    parts += [*_say_failures(document, view), *_say_probes(document, view), *_say_spans(document, view)]
    parts += [*_say_samples(document, view), *_say_events(document, view)]
    return ". ".join(parts) + "."


def _headline(document: Document, view: View) -> str:
    """Say which incident this is, from when to when."""
    incident, say = primary(document), view.words
    if not incident:
        return f"{say['quiet']}, {clock(view.lo)} {say['to']} {clock(view.hi, view.lo)}"
    start = view.ms(incident["start"])
    bound = f" {say['earlier']}" if incident.get("start_bound") == "no_later_than" else ""
    when = f"{clock(start)}{bound}"
    if incident["ongoing"]:
        when = f"{say['since']} {when}, {say['ongoing']}"
    else:
        end = view.ms(incident["end"] or incident["start"])
        when += f" {say['to']} {clock(end, start)} ({lasting((end - start) / 1000)})"
    said = f"{say['incident']} {when}"
    services = _names(incident.get("services") or [], MOST_TITLE_CELLS - len(said) - 2)
    return f"{said}: {services}" if services else said


def _names(names: list[str], width: int) -> str:
    """List as many names as fit whole, at least the beginning of the first, and how many are left."""
    names = [clean(name, width) for name in names]
    for kept in range(len(names), 1, -1):
        more = f" (+{len(names) - kept})" if kept < len(names) else ""
        text = ", ".join(names[:kept]) + more
        if clean(text, width) == text:
            return text
    more = f" (+{len(names) - 1})" if len(names) > 1 else ""
    return clean(names[0], width - len(more)) + more if names else ""


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
        row = clean(
            f"{view.words['incident']} {span.name}" if several else view.words["incident"], MOST_CELLS
        )
        lasted = view.words["ongoing"] if span.ongoing else lasting((span.until - span.at) / 1000)
        bars.append((row, span, lasted, ORANGE))
        arrows += [{"at": span.until, "row": row}] if span.ongoing else []
    if not bars:
        return []
    lane = bar_lane("incidents", "", bars, view)
    if arrows:
        mark = {"type": "point", "shape": "triangle-right", "size": 110, "filled": True, "xOffset": -9}
        lane.marks.append(Marks("ongoing", mark | {"color": ON_BAR, "opacity": 1}, arrows))
    return [lane]


@dataclass
class Kind:
    """Failures of one service and family in the window."""

    counts: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    """By the start of their bucket."""
    most: int = 0
    """How many there are at most."""
    once: int = 0
    """Of those counted, the ones that no database server's own log tells of as well."""
    once_most: int = 0

    @property
    def total(self) -> int:
        """How many there are at least."""
        return sum(self.counts.values())


def _kinds(chart: Row, view: View) -> tuple[dict[tuple[str, str], Kind], int]:
    """Count failures per service and family in round buckets, the most frequent kind first; also the bucket's milliseconds."""
    step = step_s(view, MOST_BARS, chart.get("bucket_s") or 0) * 1000
    found: dict[tuple[str, str], Kind] = defaultdict(Kind)
    for one in chart.get("failures") or []:
        at, kind = view.ms(one["at"]), (one["service"] or "", one["family"])
        if view.holds(at):
            mine, most = found[kind], one.get("most", one["count"])
            mine.most += most
            mine.once += one.get("once", one["count"])
            mine.once_most += one.get("once_most", most)
            if one["count"]:
                mine.counts[at // step * step] += one["count"]
    ranked = sorted((item for item in found.items() if item[1].counts), key=lambda i: (-i[1].total, i[0]))
    return dict(ranked), step


def _range(least: int, most: int, view: View) -> str:
    """Show a count that is known between two numbers."""
    return f"{least} {view.words['to']} {most}" if most > least else f"{least}"


def _failure_lanes(chart: Row, view: View) -> list[Lane]:
    """Draw failures as bars, a lane per service and family; the rarest share one."""
    found, step = _kinds(chart, view)
    ranked = list(found)
    named = ranked if len(ranked) <= MOST_FAILURE_LANES else ranked[: MOST_FAILURE_LANES - 1]
    lanes = [
        _failure_lane(n, f"{key[0]} {kind_name(key[1], view)}", found[key], step, view)
        for n, key in enumerate(named)
    ]
    rest = Kind()
    for key in ranked[len(named) :]:
        rest.most += found[key].most
        rest.once += found[key].once
        for at, count in found[key].counts.items():
            rest.counts[at] += count
    if rest.counts:
        label = f"{view.words['other']} ({len(ranked) - len(named)})"
        lanes.append(_failure_lane(len(named), label, rest, step, view))
    return lanes


def _failure_lane(number: int, label: str, kind: Kind, step: int, view: View) -> Lane:
    """Draw one kind of failure; how many of them a server's log tells of as well is said, since lanes are not to be added."""
    counts = kind.counts
    bars = [
        {"at": max(at, view.lo), "until": min(at + step, view.hi), "value": counts[at], "base": 0}
        for at in sorted(counts)
    ]
    top = max(counts.values())
    total = f"{_range(kind.total, kind.most, view)}, {view.words['per']} {lasting(step / 1000)}"
    if kind.once < kind.total:
        total += f"; {kind.total - kind.once} {view.words['retold']}"
    title = f"{view.words['failure_lane']}: {clean(label, 60)} ({total})"
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
    return first_series(lanes, view)


def _probe_title(name: str, document: Document, view: View) -> str:
    """Name a series and its period, where the report tells them."""
    known = document.get("probes") or []
    told = next(
        (one for one in known if one["series"] == name), known[0] if len(known) == 1 and not name else None
    )
    title = view.words["probes"]
    if name or told:
        title += f": {clean(name or (told or {})['series'], 60)}"
    if told and told.get("period_s"):
        title += f", {view.words['every']} {lasting(told['period_s'])}"
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


def _quiet_lane(document: Document, view: View) -> list[Lane]:
    """Draw where a service wrote nothing and where a process stood still."""
    bars = []
    for key, state, colour in (("silences", "silent", SKY), ("stalls", "stalled", PURPLE)):
        for one in sorted(document.get(key) or [], key=lambda one: (one["service"] or "", one["start"])):
            span = view.span(one["start"], one["end"])
            if span:
                row = clean(f"{one['service'] or ''} {_still(one, state, view)}", MOST_CELLS)
                shade = GREY if one.get("why") else colour
                bars.append((row, span, lasting(_seconds(one, view)), shade))
    return [bar_lane("quiet", view.words["quiet_lane"], bars, view)] if bars else []


def _still(one: Row, state: str, view: View) -> str:
    """Say what a stretch without lines is: a silence that a stop or the end of the incident explains is none of a living process."""
    return view.words[{"stopped": "stopped", "after": "no_lines"}.get(one.get("why") or "", state)]


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
    return first_series([_sample_lane(n, name, series[name], view) for n, name in enumerate(series)], view)


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
    """Draw one series with its limit; a line ends where samples are missing."""
    kept = _extremes(rows, view)
    peak = max(kept, key=_value)
    limit = next((row["limit"] for row in reversed(rows) if row["limit"] is not None), None)
    drawn = limit is not None and limit <= FAR_LIMIT * max(peak["value"], 0)
    top = max(peak["value"], limit if drawn and limit is not None else 0) or 1
    dots = {"filled": True, "size": 28, "color": GREEN, "opacity": 1}
    line: Row = {"type": "line", "color": GREEN, "strokeWidth": 2 if len(kept) <= MOST_DOTS else 1}
    line |= {"point": dots} if len(kept) <= MOST_DOTS else {}
    parts = [
        [one for one in kept if first <= one["at"] <= last] for first, last in runs([r["at"] for r in rows])
    ]
    marks = [Marks(f"line_{n}" if n else "line", line, part) for n, part in enumerate(parts) if part]
    if drawn:
        mark = {"type": "rule", "color": view.colours["ink"], "strokeDash": [6, 4], "strokeWidth": 1.2}
        marks.insert(0, Marks("limit", mark, [{"value": limit}]))
    marks += _figures(rows, peak, view)
    title = clean(f"{name}, {view.words['peak']} {figure(peak['value'], view)}", 60)
    if limit is not None:
        title += f", {view.words['limit']} {figure(limit, view)}" + (
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
        sides[side][row["at"]] = {"at": row["at"], "value": row["value"], "text": figure(row["value"], view)}
    return [
        marks
        for side, rows in sides.items()
        for marks in haloed(
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
            label = f"{view.words.get(one['kind'], one['kind'])} {lasting(_seconds(one, view))}{missing}"
            bars.append((clean(one["monitor"] or "", MOST_CELLS), span, label, GREY))
    return [bar_lane("blind", view.words["blind_lane"], bars, view)] if bars else []


def _events(document: Document, view: View) -> list[Row]:
    """Pick the timeline items that are events, in order."""
    items = [
        (view.ms(one["at"]), one) for one in document.get("timeline") or [] if one["kind"] in EVENT_SHAPES
    ]
    events = []
    for at, one in sorted(items, key=lambda item: (item[0], item[1]["kind"], item[1]["text"])):
        if view.holds(at):
            # What the case file states names its kind itself.
            kind = "" if one.get("grade") == "clue" else f"{view.words[one['kind']]}: "
            text = clean(f"{clock(at, view.lo)} {kind}{one['text']}", MOST_EVENT_CELLS)
            events.append({"at": at, "text": text, "shape": EVENT_SHAPES[one["kind"]], "kind": one["kind"]})
    return events


def _placed(events: list[Row], view: View) -> list[Row]:
    """Give each event the first line where its label fits, and the side of its symbol where there is room."""
    taken: list[list[tuple[float, float]]] = [[] for _ in range(MOST_LABEL_ROWS)]
    placed = []
    for event in events:
        x, wide = view.px(event["at"]), text_px(event["text"]) + 12
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
        marks += haloed(f"labels_{side}", {"align": side, "dx": dx, "baseline": "middle"}, texts, view)
    more = len(events) - len(placed)
    title = view.words["events"] + (f" (+{more} {view.words['unlabelled']})" if more else "")
    return [Lane("events", title, ROW_PX * rows, marks, top=rows)]


# The same in words


def _say_failures(document: Document, view: View) -> list[str]:
    """Count the failures that the bars show, in all each once."""
    found, _ = _kinds(document.get("chart") or {}, view)
    if not found:
        return []
    each = [
        f"{clean(f'{service} {kind_name(family, view)}', 60)} {_range(kind.total, kind.most, view)}"
        + (f", {kind.total - kind.once} {view.words['retold']}" if kind.once < kind.total else "")
        for (service, family), kind in found.items()
    ]
    once, most = sum(kind.once for kind in found.values()), sum(kind.once_most for kind in found.values())
    said = _range(once, most, view)
    together = ("; " if any(kind.once < kind.total for kind in found.values()) else ", ").join(each)
    return [f"{view.words['failure_lane']}: {said} ({together})"]


def _say_probes(document: Document, view: View) -> list[str]:
    """Count the probes of the window by state."""
    said = []
    for name, states in sorted(_probe_rows(document.get("chart") or {}, view).items()):
        counts = [f"{view.words[state]} {len(states[state])}" for state in PROBE_STATES if states.get(state)]
        title = view.words["probes"] + (f" ({clean(name, 60)})" if name else "")
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
                what = _still(one, state, view) if state else view.words.get(one["kind"], one["kind"])
                start = view.ms(one["start"])
                said.append(
                    f"{clean(one[who] or '', 40)} {what} {lasting(_seconds(one, view))} {view.words['since']} {clock(start, view.lo)}"
                )
    return said


def _say_samples(document: Document, view: View) -> list[str]:
    """Give each series before its peak's incident, after it, at its peak, and its limit."""
    said = []
    for name, rows in _series(document.get("chart") or {}, view).items():
        peak = max(rows, key=_value)
        before, after = (figure(row["value"], view) for row in _around(rows, peak, view))
        limit = next((row["limit"] for row in reversed(rows) if row["limit"] is not None), None)
        path = f"{before} {view.words['to']} {after}, {view.words['peak']} {figure(peak['value'], view)}"
        said.append(
            f"{clean(name, 60)}: {path}"
            + (f", {view.words['limit']} {figure(limit, view)}" if limit is not None else "")
        )
    return said


def _say_events(document: Document, view: View) -> list[str]:
    """List the events that have a label's worth of text."""
    events = [event["text"] for event in _events(document, view)]
    return [f"{view.words['events']}: {'; '.join(events)}"] if events else []


PLUG = Chart(name="timeline", section="timeline", plan=plan)
