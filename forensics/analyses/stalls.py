"""Did a process stand still?

A silence becomes a stall only with independent witnesses: probes that were not answered, calls of others that hung,
waits printed together when it ended, a burst of unrelated lines, timers of its own that printed nothing. A process that was not there, lines that journald
dropped, an idle service and a log cut short are no stalls.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from forensics.model import outcomes
from forensics.model.facts import (
    Facts,
    Failures,
    Losses,
    Periodic,
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
    from forensics.model.facts import Outage, PeriodicLine, Series
    from forensics.model.known import Known

SECOND = 1_000_000
MINUTE = 60 * SECOND
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
LOOK_BACK = 12
"""Seconds with lines before a stall in which its true start is looked for."""
TIMERS = 2
"""Messages at beats of their own that stop together from which they witness as others do."""
ABSENT = 0.8
"""Share of the lines of a beat that must stay away."""
MISSING = 2
"""Lines of a beat that must stay away: one may only be late."""
NO_PROCESS = ("postgres", "redis", "kernel", "systemd-journald", "init.scope")
"""Services whose silence is their habit: they log seldom and by themselves."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What may witness a silence, put in order once for all silences."""

    last: int
    """Where the inputs end."""
    lines: dict[str, pl.DataFrame]
    """Seconds with lines by service, in order of time."""
    usual: dict[str, float]
    """The usual number of lines in such a second, by service."""
    failed: dict[str, pl.DataFrame]
    """Failures by service, in order of time."""
    groups: dict[str, list[tuple[str, int]]]
    """Signatures of failures by service, those of pools first, with the wait that most of them had (0: none is known)."""
    slow: pl.DataFrame
    """Calls that may have hung, in order of time."""
    series: tuple[tuple[Series, list[int]], ...]
    """Series of probes, with their due times."""
    watched: set[str]
    """Services that a monitor may watch: it names none."""
    periodic: dict[str, list[PeriodicLine]]
    """What services print at a beat."""
    losses: dict[str, list[int]]
    outages: dict[str, list[Outage]]


def scene(evidence: Evidence, facts: Facts) -> Scene:
    """Put the witnesses of all silences in order."""
    silent = [pl.col("service").is_in(list({silence.service for silence in facts[Silences].items}))]
    lines = evidence["seconds"].filter(*silent, pl.col("kind") != "unit").sort("second", maintain_order=True)
    per_second = lines.group_by("service", "second").agg(n=pl.col("n").sum())
    failed = by_service(facts[Failures].rows.filter(*silent))
    groups: dict[str, list[tuple[str, int]]] = {}
    for group in sorted(
        facts[Failures].groups, key=lambda item: (item.family != "pool_exhaustion", -item.failures)
    ):
        if group.service in failed:
            wait = 0 if group.first_wait_began is None else usual_wait(failed[group.service], group.signature)
            groups.setdefault(group.service, []).append((group.signature, wait))
    beats: dict[str, list[PeriodicLine]] = {}
    for line in facts[Periodic].items:
        beats.setdefault(line.service, []).append(line)
    losses: dict[str, list[int]] = {}
    for loss in facts[Losses].items:
        losses.setdefault(loss.service, []).append(loss.at)
    outages: dict[str, list[Outage]] = {}
    for outage in facts[Restarts].outages:
        outages.setdefault(outage.service, []).append(outage)
    slow = evidence["calls"].filter(pl.col("ts").is_not_null() & (pl.col("duration_ms") >= HUNG_S * 1000))
    series = facts[Probes].series
    return Scene(
        last=max((source.last_us or 0 for source in evidence.sources), default=0),
        lines=by_service(lines),
        usual={service: middle(part["n"]) or 1.0 for service, part in by_service(per_second).items()},
        failed=failed,
        groups=groups,
        slow=slow.sort("ts", "source", "line"),
        series=tuple((one, [due.at for due in one.dues]) for one in series),
        watched={one.service for one in series if one.service}
        or set(evidence["routes"]["service"].drop_nulls()),
        periodic=beats,
        losses=losses,
        outages=outages,
    )


