"""Incidents of Better Stack (Better Uptime), answer of ``/api/v3/incidents``.

    {"data":[{"id":"789012","type":"incident","attributes":{"name":"shop.example","cause":"Status 503","started_at":"2026-11-29T12:14:31.000Z","resolved_at":null}}]}

An incident gives up to three alerts: ``down`` when it started (confirmed by the monitor), ``acknowledged``, and ``up`` when it
was resolved. Single checks are not in it. An answer is a page; the next one has its own address.

Reference: https://betterstack.com/docs/uptime/api/list-all-incidents/
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - part of the plug's signature
from pathlib import Path  # noqa: TC003 - part of the plug's signature
from typing import Any

from forensics.formats.jsonl import dicts, head_values, mapping, read, text
from forensics.formats.state import framed, moments
from forensics.model.plug import Monitor, Parsed

STATES = {"started_at": "down", "acknowledged_at": "acknowledged", "resolved_at": "up"}
ONLY = "Better Stack lists incidents only: no single check is here"


def incidents(values: Any) -> list[dict[str, Any]]:
    """Return the attributes of every incident of some answers."""
    rows = [row for item in dicts(values) for row in dicts([item.get("data")])]
    found = (mapping(row.get("attributes")) for row in rows)
    return [item for item in found if "started_at" in item and ("cause" in item or "resolved_at" in item)]


def sniff(head: bytes) -> float:
    """1 where the answer lists incidents."""
    return 1.0 if incidents(head_values(head)) else 0.0


def parse(path: Path, fields: Mapping[str, str]) -> Parsed:
    """Read every incident; a row is named by the ordinal of its incident."""
    del fields
    document = read(path)
    rows = []
    for index, item in enumerate(incidents(document.values), 1):
        said = [(key, text(item.get(key))) for key in STATES]
        stamps = moments([stamp for _, stamp in said])
        rows += [
            {
                "line": index,
                "monitor": text(item.get("name")) or text(item.get("url")) or "monitor",
                "ts": ts,
                "state": STATES[key],
                "text": text(item.get("cause")),
            }
            for (key, stamp), ts in zip(said, stamps, strict=True)
            if stamp
        ]
    more = any(mapping(item.get("pagination")).get("next") for item in dicts(document.values))
    notes = ("it is one page of several: fetch the address in pagination.next too",) if more else ()
    return Parsed(alerts=framed("alerts", rows), notes=(*document.notes, ONLY, *notes))


PLUG = Monitor(
    name="betterstack_json",
    title="Better Stack incidents, JSON",
    marks="when the incident started, was acknowledged, or was resolved",
    sniff=sniff,
    parse=parse,
    binary=True,
    unconfirmed=True,
    reference="https://betterstack.com/docs/uptime/api/list-all-incidents/",
)
