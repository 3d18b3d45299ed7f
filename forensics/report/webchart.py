"""The timeline of the HTML page: what is drawn where; the page's own script zooms and filters it.

Planning turns a report document into lanes of marks on one axis; ``templates/web/timeline.j2`` writes them as SVG. Every
mark carries its instants, so that the script can place it again in another window; without the script the drawing shows
the primary incident and what surrounds it.

Instants are milliseconds of the report's zone, counted as if they were UTC, as in `forensics.report.charts`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Any

from forensics.model import texts
from forensics.report import prose
from forensics.report.charts.view import runs
from forensics.report.language import speak
from forensics.report.render import STORY, Markup

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Row = dict[str, Any]

LEFT = 132
"""Room for the lanes' names."""
PLOT = 820
"""Width of the plot before the script fits it to the window."""
INSET = 8
"""Room at both ends of the axis, so that no shape at the edge of the window is cut."""
AXIS = 34
MARGIN = 0.25
"""Share of the incident that is shown before and after it at first."""
LEAST_MS = 320_000
"""A short incident still needs a healthy answer beside it, of a monitor that asks every five minutes."""
MOST_TICKS = 7
STEPS_S = (
    *(1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800),
    *(3600 * n for n in (1, 2, 3, 6, 12, 24, 48, 168, 336, 672)),
)
"""Round steps between ticks; the script has the same."""
HEIGHTS = {"span": 20, "bar": 52, "dot": 22, "line": 64}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ONCE, RETOLD = "once", "retold"
"""Shares of the failures: each once, and those of clients that the database server's own log tells of as well."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One shape of the drawing."""

    at: int
    kind: str
    text: str
    """What is said where the mark is chosen."""
    until: int | None = None
    """None: an instant."""
    services: tuple[str, ...] = ()
    grade: str | None = None
    row: int | None = None
    """Number of the row of the timeline's table that says the same."""
    floor: float = 0
    level: float = 1
    """From where to where a bar reaches, or where a value lies: shares of the lane's height."""
    look: str = ""
    """Name of the shape and colour."""


@dataclass(frozen=True, slots=True)
class Lane:
    """One band."""

    name: str
    shape: str
    """``span``, ``bar``, ``dot`` or ``line``."""
    marks: list[Mark]
    note: str = ""
    top: int = 0

    @property
    def height(self) -> int:
        """Pixels from this lane to the next one."""
        return HEIGHTS[self.shape]

    @property
    def parts(self) -> list[list[Mark]]:
        """Return the marks that one line joins each: it ends where samples are missing."""
        marks = sorted(self.marks, key=lambda mark: mark.at)
        spans = runs([mark.at for mark in marks])
        return [[mark for mark in marks if first <= mark.at <= last] for first, last in spans]


