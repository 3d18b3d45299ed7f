"""A traditional syslog file: what RFC 3164 describes, written by rsyslog, syslog-ng, sysklogd or busybox.

    Nov  9 12:25:41 vm api[77]: db timeout
    <11>Nov 29 12:25:42 vm py[5]: multi#012line#011tab
    <156> oct 11 16:10:25 edge-1 gateway: GET /health 504
    Nov 29 12:25:45 vm last message repeated 3 times

The time is when the daemon received or the program stamped the message, local, without year and zone. journalctl's short output
has the same shape, but pads the day with a zero: only a blank, a priority in front, rsyslog's octal escapes or a repetition
tell the two apart. Reference: RFC 3164 4.1; rsyslog/rsyslog tools/syslogd.c RSYSLOG_TraditionalFileFormat.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from forensics.formats import syslog_text
from forensics.formats.text import TextShape, text_transport

if TYPE_CHECKING:
    from forensics.model.plug import Parsed

START = r"^(?:<(?P<level>\d{1,3})> ?)?(?P<time>[A-Za-z][a-z]{2} [ 0-3]\d \d\d:\d\d:\d\d) "
SHAPE = TextShape(
    pattern=rf"{START}(?P<host>{syslog_text.HOST}) {syslog_text.TAGGED}",
    time="%b %d %H:%M:%S",
    zone="none",
    continuation=r"^[ \t]",
    container=False,
)
FITS = rf"{START}{syslog_text.HOST}(?:{syslog_text.HAS_TAG}| last message repeated)"
EVIDENCE = r"^<\d{1,3}>|^[A-Z][a-z]{2}  \d "


def sniff(head: bytes) -> float:
    """Share of lines with a tag."""
    return syslog_text.score(head, FITS, EVIDENCE)


def parse(data: bytes) -> Parsed:
    """Turn a shard into records."""
    return syslog_text.finished(TEXT.parse(data))


TEXT = text_transport(
    "syslog_3164",
    "syslog file (RFC 3164)",
    "when the daemon received or the program stamped the message; local time without year and zone",
    SHAPE,
    (
        "Nov  9 12:25:41 vm api[77]: db timeout",
        "<11>Nov 29 12:25:42 vm py[5]: multi#012line#011tab",
        "<156> oct 11 16:10:25 edge-1 gateway: GET /health 504",
        "Nov 29 12:25:45 vm last message repeated 3 times",
    ),
)
PLUG = replace(TEXT, sniff=sniff, parse=parse, escaped=True)
