"""How far apart are the clocks of two sources, and how late did lines arrive?

Two sources that show the same events date each twice: requests that both log, calls that end on the one side when they end on the
other, probes sent and served, lines that two inputs hold. The difference that most pairs share is the offset of the clocks, within
the spread of those pairs. What comes at a beat pairs with any beat, so one difference must stand out; of probes the smallest is told.
A line whose program wrote a time of its own also has the time at which it arrived: their difference is how long it lay in a buffer.
Offsets are reported and make orders uncertain; they are never applied.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import combinations, product
from typing import TYPE_CHECKING

import polars as pl

from forensics.model.facts import ClockOffset, Clocks, Facts, Lag, Probes
from forensics.model.plug import Analysis
from forensics.model.schema import TOLD
from forensics.model.source import Ref

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.model.digest import Evidence
    from forensics.model.facts import Series
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


def clocks(evidence: Evidence, known: Known, facts: Facts) -> Clocks:
    """Return the offsets between sources that show the same events, and how late lines arrived."""
    del known
    counted = [source.index for source in evidence.sources if source.copy_of is None]
    requests = by_source(
        evidence["arrivals"].select("source", "ts", "line", what=TOLD["arrivals"]),
        counted,
    )
    calls = by_source(
        pl.concat(
            [evidence[name].select("source", "ts", "line", what="op") for name in ("calls", "quick_calls")]
        ),
        counted,
    )
    found: dict[tuple[int, int], ClockOffset] = {}
    for one, other in combinations(sorted(requests), 2):
        keep(found, between("requests", (one, requests[one]), (other, requests[other]), same=True))
    for one, other in product(sorted(calls), sorted(requests)):
        keep(found, between("calls", (one, calls[one]), (other, requests[other]), same=False))
    for offset in [*by_probes(facts[Probes].series), *by_copies(evidence)]:
        keep(found, offset)
    return Clocks(tuple(found[pair] for pair in sorted(found)), lags(evidence["late"]))


def keep(found: dict[tuple[int, int], ClockOffset], offset: ClockOffset | None) -> None:
    """Keep the first measurement of two sources: the more direct ones come first."""
    if offset is not None and (offset.other, offset.source) not in found:
        found.setdefault((offset.source, offset.other), offset)


def by_source(rows: pl.DataFrame, counted: list[int]) -> dict[int, pl.DataFrame]:
    """Return the dated rows of the sources with most of them, in order of time."""
    rows = rows.filter(pl.col("ts").is_not_null() & pl.col("source").is_in(counted))
    tables = {
        int(source): part.sort("ts", "line")
        for (source,), part in rows.group_by("source", maintain_order=True)
        if part.height >= FEWEST
    }
    largest = sorted(tables, key=lambda source: (-tables[source].height, source))[:SOURCES]
    return {source: tables[source] for source in largest}


def between(
    by: str,
    one: tuple[int, pl.DataFrame],
    other: tuple[int, pl.DataFrame],
    *,
    same: bool,
    reach_s: float = REACH_S,
) -> ClockOffset | None:
    """Measure the offset of ``other`` against ``one``: positive where its clock is ahead.

    ``same``: what both tell is told in the same words; else any operation of the one may be any of the other, and the pair of kinds
    that agrees best is taken.
    """
    (source, first), (target, second) = one, other
    span = round(reach_s * SECOND)
    # The files of a rotated set cover no time together.
    if (
        source == target
        or first["ts"][0] > second["ts"][-1] + span
        or second["ts"][0] > first["ts"][-1] + span
    ):
        return None
    begin = max(first["ts"][0], second["ts"][0]) - span
    first = first.filter(pl.col("ts") >= begin)
    first = first.head(MOST) if same else frequent(first).head(MOST // 4)
    if not first.height:
        return None
    second = second.filter(pl.col("ts").is_between(first["ts"][0] - span, first["ts"][-1] + span))
    second = second.head(2 * MOST) if same else frequent(second).head(2 * MOST)
    pairs = paired(first, second, span, same=same)
    if pairs.height < FEWEST:
        return None
    # Bins of a second, each also shifted by half a one, so that no difference lies on all edges.
    kinds = ["what", "theirs_what"]
    bins = pl.concat(
        [
            pairs.select(*kinds, "mine", bin=(pl.col("difference") + shift) // SECOND * SECOND - shift)
            for shift in (0, SECOND // 2)
        ]
    ).with_columns(pl.lit("").alias(kind) for kind in (kinds if same else []))
    counts = (
        bins.group_by(*kinds, "bin")
        .agg(n=pl.col("mine").n_unique())
        .sort(["n", pl.col("bin").abs(), *kinds], descending=[True, False, False, False])
    )
    what, theirs, start, n = counts.row(0)
    chosen = counts.filter((pl.col("what") == what) & (pl.col("theirs_what") == theirs))
    rivals = chosen.filter((pl.col("bin") - start).abs() > 2 * SECOND)["n"]
    smaller = first.height if same else first.filter(pl.col("what") == what).height
    smaller = min(smaller, second.height if same else second.filter(pl.col("what") == theirs).height)
    if n < FEWEST or n < SHARE * smaller or (len(rivals) and int(rivals[0]) > RIVAL * n):
        return None
    if not same:
        pairs = pairs.filter((pl.col("what") == what) & (pl.col("theirs_what") == theirs))
    inside = pairs.filter(pl.col("difference").is_between(start, start + SECOND))
    return offset_of(by, (source, first), (target, second), inside.with_columns(n=pl.lit(n)))


def frequent(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the kinds that occur most, in order of time."""
    kinds = rows.group_by("what").len().sort(["len", "what"], descending=[True, False]).head(KINDS)
    return rows.filter(pl.col("what").is_in(kinds["what"].to_list()))


