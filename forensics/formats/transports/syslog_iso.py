"""A syslog file with RFC 3339 stamps: rsyslog's file format (the default of Debian 12) and syslog-ng's ``ts-format(iso)``.

    2026-11-29T12:25:42.120547+00:00 vm py[5]: multi#012line#011tab #033[31mred

journalctl's short-iso-precise has the same shape; rsyslog's octal escapes, a repetition or a priority in front (the forward format)
tell the two apart. Reference: rsyslog/rsyslog tools/syslogd.c RSYSLOG_FileFormat, RSYSLOG_ForwardFormat.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from forensics.formats import syslog_text
from forensics.formats.text import TextShape, text_transport

if TYPE_CHECKING:
    from forensics.model.plug import Parsed

START = (
    r"^(?:<(?P<level>\d{1,3})>)?(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)) "
)
SHAPE = TextShape(
    pattern=rf"{START}(?P<host>{syslog_text.HOST}) {syslog_text.TAGGED}",
    time="iso",
    zone="offset",
    continuation=r"^[ \t]",
    container=False,
)
FITS = rf"{START}{syslog_text.HOST}(?:{syslog_text.HAS_TAG}| last message repeated)"
EVIDENCE = r"^<\d{1,3}>"


def sniff(head: bytes) -> float:
    """Share of lines with a tag."""
    return syslog_text.score(head, FITS, EVIDENCE)


def parse(data: bytes) -> Parsed:
    """Turn a shard into records."""
    return syslog_text.finished(TEXT.parse(data))


TEXT = text_transport(
    "syslog_iso",
    "syslog file with RFC 3339 stamps (rsyslog)",
    "when the daemon received or the program stamped the message",
    SHAPE,
    (
        "2026-11-29T12:25:42.120547+00:00 vm py[5]: multi#012line#011tab #033[31mred",
        "<11>2026-11-29T12:25:42.120568+01:00 vm api[77]: db timeout",
        "2026-11-29T12:25:45+00:00 vm py[5]: message repeated 3 times: [ same message]",
    ),
)
PLUG = replace(TEXT, sniff=sniff, parse=parse, escaped=True)
