"""When each monitor was watching: a strip for each day, with the gaps in which it was blind and the incidents.

A gap of a monitor is blindness, not downtime; hours that lie before its first or after its last result are left empty.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo
from itertools import pairwise
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo

from forensics.report.charts.shapes import Axis, Band, Chart, Drawing, Lane, Marks
from forensics.report.charts.theme import INSET, ORANGE, PLOT, hatched
from forensics.report.charts.view import DAY_MS, View, spoken
from forensics.report.charts.wording import and_more, clean, shorten
from forensics.report.prose import to_second

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.report.charts.view import Document, Row

LEAST: Final = timedelta(hours=6)
"""A strip of a day shows nothing of a monitor that was asked for less than this."""
MOST_MONITORS: Final = 3
MOST_STRIPS: Final = 42
"""Days of all monitors: more would not fit a screen; the last are drawn, and the others counted."""
STRIP_PX: Final = 17
LEAST_PX: Final = 3
"""An incident of a minute is still seen on a strip of a day."""
TICK_MS: Final = 3 * 3600 * 1000
SECONDS: Final = timedelta(seconds=1)

Stretch = tuple[datetime, datetime]


@dataclass(frozen=True)
class Watched:
    """One monitor: from its first to its last result, and the gaps between."""

    name: str
    span: Stretch
    gaps: list[tuple[Stretch, Row]]
    zone: tzinfo

    def days(self) -> list[Stretch]:
        """Return the days that the span touches, from midnight to midnight of the zone."""
        first, last = (at.astimezone(self.zone).date() for at in self.span)
        count = (last - first).days + 1
        edges = [datetime.combine(first + timedelta(days=n), time(), self.zone) for n in range(count + 1)]
        return list(pairwise(edges))

    def seen(self, stretch: Stretch) -> timedelta:
        """Measure for how long it was watching within a stretch."""
        blind = sum((_length(part) for gap, _ in self.gaps if (part := _cut(gap, stretch))), timedelta())
        whole = _cut(self.span, stretch)
        return (_length(whole) if whole else timedelta()) - blind


def plan(document: Document, theme: str) -> Drawing | None:
    """Plan the strips of every monitor; None where there is none that was asked for hours."""
    zone = _zone(document)
    found = [one for one in _monitors(document, zone) if _length(one.span) >= LEAST]
    if not found:
        return None
    view = View(0, DAY_MS, timedelta(), document["case"].get("timezone") or "", spoken(document), theme)
    ranked = sorted(
        found, key=lambda one: (-sum((_length(gap) for gap, _ in one.gaps), timedelta()), one.name)
    )
    shown = ranked[:MOST_MONITORS]
    incidents = list(_incidents(document, max(one.span[1] for one in found)))
    lanes = [
        _lane(n, one, one.days()[-(MOST_STRIPS // len(shown)) :], incidents, view)
        for n, one in enumerate(shown)
    ]
    axes = [Axis(tuple(range(0, DAY_MS, TICK_MS)), "%H:%M", labelled=lane is lanes[-1]) for lane in lanes]
    zone_said = f"{view.words['local']}, {clean(view.zone, 40)}" if view.zone else view.words["local"]
    said = [view.words["coverage"], zone_said, *(_say(one, incidents, view) for one in ranked)]
    return Drawing(
        view.words["coverage"] + and_more(view, len(found) - len(shown)),
        f"{zone_said}. {view.words['strips']}",
        [Band(lane, view, axis) for lane, axis in zip(lanes, axes, strict=True)],
        ". ".join(said) + ".",
    )


def _zone(document: Document) -> tzinfo:
    """Return the case's zone; where it is none that this machine knows, the offset of its instants."""
    try:
        return ZoneInfo(document["case"].get("timezone") or "")
    except (KeyError, OSError, ValueError):
        window = document["case"].get("window") or [None]
        return (datetime.fromisoformat(window[0]).tzinfo if window[0] else None) or UTC


def _monitors(document: Document, zone: tzinfo) -> Iterator[Watched]:
    """Yield every monitor; a gap at the end of its results belongs to its span."""
    gaps = document.get("blind_gaps") or []
    spans: dict[str, list[str]] = {}
    for row in (document.get("chart") or {}).get("watched") or []:
        spans.setdefault(row["monitor"], []).extend((row["start"], row["end"]))
    for name, edges in sorted(spans.items()):
        mine = [
            (_stretch(gap), gap) for gap in gaps if gap["monitor"] == name and gap["start"] and gap["end"]
        ]
        instants = [*map(datetime.fromisoformat, edges), *(at for gap, _ in mine for at in gap)]
        yield Watched(name, (min(instants), max(instants)), sorted(mine, key=lambda item: item[0]), zone)


