"""How far apart are the clocks of two sources, and how late did lines arrive?

Two sources that show the same events date each twice: requests that both log, calls that end on the one side when they end on the
other, probes sent and served, lines that two inputs hold. The difference that most pairs share is the offset of the clocks, within
the spread of those pairs. What comes at a beat pairs with any beat, so one difference must stand out; of probes the smallest is told.
A line whose program wrote a time of its own also has the time at which it arrived: their difference is how long it lay in a buffer.
Offsets are reported and make orders uncertain; they are never applied.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING

import polars as pl

from forensics.model.facts import ClockOffset, Clocks, Facts, Lag, Probes
from forensics.model.frames import DATABASE_LOGS, least, most
from forensics.model.plug import Analysis
from forensics.model.schema import TOLD
from forensics.model.source import Ref

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from forensics.model.digest import Evidence
    from forensics.model.facts import Due, Series
    from forensics.model.known import Known

SECOND = 1_000_000
REACH_S = 120
"""Offsets up to this are looked for, in seconds."""
FEWEST = 8
"""Requests that must share a difference."""
SHARE = 0.5
"""Share of the requests of the smaller source that must share it."""
RIVAL = 0.5
"""Another difference that so large a share of them has makes it no measurement."""
MOST = 1000
"""Requests of a source that are compared, from where both logs have begun."""
KINDS = 6
"""Kinds of calls and routes that are compared where the words differ, those that occur most."""
COPY_S = 30
"""Lines that two inputs hold stand in the same minute of both: their clocks differ by less than this, in seconds."""
SAME_BEAT = 0.02
"""Two series of probes have the same period when theirs differ by no more than this share."""
UNSTEADY = 0.1
"""Probes whose distance from sending to serving varies by more than this share of the period are not the same ones."""
SOURCES = 16
"""Sources that are compared with each other, those with most requests."""


@dataclass(frozen=True, slots=True)
class Told:
    """What one source tells, and when: tables with ``ts`` and ``line``, each with the words for its rows."""

    source: int
    tables: tuple[tuple[pl.DataFrame, pl.Expr], ...]

    def edges(self) -> tuple[int, int] | None:
        """Return the first and the last instant, None where nothing is told."""
        times = [table["ts"] for table, _ in self.tables if table.height]
        return (
            (min(least(one) or 0 for one in times), max(most(one) or 0 for one in times)) if times else None
        )

    def rows(self, lo: int, hi: int) -> pl.DataFrame:
        """Return all that is told within a span: ``ts``, ``line`` and ``what``."""
        inside = pl.col("ts").is_between(lo, hi)
        return pl.concat(
            [table.filter(inside).select("ts", "line", what=what) for table, what in self.tables]
        )

    def earliest(self, lo: int, hi: int, many: int) -> pl.DataFrame:
        """Return what is told first within a span, in order of time; words are made for these rows alone."""
        times = pl.concat([table["ts"] for table, _ in self.tables])
        reach = most(times.filter(times.is_between(lo, hi)).bottom_k(many))
        return self.rows(lo, hi if reach is None else reach).sort("ts", "line").head(many)


def clocks(evidence: Evidence, known: Known, facts: Facts) -> Clocks:
    """Return the offsets between sources that show the same events, and how late lines arrived."""
    del known
    counted = [source.index for source in evidence.sources if source.copy_of is None]
    requests = by_source(counted, [(evidence["arrivals"], TOLD["arrivals"])])
    # What a database's own log states the length of are its statements and waits: nobody was called.
    servers = evidence["formats"].filter(pl.col("format").str.contains(DATABASE_LOGS))["source"].unique()
    callers = [index for index in counted if index not in set(servers)]
    calls = by_source(callers, [(evidence[name], pl.col("op")) for name in ("calls", "quick_calls")])
    found: dict[tuple[int, int], ClockOffset] = {}
    for one, other in combinations(requests, 2):
        keep(found, by_words("requests", one, other))
    for one, other in product(calls, requests):
        keep(found, by_kinds("calls", one, other))
    for offset in [*by_probes(facts[Probes].series), *by_copies(evidence)]:
        keep(found, offset)
    return Clocks(tuple(found[pair] for pair in sorted(found)), lags(evidence["late"]))


def keep(found: dict[tuple[int, int], ClockOffset], offset: ClockOffset | None) -> None:
    """Keep the first measurement of two sources: the more direct ones come first."""
    if offset is not None and (offset.other, offset.source) not in found:
        found.setdefault((offset.source, offset.other), offset)


def by_source(counted: list[int], tables: list[tuple[pl.DataFrame, pl.Expr]]) -> list[Told]:
    """Return what the sources with most dated rows tell, by their number."""
    sizes = (
        pl.concat([table.drop_nulls("ts").select("source") for table, _ in tables])
        .filter(pl.col("source").is_in(counted))
        .group_by("source")
        .len()
        .filter(pl.col("len") >= FEWEST)
        .sort("len", "source", descending=[True, False])
        .head(SOURCES)
    )
    return [of_source(int(source), tables) for source in sizes["source"].sort()]


def of_source(source: int, tables: list[tuple[pl.DataFrame, pl.Expr]]) -> Told:
    """Return what one source tells, with the columns that its words are made of."""
    return Told(
        source,
        tuple(
            (
                table.lazy()
                .filter((pl.col("source") == source) & pl.col("ts").is_not_null())
                .select("ts", "line", *what.meta.root_names())
                .collect(),
                what,
            )
            for table, what in tables
        ),
    )


def shared(one: Told, other: Told, reach: int) -> tuple[int, int] | None:
    """Return from and until when the first of two sources may tell what the other tells, None where they cover no time together.

    The files of a rotated set do not.
    """
    mine, theirs = one.edges(), other.edges()
    if one.source == other.source or mine is None or theirs is None:
        return None
    if mine[0] > theirs[1] + reach or theirs[0] > mine[1] + reach:
        return None
    return max(mine[0], theirs[0]) - reach, mine[1]


def by_words(by: str, one: Told, other: Told, reach_s: int = REACH_S) -> ClockOffset | None:
    """Measure the offset of ``other`` against ``one``, positive where its clock is ahead, by what both tell in the same words."""
    reach = reach_s * SECOND
    span = shared(one, other, reach)
    first = one.earliest(*span, MOST) if span else pl.DataFrame()
    if not first.height:
        return None
    second = other.earliest(first["ts"][0] - reach, first["ts"][-1] + reach, 2 * MOST)
    pairs = paired(first, second, reach, ["what"], ["theirs_what"])
    counts = differences(pairs.with_columns(what=pl.lit(""), theirs_what=pl.lit("")))
    if not stands_out(counts, min(first.height, second.height)):
        return None
    return offset_of(by, (one.source, first), (other.source, second), agreeing(pairs, counts))


def by_kinds(by: str, one: Told, other: Told) -> ClockOffset | None:
    """Measure the offset of ``other`` against ``one`` where the words differ: the pair of kinds that agrees best is taken."""
    reach = REACH_S * SECOND
    span = shared(one, other, reach)
    first = frequent(one.rows(*span)).sort("ts", "line").head(MOST // 4) if span else pl.DataFrame()
    if not first.height:
        return None
    near = other.rows(first["ts"][0] - reach, first["ts"][-1] + reach)
    second = frequent(near).sort("ts", "line").head(2 * MOST)
    pairs = paired(first, second, reach, [], [])
    counts = differences(pairs)
    kinds = counts.select("what", "theirs_what").head(1)
    counts = counts.join(kinds, on=kinds.columns, how="semi", maintain_order="left")
    mine = first.join(kinds, on="what", how="semi").height
    theirs = second.join(kinds, left_on="what", right_on="theirs_what", how="semi").height
    if not stands_out(counts, min(mine, theirs)):
        return None
    pairs = pairs.join(kinds, on=kinds.columns, how="semi", maintain_order="left")
    return offset_of(by, (one.source, first), (other.source, second), agreeing(pairs, counts))


def differences(pairs: pl.DataFrame) -> pl.DataFrame:
    """Count how many rows share a difference, by kinds: what, theirs_what, bin, n; the fullest bin first.

    Bins of a second, each also shifted by half a one, so that no difference lies on all edges.
    """
    kinds = ["what", "theirs_what"]
    bins = pl.concat(
        [
            pairs.select(*kinds, "mine", bin=(pl.col("difference") + shift) // SECOND * SECOND - shift)
            for shift in (0, SECOND // 2)
        ]
    )
    counts = bins.group_by(*kinds, "bin").agg(n=pl.col("mine").n_unique())
    return counts.sort(["n", pl.col("bin").abs(), *kinds], descending=[True, False, False, False])


def stands_out(counts: pl.DataFrame, smaller: int) -> bool:
    """Do enough rows share the fullest difference, of as many as the smaller source has, and far more than any other?"""
    if not counts.height:
        return False
    n, start = counts["n"][0], counts["bin"][0]
    rivals = counts.filter((pl.col("bin") - start).abs() > 2 * SECOND)["n"]
    return n >= FEWEST and n >= SHARE * smaller and not (len(rivals) and int(rivals[0]) > RIVAL * n)


def agreeing(pairs: pl.DataFrame, counts: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs that have the fullest difference, and how many rows share it."""
    start = counts["bin"][0]
    inside = pairs.filter(pl.col("difference").is_between(start, start + SECOND))
    return inside.with_columns(n=pl.lit(counts["n"][0]))


