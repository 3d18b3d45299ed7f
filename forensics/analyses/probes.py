"""Was every probe answered when it was due?

A periodic client is a metronome that someone else installed. The beat is the median gap, so that the incident cannot
move its own yardstick. Between two arrivals on the beat the due times are known; an arrival off the beat is a late
answer to the last due time before it, or to an earlier one (its rivals). uvicorn and others write no line when the
peer has gone, so "missed" means "not in time", never "not served".
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.model.facts import Coverage, Due, Facts, LongRun, Losses, Probes, Restarts, Series
from forensics.model.frames import middle, most
from forensics.model.plug import Analysis
from forensics.model.source import Ref

if TYPE_CHECKING:
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
"""Stamps of whole seconds move a gap by up to this much, in microseconds."""
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


@dataclass(frozen=True, slots=True)
class Away:
    """When a service was not there, and when its lines are lost."""

    down: list[tuple[int, int]]
    lost: list[tuple[int, int]]


def probes(evidence: Evidence, known: Known, facts: Facts) -> Probes:
    """Return every probe series: the monitors' own results, and periodic clients in access logs."""
    own = [
        series
        for (name, _), part in evidence["beats"]
        .sort("monitor", "ts")
        .group_by("monitor", "source", maintain_order=True)
        if (series := from_beats(str(name), part, evidence, known))
    ]
    seen = from_arrivals(evidence, known, facts)
    return Probes((*own, *[without_blind(series, own) for series in seen]))


