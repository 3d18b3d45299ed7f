"""The timeline: from a healthy event before to a recovered one after, bursts merged."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import polars as pl

from forensics.findings import activity
from forensics.findings.edges import edges, near_primary
from forensics.findings.signals import REPLICA, SECOND
from forensics.model.facts import (
    Clocks,
    Continuity,
    Failures,
    Probes,
    Restarts,
    Stalls,
    Watch,
)
from forensics.model.finding import Grade, Moment
from forensics.model.outcomes import UNANSWERED
from forensics.model.source import Ref

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.findings.signals import Signals
    from forensics.model.facts import Lifecycle

MERGE_US = 20 * SECOND
"""Failures of one kind closer than this are one row."""
STEP_NEAR = 5 * 60 * SECOND
"""A clock that was set so shortly before or after the incident puts its times in doubt."""
TOLD_ELSEWHERE = ("app_error", "http_error")
"""Families of failures whose lines stand beside the failure that caused them: impact tells of these."""
TURNS = ("start", "stop", "kill", "restart", "deploy", "stall", "stall_end", "alert", "clock", "mitigated")
"""Kinds of rows after which failures go on in a row of their own: what they tell may be why; told again, it is no turn."""
PROBE_ROWS = 4
SERVER = ("postgres.shutdown-request", "postgres.previous-stop", "postgres.ready")
"""What tells when a database server took connections and when not."""


def timeline(signals: Signals) -> tuple[Moment, ...]:
    """Return the rows in time order."""
    makers = (
        edges(signals),
        failures(signals),
        stalls(signals),
        probes(signals),
        lifecycle(signals),
        server(signals),
        watch(signals),
        clock(signals),
        known(signals),
        gauge(signals),
        activity.moments(signals),
    )
    rows = sorted((row for maker in makers for row in maker), key=lambda row: (row.at, row.kind, row.key))
    return tuple(unsure(joined(rows), signals.facts[Clocks]))


def joined(rows: list[Moment]) -> list[Moment]:
    """Make one row of those that tell of one failure of one service, until something turned: then a new one begins."""
    kept: list[Moment] = []
    begun: dict[tuple[str | None, str], int] = {}
    seen: set[tuple[str | None, str, str]] = set()
    for row in rows:
        if row.key != "row.failures":
            what = (row.service, row.kind, str(row.values.get("title", "")))
            if row.kind in TURNS and what not in seen:
                begun.clear()
            seen.add(what)
            kept.append(row)
            continue
        name = (row.service, row.values["signature"])
        if name not in begun:
            begun[name] = len(kept)
            kept.append(row)
            continue
        first = kept[begun[name]]
        both = {key: first.values[key] + row.values[key] for key in ("n", "most")}
        kept[begun[name]] = replace(
            first,
            values={**first.values, **both, "until": max(first.values["until"], row.values["until"])},
            refs=tuple(dict.fromkeys((first.refs[0], row.refs[-1]))),
        )
    return kept


def unsure(rows: list[Moment], clocks: Clocks) -> Iterator[Moment]:
    """Mark neighbours of two sources that lie closer together than the clocks of the sources are known to agree."""
    marked: set[int] = set()
    for index, (one, other) in enumerate(pairwise(rows)):
        if not one.refs or not other.refs:
            continue
        doubt = clocks.doubt_s(one.refs[0].source, other.refs[0].source)
        if doubt is not None and 0 < other.at - one.at <= doubt * SECOND:
            marked |= {index, index + 1}
    for index, row in enumerate(rows):
        yield replace(row, values={**row.values, "unsure": True}) if index in marked else row


def failures(signals: Signals) -> Iterator[Moment]:
    """Yield bursts of failures inside incidents, and the begin of the first wait."""
    rows = signals.facts[Failures].rows.filter(~pl.col("family").is_in(TOLD_ELSEWHERE))
    for lo, hi in [signals.window] if signals.primary else []:
        near = by_service(rows.filter(pl.col("ts").is_between(lo, hi + 5 * SECOND)))
        for (service, name), part in near.group_by("service", "signature", maintain_order=True):
            title = signals.known.signatures[str(name)].title
            cut = part.sort("ts").with_columns(burst=(pl.col("ts").diff().fill_null(0) > MERGE_US).cum_sum())
            first = part.sort("began", "ts").row(0, named=True)
            if first["began"] < first["ts"] and signals.known.signatures[str(name)].side == "client":
                yield Moment(
                    first["began"],
                    "wait",
                    str(service),
                    "row.wait",
                    {"title": title, "wait": (first["ts"] - first["began"]) / SECOND},
                    Grade.DERIVED,
                    (Ref(first["source"], first["line"]),),
                )
            for (_,), burst in cut.group_by("burst", maintain_order=True):
                head, tail = burst.row(0, named=True), burst.row(-1, named=True)
                refs = tuple(
                    dict.fromkeys((Ref(head["source"], head["line"]), Ref(tail["source"], tail["line"])))
                )
                yield Moment(
                    head["ts"],
                    "failures",
                    str(service),
                    "row.failures",
                    {
                        "n": int(burst["sure"].sum()),
                        "most": burst.height,
                        "title": title,
                        "until": tail["ts"],
                        "signature": name,
                    },
                    Grade.VERIFIED,
                    refs,
                )


def by_service(rows: pl.DataFrame) -> pl.DataFrame:
    """Give the failures of a service's replicas its name where several of them fail alike, so that they are one row."""
    bases = pl.col("service").str.replace(REPLICA, "$1")
    several = pl.col("service").n_unique().over("base", "signature") > 1
    return rows.with_columns(base=bases).with_columns(
        service=pl.when(several).then("base").otherwise("service")
    )


