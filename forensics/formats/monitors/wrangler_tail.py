r"""Runs of a Cloudflare Worker as ``wrangler tail --format json`` prints them: one pretty-printed object after another.

    {"outcome": "ok", "scriptName": "uptime", "logs": [{"message": ["{\"status\":503}"], "level": "log", "timestamp": 1795954471123}],
     "eventTimestamp": 1795954471000, "event": {"cron": "* * * * *", "scheduledTime": 1795954440000}}

A message that is an object with a result is one result of the prober, at the time of the message. A run that did not end
well is an alert (its outcome and exception) about the Worker, not about what it watches. The tail shows what happens while
it runs, nothing before.

Reference: cloudflare/workers-sdk packages/wrangler/src/tail.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - part of the plug's signature
from pathlib import Path  # noqa: TC003 - part of the plug's signature
from typing import Any

from forensics.formats.jsonl import (
    TIME,
    dicts,
    head_values,
    known_as,
    listing,
    loaded,
    mapping,
    number,
    read,
    table,
    text,
)
from forensics.formats.state import framed, joined, kind_of, probes
from forensics.model.plug import Monitor, Parsed

LIVE = "wrangler tail shows only what ran while it was connected: the first run is not the begin of the watch"


def sniff(head: bytes) -> float:
    """Share of objects that are runs of a Worker."""
    rows = list(dicts(head_values(head)))
    fits = sum(
        {"outcome", "eventTimestamp"} <= set(row) and ("logs" in row or "event" in row) for row in rows
    )
    return fits / len(rows) if rows else 0.0


def parse(path: Path, fields: Mapping[str, str]) -> Parsed:
    """Read results and runs that failed; a row is named by the ordinal of its run."""
    document = read(path)
    results: list[tuple[int, dict[str, Any]]] = []
    alerts: list[dict[str, object]] = []
    other = 0
    runs = [row for row in dicts(document.values) if "outcome" in row]
    for index, run in enumerate(runs, 1):
        script = text(run.get("scriptName")) or "worker"
        for entry in map(mapping, listing(run.get("logs"))):
            found = result_in(entry, script, fields)
            other += found is None
            if found is not None:
                results.append((index, found))
        if run.get("outcome") not in ("ok", "canceled"):
            raised = [mapping(item) for item in listing(run.get("exceptions"))]
            said = "; ".join(f"{item.get('name')}: {item.get('message')}" for item in raised)
            alerts.append(
                {
                    "line": index,
                    "monitor": script,
                    "ts": epoch(run.get("eventTimestamp")),
                    "state": str(run.get("outcome")),
                    "text": said or None,
                }
            )
    parts = [Parsed(alerts=framed("alerts", alerts))]
    if results:
        parts.append(probes(table(results), fields, "worker"))
    notes = [LIVE, f"{len(runs)} runs of the Worker, {len(alerts)} of which did not end well"]
    if other:
        notes.append(f"{other} log messages of the Worker are no results and were left out")
    return joined(parts, (*document.notes, *notes))


def result_in(entry: Mapping[str, Any], script: str, fields: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the result that a log message is, None where it is none."""
    for part in listing(entry.get("message")):
        value = loaded(part) if isinstance(part, str) else part
        if isinstance(value, dict):
            stamped = {known_as(name) for name in value} & set(TIME)
            row = (
                {"name": script, **value}
                if stamped
                else {"name": script, "timestamp": entry.get("timestamp"), **value}
            )
            if kind_of({known_as(name) for name in row}, fields) == "probes":
                return row
    return None


def epoch(value: object) -> int | None:
    """Return milliseconds since 1970 as microseconds."""
    ms = number(value)
    return round(ms * 1000) if ms is not None else None


PLUG = Monitor(
    name="wrangler_tail",
    title="Cloudflare Worker runs, wrangler tail",
    marks="when the Worker wrote the message; of a failed run, when it was triggered",
    sniff=sniff,
    parse=parse,
    binary=True,
    reference="cloudflare/workers-sdk packages/wrangler/src/tail",
)
