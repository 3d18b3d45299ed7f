"""How many failures per day, service and signature, and which days are covered in part only?

Days are those of the case's zone. Inside an incident plus outside is the day.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import polars as pl

from forensics.model.facts import Coverage, Daily, Day, Facts, Failures, Incidents
from forensics.model.plug import Analysis

if TYPE_CHECKING:
    from forensics.model.digest import Evidence
    from forensics.model.known import Known


def daily(evidence: Evidence, known: Known, facts: Facts) -> Daily:
    """Count failures per day of the case's zone."""
    del evidence
    zone = ZoneInfo(known.zone)
    rows = facts[Failures].rows
    spans = [(item.start, item.end or facts[Incidents].last or item.start) for item in facts[Incidents].items]
    inside = (
        pl.any_horizontal([pl.col("ts").is_between(lo, hi + 5_000_000) for lo, hi in spans])
        if spans
        else pl.lit(value=False)
    )
    days = rows.with_columns(
        date=pl.from_epoch("ts", time_unit="us")
        .dt.replace_time_zone("UTC")
        .dt.convert_time_zone(known.zone)
        .dt.strftime("%Y-%m-%d"),
        inside=inside,
    )
    grouped = (
        days.group_by("date", "service", "signature")
        .agg(
            failures=pl.col("sure").sum(),
            most=pl.len(),
            lines=pl.col("lines").sum(),
            inside=(pl.col("inside") & pl.col("sure")).sum(),
        )
        .sort("date", "service", "signature")
    )
    groups = {(group.service, group.signature): group for group in facts[Failures].groups}
    covers = {cover.service: (cover.first, cover.last) for cover in facts[Coverage].services}
    items = tuple(
        Day(
            row["date"],
            row["service"],
            row["signature"],
            row["failures"],
            row["lines"],
            is_partial(row["date"], covers.get(row["service"]), zone),
            groups[row["service"], row["signature"]].bound,
            row["inside"],
            None if groups[row["service"], row["signature"]].failures_max is None else row["most"],
        )
        for row in grouped.iter_rows(named=True)
    )
    return Daily(items, tuple(covered_days(facts, zone)))


def is_partial(date: str, cover: tuple[int, int] | None, zone: ZoneInfo) -> bool:
    """Does the service's coverage leave out a part of a day?"""
    if cover is None:
        return True
    start = dt.datetime.fromisoformat(date).replace(tzinfo=zone)
    end = (start + dt.timedelta(days=1)).replace(tzinfo=zone)
    return cover[0] > start.timestamp() * 1e6 or cover[1] < end.timestamp() * 1e6


def covered_days(facts: Facts, zone: ZoneInfo) -> list[tuple[str, bool]]:
    """Return every day that the inputs touch, and whether it is covered in part only."""
    first, last = facts[Coverage].first, facts[Coverage].last
    services = [
        cover
        for cover in facts[Coverage].services
        if any(group.service == cover.service for group in facts[Failures].groups)
    ]
    if services:
        first, last = min(cover.first for cover in services), max(cover.last for cover in services)
    if first is None or last is None:
        return []
    day = dt.datetime.fromtimestamp(first / 1e6, zone).date()
    final = dt.datetime.fromtimestamp(last / 1e6, zone).date()
    out = []
    while day <= final:
        out.append((day.isoformat(), is_partial(day.isoformat(), (first, last), zone)))
        day += dt.timedelta(days=1)
    return out


PLUG = Analysis(
    name="daily",
    question="How many failures per day?",
    gives=Daily,
    run=daily,
    needs=(Failures, Incidents, Coverage),
)
