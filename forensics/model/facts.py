"""Answers of the analyses: measured facts with the places they rest on. Instants are microseconds UTC."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    import polars as pl

    from forensics.model.source import Ref

T = TypeVar("T")


class Facts:
    """Answers by their shape: ``facts[Stalls]``."""

    def __init__(self) -> None:
        self._answers: dict[type, Any] = {}

    def put(self, answer: object) -> None:
        """Remember an answer under its own shape."""
        self._answers[type(answer)] = answer

    def __getitem__(self, shape: type[T]) -> T:
        """Return the answer of a shape; KeyError when its analysis has not run."""
        return cast("T", self._answers[shape])


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """All failures of one signature in one service."""

    signature: str
    family: str
    side: str
    service: str
    failures: int
    failures_max: int | None
    lines: int
    bound: str
    why_bound: str
    first: int
    last: int
    first_wait_began: int | None
    parameters: dict[str, Any]
    refs: tuple[Ref, ...]
    verified: bool = True
    peers: tuple[str, ...] = ()
    """Whom the lines say that the service addressed, the most named first: who logs a failure is often its victim."""


@dataclass(frozen=True, slots=True)
class Undated:
    """Lines of one source that tell of failures and carry no time, so that they belong to no incident."""

    title: str
    lines: int
    ref: Ref


@dataclass(frozen=True, slots=True)
class Failures:
    """Failures, counted as operations: groups, and one row each in ``rows``.

    ``rows`` has service, signature, family, side, ts, began (= ts - wait where the line states it), source, line,
    sure (false where joining with another line is ambiguous), peer (whose session a database server says that it was).
    """

    groups: tuple[FailureGroup, ...]
    rows: pl.DataFrame
    undated: tuple[Undated, ...] = ()


@dataclass(frozen=True, slots=True)
class Beat:
    """Failures of one kind that begin at a beat."""

    service: str
    signature: str
    period_s: float
    phases_s: tuple[float, ...]
    """Where within the period they begin, counted from the full hour in UTC."""
    on: int
    instants: int
    """Instants of failures in all; several at once are one."""
    refs: tuple[Ref, ...]
    width_s: float | None = None
    """Seconds of the period over which they begin, None where they begin at the phases themselves."""
    job: tuple[str, float, Ref] | None = None
    """What the service prints once in each period, where the phase begins: the message, its phase in seconds, one place."""


@dataclass(frozen=True, slots=True)
class Rhythms:
    """Kinds of failure that come at a beat."""

    beats: tuple[Beat, ...]


@dataclass(frozen=True, slots=True)
class LockGroup:
    """Sessions that waited for locks of one holder."""

    service: str
    holder: str | None
    """Process id or ids of the holder; None where no line names it."""
    waiters: tuple[str, ...]
    """Process ids of those that waited."""
    what: str
    """Mode and object of the lock that most waited for."""
    first: int
    """When the first wait began."""
    last: int
    longest_s: float
    """Longest wait that a line states; one that was not obtained lasted longer."""
    obtained: int
    """Waits that ended with the lock."""
    refs: tuple[Ref, ...]
    holder_said: tuple[str, ...]
    """Titles of what the holder printed itself around the waits."""
    holder_refs: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class Locks:
    """Lock waits by holder, the one with most waiters first."""

    groups: tuple[LockGroup, ...]


@dataclass(frozen=True, slots=True)
class EventGroup:
    """All events of one signature in one service that are no failed operations."""

    signature: str
    family: str
    title: str
    service: str
    events: int
    lines: int
    bound: str
    why_bound: str
    first: int
    """When the first began, as far as its line says for how long it had lasted."""
    last: int
    over: int | None
    """Events that a later line says are over; None where no line says so of any."""
    last_over: int | None
    longest_s: float | None
    """How long the longest had lasted at least."""
    refs: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class Events:
    """What lines tell of that is no failed operation."""

    groups: tuple[EventGroup, ...]


@dataclass(frozen=True, slots=True)
class Loss:
    """Lines that a source declares as lost: at least ``n`` before ``at``."""

    service: str
    at: int
    n: int | None
    what: str
    ref: Ref


@dataclass(frozen=True, slots=True)
class Losses:
    """Declared losses of all sources."""

    items: tuple[Loss, ...]


@dataclass(frozen=True, slots=True)
class ClockStep:
    """The wall clock jumped by ``jump_s`` against the monotonic one, seen first at ``at`` (by the new time)."""

    boot: str
    at: int
    jump_s: float
    refs: tuple[Ref, Ref]
    """The entry before and the one after."""

    @property
    def before(self) -> int:
        """What the old clock would have said at ``at``."""
        return self.at - round(self.jump_s * 1_000_000)


@dataclass(frozen=True, slots=True)
class Hole:
    """Entries that a journal numbered and no input has; most of them between ``start`` and ``end``."""

    numbers: int
    largest: int
    start: int
    end: int
    refs: tuple[Ref, Ref]


@dataclass(frozen=True, slots=True)
class Filtered:
    """An export that has ``entries`` of the ``numbers`` that its journal gave out in the export's span."""

    source: int
    entries: int
    numbers: int


