"""Was every probe answered when it was due?

A periodic client is a metronome that someone else installed. The beat is the median gap, so that the incident cannot
move its own yardstick. Between two arrivals on the beat the due times are known; an arrival off the beat is a late
answer to the last due time before it, or to an earlier one (its rivals). uvicorn and others write no line when the
peer has gone, so "missed" means "not in time", never "not served".
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from statistics import median
from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.model.facts import Continuity, Coverage, Due, Facts, LongRun, Losses, Probes, Restarts, Series
from forensics.model.frames import middle
from forensics.model.plug import Analysis
from forensics.model.source import Ref

if TYPE_CHECKING:
    from collections.abc import Callable

    from forensics.model.digest import Evidence
    from forensics.model.known import Known, ProbeHint

SECOND = 1_000_000
FEWEST = 8
"""Fewer arrivals than this do not make a beat."""
FEW = 4
"""So few will do for a route that looks like a health check, if every gap is the same to within :data:`EXACT`."""
EXACT = 0.02
SHORTEST_S = 5.0
"""Faster clients are traffic, not probes."""
STEADY = 0.8
"""Share of gaps that must lie on the beat (or a multiple of it)."""
STEADY_HEALTH = 0.6
"""The same for routes that look like a health check: their answers are late when it matters."""
OFF_BEAT = 0.06
"""Tolerance around the beat, as a share of the period; at least :data:`ROUNDING`."""
ROUNDING = 700_000
"""A client's own timer and the way to the log move a gap by up to this much, in microseconds."""
WHOLE_SECONDS = 1_100_000
"""Two stamps that were cut to whole seconds move the gap between them by up to one, and the client by the rest."""
STAMP_US = 2 * SECOND
"""Stamps cut to whole seconds place an arrival and a step of the clock no better than this."""
JITTER = 0.025
"""A metronome's usual deviation, as a share of its period; people and page timers are less exact."""
PRESENT = 0.5
"""A probe is there for at least this share of the time that its service is covered; people close their tabs."""
HEALTH = r"(?i)health|alive|ready|ping$|status$|heartbeat|probe|monitor|up$"
ALIVE = 0.5
"""A run of due times without arrivals in most of which the service served others: the monitor did not ask."""
BLIND_FROM = 2
"""Missing beats from which a monitor counts as blind; one lost beat is jitter."""
AROUND = 10
"""Gaps before and after one that tell how long a gap was usual then."""
LONGER = 8
"""Tenths of those gaps that are no longer than the usual long one."""
TIMEOUT = re.compile(
    r"(?:timeout|timed out|exceeded)\D{0,20}(\d+(?:\.\d+)?) ?(ms|s)\b|(?:after|of) (\d+) ?(ms|s)\b",
    re.IGNORECASE,
)


CLIENT = ["service", "method", "route", "client", "agent"]
"""Columns that name who asks for what."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a service did besides answering a probe."""

    active: pl.Series
    """Seconds in which it answered any request, in order."""
    down: list[tuple[int, int]]
    """When it was not there."""
    lost: list[tuple[int, int]]
    """When its lines are lost."""
    skipped: tuple[tuple[int, int], ...]
    """What the clock jumped over."""


def probes(evidence: Evidence, known: Known, facts: Facts) -> Probes:
    """Return every probe series: the monitors' own results, and periodic clients in access logs."""
    own = [
        series
        for (name, _), part in evidence["beats"]
        .sort("monitor", "ts")
        .group_by("monitor", "source", maintain_order=True)
        if (series := from_beats(str(name), part, evidence, known, facts[Continuity].skipped()))
    ]
    seen = from_arrivals(evidence, known, facts)
    return Probes((*own, *[without_blind(series, own) for series in told_apart(seen)]))


def told_apart(seen: list[Series]) -> list[Series]:
    """Name the service, too, where one client asks several of them alike: ``GET /health (client-1, api-2)``."""
    times = Counter(series.name for series in seen)
    return [
        replace(series, name=f"{series.name.removesuffix(')')}, {series.service})")
        if times[series.name] > 1 and series.client
        else replace(series, name=f"{series.name} ({series.service})")
        if times[series.name] > 1
        else series
        for series in seen
    ]