@dataclass(frozen=True, slots=True)
class Chart:
    """The whole drawing."""

    lanes: list[Lane]
    bands: list[Mark]
    """Incidents, shaded through all lanes."""
    view: tuple[int, int]
    """The window at first."""
    whole: tuple[int, int]
    """The window in which everything lies."""
    height: int
    kinds: list[str] = field(default_factory=list)
    services: list[str] = field(default_factory=list)
    grades: list[str] = field(default_factory=list)

    def x(self, at: int) -> float:
        """Return how far an instant lies from the left edge of the plot."""
        lo, hi = self.view
        return round(INSET + (at - lo) / (hi - lo) * (PLOT - 2 * INSET), 1)

    def is_out(self, mark: Mark) -> bool:
        """Tell whether a mark lies outside the first window."""
        lo, hi = self.view
        return mark.at > hi or (mark.at if mark.until is None else mark.until) < lo

    def box(self, mark: Mark) -> tuple[float, float]:
        """Return left edge and width of a mark that lasts, clipped to the plot; never too narrow to be seen."""
        lo, hi = self.view
        until = mark.at if mark.until is None else mark.until
        left, right = self.x(max(mark.at, lo)), self.x(min(until, hi))
        return left, round(max(right - left, 1.5), 1)

    def ticks(self) -> list[tuple[float, str]]:
        """Return where the axis has a tick, and its label."""
        lo, hi = self.view
        span = (hi - lo) / 1000
        step = next((s for s in STEPS_S if span / s <= MOST_TICKS), STEPS_S[-1]) * 1000
        first = -(-lo // step) * step
        return [(self.x(at), label(at, step, span)) for at in range(first, hi + 1, step)]

    def indices(self, mark: Mark) -> Markup:
        """Return the numbers of a mark's services in the filter."""
        return Markup(" ".join(str(self.services.index(name)) for name in mark.services))


def label(at: int, step: int, span_s: float) -> str:
    """Name a tick: the day where days are stepped over, else the time, with its day in long windows."""
    moment = EPOCH + timedelta(milliseconds=at)
    if step >= 86_400_000:
        return f"{moment:%m-%d}"
    clock = f"{moment:%H:%M}" if step >= 60_000 else f"{moment:%H:%M:%S}"
    return f"{moment:%m-%d} {clock}" if span_s > 86_400 else clock


def plan(document: Row, names: dict[str, str]) -> Chart | None:
    """Return the drawing of a document; None where no instant is known. `names` are the words of the lanes."""
    planner = Planner(document, names)
    return planner.chart() if planner.whole else None


class Planner:
    """Turns the rows of a document into lanes."""

    def __init__(self, document: Row, names: dict[str, str]) -> None:
        self.document = document
        self.names = names
        self.language = speak(document["case"].get("language") or texts.ENGLISH)
        incidents = document["incidents"]
        self.primary = next((i for i in incidents if i["primary"]), incidents[0] if incidents else None)
        self.offset = self._offset()
        self.whole = self._whole()

    def chart(self) -> Chart:
        """Return the whole drawing."""
        assert self.whole is not None
        lanes, top = [], 0
        for lane in self._lanes():
            lanes.append(Lane(lane.name, lane.shape, lane.marks, lane.note, top))
            top += lane.height
        marks = [mark for lane in lanes for mark in lane.marks]
        grades = dict.fromkeys(row["grade"] for row in self.document["timeline"])
        return Chart(
            lanes=lanes,
            bands=self.incidents(),
            view=self._view(),
            whole=self.whole,
            height=top + AXIS,
            kinds=list(dict.fromkeys(mark.kind for mark in marks)),
            services=sorted({name for mark in marks for name in mark.services}),
            grades=list(grades | dict.fromkeys(mark.grade for mark in marks if mark.grade)),
        )

    def ms(self, instant: str | None) -> int | None:
        """Place an instant on the axis."""
        if instant is None:
            return None
        try:
            at = datetime.fromisoformat(instant)
        except ValueError:
            return None
        if at.tzinfo is None:
            return None
        return round((at - EPOCH + self.offset).total_seconds() * 1000)

    def _offset(self) -> timedelta:
        """Return the offset of the axis: that of the primary incident, else of the first instant."""
        instants = [self.primary["start"]] if self.primary else []
        instants += [row["at"] for row in self.document["timeline"]] + list(
            self.document["case"]["window"] or []
        )
        for text in filter(None, instants):
            try:
                found = datetime.fromisoformat(text).utcoffset()
            except ValueError:
                continue
            if found is not None:
                return found
        return timedelta()

    def _whole(self) -> tuple[int, int] | None:
        """Return the window of everything that has an instant."""
        edges = list(self.document["case"]["window"] or [])
        edges += [row["at"] for row in self.document["timeline"]]
        edges += [item[key] for item in self.document["incidents"] for key in ("start", "end")]
        found = [at for text in edges if (at := self.ms(text)) is not None]
        if not found:
            return None
        pad = max((max(found) - min(found)) // 50, 60_000)
        return min(found) - pad, max(found) + pad

    def _view(self) -> tuple[int, int]:
        """Return the window around the primary incident, or the whole."""
        assert self.whole is not None
        start = self.ms(self.primary["start"]) if self.primary else None
        if self.primary is None or start is None:
            return self.whole
        end = self.ms(self.primary["recovered_at"] or self.primary["end"])
        end = self.whole[1] if end is None else max(end, start)
        margin = max(round((end - start) * MARGIN), LEAST_MS)
        return start - margin, end + margin

    def _lanes(self) -> Iterator[Lane]:
        """Yield the lanes that have marks."""
        fixed = (
            Lane(self.names["incident"], "span", self.incidents()),
            Lane(self.names["failures"], "bar", self.failures(ONCE), self.peak(ONCE)),
            Lane(self.names["retold"], "bar", self.failures(RETOLD), self.peak(RETOLD)),
            Lane(self.names["still"], "span", self.still()),
            *self.samples(),
            Lane(self.names["probes"], "dot", self.probes()),
            Lane(self.names["gap"], "span", self.gaps()),
            *self.events(),
        )
        return (lane for lane in fixed if lane.marks)

    def lasting(
        self, kind: str, name: str, start: str | None, end: str | None, **more: Any
    ) -> Iterator[Mark]:
        """Yield what lasted; without an end it lasts until the inputs end."""
        at, until = self.ms(start), self.ms(end)
        if at is None or start is None or self.whole is None:
            return
        lasted = prose.elapsed(start, end)
        told = f"{name}: {prose.instant(start, fraction=False)}"
        told += (
            f" {self.names['to']} {prose.instant(end, fraction=False)}, {prose.duration(lasted, self.language)}"
            if end is not None and lasted is not None
            else f", {self.names['ongoing']}"
        )
        yield Mark(at, kind, told, self.whole[1] if until is None else until, **more)

    def incidents(self) -> list[Mark]:
        """Return the incidents."""
        return [
            mark
            for item in self.document["incidents"]
            for mark in self.lasting(
                "incident",
                f"{self.names['one_incident']} {item['label']}",
                item["start"],
                item["end"],
                services=tuple(item["services"]),
                look="incident",
            )
        ]

    def counts(self, share: str) -> dict[int, list[Row]]:
        """Return a share of the failures (``count`` and ``most`` of each row) by the instant at which their bucket begins."""
        rows = [
            (at, part)
            for row in self.drawn("failures")
            if (at := self.ms(row["at"])) is not None and (part := shared(row, share))["most"]
        ]
        rows.sort(key=lambda pair: (pair[0], pair[1]["service"] or "", pair[1]["family"] or ""))
        return {at: [row for _, row in group] for at, group in groupby(rows, key=lambda pair: pair[0])}

    def peak(self, share: str) -> str:
        """Say how many failures the highest bar stands for."""
        most = max((sum(row["count"] for row in rows) for rows in self.counts(share).values()), default=0)
        return f"≤ {most}" if most else ""

    def failures(self, share: str) -> list[Mark]:
        """Return bars of a share of the failures, those of one bucket on top of each other."""
        size = round(self.document.get("chart", {}).get("bucket_s", 60) * 1000)
        buckets = self.counts(share)
        most = max((sum(row["count"] for row in rows) for rows in buckets.values()), default=1) or 1
        found = []
        for at, rows in buckets.items():
            below = 0
            for row in rows:
                family = self.language.text(str(row["family"]).replace("_", " "), "family")
                n = prose.count(row["count"], row.get("most"), language=self.language)
                told = (
                    f"{prose.instant(row['at'])}, {prose.duration(size / 1000, self.language)}: {n} {family}"
                )
                edges = (below / most, row["count"] / most)
                found.append(
                    Mark(at, "failures", told, at + size, service(row), None, None, *edges, look="bar")
                )
                below += row["count"]
        return found

    def still(self) -> list[Mark]:
        """Return stalls and silences."""
        stalls = [
            mark
            for item in self.document["stalls"]
            for start, end in item["parts"] or [[item["start"], item["end"]]]
            for mark in self.lasting(
                "stall",
                f"{self.names['stalled']} ({item['service']})",
                start,
                end,
                services=service(item),
                grade=item["grade"],
                look="stall",
            )
        ]
        silences = [
            mark
            for item in self.document["silences"]
            for mark in self.lasting(
                "silence",
                f"{self.names[item.get('why') or 'silent']} ({item['service']})",
                item["start"],
                item["end"],
                services=service(item),
                look="silence",
            )
        ]
        return silences + stalls

    def gaps(self) -> list[Mark]:
        """Return the gaps of monitors."""
        return [
            mark
            for item in self.document["blind_gaps"]
            for mark in self.lasting(
                "blind",
                f"{item['monitor']}, {str(item['kind']).replace('_', ' ')}",
                item["start"],
                item["end"],
                look="blind",
            )
        ]

    def probes(self) -> list[Mark]:
        """Return probes, each where it was answered, else where it was due."""
        found = []
        for row in self.drawn("probes"):
            shown = row["answered"] or row["due"]
            if (at := self.ms(shown)) is not None:
                told = f"{prose.instant(shown, fraction=False)}: {row['series']}, {row['state']}"
                found.append(Mark(at, "probe", told, look=f"probe-{row['state']}"))
        return found

    def samples(self) -> Iterator[Lane]:
        """Yield one lane for each series."""
        by_series: dict[str, list[Row]] = {}
        for row in self.drawn("samples"):
            by_series.setdefault(row["series"], []).append(row)
        for series, rows in by_series.items():
            values = [row["value"] for row in rows if row["value"] is not None]
            most = max(values, default=0) or 1
            limit = next((row["limit"] for row in rows if row["limit"] is not None), None)
            marks = [
                Mark(
                    at,
                    "sample",
                    f"{prose.instant(row['at'], fraction=False)}: {series} {prose.number(row['value'])}",
                    level=row["value"] / most,
                    look="sample",
                )
                for row in rows
                if row["value"] is not None and (at := self.ms(row["at"])) is not None
            ]
            note = f"≤ {prose.number(most)}" + (
                f" ({self.names['limit']} {prose.number(limit, self.language)})" if limit is not None else ""
            )
            yield Lane(series, "line", marks, note)

    def events(self) -> Iterator[Lane]:
        """Yield one lane for each kind of event, in the order of their weight and of their first."""
        rank = {kind: place for place, kinds in enumerate(STORY) for kind in kinds}
        by_kind: dict[str, list[Mark]] = {}
        for number, row in enumerate(self.document["timeline"]):
            if (at := self.ms(row["at"])) is None:
                continue
            told = f"{prose.instant(row['at'], fraction=False)}: {row['text']}"
            mark = Mark(at, row["kind"], told, None, service(row), row["grade"], number, look=row["grade"])
            by_kind.setdefault(row["kind"], []).append(mark)
        first = {kind: min(mark.at for mark in marks) for kind, marks in by_kind.items()}
        for kind in sorted(by_kind, key=lambda name: (rank.get(name, len(STORY)), first[name], name)):
            yield Lane(self.names.get(f"kind_{kind}", kind.replace("_", " ")), "dot", by_kind[kind])

    def drawn(self, what: str) -> Iterable[Row]:
        """Return the rows that the pipeline prepared for drawings."""
        rows: list[Row] = self.document.get("chart", {}).get(what, [])
        return rows


def shared(row: Row, share: str) -> Row:
    """Return a row of failures with those alone that count once, or with those that a server's own log tells of as well."""
    count: int = row["count"]
    most: int = row.get("most", count)
    once, once_most = row.get("once", count), row.get("once_most", most)
    if share == ONCE:
        return row | {"count": once, "most": once_most}
    return row | {"count": count - once, "most": most - once_most}


def service(row: Row) -> tuple[str, ...]:
    """Return the service of a row, nothing where it has none."""
    return (row["service"],) if row.get("service") else ()
