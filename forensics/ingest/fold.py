"""Settling the Digest: what only the whole input can decide.

Lines become absolute, year-less and zone-less times get their year and zone, streams cut by a shard are joined, and
copies of the same entries are taken out. The order of shards plays no part.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from forensics.ingest.digest import (
    ARRIVALS_PER_MINUTE,
    HITS_PER_MINUTE,
    MINUTE,
    ROWS_PER_MINUTE,
    SECOND,
    STREAM,
    smallest,
)
from forensics.model.digest import Digest, Evidence
from forensics.model.schema import FRAMES
from forensics.model.source import Lines, Source, Zone
from forensics.sources import clock

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SCALE = {"ts": 1, "first_us": 1, "last_us": 1, "second": SECOND, "minute": MINUTE}
"""Columns that hold instants, and how many microseconds their unit has."""
LINE_COLUMNS = ("line", "first_line", "last_line")
SAME = 0.6
"""Share of common minutes whose contents must agree for two sources to be copies: receipt and source time may put an
entry into different minutes, and one export may have lost a line."""
KEYS = ["source", "service"]


@dataclass(frozen=True, slots=True)
class Facts:
    """What the reader knows about one input besides its digest."""

    source: Source
    yearless: bool = False
    zoneless: bool = False
    modified_us: int = 0


def settle(
    digest: Digest, facts: tuple[Facts, ...], zones: Callable[[Source], Zone], lines_count: Mapping[int, bool]
) -> Evidence:
    """Return the Evidence of all inputs; ``lines_count`` says per source whether it has physical lines."""
    frames = {name: digest[name] for name in FRAMES}
    frames = absolute(frames)
    frames["hits"] = number_across(frames["hits"], frames["edges"], frames["edge_marks"])
    settled, frames = dated(frames, facts, zones)
    frames = named(frames)
    spans = find_spans(frames)
    copies = find_copies(frames["sketch"], settled)
    frames = without(frames, copies)
    frames = capped(frames)
    sources = tuple(
        describe(
            source,
            frames,
            spans.get(source.index, (None, None)),
            copies,
            has_lines=lines_count.get(source.index, False),
        )
        for source in settled
    )
    return Evidence(sources, Digest(frames))


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


def number_across(hits: pl.DataFrame, edges: pl.DataFrame, marks: pl.DataFrame) -> pl.DataFrame:
    """Make failure numbers unique per stream over all shards.

    A stream that was cut inside a record goes on with the record of the shard before: its first lines have number 0
    there, and an exception among them that no chain mark ties to the one before begins a new failure.
    """
    if not hits.height:
        return hits
    first: dict[tuple[object, ...], list[tuple[int, str]]] = {}
    for source, shard, service, pid, stream, line, mark in (
        marks.sort("source", "shard", "line").select("source", "shard", *STREAM, "line", "mark").iter_rows()
    ):
        first.setdefault((source, shard, service, pid, stream), []).append((line, mark))
    carried: dict[tuple[object, ...], tuple[int, str | None]] = {}
    bases: list[tuple[object, ...]] = []
    zero: list[tuple[object, ...]] = []
    for source, shard, service, pid, stream, starts, last_fid, last_mark in (
        edges.sort("source", "shard")
        .select("source", "shard", *STREAM, "starts", "last_fid", "last_mark")
        .iter_rows()
    ):
        key = (source, service, pid, stream)
        current, mark = carried.get(key, (0, None))
        zero.append((source, shard, service, pid, stream, 0, current))
        for line, kind in first.get((source, shard, service, pid, stream), ()):
            current += kind == "X" and mark == "X"
            mark = kind
            zero.append((source, shard, service, pid, stream, line, current))
        bases.append((source, shard, service, pid, stream, current))
        carried[key] = (current + last_fid, last_mark if starts else mark)
    kinds = {
        "source": pl.UInt16,
        "shard": pl.UInt32,
        "service": pl.String,
        "pid": pl.String,
        "stream": pl.String,
    }
    keys = list(kinds)
    base = pl.DataFrame(bases, schema={**kinds, "base": pl.UInt32}, orient="row")
    early = pl.DataFrame(zero, schema={**kinds, "line": pl.UInt32, "early": pl.UInt32}, orient="row").sort(
        "line"
    )
    filled = [pl.col("pid", "stream", "service").fill_null("\0")]
    joined = hits.with_columns(filled).join(base.with_columns(filled), on=keys, how="left")
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
            fid=fid, **{c: pl.when(pl.col(c) != "\0").then(pl.col(c)) for c in ("pid", "stream", "service")}
        )
        .drop("base", "early")
        .sort("source", "line", "signature")
    )


def dated(
    frames: dict[str, pl.DataFrame], facts: tuple[Facts, ...], zones: Callable[[Source], Zone]
) -> tuple[list[Source], dict[str, pl.DataFrame]]:
    """Give naive times their year and zone; return the sources with their zone, and frames in UTC."""
    years = find_years(frames, facts)
    sources: list[Source] = []
    rules: dict[int, tuple[str, int | None]] = {}
    for fact in facts:
        index = fact.source.index
        has_naive = any(
            frame.filter((pl.col("source") == index) & pl.col("naive")).height
            for name in ("seconds", "beats", "samples", "alerts")
            if (frame := frames[name]).height
        )
        zone = zones(fact.source) if has_naive or fact.zoneless else Zone("UTC", "stated")
        year = years.get(index)
        limits = fact.source.limits + (
            (f"the lines carry no year: {year[0]}, because {year[1]}",) if year else ()
        )
        sources.append(replace(fact.source, zone=zone, limits=limits))
        if has_naive:
            rules[index] = (zone.name or "UTC", year[0] if year else None)
    return sources, {name: shift(frame, rules) for name, frame in frames.items()}


def find_years(frames: dict[str, pl.DataFrame], facts: tuple[Facts, ...]) -> dict[int, tuple[int, str]]:
    """Choose the year of sources whose stamps carry none."""
    yearless = {fact.source.index: fact for fact in facts if fact.yearless}
    spans = pl.concat(
        [
            frames["seconds"].select("source", lo="first_us", hi="last_us"),
            *[frames[name].select("source", lo="ts", hi="ts") for name in ("beats", "samples")],
        ]
    )
    spans = spans.drop_nulls().group_by("source").agg(pl.col("lo").min(), pl.col("hi").max()).sort("source")
    anchors = [(lo, hi) for source, lo, hi in spans.iter_rows() if source not in yearless]
    wall = pl.from_epoch("second", time_unit="s")
    leap = set(frames["seconds"].filter((wall.dt.month() == 2) & (wall.dt.day() == 29))["source"])
    return {
        source: clock.guess_year(lo, hi, anchors, yearless[source].modified_us, leap=source in leap)
        for source, lo, hi in spans.iter_rows()
        if source in yearless
    }


def shift(frame: pl.DataFrame, rules: dict[int, tuple[str, int | None]]) -> pl.DataFrame:
    """Turn the naive instants of a frame into UTC."""
    if "naive" not in frame.columns or not frame.height or not frame["naive"].any():
        return frame
    parts = [frame.filter(~pl.col("naive").fill_null(value=False) | ~pl.col("source").is_in(list(rules)))]
    for source, (zone, year) in rules.items():
        part = frame.filter((pl.col("source") == source) & pl.col("naive"))
        for column, scale in SCALE.items():
            if column in part.columns:
                micros = pl.col(column) * scale
                micros = clock.with_year(micros, year) if year is not None else micros
                part = part.with_columns((clock.to_utc(micros, zone) // scale).alias(column))
        parts.append(part.with_columns(naive=pl.lit(value=False)))
    return pl.concat(parts)


def named(frames: dict[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Name the service of a text export of one unit by the unit, where only the program's name is printed.

    ``journalctl -u api -o short`` prints the identifier of each process; the unit's name stands in systemd's own lines.
    Only an export with exactly one unit and one other identifier leaves no doubt.
    """
    processes = frames["processes"].filter(pl.col("boot").is_null())
    units = (
        frames["formats"].filter(pl.col("format") == "systemd_unit").select("source", unit="service").unique()
    )
    idents = (
        processes.select("source", ident="service")
        .unique()
        .join(units, left_on=["source", "ident"], right_on=["source", "unit"], how="anti")
    )
    idents = idents.filter(~pl.col("ident").is_in(["systemd", "kernel", "systemd-journald"]))
    one = pl.col("source").is_unique()
    pairs = units.filter(one).join(idents.filter(one), on="source")
    if not pairs.height:
        return frames
    rename = pairs.select("source", service="ident", renamed="unit")
    return {
        name: frame
        if "service" not in frame.columns
        else frame.join(rename, on=KEYS, how="left")
        .with_columns(service=pl.coalesce("renamed", "service"))
        .drop("renamed")
        for name, frame in frames.items()
    }


