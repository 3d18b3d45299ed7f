"""``kubectl get events`` with instants: columns that are padded with blanks, the header names them.

    TIME                   REASON      MSG
    <nil>                  Scheduled   Successfully assigned tools/gauge-x2k4v to node-b
    2026-11-29T12:25:41Z   Unhealthy   Liveness probe failed:

made by ``-o custom-columns=TIME:.lastTimestamp,REASON:.reason,MSG:.message``. The time is that of the column: the last (or first)
time that the event was seen, whole seconds; an event without one (``<nil>``, ``<none>``) is kept undated. The default
output and ``kubectl describe`` state ages, not instants, and are none of this format. Events live for an hour by default.
Reference: kubernetes/kubernetes staging/src/k8s.io/api/core/v1/types.go Event; kubectl pkg/cmd/get/customcolumn.go.
"""

from __future__ import annotations

import re

import polars as pl

from forensics.formats.inner import finished
from forensics.formats.text import lines_of
from forensics.model.frames import least
from forensics.model.plug import Parsed, Transport
from forensics.model.schema import RECORDS, conform
from forensics.sources import clock

TIME = re.compile(r"TIME|LAST|FIRST|SEEN|WHEN")
REASON = "REASON"
MESSAGE = ("MESSAGE", "MSG", "NOTE")
OBJECT = ("OBJECT", "NAME", "POD", "INVOLVED")
STAMP = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$"
MARK = b"\xef\xbb\xbf"
KEPT = "Kubernetes keeps events for an hour by default, and counts repetitions in one event: there may have been more"


def columns(header: str) -> dict[str, tuple[int, int | None]]:
    """Return where each column of a header begins and ends; the last has no end."""
    found = [(match[0], match.start()) for match in re.finditer(r"\S+(?: \S+)*", header)]
    ends = [*[start for _, start in found[1:]], None]
    return {name: (start, end) for (name, start), end in zip(found, ends, strict=False)}


def wanted(header: str) -> tuple[str, str, str | None] | None:
    """Return the names of the columns of time, message and object; None where it is no header of events."""
    names = columns(header)
    time = next((name for name in names if TIME.search(name)), None)
    message = next((name for name in MESSAGE if name in names), None)
    if time is None or message is None or REASON not in names or header != header.upper():
        return None
    return time, message, next((name for name in OBJECT if name in names), None)


def sniff(head: bytes) -> float:
    """1 where a header of events stands above rows one of which has an instant."""
    first, _, rest = head.removeprefix(MARK).partition(b"\n")
    header = first.decode("utf-8", "replace").rstrip("\r ")
    names = wanted(header)
    if names is None:
        return 0.0
    start, end = columns(header)[names[0]]
    rows = [line.decode("utf-8", "replace")[start:end].strip() for line in rest.split(b"\n")]
    return 1.0 if any(re.match(STAMP, row) for row in rows) else 0.0


def parse(data: bytes) -> Parsed:
    """Turn a table into records."""
    lines = lines_of(data)
    header = lines[0].rstrip("\r ") if len(lines) else ""
    names = wanted(header)
    if names is None:
        return Parsed(
            records=pl.DataFrame(schema=RECORDS),
            unparsed=len(lines),
            first_unparsed=1 if len(lines) else None,
        )
    where = columns(header)
    table = pl.DataFrame({"raw": lines.str.strip_suffix("\r")}).with_row_index("line", offset=1).slice(1)
    filled = table.filter(pl.col("raw").str.strip_chars() != "")

    def part(name: str) -> pl.Expr:
        start, end = where[name]
        return pl.col("raw").str.slice(start, None if end is None else end - start).str.strip_chars()

    good = filled.filter(part(names[1]) != "")
    left = filled.join(good, on="line", how="anti")
    named = part(names[2]).str.extract(r"^(?:[a-z.]+/)?(\S+)$") if names[2] else pl.lit(None, pl.String)
    records = good.select(
        "line",
        ts=clock.iso(part(names[0])),
        naive=pl.lit(value=False),
        service=named,
        message=pl.concat_str(part(REASON), pl.lit(": "), part(names[1])),
    )
    return Parsed(
        records=finished(conform(records, RECORDS)),
        in_records=good.height + 1,
        blank=table.height - filled.height,
        unparsed=left.height,
        first_unparsed=least(left["line"]),
        notes=(KEPT,),
    )


PLUG = Transport(
    name="kubectl_events",
    title="kubectl get events with instants (custom columns)",
    marks="when the event was last (or first) seen",
    sniff=sniff,
    parse=parse,
    samples=(
        "LAST SEEN              TYPE      REASON      OBJECT            MESSAGE\n2026-11-29T12:25:41Z   Warning   Unhealthy   pod/gauge-x2k4v   Liveness probe failed: timeout",
    ),
    reference="kubernetes/kubernetes staging/src/k8s.io/kubectl/pkg/cmd/get/customcolumn.go",
)
