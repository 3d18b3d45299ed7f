"""``aws logs tail --format short``: stamp and message.

    2026-11-29T12:14:31 INFO: ok

The time is when the event happened as its sender says: UTC, though no zone is written, in whole seconds. Messages are printed with the lines that
they have. Reference: aws/aws-cli awscli/customizations/logs/tail.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forensics.formats import heads
from forensics.formats.continued import FURTHER
from forensics.formats.prefixed import Prefix, prefixed_transport

if TYPE_CHECKING:
    from collections.abc import Sequence

PATTERN = r"^(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d) (?P<message>.*)$"
BARE = 0.9
"""Other programs stamp their lines so too: a format that says more of the line goes first."""


def scored(lines: Sequence[str]) -> float:
    """Score lines lower than a format that names more of them."""
    return BARE * heads.share(lines, PATTERN)


PLUG = prefixed_transport(
    "aws_logs_short",
    "aws logs tail --format short",
    "when the event happened, as its sender says; seconds, UTC",
    Prefix(
        pattern=PATTERN,
        time="%Y-%m-%dT%H:%M:%S",
        continuation=FURTHER,
        score=scored,
    ),
    ("2026-11-29T12:14:31 INFO: ok", "2026-11-29T12:14:32 ERROR boom"),
    reference="aws/aws-cli awscli/customizations/logs/tail.py",
)
