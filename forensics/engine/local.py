"""This machine: shards are parsed by a few threads (polars releases the interpreter lock), digests added in order.

At most :data:`IN_FLIGHT` shards are in memory at once, whatever the size of the input.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl

from forensics import formats
from forensics.formats.order import oldest_first
from forensics.formats.transports import journald_live
from forensics.ingest import digest as reducing
from forensics.ingest import shared
from forensics.ingest.plan import Plan, service_of, with_streams, with_streams_of
from forensics.ingest.understand import name_services, rows, understand
from forensics.ingest.wall import Facts
from forensics.model.digest import Digest, stamped, total
from forensics.model.errors import UnreadableError
from forensics.model.plug import Monitor, Parsed, Transport
from forensics.model.source import Source
from forensics.sources import clock, mapping, streams
from forensics.sources.limits import noting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from forensics.signatures import Matcher

WORKERS = 2
IN_FLIGHT = WORKERS + 1
SMALL = 1 << 20
"""Bytes up to which an input is read beside others: so many at once that memory stays what it is."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Reading:
    """What came of reading all inputs."""

    digest: Digest
    facts: tuple[Facts, ...]
    has_lines: dict[int, bool]


@dataclass(frozen=True, slots=True)
class Shard:
    """The digest of one shard with what it says about its source."""

    digest: Digest
    first_unparsed: int | None
    lines: int
    notes: tuple[str, ...]
    keeps_days: int | None = None


@dataclass(frozen=True, slots=True)
class Read:
    """What came of reading one input."""

    facts: Facts
    digests: list[Digest]
    has_lines: bool | None
    """Has it physical lines? None where it was not read."""


class AtOnce(Executor):
    """Runs what is submitted where it is submitted: an input of one shard is a piece of work by itself."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Return the result as a future that is done."""
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - the future hands it on to who asks for the result
            future.set_exception(error)
        return future


def read_all(
    plans: Iterable[Plan], matcher: Matcher, shard_size: int, tick: Callable[[str, int], None] | None = None
) -> Reading:
    """Read every planned input; one that fails is listed with its reason and the others are still read.

    Large inputs are read one after another, each by shards; small ones beside them and each other.
    """
    done: list[Read] = []
    whole = AtOnce()
    pool, beside = ThreadPoolExecutor(WORKERS), ThreadPoolExecutor(WORKERS)
    try:
        waiting = [
            (plan, beside.submit(read_plan, plan, matcher, shard_size, whole) if is_small(plan) else None)
            for plan in plans
        ]
        for plan, future in waiting:
            read = future.result() if future else read_plan(plan, matcher, shard_size, pool)
            done.append(read)
            if tick:
                tick(plan.item.name, read.facts.source.size)
    finally:
        for one in (beside, pool):
            one.shutdown(cancel_futures=True)  # who interrupts does not wait for the rest of a folder
    return Reading(
        total(digest for read in done for digest in read.digests),
        tuple(read.facts for read in done),
        {read.facts.source.index: read.has_lines for read in done if read.has_lines is not None},
    )


def once(
    plans: Iterable[Plan], matcher: Matcher, shard_size: int, reading: Reading, copied: pl.DataFrame
) -> Reading:
    """Return a reading in which an entry that several text exports of one journal hold is counted in one of them.

    ``copied`` are the copies that whole minutes show. Only shards within the overlap are read again.
    """
    texts = {
        plan.index: plan
        for plan in plans
        if isinstance(plan.plug, Transport) and plan.plug.parts is None and plan.item.live is None
    }
    found = shared.spans(reading.digest, copied, texts)
    if not found.height:
        return reading
    places = shared.shards(reading.digest, found)
    held = [
        shared.numbers(parsed.records, found.filter(pl.col("source") == index)).with_columns(
            source=pl.lit(index, pl.UInt16)
        )
        for index, wanted in places.items()
        for _, parsed in some_shards(texts[index], shard_size, wanted)
        if parsed.records is not None
    ]
    lost = shared.elsewhere(pl.concat(held).unique(), reading.digest, reading.facts)
    again: dict[tuple[int, int], Digest] = {}
    for index in lost["source"].unique().sort():
        without = lost.filter(pl.col("source") == index).select(*shared.NUMBER)
        plan = settled(texts[index])
        assert isinstance(plan.plug, Transport)
        for number, parsed in some_shards(plan, shard_size, places[index]):
            again[index, number] = parsed_shard(plan, plan.plug, number, parsed, matcher, without).digest
    if not again:
        return reading
    rest = Digest(shared.replaced(reading.digest, again))
    facts = tuple(
        replace(fact, source=shared.told(fact.source, lost, reading.digest)) for fact in reading.facts
    )
    return Reading(total((rest, *again.values())), facts, reading.has_lines)


