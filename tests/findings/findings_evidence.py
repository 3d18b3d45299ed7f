"""Evidence put together piece by piece: real facts and frames about one incident of one service, whatever their combination."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.findings.signals import Signals
from forensics.model.digest import Digest, Evidence
from forensics.model.facts import (
    Alert,
    Backlog,
    BlindGap,
    ClockStep,
    Continuity,
    Cover,
    Coverage,
    Delays,
    Due,
    EventGroup,
    Events,
    Facts,
    FailureGroup,
    Failures,
    Hole,
    Incident,
    Incidents,
    Lifecycle,
    LockGroup,
    Locks,
    LockWait,
    Loss,
    Losses,
    Outage,
    Poolers,
    PoolState,
    Probes,
    Restarts,
    Samples,
    SampleSeries,
    Series,
    Sessions,
    Silence,
    Snapshot,
    Stall,
    Stalls,
    Upkeeps,
    Watch,
    Witness,
)
from forensics.model.known import Known
from forensics.model.schema import FRAMES, KEYS, conform
from forensics.model.source import Ref, Source
from forensics.signatures import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SECOND = 1_000_000
NOON = 1_795_953_600 * SECOND
LO, HI = NOON + 600 * SECOND, NOON + 900 * SECOND
"""The incident: five minutes."""
FIRST, LAST = NOON, NOON + 1800 * SECOND
API, SERVER, CACHE, GATE = "api", "postgres", "redis", "gate"
UNRELATED = "asyncpg.operation-in-progress"
"""A failure before the incident that bears on no hypothesis: it makes the service the one that the report is about."""
SIGNATURES = {signature.id: signature for signature in load()}
ROWS = {
    "service": pl.String, "signature": pl.String, "family": pl.String, "side": pl.String, "ts": pl.Int64, "began": pl.Int64, "source": pl.UInt16,
    "line": pl.UInt32, "sure": pl.Boolean, "peer": pl.String, "lines": pl.UInt32,
}  # fmt: skip


@dataclass
class Draft:
    """What was put together so far."""

    frames: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    failures: list[dict[str, Any]] = field(default_factory=list)
    covers: list[str] = field(default_factory=list)
    formats: set[tuple[str, str]] = field(default_factory=set)
    facts: dict[type, list[Any]] = field(default_factory=dict)
    pids: dict[str, tuple[str, ...]] = field(default_factory=dict)
    boots: tuple[str, ...] = ()
    transport: str = "text_dated"
    line: int = 0

    def ref(self) -> Ref:
        """Return a place of its own."""
        self.line += 1
        return Ref(0, self.line)

    def put(self, *items: Any) -> None:
        """Add facts."""
        for item in items:
            self.facts.setdefault(type(item), []).append(item)

    def row(self, frame: str, **values: Any) -> None:
        """Add a row to a frame of the digest."""
        self.frames.setdefault(frame, []).append(
            {"source": 0, "shard": 0, "line": self.ref().line, "naive": False} | values
        )

    def hits(self, signature: str, service: str, n: int = 1, **parameters: Any) -> None:
        """Add lines in which a signature matches, in the middle of the incident."""
        for at in range(n):
            said = json.dumps(parameters)
            self.row(
                "hits", service=service, signature=signature, ts=LO + (60 + at) * SECOND, parameters=said
            )

    def fail(self, signature: str, service: str = API, n: int = 1, at: int = LO + 60 * SECOND) -> None:
        """Add failed operations, a second apart."""
        one = SIGNATURES[signature]
        self.failures += [
            {
                "service": service, "signature": signature, "family": one.family, "side": one.side, "ts": at + i * SECOND, "began": at + i * SECOND,
                "source": 0, "line": self.ref().line, "sure": True, "peer": None, "lines": 1,
            }
            for i in range(n)
        ]  # fmt: skip

    def cover(self, service: str, form: str | None = None) -> None:
        """Let a service's log cover everything."""
        if service not in self.covers:
            self.covers.append(service)
        if form:
            self.formats.add((service, form))


