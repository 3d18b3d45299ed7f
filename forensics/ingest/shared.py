"""Entries of one journal that several text exports hold where their minutes do not show it: short overlaps, and short cuts.

An entry is known by its sequence number and the id of the numbering, which its cursor states. Two exports whose numbers overlap
by a few minutes share too few whole minutes for :mod:`forensics.ingest.copies` to tell. Which shards hold such numbers follows from the
digest; only these are read again, and what another export holds is left out of all but the numbers of lines.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from forensics.ingest.copies import richness
from forensics.model.schema import KEYS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from forensics.ingest.wall import Facts
    from forensics.model.digest import Digest
    from forensics.model.source import Source

MOST = 200_000
"""Entries of one export within the numbers of another: beyond it they overlap by hours, which their minutes show."""
KEPT = ("shards", "formats", "chain")
"""Frames that say what an input holds, whoever counts it."""
NUMBER = {"seq_id": pl.String(), "seq": pl.Int64()}


def spans(digest: Digest, copied: pl.DataFrame, among: Iterable[int]) -> pl.DataFrame:
    """Return the numbers (source, seq_id, lo, hi) of an input among which those of another lie; what ``copied`` says of whole inputs needs no numbers."""
    chain = digest["chain"].filter(pl.col("seq_id").is_not_null() & pl.col("source").is_in(list(among)))
    whole = chain.group_by("source", "seq_id").agg(lo=pl.col("first_seq").min(), hi=pl.col("last_seq").max())
    sides = whole.join(whole, on="seq_id", suffix="_b").filter(
        (pl.col("source") != pl.col("source_b"))
        & (pl.col("lo") <= pl.col("hi_b"))
        & (pl.col("lo_b") <= pl.col("hi"))
    )
    told = copied.filter("whole").select(source="source", source_b="of")
    told = pl.concat([told, told.select(source="source_b", source_b="source")]).unique()
    sides = sides.join(told, on=["source", "source_b"], how="anti")
    sides = sides.join(together(digest), on=["source", "source_b"], how="semi")
    sides = sides.select(
        "source",
        "source_b",
        "seq_id",
        lo=pl.max_horizontal("lo", "lo_b"),
        hi=pl.min_horizontal("hi", "hi_b"),
    )
    inside = within(chain, sides).group_by("source", "source_b", "seq_id").agg(pl.col("n").sum())
    few = inside.filter(pl.col("n") <= MOST)
    found = sides.join(few, on=["source", "source_b", "seq_id"], how="semi")
    both = found.select("seq_id", source="source_b", source_b="source")
    found = found.join(both, on=["source", "source_b", "seq_id"], how="semi")
    return found.select("source", "seq_id", "lo", "hi").unique().sort("source", "seq_id", "lo", "hi")


def within(chain: pl.DataFrame, found: pl.DataFrame) -> pl.DataFrame:
    """Return the minutes of a journal's own clock that hold numbers of some spans."""
    return chain.join(found, on=["source", "seq_id"]).filter(
        (pl.col("first_seq") <= pl.col("hi")) & (pl.col("last_seq") >= pl.col("lo"))
    )


def together(digest: Digest) -> pl.DataFrame:
    """Return the pairs of inputs (source, source_b) that hold lines of one service at the same time."""
    rows = digest["seconds"].filter(~pl.col("naive"))
    reach = rows.group_by("source", "service").agg(lo=pl.col("first_us").min(), hi=pl.col("last_us").max())
    pairs = reach.join(reach, on="service", suffix="_b", nulls_equal=True)
    meet = (pl.col("lo") <= pl.col("hi_b")) & (pl.col("lo_b") <= pl.col("hi"))
    return pairs.filter(meet & (pl.col("source") != pl.col("source_b"))).select("source", "source_b").unique()


def shards(digest: Digest, found: pl.DataFrame) -> dict[int, set[int]]:
    """Return by input the shards that hold numbers of some spans."""
    rows = within(digest["chain"], found).select("source", "shard").unique().sort("source", "shard")
    out: dict[int, set[int]] = {}
    for source, shard in rows.iter_rows():
        out.setdefault(source, set()).add(shard)
    return out


def numbers(records: pl.DataFrame, found: pl.DataFrame) -> pl.DataFrame:
    """Return the numbers (seq_id, seq) of records that lie in the spans of their input."""
    rows = records.filter(~pl.col("cont").fill_null(value=False)).select(*NUMBER).drop_nulls()
    inside = rows.join(found.select("seq_id", "lo", "hi"), on="seq_id").filter(
        pl.col("seq").is_between("lo", "hi")
    )
    return inside.select(*NUMBER).unique()


def elsewhere(held: pl.DataFrame, digest: Digest, facts: Iterable[Facts]) -> pl.DataFrame:
    """Return the numbers (source, of, seq_id, seq) that another input counts: the richer one, then that with more entries, then the first."""
    sizes = dict(digest["chain"].group_by("source").agg(pl.col("n").sum()).iter_rows())
    order = sorted(
        (richness(fact.source), -sizes.get(fact.source.index, 0), fact.source.index) for fact in facts
    )
    rank = {index: place for place, (_, _, index) in enumerate(order)}
    placed = held.with_columns(
        rank=pl.col("source").cast(pl.Int64).replace_strict(rank, return_dtype=pl.Int64)
    )
    first = placed.sort("rank").with_columns(of=pl.col("source").first().over(*NUMBER, order_by="rank"))
    return first.filter(pl.col("of") != pl.col("source")).select("source", "of", *NUMBER)


def told(source: Source, lost: pl.DataFrame, digest: Digest) -> Source:
    """Say of an input how many of its entries are counted elsewhere, and where most of them."""
    mine = lost.filter(pl.col("source") == source.index)
    if not mine.height:
        return source
    by = int(mine.group_by("of").len().sort(["len", "of"], descending=[True, False])["of"][0])
    shards = digest["shards"].filter(pl.col("source") == source.index)
    if mine.height >= int(shards["records"].sum()):
        services = digest["sketch"].filter(pl.col("source") == source.index)["service"]
        return replace(source, copy_of=by, services=tuple(services.drop_nulls().unique().sort()))
    said = f"{mine.height:,} of its entries are also in s{by + 1} and counted there"
    return replace(source, limits=(*source.limits, said))


def left_out(frames: dict[str, pl.DataFrame], others: dict[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Return the frames of a shard as they are without some entries (``others``), but for what the input holds."""
    return others | {name: frames[name] for name in KEPT if name in frames}


def replaced(digest: Digest, again: dict[tuple[int, int], Digest]) -> dict[str, pl.DataFrame]:
    """Return the frames of a digest without the rows of shards that were read again."""
    places = pl.DataFrame(list(again), schema=KEYS, orient="row")
    return {
        name: frame.join(places, on=list(KEYS), how="anti", maintain_order="left")
        for name, frame in digest.frames.items()
    }
