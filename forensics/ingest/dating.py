"""Years and zones of stamps that carry none: what only the whole input can decide.

A year-less log may run over New Year, a zone-less one through an hour that its zone had twice; both are told by the order of the
lines. Without a zone of its own or a given one, a source takes the offset from another input that shows the same lines in UTC.
Every choice is said in the limits of the source.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from forensics.ingest import abbreviations, offsets
from forensics.ingest.wall import MINUTE, SCALE, SECOND, Repeat, Rule, in_years, is_late, no_turns, to_utc
from forensics.model.source import Zone
from forensics.sources import clock

if TYPE_CHECKING:
    from collections.abc import Callable

    from forensics.ingest.wall import Facts
    from forensics.model.source import Source

DAY_S = 86_400
NEAR_LEAP_US = 3 * 3600 * SECOND
"""Wall clocks of two neighbouring lines that lie further apart than this look like no hole of an hour."""
TURN_S = 200 * DAY_S
"""A step so large between two lines without a year is New Year, not a pause."""


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
    dated_at_all = offsets.all_spans(frames)
    stated = {
        fact.source.index: zones(fact.source)
        if fact.source.index in naive or fact.zoneless
        else Zone("UTC", "stated")
        if fact.source.index in dated_at_all
        else fact.source.zone
        for fact in facts
    }
    plain = {
        index: Rule(
            zone.name or "UTC",
            years[index][0] if index in years else None,
            turns.get(index, no_turns()),
            repeats.get(index),
            None,
        )
        for index, zone in stated.items()
        if index in naive
    }
    rules, found = offsets.found(frames, plain, stated, facts)
    told: dict[int, tuple[str, ...]] = {}
    for fact in facts:
        index, names = fact.source.index, abbreviations.doubted(fact.source.limits)
        if index in rules and names and abbreviations.mixed(frames["seconds"], index):
            table, told[index] = abbreviations.meant(frames["seconds"], index, names)
            rules[index] = replace(rules[index], offsets=table)
            found[index] = Zone("UTC", "stated")
    sources: list[Source] = []
    for fact in facts:
        index = fact.source.index
        limits = fact.source.limits
        if found[index].rule == "given" or index in told:
            limits = tuple(limit for limit in limits if not limit.startswith(clock.DOUBT))
        limits += told.get(index, ())
        if year := years.get(index):
            turned = turns[index].height and turns[index]["years"].n_unique() > 1
            limits += (
                f"the lines carry no year: {year[0]}{' for the last ones' if turned else ''}, because {year[1]}",
            )
        if index in rules:
            limits += doubts(frames["seconds"], index, rules[index])
        sources.append(replace(fact.source, zone=found[index], limits=limits))
    return sources, {name: shift(frame, rules) for name, frame in frames.items()}


def naive_sources(frames: dict[str, pl.DataFrame]) -> set[int]:
    """Return the sources that have times without a zone."""
    found: set[int] = set()
    for name in ("seconds", "beats", "samples", "alerts", "sessions", "poolers"):
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
    leaps = skipped(wall.sort("micros"))
    told = (
        f"{twice} lines lie in an hour that {rule.zone} had twice and were told apart by their order"
        if rule.repeat
        else f"{twice} lines lie in an hour that {rule.zone} had twice and are taken as the first of the two"
    )
    return (
        *((told,) if twice else ()),
        *(
            (f"{never} lines have a time that {rule.zone} skipped and are not placed: is it the right zone?",)
            if never
            else ()
        ),
        *(
            f"clocks of {rule.zone} went forward by {minutes} min between {before} and {after}: these lines are {apart} s apart"
            for minutes, before, after, apart in leaps
        ),
    )


def skipped(wall: pl.DataFrame) -> list[tuple[int, str, str, int]]:
    """Return where clocks went forward between two neighbouring lines: by how many minutes, both wall clocks, and the seconds between."""
    steps = wall.drop_nulls("first").select(
        "micros",
        before=pl.col("micros").shift(1),
        stepped=pl.col("micros").diff(),
        apart=pl.col("first").diff(),
    )
    found = steps.filter((pl.col("stepped") > pl.col("apart")) & (pl.col("stepped") <= NEAR_LEAP_US))
    shown = (
        pl.from_epoch(name, time_unit="us").dt.strftime("%Y-%m-%d %H:%M:%S") for name in ("before", "micros")
    )
    minutes = (pl.col("stepped") - pl.col("apart")) // MINUTE
    return found.select(minutes, *shown, pl.col("apart") // SECOND).rows()


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