def some_shards(plan: Plan, shard_size: int, wanted: set[int]) -> Iterator[tuple[int, Parsed]]:
    """Parse some shards of an input of text again."""
    plug = plan.plug
    assert isinstance(plug, Transport)
    pieces = streams.shards(streams.chunks(plan.item.path), shard_size, plug.safe_cut)
    for number, data in enumerate(pieces):
        if number in wanted:
            yield number, plug.parse(data)
        if number == max(wanted):
            return


def is_small(plan: Plan) -> bool:
    """Is an input one shard of text, or the memory of a monitor, that costs more to organise than to read?"""
    text = isinstance(plan.plug, Transport) and plan.plug.parts is None and plan.item.live is None
    try:
        return (text or isinstance(plan.plug, Monitor)) and streams.size(plan.item.path) <= SMALL
    except OSError:
        return False


def read_plan(plan: Plan, matcher: Matcher, shard_size: int, pool: Executor) -> Read:
    """Read one planned input with what is known of its file."""
    source = Source(
        index=plan.index,
        name=plan.item.name,
        sha256=None,
        size=0,
        transport=plan.format_name,
        skipped=plan.skipped,
        choice=plan.choice,
        copy_of=plan.copy_of,
    )
    modified, plug = 0, plan.plug
    if plan.item.trouble is None and plan.item.live is None:
        try:
            modified = streams.modified_us(plan.item.path)
            size = streams.size(plan.item.path)
            source = replace(source, sha256=streams.sha256(plan.item.path), size=size)
        except OSError as error:
            source, plug = (
                replace(source, skipped=f"reading failed ({error.strerror}); copy the file again"),
                None,
            )
    parts: list[Digest] = []
    if plug is not None:
        source, parts = read_one(plan, source, matcher, shard_size, pool)
    text = plan.plug if isinstance(plan.plug, Transport) else None
    facts = Facts(
        source,
        yearless=text is not None and not text.year,
        zoneless=text is not None and text.zone == "none",
        modified_us=modified,
    )
    return Read(facts, parts, None if plug is None else not plug.binary)


def read_one(
    plan: Plan, source: Source, matcher: Matcher, shard_size: int, pool: Executor
) -> tuple[Source, list[Digest]]:
    """Read one input shard by shard."""
    damage = streams.Damage()
    try:
        if isinstance(plan.plug, Monitor):
            with noting(damage):
                parts = [monitor_shard(plan, plan.plug)]
        elif plan.item.live is not None:
            answers = journald_live.parts(plan.item.live, plan.item.path, shard_size)
            parts = bounded(
                pool.submit(parsed_shard, plan, journald_live.LIVE, number, parsed, matcher)
                for number, parsed in enumerate(answers)
            )
        elif plan.plug is not None and plan.plug.parts is not None:
            pieces_of = plan.plug.parts(mapping.contents(plan.item.path, damage), plan.held)
            parts = bounded(
                pool.submit(parsed_shard, plan, plan.plug, number, parsed, matcher)
                for number, parsed in enumerate(pieces_of)
            )
        else:
            plug = plan.plug
            assert plug is not None
            pieces = streams.shards(streams.chunks(plan.item.path, damage), shard_size, plug.safe_cut)
            parts = bounded(text_shards(plan, plug, pieces, matcher, pool))
    except UnreadableError as error:
        return replace(source, skipped=str(error)), []
    except pl.exceptions.PolarsError as error:
        return replace(
            source, skipped=f"its content broke the reader ({type(error).__name__}); please report it"
        ), []
    except OSError as error:
        return replace(source, skipped=f"reading failed ({error.strerror}); copy the file again"), []
    limits = (*plan.notes, *damage.notes, *dict.fromkeys(note for part in parts for note in part.notes))
    keeps = min((part.keeps_days for part in parts if part.keeps_days), default=None)
    told = replace(source, limits=limits + unparsed_note(parts), keeps_days=keeps)
    return told, [part.digest for part in parts]


def bounded(futures: Iterable[Future[Shard]]) -> list[Shard]:
    """Collect results in order while few are in flight."""
    waiting: deque[Future[Shard]] = deque()
    done: list[Shard] = []
    for future in futures:
        waiting.append(future)
        if len(waiting) >= IN_FLIGHT:
            done.append(waiting.popleft().result())
    return done + [future.result() for future in waiting]


def unparsed_note(parts: list[Shard]) -> tuple[str, ...]:
    """Say where the first line stands that no record has room for."""
    base = 0
    for part in parts:
        if part.first_unparsed is not None:
            return (f"unparsed lines, the first is line {base + part.first_unparsed}",)
        base += part.lines
    return ()


