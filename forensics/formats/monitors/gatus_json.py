"""Answer of Gatus' API, ``/api/v1/endpoints/statuses`` or one endpoint's ``/statuses``.

    [{"name":"api","group":"core","key":"core_api","results":[{"status":200,"duration":41000000,"success":true,"timestamp":"2026-11-29T12:14:31.1Z"}]}]

``timestamp`` is the end of the check and ``duration`` nanoseconds: a check is placed where it began. A page holds 20 to 100
results, and by default no more than 100 are kept.

Reference: TwiN/gatus api/endpoint_status.go, core/result.go, core/endpoint.go.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - part of the plug's signature
from pathlib import Path  # noqa: TC003 - part of the plug's signature
from typing import Any

from forensics.formats.jsonl import dicts, head_values, listing, mapping, number, read, text
from forensics.formats.state import framed, moments
from forensics.model.plug import Monitor, Parsed

KEPT = "Gatus answers with the last results of an endpoint only (a page of at most 100): what is older is not here, and that is no blindness"


def sniff(head: bytes) -> float:
    """1 where an endpoint has results with a success, a duration and a timestamp."""
    endpoints = [item for item in dicts(head_values(head)) if "results" in item and "name" in item]
    results = [mapping(row) for item in endpoints for row in listing(item["results"])]
    return 1.0 if any({"success", "duration", "timestamp"} <= set(row) for row in results) else 0.0


def parse(path: Path, fields: Mapping[str, str]) -> Parsed:
    """Read every result; a row is named by its ordinal."""
    del fields
    document = read(path)
    pairs = [(item, mapping(row)) for item in dicts(document.values) for row in listing(item.get("results"))]
    ends = moments([text(row.get("timestamp")) for _, row in pairs])
    rows = [
        beat(index, item, row, end)
        for index, ((item, row), end) in enumerate(zip(pairs, ends, strict=True), 1)
        if isinstance(row.get("success"), bool)
    ]
    return Parsed(beats=framed("beats", rows), notes=(*document.notes, KEPT))


def beat(index: int, item: Mapping[str, Any], row: Mapping[str, Any], end: int | None) -> dict[str, object]:
    """Return one result."""
    took = number(row.get("duration"))
    failed = [
        mapping(one).get("condition")
        for one in listing(row.get("conditionResults"))
        if mapping(one).get("success") is False
    ]
    said = [str(one) for one in [*listing(row.get("errors")), *failed] if one]
    return {
        "line": index,
        "monitor": "/".join(filter(None, (text(item.get("group")), text(item.get("name"))))),
        "ts": end - round((took or 0) / 1000) if end is not None else None,
        "status": "up" if row["success"] else "down",
        "latency_ms": took / 1e6 if took is not None else None,
        "http_status": number(row.get("status")) or None,
        "error": "; ".join(said) or None,
    }


PLUG = Monitor(
    name="gatus_json",
    title="Gatus API, endpoint statuses",
    marks="start of the check: its recorded end less its duration",
    sniff=sniff,
    parse=parse,
    binary=True,
    reference="TwiN/gatus core/endpoint.go",
)