@dataclass(frozen=True, slots=True)
class Deletion:
    """Rotated files of a journal were deleted: ``size`` as the line says it."""

    at: int
    size: str
    ref: Ref


@dataclass(frozen=True, slots=True)
class Continuity:
    """What the numbers and clocks of the journals say about what is missing and when."""

    steps: tuple[ClockStep, ...]
    holes: tuple[Hole, ...]
    filtered: tuple[Filtered, ...]
    deletions: tuple[Deletion, ...] = ()


@dataclass(frozen=True, slots=True)
class ClockOffset:
    """How far the clock of ``other`` is ahead of that of ``source``, by events that both show."""

    source: int
    other: int
    offset_s: float
    uncertainty_s: float
    """Half the width in which nine of ten pairs lie: the way of a request is in it."""
    by: str
    """requests (both log them), calls (out and in), probes (sent and served) or copies (the same lines)."""
    pairs: int
    refs: tuple[Ref, Ref]
    beat_s: float | None = None
    """Period of the probes that were compared: a whole number of them more or less would fit too."""


@dataclass(frozen=True, slots=True)
class Lag:
    """Lines of a service that arrived later than the program wrote them."""

    service: str
    lines: int
    """Lines that show both times."""
    most_s: float
    ref: Ref


@dataclass(frozen=True, slots=True)
class Clocks:
    """What the inputs tell of each other's clocks."""

    offsets: tuple[ClockOffset, ...]
    lags: tuple[Lag, ...]

    def doubt_s(self, one: int, other: int) -> float | None:
        """Return how far apart two instants of two sources must lie for their order to be certain; None: not measured."""
        return next(
            (
                abs(item.offset_s) + item.uncertainty_s
                for item in self.offsets
                if {item.source, item.other} == {one, other}
            ),
            None,
        )


@dataclass(frozen=True, slots=True)
class Cover:
    """From when to when a service left lines, and in which sources."""

    service: str
    first: int
    last: int
    lines: int
    sources: tuple[int, ...]
    first_ref: Ref
    last_ref: Ref


@dataclass(frozen=True, slots=True)
class Coverage:
    """What is covered at all: per service, and over all inputs."""

    services: tuple[Cover, ...]
    first: int | None
    last: int | None

    def of(self, service: str) -> Cover | None:
        """Return the cover of one service."""
        return next((cover for cover in self.services if cover.service == service), None)


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """One line about a unit, container, process or host beginning, ending or being killed."""

    at: int
    service: str
    kind: str
    """start, started, stop, stopped, exited, killed, timeout, failed, restart, oom, boot, worker."""
    text: str
    ref: Ref


