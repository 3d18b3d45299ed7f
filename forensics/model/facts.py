"""Answers of the analyses: measured facts with the places they rest on. Instants are microseconds UTC."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeVar, cast

from forensics.model import outcomes

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
    sure (false where joining with another line is ambiguous), peer (whose session a database server says that it was), retold (true for a
    failure that a client's log tells of and the database server's own log as well, which is one failure).
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
class LockWait:
    """One wait of one session for one lock, as the lines about it tell."""

    waiter: str
    """Process id."""
    began: int
    """The first line minus the wait that it states."""
    last: int
    """The line of the lock that was obtained; of a wait without one the last line that saw it waiting, which is no end."""
    obtained: bool
    ref: Ref
    """Its first line."""


@dataclass(frozen=True, slots=True)
class Member:
    """One session of a client, as a snapshot lists it."""

    pid: str
    application: str | None
    state: str | None
    wait: str | None
    """Its wait event, as ``type: event``."""
    xact_s: float | None
    """Age of its transaction; None where it has none, or the snapshot does not tell."""
    ref: Ref


@dataclass(frozen=True, slots=True)
class HolderSeen:
    """What a snapshot shows of a session that the server's log names as the holder of a lock."""

    member: Member
    at: int
    """The snapshot's instant."""
    dated: str
    """``now``, ``watch`` or ``name`` (of the file)."""
    apart_s: float
    """From the nearest of the waits to the snapshot, in seconds: 0 while one lasted, negative before it."""
    since: int | None
    """When its transaction began."""
    later: bool
    """Did that transaction begin after the last of the waits?"""


@dataclass(frozen=True, slots=True)
class QueueHead:
    """The first session that waited for a lock which excludes all others (ACCESS EXCLUSIVE), before sessions that wanted less.

    PostgreSQL grants no lock past a waiter that conflicts with it (src/backend/storage/lmgr/README, "Lock Manager Internal Locking").
    """

    pid: str
    mode: str
    began: int
    statement: str | None
    """How its statement begins, where a line says so."""
    peer: str | None
    """Whose session it was: ``user@database``."""
    cancelled: int | None
    """When its statement was cancelled."""
    ref: Ref


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
    """The last line about a wait."""
    longest_s: float
    """Longest wait that a line states; one that was not obtained lasted longer."""
    obtained: int
    """Sessions all of whose waits ended with the lock."""
    refs: tuple[Ref, ...]
    holder_said: tuple[str, ...]
    """Titles of what the holder printed itself around the waits."""
    holder_refs: tuple[Ref, ...]
    waits: tuple[LockWait, ...] = ()
    """In the order in which they began."""
    seen: tuple[HolderSeen, ...] = ()
    """The holders that the nearest snapshot lists."""
    kinds: tuple[tuple[str, int], ...] = ()
    """Modes of the locks, with how many sessions waited for each, most first; with the object where there are several."""
    object: str | None = None
    """What all of them are on, None where they are on several objects."""
    holder_lines: int = 0
    """Lines of the holder in the server's log, of whatever kind."""
    head: QueueHead | None = None
    """Who waited for a lock that excludes all others, so that later requests had to wait behind it."""

    @property
    def application(self) -> str | None:
        """The application of the only holder, where a snapshot shows it while sessions waited."""
        found = {one.member.application for one in self.seen if one.apart_s == 0}
        return next(iter(found)) if len(found) == 1 and self.holder and "," not in self.holder else None

    @property
    def seen_waiting(self) -> int | None:
        """When a wait that no line ends was last seen; None where all ended with the lock."""
        return max((one.last for one in self.waits if not one.obtained), default=None)


@dataclass(frozen=True, slots=True)
class Locks:
    """Lock waits by holder, the one with most waiters first."""

    groups: tuple[LockGroup, ...]


