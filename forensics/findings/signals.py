"""What the hypotheses look at: the facts of one run, asked the questions that weighing needs."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from forensics.model import frames, names
from forensics.model.facts import (
    Coverage,
    FailureGroup,
    Failures,
    Incidents,
    Losses,
    Probes,
    Restarts,
    Samples,
    Sessions,
    Stalls,
    Watch,
)
from forensics.model.source import Ref

if TYPE_CHECKING:
    from collections.abc import Iterable

    from forensics.model.digest import Evidence
    from forensics.model.facts import Facts, Incident, Lifecycle, SampleSeries, Series, Snapshot
    from forensics.model.known import Known

SECOND = 1_000_000
MINUTE = 60 * SECOND
DATABASE_FAMILIES = (
    "pool_exhaustion",
    "pool_leak",
    "db_connect",
    "server_limit",
    "server_terminate",
    "lock_wait",
    "query_timeout",
    "slow_query",
)
"""Families of texts that speak of a database."""
FRONTS = ("nginx_access", "nginx_error")
"""Formats of servers that stand before an application: a report is about these only where they alone fail."""
POSTGRES_LOGS = ("postgres", "postgres_epoch", "postgres_bare")
"""Formats of PostgreSQL's own log."""
NEAR_LIMIT = 0.9
"""Share of a limit from which it counts as reached: reserved slots and sampling hide the last tenth."""
POSTGRES = re.compile(r"(?i)postgres|psycopg|asyncpg|libpq|aiopg|pgbouncer")
MYSQL = re.compile(r"(?i)^mysql|mariadb")
"""Libraries whose messages come from one database alone."""
OTHER_RESOURCE = re.compile(r"(?i)^(?:redis|pool|threads|process|host)\b")
"""Gauges whose limit is not the database's: a full pool of a client or of Redis says nothing about its slots."""
COVERING = 0.5
"""Share of the samples due in a window from which a series speaks for the window: a monitor may miss some while the host is in trouble."""
GATEWAYS = ("nest", "pino", *frames.PROXIES)
"""Formats of gateways: those who pass requests on, and what the frameworks of home-grown ones write."""
NOBODY = "SERVICE"
"""Stands in commands where no application's log was given."""


WHOLE = 0.9
"""Share of the longest log of a service's replicas from which another one's is as good."""


REPLICA, replica_of = names.REPLICA, names.replica_of


