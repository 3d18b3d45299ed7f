r"""``journalctl -o json-pretty``: objects over many lines, without a comma or an array between them.

    {
        "__REALTIME_TIMESTAMP" : "1798761480000000",
        "MESSAGE" : "…"
    }

The same objects set out by ``jq .`` are read too. Text never holds a newline of its own, so that an object begins at
a line ``{`` and its lines can be joined. Reference: systemd src/shared/logs-show.c, output_json.
"""

from __future__ import annotations

import re

import polars as pl

from forensics.formats.journald_fields import COLOURED, ENTRY_MARKS, parse_lines
from forensics.formats.text import lines_of
from forensics.model.frames import least
from forensics.model.plug import Parsed, Transport

FIRST = re.compile(rb"\s*\{\r?\n\s+\"")
TIMED = re.compile(rb'(?m)^\s+"(?:__REALTIME_TIMESTAMP|__CURSOR)" ?: ')


def sniff(head: bytes) -> float:
    """1 where the first object stands over several lines and has journald's own fields."""
    head = COLOURED.sub(b"", head) if b"\x1b" in head else head
    return 1.0 if FIRST.match(head) and TIMED.search(head) else 0.0


def parse(data: bytes) -> Parsed:
    """Turn a whole file into records; an object that is cut off or broken is unparsed with all its lines."""
    raw = pl.DataFrame({"raw": lines_of(COLOURED.sub(b"", data) if b"\x1b" in data else data)})
    raw = raw.with_row_index("line", offset=1).with_columns(pl.col("raw").str.strip_chars())
    raw = raw.with_columns(starts=raw["raw"] == "{", blank=raw["raw"] == "")
    raw = raw.with_columns(number=pl.col("starts").cum_sum())
    inside = raw.filter(~pl.col("blank"))
    objects = inside.group_by("number", maintain_order=True).agg(
        pl.col("line").first(), lines=pl.len(), text=pl.col("raw").str.join("")
    )
    whole = objects.filter(
        pl.col("text").str.json_path_match("$").str.starts_with("{").fill_null(value=False)
    )
    left = objects.filter(~pl.col("line").is_in(whole["line"].implode()))
    parsed = parse_lines(whole)
    return Parsed(
        records=parsed.records,
        in_records=int(whole["lines"].sum()),
        blank=int(raw["blank"].sum()),
        unparsed=int(left["lines"].sum()),
        first_unparsed=least(left["line"]),
        notes=parsed.notes,
    )


PLUG = Transport(
    name="journald_json_pretty",
    title="journalctl -o json-pretty",
    marks=ENTRY_MARKS,
    sniff=sniff,
    parse=parse,
    samples=(
        '{\n\t"__REALTIME_TIMESTAMP" : "1798761480000000",\n\t"_SYSTEMD_UNIT" : "api.service",\n\t"_PID" : "812",\n\t"MESSAGE" : "GET /health \\"ok\\""\n}',
        '{\n\t"MESSAGE" : [\n\t\t111,\n\t\t107\n\t],\n\t"__CURSOR" : "s=92;i=2",\n\t"__REALTIME_TIMESTAMP" : "1798761481000000",\n\t"CONTAINER_NAME" : "gateway"\n}',
    ),
)