def groups_of(rows: list[dict[str, Any]]) -> tuple[FailureGroup, ...]:
    """Group failures as the analysis does."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault((row["signature"], row["service"]), []).append(row)
    return tuple(
        FailureGroup(
            name, part[0]["family"], part[0]["side"], service, len(part), len(part), len(part), "exact", "", min(row["ts"] for row in part),
            max(row["ts"] for row in part), None, {}, tuple(Ref(0, row["line"]) for row in part[:4]), SIGNATURES[name].verified,
        )
        for (name, service), part in sorted(found.items())
    )  # fmt: skip


def signals(draft: Draft) -> Signals:
    """Return what the rules see of a draft: one incident of one service, with everything that was put there."""
    facts, of = Facts(), draft.facts
    start, end = draft.ref(), draft.ref()
    incident = Incident(LO, "exact", HI, False, None, None, None, None, (API,), 100.0, start, end)
    covers = [Cover(name, FIRST, LAST, 1000, (0,), draft.ref(), draft.ref()) for name in draft.covers]
    for answer in (
        Incidents((incident,), LAST), Coverage(tuple(covers), FIRST, LAST), Failures(groups_of(draft.failures), pl.DataFrame(draft.failures, schema=ROWS)),
        Stalls(tuple(of.get(Stall, ()))), Events(tuple(of.get(EventGroup, ()))), Delays(tuple(of.get(Backlog, ())), ()), Losses(tuple(of.get(Loss, ()))),
        Continuity(tuple(of.get(ClockStep, ())), tuple(of.get(Hole, ())), ()), Locks(tuple(of.get(LockGroup, ()))), Upkeeps((), ()), Poolers(tuple(of.get(PoolState, ())), ()),
        Sessions(tuple(of.get(Snapshot, ())), 60.0), Samples(tuple(of.get(SampleSeries, ()))), Probes(tuple(of.get(Series, ()))),
        Restarts(tuple(of.get(Lifecycle, ())), tuple(of.get(Outage, ())), draft.pids, draft.boots),
        Watch(tuple(of.get(BlindGap, ())), (), tuple(of.get(Alert, ()))),
    ):  # fmt: skip
        facts.put(answer)
    rows = draft.frames | {
        "formats": [
            {"source": 0, "shard": 0, "service": s, "format": f, "n": 9} for s, f in sorted(draft.formats)
        ]
    }
    frames = {
        name: conform(pl.DataFrame(part, infer_schema_length=None), {**KEYS, **FRAMES[name]})
        for name, part in rows.items()
        if part
    }
    source = Source(0, "all.log", None, 0, draft.transport, first_us=FIRST, last_us=LAST, records=1000)
    return Signals(Evidence((source,), Digest(frames)), Known(signatures=SIGNATURES), facts)


def series(draft: Draft, state: str, seen_by: str, name: str) -> Series:
    """Return a series of probes that asks every half minute; inside the incident its results are of one state."""
    dues = tuple(
        Due(at, state if LO <= at <= HI else "answered", at, (), draft.ref())
        for at in range(FIRST, LAST, 30 * SECOND)
    )
    return Series(name, seen_by, API if seen_by == "service" else None, 30.0, 0.1, 5.0, 2, dues)


def gauge(draft: Draft, peak: float) -> SampleSeries:
    """Return a gauge of connections sampled every ten seconds."""
    around = tuple((at, peak if LO <= at <= HI else 20.0) for at in range(FIRST, LAST, 10 * SECOND))
    places = {key: draft.ref() for key in ("before", "peak", "after")}
    return SampleSeries(
        "connections", 10.0, 20.0, peak, 20.0, 100.0, around, (LO, 20.0), (LO, peak), (HI, 20.0), None, places
    )


def stall(draft: Draft) -> Stall:
    """Return a stall of the service through the first minute."""
    silence = Silence(
        API, LO, LO + 60 * SECOND, 50.0, 0, 20, ((LO, LO + 60 * SECOND),), 9.0, draft.ref(), draft.ref()
    )
    seen = (
        Witness("probes", 3, (draft.ref(),), {"series": "GET /health"}),
        Witness("calls", 3, (draft.ref(),)),
    )
    return Stall(API, LO, LO + 60 * SECOND, silence.parts, seen, silence)


def lifecycle(draft: Draft, kind: str, text: str, service: str = API) -> Lifecycle:
    """Return a line about an end or a beginning."""
    return Lifecycle(LO + 30 * SECOND, service, kind, text, draft.ref())


def event(draft: Draft, family: str, signature: str) -> EventGroup:
    """Return events that are no failed operations."""
    return EventGroup(signature, family, "", API, 3, 3, "exact", "", LO, HI, None, None, 2.0, (draft.ref(),))


def snapshot(draft: Draft, waiting: int) -> Snapshot:
    """Return a snapshot of sessions of which some wait for a lock."""
    return Snapshot(
        LO + 60 * SECOND, "now", draft.ref(), 20, 3, 100, (("active", 20),), (), 1, (), waiting, (), ()
    )


def lock_waits(draft: Draft, n: int) -> LockGroup:
    """Return sessions that wait for one lock from before the incident until after it."""
    waits = tuple(
        LockWait(str(50 + at), LO - 300 * SECOND, HI + 300 * SECOND, True, draft.ref()) for at in range(n)
    )
    first, last, pids = waits[0].began, waits[0].last, tuple(one.waiter for one in waits)
    return LockGroup(
        SERVER, "40", pids, "ShareLock on x", first, last, 900.0, n, (waits[0].ref,), (), (), waits
    )


def same_process(draft: Draft) -> None:
    """Let one process print before and after the incident."""
    draft.row(
        "processes",
        service=API,
        pid="81",
        boot="b",
        first_us=FIRST,
        last_us=LAST,
        n=9,
        first_line=1,
        last_line=2,
    )
    draft.pids[API] = ("81",)


def requests(draft: Draft, service: str) -> None:
    """Let a service serve requests through the incident."""
    for at in range(LO, HI, 30 * SECOND):
        draft.row(
            "seconds",
            service=service,
            kind="request",
            second=at // SECOND,
            n=3,
            first_us=at,
            last_us=at,
            first_line=1,
            last_line=2,
        )


PIECES: dict[str, Callable[[Draft], object]] = {
    "pool text": lambda d: d.fail("sqlalchemy.queuepool-timeout", n=2),
    "pool text once": lambda d: d.fail("sqlalchemy.queuepool-timeout"),
    "pool shown full": lambda d: d.put(
        PoolState(LO + SECOND, "watch", "app/app", 5, 3, 5, 0, 2.0, 5, d.ref())
    ),
    "stall": lambda d: d.put(stall(d)),
    "blocked loop": lambda d: d.put(event(d, "event_loop_stall", "asyncio.slow-callback")),
    "backlog": lambda d: d.put(
        Backlog(API, 9, (), LO + 90 * SECOND, LO, LO + 60 * SECOND, 90.0, 30.0, None, (d.ref(),))
    ),
    "backlog after silence": lambda d: d.put(
        Backlog(API, 9, (), LO + 90 * SECOND, LO, LO + 60 * SECOND, 95.0, 30.0, LO, (d.ref(),))
    ),
    "probes answered": lambda d: d.put(series(d, "answered", "service", "GET /health")),
    "probes failed": lambda d: d.put(series(d, "failed", "monitor", "https://a.example/health")),
    "all targets failed": lambda d: d.put(
        *(series(d, "failed", "monitor", f"https://{n}.example/") for n in "xyz")
    ),
    "checks answered": lambda d: d.put(series(d, "answered", "monitor", "https://b.example/health")),
    "lost lines": lambda d: d.put(Loss(API, LO + SECOND, 40, "suppressed", d.ref())),
    "numbers missing": lambda d: d.put(Hole(9, 9, LO, HI, (d.ref(), d.ref()))),
    "refused by the server": lambda d: (
        d.hits("postgres.too-many-clients", SERVER, 3),
        d.formats.add((SERVER, "postgres")),
    ),
    "client told of refusals": lambda d: (
        d.fail("libpq.connect-failed", n=2),
        d.hits("libpq.connect-failed", API, 2, reason="FATAL: sorry, too many clients already"),
    ),
    "samples low": lambda d: d.put(gauge(d, 40.0)),
    "samples high": lambda d: d.put(gauge(d, 97.0)),
    "one lock wait": lambda d: d.put(lock_waits(d, 1)),
    "many lock waits": lambda d: d.put(lock_waits(d, 6)),
    "sessions wait": lambda d: d.put(snapshot(d, 2)),
    "many sessions wait": lambda d: d.put(snapshot(d, 8)),
    "server told to stop": lambda d: d.hits("postgres.shutdown-request", SERVER),
    "server not accepting": lambda d: d.hits("postgres.not-accepting", SERVER, 2),
    "connections broken": lambda d: d.fail("libpq.server-closed", n=6),
    "Redis itself": lambda d: (d.hits("redis-server.loading", CACHE), d.formats.add((CACHE, "redis"))),
    "Redis refused": lambda d: d.fail("redis-server.maxmemory", n=8, at=LO + 110 * SECOND),
    "Redis refused once": lambda d: d.fail("redis-server.maxmemory", at=LO + 105 * SECOND),
    "Redis timeouts": lambda d: d.fail("redis-py.read-timeout", n=8, at=LO + 120 * SECOND),
    "one Redis timeout": lambda d: d.fail("redis-py.read-timeout", at=LO + 150 * SECOND),
    "gateway errors": lambda d: d.fail("nginx.connect-failed", GATE, n=6),
    "gateway alive": lambda d: (d.cover(GATE, "nest"), requests(d, GATE)),
    "outage": lambda d: d.put(Outage(API, LO + SECOND, LO + 20 * SECOND, "crash", (d.ref(), d.ref()))),
    "started": lambda d: (d.cover(API), d.put(lifecycle(d, "ready", "uvicorn.startup-complete"))),
    "same process": same_process,
    "killed for memory": lambda d: d.put(lifecycle(d, "oom", "kernel.oom-killed", "kernel")),
    "booted": lambda d: d.put(lifecycle(d, "boot", "kernel.boot", "kernel")),
    "clock set": lambda d: d.put(ClockStep("b", LO + SECOND, 40.0, (d.ref(), d.ref()))),
    "frozen processor": lambda d: d.hits("kernel.soft-lockup", "kernel"),
    "disk full": lambda d: d.hits("os.no-space", API),
    "disk full often": lambda d: d.hits("os.no-space", API, 6),
    "alert": lambda d: d.put(Alert("m", LO + 30 * SECOND, "down", "", d.ref())),
    "blind gap": lambda d: d.put(BlindGap("m", LO, HI, 9, True, "blind", (0,), (), (d.ref(), d.ref()))),
    "log of the service": lambda d: d.cover(API),
    "log of the server": lambda d: d.cover(SERVER, "postgres"),
    "kernel log": lambda d: d.cover("kernel"),
    "journal": lambda d: setattr(d, "transport", "journald_export"),
    "one boot": lambda d: setattr(d, "boots", ("b",)),
}
"""Everything that may be there or not, each independent of the others."""


def draft_of(names: Iterable[str]) -> Draft:
    """Put pieces together, in one order whatever that of their names."""
    draft, wanted = Draft(), set(names)
    draft.fail(UNRELATED, at=FIRST + SECOND)
    for name, piece in PIECES.items():
        if name in wanted:
            piece(draft)
    return draft
