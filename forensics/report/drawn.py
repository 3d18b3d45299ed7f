"""The rows that the pictures of a report draw: failures per bucket, probes, samples, rates around incidents, spans of monitors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.model.facts import Coverage, Failures, Incidents, Probes, Samples, Watch
from forensics.report.statements import iso, moment

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from forensics.model.case import Case
    from forensics.model.facts import Incident

SECOND = 1_000_000
MINUTE = 60 * SECOND
OUTER = ("http_error", "app_error")
"""Families whose lines stand beside the failure that caused them: told under impact, not counted twice."""
RETOLD = pl.col("retold")
ONCE = pl.col("sure") & ~RETOLD
"""Failures each of which is counted once, although a client's log and the server's own may both tell of it."""
BAR_ROWS = 14
BUCKETS = (60, 300, 900, 3600, 21600, 86400)
LEAST_AROUND, MOST_AROUND = 15 * MINUTE, 360 * MINUTE
"""What a chart of rates shows on either side of an incident: as long as the incident, within these."""
RATE_BARS = 120
"""Bars of a chart of rates: minutes, where this is enough."""


def whole(value: float | None) -> float | int | None:
    """Return a whole number as an integer."""
    return int(value) if value is not None and float(value).is_integer() else value


class Drawn:
    """Reads from a case what its charts draw."""

    def __init__(self, case: Case, zone: ZoneInfo) -> None:
        self.case = case
        self.zone = zone
        self.incidents = case.facts[Incidents].items
        self.primary = case.facts[Incidents].primary()

    def at(self, us: int | None) -> str | None:
        """Return an instant in the case's zone."""
        return iso(us, self.zone)

    def bars(self) -> list[dict[str, Any]]:
        """Return failures per bucket around the primary incident, each once: ``retold`` are those that clients tell of as well."""
        if self.primary is None:
            return []
        lo, hi = self.primary.start, self.primary.end or self.case.facts[Incidents].last or self.primary.start
        size = next((b for b in BUCKETS if (hi - lo) / SECOND / b <= BAR_ROWS), BUCKETS[-1])
        first, last = lo // (size * SECOND), hi // (size * SECOND)
        counts = {
            bucket: (n, most, retold)
            for bucket, n, most, retold in self.per_bucket(size, lo, hi + 5 * SECOND)
            .group_by("bucket")
            .agg(n=ONCE.sum(), most=(~RETOLD).sum(), retold=RETOLD.sum())
            .iter_rows()
        }
        return [
            {
                "label": f"{moment(bucket * size * SECOND, self.zone):{'%H:%M' if size < 86400 else '%Y-%m-%d'}}",
                "count": count,
                "most": most,
                "retold": retold,
            }
            for bucket in range(first, last + 1)
            for count, most, retold in [counts.get(bucket, (0, 0, 0))]
        ]

    def per_bucket(self, size: int, lo: int, hi: int) -> pl.DataFrame:
        """Return failures in a span with their bucket."""
        rows = self.case.facts[Failures].rows
        told = ~pl.col("family").is_in(OUTER)
        return rows.filter(pl.col("ts").is_between(lo, hi) & told).with_columns(
            bucket=pl.col("ts") // (size * SECOND)
        )

    def chart(self) -> dict[str, Any]:
        """Return the rows that charts draw and the report has no other place for."""
        around = (
            self.around() if self.primary else {"failures": [], "probes": [], "samples": [], "bucket_s": 60}
        )
        return around | {"rates": self.rates(), "watched": self.watched()}

    def around(self) -> dict[str, Any]:
        """Return the rows of the timeline chart, around the primary incident."""
        assert self.primary is not None
        lo, hi = self.primary.start, self.until(self.primary)
        size = 10 if hi - lo <= 1800 * SECOND else 60
        margin = max(600 * SECOND, hi - lo)
        grouped = (
            self.per_bucket(size, lo - margin, hi + margin)
            .group_by("bucket", "service", "family")
            .agg(n=pl.col("sure").sum(), most=pl.len(), once=ONCE.sum(), once_most=(~RETOLD).sum())
            .sort("bucket", "service", "family")
        )
        series = sorted(
            self.case.facts[Probes].series, key=lambda s: (s.seen_by != "service", -len(s.at("late")))
        )[:1]
        return {
            "failures": [
                {
                    "at": self.at(bucket * size * SECOND),
                    "service": service,
                    "family": family,
                    "count": n,
                    "most": most,
                    "once": once,
                    "once_most": once_most,
                }
                for bucket, service, family, n, most, once, once_most in grouped.iter_rows()
            ],
            "probes": [
                {"due": self.at(d.at), "answered": self.at(d.answered), "state": d.state, "series": s.name}
                for s in series
                for d in s.dues
                if lo - margin <= d.at <= hi + margin and d.state != "blind"
            ],
            "samples": [
                {"at": self.at(at), "value": whole(value), "limit": whole(g.limit), "series": g.series}
                for g in self.case.facts[Samples].series[:1]
                for at, value in g.around
            ],
            "bucket_s": size,
        }

    def until(self, item: Incident) -> int:
        """Return the end of an incident, the last instant of the inputs where it has none."""
        return item.end or self.case.facts[Incidents].last or item.start

    def rates(self) -> list[dict[str, Any]]:
        """Return failures (each once) and error lines per bucket around each incident, as far as the inputs cover it."""
        rows = self.case.facts[Failures].rows.filter(ONCE)
        first, last = self.covered()
        out = []
        for index, item in enumerate(self.incidents):
            lo, hi = item.start, self.until(item)
            margin = min(max(LEAST_AROUND, hi - lo), MOST_AROUND)
            start, end = max(lo - margin, min(first, lo)), min(hi + margin, max(last, hi))
            size = next((b for b in BUCKETS if (end - start) / SECOND / b <= RATE_BARS), BUCKETS[-1])
            start, end = (
                (start // (size * SECOND)) * size * SECOND,
                -(-end // (size * SECOND)) * size * SECOND,
            )
            outer = pl.col("family").is_in(OUTER)
            counts = (
                rows.filter(pl.col("ts").is_between(start, end, closed="left"))
                .group_by(bucket=pl.col("ts") // (size * SECOND))
                .agg(failures=(~outer).sum(), errors=outer.sum())
                .sort("bucket")
            )
            out.append(
                {
                    "incident": f"i{index + 1}", "start": self.at(start), "end": self.at(end), "bucket_s": size,
                    "counts": [
                        {"at": self.at(bucket * size * SECOND), "failures": failures, "errors": errors}
                        for bucket, failures, errors in counts.iter_rows()
                    ],
                }
            )  # fmt: skip
        return out

    def covered(self) -> tuple[int, int]:
        """Return the span that the inputs of the failing services cover, or all inputs where none fails."""
        coverage = self.case.facts[Coverage]
        failing = {group.service for group in self.case.facts[Failures].groups}
        mine = [cover for cover in coverage.services if cover.service in failing]
        if mine:
            return min(cover.first for cover in mine), max(cover.last for cover in mine)
        return coverage.first or 0, coverage.last or 0

    def watched(self) -> list[dict[str, Any]]:
        """Return the span of each monitor's own results, and of each series of probes in which a monitor looked away."""
        blind = {gap.monitor for gap in self.case.facts[Watch].gaps}
        return [
            {"monitor": one.name, "start": self.at(one.dues[0].at), "end": self.at(one.dues[-1].at)}
            for one in self.case.facts[Probes].series
            if len(one.dues) > 1 and (one.seen_by == "monitor" or one.name in blind)
        ]
