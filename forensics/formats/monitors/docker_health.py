"""What Docker remembers of a container's health checks: ``docker inspect --format '{{json .State.Health}}' NAME``.

    {"Status": "unhealthy", "FailingStreak": 3, "Log": [{"Start": "2026-11-29T12:07:32.19+01:00", "End": "…", "ExitCode": -1, "Output": "Health check exceeded timeout (3s)"}]}

The last five checks are kept. A result is placed where its check began; the next one begins an interval after the end of
the one before. The exit code is the command's, -1 where it was ended by its limit. That the container counts as unhealthy
is known of the end of the last check at the latest: how many failures it takes (``--health-retries``) is not in the record.
The whole description of a container is ``docker_inspect``'s.

Reference: moby/moby api/types/container/health.go, daemon/health.go.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence  # noqa: TC003 - part of the plug's signature
from pathlib import Path  # noqa: TC003 - part of the plug's signature
from statistics import median
from typing import Any

from forensics.formats.jsonl import dicts, head_values, listing, mapping, number, read, text
from forensics.formats.state import framed, moments
from forensics.model.plug import Monitor, Parsed

KEPT = "Docker keeps the last five health checks: what is older is not here, and that is no blindness"
LIMIT = re.compile(r"exceeded timeout \((?P<seconds>\d+(?:\.\d+)?)s\)")


def checks(value: Any) -> list[dict[str, Any]]:
    """Return the checks of a health record; none of a value that is no such record."""
    record = mapping(value)
    if not {"Status", "Log"} <= set(record):
        return []
    return [row for row in dicts(listing(record["Log"])) if {"Start", "End", "ExitCode"} <= set(row)]


def sniff(head: bytes) -> float:
    """1 where a record has checks with a start, an end and an exit code."""
    return 1.0 if any(checks(value) for value in head_values(head)) else 0.0


def parse(path: Path, fields: Mapping[str, str]) -> Parsed:
    """Read every check; a row is named by its ordinal."""
    del fields
    document = read(path)
    beats: list[dict[str, Any]] = []
    alerts: list[dict[str, Any]] = []
    for value in document.values:
        rows = checks(value)
        starts = moments([text(row["Start"]) for row in rows])
        ends = moments([text(row["End"]) for row in rows])
        before, pause = len(beats), interval(starts, ends)
        beats += [
            result(before + index, row, start, end) | {"period_s": pause}
            for index, (row, start, end) in enumerate(zip(rows, starts, ends, strict=True), 1)
        ]
        record = mapping(value)
        if rows and record.get("Status") == "unhealthy":
            streak = number(record.get("FailingStreak"))
            said = "unhealthy" if streak is None else f"unhealthy, {streak:.0f} checks in a row have failed"
            alerts.append(
                {
                    "line": len(beats),
                    "monitor": "docker health",
                    "ts": ends[-1],
                    "state": "down",
                    "text": said,
                }
            )
    return Parsed(
        beats=framed("beats", beats), alerts=framed("alerts", alerts), notes=(*document.notes, KEPT)
    )


def interval(starts: Sequence[int | None], ends: Sequence[int | None]) -> float | None:
    """Return the usual time from the end of a check to the start of the next, in seconds."""
    pauses = [
        (start - end) / 1e6
        for end, start in zip(ends, starts[1:], strict=False)
        if start is not None and end is not None
    ]
    return round(median(pauses), 1) if pauses else None


def result(line: int, row: Mapping[str, Any], start: int | None, end: int | None) -> dict[str, Any]:
    """Return one check as a result."""
    code = number(row["ExitCode"])
    said = text(row.get("Output")) or ""
    limit = LIMIT.search(said)
    return {
        "line": line,
        "monitor": "docker health",
        "ts": start,
        "status": None if code is None else "up" if code == 0 else "down",
        "latency_ms": (end - start) / 1000 if start is not None and end is not None else None,
        "timeout_s": float(limit["seconds"]) if limit else None,
        "error": None if code == 0 else said.strip() or f"exit code {row['ExitCode']}",
    }


PLUG = Monitor(
    name="docker_health",
    title="Docker health checks of a container, JSON",
    marks="start of the check",
    sniff=sniff,
    parse=parse,
    binary=True,
    reference="moby/moby daemon/health.go",
)