@dataclass(frozen=True, slots=True)
class Span:
    """One event that lasts: a thread that is blocked, a connection that is held, a server that is down."""

    name: str | None
    """What it is about, as its lines name it."""
    began: int
    """Its line minus the time that it states."""
    told: int
    """The last line that tells of it."""
    over: int | None
    """The line that says that it is over."""
    lasted_s: float | None
    """How long it had lasted at least, as its last line states it."""
    lines: int
    ref: Ref
    over_ref: Ref | None = None


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
    also: int = 0
    """Lines of other observers that tell of these events once more."""
    mute: int = 0
    """Events whose line has a place for the reason, and none in it."""
    apart_s: tuple[float, ...] = ()
    """Seconds between one event and the next, where they are few."""
    spans: tuple[Span, ...] = ()
    """The events one by one, where they are few and last."""

    @property
    def open(self) -> tuple[str, ...]:
        """Name what no line says is over, where lines say so of others."""
        return () if self.over is None else tuple(one.name or "?" for one in self.spans if one.over is None)

    @property
    def returns_s(self) -> tuple[float, float] | None:
        """Return how long after their line the first and the last were over."""
        took = [round((one.over - one.told) / 1_000_000, 1) for one in self.spans if one.over is not None]
        return (min(took), max(took)) if took else None

    @property
    def over_within_s(self) -> float | None:
        """Return within which time several were over."""
        ends = [one.over for one in self.spans if one.over is not None]
        return round((max(ends) - min(ends)) / 1_000_000, 3) if len(ends) > 1 else None


@dataclass(frozen=True, slots=True)
class Events:
    """What lines tell of that is no failed operation."""

    groups: tuple[EventGroup, ...]


@dataclass(frozen=True, slots=True)
class Backlog:
    """Messages that were written one after another and read at once: their receiver stood still, or they came late."""

    service: str
    n: int
    peers: tuple[str, ...]
    """Who wrote them, as far as lines name them."""
    at: int
    """When they were read."""
    sent_first: int
    sent_last: int
    oldest_s: float
    """How long the oldest had waited, by its sender's clock."""
    newest_s: float
    silent_since: int | None
    """Last line of the receiver before, where it was silent for about as long; else None."""
    refs: tuple[Ref, ...]

    @property
    def silent_s(self) -> float | None:
        """How long the receiver had printed nothing."""
        return None if self.silent_since is None else round((self.at - self.silent_since) / 1_000_000, 2)


@dataclass(frozen=True, slots=True)
class Skew:
    """A host whose times are behind (positive) the receiver's by the same amount in each message."""

    service: str
    peer: str
    n: int
    offset_s: float
    within_s: float
    """No message is further off than this."""
    zone: bool
    """A whole number of quarter hours: another time zone, and no clock that is wrong."""
    refs: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class Delays:
    """What lines say that show when a message was written and when it was read."""

    backlogs: tuple[Backlog, ...]
    skews: tuple[Skew, ...]


@dataclass(frozen=True, slots=True)
class Worker:
    """A worker process that missed its heartbeat, and its end."""

    service: str
    pid: str
    at: int
    """When its master said so: it had been silent for the whole limit."""
    ended: int | None
    signal: str | None
    """Number of the signal by which it ended, its name where that is no usual one; None: it left by itself, or nothing says so."""
    limit_s: float | int | str | None
    refs: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class Workers:
    """Workers that missed their heartbeat, and those begun from then on: service, instant, process id, place."""

    missed: tuple[Worker, ...]
    begun: tuple[tuple[str, int, str, Ref], ...]


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
    """The wall clock was set by ``jump_s``, seen first at ``at`` (by the new time): it jumped against the monotonic one, or a program says so."""

    boot: str | None
    at: int
    jump_s: float
    refs: tuple[Ref, ...]
    """The entry before and the one after; of a step that is only stated, the line that says so."""
    said: Ref | None = None
    """The line in which a time service says so."""

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

    def skipped(self) -> tuple[tuple[int, int], ...]:
        """Return the spans that the clock jumped over, from the old time to the new one: no time passed in them."""
        return tuple((step.before, step.at) for step in self.steps if step.jump_s > 0)


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
    """start, started, ready, stop, stopped, exited, panicked, killed, timeout, failed, restart, reload, backoff, oom, boot, worker."""
    text: str
    ref: Ref


