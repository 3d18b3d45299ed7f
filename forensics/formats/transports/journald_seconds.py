"""``journalctl -o short-unix``, ``short-monotonic`` and ``short-delta``: stamps that are a number of seconds.

Those of short-unix count from 1970 and date a line. Those of the other two count from the start of the host, which
nothing in the file states: their records keep their order and have no time. Reference: systemd
src/shared/logs-show.c, output_short.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from forensics.formats.text import TextShape, text_transport

if TYPE_CHECKING:
    from forensics.model.plug import Parsed

HOST = r"[^\s\[\]:]+(?::+[^\s\[\]:]+)*"
SHAPE = TextShape(
    pattern=r"^(?P<time>\d{9,10}\.\d{6}|\[ *\d+\.\d{6}(?: +| <[ \d.]+[ *]>)?\]) "
    rf"(?:(?P<host>{HOST}) )?"
    r"(?P<service>[^\[\]: ][^\[:]*?)(?:\[(?P<pid>\d+)\])?: (?P<message>.*)$",
    time="epoch",
    zone="utc",
    continuation="^ {20,}",
    container=False,
)
FROM_BOOT = re.compile(rb"(?m)^\[ *\d+\.\d{6}[^\]\n]*\] " + HOST.encode() + rb" [^\[\n:]+\[\d+\]: ")
"""An entry with a process: the kernel's own ring buffer has lines of this shape, but none with a host and a process."""
UNDATED = "its times are seconds since the host started and place no line: export again with journalctl -o short-iso-precise"
TEXT = text_transport(
    "journald_seconds",
    "journalctl -o short-unix, short-monotonic or short-delta",
    "the source's own time where it stamped one, else receipt by journald; none in short-monotonic and short-delta",
    SHAPE,
    (
        "1798761482.999000 web-1 systemd[1]: api.service: Failed with result 'exit-code'.",
        "1798761483.100000 web-1 kernel: Out of memory: Killed process 812 (uvicorn) total-vm:2048kB",
        "1798761483.200000 systemd[1]: api.service: Scheduled restart job, restart counter is at 1.",
    ),
)


def sniff(head: bytes) -> float:
    """Share of lines that fit; seconds from the start of the host need an entry that only journalctl prints."""
    from_boot = re.search(rb"(?m)^\[ *\d+\.\d{6}", head)
    return TEXT.sniff(head) if not from_boot or FROM_BOOT.search(head) else 0.0


def parse(data: bytes) -> Parsed:
    """Turn a shard into records, and say why some have no time."""
    parsed = TEXT.parse(data)
    assert parsed.records is not None
    undated = parsed.records["ts"].null_count() > 0
    return replace(parsed, notes=(*parsed.notes, UNDATED)) if undated else parsed


PLUG = replace(TEXT, sniff=sniff, parse=parse)
