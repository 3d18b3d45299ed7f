"""``dmesg``: the kernel's ring buffer, dated by seconds since the kernel started.

    [ 2117.871970] Out of memory: Killed process 4021 (node)
    kern  :err   : [ 2117.871970 <    0.128031>] Out of memory: Killed process 4021 (node)
    [  +0.128031] Out of memory: Killed process 4021 (node)

The second is ``-x -d``, the third ``-H``, which dates the first line of a minute (``[Nov29 22:57]``) by a clock that a suspend puts wrong. Nothing in the file says when that was, so that its records keep their order and have no time. Reference: util-linux/util-linux
sys-utils/dmesg.c.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from forensics.formats import kernel
from forensics.formats.text import TextShape, text_transport

if TYPE_CHECKING:
    from forensics.model.plug import Parsed

SHAPE = TextShape(
    pattern=kernel.PREFIX
    + r"\[(?P<time> *\d+\.\d{6}(?: <[ \d.]+>)?|[A-Z][a-z]{2}\d\d \d\d:\d\d| +\+\d+\.\d{6})\] ?(?P<message>.*)$",
    time="epoch",
    zone="utc",
    continuation=r"^[ \t]",
    container=False,
)
JOURNAL = re.compile(rb"(?m)^\[ *\d+\.\d{6}[^\]\n]*\] [^\s\[\]:]+ [^\[\n:]+\[\d+\]: ")
"""Host and process: journalctl's short-monotonic prints them, the ring buffer has no host."""


def sniff(head: bytes) -> float:
    """Share of lines that fit, unless a journal wrote them."""
    return 0.0 if JOURNAL.search(head) else TEXT.sniff(head)


def parse(data: bytes) -> Parsed:
    """Turn a shard into records without a time."""
    parsed = kernel.named(TEXT.parse(data), kernel.UNDATED)
    assert parsed.records is not None
    return replace(parsed, records=parsed.records.with_columns(ts=pl.lit(None, dtype=pl.Int64)))


TEXT = text_transport(
    "dmesg",
    "dmesg (seconds since the kernel started)",
    "when the kernel wrote the line, counted from its start: no instant",
    SHAPE,
    (),
)
PLUG = replace(TEXT, sniff=sniff, parse=parse)