def _incidents(document: Document, last: datetime) -> Iterator[tuple[Stretch, Row]]:
    """Yield the incidents; one that is ongoing lasts as long as the monitors."""
    for one in document.get("incidents") or []:
        start = datetime.fromisoformat(one["start"])
        end = None if one["ongoing"] else one["end"] or one["start"]
        yield (start, datetime.fromisoformat(end) if end else max(start, last)), one


def _stretch(row: Row) -> Stretch:
    """Read the two ends of a gap."""
    return datetime.fromisoformat(row["start"]), datetime.fromisoformat(row["end"])


def _cut(one: Stretch, other: Stretch) -> Stretch | None:
    """Return what two stretches share."""
    start, end = max(one[0], other[0]), min(one[1], other[1])
    return (start, end) if start < end else None


def _length(stretch: Stretch) -> timedelta:
    """Measure elapsed time, also where the clock changes on the way."""
    return stretch[1].astimezone(UTC) - stretch[0].astimezone(UTC)


def _hours(length: timedelta) -> str:
    """Show a duration in hours and minutes: a day is 24 h, or 23 h or 25 h where the clock changes."""
    minutes = round(length / timedelta(minutes=1))
    hours, rest = divmod(minutes, 60)
    return " ".join(
        part for part in (f"{hours} h" if hours else "", f"{rest} min" if rest or not hours else "") if part
    )


def _place(at: datetime, day: Stretch) -> int:
    """Place an instant on the strip of its day, by what a clock on the wall showed."""
    if at >= day[1]:
        return DAY_MS
    local = at.astimezone(day[0].tzinfo)
    return (local - datetime.combine(local.date(), time(), local.tzinfo)) // timedelta(milliseconds=1)


def _box(stretch: Stretch, day: Stretch, row: str) -> list[Row]:
    """Return the part of a stretch that lies on a day."""
    part = _cut(stretch, day)
    return [{"at": _place(part[0], day), "until": _place(part[1], day), "row": row}] if part else []


def _lane(
    number: int, one: Watched, days: list[Stretch], incidents: list[tuple[Stretch, Row]], view: View
) -> Lane:
    """Draw one monitor, a strip for each day."""
    rows = [f"{day[0]:%m-%d}: {_hours(one.seen(day))}" for day in days]
    strips = list(zip(days, rows, strict=True))
    seen = [box for day, row in strips for box in _box(one.span, day, row)]
    blind = [box for day, row in strips for gap, _ in one.gaps for box in _box(gap, day, row)]
    least = LEAST_PX * DAY_MS // (PLOT - 2 * INSET)
    hit = [
        box | {"until": max(box["until"], box["at"] + least)}
        for day, row in strips
        for stretch, _ in incidents
        for box in _box(stretch, day, row)
    ]
    ink, paper = view.colours["ink"], view.colours["paper"]
    marks = [
        Marks("seen", {"type": "bar", "height": 11, "color": view.colours["answered"]}, seen),
        Marks("ground", {"type": "bar", "height": 11, "color": paper}, blind),
        Marks(
            "blind",
            {"type": "bar", "height": 11, "color": hatched("hatch-blind"), "stroke": ink, "strokeWidth": 0.8},
            blind,
        ),
        Marks(
            "incidents",
            {"type": "bar", "height": 15, "color": ORANGE, "stroke": ink, "strokeWidth": 0.8},
            hit,
        ),
    ]
    title = _title(one, view) + and_more(view, len(one.days()) - len(days))
    return Lane(f"monitor_{number}", title, STRIP_PX * len(rows), marks, rows=tuple(rows))


def _title(one: Watched, view: View) -> str:
    """Name a monitor, its days, and for how long it was watching."""
    first, last = (at.astimezone(one.zone) for at in one.span)
    say = view.words
    watched = f"{say['watched']} {_hours(one.seen(one.span))} {say['of']} {_hours(_length(one.span))}"
    return f"{shorten(one.name, 44)}, {first:%Y-%m-%d} {say['to']} {last:%Y-%m-%d}: {watched}"


def _say(one: Watched, incidents: list[tuple[Stretch, Row]], view: View) -> str:
    """Say in words what a monitor's strips show: the hours of each day, and each gap with the incidents in it."""
    say = view.words
    parts = [_title(one, view)]
    parts.append(", ".join(f"{day[0]:%Y-%m-%d} {_hours(one.seen(day))}" for day in one.days()))
    for gap, row in one.gaps:
        inside = [str(item.get("label") or item["id"]) for stretch, item in incidents if _cut(stretch, gap)]
        start, end = (f"{to_second(at).astimezone(one.zone):%Y-%m-%d %H:%M:%S}" for at in gap)
        hit = f", {say['incident']} {', '.join(inside)}" if inside else ""
        parts.append(
            f"{say.get(row['kind'], row['kind'])} {start} {say['to']} {end} ({_hours(_length(gap))}{hit})"
        )
    return "; ".join(parts)


PLUG = Chart(name="coverage", section="alert", plan=plan)