@dataclass(frozen=True)
class Signals:
    """Facts of one run with the window that they are judged over."""

    evidence: Evidence
    known: Known
    facts: Facts

    @cached_property
    def primary(self) -> Incident | None:
        """The incident that the report is about."""
        return self.facts[Incidents].primary()

    @cached_property
    def window(self) -> tuple[int, int]:
        """The primary incident, or what the main service covers."""
        coverage = self.facts[Coverage]
        if self.primary:
            return self.primary.start, self.primary.end or coverage.last or self.primary.start
        cover = coverage.of(self.unit)
        return (cover.first, cover.last) if cover else (coverage.first or 0, coverage.last or 0)

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """All incidents."""
        last = self.facts[Coverage].last or 0
        return [(item.start, item.end or last) for item in self.facts[Incidents].items]

    @cached_property
    def unit(self) -> str:
        """The service that the incident is about: where it stalled, else where most failed, else the busiest."""
        candidates = Counter[str]()
        for stall in self.facts[Stalls].items:
            candidates[stall.service] += 1000
        for group in self.facts[Failures].groups:
            if (
                (group.side == "client" or group.family == "worker_kill")
                and group.family != "webhook_delivery"
                and group.service not in self.samplers
            ):
                candidates[group.service] += group.failures
        for outage in self.facts[Restarts].outages:
            candidates[outage.service] += 500
        if candidates:
            return self.speaker(candidates)
        apps = [cover for cover in self.facts[Coverage].services if cover.service in self.applications]
        busiest = max(apps, key=lambda cover: (cover.lines, cover.service), default=None)
        return busiest.service if busiest else NOBODY

    def speaker(self, candidates: Counter[str]) -> str:
        """Return the service with most trouble; of one that runs in several replicas, the replica whose log reaches furthest."""
        together = Counter[str]()
        for name, n in candidates.items():
            together[replica_of(name)] += n
        worst = max(sorted(together), key=lambda base: together[base])
        covers = {cover.service: cover.last - cover.first for cover in self.facts[Coverage].services}
        mine = [name for name in sorted(candidates) if replica_of(name) == worst]
        longest = max(covers.get(name, 0) for name in mine)
        whole = [name for name in mine if covers.get(name, 0) >= WHOLE * longest]
        return max(whole, key=lambda name: candidates[name])

    @cached_property
    def fleet(self) -> list[str]:
        """The replicas of the service that the incident is about, that one among them."""
        base = replica_of(self.unit)
        return [
            cover.service
            for cover in self.facts[Coverage].services
            if cover.service == self.unit or replica_of(cover.service) == base
        ]

    @cached_property
    def applications(self) -> set[str]:
        """Services whose own log shows requests or failures of a client: proxies and gateways only tell about others."""
        failed = {
            group.service
            for group in self.facts[Failures].groups
            if group.side == "client" and group.service not in self.samplers
        }
        served = set(self.evidence["routes"]["service"].drop_nulls())
        return (served | failed) - set(self.services_in(*FRONTS))

    @cached_property
    def engine(self) -> str:
        """The database that the failures speak of: ``mysql`` where only its messages occur, else ``postgres``."""
        named = [self.known.signatures[group.signature].library for group in self.facts[Failures].groups]
        postgres = self.services_in(*POSTGRES_LOGS) or any(map(POSTGRES.search, named))
        return "mysql" if any(map(MYSQL.search, named)) and not postgres else "postgres"

    @cached_property
    def has_database(self) -> bool:
        """Does anything in the inputs speak of a database? Where nothing does, no question about one helps."""
        told = any(group.family in DATABASE_FAMILIES for group in self.facts[Failures].groups)
        seen = self.facts[Sessions].snapshots or self.facts[Samples].series
        return bool(told or seen or self.services_in(*POSTGRES_LOGS, "mysql_error", "pgbouncer"))

    @cached_property
    def samplers(self) -> set[str]:
        """Services that only take samples: their failures are a symptom."""
        return set(self.services_in("pool_gauge", "gauge_json"))

    def groups(self, *families: str) -> list[FailureGroup]:
        """Failure groups of some families; a monitor's own failures are none of a service."""
        return [
            group
            for group in self.facts[Failures].groups
            if group.family in families and group.side != "monitor"
        ]

    def inside(self, *families: str, margin: int = 5 * SECOND) -> pl.DataFrame:
        """Failures of some families inside any incident."""
        rows = self.facts[Failures].rows.filter(pl.col("family").is_in(list(families)))
        if not self.spans:
            return rows.clear()
        return rows.filter(
            pl.any_horizontal(
                [
                    pl.col("ts").is_between(lo, hi + margin) | pl.col("began").is_between(lo, hi)
                    for lo, hi in self.spans
                ]
            )
        )

    def hits(self, *signatures: str, families: tuple[str, ...] = (), window: bool = True) -> pl.DataFrame:
        """Hits of signatures or families, in the window with a minute around it; those of unverified signatures last."""
        wanted = [
            name
            for name, item in self.known.signatures.items()
            if name in signatures or item.family in families
        ]
        rows = self.evidence["hits"].filter(pl.col("signature").is_in(wanted) & pl.col("ts").is_not_null())
        rows = rows.sort(pl.col("signature").is_in(list(self.unverified)), maintain_order=True)
        lo, hi = self.window
        return rows.filter(pl.col("ts").is_between(lo - MINUTE, hi + MINUTE)) if window else rows

    @cached_property
    def unverified(self) -> set[str]:
        """Signatures that are known from documents only."""
        return {name for name, one in self.known.signatures.items() if not one.verified}

    @cached_property
    def doubtful(self) -> set[Ref]:
        """Places at which nothing but unverified signatures matched."""
        doubted = pl.col("signature").is_in(list(self.unverified)).all()
        rows = self.evidence["hits"].group_by("source", "line").agg(doubted.alias("doubted"))
        return set(self.refs(rows.filter("doubted"), rows.height))

    def unproven(self, refs: Iterable[Ref]) -> bool:
        """Do all of some places, at least one, rest on unverified signatures alone?"""
        places = set(refs)
        return bool(places) and places <= self.doubtful

    @staticmethod
    def refs(rows: pl.DataFrame, n: int = 4) -> tuple[Ref, ...]:
        """Places of the first rows of a frame with source and line."""
        return tuple(Ref(source, line) for source, line in rows.select("source", "line").head(n).iter_rows())

    def services_in(self, *formats: str) -> list[str]:
        """Services whose lines have one of some formats."""
        return sorted(
            set(
                self.evidence["formats"].filter(pl.col("format").is_in(list(formats)))["service"].drop_nulls()
            )
        )

    def covers(self, service: str) -> bool:
        """Is the window covered by a service's lines?"""
        cover = self.facts[Coverage].of(service)
        return cover is not None and cover.first <= self.window[0] and cover.last >= self.window[1]

    @cached_property
    def kernel_ref(self) -> Ref | None:
        """A kernel line, if any source has kernel lines that reach over the window."""
        cover = self.facts[Coverage].of("kernel")
        return cover.first_ref if cover and self.covers("kernel") else None

    @cached_property
    def gauge(self) -> SampleSeries | None:
        """The fullest gauge of the database's connections with a limit that has samples inside the window."""
        lo, hi = self.window
        found = [
            item
            for item in self.facts[Samples].series
            if item.limit
            and not OTHER_RESOURCE.match(item.series)
            and (
                self.primary is None or any(lo - 3 * MINUTE <= at <= hi + 3 * MINUTE for at, _ in item.around)
            )
        ]
        return max(found, key=lambda item: item.peak / (item.limit or 1), default=None)

    @cached_property
    def snapshots(self) -> tuple[Snapshot, ...]:
        """Snapshots of the database's sessions that were taken inside the primary incident; one with a lower bound only may lie beyond."""
        lo, hi = self.window
        every = self.facts[Sessions].snapshots if self.primary else ()
        dated = (one for one in every if one.at is not None and one.dated != "newest")
        return tuple(one for one in dated if lo - SECOND <= (one.at or 0) <= hi + SECOND)

    def covering(self, gauge: SampleSeries) -> bool:
        """Do samples stand all through the window, and not at a few instants of it?"""
        lo, hi = self.window
        if not gauge.period_s:
            return False
        step = gauge.period_s * SECOND
        inside = sum(lo - step <= at <= hi + step for at, _ in gauge.around)
        return inside >= COVERING * (hi - lo) / step

    def watchers(self) -> list[Series]:
        """Probe series that reach over the window or a part of it."""
        lo, hi = self.window
        return [
            series
            for series in self.facts[Probes].series
            if series.dues and series.dues[0].at <= hi and series.dues[-1].at >= lo
        ]

    def stalled(self, service: str | None = None) -> bool:
        """Did a process stall?"""
        return any(service in (None, item.service) for item in self.facts[Stalls].items)

    def rows_in_stalls(self, rows: pl.DataFrame) -> int:
        """How many failures were printed inside or right at the end of a stall?"""
        last = self.facts[Coverage].last or 0
        spans = [
            (item.start - 2 * SECOND, (item.end or last) + 3 * SECOND) for item in self.facts[Stalls].items
        ]
        return (
            rows.filter(pl.any_horizontal([pl.col("ts").is_between(lo, hi) for lo, hi in spans])).height
            if spans
            else 0
        )

    def lifecycle(self, *kinds: str) -> list[Lifecycle]:
        """Lifecycle events of some kinds inside the window; those of unverified signatures last."""
        lo, hi = self.window
        found = [
            event
            for event in self.facts[Restarts].events
            if event.kind in kinds and lo - MINUTE <= event.at <= hi + MINUTE
        ]
        return sorted(found, key=lambda event: event.text in self.unverified)

    def same_process(self, service: str) -> tuple[str, Ref, Ref] | None:
        """The one process id of a service before and after the window, and the places that show it.

        The first and the last failure make the window's edges, so that lines at them stand inside it. Only of what goes on to the end
        of the inputs can nothing stand behind it: there a line at the end tells that the process is alive.
        """
        lo, hi = self.window
        ongoing = self.primary is not None and self.primary.end is None
        after = pl.col("last_us") >= hi - 5 * SECOND if ongoing else pl.col("last_us") > hi
        rows = (
            self.evidence["processes"]
            .filter((pl.col("service") == service) & (pl.col("first_us") < lo) & after)
            .sort("first_us")
        )
        others = self.evidence["processes"].filter(
            (pl.col("service") == service) & (pl.col("first_us") > lo) & (pl.col("first_us") < hi)
        )
        if not rows.height or others.height or self.replaced(service):
            return None
        row = rows.row(0, named=True)
        return row["pid"], Ref(row["source"], row["first_line"]), Ref(row["source"], row["last_line"])

    def replaced(self, service: str) -> tuple[str, int, str, int, Ref, Ref] | None:
        """The process of a service that printed its last line around the end of the window, and the one that went on in its place.

        Process id and last instant, process id and first instant, and both places; None where the process lived on.
        """
        lo, hi = self.window
        rows = (
            self.evidence["processes"]
            .filter((pl.col("service") == service) & ~pl.col("naive"))
            .sort("first_us")
        )
        old = rows.filter(
            (pl.col("first_us") <= lo) & pl.col("last_us").is_between(hi - 5 * SECOND, hi + MINUTE)
        )
        if old.height != 1:
            return None
        ended = old.row(0, named=True)
        new = rows.filter(pl.col("first_us").is_between(ended["last_us"], ended["last_us"] + MINUTE))
        if new.height != 1:
            return None
        begun = new.row(0, named=True)
        return (
            ended["pid"], ended["last_us"], begun["pid"], begun["first_us"],
            Ref(ended["source"], ended["last_line"]), Ref(begun["source"], begun["first_line"]),
        )  # fmt: skip

    def losses_near(self) -> list[Ref]:
        """Places of declared losses in or near the window."""
        lo, hi = self.window
        return [
            loss.ref for loss in self.facts[Losses].items if lo - 5 * MINUTE <= loss.at <= hi + 5 * MINUTE
        ]

    @cached_property
    def told_by_others(self) -> bool:
        """Does anything but a monitor's own results show trouble in an incident?"""
        rows = self.facts[Failures].rows.filter(pl.col("side") != "monitor")
        for lo, hi in self.spans:
            if rows.filter(
                pl.col("ts").is_between(lo, hi + 5 * SECOND) | pl.col("began").is_between(lo, hi)
            ).height:
                return True
            if any(stall.start <= hi and (stall.end or hi) >= lo for stall in self.facts[Stalls].items):
                return True
            if any(item.start <= hi and (item.end or hi) >= lo for item in self.facts[Restarts].outages):
                return True
            if any(
                lo <= due.at <= hi
                for series in self.facts[Probes].series
                if series.seen_by == "service"
                for due in series.at("missed", "late", "failed")
            ):
                return True
        return False

    @cached_property
    def gaps_missed(self) -> bool:
        """Did an incident fall into a blind gap of a monitor?"""
        return any(gap.inside or gap.overlapping for gap in self.facts[Watch].gaps)