def find_copies(sketch: pl.DataFrame, sources: list[Source]) -> pl.DataFrame:
    """Return (source, service, of): entries of ``source`` that another source holds too; the richer one stays."""
    minutes = sketch.group_by("source", "service", "minute").agg(pl.col("n").sum(), pl.col("hash").sum())
    size = minutes.group_by(KEYS).agg(minutes=pl.len(), lines=pl.col("n").sum())
    pairs = minutes.join(minutes, on=["service", "minute"], suffix="_b").filter(
        pl.col("source") != pl.col("source_b")
    )
    agree = pairs.group_by("source", "source_b", "service").agg(
        common=pl.len(), same=((pl.col("n") == pl.col("n_b")) & (pl.col("hash") == pl.col("hash_b"))).sum()
    )
    agree = agree.filter((pl.col("same") >= SAME * pl.col("common")) & (pl.col("same") > 0))
    rank = {source.index: richness(source) for source in sources}
    joined = agree.join(size, on=KEYS).join(size, left_on=["source_b", "service"], right_on=KEYS, suffix="_b")
    rows = [
        (row["source"], row["service"], row["source_b"])
        for row in joined.sort("source", "source_b", "service").iter_rows(named=True)
        if (rank[row["source"]], -row["lines"], row["source"])
        > (rank[row["source_b"]], -row["lines_b"], row["source_b"])
    ]
    return pl.DataFrame(
        rows, schema={"source": pl.UInt16, "service": pl.String, "of": pl.UInt16}, orient="row"
    ).unique(subset=KEYS, keep="first", maintain_order=True)


