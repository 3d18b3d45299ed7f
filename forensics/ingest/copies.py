"""Which lines do several inputs hold? They are counted in the richest.

Minutes of a service, or of a process's own name, whose lines have the same sums of hashes are the same lines. A text export names
the process where a richer one names the unit: so both names are compared, and what only the text holds is given the unit's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from forensics.model.schema import FRAMES, TOLD, conform, empty
from forensics.model.schema import KEYS as SCHEMA_KEYS

if TYPE_CHECKING:
    from forensics.model.source import Source

SECOND = 1_000_000
SAME = 0.6
"""Share of common minutes whose contents must agree for two sources to be copies: receipt and source time may put an
entry into different minutes, and one export may have lost a line."""
BEYOND_US = 60 * SECOND
"""What reaches no further beyond the richer input than this is a copy as a whole: stamps differ in precision and in kind."""
KEYS = ["source", "service"]
MOST_TWICE = 1000
"""Requests and hits of a copy that are kept to compare its clock."""
MANAGERS = ("systemd", "kernel", "systemd-journald")
BEGINS = ("systemd.starting", "systemd.started")
ENDS = (
    "systemd.main-exited",
    "systemd.deactivated",
    "systemd.stopped",
    "systemd.finished",
    "systemd.failed-result",
)
LATE_US = 5 * SECOND
"""What a process wrote may still lie in a pipe, and its children may end after it: a line so near to an end or a start tells nothing."""
COPIES = {
    "source": pl.UInt16,
    "service": pl.String,
    "of": pl.UInt16,
    "renamed": pl.String,
    "lo": pl.Int64,
    "hi": pl.Int64,
    "whole": pl.Boolean,
}
"""Lines of ``service`` in ``source`` from ``lo`` to ``hi`` (µs) are those of another source, where the service is called ``renamed``;
``whole``: nothing lies beyond."""


def named(frames: dict[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Name the service of a text export of one unit by the unit, where only the program's name is printed.

    ``journalctl -u api -o short`` prints the identifier of each process; the unit's name stands in systemd's own lines.
    An export with exactly one unit and one other identifier leaves no doubt, unless a process of the identifier lived on through an end or
    a start of the unit, or began while that was down: then it is of another unit, whose manager had nothing to say.
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
    idents = idents.filter(~pl.col("ident").is_in(MANAGERS))
    one = pl.col("source").is_unique()
    pairs = units.filter(one).join(idents.filter(one), on="source")
    pairs = pairs.join(strangers(frames["hits"], processes, pairs), on="source", how="anti")
    return renamed(frames, pairs.select("source", service="ident", renamed="unit"))


def strangers(hits: pl.DataFrame, processes: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    """Return the sources in which a process of the identifier is none of the unit, by the unit's ends and starts."""
    turns = (
        hits.filter(pl.col("signature").is_in([*BEGINS, *ENDS]) & pl.col("ts").is_not_null())
        .select("source", "service", "ts", "line", down=pl.col("signature").is_in(ENDS))
        .join(pairs, left_on=["source", "service"], right_on=["source", "unit"], how="semi")
    )
    mine = processes.join(pairs, left_on=["source", "service"], right_on=["source", "ident"], how="semi")
    both = mine.select("source", "first_us", "last_us").join(turns.drop("service"), on="source")
    through = (pl.col("first_us") < pl.col("ts") - LATE_US) & (pl.col("last_us") > pl.col("ts") + LATE_US)
    before = both.filter(pl.col("ts") < pl.col("first_us")).sort("source", "first_us", "ts", "line")
    latest = before.unique(["source", "first_us"], keep="last", maintain_order=True)
    while_down = latest.filter(pl.col("down") & (pl.col("ts") < pl.col("first_us") - LATE_US))
    return pl.concat([both.filter(through).select("source"), while_down.select("source")]).unique()