@dataclass(frozen=True, slots=True)
class Outage:
    """A process that was not there: from the request to stop (or its end) to its start."""

    service: str
    start: int
    end: int | None
    reason: str
    """deploy (stop was requested), crash, oom, watchdog or unknown."""
    refs: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class Restarts:
    """Lifecycle lines, outages made of them, process ids and boots seen per service."""

    events: tuple[Lifecycle, ...]
    outages: tuple[Outage, ...]
    pids: dict[str, tuple[str, ...]] = field(default_factory=dict)
    boots: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Due:
    """One instant at which a probe was due, and what became of it."""

    at: int
    state: str
    """answered, late, missed, failed or blind."""
    answered: int | None = None
    rivals: tuple[int, ...] = ()
    ref: Ref | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class LongRun:
    """A result that came late because the run that gave it, or the one before, took longer than the beat."""

    at: int
    gap_s: float
    """Time since the result before."""
    took_s: float
    ref: Ref


@dataclass(frozen=True, slots=True)
class Series:
    """One periodic client, as seen by the service or by the monitor itself."""

    name: str
    seen_by: str
    service: str | None
    period_s: float
    jitter_s: float
    timeout_s: float | None
    alert_after: int | None
    dues: tuple[Due, ...]
    gaps: tuple[tuple[int, int, int, Ref, Ref], ...] = ()
    """Spans without any probe although the other side was alive: last before, first after, missing, refs."""
    client: str | None = None
    paused: bool = False
    """True where the monitor's own settings say that it does not check this target now."""
    until: tuple[int, Ref] | None = None
    """The last result of any target in the same source: a series that ends before it was no longer asked, or is frozen."""
    runs: tuple[LongRun, ...] = ()
    """Results that came late because their own run took longer than the beat."""

    def at(self, *states: str) -> tuple[Due, ...]:
        """Return the dues of some states."""
        return tuple(due for due in self.dues if due.state in states)


@dataclass(frozen=True, slots=True)
class Probes:
    """All probe series."""

    series: tuple[Series, ...]


@dataclass(frozen=True, slots=True)
class Silence:
    """Far fewer lines than the source's own rate predicts. ``end`` None: silent until the input ends."""

    service: str
    start: int
    end: int | None
    expected: float
    found: int
    burst_after: int
    parts: tuple[tuple[int, int], ...]
    score: float
    before: Ref
    after: Ref | None
    bursts: tuple[int, ...] = ()
    """Lines printed right after each part."""


@dataclass(frozen=True, slots=True)
class Silences:
    """Silences of all services."""

    items: tuple[Silence, ...]


@dataclass(frozen=True, slots=True)
class Witness:
    """One independent sign that a process stood still."""

    kind: str
    """probes, calls, multiples, burst, timers."""
    n: int
    refs: tuple[Ref, ...]
    detail: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stall:
    """A process that stood still while others went on."""

    service: str
    start: int
    end: int | None
    parts: tuple[tuple[int, int], ...]
    witnesses: tuple[Witness, ...]
    silence: Silence


@dataclass(frozen=True, slots=True)
class Stalls:
    """Stalls of all services."""

    items: tuple[Stall, ...]


@dataclass(frozen=True, slots=True)
class Incident:
    """A window in which something was wrong."""

    start: int
    start_bound: str
    end: int | None
    ongoing: bool
    recovered_at: int | None
    detected_at: int | None
    acknowledged_at: int | None
    mitigated_at: int | None
    services: tuple[str, ...]
    weight: float
    start_ref: Ref | None = None
    end_ref: Ref | None = None
    start_wait_s: float | None = None
    """Length of the wait that was subtracted to place the start, None when nothing was."""


TRIFLE = 0.2
"""Share of the weightiest incident's weight below which one that goes on is a trifle beside it."""


@dataclass(frozen=True, slots=True)
class Incidents:
    """All incidents in time order."""

    items: tuple[Incident, ...]
    last: int | None = None

    def primary(self) -> Incident | None:
        """Return the incident that the report's head is about: one that goes on and is no trifle, else the weightiest, the latest of equals.

        Who reads while something is wrong wants that first.
        """
        most = max((item.weight for item in self.items), default=0.0)
        return max(
            self.items,
            key=lambda item: (item.ongoing and item.weight >= TRIFLE * most, item.weight, item.start),
            default=None,
        )


