"""The binary file of sysstat's collector (``/var/log/sysstat/sa29``), which is declined.

Its layout is bound to the version of sysstat and to the machine's byte order; ``sadf`` of the same version writes it as JSON.

Reference: sysstat/sysstat sa.h (SYSSTAT_MAGIC, FORMAT_MAGIC).
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - part of the plug's signature
from pathlib import Path  # noqa: TC003 - part of the plug's signature

from forensics.model.errors import UnreadableError
from forensics.model.plug import Monitor, Parsed

MAGIC = (b"\x96\xd5", b"\xd5\x96")


def sniff(head: bytes) -> float:
    """1 for sysstat's magic, in either byte order."""
    return 1.0 if head.startswith(MAGIC) and b"\0" in head[:64] else 0.0


def parse(path: Path, fields: Mapping[str, str]) -> Parsed:
    """Say how to export it."""
    del fields
    raise UnreadableError(
        "a binary file of sysstat, bound to its version",
        remedy=f"export it on its host: sadf -j {path.name} -- -A > {path.name}.json",
    )


PLUG = Monitor(
    name="sysstat_binary",
    title="system activity, binary (saNN)",
    marks="nothing: it is declined",
    sniff=sniff,
    parse=parse,
    binary=True,
    reference="sysstat/sysstat sa.h",
)
