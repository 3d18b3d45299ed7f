"""Did a process stand still?

A silence becomes a stall only with independent witnesses: probes that were not answered, calls of others that hung,
waits printed together when it ended, a burst of unrelated lines. A process that was not there, lines that journald
dropped, an idle service and a log cut short are no stalls.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from forensics.model.facts import (
    Facts,
    Failures,
    Losses,
    Probes,
    Restarts,
    Silence,
    Silences,
    Stall,
    Stalls,
    Witness,
)
from forensics.model.frames import middle, most
from forensics.model.plug import Analysis
from forensics.model.source import Ref

if TYPE_CHECKING:
    from forensics.model.digest import Evidence
    from forensics.model.facts import Series
    from forensics.model.known import Known

SECOND = 1_000_000
MARGIN_US = 2 * SECOND
"""Order across sources is not trusted below this."""
HUNG_S = 5.0
"""A call that took this long and covers part of the silence hung on it, if most calls are far shorter."""
MULTIPLE_US = 1_500_000
"""How closely a silence must be a whole number of waits: the process needs a moment to print."""
BURSTING = 3.0
"""Lines right after a silence, against the usual number in as many seconds."""
STRONG = ("probes", "calls")
ANSWERED = 0.25
"""Share of the probes of a span that were answered in time above which the process did not stand still."""
PROCESS_FAMILIES = ("pool_exhaustion", "redis_timeout", "redis_pool", "client_timeout", "db_connect")
LOOK_BACK = 12
"""Seconds with lines before a stall in which its true start is looked for."""
NO_PROCESS = ("postgres", "redis", "kernel", "systemd-journald", "init.scope")
"""Services whose silence is their habit: they log seldom and by themselves."""


def stalls(evidence: Evidence, known: Known, facts: Facts) -> Stalls:
    """Return the silences that have enough witnesses."""
    del known
    found = [
        stall
        for silence in facts[Silences].items
        if silence.service not in NO_PROCESS and (stall := judge(silence, evidence, facts))
    ]
    return Stalls(tuple(merge(found)))


def judge(silence: Silence, evidence: Evidence, facts: Facts) -> Stall | None:
    """Weigh the witnesses of one silence."""
    end = (
        silence.end
        if silence.end is not None
        else max((source.last_us or 0 for source in evidence.sources), default=silence.start)
    )
    if lost(silence, end, facts) or restarted(silence, end, facts):
        return None
    by_probe, answered = probe_witness(silence, end, evidence, facts)
    if answered > ANSWERED:
        return None
    found = [
        by_probe,
        call_witness(silence, end, evidence),
        multiple_witness(silence, facts),
        burst_witness(silence, evidence),
        timer_witness(silence, end, facts),
    ]
    witnesses = tuple(witness for witness in found if witness is not None)
    kinds = {witness.kind for witness in witnesses}
    repeated = any(witness.kind == "multiples" and witness.n >= 2 for witness in witnesses)
    if len(kinds) < 2 and not (silence.end is None and kinds & set(STRONG)):
        return None
    closed = silence.end
    if silence.end is None:
        if by_probe is None:
            return None
        closed = answered_again(by_probe, silence, evidence, facts)
    if not kinds & set(STRONG) and len(kinds) < 3 and not repeated:
        return None
    return extended(
        Stall(silence.service, silence.start, closed, silence.parts, witnesses, silence), evidence, facts
    )


def answered_again(witness: Witness, silence: Silence, evidence: Evidence, facts: Facts) -> int | None:
    """Return the first probe that was answered after the last bad one, if the log ended before: the stall was over by then."""
    after = [
        due.answered
        for series in facts[Probes].series
        if watches(series, silence, evidence, facts)
        for due in series.dues
        if due.state == "answered" and due.answered and due.at > witness.detail["last"]
    ]
    return min(after, default=None)


def extended(stall: Stall, evidence: Evidence, facts: Facts) -> Stall:
    """Move the start back over an earlier pause that ended with waits as long as the pause itself.

    The first wait may be too short to stand out from the service's usual pauses; that the failures printed at its end
    began when it began tells that the process waited.
    """
    seconds = evidence["seconds"].filter((pl.col("service") == stall.service) & (pl.col("kind") != "unit") & (pl.col("first_us") <= stall.start)).group_by("second").agg(
        lo=pl.col("first_us").min(), hi=pl.col("last_us").max(), tail=pl.struct("source", "last_line").sort_by("last_us", "source").last()
    ).sort("second").tail(LOOK_BACK)  # fmt: skip
    waited = facts[Failures].rows.filter(
        (pl.col("service") == stall.service) & (pl.col("began") < pl.col("ts"))
    )
    rows = seconds.rows(named=True)
    for before, after in zip(reversed(rows[:-1]), reversed(rows[1:]), strict=True):
        if stall.start - after["lo"] > 3 * SECOND:
            break
        pause = after["lo"] - before["hi"]
        held = waited.filter(
            pl.col("ts").is_between(after["lo"], after["hi"] + MULTIPLE_US)
            & (pl.col("began") <= before["hi"] + MULTIPLE_US)
        )
        if pause >= 2 * SECOND and held.height:
            silence = replace(
                stall.silence, before=Ref(before["tail"]["source"], before["tail"]["last_line"])
            )
            return replace(
                stall, start=before["hi"], parts=((before["hi"], after["lo"]), *stall.parts), silence=silence
            )
    return stall


def lost(silence: Silence, end: int, facts: Facts) -> bool:
    """Did journald drop lines of the service in or right after the silence?"""
    return any(
        loss.service == silence.service and silence.start <= loss.at <= end + 60 * SECOND
        for loss in facts[Losses].items
    )


def restarted(silence: Silence, end: int, facts: Facts) -> bool:
    """Was the process gone for a part of the silence?"""
    return any(
        item.service == silence.service and item.start < end and (item.end or end) > silence.start
        for item in facts[Restarts].outages
    )


def probe_witness(
    silence: Silence, end: int, evidence: Evidence, facts: Facts
) -> tuple[Witness | None, float]:
    """Return unanswered probes inside the silence, and the share of those that were answered in time."""
    worst: Witness | None = None
    share = 0.0
    for series in facts[Probes].series:
        if not watches(series, silence, evidence, facts):
            continue
        grace = round((series.timeout_s or series.jitter_s) * SECOND) + MARGIN_US
        inside = [due for due in series.dues if silence.start + grace <= due.at < end - MARGIN_US]
        bad = [
            due
            for due in series.dues
            if silence.start - grace <= due.at < end and due.state in ("missed", "failed", "late")
        ]
        if inside:
            share = max(share, sum(due.state == "answered" for due in inside) / len(inside))
        if bad and (worst is None or len(bad) > worst.n):
            refs = tuple(due.ref for due in bad if due.ref)[:6]
            worst = Witness(
                "probes", len(bad), refs, {"series": series.name, "first": bad[0].at, "last": bad[-1].at}
            )
    return worst, share


def watches(series: Series, silence: Silence, evidence: Evidence, facts: Facts) -> bool:
    """Does a probe series watch this service?

    A monitor names no service: it watches one that shows periodic probes in its own log, or, where no log does, the one
    service that answers requests at all.
    """
    if series.service is not None:
        return series.service == silence.service
    watched = {other.service for other in facts[Probes].series if other.service}
    served = set(evidence["routes"]["service"].drop_nulls())
    return silence.service in (watched or served)


def call_witness(silence: Silence, end: int, evidence: Evidence) -> Witness | None:
    """Return calls of other services that were in flight through the silence."""
    others = evidence["calls"].filter(
        (pl.col("service") != silence.service) & (pl.col("duration_ms") >= HUNG_S * 1000)
    )
    limit = end + MARGIN_US
    hung = others.filter(
        (pl.col("began") < end)
        & (pl.col("ts") > silence.start + MARGIN_US)
        & (pl.col("began") > silence.start - 120 * SECOND)
    )
    inside = hung.filter(
        (pl.min_horizontal("ts", pl.lit(limit)) - pl.max_horizontal("began", pl.lit(silence.start)))
        >= 0.6 * (pl.col("ts") - pl.col("began"))
    ).sort("ts", "source", "line")
    inside = inside.filter(pl.col("op").is_in(unusual_ops(evidence, silence, end)))
    if inside.height < 2:
        return None
    refs = tuple(Ref(source, line) for source, line in inside.head(4).select("source", "line").iter_rows())
    return Witness(
        "calls",
        inside.height,
        refs,
        {
            "first_began": inside["began"].min(),
            "longest_s": round((most(inside["duration_ms"]) or 0) / 1000, 3),
            "service": inside["service"][0],
        },
    )


def unusual_ops(evidence: Evidence, silence: Silence, end: int) -> list[str]:
    """Return the operations that hang only around the silence: one that is always slow is no witness."""
    slow = evidence["calls"].filter(pl.col("duration_ms") >= HUNG_S * 1000)
    near = pl.col("ts").is_between(silence.start - MARGIN_US, end + 150 * SECOND)
    counted = slow.group_by("op").agg(inside=near.sum(), outside=(~near).sum())
    return counted.filter(pl.col("inside") > 2 * pl.col("outside"))["op"].sort().to_list()


def multiple_witness(silence: Silence, facts: Facts) -> Witness | None:
    """Return parts of the silence that last a whole number of pool waits and end with such a failure."""
    for group in sorted(
        facts[Failures].groups, key=lambda item: (item.family != "pool_exhaustion", -item.failures)
    ):
        if group.service != silence.service or group.first_wait_began is None:
            continue
        rows = facts[Failures].rows.filter(
            (pl.col("service") == group.service) & (pl.col("signature") == group.signature)
        )
        waits = Counter((rows["ts"] - rows["began"]).to_list())
        wait, _ = waits.most_common(1)[0]
        if wait < 2 * SECOND:
            continue
        fits = [
            (lo, hi)
            for lo, hi in silence.parts
            if hi - lo >= wait - MULTIPLE_US
            and abs((hi - lo) - round((hi - lo) / wait) * wait) <= MULTIPLE_US
        ]
        printed = (
            rows.filter(
                pl.any_horizontal(
                    [pl.col("ts").is_between(hi - MULTIPLE_US, hi + MARGIN_US) for _, hi in fits]
                )
            )
            if fits
            else rows.clear()
        )
        if printed.height:
            refs = tuple(
                Ref(source, line) for source, line in printed.head(3).select("source", "line").iter_rows()
            )
            return Witness(
                "multiples",
                len(fits),
                refs,
                {"wait_s": wait / SECOND, "parts_s": [round((hi - lo) / SECOND, 3) for lo, hi in fits]},
            )
    return None


def burst_witness(silence: Silence, evidence: Evidence) -> Witness | None:
    """Return the burst of lines that came when the silence ended."""
    if silence.end is None or silence.after is None:
        return None
    here = evidence["seconds"].filter((pl.col("service") == silence.service) & (pl.col("kind") != "unit"))
    per_second = here.group_by("second").agg(n=pl.col("n").sum())
    usual = middle(per_second["n"]) or 1.0
    if silence.burst_after < BURSTING * usual or silence.burst_after < 5:
        return None
    return Witness("burst", silence.burst_after, (silence.after,), {"usual": usual})


def timer_witness(silence: Silence, end: int, facts: Facts) -> Witness | None:
    """Return timeouts of clients whose timers run on the same loop, printed when the silence or a part of it ended."""
    rows = facts[Failures].rows.filter(
        (pl.col("service") == silence.service) & pl.col("family").is_in(["redis_timeout"])
    )
    edges = [hi for _, hi in silence.parts] + [end]
    near = rows.filter(
        pl.any_horizontal([pl.col("ts").is_between(hi - MARGIN_US, hi + MARGIN_US) for hi in edges])
    )
    if not near.height or near.height < 0.5 * rows.height:
        return None
    refs = tuple(Ref(source, line) for source, line in near.head(3).select("source", "line").iter_rows())
    return Witness("timers", near.height, refs)


def merge(found: list[Stall]) -> list[Stall]:
    """Join stalls of one service that are less than five seconds apart."""
    out: list[Stall] = []
    for stall in sorted(found, key=lambda item: (item.service, item.start)):
        before = out[-1] if out else None
        if (
            before
            and before.service == stall.service
            and before.end is not None
            and stall.start - before.end < 5 * SECOND
        ):
            out[-1] = Stall(
                stall.service,
                before.start,
                stall.end,
                before.parts + stall.parts,
                (*before.witnesses, *stall.witnesses),
                before.silence,
            )
        else:
            out.append(stall)
    return sorted(out, key=lambda item: (item.start, item.service))


PLUG = Analysis(
    name="stalls",
    question="Did a process stand still?",
    gives=Stalls,
    run=stalls,
    needs=(Silences, Probes, Failures, Restarts, Losses),
)
