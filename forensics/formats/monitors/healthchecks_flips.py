"""Changes of a healthchecks.io check between up and down, ``/api/v3/checks/<uuid>/flips/``.

    [{"timestamp":"2026-11-29T10:18:23+00:00","up":1},{"timestamp":"2026-11-29T10:17:15+00:00","up":0}]

The time is when the check changed, cut to seconds: going down comes a period and a grace after the last ping, so that it lags the
failure. Newest first; three months are kept.

Reference: healthchecks/healthchecks templates/docs/api.md.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - part of the plug's signature
from pathlib import Path  # noqa: TC003 - part of the plug's signature

from forensics.formats.jsonl import dicts, head_values, read, text
from forensics.formats.state import framed, moments
from forensics.model.plug import Monitor, Parsed

LAG = "a check goes down a period and a grace after the last ping: the failure began earlier"


def sniff(head: bytes) -> float:
    """Share of objects that are a timestamp and an up flag, and nothing more."""
    values = head_values(head)
    if not values or not isinstance(values[0], list):
        return 0.0
    rows = list(dicts(values))
    fits = sum(set(row) == {"timestamp", "up"} and row["up"] in (0, 1) for row in rows)
    return fits / len(rows) if rows else 0.0


def parse(path: Path, fields: Mapping[str, str]) -> Parsed:
    """Read every change; a row is named by its ordinal."""
    del fields
    document = read(path)
    flips = list(dicts(document.values))
    instants = moments([text(row.get("timestamp")) for row in flips])
    rows = [
        {
            "line": index,
            "monitor": f"healthchecks {path.stem}",
            "ts": ts,
            "state": "up" if row["up"] else "down",
            "text": "status change",
        }
        for index, (row, ts) in enumerate(zip(flips, instants, strict=True), 1)
        if row.get("up") in (0, 1)
    ]
    return Parsed(alerts=framed("alerts", rows), notes=(*document.notes, LAG))


PLUG = Monitor(
    name="healthchecks_flips",
    title="healthchecks.io flips",
    marks="when the check changed, after period and grace",
    sniff=sniff,
    parse=parse,
    binary=True,
    reference="healthchecks/healthchecks templates/docs/api.md",
)
