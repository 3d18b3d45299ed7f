"""Pings of a healthchecks.io check, ``/api/v3/checks/<uuid>/pings/``.

    {"pings":[{"type":"success","date":"2026-11-29T12:14:31.113073+00:00","n":4,"duration":2.9}]}

A dead-man switch: the job reports itself, and the time is when the report came. ``success`` and ``fail`` are results and
placed where the job began (date less duration, where both signals came); ``start``, ``log`` and ``ign`` are none. Newest
first; the last 100 (free) or 1000 are kept.

Reference: healthchecks/healthchecks templates/docs/api.md, hc/api/models.py.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - part of the plug's signature
from pathlib import Path  # noqa: TC003 - part of the plug's signature

from forensics.formats.jsonl import dicts, head_values, listing, mapping, number, read, text
from forensics.formats.state import framed, moments
from forensics.model.plug import Monitor, Parsed

RESULTS = {"success": "up", "fail": "down"}
KEPT = "healthchecks.io keeps the last 100 or 1000 pings of a check: what is older is not here, and that is no blindness"


def sniff(head: bytes) -> float:
    """1 where pings have a type, a date and a number."""
    pings = [mapping(row) for item in dicts(head_values(head)) for row in listing(item.get("pings"))]
    return 1.0 if any({"type", "date", "n"} <= set(row) for row in pings) else 0.0


def parse(path: Path, fields: Mapping[str, str]) -> Parsed:
    """Read every ping; a row is named by its ordinal."""
    del fields
    document = read(path)
    pings = [mapping(row) for item in dicts(document.values) for row in listing(item.get("pings"))]
    instants = moments([text(row.get("date")) for row in pings])
    rows = []
    for index, (row, ts) in enumerate(zip(pings, instants, strict=True), 1):
        took = number(row.get("duration"))
        if row.get("type") in RESULTS:
            rows.append(
                {
                    "line": index,
                    "monitor": f"healthchecks {path.stem}",
                    "ts": ts - round((took or 0) * 1e6) if ts is not None else None,
                    "status": RESULTS[row["type"]],
                    "latency_ms": took * 1000 if took is not None else None,
                    "error": "the job reported a failure" if row["type"] == "fail" else None,
                }
            )
    others = len(pings) - len(rows)
    notes = (f"{others} pings are starts or logs and no results",) if others else ()
    return Parsed(beats=framed("beats", rows), notes=(*document.notes, KEPT, *notes))


PLUG = Monitor(
    name="healthchecks_pings",
    title="healthchecks.io pings",
    marks="start of the job: receipt of its report less its duration, where that is known",
    sniff=sniff,
    parse=parse,
    binary=True,
    reference="healthchecks/healthchecks templates/docs/api.md",
)
