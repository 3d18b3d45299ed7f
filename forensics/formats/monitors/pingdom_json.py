"""Results of a Pingdom check, answer of ``/api/3.1/results/<check>``.

    {"activeprobes":[257,261],"results":[{"probeid":261,"time":1795954471,"status":"down","statusdesc":"Timeout (> 30s)"}]}

``time`` is that of the test, seconds since 1970 UTC; newest first. Probes test in turn, and a failed test is repeated from another
probe at once: one minute may be both up and down, and ``unconfirmed_down`` waits for the second. ``unknown`` is no result.

Reference: https://docs.pingdom.com/api/ (Results)
"""

from __future__ import annotations

import re
from collections.abc import Mapping  # noqa: TC003 - part of the plug's signature
from pathlib import Path  # noqa: TC003 - part of the plug's signature

from forensics.formats.jsonl import dicts, head_values, listing, mapping, number, read, text
from forensics.formats.state import framed
from forensics.model.plug import Monitor, Parsed

STATUS = {"up": "up", "down": "down", "unconfirmed_down": "pending", "unconfirmed": "pending"}
PAGE = "Pingdom answers with at most 1000 results: the first is not the begin of the watch"


def sniff(head: bytes) -> float:
    """1 where results have a probe, a time and a status."""
    rows = [mapping(row) for item in dicts(head_values(head)) for row in listing(item.get("results"))]
    return 1.0 if any({"probeid", "time", "status"} <= set(row) for row in rows) else 0.0


def parse(path: Path, fields: Mapping[str, str]) -> Parsed:
    """Read every result; a row is named by its ordinal."""
    del fields
    document = read(path)
    results = [mapping(row) for item in dicts(document.values) for row in listing(item.get("results"))]
    rows = []
    for index, row in enumerate(results, 1):
        seconds, said = number(row.get("time")), text(row.get("statusdesc"))
        status = STATUS.get(str(row.get("status")))
        limit = re.search(r"Timeout \(> ?(\d+)s\)", said) if said else None
        if status:
            rows.append(
                {
                    "line": index,
                    "monitor": f"pingdom {path.stem}",
                    "ts": round(seconds * 1e6) if seconds is not None else None,
                    "status": status,
                    "latency_ms": number(row.get("responsetime")),
                    "error": said if status != "up" else None,
                    "timeout_s": float(limit[1]) if limit else None,
                }
            )
    silent = len(results) - len(rows)
    notes = (f"{silent} results are unknown and count neither as up nor as down",) if silent else ()
    return Parsed(beats=framed("beats", rows), notes=(*document.notes, PAGE, *notes))


PLUG = Monitor(
    name="pingdom_json",
    title="Pingdom results, JSON",
    marks="when the test was made",
    sniff=sniff,
    parse=parse,
    binary=True,
    unconfirmed=True,
    reference="https://docs.pingdom.com/api/",
)
