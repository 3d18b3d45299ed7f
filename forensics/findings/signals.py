"""What the hypotheses look at: the facts of one run, asked the questions that weighing needs."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

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
    from forensics.model.facts import Facts, Incident, Lifecycle, Loss, SampleSeries, Series, Snapshot
    from forensics.model.known import Known

SECOND = 1_000_000
MINUTE = 60 * SECOND
MARGIN = 5 * SECOND
"""Failures are printed a moment after the trouble that they belong to."""
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
MYSQL_LOGS = ("mysql_error",)
"""Formats of the own log of MySQL and MariaDB."""
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


SUPPRESSED = "journald.suppressed"
"""What journald writes where a service went over its rate limit."""


@dataclass(frozen=True, slots=True)
class Lost:
    """What one service is declared to have lost: at least ``n`` lines in so many losses, told from ``first`` to ``last``."""

    service: str
    n: int
    times: int
    first: int
    last: int
    limited: bool
    """True where a rate limit dropped them."""
    refs: tuple[Ref, ...]


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
            if outage.reason != "unknown":  # a job ends by itself
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
        """The database that the inputs speak of: ``mysql`` where only its log or its messages occur, else ``postgres``."""
        named = [self.known.signatures[group.signature].library for group in self.facts[Failures].groups]
        postgres = self.services_in(*POSTGRES_LOGS) or any(map(POSTGRES.search, named))
        mysql = self.services_in(*MYSQL_LOGS) or any(map(MYSQL.search, named))
        return "mysql" if mysql and not postgres else "postgres"

    @cached_property
    def has_database(self) -> bool:
        """Does anything in the inputs speak of a database? Where nothing does, no question about one helps."""
        told = any(group.family in DATABASE_FAMILIES for group in self.facts[Failures].groups)
        seen = self.facts[Sessions].snapshots or self.facts[Samples].series
        return bool(told or seen or self.services_in(*POSTGRES_LOGS, *MYSQL_LOGS, "pgbouncer"))

    @cached_property
    def samplers(self) -> set[str]:
        """Services that only take samples: their failures are a symptom."""
        return set(self.services_in("pool_gauge", "gauge_json"))

    def groups(self, *families: str, window: bool = True) -> list[FailureGroup]:
        """Failure groups of some families with a failure in the primary incident, where there is one; a monitor's own are none of a service."""
        return [
            group
            for group in self.facts[Failures].groups
            if group.family in families
            and group.side != "monitor"
            and (not window or self.primary is None or (group.service, group.signature) in self.failing)
        ]

    @cached_property
    def failing(self) -> set[tuple[str, str]]:
        """Services and signatures of the failures in the primary incident."""
        return set(self.in_primary().select("service", "signature").unique().iter_rows())

    def in_primary(self) -> pl.DataFrame:
        """Failures in the primary incident, by their line or by when they began; all of them where there is no incident."""
        rows, (lo, hi) = self.facts[Failures].rows, self.window
        touching = pl.col("ts").is_between(lo, hi + MARGIN) | pl.col("began").is_between(lo, hi)
        return rows.filter(touching) if self.primary else rows

    def inside(self, *families: str) -> pl.DataFrame:
        """Failures of some families inside the primary incident, none where there is no incident."""
        rows = self.in_primary() if self.primary else self.facts[Failures].rows.clear()
        return rows.filter(pl.col("family").is_in(list(families)))

    def numbers(self, rows: pl.DataFrame) -> list[int]:
        """Return the numbers of the other incidents in which some failures lie."""
        return [
            number
            for number, item in enumerate(self.facts[Incidents].items, start=1)
            if item is not self.primary
            and rows.filter(
                pl.col("ts").is_between(item.start, (item.end or self.window[1]) + MARGIN)
                | pl.col("began").is_between(item.start, item.end or self.window[1])
            ).height
        ]

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
    def failed_checks(self) -> Counter[str]:
        """How the checks due in the window failed, by kind (:mod:`forensics.model.outcomes`)."""
        lo, hi = self.window
        return Counter(
            due.outcome
            for series in self.watchers()
            for due in series.dues
            if lo - SECOND <= due.at <= hi and due.state in ("missed", "failed", "late")
        )

    @cached_property
    def pool_counters(self) -> pl.DataFrame:
        """What pools count of themselves where a wait ran out in the window: total, active and idle, with service, source and line."""
        rows = self.hits(families=("pool_exhaustion",))
        said = {
            name: pl.col("parameters").str.json_path_match(f"$.{name}").cast(pl.Int64, strict=False)
            for name in ("total", "active", "idle")
        }
        return rows.select("service", "source", "line", **said).drop_nulls(list(said))

    @property
    def pool_was_empty(self) -> bool:
        """Did every pool that counts itself hold no connection at all? Then none could be opened, and none was taken."""
        return bool(self.pool_counters.height) and bool((self.pool_counters["total"] == 0).all())

    def part_of(self, *services: str) -> dict[str, Any]:
        """Return the first of some services that has lines, though they do not cover the window, as values of a statement."""
        every = [cover for name in services if (cover := self.facts[Coverage].of(name))]
        return {"part": every[0] if every else None}

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
        new = rows.filter(
            pl.col("first_us").is_between(ended["last_us"], ended["last_us"] + MINUTE)
            & (pl.col("pid") != ended["pid"])
        )
        if new.height != 1:
            return None
        begun = new.row(0, named=True)
        return (
            ended["pid"], ended["last_us"], begun["pid"], begun["first_us"],
            Ref(ended["source"], ended["last_line"]), Ref(begun["source"], begun["first_line"]),
        )  # fmt: skip

    @cached_property
    def losses(self) -> list[Lost]:
        """What each service is declared to have lost, the most first: another service's loss says nothing of it."""
        by: dict[str, list[Loss]] = {}
        for loss in self.facts[Losses].items:
            by.setdefault(loss.service, []).append(loss)
        found = [
            Lost(
                service=service, n=sum(loss.n or 0 for loss in items), times=len(items), first=min(loss.at for loss in items), last=max(loss.at for loss in items),
                limited=any(loss.what == SUPPRESSED for loss in items), refs=tuple(loss.ref for loss in items),
            )
            for service, items in by.items()
        ]  # fmt: skip
        return sorted(found, key=lambda one: (-one.n, one.service))

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
