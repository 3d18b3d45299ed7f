"""Lines without any time: ``journalctl -o cat``, ``docker logs`` without ``--timestamps``, a program's redirected output.

Nothing in such a file says when a line was printed, so that none is placed on the timeline; what the lines say is still read
and counted. It is the last resort of recognition: no score chooses it, only that lines have a known message format and no
transport fits.
"""

from __future__ import annotations

import polars as pl

from forensics.formats.text import ANSI, lines_of
from forensics.model.plug import Parsed, Transport
from forensics.model.schema import RECORDS, conform

NO_TIME = "its lines carry no time, so that nothing in it can be placed: export again with journalctl -o short-iso-precise, or docker logs --timestamps"


def parse(data: bytes) -> Parsed:
    """Turn every line into an undated record."""
    lines = lines_of(data)
    text = lines.str.strip_suffix("\r")
    if b"\x1b" in data:
        text = text.str.replace_all(ANSI, "")
    table = pl.DataFrame({"message": text}).with_row_index("line", offset=1)
    blank = table["message"].str.strip_chars() == ""
    records = conform(table.filter(~blank).with_columns(naive=pl.lit(value=False)), RECORDS)
    return Parsed(records=records, in_records=records.height, blank=int(blank.sum()), notes=(NO_TIME,))


PLUG = Transport(
    name="bare",
    title="lines without a time",
    marks="nothing: the lines carry no time",
    sniff=lambda _head: 0.0,
    parse=parse,
    samples=('INFO:     203.0.113.15:0 - "GET /api/contacts HTTP/1.1" 200 OK', "level=info msg=started"),
    safe_cut=lambda _before, line: not line.startswith((b" ", b"\t")) and bool(line.strip()),
)