def stalls(signals: Signals) -> Iterator[Moment]:
    """Yield begin and end of stalls."""
    for stall in (item for item in signals.facts[Stalls].items if near_primary(signals, item.start)):
        yield Moment(
            stall.start, "stall", stall.service, "row.stall", {}, Grade.INFERRED, (stall.silence.before,)
        )
        if stall.end is not None and stall.silence.after is not None:
            yield Moment(
                stall.end,
                "stall_end",
                stall.service,
                "row.stall_end",
                {"burst": stall.silence.burst_after},
                Grade.VERIFIED,
                (stall.silence.after,),
            )


def probes(signals: Signals) -> Iterator[Moment]:
    """Yield probes that were not answered in time, a long run as one row."""
    told: set[int] = set()
    for series in sorted(signals.facts[Probes].series, key=lambda item: item.seen_by != "monitor"):
        bad = [
            due
            for due in series.at("failed", "missed")
            if near_primary(signals, due.at)
            and not any(abs(due.at - other) < series.period_s * SECOND / 3 for other in told)
        ]
        told.update(due.at for due in bad)
        shown = bad if len(bad) <= PROBE_ROWS else [bad[0], bad[-1]]
        for due in shown:
            key = "row.probe_run" if len(bad) > PROBE_ROWS and due is bad[0] else "row.probe"
            refs = (due.ref,) if due.ref else ()
            yield Moment(
                due.at,
                "probe",
                series.service,
                key,
                {
                    "series": series.name,
                    "error": due.error,
                    "n": len(bad),
                    "last": bad[-1].at,
                    "silent": all(one.outcome in UNANSWERED for one in bad),
                },
                Grade.VERIFIED if refs else Grade.DERIVED,
                refs,
            )
        for due in series.at("late"):
            if due.answered is not None and due.ref and near_primary(signals, due.at):
                yield Moment(
                    due.answered,
                    "late",
                    series.service,
                    "row.late",
                    {
                        "series": series.name,
                        "delay": (due.answered - due.at) / SECOND,
                        "rivals": [(due.answered - rival) / SECOND for rival in due.rivals],
                    },
                    Grade.INFERRED,
                    (due.ref,),
                )


