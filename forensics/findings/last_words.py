"""What did a process print before it ended by itself? The last line of its own log that reads like an error, once for all its ends."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.findings.signals import SECOND
from forensics.model.facts import Restarts
from forensics.model.finding import Finding, Grade
from forensics.model.source import Ref

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.findings.signals import Signals
    from forensics.model.facts import Lifecycle, Outage

REASONS = ("crash", "crash_loop", "deploy_loop")
"""Outages of a process that ended by itself."""
BEFORE_US = 5 * SECOND
"""What a process prints of why it ends stands in its last seconds."""
AFTER_US = SECOND
"""A line may still lie in a pipe as the manager sees the end."""
BEGINS = ("start", "started", "ready")
ENDS = ("exited", "signalled", "failed")
MANAGERS = ("systemd", "kernel", "systemd-journald", "host")
SAYS_WHY = r"(?i)error|exception|fatal|cannot|can't|could not|unable to|not found|failed|missing|invalid|refused|erro|falh"
"""Words of the line that says why."""
SPANS = {"source": pl.UInt16, "service": pl.String, "lo": pl.UInt32, "hi": pl.UInt32, "end": pl.Int64}
"""Lines of a service before one end."""
LIVES = {"source": pl.UInt16, "lo": pl.UInt32, "hi": pl.UInt32, "begin": pl.Int64, "end": pl.Int64}


def findings(signals: Signals) -> Iterator[Finding]:
    """Tell what services printed before they ended by themselves in or near the window."""
    lo, hi = signals.window
    for outage in signals.facts[Restarts].outages:
        if outage.reason in REASONS and outage.start <= hi and (outage.end or hi) >= lo:
            yield from of_outage(signals, outage)


def of_outage(signals: Signals, outage: Outage) -> Iterator[Finding]:
    """Tell what one service printed before its ends: the panic, else the line that reads like an error."""
    events = [
        event
        for event in signals.facts[Restarts].events
        if event.service == outage.service and outage.start <= event.at <= (outage.end or event.at)
    ]
    found = panicked(signals, events) or printed(signals, outage.service, events)
    if found:
        values, refs = found
        grade = Grade.DERIVED if values["by"] else Grade.VERIFIED
        yield Finding("mechanism.last_words", "mechanism", grade, {"outage": outage, **values}, refs)


def panicked(signals: Signals, events: list[Lifecycle]) -> tuple[dict[str, Any], tuple[Ref, ...]] | None:
    """Return the text of the panic that ended the process most often."""
    refs = {event.ref for event in events if event.kind == "panicked"}
    if not refs:
        return None
    rows = signals.hits("go.panic", window=False)
    said: dict[str, list[Ref]] = {}
    for source, line, text in rows.select("source", "line", "parameters").iter_rows():
        if (ref := Ref(source, line)) in refs:
            said.setdefault(f"panic: {json.loads(text or '{}').get('text')}", []).append(ref)
    if not said:
        return None
    text = max(sorted(said), key=lambda one: len(said[one]))
    return {"text": text, "n": len(said[text]), "by": None}, tuple(said[text][:3])


def printed(
    signals: Signals, service: str, events: list[Lifecycle]
) -> tuple[dict[str, Any], tuple[Ref, ...]] | None:
    """Return the line that stands before most ends, of equal ones the last; ``by`` is the name of the process where it is not the service's."""
    by = None
    words = spoken(signals, own_lines(signals, service, events))
    if not words.height:
        words = of_strangers(signals, lives(events), service)
        by = words["service"][0] if words.height else None
    if not words.height:
        return None
    counted = words.group_by("template").agg(
        pl.col("end").n_unique().alias("ends"), pl.col("line").max(), pl.col("n").max()
    )
    best = counted.sort(["ends", "line", "template"], descending=[True, True, False]).row(0, named=True)
    places = words.filter(pl.col("template") == best["template"]).sort("source", "line")
    places = places.unique(["source", "line"], maintain_order=True)
    refs = tuple(Ref(source, line) for source, line in places.select("source", "line").head(3).iter_rows())
    return {"text": best["template"], "n": best["n"], "by": by}, refs


