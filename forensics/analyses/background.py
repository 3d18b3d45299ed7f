"""Which messages are always there, which are new, which vanished?

Rates are per hour of time in which the producer was running; a stalled process is running, a stopped one is not.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.model.facts import Background, Coverage, Facts, Incidents, Noise, Periodic, Ratio, Restarts
from forensics.model.plug import Analysis
from forensics.model.source import Ref

if TYPE_CHECKING:
    from forensics.model.digest import Evidence
    from forensics.model.known import Known

MINUTE = 60_000_000
HOUR_S = 3600.0
Z = 1.96
"""Standard deviations of a normal variable that hold 95 of 100 cases."""
SURE = 3.0
"""Standard deviations (of a Poisson count) from which a rate inside differs from the rate outside."""
VANISHED_FROM = 5.0
"""Messages expected inside from which none at all is told as vanished."""
FREQUENT = 3
"""Messages of one template below which nothing is frequent."""
SHORTEST_H = 0.03
"""Hours below which a rate is a number without meaning."""
TROUBLE = ("error", "warning", "critical")
SHOWN = 40
NOISY = r"(?i)error|exception|fail|warn|timeout|timed out|retry|refused|not acquired|already (?:locked|held|running)|lock (?:is )?(?:held|busy|taken)|aguardando|tentativa|erro|falh"
"""Words of messages that read like trouble; a lock that another one holds is a miss, and often the usual case."""


def background(evidence: Evidence, known: Known, facts: Facts) -> Background:
    """Compare every template inside and outside the incidents."""
    del known
    spans = [(item.start, item.end or facts[Incidents].last or item.start) for item in facts[Incidents].items]
    minute = pl.col("minute") * MINUTE
    inside = (
        pl.any_horizontal([(minute < hi) & (minute + MINUTE > lo) for lo, hi in spans])
        if spans
        else pl.lit(value=False)
    )
    counted = (
        evidence["templates"].filter(~pl.col("trace")).with_columns(inside=inside).group_by("service", "template")
        .agg(level=pl.col("level").drop_nulls().first(), inside=pl.col("n").filter(pl.col("inside")).sum(), outside=pl.col("n").filter(~pl.col("inside")).sum(),
             first_inside=pl.col("minute").filter(pl.col("inside")).min(), first_outside=pl.col("minute").filter(~pl.col("inside")).min(),
             place=pl.struct("source", "first_line").sort_by("minute", "source", "first_line").first())
        .sort(pl.col("inside") + pl.col("outside"), "service", "template", descending=[True, False, False])
    )  # fmt: skip
    hours = {
        cover.service: running_hours(cover.first, cover.last, spans, cover.service, facts)
        for cover in facts[Coverage].services
    }
    found = [noise(row, *hours.get(row["service"], (0.0, 0.0))) for row in counted.iter_rows(named=True)]
    beating = {(line.service, line.template) for line in facts[Periodic].items}
    loud = [
        item
        for item in found
        if item.inside + item.outside >= FREQUENT
        and (
            item.level in TROUBLE
            or matches(item.template)
            or item.verdict == "new"
            # Ordinary lines that stay away are less traffic; those that come at a beat are owed.
            or (item.verdict == "vanished" and (item.service, item.template) in beating)
        )
    ]
    return Background(
        tuple(sorted(loud, key=lambda item: (rank(item), -(item.inside + item.outside), item.template)))[
            :SHOWN
        ]
    )


def matches(template: str) -> bool:
    """Does a template read like trouble?"""
    return bool(pl.Series([template]).str.contains(NOISY)[0])


def rank(item: Noise) -> int:
    """Order verdicts: what was there before matters most in this section."""
    return ("pre_existing", "risen", "new", "vanished").index(item.verdict)


def running_hours(
    first: int, last: int, spans: list[tuple[int, int]], service: str, facts: Facts
) -> tuple[float, float]:
    """Return the hours inside and outside incidents in which a service was covered and running.

    Templates are counted by the minute, so that the minutes which an incident touches count as inside.
    """
    gone = [(item.start, item.end or last) for item in facts[Restarts].outages if item.service == service]
    total = length([(first, last)]) - overlap([(first, last)], gone)
    touched = merged([(lo // MINUTE * MINUTE, (hi // MINUTE + 1) * MINUTE) for lo, hi in spans])
    clipped = [(max(lo, first), min(hi, last)) for lo, hi in touched if min(hi, last) > max(lo, first)]
    inside = length(clipped) - overlap(clipped, gone)
    return inside / HOUR_S, max(0.0, total - inside) / HOUR_S


def merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join spans that overlap."""
    out: list[tuple[int, int]] = []
    for lo, hi in sorted(spans):
        if out and lo <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], hi))
        else:
            out.append((lo, hi))
    return out


def length(spans: list[tuple[int, int]]) -> float:
    """Return the summed length of spans in seconds."""
    return sum(hi - lo for lo, hi in spans) / 1e6


def overlap(spans: list[tuple[int, int]], gone: list[tuple[int, int]]) -> float:
    """Return how many seconds of some spans lie in others."""
    return sum(max(0, min(hi, b) - max(lo, a)) for lo, hi in spans for a, b in merged(gone)) / 1e6


def noise(row: dict[str, Any], hours_in: float, hours_out: float) -> Noise:
    """Judge one template."""
    inside, outside, place = row["inside"], row["outside"], row["place"]
    expected = outside / hours_out * hours_in if hours_out > 0 else 0.0
    return Noise(
        template=row["template"], service=row["service"], level=row["level"], inside=inside, outside=outside,
        inside_per_hour=round(inside / hours_in, 1) if hours_in >= SHORTEST_H else None, outside_per_hour=round(outside / hours_out, 1) if hours_out >= SHORTEST_H else None,
        expected=round(expected, 1), verdict=verdict(inside, expected, before=outside > 0), ref=Ref(place["source"], place["first_line"]),
        ratio=ratio(inside, outside, hours_in, hours_out) if min(hours_in, hours_out) >= SHORTEST_H else None,
    )  # fmt: skip


def ratio(inside: int, outside: int, hours_in: float, hours_out: float) -> Ratio:
    """Return the rate inside against that outside with its 95 % interval.

    Of all lines together, those inside are a binomial share if both rates are one (Przyborowski and Wilenski, Biometrika 31, 1940);
    Wilson's interval of that share (JASA 22, 1927), divided by the share of the hours, bounds the ratio. It takes lines to come
    independently: those that come in bursts differ more by chance.
    """
    n, share = inside + outside, inside / (inside + outside)
    centre = (share + Z * Z / (2 * n)) / (1 + Z * Z / n)
    half = Z / (1 + Z * Z / n) * math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    lo, hi = max(0.0, centre - half), min(1.0, centre + half)
    scale = hours_out / hours_in
    high = hi / (1 - hi) * scale if outside else None
    return Ratio(
        round(inside / outside * scale, 2) if outside else None,
        round(lo / (1 - lo) * scale, 2) if inside else 0.0,
        round(high, 2) if high is not None else None,
    )


def verdict(inside: int, expected: float, *, before: bool) -> str:
    """Return pre_existing, new, vanished or risen."""
    if not before:
        return "new"
    if inside == 0 and expected >= VANISHED_FROM:
        return "vanished"
    if inside > expected + SURE * math.sqrt(max(expected, 1.0)):
        return "risen"
    return "pre_existing"


PLUG = Analysis(
    name="background",
    question="Which messages are always there, which are new, which vanished?",
    gives=Background,
    run=background,
    needs=(Incidents, Coverage, Periodic, Restarts),
)