def from_beats(
    name: str, part: pl.DataFrame, evidence: Evidence, known: Known, skipped: tuple[tuple[int, int], ...]
) -> Series | None:
    """Return the series of one monitor; each of its results was a due probe, and none was due while its clock jumped."""
    # A result that says neither yes nor no is none: it must not count as a failure.
    told = part.filter(pl.col("ts").is_not_null() & pl.col("status").is_not_null()).sort("ts")
    if told.height < (2 if told.height and told["period_s"][0] else FEWEST // 2):
        return None
    # Several results at one instant are no beat: two targets under one name, or two places that probe together.
    gaps = told["ts"].diff().drop_nulls()
    gaps = gaps.filter(gaps > 0)
    if not len(gaps):
        return None
    stated = told["period_s"][0]
    period = stated or (middle(gaps) or 0.0) / SECOND
    hint = match_hint(known, name, None, period)
    timeout = (hint and hint.timeout_s) or told["timeout_s"][0] or stated_timeout(told["error"])
    jitter = median(abs(gap / SECOND - period) for gap in gaps)
    holes, runs = unasked(told, period, skipped, stated=bool(stated))
    at_end = stamped_at_end(told)
    return Series(
        name=(hint and hint.name) or name, seen_by="monitor", service=None, period_s=round(period, 3), jitter_s=round(jitter, 3), timeout_s=timeout,
        alert_after=(hint and hint.alert_after) or stated_rule(evidence, part),
        dues=tuple(due_of(row, timeout, at_end=at_end) for row in told.iter_rows(named=True)), gaps=holes,
        paused=bool(told["paused"][-1]), until=newest(evidence, part["source"][0]), long_runs=runs,
    )  # fmt: skip


def unasked(
    rows: pl.DataFrame, period: float, skipped: tuple[tuple[int, int], ...], *, stated: bool
) -> tuple[tuple[tuple[int, int, int, Ref, Ref], ...], tuple[LongRun, ...]]:
    """Return the spans in which a monitor has no results although some were due, and those that a long run of it fills.

    A span is the last before, the first after, how many are missing, and the lines of both.
    """
    gaps = rows.select(pl.col("ts").diff().shift(-1) - jumped(skipped)).to_series()
    usual = period * SECOND
    # The beat around a gap is never shorter than the usual one: most gaps are settled by that.
    wide = gaps >= (BLIND_FROM + 0.5) * usual
    found, runs = [], []
    for index in (wide & (rows["status"] != "maintenance")).arg_true():
        beat = usual if stated else local_beat(gaps, index, usual)
        before, after = rows.row(index, named=True), rows.row(index + 1, named=True)
        took = busy(before, after, usual)
        missing = round((gaps[index] - took) / beat) - 1
        if missing >= BLIND_FROM:
            found.append((before["ts"], after["ts"], missing, ref(before), ref(after)))
        if took:
            runs.append(LongRun(after["ts"], gaps[index] / SECOND, took / SECOND, ref(after)))
    return tuple(found), tuple(runs)


def jumped(skipped: tuple[tuple[int, int], ...]) -> pl.Expr:
    """Tell how much of the time up to the next result the clock jumped over: a result inside such a span has another clock."""
    after = pl.col("ts").shift(-1)
    spans = [
        pl.when((pl.col("ts") <= lo + STAMP_US) & (after >= hi - STAMP_US)).then(hi - lo).otherwise(0)
        for lo, hi in skipped
    ]
    return pl.sum_horizontal(*spans) if spans else pl.lit(0)


def busy(before: dict[str, Any], after: dict[str, Any], beat: float) -> int:
    """Return how long the run of one of two results took, in microseconds, where that is longer than the beat; else 0.

    A job that looks at one thing after another is late with its next result when it had more to do; it was at work all the while.
    Its time may be that of its begin or of its end, so that either result may tell of the pause between them.
    """
    took = max(round((row["latency_ms"] or 0) * 1000) for row in (before, after))
    return took if beat < took <= after["ts"] - before["ts"] + beat else 0


def local_beat(gaps: pl.Series, index: int, usual: float) -> float:
    """Return the longer of the usual gaps around one gap, never below the usual one, in microseconds.

    An interval that was set anew, and two places that take turns, leave long gaps again and again; a monitor that looked
    away leaves one among shorter ones.
    """
    before, after = gaps[max(0, index - AROUND) : index], gaps[index + 1 : index + 1 + AROUND]
    near = sorted([*before, *after.drop_nulls()])
    return max(usual, float(near[LONGER * len(near) // 10])) if near else usual


def newest(evidence: Evidence, source: int) -> tuple[int, Ref] | None:
    """Return the last result of any target in one source."""
    rows = evidence["beats"].filter((pl.col("source") == source) & pl.col("ts").is_not_null())
    if not rows.height:
        return None
    row = rows.sort("ts", "line").row(-1, named=True)
    return row["ts"], ref(row)


def stamped_at_end(rows: pl.DataFrame) -> bool:
    """Does a result's time mark the end of its run? So it is where one took longer than the time to the next result, not since the last.

    A run that began at its stamp would not be over when the next one is.
    """
    took, since = (rows["latency_ms"] * 1000).fill_null(0), rows["ts"].diff()
    return bool(((took > since.shift(-1)) & (took <= since)).any())


def due_of(row: dict[str, Any], timeout: float | None, *, at_end: bool) -> Due:
    """Turn one result of a monitor into a due probe; ``at_end``: its time is when it was over."""
    if row["status"] == "up":
        took = row["latency_ms"]
        late = took is not None and timeout is not None and took > timeout * 1000
        answered = row["ts"] + (0 if at_end else round((took or 0) * 1000))
        return Due(row["ts"], "late" if late else "answered", answered, ref=ref(row))
    error = row["error"] or (f"HTTP {row['http_status']}" if row["http_status"] else None)
    return Due(row["ts"], "blind" if row["status"] == "maintenance" else "failed", ref=ref(row), error=error)


def stated_timeout(errors: pl.Series) -> float | None:
    """Return the timeout that a monitor's own error texts name, in seconds."""
    for text in errors.drop_nulls().unique(maintain_order=True):
        if match := TIMEOUT.search(text):
            number, unit = (match[1], match[2]) if match[1] else (match[3], match[4])
            return float(number) / (1000 if unit.lower() == "ms" else 1)
    return None


def stated_rule(evidence: Evidence, part: pl.DataFrame) -> int | None:
    """Return after how many failures the monitor alerts, if an alert of the same source says so."""
    alerts = evidence["alerts"].filter(pl.col("source").is_in(part["source"].unique().to_list()))
    for text in alerts["text"].drop_nulls():
        if match := re.search(r"after (\d+) failures", text):
            return int(match[1])
    return None


def match_hint(known: Known, name: str, client: str | None, period_s: float) -> ProbeHint | None:
    """Return the [[probe]] of the case file that means this series."""
    for hint in known.probes:
        by_client = hint.client is not None and client == hint.client
        by_path = hint.path is not None and (name.endswith(hint.path) or f"{hint.path} " in name)
        by_period = hint.period_s is not None and abs(hint.period_s - period_s) <= OFF_BEAT * period_s
        if by_client or (by_path and (by_period or hint.period_s is None)):
            return hint
    return None


def from_arrivals(evidence: Evidence, known: Known, facts: Facts) -> list[Series]:
    """Find periodic clients among the arrivals of each service; a route that looks like a health check may have many clients."""
    arrivals = evidence["arrivals"].select(*CLIENT, "ts", "status", "source", "line").drop_nulls("ts")
    clients = (
        arrivals.with_row_index("rows")
        .group_by(CLIENT)
        .agg("rows", n=pl.len(), first=pl.col("ts").min(), last=pl.col("ts").max(), at=pl.col("rows").min())
    )
    around = cache(lambda service: surroundings(evidence, service, facts))
    found: list[Series] = []
    taken: set[tuple[str, str]] = set()
    beating = candidates(arrivals["ts"], clients).sort("service", "route", "method", "client", "agent")
    for row, rows in zip(beating.drop("rows").iter_rows(named=True), beating["rows"], strict=True):
        cover = facts[Coverage].of(row["service"])
        if cover is None or row["last"] - row["first"] < PRESENT * (cover.last - cover.first):
            continue
        if series := periodic(arrivals[rows].sort("ts", "line"), row, known, around):
            found.append(series)
            taken.add((row["service"], row["route"]))
    health = (
        clients.filter(pl.col("route").str.contains(HEALTH))
        .group_by("service", "method", "route")
        .agg(pl.col("rows").explode(), pl.col("at").min(), client=pl.lit(None))
        .sort("at")
    )
    for row, rows in zip(health.drop("rows").iter_rows(named=True), health["rows"], strict=True):
        if (str(row["service"]), str(row["route"])) not in taken:
            part = arrivals[rows].sort("ts", "line")
            if (part.height >= FEWEST or exact_beat(part["ts"])) and (
                series := periodic(part, row, known, around)
            ):
                found.append(series)
    return found


def exact_beat(times: pl.Series) -> bool:
    """Do a few requests for a health check lie at one distance? A short export holds no more of them."""
    gaps = times.diff().drop_nulls()
    beat = middle(gaps)
    return len(gaps) >= FEW - 1 and bool(beat) and bool(((gaps - beat).abs() <= EXACT * (beat or 0)).all())


def candidates(times: pl.Series, clients: pl.DataFrame) -> pl.DataFrame:
    """Return the clients whose gaps look like a beat at all: most lie on the median gap or a multiple of it.

    One pass over all arrivals, so that thousands of ordinary clients cost nothing more. Half of a candidate's gaps are long enough, so
    that their sum is a bound that most clients fail at once.
    """
    slow = (
        clients.drop_nulls(CLIENT)
        .filter(
            (pl.col("n") >= FEWEST)
            & (pl.col("last") - pl.col("first") >= SHORTEST_S * SECOND * (pl.col("n") - 1) / 2)
        )
        .with_row_index("who")
    )
    rows = slow.select("who", "rows").explode("rows")
    gaps = (
        rows.select("who", ts=times.gather(rows["rows"]))
        .sort("who", "ts")
        .select("who", gap=pl.when(pl.col("who") == pl.col("who").shift()).then(pl.col("ts").diff()))
        .drop_nulls("gap")
    )
    beats = (
        gaps.group_by("who").agg(beat=pl.col("gap").median()).filter(pl.col("beat") >= SHORTEST_S * SECOND)
    )
    off = (pl.col("gap") - (pl.col("gap") / pl.col("beat")).round() * pl.col("beat")).abs()
    tolerance = pl.max_horizontal(pl.lit(float(ROUNDING)), OFF_BEAT * pl.col("beat"))
    steady = (
        gaps.join(beats, on="who")
        .group_by("who")
        .agg(on=(off <= tolerance).mean())
        .filter(pl.col("on") >= STEADY_HEALTH)
    )
    return slow.join(steady, on="who", how="semi")


def periodic(
    part: pl.DataFrame, key: dict[str, Any], known: Known, around: Callable[[str], Surroundings]
) -> Series | None:
    """Return the series of one client if it keeps a beat; its arrivals come in order of time."""
    gaps = part["ts"].diff().drop_nulls()
    period = middle(gaps) or 0.0
    if period < SHORTEST_S * SECOND:
        return None
    tolerance = max(rounding(part["ts"]), OFF_BEAT * period)
    beats = (gaps / period).round()
    on_beat = (gaps > period / 2) & ((gaps - beats * period).abs() <= tolerance)
    watching = re.search(HEALTH, key["route"]) is not None
    steady = STEADY_HEALTH if watching else STEADY
    single = gaps.filter(on_beat & (beats == 1))
    if on_beat.sum() < steady * len(gaps) or len(single) < steady / 2 * len(gaps):
        return None
    period = int(single.sum()) / len(single)
    jitter = median((single - period).abs())
    if jitter > max(JITTER * period, ROUNDING / 2):
        return None
    who = f" ({key['client']})" if key["client"] else ""
    name = f"{key['method']} {key['route']}{who}"
    hint = match_hint(known, f"{key['method']} {key['route']}", key["client"], period / SECOND)
    dues, holes = classify(part, period, tolerance, around(key["service"]))
    return Series(
        name=name, seen_by="service", service=key["service"], period_s=round(period / SECOND, 3), jitter_s=round(jitter / SECOND, 3),
        timeout_s=hint.timeout_s if hint else None, alert_after=hint.alert_after if hint else None, dues=dues,
        gaps=holes if hint or watching else (), client=key["client"], asks=(key["method"], key["route"]), checks=bool(hint) or watching,  # a page's timer is no monitor
    )  # fmt: skip


def rounding(times: pl.Series) -> int:
    """Return by how much stamps alone can move a gap, in microseconds: cut to whole seconds, by one either way."""
    return WHOLE_SECONDS if (times % SECOND == 0).all() else ROUNDING


def surroundings(evidence: Evidence, service: str, facts: Facts) -> Surroundings:
    """Return what a service did besides: when it answered any request, was not there, and lost lines since the one before."""
    printed = evidence["seconds"].filter(pl.col("service") == service)
    active = printed.filter(pl.col("kind") == "request")["second"].unique().sort().cast(pl.Float64)
    down = [
        (item.start, item.end or facts[Coverage].last or item.start)
        for item in facts[Restarts].outages
        if item.service == service
    ]
    losses = [loss.at for loss in facts[Losses].items if loss.service == service]
    lasts = printed["last_us"].sort() if losses else printed["last_us"].clear()
    before = [lasts.search_sorted(at - ROUNDING, side="left") for at in losses]
    lost = [(lasts[index - 1] if index else at, at) for index, at in zip(before, losses, strict=True)]
    return Surroundings(active, down, lost, facts[Continuity].skipped())


def classify(
    rows: pl.DataFrame, period: float, tolerance: float, around: Surroundings
) -> tuple[tuple[Due, ...], tuple[tuple[int, int, int, Ref, Ref], ...]]:
    """Say what became of each due time between the first and the last arrival; most were answered on the beat."""
    regular = rows.with_row_index("row").filter(on_the_beat(rows["ts"], period, tolerance))
    regular = regular.with_columns(jumped=jumped(around.skipped))
    dues: list[Due] = [answer(row) for row in regular.iter_rows(named=True)]
    open_ = regular["ts"].diff().shift(-1) - regular["jumped"] >= 1.5 * period
    holes: list[tuple[int, int, int, Ref, Ref]] = []
    for index in open_.arg_true():
        a, b = regular.row(index, named=True), regular.row(index + 1, named=True)
        length = b["ts"] - a["ts"] - a["jumped"]
        count = round(length / period)
        expected = due_between(a["ts"], length, count, around.skipped if a["jumped"] else ())
        strays = rows[a["row"] + 1 : b["row"]].to_dicts()
        if not strays and (excused := unheard(expected, tolerance, around)):
            dues.extend(excused)
        elif not strays and looked_away(expected, period, around.active):
            holes.append((a["ts"], b["ts"], len(expected), ref(a), ref(b)))
            dues.extend(Due(due, "blind") for due in expected)
        else:
            dues.extend(assign(expected, strays, period, tolerance))
    return tuple(sorted(dues, key=lambda due: due.at)), tuple(holes)


def due_between(start: int, length: int, count: int, skipped: tuple[tuple[int, int], ...]) -> list[int]:
    """Return when probes were due inside ``count`` beats; what the clock jumped over comes on top of their ``length``."""
    dues = [start + round(length * step / count) for step in range(1, count)]
    for lo, hi in sorted(skipped):
        dues = [due + (hi - lo) if start <= lo + STAMP_US and due > lo else due for due in dues]
    return dues


def on_the_beat(times: pl.Series, period: float, tolerance: float) -> pl.Series:
    """Tell which arrivals keep the beat with a neighbour."""
    kept = ((times.diff() - period).abs() <= tolerance).fill_null(value=False)
    return kept | kept.shift(-1, fill_value=False)


def unheard(expected: list[int], tolerance: float, around: Surroundings) -> list[Due]:
    """Return what became of dues of which too few could be heard: none where enough of them tell something.

    A service that was not there answered nobody, and a line that was dropped tells nothing of who asked.
    """
    unsure = {due for due in expected if within(due, around.lost, tolerance)}
    silent = unsure | {due for due in expected if within(due, around.down, 0)}
    if not silent or len(expected) - len(silent) >= BLIND_FROM:
        return []
    return [Due(due, "blind" if due in unsure else "missed") for due in expected]


def within(at: int, spans: list[tuple[int, int]], margin: float) -> bool:
    """Does an instant lie in one of some spans?"""
    return any(lo - margin <= at <= hi + margin for lo, hi in spans)


def looked_away(expected: list[int], period: float, active: pl.Series) -> bool:
    """Did the service serve others at most of some due times at which nobody asked?"""
    if len(expected) < BLIND_FROM:
        return False
    dues = pl.Series(expected, dtype=pl.Float64)
    next_served = active.search_sorted((dues - period / 2) / SECOND, side="right")
    served = active.extend_constant(None, 1).gather(next_served) <= (dues + period / 2) / SECOND
    return served.sum() >= ALIVE * len(expected)


def assign(expected: list[int], strays: list[dict[str, Any]], period: float, tolerance: float) -> list[Due]:
    """Give each late arrival to the last due time before it that has none yet; earlier open ones are its rivals."""
    late: dict[int, tuple[dict[str, Any], tuple[int, ...]]] = {}
    for row in strays:
        open_ = [due for due in expected if due <= row["ts"] + tolerance and due not in late]
        if open_:
            late[open_[-1]] = (row, tuple(reversed(open_[:-1]))[:3])
    made = []
    for due in expected:
        if due not in late:
            made.append(Due(due, "missed"))
            continue
        row, rivals = late[due]
        state = "answered" if row["ts"] - due <= min(tolerance, period / 2) else "late"
        made.append(Due(due, state, row["ts"], rivals if state == "late" else (), ref(row)))
    return made


def answer(row: dict[str, Any]) -> Due:
    """Return an arrival on the beat; a 5xx answer is a failed probe."""
    failed = row["status"] is not None and row["status"] >= 500
    return Due(
        row["ts"],
        "failed" if failed else "answered",
        row["ts"],
        ref=ref(row),
        error=f"HTTP {row['status']}" if failed else None,
    )


def without_blind(series: Series, own: list[Series]) -> Series:
    """Set what the service seems to have missed against what the monitor itself recorded.

    Where the monitor did not ask, nothing was missed. Where it did, its own result tells what became of the probe, and
    the service's log is not evidence that it looked away.
    """
    same = [other for other in own if abs(other.period_s - series.period_s) <= OFF_BEAT * series.period_s]
    if not same:
        return series
    other = same[0]
    holes = [(lo, hi) for lo, hi, *_ in other.gaps]
    asked = sorted(due.at for due in other.dues)
    by_time = {due.at: due for due in other.dues}
    reach = round(series.period_s / 3 * SECOND)
    dues = tuple(reconcile(exact(due, asked, reach), holes, asked, by_time, reach) for due in series.dues)
    gaps = tuple(
        gap
        for gap in series.gaps
        if any(min(gap[1], hi) - max(gap[0], lo) > 0.5 * (gap[1] - gap[0]) for lo, hi in holes)
        or not (asked and asked[0] < gap[0] and gap[1] < asked[-1])
    )
    return replace(series, dues=dues, gaps=gaps)


def exact(due: Due, asked: list[int], reach: int) -> Due:
    """Date a probe that got no answer in time by the instant at which the monitor says it sent it."""
    if due.state not in ("missed", "late"):
        return due
    return replace(
        due,
        at=nearest(asked, due.at, reach),
        rivals=tuple(nearest(asked, rival, reach) for rival in due.rivals),
    )


def nearest(asked: list[int], at: int, reach: int) -> int:
    """Return the recorded instant nearest to another, or that one where none is near."""
    index = bisect_left(asked, at)
    near = min(asked[max(0, index - 1) : index + 1], key=lambda other: abs(other - at))
    return near if abs(near - at) <= reach else at


def reconcile(
    due: Due, holes: list[tuple[int, int]], asked: list[int], by_time: dict[int, Due], reach: int
) -> Due:
    """Return one due time in the light of the monitor's own record."""
    if due.state not in ("missed", "blind", "late"):
        return due
    if any(lo < due.at < hi for lo, hi in holes):
        return replace(due, state="blind")
    at = bisect_right(asked, due.at - reach)
    if at >= len(asked) or asked[at] > due.at + reach:
        return due
    said = by_time[asked[at]]
    if due.state == "late":
        return replace(due, state="answered", rivals=()) if said.state == "answered" else due
    return replace(due, state="missed" if said.state == "failed" else "blind", ref=said.ref, error=said.error)


def ref(row: dict[str, Any]) -> Ref:
    """Return the place of a row."""
    return Ref(row["source"], row["line"])


PLUG = Analysis(
    name="probes",
    question="Was every probe answered when it was due?",
    gives=Probes,
    run=probes,
    needs=(Continuity, Coverage, Losses, Restarts),
)
