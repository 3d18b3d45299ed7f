"""Settling the Digest: what only the whole input can decide.

Lines become absolute, year-less and zone-less times get their year and zone, streams cut by a shard are joined, and
copies of the same entries are taken out. The order of shards plays no part.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.ingest import buffered, copies, dating
from forensics.ingest.digest import (
    ARRIVALS_PER_MINUTE,
    HITS_PER_MINUTE,
    MINUTE,
    SECOND,
    STREAM,
    smallest,
)
from forensics.model.digest import Digest, Evidence
from forensics.model.schema import FRAMES, KEYS, ROWS_PER_MINUTE, SUCCESSES_PER_MINUTE
from forensics.model.source import Lines, Source, Zone

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from forensics.ingest.wall import Facts

PLACE = {**KEYS, **dict.fromkeys(STREAM, pl.String())}
"""Columns that name a stream within a shard."""
LINE_COLUMNS = ("line", "most_line", "first_line", "last_line", "first_at", "last_at")


def settle(
    digest: Digest, facts: tuple[Facts, ...], zones: Callable[[Source], Zone], lines_count: Mapping[int, bool]
) -> Evidence:
    """Return the Evidence of all inputs; ``lines_count`` says per source whether it has physical lines."""
    frames = {name: digest[name] for name in FRAMES}
    frames = absolute(frames)
    frames["hits"] = number_across(frames["hits"], frames["edges"], frames["edge_marks"])
    frames["hits"] = headed_across(frames["hits"], frames["edges"])
    settled, frames = dating.dated(frames, facts, zones)
    frames = copies.named(frames)
    spans = find_spans(frames)
    found = copies.find(frames, settled)
    seldom = sparse(frames["arrivals"], frames["saturated"])
    twice = copies.twice({"arrivals": seldom, "hits": frames["hits"]}, found)
    frames = buffered.placed(capped(copies.without(frames, found)) | {"twice": twice})
    parts = by_source(frames)
    sources = tuple(
        describe(
            source,
            {name: part.get((source.index,), frames[name].clear()) for name, part in parts.items()},
            spans.get(source.index, (None, None)),
            found,
            has_lines=lines_count.get(source.index, False),
        )
        for source in settled
    )
    return Evidence(sources, Digest(frames))


def journals(digest: Digest) -> bool:
    """Have two inputs entries of one numbering?"""
    chain = digest["chain"].select("source", "seq_id").drop_nulls().unique()
    return bool(chain["seq_id"].is_duplicated().any())


def copied(digest: Digest, facts: tuple[Facts, ...], zones: Callable[[Source], Zone]) -> pl.DataFrame:
    """Return which inputs are copies of others by what their whole minutes say (columns of :data:`copies.COPIES`)."""
    frames = absolute({name: digest[name] for name in FRAMES})
    settled, frames = dating.dated(frames, facts, zones)
    return copies.find(copies.named(frames), settled)


def absolute(frames: dict[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Add the lines of all earlier shards to the lines of each row, and sort every frame."""
    shards = frames["shards"].sort("source", "shard")
    base = shards.select("source", "shard", base=(pl.col("lines").cum_sum() - pl.col("lines")).over("source"))
    out: dict[str, pl.DataFrame] = {}
    for name, local in frames.items():
        frame = local
        lines = [column for column in LINE_COLUMNS if column in frame.columns]
        if lines and frame.height:
            frame = (
                frame.join(base, on=["source", "shard"], how="left")
                .with_columns(pl.col(column) + pl.col("base").fill_null(0) for column in lines)
                .drop("base")
            )
        order = [
            "source",
            "shard",
            *lines[:1],
            *[
                c
                for c in ("service", "signature", "kind", "second", "minute", "template", "route", "status")
                if c in frame.columns
            ],
        ]
        out[name] = frame.sort(order)
    return out


def headed_across(hits: pl.DataFrame, edges: pl.DataFrame) -> pl.DataFrame:
    """Give lines whose record begins in an earlier shard its beginning."""
    if not hits["head"].null_count():
        return hits
    keys = ["source", *STREAM]
    before = (
        edges.sort("source", "shard")
        .with_columns(before=pl.col("last_head").forward_fill().shift(1).over(keys))
        .select(*keys, "shard", "before")
    )
    joined = hits.join(before, on=[*keys, "shard"], how="left", nulls_equal=True, maintain_order="left")
    return joined.with_columns(head=pl.coalesce("head", "before")).drop("before")


