"""``stern``: lines of several pods behind pod and container, usually with ``-t``.

    api-7c9f-abcde api 2026-11-29T12:14:31.123456789Z INFO ok

With all namespaces the namespace stands first. The time is when the container runtime received the line; in the zone
that stern was given. ``--timestamps=short`` has neither year nor zone and is not read. Lines with ``+`` or ``-`` say that
a container began or ended to be followed. Reference: stern/stern stern/tail.go, README.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from forensics.formats import heads
from forensics.formats.prefixed import STAMP, Prefix, prefixed_transport

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

POD = r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?-(?:[a-z0-9]{5}|\d{1,3})"
"""A pod of a deployment, a daemon set or a job ends in five characters, one of a stateful set in a number."""
STAMPED = rf"^(?:[a-z0-9][a-z0-9-]* )?(?P<pid>[a-z0-9][a-z0-9.-]*) (?P<service>[a-z0-9][a-z0-9-]*) (?P<time>{STAMP})(?: (?P<message>.*)|$)"
PATTERN = (
    rf"^(?:(?:[a-z0-9][a-z0-9-]* )?(?P<pid>[a-z0-9][a-z0-9.-]*) (?P<service>[a-z0-9][a-z0-9-]*) (?P<time>{STAMP})"
    rf"|(?:[a-z0-9][a-z0-9-]* )?(?P<pod>{POD}) (?P<container>[a-z0-9][a-z0-9-]*))(?: |$)(?P<message>.*)$"
)
BARE = rf"^(?:[a-z0-9][a-z0-9-]* )?(?P<pid>{POD}) (?P<service>[a-z0-9][a-z0-9-]*) (?P<message>.*)$"
ASIDE = r"^[+-] (?:\S+ )?\S+ \x{203A} \S+$"
MANY = 3
"""Lines for each pod and container from which names that repeat are taken for a prefix."""


def scored(lines: Sequence[str]) -> float:
    """Score lines by their stamp; without stamps the names must look like pods and repeat."""
    if stamped := heads.share(lines, STAMPED):
        return stamped
    named = [(found["pid"], found["service"]) for found in heads.groups(lines, BARE) if found["pid"]]
    if len(named) < MANY * max(1, len(set(named))):
        return 0.0
    return 0.9 * len(named) / len(lines)


def finish(table: pl.DataFrame) -> pl.DataFrame:
    """Name pod and container of lines without a stamp too."""
    return table.with_columns(pid=pl.coalesce("pid", "pod"), service=pl.coalesce("service", "container"))


def notes(records: pl.DataFrame, asides: pl.Series) -> Iterator[str]:
    """Say how to get stamps where there are none."""
    del asides
    if undated := records["ts"].null_count():
        yield f"lines without a time: {undated}; export them with stern --timestamps"


PLUG = prefixed_transport(
    "stern",
    "stern",
    "receipt of the line by the container runtime",
    Prefix(pattern=PATTERN, aside=ASIDE, finish=finish, notes=notes, score=scored),
    (
        "api-7c9f-abcde api 2026-11-29T12:14:31.123456789Z INFO ok",
        "api-7c9f-abcde istio-proxy 2026-11-29T12:14:31.200000000+01:00 x",
        "shop db-0 postgres 2026-11-29T12:14:31.200000000Z checkpoint starting: time",
    ),
    reference="stern/stern stern/tail.go",
)
