"""Years and zones of stamps that carry none: what only the whole input can decide.

A year-less log may run over New Year, a zone-less one through an hour that its zone had twice; both are told by the order of the
lines. Without a zone of its own or a given one, a source takes the offset from another input that shows the same lines in UTC.
Every choice is said in the limits of the source.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from forensics.model.source import Source, Zone
from forensics.sources import clock

if TYPE_CHECKING:
    from collections.abc import Callable

SECOND = 1_000_000
MINUTE = 60 * SECOND
DAY_S = 86_400
SCALE = {"ts": 1, "first_us": 1, "last_us": 1, "second": SECOND, "minute": MINUTE}
"""Columns that hold instants, and how many microseconds their unit has."""
TURN_S = 200 * DAY_S
"""A step so large between two lines without a year is New Year, not a pause."""
OFFSETS_MIN = range(-12 * 60, 14 * 60 + 1, 15)
"""Offsets that zones have: quarters of an hour."""
SAME_MINUTES = 3
"""Minutes of equal content that must agree on an offset before it is believed."""
AGREE = 0.8
"""Share of the minutes found in both that must agree on the offset of their neighbourhood."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What the reader knows about one input besides its digest."""

    source: Source
    yearless: bool = False
    zoneless: bool = False
    modified_us: int = 0