@dataclass(frozen=True, slots=True)
class SampleSeries:
    """One gauge: before, peak and after, with its period."""

    series: str
    period_s: float | None
    before: float | None
    peak: float
    after: float | None
    limit: float | None
    around: tuple[tuple[int, float], ...]
    """Samples around the primary incident, for the chart and for the plateau's bounds."""
    incident_before: tuple[int, float] | None
    incident_peak: tuple[int, float] | None
    incident_after: tuple[int, float] | None
    plateau: tuple[int, int, int] | None
    """First and last sample at the incident's peak, and their number."""
    refs: dict[str, Ref] = field(default_factory=dict)
    n: int = 0


@dataclass(frozen=True, slots=True)
class Samples:
    """All gauges."""

    series: tuple[SampleSeries, ...]


@dataclass(frozen=True, slots=True)
class BlindGap:
    """A span in which a monitor looked away."""

    monitor: str
    start: int
    end: int
    missing: int
    others_alive: bool | None
    kind: str
    inside: tuple[int, ...]
    overlapping: tuple[int, ...]
    refs: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class Detectability:
    """What a monitor can see: freezes below never alert, freezes above always do."""

    monitor: str
    period_s: float
    timeout_s: float
    alert_after: int
    never_below_s: float
    always_above_s: float


@dataclass(frozen=True, slots=True)
class Alert:
    """One alert or recovery that a monitor recorded."""

    monitor: str
    at: int
    state: str
    text: str
    ref: Ref


@dataclass(frozen=True, slots=True)
class Replay:
    """A monitor's own rule, applied to its results: when an alert was due, and when one came."""

    monitor: str
    alert_after: int
    """Failed checks in a row that make an alert due."""
    failed: int
    """Failed checks in a row, at most."""
    due: int | None
    """When the rule was met: the last check that it takes had failed."""
    alerted: int | None
    verdict: str
    """right, late, absent (met, none recorded), false (none was due), not_met."""
    refs: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class Watch:
    """How well the monitor watched."""

    gaps: tuple[BlindGap, ...]
    detectability: tuple[Detectability, ...]
    alerts: tuple[Alert, ...]
    replays: tuple[Replay, ...] = ()


@dataclass(frozen=True, slots=True)
class Noise:
    """One message template inside and outside the incidents."""

    template: str
    service: str
    level: str | None
    inside: int
    outside: int
    inside_per_hour: float | None
    outside_per_hour: float | None
    expected: float
    verdict: str
    ref: Ref


@dataclass(frozen=True, slots=True)
class Background:
    """Message templates, the noisiest first."""

    items: tuple[Noise, ...]


@dataclass(frozen=True, slots=True)
class FailedRoute:
    """Requests that failed inside incidents."""

    service: str
    method: str | None
    route: str
    status: int
    count: int
    ref: Ref


@dataclass(frozen=True, slots=True)
class Impact:
    """Who was hit inside the incidents, and what went on working."""

    routes: tuple[FailedRoute, ...]
    clients: tuple[str, ...]
    completed: int
    completed_refs: tuple[Ref, ...]
    calls_failed: int
    calls_late: int
    slowest_call_s: float | None
    call_refs: tuple[Ref, ...]
    failed_outside: int = 0
    failed: int = 0
    """Requests that failed, each once although a proxy and the service behind it both tell of it."""


@dataclass(frozen=True, slots=True)
class Day:
    """Failures of one signature on one day of the case's zone."""

    date: str
    service: str
    signature: str
    failures: int
    lines: int
    partial: bool
    bound: str
    inside: int


@dataclass(frozen=True, slots=True)
class Daily:
    """Failures per day, service and signature; ``days`` lists every covered day, ``partial`` those cut by coverage."""

    items: tuple[Day, ...]
    days: tuple[tuple[str, bool], ...]
