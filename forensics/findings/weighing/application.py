"""Hypotheses about the application itself: its pool, and its process."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from forensics.findings import pooler
from forensics.findings.primary import stalls_in_window, sum_max
from forensics.findings.signals import MINUTE, SECOND
from forensics.findings.weighing.scale import (
    Bearing,
    Sign,
    covered,
    direct,
    disproof,
    explained,
    hint,
    hole,
    question,
    witness,
)
from forensics.model.facts import Coverage, Delays, Events, Failures, Losses, Stalls

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.findings.signals import Signals
    from forensics.model.facts import FailureGroup

POOLER_LIMITS = ("pgbouncer.client-limit",)
"""Refusals of a pooler for a limit of its own: the server behind it need not be full."""
MOST = 0.9
"""Share of the probes due in a window that must be there and answered to rule a stall out."""
SILENT_WORKERS = ("gunicorn.worker-timeout", "puma.worker-timeout", "unicorn.worker-timeout")
"""Workers whose master heard nothing from them for longer than it waits."""
LOST_AROUND = 5 * MINUTE
"""A loss is declared with the service's next line: it may lie so long before that, or be of the time right before the window."""
TWICE = 2
"""Failures from which a pool's own text confirms: one may be a test, or a text of something else."""


def app_pool_exhausted(signals: Signals) -> Iterator[Sign]:
    """The pool's own error text is direct evidence."""
    yield from said_empty(signals)
    yield from counted(signals)
    if (shown := pooler.inside(signals)) or pooler.queued(signals):
        stats = pooler.queued(signals)
        most, period = next(iter(stats), (None, None))
        seen = {"state": next(iter(shown), None), "stats": most, "period": period}
        refs = (*(one.ref for one in shown[:2]), *(one.ref for _, one in stats[:1]))
        yield (witness if shown and stats else hint)("pool.pooler", seen, refs)
    if cover := signals.facts[Coverage].of(signals.unit):
        told = {"service": signals.unit, "lines": cover.lines}
        yield covered("pool.none", told, (cover.first_ref, cover.last_ref))
    yield question("no_log", {"service": signals.unit})


def counted(signals: Signals) -> Iterator[Sign]:
    """A pool that counts no connection at all, or only idle ones, did not run out: HikariCP prints its counters with each timeout."""
    rows = signals.pool_counters
    if not rows.height:
        return
    said = {"n": rows.height, "service": rows["service"][0], "most": rows["total"].max()}
    if signals.pool_was_empty:
        yield explained("pool.none_open", said, signals.refs(rows, 3), outweighs=3)
    elif bool(((rows["active"] == 0) & (rows["idle"] > 0)).all()):
        yield explained("pool.idle", said, signals.refs(rows, 3), outweighs=3)


def texts_of_pools(signals: Signals, *, window: bool) -> list[FailureGroup]:
    """Return the failures that say themselves that a pool ran out: those of the primary incident, or all."""
    limits = signals.groups("server_limit", window=window)
    return [
        *signals.groups("pool_exhaustion", window=window),
        *(group for group in limits if group.signature in POOLER_LIMITS),
    ]


def said_empty(signals: Signals) -> Iterator[Sign]:
    """Count the texts of pools in the primary incident; those of another one are told as such, and where their log covers this one it would show it."""
    counted = {
        (service, signature): (sure, rows)
        for service, signature, sure, rows in signals.in_primary()
        .group_by("service", "signature")
        .agg(sure=pl.col("sure").sum(), rows=pl.len())
        .iter_rows()
    }
    if groups := texts_of_pools(signals, window=True):
        inside = [
            replace(
                group,
                failures=sure,
                failures_max=rows if group.failures_max is not None else None,
            )
            for group in groups
            for sure, rows in [counted[group.service, group.signature]]
        ]
        best = max(inside, key=lambda group: (group.verified, group.failures))
        rows = signals.in_primary().filter(
            (pl.col("service") == best.service) & (pl.col("signature") == best.signature)
        )
        certain = best.verified and best.failures + (best.failures_max or 0) >= TWICE
        said = {
            "group": best,
            "groups": len(inside),
            "n": sum(group.failures for group in inside),
            "most": sum_max(inside),
            "services": len({group.service for group in inside}),
        }
        yield (direct if certain else witness)(
            "pool.text", said, signals.refs(rows.sort("ts", "source", "line"))
        )
        return
    if others := texts_of_pools(signals, window=False):
        best = max(others, key=lambda group: (group.verified, group.failures))
        rows = signals.facts[Failures].rows.filter(
            (pl.col("service") == best.service) & (pl.col("signature") == best.signature)
        )
        said = {"group": best, "incidents": signals.numbers(rows)}
        yield (covered if signals.covers(best.service) else question)("pool.elsewhere", said, best.refs[:4])