def number_across(hits: pl.DataFrame, edges: pl.DataFrame, marks: pl.DataFrame) -> pl.DataFrame:
    """Make failure numbers unique per stream over all shards.

    A stream that was cut inside a record goes on with the record of the shard before: its first lines have number 0
    there, and an exception among them that no chain mark ties to the one before begins a new failure.
    """
    if not hits.height:
        return hits
    bases, early, framed = numbers_before(edges, marks)
    keys = [*PLACE]
    filled = [pl.col(STREAM).fill_null("\0")]
    joined = hits.with_columns(filled).join(bases.with_columns(filled), on=keys, how="left")
    joined = joined.sort("line").join_asof(
        early.with_columns(filled).sort("line"), on="line", by=keys, check_sortedness=False
    )
    fid = (
        pl.when(pl.col("fid") == 0)
        .then(pl.col("early").fill_null(0))
        .otherwise(pl.col("fid") + pl.col("base").fill_null(0))
    )
    return (
        joined.with_columns(
            fid=fid, **{name: pl.when(pl.col(name) != "\0").then(pl.col(name)) for name in STREAM}
        )
        .drop("base", "early")
        .pipe(framed_across, framed)
        .sort("source", "line", "signature")
    )


def numbers_before(
    edges: pl.DataFrame, marks: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame, set[tuple[object, ...]]]:
    """Return how many failures of each stream lie before a shard (``base``), the numbers of its lines before its first record (``early``), and the failures with a stack in a later shard."""
    first: dict[tuple[object, ...], list[tuple[int, str]]] = {}
    for source, shard, service, pid, stream, line, mark in (
        marks.sort("source", "shard", "line").select("source", "shard", *STREAM, "line", "mark").iter_rows()
    ):
        first.setdefault((source, shard, service, pid, stream), []).append((line, mark))
    carried: dict[tuple[object, ...], tuple[int, str | None]] = {}
    bases: list[tuple[object, ...]] = []
    zero: list[tuple[object, ...]] = []
    framed: set[tuple[object, ...]] = set()
    for source, shard, service, pid, stream, starts, last_fid, last_mark in (
        edges.sort("source", "shard")
        .select("source", "shard", *STREAM, "starts", "last_fid", "last_mark")
        .iter_rows()
    ):
        key = (source, service, pid, stream)
        current, mark = carried.get(key, (0, None))
        zero.append((source, shard, service, pid, stream, 0, current))
        for line, kind in first.get((source, shard, service, pid, stream), ()):
            if kind == "F":
                framed.add((*key, current))
            current += kind == "X" and mark in ("X", "F")
            mark = kind
            zero.append((source, shard, service, pid, stream, line, current))
        bases.append((source, shard, service, pid, stream, current))
        carried[key] = (current + last_fid, last_mark if starts else mark)
    return (
        pl.DataFrame(bases, schema={**PLACE, "base": pl.UInt32}, orient="row"),
        pl.DataFrame(zero, schema={**PLACE, "line": pl.UInt32, "early": pl.UInt32}, orient="row"),
        framed,
    )


def framed_across(hits: pl.DataFrame, framed: set[tuple[object, ...]]) -> pl.DataFrame:
    """Mark the lines whose stack stands in a later shard."""
    if not framed:
        return hits
    keys = ["source", *STREAM, "fid"]
    kinds = {name: hits.schema[name] for name in keys}
    later = pl.DataFrame(sorted(framed, key=repr), schema=kinds, orient="row").with_columns(
        later=pl.lit(value=True)
    )
    joined = hits.join(later, on=keys, how="left", nulls_equal=True, maintain_order="left")
    return joined.with_columns(framed=pl.col("framed") | pl.col("later").fill_null(value=False)).drop("later")


