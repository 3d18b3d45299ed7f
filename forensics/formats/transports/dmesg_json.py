"""``dmesg --json``: the kernel's ring buffer as one document.

    {"dmesg": [{"pri": 6, "time":  2117.871970, "msg": "eth0: link up"}, …]}

The time is seconds since the kernel started and no instant; a text there is read if it is one (``--time-format iso``). With ``-x`` the
priority is a name. A ring buffer is small, so it is read whole. Reference: util-linux/util-linux sys-utils/dmesg.c print_record.
"""

from __future__ import annotations

import json
import re

import polars as pl

from forensics.formats import kernel
from forensics.model.errors import UnreadableError
from forensics.model.plug import Parsed, Transport
from forensics.model.schema import RECORDS, conform
from forensics.sources import clock

START = re.compile(rb'^\s*\{\s*"dmesg"\s*:\s*\[')


def sniff(head: bytes) -> float:
    """Tell the document by its only key."""
    return 1.0 if START.match(head) else 0.0


def parse(data: bytes) -> Parsed:
    """Turn the document into records; what was cut off at its end is left out and said."""
    entries, cut = decoded(data.decode("utf-8", "replace"))
    table = pl.DataFrame(
        [
            {
                "level": level(entry.get("pri")),
                "time": str(entry.get("time", "")),
                "message": str(entry.get("msg", "")),
            }
            for entry in entries
        ],
        schema={"level": pl.String, "time": pl.String, "message": pl.String},
    ).with_row_index("line", offset=1)
    local = clock.parse_stamp(pl.col("time"), "%a %b %e %H:%M:%S %Y")
    records = table.with_columns(
        ts=pl.coalesce(clock.iso(pl.col("time")), local),
        naive=local.is_not_null(),
        service=pl.lit("kernel"),
    )
    undated = records["ts"].null_count() > 0
    return Parsed(
        records=conform(records, RECORDS),
        in_records=records.height,
        notes=((kernel.UNDATED,) if undated else ()) + ((cut,) if cut else ()),
    )


def level(value: object) -> str | None:
    """Return the level of a priority, written as a number or as a name."""
    if isinstance(value, int) and value >= 0:
        return kernel.NUMBERS[value % 8]
    return kernel.LEVELS.get(value) if isinstance(value, str) else None


def decoded(text: str) -> tuple[list[dict[str, object]], str]:
    """Return the entries, one after another so that a document that is cut off gives those before the cut."""
    start = START.match(text[:200].encode())
    at = text.index("[") + 1 if start else len(text)
    decoder = json.JSONDecoder()
    found: list[dict[str, object]] = []
    while match := re.compile(r"[\s,]*").match(text, at):
        at = match.end()
        if text[at : at + 1] == "]":
            return found, ""
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        if isinstance(value, dict):
            found.append(value)
    if text.strip() and not found:
        raise UnreadableError("the document is damaged", remedy="run dmesg --json again")
    return found, text.strip() and "the document ends early: what lies before was used"


PLUG = Transport(
    name="dmesg_json",
    title="dmesg --json",
    marks="when the kernel wrote the line, counted from its start: no instant unless --time-format iso",
    sniff=sniff,
    parse=parse,
    samples=(),
    binary=True,
)
