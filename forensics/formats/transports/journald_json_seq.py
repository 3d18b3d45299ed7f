r"""``journalctl -o json-seq``: RFC 7464, a record separator (0x1E) before each object and a newline behind it.

The objects are those of ``-o json``. Reference: systemd src/shared/logs-show.c, output_json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forensics.formats.journald_fields import prefixed, share_of_objects
from forensics.model.plug import Parsed, Transport

if TYPE_CHECKING:
    from collections.abc import Sequence

PREFIX = "\x1e"


def sniff(head: bytes) -> float:
    """Share of lines that are such objects."""
    lines = [line for line in head.split(b"\n")[:-1] or [head] if line.strip()]
    framed = [line.removeprefix(PREFIX.encode()) for line in lines if line.startswith(PREFIX.encode())]
    return share_of_objects(framed) * len(framed) / len(lines) if lines else 0.0


def parse(data: bytes) -> Parsed:
    """Turn a shard into records."""
    return prefixed(data, PREFIX)


def safe_cut(before: Sequence[bytes], line: bytes) -> bool:
    """Cut between entries, but not where a long line was split shortly before."""
    return line.startswith(PREFIX.encode()) and not any(b'"line-max"' in text for text in before)


PLUG = Transport(
    name="journald_json_seq",
    title="journalctl -o json-seq",
    marks="the source's own time where it stamped one, else receipt by journald",
    sniff=sniff,
    parse=parse,
    samples=(
        '\x1e{"__REALTIME_TIMESTAMP":"1798761480000000","__CURSOR":"s=92;i=1;b=aa;m=1d;t=66;x=83","_SYSTEMD_UNIT":"api.service","_PID":"812","_TRANSPORT":"stdout","PRIORITY":"6","MESSAGE":"GET /health HTTP/1.1 200"}',
        '\x1e{"MESSAGE":[27,91,51,50,109,111,107,27,91,48,109],"__CURSOR":"s=92;i=2","__REALTIME_TIMESTAMP":"1798761481000000","CONTAINER_NAME":"gateway","PRIORITY":"6"}',
    ),
    safe_cut=safe_cut,
)