def from_beats(name: str, part: pl.DataFrame, evidence: Evidence, known: Known) -> Series | None:
    """Return the series of one monitor; each of its results was a due probe."""
    # A result that says neither yes nor no is none: it must not count as a failure.
    rows = part.filter(pl.col("ts").is_not_null() & pl.col("status").is_not_null()).sort("ts").to_dicts()
    if len(rows) < (2 if rows and rows[0]["period_s"] else FEWEST // 2):
        return None
    times = [row["ts"] for row in rows]
    # Several results at one instant are no beat: two targets under one name, or two places that probe together.
    gaps = [b - a for a, b in pairwise(times) if b > a]
    if not gaps:
        return None
    period = rows[0]["period_s"] or median(gaps) / SECOND
    hint = match_hint(known, name, None, period)
    timeout = (hint and hint.timeout_s) or rows[0]["timeout_s"] or stated_timeout(rows)
    dues = tuple(due_of(row, timeout) for row in rows)
    stated = rows[0]["period_s"]
    beats = [stated * SECOND] * (len(times) - 1) if stated else local_beats(times, period * SECOND)
    usual = period * SECOND
    holes = tuple(
        (a["ts"], b["ts"], missing, ref(a), ref(b))
        for (a, b), beat in zip(pairwise(rows), beats, strict=True)
        if (missing := round((b["ts"] - a["ts"] - busy(a, b, usual)) / beat) - 1) >= BLIND_FROM
        and a["status"] != "maintenance"
    )
    runs = tuple(
        LongRun(b["ts"], (b["ts"] - a["ts"]) / SECOND, took / SECOND, ref(b))
        for a, b in pairwise(rows)
        if (took := busy(a, b, usual)) and round((b["ts"] - a["ts"]) / usual) - 1 >= BLIND_FROM
    )
    jitter = median(abs(gap / SECOND - period) for gap in gaps)
    return Series(
        name=(hint and hint.name) or name, seen_by="monitor", service=None, period_s=round(period, 3), jitter_s=round(jitter, 3), timeout_s=timeout,
        alert_after=(hint and hint.alert_after) or stated_rule(evidence, part), dues=dues, gaps=holes,
        paused=bool(rows[-1]["paused"]), until=newest(evidence, part["source"][0]), runs=runs,
    )  # fmt: skip


def busy(before: dict[str, Any], after: dict[str, Any], beat: float) -> int:
    """Return how long the run of one of two results took, in microseconds, where that is longer than the beat; else 0.

    A job that looks at one thing after another is late with its next result when it had more to do; it was at work all the while.
    Its time may be that of its begin or of its end, so that either result may tell of the pause between them.
    """
    took = max(round((row["latency_ms"] or 0) * 1000) for row in (before, after))
    return took if beat < took <= after["ts"] - before["ts"] + beat else 0


def local_beats(times: list[int], usual: float) -> list[float]:
    """Return the longer of the usual gaps around each gap, never below the usual one, in microseconds.

    An interval that was set anew, and two places that take turns, leave long gaps again and again; a monitor that looked
    away leaves one among shorter ones.
    """
    gaps = [b - a for a, b in pairwise(times)]
    found = []
    for index in range(len(gaps)):
        near = sorted(gaps[max(0, index - AROUND) : index] + gaps[index + 1 : index + 1 + AROUND])
        found.append(max(usual, float(near[LONGER * len(near) // 10])) if near else usual)
    return found


def newest(evidence: Evidence, source: int) -> tuple[int, Ref] | None:
    """Return the last result of any target in one source."""
    rows = evidence["beats"].filter((pl.col("source") == source) & pl.col("ts").is_not_null())
    if not rows.height:
        return None
    row = rows.sort("ts", "line").row(-1, named=True)
    return row["ts"], ref(row)


def due_of(row: dict[str, Any], timeout: float | None) -> Due:
    """Turn one result of a monitor into a due probe."""
    if row["status"] == "up":
        took = row["latency_ms"]
        late = took is not None and timeout is not None and took > timeout * 1000
        answered = row["ts"] + round((took or 0) * 1000)
        return Due(row["ts"], "late" if late else "answered", answered, ref=ref(row))
    return Due(
        row["ts"], "blind" if row["status"] == "maintenance" else "failed", ref=ref(row), error=row["error"]
    )


def stated_timeout(rows: list[dict[str, Any]]) -> float | None:
    """Return the timeout that a monitor's own error texts name, in seconds."""
    for row in rows:
        if row["error"] and (match := TIMEOUT.search(row["error"])):
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
    arrivals = evidence["arrivals"].filter(pl.col("ts").is_not_null())
    covers = {
        service: (lo, hi)
        for service, lo, hi in evidence["seconds"]
        .group_by("service")
        .agg(lo=pl.col("first_us").min(), hi=pl.col("last_us").max())
        .iter_rows()
    }
    found: list[Series] = []
    taken: set[tuple[str, str]] = set()
    keys = ["service", "method", "route", "client", "agent"]
    beating = arrivals.join(candidates(arrivals, keys), on=keys, how="semi").sort(
        "service", "route", "method", "client", "agent", "ts", "line"
    )
    for _, part in beating.group_by(keys, maintain_order=True):
        row = part.select(keys).row(0, named=True)
        lo, hi = covers[row["service"]]
        if part["ts"][-1] - part["ts"][0] < PRESENT * (hi - lo):
            continue
        if series := periodic(part, row, evidence, known, facts):
            found.append(series)
            taken.add((row["service"], row["route"]))
    health = arrivals.filter(pl.col("route").str.contains(HEALTH)).group_by(
        "service", "method", "route", maintain_order=True
    )
    for (service, method, route), part in health:
        if (str(service), str(route)) not in taken and (part.height >= FEWEST or exact_beat(part)):
            row = {"service": service, "method": method, "route": route, "client": None, "agent": ""}
            if series := periodic(part.sort("ts", "line"), row, evidence, known, facts):
                found.append(series)
    return found


def exact_beat(part: pl.DataFrame) -> bool:
    """Do a few requests for a health check lie at one distance? A short export holds no more of them."""
    gaps = part["ts"].sort().diff().drop_nulls()
    beat = middle(gaps)
    return len(gaps) >= FEW - 1 and bool(beat) and bool(((gaps - beat).abs() <= EXACT * (beat or 0)).all())


def candidates(arrivals: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Return the clients whose gaps look like a beat at all: most lie on the median gap or a multiple of it.

    One pass over all arrivals, so that thousands of ordinary clients cost nothing more.
    """
    gaps = arrivals.sort(*keys, "ts").with_columns(gap=pl.col("ts").diff().over(keys)).drop_nulls("gap")
    beat = gaps.with_columns(beat=pl.col("gap").median().over(keys)).filter(
        pl.col("beat") >= SHORTEST_S * SECOND
    )
    off = (pl.col("gap") - (pl.col("gap") / pl.col("beat")).round() * pl.col("beat")).abs()
    tolerance = pl.max_horizontal(pl.lit(float(ROUNDING)), OFF_BEAT * pl.col("beat"))
    return (
        beat.group_by(keys)
        .agg(n=pl.len(), on=(off <= tolerance).mean())
        .filter((pl.col("n") >= FEWEST - 1) & (pl.col("on") >= STEADY_HEALTH))
        .select(keys)
    )


def periodic(
    part: pl.DataFrame, key: dict[str, Any], evidence: Evidence, known: Known, facts: Facts
) -> Series | None:
    """Return the series of one client if it keeps a beat."""
    rows = part.select("ts", "status", "source", "line").to_dicts()
    times = [row["ts"] for row in rows]
    gaps = [b - a for a, b in pairwise(times)]
    period = float(median(gaps))
    if period < SHORTEST_S * SECOND:
        return None
    tolerance = max(ROUNDING, OFF_BEAT * period)
    on_beat = [
        gap for gap in gaps if gap > period / 2 and abs(gap - round(gap / period) * period) <= tolerance
    ]
    steady = STEADY_HEALTH if re.search(HEALTH, key["route"]) else STEADY
    if len(on_beat) < steady * len(gaps):
        return None
    single = [gap for gap in on_beat if round(gap / period) == 1]
    if len(single) < steady / 2 * len(gaps):
        return None
    period = sum(single) / len(single)
    jitter = median(abs(gap - period) for gap in single)
    if jitter > max(JITTER * period, ROUNDING / 2):
        return None
    who = f" from {key['client']}" if key["client"] else ""
    name = f"{key['method']} {key['route']}{who}"
    hint = match_hint(known, f"{key['method']} {key['route']}", key["client"], period / SECOND)
    dues, holes = classify(
        rows,
        period,
        tolerance,
        activity(evidence, key["service"], key["route"]),
        away(evidence, key["service"], facts),
    )
    return Series(
        name=name, seen_by="service", service=key["service"], period_s=round(period / SECOND, 3), jitter_s=round(jitter / SECOND, 3),
        timeout_s=hint.timeout_s if hint else None, alert_after=hint.alert_after if hint else None, dues=dues,
        gaps=holes if hint or re.search(HEALTH, key["route"]) else (), client=key["client"],  # a page's timer is no monitor
    )  # fmt: skip


def activity(evidence: Evidence, service: str, route: str) -> list[int]:
    """Return the instants at which a service answered other requests, in seconds."""
    del route
    requests = evidence["seconds"].filter((pl.col("service") == service) & (pl.col("kind") == "request"))
    return requests["second"].unique().sort().to_list()


def away(evidence: Evidence, service: str, facts: Facts) -> Away:
    """Return when a service was not there, and when its lines are declared as lost, since the one before."""
    down = [
        (item.start, item.end or facts[Coverage].last or item.start)
        for item in facts[Restarts].outages
        if item.service == service
    ]
    printed = evidence["seconds"].filter(pl.col("service") == service)
    lost = []
    for loss in facts[Losses].items:
        if loss.service == service:
            before = printed.filter(pl.col("last_us") < loss.at - ROUNDING)["last_us"]
            lost.append((most(before) or loss.at, loss.at))
    return Away(down, lost)


def classify(
    rows: list[dict[str, Any]], period: float, tolerance: float, active: list[int], gone: Away
) -> tuple[tuple[Due, ...], tuple[tuple[int, int, int, Ref, Ref], ...]]:
    """Say what became of each due time between the first and the last arrival."""
    regular = [index for index in range(len(rows)) if is_regular(rows, index, period, tolerance)]
    dues: list[Due] = [answer(rows[index]) for index in regular]
    holes: list[tuple[int, int, int, Ref, Ref]] = []
    for left, right in pairwise(regular):
        a, b = rows[left], rows[right]
        steps = round((b["ts"] - a["ts"]) / period)
        expected = [a["ts"] + round((b["ts"] - a["ts"]) * step / steps) for step in range(1, steps)]
        strays = rows[left + 1 : right]
        if not expected:
            continue
        alive = sum(served_between(active, due - period / 2, due + period / 2) for due in expected)
        # A service that was not there answered nobody, and a line that was dropped tells nothing of who asked.
        unsure = [due for due in expected if within(due, gone.lost, tolerance)]
        absent = [due for due in expected if within(due, gone.down, 0)]
        told = len(expected) - len({*unsure, *absent})
        if not strays and told < BLIND_FROM and (unsure or absent):
            dues.extend(Due(due, "blind" if due in unsure else "missed") for due in expected)
            continue
        if not strays and len(expected) >= BLIND_FROM and alive >= ALIVE * len(expected):
            holes.append((a["ts"], b["ts"], len(expected), ref(a), ref(b)))
            dues.extend(Due(due, "blind") for due in expected)
            continue
        dues.extend(assign(expected, strays, period, tolerance))
    return tuple(sorted(dues, key=lambda due: due.at)), tuple(holes)


def within(at: int, spans: list[tuple[int, int]], margin: float) -> bool:
    """Does an instant lie in one of some spans?"""
    return any(lo - margin <= at <= hi + margin for lo, hi in spans)


def is_regular(rows: list[dict[str, Any]], index: int, period: float, tolerance: float) -> bool:
    """Does an arrival keep the beat with a neighbour?"""
    at = rows[index]["ts"]
    near = [rows[other]["ts"] for other in (index - 1, index + 1) if 0 <= other < len(rows)]
    return any(abs(abs(other - at) - period) <= tolerance for other in near)


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


def served_between(active: list[int], lo: float, hi: float) -> bool:
    """Did the service answer anything in a span (microseconds)?"""
    at = bisect_right(active, lo / SECOND)
    return at < len(active) and active[at] <= hi / SECOND


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
    near = min(asked, key=lambda other: abs(other - at))
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
    needs=(Coverage, Losses, Restarts),
)
