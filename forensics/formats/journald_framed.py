"""The objects of ``journalctl -o json`` one a line behind a prefix, as two of its outputs write them.

Reference: systemd src/shared/logs-show.c, output_json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forensics.formats.journald_fields import ENTRY_MARKS, between_entries, prefixed, share_of_objects
from forensics.model.plug import Parsed, Transport

if TYPE_CHECKING:
    from collections.abc import Sequence

OBJECTS = (
    '{"__REALTIME_TIMESTAMP":"1798761480000000","__CURSOR":"s=92;i=1;b=aa;m=1d;t=66;x=83","_SYSTEMD_UNIT":"api.service","_PID":"812","_TRANSPORT":"stdout","PRIORITY":"6","MESSAGE":"GET /health HTTP/1.1 200"}',
    '{"MESSAGE":[27,91,51,50,109,111,107,27,91,48,109],"__CURSOR":"s=92;i=2","__REALTIME_TIMESTAMP":"1798761481000000","CONTAINER_NAME":"gateway","PRIORITY":"6"}',
)


def framed_transport(name: str, title: str, prefix: str) -> Transport:
    """Return the transport of such an output."""
    frame = prefix.encode()

    def sniff(head: bytes) -> float:
        lines = [line for line in head.split(b"\n")[:-1] or [head] if line.strip()]
        framed = [line.removeprefix(frame) for line in lines if line.startswith(frame)]
        return share_of_objects(framed) * len(framed) / len(lines) if lines else 0.0

    def parse(data: bytes) -> Parsed:
        return prefixed(data, prefix)

    def safe_cut(before: Sequence[bytes], line: bytes) -> bool:
        return line.startswith(frame) and between_entries(before)

    return Transport(
        name=name,
        title=title,
        marks=ENTRY_MARKS,
        sniff=sniff,
        parse=parse,
        samples=tuple(prefix + text for text in OBJECTS),
        safe_cut=safe_cut,
    )
