"""How many errors came on each day; a day that the inputs cover only in part is hatched."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from forensics.report.charts.lanes import haloed
from forensics.report.charts.shapes import Axis, Band, Chart, Drawing, Lane, Marks
from forensics.report.charts.theme import HEADROOM, INSET, PLOT, VERMILION, hatched
from forensics.report.charts.view import DAY_MS, View, local_ms, spoken
from forensics.report.charts.wording import and_more, clean, shorten, text_px

if TYPE_CHECKING:
    from forensics.report.charts.view import Document, Row

FEWEST_DAYS: Final = 2
"""A single bar shows nothing that its number does not."""
MOST_DAYS: Final = 62
"""Two months of bars can be told apart; of more days the last are drawn, and the others counted."""
MOST_KINDS: Final = 5
SLACK: Final = 0.14
"""Share of a day that stays free on either side of its bar."""
DATE_PX, SHORT_PX = 68, 42
"""Room that a date takes on the axis, with and without its year."""

Kind = tuple[str, str]
"""Service and signature."""


def plan(document: Document, theme: str) -> Drawing | None:
    """Plan a lane for each service and signature; None for a single day or without any failure."""
    days = [day["date"] for day in document.get("days") or []]
    kinds = _kinds(document)
    if len(days) < FEWEST_DAYS or not kinds:
        return None
    view = _window(document, days[-MOST_DAYS:], theme)
    partial = {day["date"] for day in document["days"] if day["partial"]}
    partial |= {row["date"] for rows in kinds.values() for row in rows.values() if row["partial"]}
    shown = sorted(kinds, key=lambda kind: (-_total(kinds[kind]), kind))[:MOST_KINDS]
    lanes = [_lane(n, kind, kinds[kind], days[-MOST_DAYS:], partial, view) for n, kind in enumerate(shown)]
    zone = f"{view.words['local']}, {clean(view.zone, 40)}" if view.zone else view.words["local"]
    hatching = view.words["hatched"] if partial else ""
    bands = [Band(lane, view, _axis(view, labelled=lane is lanes[-1])) for lane in lanes]
    drawn = days[-MOST_DAYS:]
    headline = f"{view.words['daily']}, {drawn[0]} {view.words['to']} {drawn[-1]}"
    cut = f" (+{earlier} {view.words['earlier_days']})" if (earlier := len(days) - len(drawn)) else ""
    cut += and_more(view, len(kinds) - len(shown))
    said = [headline, zone, *([f"{hatching} {', '.join(sorted(partial))}"] if partial else [])]
    said += [
        _say(kind, kinds[kind], view) for kind in sorted(kinds, key=lambda kind: (-_total(kinds[kind]), kind))
    ]
    return Drawing(headline + cut, f"{zone}. {hatching}".rstrip(), bands, ". ".join(said) + ".")


def _kinds(document: Document) -> dict[Kind, dict[str, Row]]:
    """Return the rows of each service and signature by date."""
    kinds: dict[Kind, dict[str, Row]] = {}
    for row in document.get("daily") or []:
        if row["failures"]:
            kinds.setdefault((row["service"] or "", row["signature"]), {})[row["date"]] = row
    return kinds


def _total(rows: dict[str, Row]) -> int:
    """Count the failures of all days."""
    return sum(row["failures"] for row in rows.values())


def _window(document: Document, days: list[str], theme: str) -> View:
    """Return the axis of whole days."""
    zone = document["case"].get("timezone") or ""
    return View(_midnight(days[0]), _midnight(days[-1]) + DAY_MS, timedelta(), zone, spoken(document), theme)


def _midnight(date: str) -> int:
    """Place the beginning of a day on the axis."""
    return local_ms(datetime.fromisoformat(date).replace(tzinfo=UTC), timedelta())


def _axis(view: View, *, labelled: bool) -> Axis:
    """Name days in their middle, as many as there is room for; no rule crosses a bar."""
    count = (view.hi - view.lo) // DAY_MS
    each = (PLOT - 2 * INSET) / count
    room, pattern = (DATE_PX, "%Y-%m-%d") if each >= DATE_PX else (SHORT_PX, "%m-%d")
    step = max(1, -int(-room // each))
    return Axis(
        tuple(range(view.lo + DAY_MS // 2, view.hi, step * DAY_MS)), pattern, labelled=labelled, grid=False
    )


def _count(row: Row | None) -> str:
    """Show a count, as a lower bound where it is one."""
    if row is None:
        return "0"
    return f"{'≥ ' if row['bound'] == 'at_least' else ''}{row['failures']}"


def _lane(
    number: int, kind: Kind, rows: dict[str, Row], days: list[str], partial: set[str], view: View
) -> Lane:
    """Draw one kind of failure."""
    rows = {day: rows[day] for day in days if day in rows}
    top = max((row["failures"] for row in rows.values()), default=1)
    bars: dict[bool, list[Row]] = {False: [], True: []}
    columns, figures = [], []
    slack, each = int(DAY_MS * SLACK), (PLOT - 2 * INSET) / len(days)
    roomy = all(each >= text_px(_count(row)) for row in rows.values())
    highest = next((day for day, row in rows.items() if row["failures"] == top), None)
    for day in days:
        at, row = _midnight(day), rows.get(day)
        columns += [{"at": at, "until": at + DAY_MS}] if day in partial else []
        if row:
            place = {"at": at + slack, "until": at + DAY_MS - slack, "value": row["failures"], "base": 0}
            bars[day in partial].append(place)
        if roomy or day == highest:
            value = row["failures"] if row else 0
            figures.append({"at": at + DAY_MS // 2, "value": value, "text": _count(row)})
    ink = {"type": "rect", "stroke": view.colours["ink"], "strokeWidth": 0.7}
    marks = [
        Marks("columns", {"type": "rect", "color": hatched("hatch-day"), "opacity": 0.55}, columns),
        Marks("whole", ink | {"color": VERMILION}, bars[False]),
        Marks("partial", ink | {"color": hatched("hatch-bar")}, bars[True]),
        *haloed("figures", {"align": "center", "baseline": "bottom", "dy": -3}, figures, view, opacity=1),
    ]
    title = f"{shorten(' '.join(filter(None, kind)), 80)}: {_total(rows)}"
    return Lane(f"days_{number}", title, 72, marks, top=top * HEADROOM, ticks=(0, top))


def _say(kind: Kind, rows: dict[str, Row], view: View) -> str:
    """Say in words what a lane shows."""
    each = ", ".join(
        f"{date} {_count(row)}" + (f" ({view.words['partial']})" if row["partial"] else "")
        for date, row in sorted(rows.items())
    )
    return f"{shorten(' '.join(filter(None, kind)), 80)}: {_total(rows)} ({each})"


PLUG = Chart(name="daily", section="recurrence", plan=plan)