@dataclass(frozen=True, slots=True)
class Outage:
    """A process that was not there: from the request to stop (or its end) to its start."""

    service: str
    start: int
    end: int | None
    reason: str
    """deploy (a stop was requested), crash, both with _loop where starts failed; killed (by a signal that no line explains), oom, watchdog, unhealthy, or finished (without an error)."""
    refs: tuple[Ref, ...]
    since: int | None = None
    """When what ended had started, None where no line says so."""
    failed: int = 0
    """Starts within it that brought nothing back."""
    ends: int = 0
    """How often a line says that the process ended."""
    gave_up: int | None = None
    """When the service manager stopped trying."""
    stopped: int | None = None
    """When a requested stop was done."""


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

    @property
    def outcome(self) -> str:
        """How it failed, by its error: timeout, refused, tls, dns, http and others (:mod:`forensics.model.outcomes`)."""
        return outcomes.outcome(self.state, self.error)


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
    long_runs: tuple[LongRun, ...] = ()
    """Results that came late because their own run took longer than the beat."""
    asks: tuple[str | None, str | None] | None = None
    """Method and route that it asks for, where the service saw it."""
    checks: bool = True
    """Does it check on the service, by its route or by the case file? What a page asks for at a beat is a user's."""

    def at(self, *states: str) -> tuple[Due, ...]:
        """Return the dues of some states."""
        return tuple(due for due in self.dues if due.state in states)

    def runs(self, *states: str) -> tuple[tuple[Due, ...], ...]:
        """Return the runs of dues of some states, one after the other; a due of any other state ends a run."""
        stretches = groupby(self.dues, key=lambda due: due.state in states)
        return tuple(tuple(stretch) for inside, stretch in stretches if inside)


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
class PeriodicLine:
    """A message that comes at a beat: ``per_minute`` times in each whole minute.

    ``rows`` has one row per minute with it: service, template, minute, n, first (struct: source, first_line) and last (source, last_line).
    """

    service: str
    template: str
    per_minute: float
    rows: pl.DataFrame


@dataclass(frozen=True, slots=True)
class Periodic:
    """Messages at a beat of all services."""

    items: tuple[PeriodicLine, ...]


@dataclass(frozen=True, slots=True)
class Witness:
    """One independent sign that a process stood still."""

    kind: str
    """probes, calls, multiples, burst, timers, periodic."""
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
    start_kind: str = "failure"
    """What places the start: the first ``failure``, the last line before a ``silence``, the first ``probe`` not answered, a ``stop`` that was asked
    for, or the ``end`` of a process."""


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
class Idler:
    """A session that idles inside a transaction."""

    pid: str
    application: str | None
    aborted: bool
    age_s: float | None
    """Age of its transaction, else of its state (an aborted one has no beginning any more); None where the snapshot tells neither."""
    holds: str | None
    """Locks that it holds, where the snapshot has locks."""
    waiters: int
    """Sessions that wait for it."""
    ref: Ref


@dataclass(frozen=True, slots=True)
class Blocker:
    """A session that others wait for and that waits for none itself."""

    pid: str
    application: str | None
    state: str | None
    age_s: float | None
    """Age of its transaction."""
    waiters: tuple[str, ...]
    """Process ids of those that wait for it, or for one that waits for it."""
    waits_for: str | None
    """The lock that the first of them waits for."""
    refs: tuple[Ref, ...]


BUSY_S = 5.0
"""Age from which a statement of a session counts as slow: a pool's client has waited for most of its usual timeout by then."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Sessions of a database at one instant; of any other instant it tells nothing."""

    at: int | None
    dated: str
    """``now``, ``watch``, ``name`` (of the file), ``newest`` (taken no earlier) or ``unknown``."""
    ref: Ref
    """Its first session."""
    total: int
    """Sessions of clients; 0 where only locks are listed."""
    background: int
    """The server's own processes, which are left out."""
    limit: int | None
    states: tuple[tuple[str, int], ...]
    """Sessions per state, most first; a session whose state is not shown counts as ``unknown``."""
    applications: tuple[tuple[str | None, int, tuple[tuple[str, int], ...]], ...]
    """Per application, or what :attr:`by` says: sessions, and those per state; most first."""
    clients: int
    """Distinct client addresses."""
    waits: tuple[tuple[str, int], ...]
    """What sessions wait for, as ``type: event``; a client that says nothing is no wait."""
    waiting: int
    """Sessions that wait for a lock."""
    idlers: tuple[Idler, ...]
    """The oldest first."""
    blockers: tuple[Blocker, ...]
    """Most waiters first."""
    by: str | None = "application"
    """What sessions are told apart by: ``application``, ``user``, ``database`` or ``address``; None: by nothing."""
    mixed: bool = False
    """May processes of the server be among the sessions? A query that groups them asks for nothing that would tell."""
    busy: int = 0
    """Sessions that had been in their statement for :data:`BUSY_S` or more."""
    busy_s: tuple[float, float] | None = None
    """How long the newest and the oldest of those statements had run, in seconds."""
    busy_refs: tuple[Ref, ...] = ()
    """The sessions of those two."""
    members: tuple[Member, ...] = ()
    """The sessions of clients that it lists one by one."""
    limit_where: str | None = None
    """File and line that state the limit where neither the snapshot nor its input does; None where they do, where the case file does, or where there is none."""