def by_service(table: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return the rows of each service, in their order."""
    return {
        str(service): part for (service,), part in table.group_by("service", maintain_order=True) if service
    }


def usual_wait(rows: pl.DataFrame, signature: str) -> int:
    """Return the wait that most failures of a signature had, in microseconds."""
    rows = rows.filter(pl.col("signature") == signature)
    return int(Counter((rows["ts"] - rows["began"]).to_list()).most_common(1)[0][0])


def during(rows: pl.DataFrame, lo: int, hi: int) -> pl.DataFrame:
    """Return the rows, in order of time, whose ``ts`` lies from ``lo`` to ``hi``."""
    first = rows["ts"].search_sorted(lo, side="left")
    return rows[first : rows["ts"].search_sorted(hi, side="right")]


def stalls(evidence: Evidence, known: Known, facts: Facts) -> Stalls:
    """Return the silences that have enough witnesses."""
    del known
    around = scene(evidence, facts)
    found = [
        stall
        for silence in facts[Silences].items
        if silence.service not in NO_PROCESS and (stall := judge(silence, around))
    ]
    return Stalls(tuple(merge(found)))


def judge(silence: Silence, around: Scene) -> Stall | None:
    """Weigh the witnesses of one silence."""
    end = silence.end if silence.end is not None else (around.last or silence.start)
    if lost(silence, end, around) or restarted(silence, end, around):
        return None
    by_probe, answered = probe_witness(silence, end, around)
    if answered > ANSWERED:
        return None
    found = [
        by_probe,
        call_witness(silence, end, around.slow),
        multiple_witness(silence, around),
        burst_witness(silence, around),
        timer_witness(silence, end, around),
        beat_witness(silence, end, around.periodic.get(silence.service, [])),
    ]
    witnesses = tuple(witness for witness in found if witness is not None)
    kinds = {witness.kind for witness in witnesses}
    strong = {witness.kind for witness in witnesses if is_strong(witness)}
    repeated = any(witness.kind == "multiples" and witness.n >= 2 for witness in witnesses)
    if len(kinds) < 2 and not (silence.end is None and strong):
        return None
    closed = silence.end
    if silence.end is None:
        if by_probe is None:
            return None
        closed = answered_again(by_probe, silence, around)
    if not strong and len(kinds) < 3 and not repeated:
        return None
    return extended(Stall(silence.service, silence.start, closed, silence.parts, witnesses, silence), around)


def is_strong(witness: Witness) -> bool:
    """Can one other witness confirm it? Several timers that know nothing of each other stop only with their process."""
    return witness.kind in STRONG or (
        witness.kind == "periodic" and len(witness.detail["templates"]) >= TIMERS
    )


def answered_again(witness: Witness, silence: Silence, around: Scene) -> int | None:
    """Return the first probe that was answered after the last bad one, if the log ended before: the stall was over by then."""
    after = [
        due.answered
        for series, _ in around.series
        if watches(series, silence, around)
        for due in series.dues
        if due.state == "answered" and due.answered and due.at > witness.detail["last"]
    ]
    return min(after, default=None)


def extended(stall: Stall, around: Scene) -> Stall:
    """Move the start back over an earlier pause that ended with waits as long as the pause itself.

    The first wait may be too short to stand out from the service's usual pauses; that the failures printed at its end
    began when it began tells that the process waited.
    """
    failed = around.failed.get(stall.service)
    if failed is None:
        return stall
    rows = leading(around.lines[stall.service], stall.start).rows(named=True)
    for before, after in zip(reversed(rows[:-1]), reversed(rows[1:]), strict=True):
        if stall.start - after["lo"] > 3 * SECOND:
            break
        pause = after["lo"] - before["hi"]
        held = during(failed, after["lo"], after["hi"] + MULTIPLE_US).filter(
            (pl.col("began") < pl.col("ts")) & (pl.col("began") <= before["hi"] + MULTIPLE_US)
        )
        if pause >= 2 * SECOND and held.height:
            silence = replace(
                stall.silence, before=Ref(before["tail"]["source"], before["tail"]["last_line"])
            )
            return replace(
                stall, start=before["hi"], parts=((before["hi"], after["lo"]), *stall.parts), silence=silence
            )
    return stall


def leading(lines: pl.DataFrame, until: int) -> pl.DataFrame:
    """Return the last seconds with lines up to an instant: when their lines began (``lo``) and ended (``hi``), and the last (``tail``)."""
    at = lines["second"]
    stop = at.search_sorted(until // SECOND, side="right")
    # A second has several rows, by source and kind: so many that the seconds before the last are among them.
    first = at[max(0, stop - 1)]
    for _ in range(LOOK_BACK):
        first = at[max(0, at.search_sorted(first, side="left") - 1)]
    part = lines[at.search_sorted(first, side="left") : stop].filter(pl.col("first_us") <= until)
    return part.group_by("second").agg(
        lo=pl.col("first_us").min(), hi=pl.col("last_us").max(), tail=pl.struct("source", "last_line").sort_by("last_us", "source").last()
    ).sort("second").tail(LOOK_BACK)  # fmt: skip


def lost(silence: Silence, end: int, around: Scene) -> bool:
    """Did journald drop lines of the service in or right after the silence?"""
    return any(silence.start <= at <= end + 60 * SECOND for at in around.losses.get(silence.service, ()))


def restarted(silence: Silence, end: int, around: Scene) -> bool:
    """Was the process gone for a part of the silence?"""
    return any(
        item.start < end and (item.end or end) > silence.start
        for item in around.outages.get(silence.service, ())
    )


def probe_witness(silence: Silence, end: int, around: Scene) -> tuple[Witness | None, float]:
    """Return unanswered probes inside the silence, and the share of those that were answered in time."""
    worst: Witness | None = None
    share = 0.0
    for series, times in around.series:
        if not watches(series, silence, around):
            continue
        grace = round((series.timeout_s or series.jitter_s) * SECOND) + MARGIN_US
        dues = series.dues[bisect_left(times, silence.start - grace) : bisect_left(times, end)]
        inside = [due for due in dues if silence.start + grace <= due.at < end - MARGIN_US]
        bad = [
            due
            for due in dues
            if due.state in ("missed", "failed", "late") and outcomes.unanswered(due.state, due.error)
        ]
        if inside:
            share = max(share, sum(due.state == "answered" for due in inside) / len(inside))
        if bad and (worst is None or len(bad) > worst.n):
            refs = tuple(due.ref for due in bad if due.ref)[:6]
            worst = Witness(
                "probes", len(bad), refs, {"series": series.name, "first": bad[0].at, "last": bad[-1].at}
            )
    return worst, share


def watches(series: Series, silence: Silence, around: Scene) -> bool:
    """Does a probe series watch this service?

    A monitor names no service: it watches one that shows periodic probes in its own log, or, where no log does, the one
    service that answers requests at all.
    """
    if series.service is not None:
        return series.service == silence.service
    return silence.service in around.watched


def call_witness(silence: Silence, end: int, slow: pl.DataFrame) -> Witness | None:
    """Return calls of other services that were in flight through the silence."""
    limit = end + MARGIN_US
    first = slow["ts"].search_sorted(silence.start + MARGIN_US, side="right")
    hung = slow[first:].filter(
        (pl.col("service") != silence.service)
        & (pl.col("began") < end)
        & (pl.col("began") > silence.start - 120 * SECOND)
    )
    inside = hung.filter(
        (pl.min_horizontal("ts", pl.lit(limit)) - pl.max_horizontal("began", pl.lit(silence.start)))
        >= 0.6 * (pl.col("ts") - pl.col("began"))
    )
    if inside.height < 2:
        return None
    inside = inside.filter(pl.col("op").is_in(unusual_ops(slow, silence, end)))
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


def unusual_ops(slow: pl.DataFrame, silence: Silence, end: int) -> list[str]:
    """Return the operations that hang only around the silence: one that is always slow is no witness."""
    near = pl.col("ts").is_between(silence.start - MARGIN_US, end + 150 * SECOND)
    counted = slow.group_by("op").agg(inside=near.sum(), outside=(~near).sum())
    return counted.filter(pl.col("inside") > 2 * pl.col("outside"))["op"].sort().to_list()


def multiple_witness(silence: Silence, around: Scene) -> Witness | None:
    """Return parts of the silence that last a whole number of pool waits and end with such a failure."""
    for signature, wait in around.groups.get(silence.service, ()):
        if wait < 2 * SECOND:
            continue
        fits = [
            (lo, hi)
            for lo, hi in silence.parts
            if hi - lo >= wait - MULTIPLE_US
            and abs((hi - lo) - round((hi - lo) / wait) * wait) <= MULTIPLE_US
        ]
        rows = around.failed[silence.service]
        printed = printed_at([hi for _, hi in fits], rows, MULTIPLE_US).filter(
            pl.col("signature") == signature
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


def printed_at(edges: list[int], rows: pl.DataFrame, early: int) -> pl.DataFrame:
    """Return the failures printed at some edges of a silence, at most ``early`` before and :data:`MARGIN_US` after one."""
    if not edges:
        return rows.clear()
    near = [pl.col("ts").is_between(edge - early, edge + MARGIN_US) for edge in edges]
    return during(rows, min(edges) - early, max(edges) + MARGIN_US).filter(pl.any_horizontal(near))


def burst_witness(silence: Silence, around: Scene) -> Witness | None:
    """Return the burst of lines that came when the silence ended."""
    if silence.end is None or silence.after is None:
        return None
    usual = around.usual.get(silence.service, 1.0)
    if silence.burst_after < BURSTING * usual or silence.burst_after < 5:
        return None
    return Witness("burst", silence.burst_after, (silence.after,), {"usual": usual})


def timer_witness(silence: Silence, end: int, around: Scene) -> Witness | None:
    """Return timeouts of clients whose timers run on the same loop, printed when the silence or a part of it ended."""
    rows = around.failed.get(silence.service)
    if rows is None:
        return None
    timers = pl.col("family") == "redis_timeout"
    near = printed_at([hi for _, hi in silence.parts] + [end], rows, MARGIN_US).filter(timers)
    if not near.height or near.height < 0.5 * rows.select(timers.sum()).item():
        return None
    refs = tuple(Ref(source, line) for source, line in near.head(3).select("source", "line").iter_rows())
    return Witness("timers", near.height, refs)


def beat_witness(silence: Silence, end: int, lines: list[PeriodicLine]) -> Witness | None:
    """Return what the service prints at a beat of its own and did not print in the whole minutes of the silence."""
    first, stop = -(-silence.start // MINUTE), end // MINUTE
    if stop <= first:
        return None
    missing: dict[str, int] = {}
    refs: list[Ref] = []
    for line in lines:
        due = round(line.per_minute * (stop - first)) - int(
            line.rows.filter(pl.col("minute").is_between(first, stop - 1))["n"].sum()
        )
        before = line.rows.filter(pl.col("minute") < first)
        if due >= max(MISSING, ABSENT * line.per_minute * (stop - first)) and before.height:
            missing[line.template] = due
            last = before["last"][-1]
            refs.append(Ref(last["source"], last["last_line"]))
    if not missing:
        return None
    return Witness("periodic", sum(missing.values()), tuple(refs[:4]), {"templates": sorted(missing)})


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
    needs=(Silences, Probes, Failures, Restarts, Losses, Periodic),
)
