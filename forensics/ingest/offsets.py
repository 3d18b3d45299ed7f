"""Offsets of stamps without a zone: what other inputs tell of them.

In this order: the same lines stand in another input with an offset; the same requests do; another input of no zone was found to
have one, and with it these lines fall among the dated ones while as assumed they don't. A span alone that would fit is told and
never applied.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from forensics.ingest.understand import route
from forensics.ingest.wall import MINUTE, SECOND, in_years
from forensics.model.frames import least, most
from forensics.model.source import Zone

if TYPE_CHECKING:
    from collections.abc import Mapping

    from forensics.ingest.wall import Facts, Rule

OFFSETS_MIN = (
    *range(-12 * 60, 14 * 60 + 1, 60),
    *(-570, -210, -150, 210, 270, 330, 345, 390, 525, 570, 630, 765, 825),
)
"""Offsets that zones have, in minutes: whole hours, and those of a few (IANA tz database, since 2019)."""
SAME_MINUTES = 3
"""Minutes of equal content that must agree on an offset before it is believed."""
AGREE = 0.8
"""Share of what is found in both that must agree on the offset."""
SAME_REQUESTS = 5
"""Requests in both that must agree on an offset before it is believed."""
SAMPLE = 2000
"""Requests of a source that are looked up in the others."""
NEAR_S = 2
"""Seconds between the two lines of one request."""
SLACK = 15 * MINUTE
"""How far a log may reach beyond the others and still belong among them: less than two zones differ."""
Found = tuple[pl.DataFrame, Zone]
"""(minute, offset_min) as in :class:`forensics.ingest.wall.Rule`, and how it is known."""


WHAT = ["method", "route", "status"]
"""What tells requests of two logs to be the same, beside their time."""
REQUEST = r"^(?P<method>[A-Z]+) (?P<path>\S+)"


def found(
    frames: dict[str, pl.DataFrame],
    rules: Mapping[int, Rule],
    zones: Mapping[int, Zone],
    facts: tuple[Facts, ...],
) -> tuple[dict[int, Rule], dict[int, Zone]]:
    """Return rules and zones with the offsets that other inputs tell, for sources whose zone is only assumed."""
    names = {fact.source.index: fact.source.name for fact in facts}
    open_ = [index for index in sorted(rules) if zones[index].rule in ("assumed", "unknown")]
    known: dict[int, Found] = {}
    for index in open_:
        one = (
            by_lines(frames["sketch"], index, rules, names)
            or by_requests(frames["arrivals"], frames["arrivals"], WHAT, index, rules, names)
            or by_requests(named_requests(frames["hits"]), frames["arrivals"], WHAT[:2], index, rules, names)
        )
        if one:
            known[index] = one
    spans = all_spans(frames)
    dated = among(spans, [index for index in spans if index not in rules])
    zones = dict(zones)
    for index in open_:
        if index in known or dated is None or index not in spans:
            continue
        wall = in_span(spans[index], rules[index])
        if one := by_sibling(wall, dated, known, names):
            known[index] = one
        elif said := hint(wall, dated, known, names):
            zones[index] = replace(zones[index], why=f"{zones[index].why}; {said}")
    return (
        {
            index: replace(rule, offsets=known[index][0]) if index in known else rule
            for index, rule in rules.items()
        },
        {**zones, **{index: zone for index, (_, zone) in known.items()}},
    )


def by_lines(
    sketch: pl.DataFrame, index: int, rules: Mapping[int, Rule], names: Mapping[int, str]
) -> Found | None:
    """Find the offset from minutes whose lines another input shows with an offset."""
    mine = sketch.filter((pl.col("source") == index) & pl.col("naive"))
    mine = mine.with_columns(minute=in_years(mine, rules[index], "minute", MINUTE) // MINUTE)
    mine = mine.group_by("minute", "lane", "ident").agg(pl.col("n").sum(), pl.col("hash").sum()).drop_nulls()
    # A heartbeat says the same every minute, and would fit at any offset: only what was said once tells when.
    mine = mine.filter(pl.col("hash").is_unique())
    others = sketch.filter(~pl.col("source").is_in(list(rules)))
    pairs: list[pl.DataFrame] = []
    for key in ("ident", "service"):
        theirs = others.group_by("source", "minute", "lane", key).agg(pl.col("n").sum(), pl.col("hash").sum())
        theirs = theirs.filter(pl.struct("source", "hash").is_unique()).rename(
            {"minute": "utc", key: "other"}
        )
        pairs.append(mine.join(theirs, on=["lane", "n", "hash"]).select("source", "minute", "utc", "n"))
    same = pl.concat(pairs).with_columns(offset_min=pl.col("minute") - pl.col("utc"))
    same = same.filter(pl.col("offset_min").is_in(list(OFFSETS_MIN))).unique()
    best = same.group_by("source", "offset_min").agg(minutes=pl.col("minute").n_unique())
    best = best.filter(pl.col("minutes") >= SAME_MINUTES).sort(
        ["minutes", "source", "offset_min"], descending=[True, False, False]
    )
    if not best.height:
        return None
    source = int(best["source"][0])
    offsets = best.filter(pl.col("source") == source).sort("minutes", descending=True)["offset_min"].to_list()
    matched = same.filter((pl.col("source") == source) & pl.col("offset_min").is_in(offsets[:2]))
    steps = (
        matched.group_by("minute")
        .agg(pl.col("offset_min").mode().min())
        .sort("minute")
        .select("minute", "offset_min")
    )
    share = float((steps["offset_min"] == offsets[0]).mean() or 0.0)
    if share >= AGREE:
        steps = steps.filter(pl.col("offset_min") == offsets[0])
    elif not in_two_pieces(steps["offset_min"]):
        return None
    told = " → ".join(offset_name(value) for value in dict.fromkeys(steps["offset_min"].to_list()))
    why = f"{steps.height} minutes of its lines stand in {names[source]} with their offset from UTC"
    return steps, Zone(told, "inferred", why)


def named_requests(hits: pl.DataFrame) -> pl.DataFrame:
    """Return the requests that errors name, as nginx's error log does: method and route, without a status."""
    named = hits.filter(pl.col("parameters").str.contains('"request":"', literal=True))
    parts = pl.col("parameters").str.json_path_match("$.request").str.extract_groups(REQUEST)
    return (
        named.select("source", "naive", "line", "ts", said=parts)
        .unnest("said")
        .with_columns(route=route(pl.col("path")))
    )


