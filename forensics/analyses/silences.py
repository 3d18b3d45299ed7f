"""Where did a service print far fewer lines than its own rate predicts?

Lines come in bunches, so seconds with at least one line are counted instead. The score of a span is the logarithm of
how much likelier its lines are at a tenth of the usual rate than at the usual rate (Poisson); a silent second adds
0.9 λ, a second with lines takes ln 10. Spans whose score is highest are found in one pass (maximal-sum segments), so
that a stall which lets a burst through now and then stays one silence.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import polars as pl

from forensics.model.facts import Clocks, Continuity, Coverage, Facts, Restarts, Silence, Silences
from forensics.model.frames import middle
from forensics.model.plug import Analysis
from forensics.model.source import Ref

if TYPE_CHECKING:
    from forensics.model.digest import Evidence
    from forensics.model.known import Known

SECOND = 1_000_000
FEWEST = 30
"""Seconds with lines below which a service has no rate of its own."""
ENOUGH = 7.0
"""Score of a span that is told; once in e^7 ≈ 1,100 spans by chance, so a stall needs witnesses besides."""
FALL = 8.0
"""A span ends where its score has fallen by this much from its best."""
QUIETER = math.log(10)
SHORTEST_US = 4 * SECOND
"""Shorter silences are a garbage collection or a slow request."""
PART_US = 3 * SECOND
"""Gaps from this length on are told as parts of a silence."""
TRIM = 12
"""A gap counts towards the usual rate with at most this many median gaps, so that a stall cannot lower it."""
WINDOW_US = 3600 * SECOND
"""The usual rate is that of the hour around: a night is no silence."""
BACKLOG = 5.0
"""Lines in a second, against the usual number, that make it a backlog printed at once."""
CLOSELY_S = 1.5
"""A burst that comes so soon after another belongs to the same backlog."""
SLACK = 1e-3
"""Sums over millions of gains round by less than this."""
BURST_US = 2 * SECOND
STAMP_US = 2 * SECOND
"""Stamps cut to whole seconds place a line and a step of the clock no better than this."""
BUFFERS = 1.5
"""Lines that lay in a buffer leave gaps as long as they lay in it; a silence must be longer than this many."""


def silences(evidence: Evidence, known: Known, facts: Facts) -> Silences:
    """Return the silences of every service that has a rate."""
    del known
    found: list[Silence] = []
    lines = evidence["seconds"].filter((pl.col("kind") != "unit") & pl.col("service").is_not_null())
    last = facts[Coverage].last
    held = {lag.service: round(lag.most_s * SECOND) for lag in facts[Clocks].lags}
    for (service,), part in lines.group_by("service", maintain_order=True):
        seconds = (
            part.group_by("second")
            .agg(n=pl.col("n").sum(), first_us=pl.col("first_us").min(), last_us=pl.col("last_us").max())
            .sort("second")
        )
        if seconds.height >= FEWEST:
            outages = [
                (item.start, item.end or last or item.start)
                for item in facts[Restarts].outages
                if item.service == service
            ]
            outages += jumped(seconds, facts[Continuity].skipped())
            found.extend(
                silence
                for silence in of_service(str(service), seconds, part, outages, last or 0)
                if (silence.end or last or silence.start) - silence.start
                > BUFFERS * held.get(str(service), 0)
            )
    return Silences(tuple(sorted(found, key=lambda item: (item.start, item.service))))


def jumped(seconds: pl.DataFrame, skipped: tuple[tuple[int, int], ...]) -> list[tuple[int, int]]:
    """Return the spans that the clock of a service jumped over: one that prints inside such a span has another clock."""
    return [
        (lo, hi)
        for lo, hi in skipped
        if seconds.filter(
            (pl.col("first_us") > lo + STAMP_US) & (pl.col("last_us") < hi - STAMP_US)
        ).is_empty()
    ]


def of_service(
    service: str, seconds: pl.DataFrame, part: pl.DataFrame, outages: list[tuple[int, int]], last: int
) -> list[Silence]:
    """Find the silences of one service; time in which it was not there does not count.

    ``seconds``: a row for each second with lines (second, n, first_us, last_us), and what becomes of it: the gap after it (``end``, ``gap`` in
    seconds) and the usual ``rate`` around it.
    """
    ends = pl.col("first_us").shift(-1, fill_value=max(last, int(seconds["last_us"][-1])))
    table = seconds.with_columns(end=ends).with_columns(
        gap=(pl.col("end") - pl.col("last_us")).clip(lower_bound=0) / SECOND
    )
    table = without(table, outages)
    table = table.with_columns(rate=local_rates(table))
    gains = table.select(0.9 * pl.col("rate") * pl.col("gap") - prices(table)).to_series()
    spans = segments(gains)
    edges = [table["second"][row] for lo, hi, _ in spans for row in (lo, min(hi + 1, table.height - 1))]
    near = part.filter(pl.col("second").is_in(edges))
    return [silence for span in spans if (silence := build(service, table, near, span))]


def without(table: pl.DataFrame, outages: list[tuple[int, int]]) -> pl.DataFrame:
    """Shorten the gaps that outages touch by the time in which the process was not there."""
    lasts, ends = table["last_us"], table["end"]
    absent: Counter[int] = Counter()
    for lo, hi in outages:
        for index in range(
            ends.search_sorted(lo, side="left"),
            min(table.height, lasts.search_sorted(hi, side="right") + 1),
        ):
            absent[index] += max(0, min(ends[index], hi) - max(lasts[index], lo))
    if not absent:
        return table
    rows = list(absent)
    there = [max(0, ends[index] - lasts[index] - absent[index]) / SECOND for index in rows]
    return table.with_columns(gap=table["gap"].scatter(rows, there))


def prices(table: pl.DataFrame) -> pl.Expr:
    """Tell what the lines after each gap take from the score: little if they are a backlog printed at once.

    A stalled process that gets a turn prints for a second or two everything that had piled up: a backlog begins after a pause, and goes
    on with the bursts that follow closely.
    """
    usual, pause = middle(table["n"]) or 0.0, max(PART_US / SECOND, 2 * (middle(table["gap"]) or 0.0))
    burst = pl.col("n").shift(-1) >= BACKLOG * usual
    begins, goes_on = burst & (pl.col("gap") >= pause), burst & (pl.col("gap") <= CLOSELY_S)
    backlog = (
        pl.when(begins)
        .then(pl.lit(value=True))
        .when(goes_on.fill_null(value=False))
        .then(None)
        .otherwise(pl.lit(value=False))
        .forward_fill()
    )
    return pl.when(backlog).then(0.5).otherwise(QUIETER)


def local_rates(table: pl.DataFrame) -> pl.Series:
    """Return the usual rate around each second with lines, in such seconds per second."""
    usual = (middle(table["gap"][:-1]) or 0.0) if table.height > 1 else 1.0
    cap = max(TRIM * usual, 2.0)
    around = (
        table.select(
            at=pl.from_epoch("first_us", time_unit="us"),
            exposure=pl.col("gap").clip(lower_bound=1.0, upper_bound=cap),
        )
        .rolling(index_column="at", period=f"{2 * WINDOW_US}us", offset=f"-{WINDOW_US}us", closed="both")
        .agg(n=pl.len(), exposure=pl.col("exposure").sum())
    )
    return around["n"] / around["exposure"]


def segments(gains: pl.Series) -> list[tuple[int, int, float]]:
    """Return (first gap, last gap, score) of the spans whose summed gain is highest.

    A span that is told lies where the sum since its last low has come near to :data:`ENOUGH`: only such stretches are walked through.
    """
    summed = gains.cum_sum()
    low = pl.min_horizontal(pl.col("summed").cum_min().shift(1), 0.0)
    walks = (
        pl.DataFrame({"gain": gains, "summed": summed})
        .with_row_index("row")
        .with_columns(raised=pl.col("summed") - low)
        .with_columns(walk=(pl.col("raised") <= 0).cum_sum())
        .group_by("walk", maintain_order=True)
        .agg(pl.col("row").min(), pl.len(), pl.col("raised").max())
        .filter(pl.col("raised") >= ENOUGH - SLACK)
    )
    return [
        (row + lo, row + hi, score)
        for _, row, length, _ in walks.iter_rows()
        for lo, hi, score in highest(gains[row : row + length].to_list())
    ]


def highest(gains: list[float]) -> list[tuple[int, int, float]]:
    """Return (first gap, last gap, score) of the spans whose summed gain is highest, within one stretch."""
    found: list[tuple[int, int, float]] = []
    score, start, best, best_at = 0.0, 0, 0.0, -1
    for index, gain in enumerate(gains):
        if score <= 0:
            score, start, best, best_at = 0.0, index, 0.0, -1
        score += gain
        if score > best:
            best, best_at = score, index
        if best_at >= 0 and (best - score > FALL or score <= 0):
            if best >= ENOUGH:
                found.append((start, best_at, best))
            score = 0.0
    if best_at >= 0 and best >= ENOUGH and (not found or found[-1][1] < best_at):
        found.append((start, best_at, best))
    return found


def build(
    service: str, table: pl.DataFrame, near: pl.DataFrame, span: tuple[int, int, float]
) -> Silence | None:
    """Describe one span: its parts, what was expected, and the burst after it; ``near`` has the lines at its edges."""
    lo, hi, score = span
    last_gap = hi == table.height - 1
    rows = table[lo : hi + 1]
    start, end = int(rows["last_us"][0]), int(rows["end"][-1])
    if end - start < SHORTEST_US:
        return None
    quiet = rows.with_row_index("row", offset=lo).filter(pl.col("end") - pl.col("last_us") >= PART_US)
    bursts = printed_after(table, pl.Series([*quiet["row"], hi], dtype=pl.Int64))
    tail = edge(near, rows["second"][0], "last")
    head = None if last_gap else edge(near, table["second"][hi + 1], "first")
    expected = sum((rows["gap"] * rows["rate"]).to_list()) * (int(table["n"].sum()) / table.height)
    return Silence(
        service=service, start=start, end=None if last_gap else end, expected=round(expected, 1), found=int(rows["n"][1:].sum()),
        burst_after=bursts[-1], parts=tuple(quiet.select("last_us", "end").iter_rows()), score=round(score, 2), before=tail, after=head, bursts=tuple(bursts[:-1]),
    )  # fmt: skip


def edge(lines: pl.DataFrame, second: int, which: str) -> Ref:
    """Return the ``first`` or the ``last`` line of a second."""
    rows = lines.filter(pl.col("second") == second)
    places = rows.select(pl.struct("source", f"{which}_line").sort_by(f"{which}_us", "source")).to_series()
    return Ref(*places[0 if which == "first" else -1].values())


def printed_after(table: pl.DataFrame, gaps: pl.Series) -> list[int]:
    """Return how many lines came at once after each gap: in the next second with lines and in what follows it closely."""
    total = pl.Series([0] * len(gaps))
    begins = None
    for step in (1, 2, 3):
        index = gaps + step
        later = table.select("first_us", "n")[index.clip(upper_bound=table.height - 1)]
        begins = later["first_us"] if begins is None else begins
        close = (index < table.height) & (later["first_us"] <= begins + BURST_US)
        total += close.cast(pl.Int64) * later["n"]
    return total.to_list()


PLUG = Analysis(
    name="silences",
    question="Where did a service print far fewer lines than its own rate predicts?",
    gives=Silences,
    run=silences,
    needs=(Clocks, Continuity, Coverage, Restarts),
)
