"""How fast errors came, minute by minute, before, in and after each incident."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from forensics.report.charts.lanes import clock_axis
from forensics.report.charts.shapes import Band, Chart, Drawing, Lane, Marks
from forensics.report.charts.theme import GREY, VERMILION
from forensics.report.charts.view import MINUTE_S, incident_spans, incident_view
from forensics.report.charts.wording import and_more, clock, lasting, zone_name

if TYPE_CHECKING:
    from forensics.report.charts.view import Document, Row, View

MOST_INCIDENTS: Final = 4
COLOURS: Final = {"failures": VERMILION, "errors": GREY}
"""What is counted: failed operations, and lines that tell of them again (HTTP and application errors)."""


@dataclass(frozen=True)
class Rate:
    """One thing that is counted around one incident."""

    what: str
    incident: Row
    view: View
    bucket_ms: int
    counts: dict[int, int]
    """Count by the start of its bucket; only those above 0."""

    @property
    def title(self) -> str:
        """Name the incident, what is counted, and the highest bar."""
        say, one = self.view.words, self.incident
        start = self.view.ms(one["start"])
        end = (
            f" {say['to']} {clock(self.view.ms(one['end']), start)}" if one["end"] else f", {say['ongoing']}"
        )
        name = f"{say['incident']} {one.get('label') or one['id']}, {clock(start)}{end}"
        total = f"{sum(self.counts.values())}, {say['per']} {lasting(self.bucket_ms / 1000)}"
        return f"{name}. {say[self.what]}: {total}"

    def outside(self) -> int:
        """Count what came in no bucket that an incident touches."""
        return sum(
            count
            for at, count in self.counts.items()
            if not any(span.at < at + self.bucket_ms and span.until >= at for span in self.view.incidents)
        )

    def said(self) -> str:
        """Say the highest bar and what lies outside in words."""
        say = self.view.words
        at, most = max(self.counts.items(), key=lambda item: (item[1], -item[0]))
        return f"{self.title}, {say['peak']} {most} ({clock(at)}), {say['outside']} {self.outside()}"

    def lane(self, number: int) -> Lane:
        """Draw the bars."""
        bars = [
            {"at": at, "until": at + self.bucket_ms, "value": count, "base": 0}
            for at, count in sorted(self.counts.items())
        ]
        top = max(self.counts.values())
        paper = self.view.colours["paper"]
        mark = {"type": "rect", "color": COLOURS[self.what], "stroke": paper, "strokeWidth": 0.6}
        return Lane(
            f"{self.what}_{number}", self.title, 64, [Marks("bars", mark, bars)], top=top, ticks=(0, top)
        )


def plan(document: Document, theme: str) -> Drawing | None:
    """Plan a panel for each incident around which something failed; None where there is none."""
    rows = [row for row in (document.get("chart") or {}).get("rates") or [] if row["counts"]]
    base = incident_view(document, theme)
    incidents = {one["id"]: one for one in document.get("incidents") or []}
    rows = [row for row in rows if row["incident"] in incidents]
    if base is None or not rows:
        return None
    kept = {row["incident"] for row in sorted(rows, key=lambda row: _weight(row, incidents))[:MOST_INCIDENTS]}
    panels = [_rates(row, incidents[row["incident"]], document, base) for row in rows]
    shown = [panel for panel in panels if panel[0].incident["id"] in kept]
    title = base.words["rates"]
    if all(rate.bucket_ms == MINUTE_S * 1000 for panel in shown for rate in panel):
        title += f", {base.words['per_minute']}"
    notes = f"{zone_name(base)}. {base.words['shaded']}"
    bands = [
        Band(rate.lane(number), rate.view, clock_axis(rate.view, labelled=rate is panel[-1]))
        for number, panel in enumerate(shown)
        for rate in panel
    ]
    said = ". ".join([title, zone_name(base), *(rate.said() for panel in panels for rate in panel)])
    return Drawing(title + and_more(base, len(rows) - len(shown)), notes, bands, f"{said}.")


def _weight(row: Row, incidents: dict[str, Row]) -> tuple[bool, int, str]:
    """Order incidents: the primary one, then by failures."""
    total = sum(one["failures"] + one["errors"] for one in row["counts"])
    return not incidents[row["incident"]].get("primary"), -total, row["start"]


def _rates(row: Row, incident: Row, document: Document, base: View) -> list[Rate]:
    """Return what is counted around one incident; a kind without any is left out."""
    bare = replace(base, lo=base.ms(row["start"]), hi=base.ms(row["end"]), incidents=())
    view = replace(bare, incidents=tuple(incident_spans(document, bare)))
    return [
        Rate(what, incident, view, int(row["bucket_s"] * 1000), counts)
        for what in COLOURS
        if (counts := {base.ms(one["at"]): one[what] for one in row["counts"] if one[what]})
    ]


PLUG = Chart(name="rates", section="timeline", plan=plan)