@dataclass(frozen=True, slots=True)
class Rule:
    """How the naive stamps of one source become instants."""

    zone: str
    year: int | None
    """Year of the last line of a source without years."""
    turns: pl.DataFrame
    """(minute, years): how many years earlier a minute lies, where the log runs over New Year."""
    repeat: Repeat | None
    offsets: pl.DataFrame | None
    """(minute, offset_min): the offset from UTC that another input shows, from that minute on; None: the zone decides."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """Where the stamps step back by up to an hour: from there on the second of two readings is meant."""

    shard: int
    """All later shards follow the step; in this one the marked rows do."""
    at_s: int
    """Wall clock at the step, in seconds."""


def dated(
    frames: dict[str, pl.DataFrame], facts: tuple[Facts, ...], zones: Callable[[Source], Zone]
) -> tuple[list[Source], dict[str, pl.DataFrame]]:
    """Give naive times their year and zone; return the sources with their zone, and frames in UTC."""
    naive = naive_sources(frames)
    tracks = {index: track(frames["seconds"], index) for index in naive}
    repeats = {index: step_back(table) for index, table in tracks.items()}
    frames = {name: without_marks(frame) for name, frame in frames.items()}
    turns = {
        fact.source.index: turn_of_year(tracks[fact.source.index])
        for fact in facts
        if fact.yearless and fact.source.index in tracks
    }
    years = find_years(frames, facts, turns)
    sources: list[Source] = []
    rules: dict[int, Rule] = {}
    for fact in facts:
        index = fact.source.index
        zone = zones(fact.source) if index in naive or fact.zoneless else Zone("UTC", "stated")
        limits = fact.source.limits
        offsets = None
        if year := years.get(index):
            turned = turns[index].height and turns[index]["years"].n_unique() > 1
            limits += (
                f"the lines carry no year: {year[0]}{' for the last ones' if turned else ''}, because {year[1]}",
            )
        if index in naive:
            rule = Rule(
                zone.name or "UTC",
                year[0] if year else None,
                turns.get(index, no_turns()),
                repeats.get(index),
                None,
            )
            if zone.rule in ("assumed", "unknown"):
                offsets, zone = inferred(frames["sketch"], index, rule, naive, facts, zone)
            rule = replace(rule, offsets=offsets)
            rules[index] = rule
            limits += doubts(frames["seconds"], index, rule)
        sources.append(replace(fact.source, zone=zone, limits=limits))
    return sources, {name: shift(frame, rules) for name, frame in frames.items()}


def naive_sources(frames: dict[str, pl.DataFrame]) -> set[int]:
    """Return the sources that have times without a zone."""
    found: set[int] = set()
    for name in ("seconds", "beats", "samples", "alerts"):
        found |= set(frames[name].filter(pl.col("naive"))["source"])
    return found


def track(seconds: pl.DataFrame, index: int) -> pl.DataFrame:
    """Return the naive seconds of a source in the order of its lines: shard, first_line, last_line, second, marked."""
    mark = clock.REPEATED // SECOND
    rows = seconds.filter((pl.col("source") == index) & pl.col("naive"))
    marked = pl.col("second") >= mark
    return rows.select(
        "shard",
        "first_line",
        "last_line",
        marked=marked,
        second=pl.col("second") - pl.when(marked).then(mark).otherwise(0),
    ).sort("first_line")


def without_marks(frame: pl.DataFrame) -> pl.DataFrame:
    """Take the mark of repeated stamps off again; whether a row had it stays in ``repeated``."""
    columns = [name for name in SCALE if name in frame.columns]
    if "naive" not in frame.columns or not columns:
        return frame
    lead = columns[0]
    marked = (pl.col("naive") & (pl.col(lead) >= clock.REPEATED // SCALE[lead])).fill_null(value=False)
    return frame.with_columns(
        *(
            pl.when(marked)
            .then(pl.col(name) - clock.REPEATED // SCALE[name])
            .otherwise(pl.col(name))
            .alias(name)
            for name in columns
        ),
        repeated=marked,
    )


def step_back(table: pl.DataFrame) -> Repeat | None:
    """Find the first step back of up to an hour: a marked row, or the seam of two shards."""
    found: list[Repeat] = []
    marked = table.filter("marked")
    if marked.height:
        found.append(Repeat(int(marked["shard"][0]), int(marked["second"][0])))
    edges = (
        table.group_by("shard")
        .agg(
            first=pl.col("second").sort_by("first_line").first(),
            last=pl.col("second").sort_by("last_line").last(),
        )
        .sort("shard")
    )
    lowest, highest = (limit // SECOND for limit in clock.STEP_BACK)
    seams = edges.with_columns(step=pl.col("first") - pl.col("last").shift(1)).filter(
        pl.col("step").is_between(lowest, highest)
    )
    if seams.height:
        found.append(Repeat(int(seams["shard"][0]) - 1, int(seams["first"][0])))
    return min(found, key=lambda item: item.shard) if found else None


def no_turns() -> pl.DataFrame:
    """Return the turns of a log that stays in one year."""
    return pl.DataFrame(schema={"minute": pl.Int64, "years": pl.Int64})


def turn_of_year(table: pl.DataFrame) -> pl.DataFrame:
    """Say for each minute how many years before the log's last year it lies; newest-first logs are known by their order."""
    steps = table.with_columns(step=pl.col("second").diff().fill_null(0))
    back, on = steps.select(back=(pl.col("step") < 0).sum(), on=(pl.col("step") > 0).sum()).row(0)
    if back > on:
        years = -(pl.col("step") > TURN_S).cum_sum().cast(pl.Int64)
    else:
        turned = (pl.col("step") < -TURN_S).cum_sum().cast(pl.Int64)
        years = turned - turned.max()
    return (
        steps.select(minute=pl.col("second") // 60, years=years)
        .group_by("minute")
        .agg(pl.col("years").max())
        .sort("minute")
    )


def find_years(
    frames: dict[str, pl.DataFrame], facts: tuple[Facts, ...], turns: dict[int, pl.DataFrame]
) -> dict[int, tuple[int, str]]:
    """Choose the last year of sources whose stamps carry none."""
    yearless = {fact.source.index: fact for fact in facts if fact.yearless}
    spans = pl.concat(
        [
            frames["seconds"].select("source", lo="first_us", hi="last_us"),
            *[frames[name].select("source", lo="ts", hi="ts") for name in ("beats", "samples")],
        ]
    )
    spans = spans.drop_nulls().group_by("source").agg(pl.col("lo").min(), pl.col("hi").max()).sort("source")
    anchors = [(lo, hi) for source, lo, hi in spans.iter_rows() if source not in yearless]
    found = {}
    for index, table in turns.items():
        if not table.height:
            continue
        ends = table.sort("years", "minute")
        first, last = (
            (int(ends["minute"][place]) * MINUTE, int(ends["years"][place])) for place in (0, ends.height - 1)
        )
        wall = pl.from_epoch(pl.col("minute") * 60, time_unit="s")
        leap = table.filter((wall.dt.month() == 2) & (wall.dt.day() == 29))["years"].unique().to_list()
        found[index] = clock.guess_year(first, last, anchors, yearless[index].modified_us, leap)
    return found


def doubts(seconds: pl.DataFrame, index: int, rule: Rule) -> tuple[str, ...]:
    """Say how many lines lie in an hour that the zone had twice or never."""
    if rule.offsets is not None:
        return ()
    rows = seconds.filter((pl.col("source") == index) & pl.col("naive"))
    wall = rows.select("n", micros=in_years(rows, rule, "second", SECOND))
    wall = wall.drop_nulls("micros")
    if not wall.height:
        return ()
    wall = wall.with_columns(
        first=clock.to_utc(pl.col("micros"), rule.zone),
        second=clock.to_utc(pl.col("micros"), rule.zone, late=True),
    )
    twice = int(wall.filter(pl.col("first") != pl.col("second"))["n"].sum())
    never = int(wall.filter(pl.col("first").is_null())["n"].sum())
    told = "were told apart by their order" if rule.repeat else "are taken as the first of the two"
    return (
        *((f"{twice} lines lie in an hour that {rule.zone} had twice and {told}",) if twice else ()),
        *(
            (f"{never} lines have a time that {rule.zone} skipped and are not placed: is it the right zone?",)
            if never
            else ()
        ),
    )


def in_years(frame: pl.DataFrame, rule: Rule, column: str, scale: int) -> pl.Series:
    """Return a column of naive stamps in microseconds, in the year that they mean."""
    micros = frame.select(value=pl.col(column) * scale)
    if rule.year is None:
        return micros["value"]
    table = micros.with_columns(minute=pl.col("value") // MINUTE).join(
        rule.turns, on="minute", how="left", maintain_order="left"
    )
    year = pl.lit(rule.year) + pl.col("years").fill_null(0)
    return table.select(clock.with_year(pl.col("value"), year).alias("value"))["value"]


def shift(frame: pl.DataFrame, rules: dict[int, Rule]) -> pl.DataFrame:
    """Turn the naive instants of a frame into UTC."""
    if "naive" not in frame.columns:
        return frame
    if not frame.height or not frame["naive"].any():
        return frame.drop("repeated", strict=False)
    other = ~pl.col("naive").fill_null(value=False) | ~pl.col("source").is_in(list(rules))
    parts = [frame.filter(other)]
    for source, rule in rules.items():
        part = frame.filter((pl.col("source") == source) & pl.col("naive"))
        if not part.height:
            continue
        late = is_late(part, rule.repeat)
        for column, scale in SCALE.items():
            if column in part.columns:
                micros = in_years(part, rule, column, scale)
                utc = to_utc(micros, rule, late)
                part = part.with_columns((utc // scale).alias(column))
        parts.append(part.with_columns(naive=pl.lit(value=False)))
    return pl.concat(parts).drop("repeated", strict=False)


def is_late(part: pl.DataFrame, repeat: Repeat | None) -> pl.Series:
    """Tell which rows follow the step back, and are near enough to it for it to matter."""
    if repeat is None:
        return pl.Series([False]).new_from_index(0, part.height)
    lead = next(name for name in SCALE if name in part.columns)
    near = (pl.col(lead) * SCALE[lead] // SECOND - repeat.at_s).abs() <= 2 * 3600
    after = (pl.col("shard") > repeat.shard) | ((pl.col("shard") == repeat.shard) & pl.col("repeated"))
    return part.select((near & after).fill_null(value=False).alias("late"))["late"]


def to_utc(micros: pl.Series, rule: Rule, late: pl.Series) -> pl.Series:
    """Turn wall-clock microseconds into UTC by the rule's zone or the offsets found."""
    table = pl.DataFrame({"micros": micros, "late": late})
    if rule.offsets is None:
        return table.select(clock.to_utc(pl.col("micros"), rule.zone, late=pl.col("late")).alias("utc"))[
            "utc"
        ]
    wanted = table.with_row_index("row").with_columns(minute=pl.col("micros") // MINUTE).sort("minute")
    joined = wanted.join_asof(rule.offsets, on="minute").with_columns(pl.col("offset_min").backward_fill())
    return joined.sort("row").select(utc=pl.col("micros") - pl.col("offset_min").cast(pl.Int64) * MINUTE)[
        "utc"
    ]


def inferred(
    sketch: pl.DataFrame, index: int, rule: Rule, naive: set[int], facts: tuple[Facts, ...], assumed: Zone
) -> tuple[pl.DataFrame | None, Zone]:
    """Find the offset of a zone-less source from minutes whose lines another input shows with an offset."""
    mine = sketch.filter((pl.col("source") == index) & pl.col("naive"))
    mine = mine.with_columns(minute=in_years(mine, rule, "minute", MINUTE) // MINUTE)
    mine = mine.group_by("minute", "lane", "ident").agg(pl.col("n").sum(), pl.col("hash").sum()).drop_nulls()
    # A heartbeat says the same every minute, and would fit at any offset: only what was said once tells when.
    mine = mine.filter(pl.col("hash").is_unique())
    others = sketch.filter(~pl.col("source").is_in(list(naive)))
    pairs: list[pl.DataFrame] = []
    for key in ("ident", "service"):
        theirs = others.group_by("source", "minute", "lane", key).agg(pl.col("n").sum(), pl.col("hash").sum())
        theirs = theirs.filter(pl.struct("source", "hash").is_unique()).rename(
            {"minute": "utc", key: "other"}
        )
        pairs.append(mine.join(theirs, on=["lane", "n", "hash"]).select("source", "minute", "utc", "n"))
    found = pl.concat(pairs).with_columns(offset_min=pl.col("minute") - pl.col("utc"))
    found = found.filter(pl.col("offset_min").is_in(list(OFFSETS_MIN))).unique()
    best = found.group_by("source", "offset_min").agg(minutes=pl.col("minute").n_unique())
    best = best.filter(pl.col("minutes") >= SAME_MINUTES).sort(
        ["minutes", "source", "offset_min"], descending=[True, False, False]
    )
    if not best.height:
        return None, assumed
    source = int(best["source"][0])
    offsets = best.filter(pl.col("source") == source).sort("minutes", descending=True)["offset_min"].to_list()
    matched = found.filter((pl.col("source") == source) & pl.col("offset_min").is_in(offsets[:2]))
    steps = (
        matched.group_by("minute")
        .agg(pl.col("offset_min").mode().min())
        .sort("minute")
        .select("minute", "offset_min")
    )
    share = float((steps["offset_min"] == offsets[0]).mean() or 0.0)
    if share >= AGREE:
        steps = steps.filter(pl.col("offset_min") == offsets[0])
    elif not in_two_pieces(steps["offset_min"]):
        return None, assumed
    names = [offset_name(value) for value in dict.fromkeys(steps["offset_min"].to_list())]
    other = next(fact.source.name for fact in facts if fact.source.index == source)
    why = f"{steps.height} minutes of its lines stand in {other} with their offset from UTC"
    return steps, Zone(", then ".join(names), "inferred", why)


def in_two_pieces(offsets: pl.Series) -> bool:
    """Tell whether the offset changes once, as at the turn of summer time."""
    return int((offsets != offsets.shift(1)).sum() or 0) == 1


def offset_name(minutes: int) -> str:
    """Write an offset as UTC-03:00."""
    hours, rest = divmod(abs(minutes), 60)
    return f"UTC{'-' if minutes < 0 else '+'}{hours:02d}:{rest:02d}"