def process_stalled(signals: Signals) -> Iterator[Sign]:
    """A silence with independent witnesses; answered probes in the window speak against it."""
    yield from witnessed_stall(signals)
    yield from said_stalled(signals)
    yield from read_late(signals)
    yield from answered_through(signals)
    lo, hi = signals.window
    if any(
        loss.service in signals.fleet and lo - LOST_AROUND <= loss.at <= hi + LOST_AROUND
        for loss in signals.facts[Losses].items
    ):
        yield hole("stall.loss", {"service": signals.unit})
    cover = signals.facts[Coverage].of(signals.unit)
    if cover and signals.covers(signals.unit):
        yield covered("stall.none", {"service": signals.unit}, (cover.first_ref, cover.last_ref))
    yield question("no_log", {"service": signals.unit})


def witnessed_stall(signals: Signals) -> Iterator[Sign]:
    """Silences that independent kinds of work bear out."""
    stalls = stalls_in_window(signals)
    if not stalls:
        yield from stalled_elsewhere(signals)
        return
    kinds = {witness.kind for stall in stalls for witness in stall.witnesses}
    refs = tuple(ref for stall in stalls for witness in stall.witnesses for ref in witness.refs[:2])
    longest = max(stalls, key=lambda stall: (stall.end or signals.window[1]) - stall.start)
    said = {"stall": longest, "kinds": sorted(kinds), "n": len(stalls), "last": signals.window[1]}
    yield witness("stall.witnesses", said, refs[:8])


def stalled_elsewhere(signals: Signals) -> Iterator[Sign]:
    """Stalls outside the primary incident say nothing of it; the log that shows them covers it, or does not."""
    if others := signals.facts[Stalls].items:
        longest = max(others, key=lambda stall: (stall.end or stall.start) - stall.start)
        said = {"stall": longest, "n": len(others)}
        make = covered if signals.covers(longest.service) else question
        yield make("stall.elsewhere", said, (longest.silence.before,))


def said_stalled(signals: Signals) -> Iterator[Sign]:
    """A runtime that reports a thread or worker which does not come back says so itself, of a part of the process."""
    lo, hi = signals.window
    events = [
        (group.events, group.signature, group.service, group.bound, group.longest_s, group.refs)
        for group in signals.facts[Events].groups
        if group.family == "event_loop_stall" and group.first <= hi + MINUTE and group.last >= lo - MINUTE
    ]
    failed = [
        (group.failures, group.signature, group.service, group.bound, None, group.refs)
        for group in signals.facts[Failures].groups
        if group.signature in SILENT_WORKERS and group.first <= hi + MINUTE and group.last >= lo - MINUTE
    ]
    if events or failed:
        n, signature, service, bound, longest, refs = max([*events, *failed], key=lambda one: one[:3])
        said = {"n": n, "title": signals.known.signatures[signature].title, "service": service, "least": bound == "at_least", "longest": longest}  # fmt: skip
        yield witness("stall.text", said, refs[:4])


def read_late(signals: Signals) -> Iterator[Sign]:
    """Messages that lay unread tell of a receiver that stood still; with its own silence they are two signs."""
    lo, hi = signals.window
    found = [
        one
        for one in signals.facts[Delays].backlogs
        if one.sent_first <= hi + MINUTE and one.at >= lo - MINUTE
    ]
    if found:
        best = max(found, key=lambda one: (one.silent_since is not None, one.oldest_s))
        bearing = Bearing.WITNESS if best.silent_since is not None else Bearing.HINT
        yield Sign(bearing, "stall.backlog", {"backlog": best}, best.refs[:4])


def answered_through(signals: Signals) -> Iterator[Sign]:
    """Probes due all through the window and all answered; of one endpoint only, so that they outweigh no sign."""
    lo, hi = signals.window
    for series in signals.watchers():
        inside = [due for due in series.dues if lo - series.period_s * SECOND <= due.at <= hi]
        good = [due for due in inside if due.state == "answered"]
        complete = len(good) == len(inside) and len(good) >= MOST * (hi - lo) / SECOND / series.period_s
        if inside and complete:
            refs = tuple(due.ref for due in good if due.ref)
            said = {"n": len(good), "series": series.name}
            yield disproof("stall.probes_answered", said, (refs[0], refs[-1]), outweighs=0)
