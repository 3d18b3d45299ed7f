"""Do failures come at a beat? Then a probe, a scheduled job or a retry loop asks at those instants.

The phase of each failure within a period is compared with what chance would give: of all windows of a twentieth of the period the
fullest (and the next) is taken, and the failures in it must be far more than it could hold by chance, and in most cycles. A
failure's phase is that of the instant when it began; many failures of one instant count once.
"""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING

import polars as pl

from forensics.model.facts import Beat, Facts, Failures, Rhythms
from forensics.model.plug import Analysis
from forensics.model.source import Ref

if TYPE_CHECKING:
    from forensics.model.digest import Evidence
    from forensics.model.known import Known

SECOND = 1_000_000
PERIODS_S = (10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600)
"""Beats that people set for probes and schedulers, in seconds."""
WIDTH = 0.05
"""Share of a period in which failures of one phase lie; at least :data:`NARROW`."""
NARROW = SECOND // 2
ONE_INSTANT = SECOND // 4
"""Failures closer than this are of one cause and one beat."""
FEWEST = 6
"""Instants below which nothing is said of a beat."""
CYCLES = 4
"""Cycles over which failures must spread."""
HELD = 0.6
"""Share of the cycles in which a beat must show."""
MOST_IN = 0.75
"""Share of the instants that must lie on the beat."""
CHANCE = 1e-4
"""Probability by chance from which a beat is told: there are some ten periods and a score of failures' kinds."""
CHAINED = 0.5
"""Share of waits that begin where another ended from which callers ask again by themselves."""
PHASES = 2
"""Phases that are told: two probes with one period may ask at different seconds."""


def rhythms(evidence: Evidence, known: Known, facts: Facts) -> Rhythms:
    """Return the kinds of failure that come at a beat."""
    del evidence, known
    found: list[Beat] = []
    rows = facts[Failures].rows.sort("began", "source", "line")
    for (service, signature), part in rows.group_by("service", "signature", maintain_order=True):
        instants: list[tuple[int, Ref]] = []
        for began, source, line in part.select("began", "source", "line").iter_rows():
            if not instants or began - instants[-1][0] > ONE_INSTANT:
                instants.append((began, Ref(source, line)))
        if len(instants) < FEWEST or chained(part):
            continue
        if beat := of(str(service), str(signature), instants):
            found.append(beat)
    return Rhythms(tuple(found))


def chained(rows: pl.DataFrame) -> bool:
    """Do most waits begin where another ended? Callers that wait and ask again keep the length of their wait, whatever the clock."""
    ends = rows.select(end="ts").sort("end")
    begins = rows.filter(pl.col("began") < pl.col("ts")).select("began").sort("began")
    near = begins.join_asof(ends, left_on="began", right_on="end", strategy="backward", tolerance=SECOND)
    return bool(begins.height) and near["end"].is_not_null().sum() >= CHAINED * begins.height


def of(service: str, signature: str, instants: list[tuple[int, Ref]]) -> Beat | None:
    """Return the beat that explains the instants best, None where chance would do."""
    best: Beat | None = None
    for period_s in PERIODS_S:
        period = period_s * SECOND
        cycles = (instants[-1][0] - instants[0][0]) // period + 1
        if cycles < CYCLES:
            break
        phases = fullest([at % period for at, _ in instants], period)
        width = max(NARROW, round(WIDTH * period))
        on = [
            (at, ref) for at, ref in instants if any((at % period - low) % period <= width for low in phases)
        ]
        hit = len({at // period for at, _ in on})
        chance = tail(len(on), len(instants), min(1.0, len(phases) * width / period)) * period / width
        if len(on) >= MOST_IN * len(instants) and hit >= HELD * cycles and chance <= CHANCE:
            refs = tuple(ref for _, ref in on[:4])
            centres = tuple(
                round(
                    (low + median((at - low) % period for at, _ in on if (at - low) % period <= width))
                    % period
                    / SECOND,
                    1,
                )
                for low in phases
            )
            found = Beat(service, signature, float(period_s), centres, len(on), len(instants), refs)
            if best is None or found.on > best.on:
                best = found
    return best


def fullest(phases: list[int], period: int) -> list[int]:
    """Return where the fullest windows of phases begin, the second only if it holds what the first leaves."""
    width = max(NARROW, round(WIDTH * period))
    left = list(phases)
    found: list[int] = []
    while left and len(found) < PHASES:
        low = max(left, key=lambda start: (sum((at - start) % period <= width for at in left), -start))
        inside = sum((at - low) % period <= width for at in left)
        if found and inside < len(phases) / 4:
            break
        found.append(low)
        left = [at for at in left if (at - low) % period > width]
    return found


def tail(n: int, of_all: int, share: float) -> float:
    """Return the probability that at least ``n`` of ``of_all`` fall into a share by chance (binomial)."""
    return sum(math.comb(of_all, k) * share**k * (1 - share) ** (of_all - k) for k in range(n, of_all + 1))


PLUG = Analysis(
    name="rhythm",
    question="Do failures come at a beat?",
    gives=Rhythms,
    run=rhythms,
    needs=(Failures,),
)