def capped(frames: dict[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Merge the counts of shards, apply every cap to the whole, and fix the order of rows."""
    out = dict(frames)
    sums = {
        "n": pl.col("n").sum(),
        "first_us": pl.col("first_us").min(),
        "last_us": pl.col("last_us").max(),
        "slowest_ms": pl.col("slowest_ms").max(),
    }
    sums |= {"timed": pl.col("timed").sum(), "slow": pl.col("slow").sum()}
    sums |= {"first_line": pl.col("first_line").min(), "last_line": pl.col("last_line").max()}
    for name in ("seconds", "routes", "templates", "hit_counts", "processes", "formats"):
        frame = frames[name].drop("shard")
        keys = [column for column in frame.columns if column not in sums]
        out[name] = (
            frame.group_by(keys).agg(**{k: v for k, v in sums.items() if k in frame.columns}).sort(keys)
        )
    out["templates"] = smallest(out["templates"])
    out["chain"] = linked(frames["chain"])
    out["lags"] = (
        frames["lags"]
        .drop("shard")
        .sort("most", "most_line", descending=[True, False])
        .group_by("source", "service", "quarter", maintain_order=True)
        .agg(pl.col("n").sum(), pl.col("least").min(), pl.col("most", "most_line").first())
        .sort("source", "service", "quarter")
    )
    minute = pl.col("ts") // MINUTE
    for name, keys, limit in (
        ("hits", ["service", "signature"], HITS_PER_MINUTE),
        ("failed", ["service", "route"], ROWS_PER_MINUTE),
        ("slow", ["service", "route"], ROWS_PER_MINUTE),
        ("calls", ["service", "op"], ROWS_PER_MINUTE),
        ("quick_calls", ["service", "op"], ARRIVALS_PER_MINUTE),
        ("successes", ["service", "signature"], SUCCESSES_PER_MINUTE),
    ):
        frame = frames[name].sort("source", "line")
        out[name] = frame.filter(pl.int_range(pl.len()).over("source", *keys, minute) < limit)
    out["arrivals"] = sparse(frames["arrivals"], frames["saturated"])
    return out


def linked(chain: pl.DataFrame) -> pl.DataFrame:
    """Join the minutes of a journal that a shard's end cut in two."""
    rows = chain.drop("shard").sort("source", "boot", "seq_id", "mono_minute", "first_mono", "first_at")
    edges = {
        f"{edge}_{name}": getattr(pl.col(f"{edge}_{name}"), edge)()
        for edge in ("first", "last")
        for name in ("mono", "offset", "at")
    }
    return rows.group_by("source", "boot", "seq_id", "mono_minute", maintain_order=True).agg(
        n=pl.col("n").sum(), first_seq=pl.col("first_seq").min(), last_seq=pl.col("last_seq").max(), **edges
    )


def sparse(arrivals: pl.DataFrame, saturated: pl.DataFrame) -> pl.DataFrame:
    """Drop clients that saturate in any shard, or in a minute that a shard's end cut in two."""
    keys = ["service", "method", "route", "client", "agent"]
    busy = (
        arrivals.group_by(*keys, "source", pl.col("ts") // MINUTE)
        .len()
        .filter(pl.col("len") > ARRIVALS_PER_MINUTE)
        .select(keys)
    )
    return arrivals.join(
        pl.concat([busy, saturated.select(keys)]).unique(), on=keys, how="anti", nulls_equal=True
    ).sort("source", "line")


TIMED = ("beats", "samples", "sessions", "poolers")
"""Frames of what is no line and has a time."""


def by_source(frames: dict[str, pl.DataFrame]) -> dict[str, dict[tuple[Any, ...], pl.DataFrame]]:
    """Part what sources are described from, once: asking each frame for each of many sources takes their square."""
    return {
        name: frames[name].partition_by("source", as_dict=True)
        for name in ("shards", "formats", "sketch", "seconds", *TIMED)
    }


def precision(mine: dict[str, pl.DataFrame]) -> str:
    """Return the unit in which all times of a source are whole: s, ms or us; nothing where none is dated."""
    parts = [
        mine["seconds"].select(at=pl.concat_list("first_us", "last_us")).explode("at"),
        *[mine[name].select(at="ts") for name in TIMED],
    ]
    times = pl.concat(parts)["at"].drop_nulls()
    if not len(times):
        return ""
    return next(
        (unit for unit, size in (("s", SECOND), ("ms", SECOND // 1000)) if (times % size == 0).all()), "us"
    )


def describe(
    source: Source,
    mine: dict[str, pl.DataFrame],
    edges: tuple[int | None, int | None],
    copied: pl.DataFrame,
    *,
    has_lines: bool,
) -> Source:
    """Fill in what the report lists about a source, from its rows of each frame (``mine``)."""
    shards = mine["shards"]
    if not shards.height:
        return source
    sums = shards.select(
        pl.col("lines", "records", "in_records", "blank", "unparsed", "undated").cast(pl.Int64).sum()
    ).row(0, named=True)
    found = (
        mine["formats"]
        .group_by("format")
        .agg(pl.col("n").sum())
        .sort(["n", "format"], descending=[True, False])
    )
    of = copied.filter(pl.col("source") == source.index)
    services = mine["sketch"]["service"].drop_nulls().unique().sort().to_list()
    whole_copy = of.filter("whole").height and not set(services) - set(of.filter("whole")["service"])
    limits = source.limits
    if of.height and not whole_copy:
        others = ", ".join(f"s{index + 1}" for index in sorted(of["of"].unique()))
        named = ", ".join(sorted(of["service"]))
        limits += (
            f"its lines of {named} are also in {others} and counted there"
            if of["whole"].all()
            else f"its lines of {named} are also in {others} and, as far as they reach, counted there",
        )
    if sums["undated"]:
        limits += (f"{sums['undated']} records have no readable time and are not placed on the timeline",)
    return replace(
        source,
        precision=precision(mine),
        message_formats=tuple(found["format"]),
        first_us=edges[0],
        last_us=edges[1],
        lines=Lines(sums["lines"], sums["in_records"], sums["blank"], sums["unparsed"])
        if has_lines
        else None,
        records=sums["records"],
        undated=sums["undated"],
        copy_of=int(of["of"][0]) if whole_copy else source.copy_of,
        services=tuple(services) or source.services,
        limits=limits,
    )


def find_spans(frames: dict[str, pl.DataFrame]) -> dict[int, tuple[int | None, int | None]]:
    """Return the first and last instant of each source."""
    parts = [
        frames["seconds"].select("source", lo="first_us", hi="last_us"),
        *[
            frames[name].select("source", lo="ts", hi="ts")
            for name in ("beats", "samples", "alerts", "sessions", "poolers")
        ],
    ]
    table = pl.concat(parts).drop_nulls().group_by("source").agg(pl.col("lo").min(), pl.col("hi").max())
    return {source: (lo, hi) for source, lo, hi in table.iter_rows()}