def by_requests(
    requests: pl.DataFrame,
    arrivals: pl.DataFrame,
    what: list[str],
    index: int,
    rules: Mapping[int, Rule],
    names: Mapping[int, str],
) -> Found | None:
    """Find the offset at which another input logs the same requests (``what`` they have in common) within :data:`NEAR_S`.

    It must be the only one: a probe alone would fit at every quarter of an hour.
    """
    mine = requests.filter((pl.col("source") == index) & pl.col("naive")).sort("line").head(SAMPLE)
    theirs = arrivals.filter(~pl.col("source").is_in(list(rules)) & pl.col("ts").is_not_null())
    if mine.height < SAME_REQUESTS or not theirs.height:
        return None
    wall = mine.select(*what, wall=in_years(mine, rules[index], "ts", 1)).drop_nulls("wall")
    offsets = pl.DataFrame({"offset_min": list(OFFSETS_MIN)}, schema={"offset_min": pl.Int64})
    tried = wall.with_row_index("request").join(offsets, how="cross")
    tried = tried.with_columns(second=(pl.col("wall") - pl.col("offset_min") * MINUTE) // SECOND)
    near = [
        theirs.select(*what, second=pl.col("ts") // SECOND + by).unique() for by in range(-NEAR_S, NEAR_S + 1)
    ]
    lo, hi = (least(theirs["ts"]) or 0) // SECOND - NEAR_S, (most(theirs["ts"]) or 0) // SECOND + NEAR_S
    inside = tried.filter(pl.col("second").is_between(lo, hi)).group_by("offset_min").agg(inside=pl.len())
    matched = tried.join(pl.concat(near).unique(), on=[*what, "second"], how="semi", nulls_equal=True)
    fits = (
        matched.group_by("offset_min")
        .agg(n=pl.len())
        .join(inside, on="offset_min")
        .sort(["n", "offset_min"], descending=[True, False])
    )
    if not fits.height:
        return None
    offset, n, of = fits.row(0)
    rival = int(fits["n"][1]) if fits.height > 1 else 0
    if n < SAME_REQUESTS or n < AGREE * of or 2 * rival > n:
        return None
    here = matched.filter(pl.col("offset_min") == offset)
    shown = theirs.with_columns(second=pl.col("ts") // SECOND).join(
        here, on=[*what, "second"], how="semi", nulls_equal=True
    )
    source = int((shown if shown.height else theirs)["source"].mode().min())  # type: ignore[arg-type]  # not empty
    first = int(wall["wall"].min()) // MINUTE  # type: ignore[arg-type]  # not empty
    steps = pl.DataFrame(
        {"minute": [first], "offset_min": [offset]}, schema={"minute": pl.Int64, "offset_min": pl.Int64}
    )
    why = f"{n} of its requests stand in {names[source]} at this offset from UTC, and at no other do so many"
    return steps, Zone(offset_name(offset), "inferred", why)


def all_spans(frames: dict[str, pl.DataFrame]) -> dict[int, tuple[int, int]]:
    """Return the first and last instant of each source, as written."""
    parts = [
        frames["seconds"].select("source", lo="first_us", hi="last_us"),
        *[
            frames[name].select("source", lo="ts", hi="ts")
            for name in ("beats", "samples", "alerts", "sessions", "poolers")
        ],
    ]
    table = pl.concat(parts).drop_nulls().group_by("source").agg(pl.col("lo").min(), pl.col("hi").max())
    return {source: (lo, hi) for source, lo, hi in table.sort("source").iter_rows()}


def in_span(span: tuple[int, int], rule: Rule) -> tuple[int, int]:
    """Return a span of wall-clock times in the year that they mean."""
    lo, hi = in_years(pl.DataFrame({"at": span}, schema={"at": pl.Int64}), rule, "at", 1)
    return (lo, hi) if lo <= hi else (hi, lo)


def among(spans: Mapping[int, tuple[int, int]], which: list[int]) -> tuple[int, int] | None:
    """Return the span of the dated sources."""
    table = pl.DataFrame(
        [spans[index] for index in which], schema={"lo": pl.Int64, "hi": pl.Int64}, orient="row"
    )
    lo, hi = least(table["lo"]), most(table["hi"])
    return None if lo is None or hi is None else (lo, hi)


def apart(wall: tuple[int, int], dated: tuple[int, int]) -> bool:
    """Do the times, taken as UTC, lie outside of those of the dated inputs?"""
    return wall[1] < dated[0] or wall[0] > dated[1]


def fits_at(wall: tuple[int, int], dated: tuple[int, int], offset: int, slack: int) -> bool:
    """Do the times at an offset lie among those of the dated inputs?"""
    return dated[0] - slack <= wall[0] - offset * MINUTE and wall[1] - offset * MINUTE <= dated[1] + slack


def by_sibling(
    wall: tuple[int, int], dated: tuple[int, int], known: Mapping[int, Found], names: Mapping[int, str]
) -> Found | None:
    """Take the offset of another zone-less input where it puts these times among the dated ones, and UTC does not."""
    for other, (steps, zone) in known.items():
        one = zone.rule == "inferred" and steps["offset_min"].n_unique() == 1
        if one and apart(wall, dated) and fits_at(wall, dated, int(steps["offset_min"][0]), SLACK):
            why = f"at the offset of {names[other]} its times lie among those of the dated inputs, as UTC they would not"
            return steps, replace(zone, why=why)
    return None


def hint(
    wall: tuple[int, int], dated: tuple[int, int], known: Mapping[int, Found], names: Mapping[int, str]
) -> str:
    """Say which offset would fit where it can't be told: that of another input, or the only one by the span."""
    for other, (_, zone) in known.items():
        if zone.rule == "inferred":
            return f"{names[other]} was found to be at {zone.name}"
    near = [offset for offset in OFFSETS_MIN if fits_at(wall, dated, offset, SLACK // 3)]
    if apart(wall, dated) and len(near) == 1:
        return f"at {offset_name(near[0])} they would lie among those of the dated inputs"
    return ""


def in_two_pieces(offsets: pl.Series) -> bool:
    """Tell whether the offset changes once, as at the turn of summer time."""
    return int((offsets != offsets.shift(1)).sum() or 0) == 1


def offset_name(minutes: int) -> str:
    """Write an offset as UTC-03:00."""
    hours, rest = divmod(abs(minutes), 60)
    return f"UTC{'-' if minutes < 0 else '+'}{hours:02d}:{rest:02d}"