def ends_of(events: list[Lifecycle]) -> list[Lifecycle]:
    """Return the ends of the process, each once: what the manager says first of it."""
    exited = [event for event in events if event.kind in ("exited", "signalled")]
    return exited or [event for event in events if event.kind in ENDS]


def own_lines(signals: Signals, service: str, events: list[Lifecycle]) -> pl.DataFrame:
    """Return where the service's own last seconds before each end stand (columns :data:`SPANS`)."""
    ends = pl.DataFrame({"end": [event.at for event in ends_of(events)]}, schema={"end": pl.Int64})
    seconds = signals.evidence["seconds"].filter((pl.col("service") == service) & ~pl.col("naive"))
    near = seconds.join(ends, how="cross").filter(
        (pl.col("last_us") >= pl.col("end") - BEFORE_US) & (pl.col("first_us") <= pl.col("end") + AFTER_US)
    )
    spans = near.group_by("source", "service", "end").agg(
        lo=pl.col("first_line").min(), hi=pl.col("last_line").max()
    )
    return spans.select(pl.col(name).cast(dtype) for name, dtype in SPANS.items())


def lives(events: list[Lifecycle]) -> pl.DataFrame:
    """Return from where to where each start of a process that ended lasted, by lines of one input: source, lo, hi, begin and end."""
    rows = []
    for end in ends_of(events):
        begins = [one for one in events if one.kind in BEGINS and one.at < end.at]
        if begins and begins[-1].ref.source == end.ref.source:
            begun = begins[-1]
            row = {"source": end.ref.source, "lo": begun.ref.line, "hi": end.ref.line}
            rows.append({**row, "begin": begun.at, "end": end.at})
    return pl.DataFrame(rows, schema=LIVES)


def of_strangers(signals: Signals, spans: pl.DataFrame, service: str) -> pl.DataFrame:
    """Return what reads like an error of the one program that printed only while the process lived; nothing where several did.

    A journal's text names the program, its manager the unit. It is the program where a process of it began and ended in between, or where
    its message stands between two starts and their ends, and neither before nor after.
    """
    processes = signals.evidence["processes"].filter(~pl.col("naive"))
    inside = processes.join(spans, on="source").filter(
        (pl.col("first_us") >= pl.col("begin")) & (pl.col("last_us") <= pl.col("end") + AFTER_US)
    )
    others = signals.evidence["templates"]["service"].drop_nulls().unique().to_frame()
    words = spoken(signals, spans.join(others, how="cross").select(list(SPANS)))
    words = words.filter(~pl.col("service").is_in([service, *MANAGERS]))
    lone = words.filter(pl.col("service").is_in(inside["service"].to_list()))
    twice = words.filter(pl.col("end").n_unique().over("service", "template") > 1)
    found = pl.concat([lone, twice]).unique(maintain_order=True)
    return found if found["service"].n_unique() == 1 else found.clear()


def spoken(signals: Signals, spans: pl.DataFrame) -> pl.DataFrame:
    """Return the messages in some lines that read like an error: where they stand, before which end, and how often they do (n)."""
    told = signals.evidence["templates"].filter(pl.col("template").str.contains(SAYS_WHY))
    rows = told.join(spans, on=["source", "service"])
    first = pl.col("first_line").is_between(pl.col("lo"), pl.col("hi"))
    last = pl.col("last_line").is_between(pl.col("lo"), pl.col("hi"))
    found = pl.concat(
        [
            rows.filter(first).with_columns(line=pl.col("first_line")),
            rows.filter(last).with_columns(line=pl.col("last_line")),
        ]
    )
    # Of what a minute holds only the first and the last line are known; all of them count where both lie before an end.
    reach = ["source", "service", "template"]
    inside = (pl.col("first_line") >= pl.col("lo").min().over(reach)) & (
        pl.col("last_line") <= pl.col("hi").max().over(reach)
    )
    minutes = found.with_columns(n=pl.when(inside).then("n").otherwise(1)).unique([*reach, "minute"])
    counted = minutes.group_by(reach).agg(pl.col("n").sum())
    return (
        found.drop("n")
        .join(counted, on=reach)
        .select("template", "service", "source", "line", "end", "n")
        .unique(maintain_order=True)
    )
