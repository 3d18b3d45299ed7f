"""Cloudflare's standalone health checks, answer of its GraphQL API (``healthCheckEventsAdaptive``).

    {"data":{"viewer":{"zones":[{"healthCheckEventsAdaptive":[{"datetime":"2026-11-29T12:14:31Z","healthCheckName":"api","healthStatus":"Unhealthy","failureReason":"HTTP timeout occurred","region":"WEU","healthChanged":1,"rttMs":0}]}]}}}

Every region checks for itself and is a monitor of its own; rows of the region ``Global`` sum up the others and are left out.
The time is the event's. A list of changes alone gives alerts, since nothing in it says when the checks between were made.

Reference: https://developers.cloudflare.com/health-checks/ and the schema of the GraphQL API.
"""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - part of the plug's signature
from typing import TYPE_CHECKING, Any

from forensics.formats.jsonl import head_values, mapping, number, read, text
from forensics.formats.state import framed, moments
from forensics.model.plug import Monitor, Parsed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

NODE = "healthCheckEventsAdaptive"
STATUS = {"healthy": "up", "unhealthy": "down"}
SAMPLED = "Cloudflare thins these events out when there are many, and the API gives at most 10,000: a missing one is no blindness"


def events(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Yield every event below a node of the API, its dimensions put beside its other fields."""
    if depth > 6:
        return
    if isinstance(value, list):
        for item in value:
            yield from events(item, depth + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key.startswith(NODE) and isinstance(item, list):
                yield from ({**mapping(row), **mapping(mapping(row).get("dimensions"))} for row in item)
            else:
                yield from events(item, depth + 1)


def sniff(head: bytes) -> float:
    """1 where the answer has events with a status and a time."""
    if NODE.encode() not in head:
        return 0.0
    return 1.0 if any({"healthStatus", "datetime"} <= set(row) for row in events(head_values(head))) else 0.0


def parse(path: Path, fields: Mapping[str, str]) -> Parsed:
    """Read every event; a row is named by its ordinal."""
    del fields
    document = read(path)
    found = list(events(list(document.values)))
    instants = moments([text(row.get("datetime")) for row in found])
    rows: list[dict[str, object]] = []
    changed: list[bool] = []
    aggregate = silent = 0
    for index, (row, ts) in enumerate(zip(found, instants, strict=True), 1):
        status = STATUS.get(str(row.get("healthStatus")).lower())
        region = text(row.get("region")) or ""
        aggregate += region.lower() == "global"
        silent += status is None and region.lower() != "global"
        if status is None or region.lower() == "global":
            continue
        name = text(row.get("healthCheckName")) or text(row.get("fqdn")) or "health check"
        rows.append(
            {
                "line": index,
                "monitor": f"{name} from {region}" if region else name,
                "ts": ts,
                "status": status,
                "latency_ms": number(row.get("rttMs")) or None,
                "http_status": number(row.get("originResponseStatus")) or None,
                "error": text(row.get("failureReason")) if status == "down" else None,
            }
        )
        changed.append(row.get("healthChanged") in (1, True))
    alerts = [
        {
            **{key: row[key] for key in ("line", "monitor", "ts")},
            "state": row["status"],
            "text": row["error"] or "status change",
        }
        for row, its in zip(rows, changed, strict=True)
        if its
    ]
    notes = [SAMPLED]
    if aggregate:
        notes.append(f"{aggregate} rows of the region Global sum up the others and are left out")
    if silent:
        notes.append(f"{silent} rows state no result and count neither as up nor as down")
    only_changes = bool(changed) and all(changed)
    return Parsed(
        beats=None if only_changes else framed("beats", rows),
        alerts=framed("alerts", alerts),
        notes=(*document.notes, *notes),
    )


PLUG = Monitor(
    name="cloudflare_health",
    title="Cloudflare health checks, GraphQL answer",
    marks="the event's own time",
    sniff=sniff,
    parse=parse,
    binary=True,
    unconfirmed=True,
    reference="https://developers.cloudflare.com/health-checks/",
)
