"""Where and when: the window that a chart shows, its zone, its words and its colours."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from forensics.model.texts import ENGLISH
from forensics.report.charts.theme import INSET, PLOT, THEMES
from forensics.report.language import speak
from forensics.report.statements import catalogue

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from forensics.report.language import Language

Document = dict[str, Any]
Row = dict[str, Any]

MARGIN: Final = 0.25
"""Share of the incident that is shown before and after it."""
LEAST_MARGIN_MS: Final = 180_000
"""A short incident still needs a healthy probe or sample beside it."""
MINUTE_S, HOUR_S, DAY_S = 60, 3600, 86400
DAY_MS: Final = DAY_S * 1000
STEPS_S: Final = (
    *(1, 2, 5, 10, 15, 20, 30),
    *(n * MINUTE_S for n in (1, 2, 5, 10, 15, 30)),
    *(n * HOUR_S for n in (1, 2, 3, 6, 12)),
    *(n * DAY_S for n in (1, 2, 7, 14, 30)),
)
"""Round steps, so that buckets and ticks fall on round local times."""
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
JOINED: Final = 2.5
"""Usual pauses between two samples over which a line joins them: over a longer one nobody knows where it would run."""
FEWEST_JOINED: Final = 3
"""Fewer samples show no usual pause."""


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
        return vocabulary(self.language)

    @property
    def colours(self) -> dict[str, str]:
        """The colours of the theme."""
        return THEMES[self.theme]

    def ms(self, instant: str) -> int:
        """Place an ISO 8601 instant on the axis."""
        return local_ms(datetime.fromisoformat(instant), self.offset)

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


def spoken(document: Document) -> Language:
    """Return the case's language; English for one we do not speak."""
    return speak(document["case"].get("language") or ENGLISH)


def vocabulary(language: Language) -> Mapping[str, str]:
    """Look up the words of a language."""
    words: dict[str, str] = catalogue(language.tag)["chart"]
    return words


def local_ms(instant: datetime, offset: timedelta) -> int:
    """Milliseconds since 1970 on a clock that shows local time."""
    return (instant - EPOCH + offset) // timedelta(milliseconds=1)


def runs(instants: Sequence[int]) -> list[tuple[int, int]]:
    """Return first and last of each run of samples (their instants in time order) that a line may join."""
    pauses = [after - before for before, after in pairwise(instants)]
    usual = median(pauses) if len(instants) >= FEWEST_JOINED else 0
    found: list[tuple[int, int]] = []
    for at, pause in zip(instants, [None, *pauses][: len(instants)], strict=True):
        if pause is None or pause > JOINED * usual:
            found.append((at, at))
        else:
            found[-1] = (found[-1][0], at)
    return found


def primary(document: Document) -> Row | None:
    """Choose the incident that the chart is about."""
    incidents: list[Row] = document.get("incidents") or []
    return next((one for one in incidents if one.get("primary")), incidents[0] if incidents else None)


def incident_view(document: Document, theme: str) -> View | None:
    """Choose the window and its zone; None where neither an incident nor the case gives one."""
    incident, window = primary(document), document["case"].get("window") or [None, None]
    start, end = (incident["start"], incident["end"]) if incident else window
    ongoing = bool(incident and incident["ongoing"])
    if ongoing:
        end = window[1] or end
    if not start or (not end and not incident):
        return None
    offset = datetime.fromisoformat(start).utcoffset() or timedelta()
    lo, hi = (local_ms(datetime.fromisoformat(at), offset) for at in (start, end or start))
    if incident:
        margin = max(int((hi - lo) * MARGIN), LEAST_MARGIN_MS)
        lo, hi = lo - margin, hi if ongoing and hi > lo else hi + margin
    if hi <= lo:
        return None
    zone = document["case"].get("timezone") or ""
    bare = View(lo, hi, offset, zone, spoken(document), theme)
    spans = tuple(incident_spans(document, bare))
    return replace(bare, incidents=spans)


def incident_spans(document: Document, view: View) -> Iterable[Span]:
    """Clip every incident to the window."""
    for one in document.get("incidents") or []:
        span = view.span(one["start"], None if one["ongoing"] else one["end"] or one["start"])
        if span:
            exact = one.get("start_bound") != "no_later_than"
            yield Span(span.at, span.until, one.get("id") or "", bool(one["ongoing"]), exact)


def step_s(view: View, most: int, least_s: float = 0) -> int:
    """Choose the smallest round step that cuts the window into at most `most` pieces."""
    wanted = max((view.hi - view.lo) / 1000 / most, least_s)
    return next((step for step in STEPS_S if step >= wanted), int(-(-wanted // 86400)) * 86400)
