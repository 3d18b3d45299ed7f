"""Where did a service print far fewer lines than its own rate predicts?

Lines come in bunches, so seconds with at least one line are counted instead. The score of a span is the logarithm of
how much likelier its lines are at a tenth of the usual rate than at the usual rate (Poisson); a silent second adds
0.9 λ, a second with lines takes ln 10. Spans whose score is highest are found in one pass (maximal-sum segments), so
that a stall which lets a burst through now and then stays one silence.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from statistics import median
from typing import TYPE_CHECKING

import polars as pl

from forensics.model.facts import Clocks, Coverage, Facts, Restarts, Silence, Silences
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
BURST_US = 2 * SECOND
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
            .agg(n=pl.col("n").sum(), first_us=pl.col("first_us").min(), last_us=pl.col("last_us").max(),
                 head=pl.struct("source", "first_line").sort_by("first_us", "source").first(), tail=pl.struct("source", "last_line").sort_by("last_us", "source").last())
            .sort("second")
        )  # fmt: skip
        if seconds.height >= FEWEST:
            outages = [
                (item.start, item.end or last or item.start)
                for item in facts[Restarts].outages
                if item.service == service
            ]
            found.extend(
                silence
                for silence in of_service(str(service), seconds, outages, last or 0)
                if (silence.end or last or silence.start) - silence.start
                > BUFFERS * held.get(str(service), 0)
            )
    return Silences(tuple(sorted(found, key=lambda item: (item.start, item.service))))


def of_service(
    service: str, seconds: pl.DataFrame, outages: list[tuple[int, int]], last: int
) -> list[Silence]:
    """Find the silences of one service; time in which it was not there does not count."""
    firsts, lasts = seconds["first_us"].to_list(), seconds["last_us"].to_list()
    ends: list[int] = [*firsts[1:], max(last, lasts[-1])]
    gaps: list[float] = ((pl.Series(ends) - pl.Series(lasts)).clip(lower_bound=0) / SECOND).to_list()
    for lo, hi in outages:  # only gaps that an outage touches have to be looked at
        for index in range(bisect_left(ends, lo), min(len(ends), bisect_right(lasts, hi) + 1)):
            there = ends[index] - lasts[index] - absent(lasts[index], ends[index], outages)
            gaps[index] = max(0, there) / SECOND
    rates = local_rates(seconds, gaps)
    costs = prices(seconds["n"].to_list(), gaps)
    gains = [0.9 * rate * gap - cost for rate, gap, cost in zip(rates, gaps, costs, strict=True)]
    spans = segments(gains)
    return [
        silence
        for lo, hi, score in spans
        if (silence := build(service, seconds, gaps, rates, ends, (lo, hi, score)))
    ]


def prices(counts: list[int], gaps: list[float]) -> list[float]:
    """Return what the lines after each gap take from the score: little if they are a backlog printed at once.

    A stalled process that gets a turn prints for a second or two everything that had piled up.
    """
    usual, pause = median(counts), max(PART_US / SECOND, 2 * median(gaps))
    prices_: list[float] = []
    backlog = False
    for index, gap in enumerate(gaps):
        burst = index + 1 < len(counts) and counts[index + 1] >= BACKLOG * usual
        backlog = burst and (gap >= pause or (backlog and gap <= 1.5))
        prices_.append(0.5 if backlog else QUIETER)
    return prices_


def absent(start: int, end: int, outages: list[tuple[int, int]]) -> int:
    """Return how long of a gap the process was not there, in microseconds."""
    return sum(max(0, min(end, hi) - max(start, lo)) for lo, hi in outages)


def local_rates(seconds: pl.DataFrame, gaps: list[float]) -> list[float]:
    """Return the usual rate around each second with lines, in such seconds per second."""
    usual = median(gaps[:-1]) if len(gaps) > 1 else 1.0
    cap = max(TRIM * usual, 2.0)
    table = seconds.select("first_us").with_columns(
        at=pl.from_epoch("first_us", time_unit="us"),
        exposure=pl.Series([min(gap, cap) for gap in gaps]).clip(lower_bound=1.0),
    )
    around = table.rolling(
        index_column="at", period=f"{2 * WINDOW_US}us", offset=f"-{WINDOW_US}us", closed="both"
    ).agg(n=pl.len(), exposure=pl.col("exposure").sum())
    return (around["n"] / around["exposure"]).to_list()


def segments(gains: list[float]) -> list[tuple[int, int, float]]:
    """Return (first gap, last gap, score) of the spans whose summed gain is highest."""
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
    service: str,
    seconds: pl.DataFrame,
    gaps: list[float],
    rates: list[float],
    ends: list[int],
    span: tuple[int, int, float],
) -> Silence | None:
    """Describe one span: its parts, what was expected, and the burst after it."""
    lo, hi, score = span
    lasts, counts = seconds["last_us"].to_list(), seconds["n"].to_list()
    last_gap = hi == seconds.height - 1
    start, end = lasts[lo], ends[hi]
    if end - start < SHORTEST_US:
        return None
    quiet = [i for i in range(lo, hi + 1) if ends[i] - lasts[i] >= PART_US]
    parts = tuple((lasts[i], ends[i]) for i in quiet)
    bursts = tuple(printed_after(seconds, i) for i in quiet)
    burst = printed_after(seconds, hi)
    tail, head = seconds["tail"][lo], seconds["head"][hi + 1] if not last_gap else None
    mean = sum(counts) / len(counts)
    return Silence(
        service=service, start=start, end=None if last_gap else end, expected=round(sum(gaps[i] * rates[i] for i in range(lo, hi + 1)) * mean, 1),
        found=sum(counts[lo + 1 : hi + 1]), burst_after=burst, parts=parts, score=round(score, 2),
        before=Ref(tail["source"], tail["last_line"]), after=Ref(head["source"], head["first_line"]) if head else None, bursts=bursts,
    )  # fmt: skip


def printed_after(seconds: pl.DataFrame, gap: int) -> int:
    """Return how many lines came at once after a gap."""
    if gap + 1 >= seconds.height:
        return 0
    limit = seconds["first_us"][gap + 1] + BURST_US
    later = seconds.slice(gap + 1, 3)
    return int(later.filter(pl.col("first_us") <= limit)["n"].sum())


PLUG = Analysis(
    name="silences",
    question="Where did a service print far fewer lines than its own rate predicts?",
    gives=Silences,
    run=silences,
    needs=(Clocks, Coverage, Restarts),
)