def lifecycle(signals: Signals) -> Iterator[Moment]:
    """Yield starts, stops and kills that lie in or near incidents; the same one within a second is one row."""
    lo, hi = signals.window
    near = [
        event
        for event in signals.facts[Restarts].events
        if signals.primary and lo - 60 * SECOND <= event.at <= hi + 60 * SECOND
    ]
    grouped: dict[tuple[str, str, int], list[Lifecycle]] = {}
    for event in near:
        grouped.setdefault((event.service, event.text, event.at // SECOND), []).append(event)
    for events in grouped.values():
        first = events[0]
        kind = {
            "started": "start",
            "ready": "start",
            "start": "start",
            "killed": "kill",
            "signalled": "exited",
            "oom": "kill",
            "stopped": "stop",
        }.get(first.kind, first.kind)
        values = {
            "title": signals.known.signatures[first.text].title,
            "service": first.service,
            "n": len(events),
        }
        yield Moment(
            first.at,
            kind,
            first.service,
            "row.lifecycle",
            values,
            Grade.VERIFIED,
            tuple(event.ref for event in events)[:2],
        )


def server(signals: Signals) -> Iterator[Moment]:
    """Yield when a database server was told to stop, what it says of that at its start, and when it was open again."""
    rows = signals.hits(*SERVER)
    if signals.primary is None and SERVER[0] not in rows["signature"]:
        return  # a start that nobody asked about is the beginning of a log
    for row in rows.iter_rows(named=True):
        kind = "start" if row["signature"] == "postgres.ready" else "stop"
        values = {
            "title": signals.known.signatures[row["signature"]].title,
            "service": row["service"],
            "n": 1,
        }
        ref = Ref(row["source"], row["line"])
        yield Moment(row["ts"], kind, row["service"], "row.lifecycle", values, Grade.VERIFIED, (ref,))


def watch(signals: Signals) -> Iterator[Moment]:
    """Yield alerts and the edges of blind gaps."""
    for alert in signals.facts[Watch].alerts:
        yield Moment(
            alert.at,
            "alert",
            None,
            "row.alert",
            {"monitor": alert.monitor, "state": alert.state},
            Grade.VERIFIED,
            (alert.ref,),
        )
    for gap in signals.facts[Watch].gaps:
        yield Moment(gap.start, "blind", None, "row.blind", {"gap": gap}, Grade.VERIFIED, gap.refs[:1])
        yield Moment(gap.end, "blind_end", None, "row.blind_end", {"gap": gap}, Grade.VERIFIED, gap.refs[1:2])


def clock(signals: Signals) -> Iterator[Moment]:
    """Yield the steps of the clock in or near the incident; all of them where there is none."""
    lo, hi = signals.window
    for step in signals.facts[Continuity].steps:
        if signals.primary is None or lo - STEP_NEAR <= step.at <= hi + STEP_NEAR:
            values = {"step": step, "before": step.before}
            yield Moment(step.at, "clock", None, "row.clock", values, Grade.VERIFIED, step.refs[-1:])


def known(signals: Signals) -> Iterator[Moment]:
    """Yield what people know happened; the case file is the source, and no line of a log shows it."""
    for event in signals.known.events:
        yield Moment(
            event.at,
            event.kind,
            None,
            "row.known",
            {"text": event.text, "kind": event.kind},
            Grade.CLUE,
            (),
        )


def gauge(signals: Signals) -> Iterator[Moment]:
    """Yield the sample before, the peak and the sample after."""
    found = signals.gauge
    if found is None or signals.primary is None or (signals.snapshots and not found.period_s):
        return
    for name, sample in (
        ("before", found.incident_before),
        ("peak", found.incident_peak),
        ("after", found.incident_after),
    ):
        if sample is not None and name in found.refs:
            yield Moment(
                sample[0],
                "sample",
                None,
                "row.sample",
                {"value": sample[1], "limit": found.limit, "which": name, "series": found.series},
                Grade.VERIFIED,
                (found.refs[name],),
            )
