"""CloudWatch Logs exported to S3: stamp and message, files ``STREAM/000000.gz``.

    2026-11-29T12:14:31.123Z INFO: ok

The time is when the event happened as its sender says, UTC with milliseconds. Events are not in the order of time; further lines of a message
stand bare. The folder is the stream, whose slashes became dashes. Reference: AWS, Exporting log data to Amazon S3; boto/boto3
create_export_task.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path  # noqa: TC003 - part of the plug's signature
from typing import TYPE_CHECKING

from forensics.formats import heads
from forensics.formats.continued import FURTHER
from forensics.formats.prefixed import Prefix, prefixed_transport

if TYPE_CHECKING:
    from collections.abc import Sequence

PATTERN = r"^(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (?P<message>.*)$"
BARE = 0.9
"""Other programs stamp their lines so too: a format that says more of the line goes first."""
PART = re.compile(r"^\d{6}(?:\.gz)?$")
ECS = re.compile(r"^.+?-(?P<container>[\w.-]+)-(?P<task>[0-9a-f]{32})$")


def scored(lines: Sequence[str]) -> float:
    """Score lines lower than a format that names more of them."""
    return BARE * heads.share(lines, PATTERN)


def stream(path: Path) -> str | None:
    """Return what the folder says of the stream: on ECS the container, else the stream."""
    if not PART.match(path.name):
        return None
    name = path.absolute().parent.name
    task = ECS.match(name)
    return task["container"] if task else name


PLUG = replace(
    prefixed_transport(
        "cloudwatch_export",
        "CloudWatch Logs exported to S3",
        "when the event happened, as its sender says",
        Prefix(pattern=PATTERN, continuation=FURTHER, score=scored),
        ("2026-11-29T12:14:31.123Z INFO: ok", "2026-11-29T12:14:30.000Z out of order"),
        reference="AWS, Exporting log data to Amazon S3",
    ),
    service=stream,
)