def richness(source: Source) -> int:
    """Rank transports by how much of an entry they keep: 0 is the richest."""
    order = (
        "journal_file",
        "journald_live",
        "journald_export",
        "journald_json",
        "journald_pretty",
        "journald_sse",
        "journald_seq",
        "journald_verbose",
    )
    return order.index(source.transport) if source.transport in order else len(order)


def without(frames: dict[str, pl.DataFrame], copies: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Take the rows of copies out of every frame that counts."""
    if not copies.height:
        return frames
    keep = ("shards", "formats", "sketch")
    return {
        name: frame
        if name in keep or "service" not in frame.columns
        else frame.join(copies.select(KEYS), on=KEYS, how="anti", nulls_equal=True)
        for name, frame in frames.items()
    }


def capped(frames: dict[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Merge the counts of shards, apply every cap to the whole, and fix the order of rows."""
    out = dict(frames)
    sums = {
        "n": pl.col("n").sum(),
        "first_us": pl.col("first_us").min(),
        "last_us": pl.col("last_us").max(),
        "slowest_ms": pl.col("slowest_ms").max(),
    }
    sums |= {"first_line": pl.col("first_line").min(), "last_line": pl.col("last_line").max()}
    for name in ("seconds", "routes", "templates", "hit_counts", "processes", "formats"):
        frame = frames[name].drop("shard")
        keys = [column for column in frame.columns if column not in sums]
        out[name] = (
            frame.group_by(keys).agg(**{k: v for k, v in sums.items() if k in frame.columns}).sort(keys)
        )
    out["templates"] = smallest(out["templates"])
    minute = pl.col("ts") // MINUTE
    for name, keys, limit in (
        ("hits", ["service", "signature"], HITS_PER_MINUTE),
        ("failed", ["service", "route"], ROWS_PER_MINUTE),
        ("calls", ["service", "op"], ROWS_PER_MINUTE),
    ):
        frame = frames[name].sort("source", "line")
        out[name] = frame.filter(pl.int_range(pl.len()).over("source", *keys, minute) < limit)
    out["arrivals"] = sparse(frames["arrivals"], frames["saturated"])
    return out


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


def describe(
    source: Source,
    frames: dict[str, pl.DataFrame],
    edges: tuple[int | None, int | None],
    copies: pl.DataFrame,
    *,
    has_lines: bool,
) -> Source:
    """Fill in what the report lists about a source."""
    here = pl.col("source") == source.index
    shards = frames["shards"].filter(here)
    if not shards.height:
        return source
    sums = shards.select(
        pl.col("lines", "records", "in_records", "blank", "unparsed", "undated").cast(pl.Int64).sum()
    ).row(0, named=True)
    found = (
        frames["formats"]
        .filter(here)
        .group_by("format")
        .agg(pl.col("n").sum())
        .sort(["n", "format"], descending=[True, False])
    )
    of = copies.filter(here)
    services = frames["sketch"].filter(here)["service"].drop_nulls().unique().sort().to_list()
    whole_copy = of.height and not set(frames["sketch"].filter(here)["service"].drop_nulls()) - set(
        of["service"]
    )
    limits = source.limits
    if of.height and not whole_copy:
        limits += (
            f"its lines of {', '.join(sorted(of['service']))} are also in {', '.join(sorted('s' + str(i + 1) for i in of['of'].unique()))} and counted there",
        )
    if sums["undated"]:
        limits += (f"{sums['undated']} records have no readable time and are not placed on the timeline",)
    return replace(
        source,
        message_formats=tuple(found["format"]),
        first_us=edges[0],
        last_us=edges[1],
        lines=Lines(sums["lines"], sums["in_records"], sums["blank"], sums["unparsed"])
        if has_lines
        else None,
        records=sums["records"],
        undated=sums["undated"],
        copy_of=int(of["of"][0]) if whole_copy else None,
        services=tuple(services),
        limits=limits,
    )


def find_spans(frames: dict[str, pl.DataFrame]) -> dict[int, tuple[int | None, int | None]]:
    """Return the first and last instant of each source."""
    parts = [
        frames["seconds"].select("source", lo="first_us", hi="last_us"),
        *[frames[name].select("source", lo="ts", hi="ts") for name in ("beats", "samples", "alerts")],
    ]
    table = pl.concat(parts).drop_nulls().group_by("source").agg(pl.col("lo").min(), pl.col("hi").max())
    return {source: (lo, hi) for source, lo, hi in table.iter_rows()}