def frequent(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the kinds that occur most."""
    kinds = rows.group_by("what").len().sort(["len", "what"], descending=[True, False]).head(KINDS)
    return rows.filter(pl.col("what").is_in(kinds["what"].to_list()))


def paired(
    first: pl.DataFrame, second: pl.DataFrame, reach: int, mine: list[str], theirs: list[str]
) -> pl.DataFrame:
    """Return every two rows that lie within ``reach`` of each other and agree in some columns, named on either side."""
    left = first.select("what", mine="ts", my_line="line", bucket=pl.col("ts") // reach)
    near = [
        second.select(theirs_what="what", theirs="ts", their_line="line", bucket=pl.col("ts") // reach + by)
        for by in (-1, 0, 1)
    ]
    joined = left.join(
        pl.concat(near), left_on=[*mine, "bucket"], right_on=[*theirs, "bucket"], coalesce=False
    )
    pairs = joined.select(
        "what", "theirs_what", "mine", "my_line", "their_line", difference=pl.col("theirs") - pl.col("mine")
    )
    return pairs.filter(pl.col("difference").abs() <= reach)


def offset_of(
    by: str, one: tuple[int, pl.DataFrame], other: tuple[int, pl.DataFrame], pairs: pl.DataFrame
) -> ClockOffset:
    """Return the offset that pairs (``difference``, ``my_line``, ``their_line``, ``n``) share."""
    low, middle, high = (pairs["difference"].quantile(at, "nearest") or 0.0 for at in (0.05, 0.5, 0.95))
    example = pairs.sort((pl.col("difference") - middle).abs(), "my_line").row(0, named=True)
    # A stamp of whole seconds was cut off: it stands for any instant of its second.
    cut = [not table.select((pl.col("ts") % SECOND != 0).any()).item() for _, table in (one, other)]
    return ClockOffset(
        source=one[0],
        other=other[0],
        offset_s=middle / SECOND + 0.5 * (cut[1] - cut[0]),
        uncertainty_s=max(high - middle, middle - low) / SECOND + 0.5 * any(cut),
        by=by,
        pairs=example["n"],
        refs=(Ref(one[0], example["my_line"]), Ref(other[0], example["their_line"])),
    )


def by_copies(evidence: Evidence) -> Iterator[ClockOffset | None]:
    """Compare the clocks of inputs that hold the same lines: which line is which is known to the minute, from what they say."""
    twice, told = evidence["twice"], [(evidence[name], what) for name, what in TOLD.items()]
    for source, of in twice.select("source", "of").unique(maintain_order=True).iter_rows():
        mine = of_source(source, [(twice.filter(pl.col("of") == of), pl.col("what"))])
        yield by_words("copies", of_source(of, told), mine, reach_s=COPY_S)


def by_probes(series: tuple[Series, ...]) -> Iterator[ClockOffset]:
    """Compare the clock of a monitor with that of the service that it watches: probes sent and served.

    A beat fits itself at every multiple of its period, so the smallest offset is told, with the period. Only a series that is alone
    with its period on both sides is known to be the same.
    """
    for mine, theirs in product(
        [one for one in series if one.seen_by == "monitor"],
        [one for one in series if one.seen_by == "service"],
    ):
        rivals = [
            one for one in series
            if one.seen_by in ("monitor", "service") and one is not mine and one is not theirs and abs(one.period_s - mine.period_s) <= SAME_BEAT * mine.period_s
        ]  # fmt: skip
        if abs(mine.period_s - theirs.period_s) <= SAME_BEAT * mine.period_s and not rivals:
            offset = by_beat(mine, theirs)
            if offset is not None:
                yield offset


def by_beat(mine: Series, theirs: Series) -> ClockOffset | None:
    """Return the offset between a monitor's results and the arrivals that they were, None where they keep no distance."""
    sent = instants(due for due in mine.at("answered") if due.answered is not None)
    served = instants(theirs.at("answered")).sort("at", "source", "line")
    if sent.height < FEWEST or served.height < FEWEST:
        return None
    rows = nearest(sent, served).filter(
        ((pl.col("their_at") - pl.col("at")).abs() <= mine.period_s * SECOND / 2)
        & (pl.col("source") != pl.col("their_source"))
    )
    if rows.height < max(FEWEST, SHARE * min(sent.height, served.height)):
        return None
    # Where both clocks agree, a probe is served between its sending and its answer.
    until, after = rows["their_at"] - rows["answered"], rows["their_at"] - rows["at"]
    low, high = until.quantile(0.5, "nearest") or 0.0, after.quantile(0.5, "nearest") or 0.0
    spread = ((after.quantile(0.95) or 0.0) - (after.quantile(0.05) or 0.0)) / 2
    if spread > UNSTEADY * mine.period_s * SECOND:
        return None
    middle = (low + high) / 2
    halfway = (pl.col("at") + pl.col("answered")) / 2
    best = rows.row((rows.select((pl.col("their_at") - halfway - middle).abs()).to_series()).arg_min() or 0, named=True)  # fmt: skip
    cut = [bool((times % SECOND == 0).all()) for times in (served["at"], rows["at"])]
    return ClockOffset(
        source=best["source"], other=best["their_source"],
        offset_s=round(middle / SECOND + 0.5 * (cut[0] - cut[1]), 6),
        uncertainty_s=round(((high - low) / 2 + spread) / SECOND + 0.5 * any(cut), 6),
        by="probes", pairs=rows.height, refs=(Ref(best["source"], best["line"]), Ref(best["their_source"], best["their_line"])), beat_s=mine.period_s,
    )  # fmt: skip


def instants(dues: Iterable[Due]) -> pl.DataFrame:
    """Return when probes that a line tells of were due and answered: at, answered, source, line."""
    rows = [(due.at, due.answered or due.at, due.ref.source, due.ref.line) for due in dues if due.ref]
    columns = {"at": pl.Int64, "answered": pl.Int64, "source": pl.UInt16, "line": pl.UInt32}
    return pl.DataFrame(rows, schema=columns, orient="row")


def nearest(sent: pl.DataFrame, served: pl.DataFrame) -> pl.DataFrame:
    """Add to each probe that was sent the one served nearest to it, of two as near the earlier."""
    theirs = served.select(pl.col("at", "source", "line").name.prefix("their_")).with_row_index("after")
    times = theirs["their_at"]
    after = times.search_sorted(sent["at"], side="left").cast(pl.Int64)
    before, after = (after - 1).clip(lower_bound=0), after.clip(upper_bound=len(times) - 1)
    later = (times.gather(after) - sent["at"]).abs() < (times.gather(before) - sent["at"]).abs()
    return sent.hstack(theirs[after.zip_with(later, before)])


def lags(table: pl.DataFrame) -> tuple[Lag, ...]:
    """Say of which services lines arrived late, by the time that the program itself wrote into them."""
    return tuple(
        Lag(
            row["service"],
            row["n"],
            (row["most"] - max(row["least"], 0)) / SECOND,
            Ref(row["source"], row["most_line"]),
        )
        for row in table.iter_rows(named=True)
    )


PLUG = Analysis(
    name="clocks",
    question="How far apart are the clocks of two sources, and how late did lines arrive?",
    gives=Clocks,
    run=clocks,
    needs=(Probes,),
)
