"""Do failures come at a beat? Then a probe, a scheduled job or a retry loop asks at those instants.

The phase of each failure within a period is compared with what chance would give: of all windows of a twentieth of the period the
fullest (and the next) is taken, or the fullest wider one, and the failures in it must be far more than it could hold by chance, and in
most cycles. A failure's phase is that of the instant when it began; many failures of one instant count once. A narrow phase is that of one
who asks; a wide one that of a job which holds what others then wait for. The message that the service prints once in every
period where such a phase begins names the job.
"""

from __future__ import annotations

import math
from dataclasses import replace
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
WIDER = (0.1, 0.2, 0.3)
"""Shares of a period in which failures lie while a job holds what they wait for."""
BEFORE = 2 * SECOND
"""A job's own message comes at most this long before the first failure of its phase begins, or after it."""
ENOUGH = 60
"""Lines of a message whose phase is looked at."""
REGULAR = 0.9
"""Share of the periods of a log in which a message of a job must stand once."""
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
TIGHT = 1 / 3
"""Share of a narrow window that one of two phases may take: two that fill theirs are one wide phase in pieces."""
PHASES = 2
"""Phases that are told: two probes with one period may ask at different seconds."""


def rhythms(evidence: Evidence, known: Known, facts: Facts) -> Rhythms:
    """Return the kinds of failure that come at a beat."""
    del known
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
            found.append(replace(beat, job=job(evidence, beat)))
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
        told = [one for share in (WIDTH, *WIDER) if (one := beat_of(instants, period, cycles, share))]
        if told:
            # The likeliest; a wider one only for more instants than the narrow one holds.
            chosen = min(
                told, key=lambda one: (one[1].width_s is not None and one[1].on <= told[0][1].on, one[0])
            )
            found = replace(chosen[1], service=service, signature=signature)
            if best is None or found.on > best.on:
                best = found
    return best


def beat_of(
    instants: list[tuple[int, Ref]], period: int, cycles: int, share: float
) -> tuple[float, Beat] | None:
    """Return the beat of one period whose phases take a share of it, with its probability by chance; None where chance would do."""
    width = max(NARROW, round(share * period))
    phases = fullest([at % period for at, _ in instants], period, width, PHASES if share == WIDTH else 1)
    on = [(at, ref) for at, ref in instants if any((at % period - low) % period <= width for low in phases)]
    hit = len({(at - phases[0]) // period for at, _ in on})
    chance = tail(len(on), len(instants), min(1.0, len(phases) * width / period)) * period / width
    if len(on) < MOST_IN * len(instants) or hit < HELD * cycles or chance > CHANCE:
        return None
    refs = tuple(ref for _, ref in on[:4])
    spans = [sorted((at - low) % period for at, _ in on if (at - low) % period <= width) for low in phases]
    if len(phases) > 1 and any(span[-1] - span[0] > max(NARROW, TIGHT * width) for span in spans):
        return None
    centres = tuple(
        round((low + (median(span) if share == WIDTH else span[0])) % period / SECOND, 1)
        for low, span in zip(phases, spans, strict=True)
    )
    wide = None if share == WIDTH else round((spans[0][-1] - spans[0][0]) / SECOND, 1)
    return chance, Beat("", "", period / SECOND, centres, len(on), len(instants), refs, wide)


def job(evidence: Evidence, beat: Beat) -> tuple[str, float, Ref] | None:
    """Return the message that the service prints once in each period, where the phase of a beat begins: text, phase in seconds, place.

    Messages are counted by the minute, so that only periods of whole minutes can be told.
    """
    if beat.width_s is None or beat.period_s % 60:
        return None
    minutes = round(beat.period_s) // 60
    rows = evidence["templates"].filter(
        (pl.col("service") == beat.service) & ~pl.col("naive") & ~pl.col("trace")
    )
    if not rows.height:
        return None
    spread = (rows.select(pl.col("minute").max() - pl.col("minute").min()).item() + 1) / minutes
    once = (
        rows.group_by("template")
        .agg(
            pl.col("n").sum(),
            periods=(pl.col("minute") // minutes).n_unique(),
            source=pl.col("source").sort_by("minute"),
            line=pl.col("first_line").sort_by("minute"),
        )
        .filter((pl.col("n") == pl.col("periods")) & (pl.col("n") >= max(CYCLES, REGULAR * (spread - 1))))
    )
    period = round(beat.period_s * SECOND)
    found = []
    for template, sources, lines in once.select("template", "source", "line").iter_rows():
        times = [
            at
            for source, line in list(zip(sources, lines, strict=True))[:ENOUGH]
            if (at := second_of(evidence, beat.service, source, line))
        ]
        phases = sorted(
            (at - round(beat.phases_s[0] * SECOND) + period // 2) % period - period // 2 for at in times
        )
        if phases and -BEFORE <= phases[len(phases) // 2] <= BEFORE:
            middle = (round(beat.phases_s[0] * SECOND) + phases[len(phases) // 2]) % period
            found.append(
                (
                    abs(phases[len(phases) // 2]),
                    template,
                    round(middle / SECOND, 1),
                    Ref(sources[0], lines[0]),
                )
            )
    return min(found)[1:] if found else None


def second_of(evidence: Evidence, service: str, source: int, line: int) -> int | None:
    """Return when a line was printed, by the lines of its second."""
    rows = evidence["seconds"].filter(
        (pl.col("source") == source) & (pl.col("service") == service) & (pl.col("kind") == "log")
        & (pl.col("first_line") <= line) & (pl.col("last_line") >= line)
    )  # fmt: skip
    return int(rows["first_us"][0]) if rows.height else None


def fullest(phases: list[int], period: int, width: int, most: int) -> list[int]:
    """Return where the fullest windows of phases begin, a second one only if it holds what the first leaves."""
    left = list(phases)
    found: list[int] = []
    while left and len(found) < most:
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