def text_shards(
    plan: Plan, plug: Transport, pieces: Iterator[bytes], matcher: Matcher, pool: Executor
) -> Iterator[Future[Shard]]:
    """Read one input of text by shards; a small one, of which nothing is known yet but its format, tells its streams on the way."""
    first, second = next(pieces, None), next(pieces, None)
    if first is not None and second is None and plan.streams is None:
        parsed = plug.parse(first)
        yield pool.submit(parsed_shard, with_streams_of(plan, first, parsed), plug, 0, parsed, matcher)
        return
    known = settled(plan)
    pieces = chain([data for data in (first, second) if data is not None], pieces)
    del first, second  # a shard is let go when it is read
    for number, data in enumerate(pieces):
        yield pool.submit(text_shard, known, plug, number, data, matcher)


def settled(plan: Plan) -> Plan:
    """Return a plan that knows its streams."""
    return with_streams(plan) if plan.streams is None else plan


def text_shard(plan: Plan, plug: Transport, number: int, data: bytes, matcher: Matcher) -> Shard:
    """Parse, understand and reduce one shard of bytes."""
    return parsed_shard(plan, plug, number, plug.parse(data), matcher)


def parsed_shard(
    plan: Plan,
    plug: Transport,
    number: int,
    parsed: Parsed,
    matcher: Matcher,
    without: pl.DataFrame | None = None,
) -> Shard:
    """Understand and reduce one shard; entries whose numbers stand in ``without`` are counted elsewhere."""
    assert parsed.records is not None
    events = understood(plan, plug, parsed)
    frames = reducing.reduce(events, matcher) if events.height else {}
    if without is not None:
        rest = events.join(without, on=list(shared.NUMBER), how="anti", maintain_order="left")
        rest = rest.with_columns(row=pl.int_range(pl.len(), dtype=pl.UInt32))
        frames = shared.left_out(frames, reducing.reduce(rest, matcher) if rest.height else {})
    return shard(plan, number, parsed, {**frames, "shards": counts(parsed, parsed.records)})


def understood(plan: Plan, plug: Transport, parsed: Parsed) -> pl.DataFrame:
    """Return the lines of one shard with what each says."""
    assert parsed.records is not None
    named = name_services(clock.mark_repeats(oldest_first(parsed.records)), service_of(plan.item.path, plan))
    return understand(
        rows(named, physical=not (plug.escaped or plug.binary)),
        formats.all_messages(),
        own=plan.first_format is not None,
        streams=plan.own,
    )


def stream(plan: Plan, shard_size: int) -> Iterator[pl.DataFrame]:
    """Yield the lines of one input again, a shard at a time, with their place in the whole input as ``line``.

    For questions that a digest does not answer; of a monitor's memory there is nothing to yield.
    """
    plug = plan.plug
    if not isinstance(plug, Transport):
        return
    base, known = 0, settled(plan)
    for parsed in shards_of(plan, plug, shard_size):
        if parsed.records is not None and parsed.records.height:
            yield understood(known, plug, parsed).with_columns(pl.col("line") + base)
        base += parsed.in_records + parsed.blank + parsed.unparsed


def shards_of(plan: Plan, plug: Transport, shard_size: int) -> Iterable[Parsed]:
    """Parse one input piece by piece."""
    if plan.item.live is not None:
        return journald_live.parts(plan.item.live, plan.item.path, shard_size)
    if plug.parts is not None:
        return plug.parts(mapping.contents(plan.item.path), plan.held)
    pieces = streams.shards(streams.chunks(plan.item.path), shard_size, plug.safe_cut)
    return (plug.parse(data) for data in pieces)


def monitor_shard(plan: Plan, plug: Monitor) -> Shard:
    """Read what a monitor remembers: small, so in one piece."""
    parsed = plug.parse(plan.item.path, plan.fields)
    kinds = ("beats", "samples", "alerts", "sessions", "poolers")
    found = {kind: getattr(parsed, kind) for kind in kinds}
    frames = {name: frame for name, frame in found.items() if frame is not None and frame.height}
    main = next(iter(frames.values()), parsed.beats)
    return shard(plan, 0, parsed, {**frames, "shards": counts(parsed, main)})


def counts(parsed: Parsed, rows_: pl.DataFrame | None) -> pl.DataFrame:
    """Return the conservation counts of a shard as its one-row frame."""
    lines = parsed.in_records + parsed.blank + parsed.unparsed
    table = rows_ if rows_ is not None else pl.DataFrame({"ts": []})
    starts = table.filter(~pl.col("cont").fill_null(value=False)) if "cont" in table.columns else table
    return pl.DataFrame(
        {
            "lines": [lines],
            "records": [starts.height],
            "in_records": [parsed.in_records],
            "blank": [parsed.blank],
            "unparsed": [parsed.unparsed],
            "undated": [starts["ts"].null_count()],
        }
    )


def shard(plan: Plan, number: int, parsed: Parsed, frames: dict[str, pl.DataFrame]) -> Shard:
    """Pack the result of one shard."""
    lines = parsed.in_records + parsed.blank + parsed.unparsed
    digest = stamped(frames, plan.index, number)
    return Shard(digest, parsed.first_unparsed, lines, parsed.notes, parsed.keeps_days)
