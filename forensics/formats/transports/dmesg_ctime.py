"""``dmesg -T``: the kernel's ring buffer with local times.

    [Sun Nov 29 12:40:10 2026] Out of memory: Killed process 4021 (node)

dmesg adds the seconds since the start to the time of the start, which it works out now: after a suspend all earlier lines are off by
its length. Reference: util-linux/util-linux sys-utils/dmesg.1, ``--ctime``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from forensics.formats import kernel
from forensics.formats.text import TextShape, text_transport

if TYPE_CHECKING:
    from forensics.model.plug import Parsed

SHAPE = TextShape(
    pattern=kernel.PREFIX
    + r"\[(?P<time>[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4})\] ?(?P<message>[^\[].*|)$",
    time="%a %b %e %H:%M:%S %Y",
    zone="none",
    continuation=r"^[ \t]",
    container=False,
)


def parse(data: bytes) -> Parsed:
    """Turn a shard into records."""
    return kernel.named(TEXT.parse(data))


TEXT = text_transport(
    "dmesg_ctime",
    "dmesg -T",
    "when the kernel wrote the line, by today's clock: local time without a zone, off after a suspend",
    SHAPE,
    (
        "[Sun Nov 29 12:40:10 2026] Out of memory: Killed process 4021 (node)",
        "kern  :info  : [Sun Nov  1 12:40:10 2026] eth0: link up",
    ),
)
PLUG = replace(TEXT, parse=parse)