def paired(first: pl.DataFrame, second: pl.DataFrame, span: int, *, same: bool) -> pl.DataFrame:
    """Return every two rows that lie within ``span`` of each other."""
    left = first.select("what", mine="ts", my_line="line", bucket=pl.col("ts") // span)
    near = [
        second.select(theirs_what="what", theirs="ts", their_line="line", bucket=pl.col("ts") // span + by)
        for by in (-1, 0, 1)
    ]
    keys = (["what", "bucket"], ["theirs_what", "bucket"]) if same else (["bucket"], ["bucket"])
    joined = left.join(pl.concat(near), left_on=keys[0], right_on=keys[1], coalesce=False)
    pairs = joined.select(
        "what", "theirs_what", "mine", "my_line", "their_line", difference=pl.col("theirs") - pl.col("mine")
    )
    return pairs.filter(pl.col("difference").abs() <= span)


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
    told = pl.concat(
        [evidence[name].select("source", "ts", "line", what=what) for name, what in TOLD.items()]
    )
    for (source, of), part in evidence["twice"].group_by("source", "of", maintain_order=True):
        counted = told.filter((pl.col("source") == of) & pl.col("ts").is_not_null()).sort("ts", "line")
        mine = part.filter(pl.col("ts").is_not_null()).sort("ts", "line")
        if counted.height and mine.height:
            yield between("copies", (int(of), counted), (int(source), mine), same=True, reach_s=COPY_S)


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
    sent = [due for due in mine.at("answered") if due.ref and due.answered is not None]
    served = sorted((due.at, due.ref) for due in theirs.at("answered") if due.ref)
    if len(sent) < FEWEST or len(served) < FEWEST:
        return None
    times = [at for at, _ in served]
    rows = []
    for due in sent:
        at = bisect_left(times, due.at)
        near = min(range(max(0, at - 1), min(len(times), at + 1)), key=lambda one: abs(times[one] - due.at))
        if (
            abs(times[near] - due.at) <= mine.period_s * SECOND / 2
            and due.ref
            and served[near][1].source != due.ref.source
        ):
            rows.append((due.at, due.answered, *served[near], due.ref))
    if len(rows) < max(FEWEST, SHARE * min(len(sent), len(served))):
        return None
    # Where both clocks agree, a probe is served between its sending and its answer.
    table = pl.DataFrame(
        {
            "least": [at - (answered or sent_at) for sent_at, answered, at, _, _ in rows],
            "most": [at - sent_at for sent_at, _, at, _, _ in rows],
        }
    )
    low, high = table["least"].quantile(0.5, "nearest") or 0.0, table["most"].quantile(0.5, "nearest") or 0.0
    spread = ((table["most"].quantile(0.95) or 0.0) - (table["most"].quantile(0.05) or 0.0)) / 2
    if spread > UNSTEADY * mine.period_s * SECOND:
        return None
    middle = (low + high) / 2
    best = min(rows, key=lambda row: abs(row[2] - (row[0] + (row[1] or row[0])) / 2 - middle))
    cut = [all(at % SECOND == 0 for at in times), all(row[0] % SECOND == 0 for row in rows)]
    return ClockOffset(
        source=best[4].source, other=best[3].source,
        offset_s=round(middle / SECOND + 0.5 * (cut[0] - cut[1]), 6),
        uncertainty_s=round(((high - low) / 2 + spread) / SECOND + 0.5 * any(cut), 6),
        by="probes", pairs=len(rows), refs=(best[4], best[3]), beat_s=mine.period_s,
    )  # fmt: skip


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
