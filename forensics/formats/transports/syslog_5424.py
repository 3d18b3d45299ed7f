"""Syslog messages as RFC 5424 frames them, one a line.

    <11>1 2026-11-29T12:25:41.898773+00:00 vm api 77 - -  db timeout
    131 <165>1 2026-11-29T12:25:41.003Z web shop - ID47 [shop@32473 k="v"] the message

``<facility * 8 + severity>version time host app process message-id structured-data message``; each may be nil (``-``). A TCP
stream puts the number of bytes in front (RFC 6587). A byte order mark before the message says UTF-8. rsyslog writes control characters as
# and three octal digits. Reference: RFC 5424 6; rsyslog/rsyslog tools/syslogd.c RSYSLOG_SyslogProtocol23Format.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from forensics.formats import syslog_text
from forensics.formats.text import TextShape, text_transport

if TYPE_CHECKING:
    from forensics.model.plug import Parsed

SHAPE = TextShape(
    pattern=r"^(?:\d{1,6} )?<(?P<level>\d{1,3})>\d{1,2} (?P<time>-|\d{4}-\S+) (?P<host>\S+) (?P<service>\S+) (?P<pid>\S+) (?P<id>\S+) "
    r'(?P<data>-|(?:\[(?:[^\]"\\]|\\.|"(?:[^"\\]|\\.)*")*\])+) {0,2}(?P<message>.*)$',
    time="iso",
    zone="offset",
    continuation=r"^[ \t]+\S",
    container=False,
)


def parse(data: bytes) -> Parsed:
    """Turn a shard into records."""
    return syslog_text.finished(TEXT.parse(data))


TEXT = text_transport(
    "syslog_5424",
    "syslog messages (RFC 5424)",
    "when the program stamped the message",
    SHAPE,
    (
        "<11>1 2026-11-29T12:25:41.898773+00:00 vm api 77 - -  db timeout",
        '131 <165>1 2026-11-29T12:25:41.003Z web shop - ID47 [shop@32473 k="v\\"]"][x] \ufeffthe message',
        "<34>1 2026-11-29T12:25:41-03:00 - - - - - no names",
    ),
)
PLUG = replace(TEXT, parse=parse, escaped=True)