@dataclass(frozen=True, slots=True)
class Sessions:
    """All snapshots in time order, undated ones last."""

    snapshots: tuple[Snapshot, ...]
    idle_s: float
    """Age from which a session that idles in a transaction is named as a candidate."""

    def candidates(self, snapshot: Snapshot) -> tuple[Idler, ...]:
        """Return who idles in a transaction for longer than the threshold."""
        return tuple(one for one in snapshot.idlers if one.age_s is not None and one.age_s > self.idle_s)


@dataclass(frozen=True, slots=True)
class PoolState:
    """One pool of a pooler at one instant."""

    at: int | None
    dated: str
    """``watch``, ``name`` (of the file) or ``unknown``."""
    pool: str
    """``database/user``."""
    clients: int
    """Clients that have a server."""
    waiting: int
    """Clients that wait for one."""
    servers: int
    """Servers at work."""
    idle: int
    longest_wait_s: float | None
    """How long the first of those that wait has waited so far."""
    size: int | None
    """Servers that the pool may have, where the page shows it."""
    ref: Ref


@dataclass(frozen=True, slots=True)
class PoolerPeriod:
    """The worst period of a pooler's log among those that lie alike to the primary incident."""

    where: str
    """``inside`` (the whole of it), ``partly``, or ``after``: it begins when the incident is over, and may count waits of it that end only then."""
    start: int | None
    """The line of the period before, else the end less the usual period; None where the log has no second line."""
    end: int
    wait_s: float
    """Time that clients waited for a server in each second of it, in seconds: of several clients it adds up."""
    query_ms: float
    """Longest average duration of a query in one of those periods."""
    ref: Ref


@dataclass(frozen=True, slots=True)
class PoolerStats:
    """What a pooler's log says of its periods, at the primary incident against outside."""

    service: str
    inside: int
    """Periods that lie wholly inside."""
    worst: tuple[PoolerPeriod, ...]
    """At least one: of those wholly inside, of those partly inside, of those right after, in this order."""
    wait_outside: float | None
    """The same waiting in the middle of the periods that touch neither the incident nor the minute after it; None: there are none."""
    query_outside_ms: float | None


@dataclass(frozen=True, slots=True)
class Poolers:
    """Pools in time order, undated ones last; and the periods of each pooler's log."""

    states: tuple[PoolState, ...]
    stats: tuple[PoolerStats, ...]


@dataclass(frozen=True, slots=True)
class Upkeep:
    """Work of one kind that the server's log tells of, over the primary incident against the rest of that log."""

    service: str
    kind: str
    """``checkpoint``, ``autovacuum`` or ``statement`` (of a client, of a second or more)."""
    inside: int
    """How much of it was going on at some time of the incident."""
    outside: int
    per_hour_inside: float
    per_hour_outside: float | None
    """None where the log covers nothing beside the incident."""
    longest_s: float | None
    """Of those inside; None where no line says how long it took."""
    sync_s: float | None
    """The longest that a checkpoint inside waited for the disk."""
    usual_sync_s: float | None
    """The same in the middle of the others."""
    what: str | None
    """The table of the longest autovacuum."""
    waiters: int
    """Sessions that waited for a lock of it, by lines that name its process."""
    refs: tuple[Ref, ...]
    """The longest first."""
    first: int = 0
    """End of the first of those inside; of all where none is inside, and so are the numbers above."""
    last: int = 0


@dataclass(frozen=True, slots=True)
class Deadlock:
    """Sessions that waited for each other in a circle; the server ended one of them."""

    service: str
    at: int
    edges: tuple[tuple[str, str, str], ...]
    """Who waits, for what, and who holds it."""
    ref: Ref