def renamed(frames: dict[str, pl.DataFrame], pairs: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Give services of some sources (source, service, renamed) another name in every frame."""
    if not pairs.height:
        return frames
    return {
        name: frame
        if "service" not in frame.columns
        else frame.join(pairs, on=KEYS, how="left")
        .with_columns(service=pl.coalesce("renamed", "service"))
        .drop("renamed")
        for name, frame in frames.items()
    }


def find(frames: dict[str, pl.DataFrame], sources: list[Source]) -> pl.DataFrame:
    """Return the copies among all sources (columns :data:`COPIES`)."""
    sketch = frames["sketch"]
    rank = {source.index: richness(source) for source in sources}
    by_service = agreeing(sketch, "service", rank)
    by_ident = agreeing(sketch.filter(pl.col("ident").is_not_null()), "ident", rank)
    idents = sketch.select("source", "service", "ident").unique()
    through = idents.join(
        by_ident, left_on=["source", "ident"], right_on=["source", "name"], how="left", maintain_order="left"
    )
    through = through.group_by(KEYS).agg(
        of=pl.col("of").min(), same=pl.col("of").n_unique() == 1, all=pl.col("of").is_not_null().all()
    )
    through = through.filter(pl.col("same") & pl.col("all")).select(*KEYS, "of")
    direct = by_service.rename({"name": "service"})
    through = through.join(direct, on=KEYS, how="anti")
    if not direct.height and not through.height:
        return pl.DataFrame(schema=COPIES)
    spans = frames["seconds"].group_by(KEYS).agg(lo=pl.col("first_us").min(), hi=pl.col("last_us").max())
    by_name = spans.rename({"source": "of"})
    process = (
        idents.join(spans, on=KEYS)
        .group_by(of="source", ident="ident")
        .agg(pl.col("lo").min(), pl.col("hi").max())
    )
    reach = through.join(idents, on=KEYS).join(process, on=["of", "ident"]).group_by(*KEYS, "of")
    pairs = pl.concat(
        [
            direct.join(by_name, on=["of", "service"]),
            reach.agg(pl.col("lo").min(), pl.col("hi").max()).select(*KEYS, "of", "lo", "hi"),
        ]
    )
    pairs = pairs.join(unit_names(idents), on=[*KEYS, "of"], how="left").sort(KEYS)
    own = spans.rename({"lo": "own_lo", "hi": "own_hi"})
    beyond = (pl.col("own_lo") < pl.col("lo") - BEYOND_US) | (pl.col("own_hi") > pl.col("hi") + BEYOND_US)
    pairs = pairs.join(own, on=KEYS, how="left").with_columns(whole=~beyond.fill_null(value=False))
    return pairs.select(pl.col(name).cast(dtype) for name, dtype in COPIES.items())


def agreeing(sketch: pl.DataFrame, name: str, rank: dict[int, int]) -> pl.DataFrame:
    """Return (source, name, of): what a source calls so, another holds too; the richer one stays.

    Inputs that say the same throughout are compared once, by the richest of them: a thousand identical files are
    a thousand copies, not half a million pairs.
    """
    minutes = sketch.group_by("source", name, "minute", "lane").agg(pl.col("n").sum(), pl.col("hash").sum())
    minutes = minutes.rename({name: "name"}).sort("source", "name", "minute", "lane")
    sizes = minutes.group_by("source", "name", maintain_order=True).agg(
        lines=pl.col("n").sum(),
        said=pl.struct("minute", "lane", "n", "hash").hash().sum(),
        rank=pl.col("source").first().replace_strict(rank, return_dtype=pl.Int64),
    )
    alike = sizes.sort("rank", "source").with_columns(head=pl.col("source").first().over("name", "said"))
    heads = minutes.join(alike.filter(pl.col("source") == pl.col("head")), on=["source", "name"], how="semi")
    found = richer(heads, sizes)
    of_heads = found.rename({"source": "head", "of": "further"})
    same = alike.filter(pl.col("source") != pl.col("head")).join(of_heads, on=["head", "name"], how="left")
    same = same.select("source", "name", of=pl.coalesce("further", "head"))
    return pl.concat([found, same]).sort("source", "name")


def richer(minutes: pl.DataFrame, sizes: pl.DataFrame) -> pl.DataFrame:
    """Return (source, name, of): the first other source that says the same in nearly all common minutes and is richer."""
    place = ["name", "minute", "lane"]
    pair = ["source", "source_b", "name"]
    same = minutes.join(minutes, on=[*place, "n", "hash"], suffix="_b").filter(
        pl.col("source") != pl.col("source_b")
    )
    same = same.group_by(pair).agg(same=pl.len())
    other = minutes.select(*place, source_b="source")
    common = same.join(minutes, on=["source", "name"]).join(other, on=["source_b", *place])
    agree = same.join(common.group_by(pair).agg(common=pl.len()), on=pair)
    agree = agree.filter(pl.col("same") >= SAME * pl.col("common"))
    both = agree.join(sizes, on=["source", "name"]).join(
        sizes, left_on=["source_b", "name"], right_on=["source", "name"], suffix="_b"
    )
    order = [("rank", 1), ("lines", -1), ("source", 1)]
    worse, tied = pl.lit(value=False), pl.lit(value=True)
    for column, sign in order:
        mine, theirs = (pl.col(column).cast(pl.Int64) * sign, pl.col(f"{column}_b").cast(pl.Int64) * sign)
        worse, tied = worse | (tied & (mine > theirs)), tied & (mine == theirs)
    first = both.filter(worse).sort("source", "source_b", "name")
    return first.unique(subset=["source", "name"], keep="first", maintain_order=True).select(
        "source", "name", of="source_b"
    )


def unit_names(idents: pl.DataFrame) -> pl.DataFrame:
    """Return (source, service, of, renamed): what the other source calls the only service with this process name."""
    theirs = (
        idents.filter(~pl.col("ident").is_in(MANAGERS))
        .group_by(of="source", service="ident")
        .agg(renamed=pl.col("service").first(), units=pl.col("service").n_unique())
    )
    theirs = theirs.filter((pl.col("units") == 1) & (pl.col("renamed") != pl.col("service")))
    mine = idents.select("source", "service").unique()
    return mine.join(theirs, on="service").select("source", "service", "of", "renamed")


def richness(source: Source) -> int:
    """Rank transports by how much of an entry they keep: 0 is the richest."""
    order = (
        "journal_file",
        "journald_live",
        "journald_export",
        "journald_json",
        "journald_json_pretty",
        "journald_json_sse",
        "journald_json_seq",
        "journald_verbose",
    )
    return order.index(source.transport) if source.transport in order else len(order)


def twice(frames: dict[str, pl.DataFrame], copies: pl.DataFrame) -> pl.DataFrame:
    """Return requests and hits of copies with the input that counts them: both date them, which compares their clocks."""
    rows = [
        frames[name].select(*KEYS, "naive", "ts", "line", what=what)
        for name, what in TOLD.items()
        if frames[name].height
    ]
    if not rows or not copies.height:
        return empty("twice")
    both = pl.concat(rows).join(copies.select(*KEYS, "of"), on=KEYS, how="inner").sort("source", "ts", "line")
    some = both.filter(pl.int_range(pl.len()).over("source") < MOST_TWICE)
    return conform(some.with_columns(shard=pl.lit(0)), {**SCHEMA_KEYS, **FRAMES["twice"]})


def without(frames: dict[str, pl.DataFrame], copies: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Take the rows of copies out of every frame that counts; what lies beyond the richer source stays, under its name."""
    if not copies.height:
        return frames
    keep = ("shards", "formats", "sketch")
    rest = {
        name: frame
        if name in keep or "service" not in frame.columns
        else outside(frame, copies.select(*KEYS, "lo", "hi", "whole"))
        for name, frame in frames.items()
    }
    other_names = copies.filter(~pl.col("whole")).drop_nulls("renamed").select(*KEYS, "renamed")
    counted = renamed({name: frame for name, frame in rest.items() if name not in keep}, other_names)
    return rest | counted


def outside(frame: pl.DataFrame, copies: pl.DataFrame) -> pl.DataFrame:
    """Keep the rows of a frame that no copy covers."""
    joined = frame.join(copies, on=KEYS, how="left", nulls_equal=True, maintain_order="left")
    lo, hi = pl.col("lo"), pl.col("hi")
    if "ts" in frame.columns:
        beyond = (pl.col("ts") // SECOND < lo // SECOND) | (pl.col("ts") // SECOND > hi // SECOND)
    elif "second" in frame.columns:
        beyond = (pl.col("second") < lo // SECOND) | (pl.col("second") > hi // SECOND)
    elif "minute" in frame.columns:
        minute = 60 * SECOND
        beyond = (pl.col("minute") < lo // minute) | (pl.col("minute") > hi // minute)
    elif "first_us" in frame.columns:
        beyond = (pl.col("first_us") < lo) | (pl.col("last_us") > hi)
    else:
        beyond = pl.lit(value=True)
    stays = pl.col("whole").is_null() | (~pl.col("whole") & beyond.fill_null(value=False))
    return joined.filter(stays).select(frame.columns)
