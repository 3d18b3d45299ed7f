r"""``journalctl -o export``: ``NAME=value`` lines, an empty line after each entry.

A value with control characters is binary: ``NAME``, a newline, eight bytes of length (little endian), the bytes, a
newline. Its length may contain the byte of a newline, so that entries are found by cursor, never by splitting on
empty lines. The line of a record is that of its first field. Reference: systemd docs/JOURNAL_EXPORT_FORMATS.md.
"""

from __future__ import annotations

import re

import polars as pl

from forensics.formats.journald_fields import FIELDS, to_records
from forensics.model.plug import Parsed, Transport

FIRST = re.compile(rb"^(?:__CURSOR=s=[0-9a-f]{32};i=|[A-Z_][A-Z0-9_]*=)")
WANTED = {name.encode(): index for index, name in enumerate(FIELDS)}


def sniff(head: bytes) -> float:
    """1 where the first entry has journald's own time among its fields."""
    return 1.0 if FIRST.match(head) and re.search(rb"(?m)^__REALTIME_TIMESTAMP=\d+$", head[:16384]) else 0.0


def parse(data: bytes) -> Parsed:
    """Turn a whole export into records."""
    columns: list[list[str | None]] = [[] for _ in FIELDS]
    starts: list[int] = []
    line, blank, at, cut = 1, 0, 0, None
    while at < len(data):
        if data[at : at + 1] == b"\n":
            at, line, blank = at + 1, line + 1, blank + 1
            continue
        entry, after, broken = take_entry(data, at)
        if broken and not any(entry):
            break
        starts.append(line)
        for column, value in zip(columns, entry, strict=True):
            column.append(value)
        line += data.count(b"\n", at, after)
        at, cut = after, line if broken else None
        if broken:
            break
    rest = data[at:]
    lost = rest.count(b"\n") + (bool(rest) and not rest.endswith(b"\n"))
    inside = line - 1 - blank + (cut is not None and not data[:at].endswith(b"\n"))
    table = pl.DataFrame(
        {"line": starts, **dict(zip(FIELDS, columns, strict=True))},
        schema={"line": pl.UInt32, **dict.fromkeys(FIELDS, pl.String)},
    )
    notes = ("the last entry is cut off",) if cut is not None or rest else ()
    return Parsed(
        records=to_records(table),
        in_records=inside,
        blank=blank,
        unparsed=lost,
        first_unparsed=line if lost else None,
        notes=notes,
    )


def take_entry(data: bytes, at: int) -> tuple[list[str | None], int, bool]:
    """Read one entry: (wanted fields, offset after its last field, was it cut off)."""
    found: list[str | None] = [None] * len(FIELDS)
    while at < len(data) and data[at : at + 1] != b"\n":
        end = data.find(b"\n", at)
        if end < 0:
            return found, len(data), True
        name, equals, value = data[at:end].partition(b"=")
        after = end + 1
        if not equals:
            size = int.from_bytes(data[after : after + 8], "little")
            value, after = data[after + 8 : after + 8 + size], after + 8 + size + 1
            if after > len(data):
                return found, len(data), True
        if (index := WANTED.get(name)) is not None and found[index] is None:
            found[index] = value.decode("utf-8", "replace")
        at = after
    return found, at, False


PLUG = Transport(
    name="journald_export",
    title="journalctl -o export",
    marks="the source's own time where it stamped one, else receipt by journald",
    sniff=sniff,
    parse=parse,
    samples=(
        "__CURSOR=s=0a60c3e7cdcb433b8e3acbe4c00d3461;i=7\n__REALTIME_TIMESTAMP=1795955215689627\n_SYSTEMD_UNIT=crm-api.service\n_PID=81\nMESSAGE=Application startup complete.\n",
    ),
    escaped=True,
)