@dataclass(frozen=True, slots=True)
class Frequent:
    """Lines in which a server says itself that checkpoints follow each other too quickly, one inside the incident or one outside."""

    service: str
    inside: bool
    n: int
    closest_s: float
    """The shortest time between two that they state."""
    first: int
    last: int
    refs: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class Upkeeps:
    """The server's own work and its slow statements, and deadlocks in time order."""

    items: tuple[Upkeep, ...]
    deadlocks: tuple[Deadlock, ...]
    frequent: tuple[Frequent, ...] = ()


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
    """What a monitor can see: freezes below never meet its rule, freezes above always do; whether it then alerts its record tells."""

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
class Ratio:
    """How much more often inside than outside, with the interval that holds the true ratio in 95 of 100 cases."""

    value: float | None
    """None: there was none outside."""
    low: float
    high: float | None
    """None: no upper bound."""

    @property
    def says(self) -> str:
        """``more`` or ``less`` where chance alone does not explain the difference, else ``alike``."""
        return "more" if self.low > 1 else "less" if self.high is not None and self.high < 1 else "alike"


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
    ratio: Ratio | None = None
    """Rate inside against that outside; None where one of the two spans is not covered."""


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
    probe: bool = False
    """Requests of a periodic probe, behind which no user waits."""


@dataclass(frozen=True, slots=True)
class FailedOperations:
    """Failed operations of a service whose lines show no requests: jobs, consumers, scripts."""

    service: str
    """Replicas that fail stand together under the name of their service."""
    replicas: int
    n: int
    most: int
    """With those of which it is not plain that they are failures of their own."""
    at_least: bool
    """Were there more than the lines tell?"""
    ref: Ref
    """The first."""


EDGE_S = 5
"""Seconds: what completes so near to the start or the end of a window may have been under way before, or belong to the recovery."""


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
    completed_between: int = 0
    """Of the completed ones, those that are not within :data:`EDGE_S` of the window's start or end."""
    failed: int = 0
    """Requests that failed, each once although a proxy and the service behind it both tell of it; those of probes left out."""
    probes_failed: int = 0
    """The same of periodic probes."""
    caller: str | None = None
    """Whose attempts of outgoing calls failed."""
    attempt_refs: tuple[Ref, ...] = ()
    """The first of these attempts and the last."""
    operations: tuple[FailedOperations, ...] = ()
    """Failed operations of services without requests, most first."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """What became of the messages of one sender of which an attempt failed in the primary incident."""

    service: str
    messages: int
    attempts: int
    """Failed attempts of these messages, in the whole of the inputs."""
    delivered: int
    given_up: int
    """Messages whose last attempt failed and was the last one that is made."""
    longest_s: float | None
    """From the first attempt of a message to its delivery, at most."""
    last_delivered: int | None
    unnamed: int
    """Failed attempts whose line names no message."""
    capped: bool
    """Were there more deliveries in a minute than are kept one by one? Then some of the rest may be among them."""
    refs: tuple[Ref, ...]
    """The last attempt of what was given up, the last delivery, the first attempt."""

    @property
    def open(self) -> int:
        """Messages of which the inputs show neither a delivery nor the last attempt."""
        return self.messages - self.delivered - self.given_up


@dataclass(frozen=True, slots=True)
class Deliveries:
    """Messages that had to be sent again, per sender, the one with most first."""

    items: tuple[Delivery, ...]


@dataclass(frozen=True, slots=True)
class SlowService:
    """Requests inside the primary incident that took longer than their routes' requests usually do, and did not fail."""

    service: str
    n: int
    at_least: bool
    """Were there more in a minute than are kept one by one?"""
    timed: int
    """Requests in the minutes of the incident whose lines state a duration."""
    slowest_s: float
    median_s: float
    """Of the slow ones."""
    routes: int
    outside: int
    """As slow on the same routes outside of incidents."""
    refs: tuple[Ref, ...]
    """The slowest first."""


@dataclass(frozen=True, slots=True)
class SlowRequests:
    """Slow requests per service, the one with most first; a service whose lines state no duration is not among them."""

    items: tuple[SlowService, ...]
    from_s: float
    """Duration from which a request counts as slow."""


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
    failures_max: int | None = None
    """Failures at most, where it is not plain that some lines tell of further ones; None where there is no such bound."""


@dataclass(frozen=True, slots=True)
class Daily:
    """Failures per day, service and signature; ``days`` lists every covered day, ``partial`` those cut by coverage."""

    items: tuple[Day, ...]
    days: tuple[tuple[str, bool], ...]
