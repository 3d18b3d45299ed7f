"""``aws logs tail`` in its detailed format: stamp, stream, message.

    2026-11-29T12:14:31.123000+00:00 api/web/0123 INFO: ok

The time is when the event happened as its sender says, UTC with six digits. The stream names container and task on ECS. Messages are
printed with the lines that they have. Reference: aws/aws-cli awscli/customizations/logs/tail.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from forensics.formats import heads
from forensics.formats.cloudwatch import stream_parts
from forensics.formats.continued import FURTHER
from forensics.formats.prefixed import Prefix, prefixed_transport

if TYPE_CHECKING:
    from collections.abc import Sequence

PATTERN = r"^(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}000\+00:00) (?P<stream>[^\s:*]+) (?P<message>.*)$"
TAGGED = r"^\S+ [^\s/]+ [^\s\[\]:/]+(?:\[\d+\])?: "
"""A journal or syslog line has a program behind a host, a host has no slash."""


def scored(lines: Sequence[str]) -> float:
    """Score lines whose second word is no host before a program."""
    fits = heads.fitting(lines, PATTERN)
    return (len(fits) - len(heads.fitting(fits, TAGGED))) / len(lines)


def finish(table: pl.DataFrame) -> pl.DataFrame:
    """Name container and task by the stream."""
    service, pid = stream_parts(pl.col("stream"))
    return table.with_columns(service=service, pid=pid, stream=pl.lit(None, pl.String))


PLUG = prefixed_transport(
    "aws_logs_tail",
    "aws logs tail",
    "when the event happened, as its sender says",
    Prefix(pattern=PATTERN, continuation=FURTHER, finish=finish, score=scored),
    (
        "2026-11-29T12:14:31.123000+00:00 api/web/0123 INFO: ok",
        "2026-11-29T12:14:32.000000+00:00 2026/11/29/[$LATEST]0f9e6bc1 ERROR boom",
    ),
    reference="aws/aws-cli awscli/customizations/logs/tail.py",
)
