"""``logcli query`` (default output): stamp, labels that differ, line; newest first.

    2026-11-29T12:14:31Z {app="api", env="prod"} INFO ok

The time is the entry's, as whoever sent it stamped it, in seconds and the zone of the client (its offset is written). Labels that all
streams share are printed once above, on standard error, or not at all. Further lines of an entry stand bare. Reference:
grafana/loki pkg/logcli/output/default.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from forensics.formats import heads
from forensics.formats.continued import FURTHER
from forensics.formats.envelopes import POD, SERVICE, SEVERITY, first_of
from forensics.formats.inner import level
from forensics.formats.prefixed import Prefix, prefixed_transport

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PATTERN = r'^(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)) (?P<labels>\{(?:[\w.:]+="(?:[^"\\]|\\.)*"(?:, ?|\}))+|\{\}) *(?P<message>.*)$'
ASIDE = r"^Common labels: |^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d (?:https?://|Common labels: |Ignoring |Removing )|^https?://\S+/loki/api/"


def pick(names: Iterable[str]) -> pl.Expr:
    """Return the first of several labels that is there."""
    return first_of(
        *[
            pl.col("labels").str.extract(rf'[{{ ,]{name}="((?:[^"\\]|\\.)*)"')
            for name in names
            if name.replace("_", "").isalnum()
        ]
    )


def scored(lines: Sequence[str]) -> float:
    """Score lines by their labels, which no other line has at that place."""
    return heads.share(lines, PATTERN)


def finish(table: pl.DataFrame) -> pl.DataFrame:
    """Name service, pod and level by the labels; those that all streams share stand above."""
    shared = table.filter("aside")["full"].str.extract(r"Common labels: (\{.*\})").drop_nulls()
    if len(shared):
        table = table.with_columns(labels=pl.concat_str("labels", pl.lit(shared[0])))
    return table.with_columns(
        service=pick(SERVICE).str.strip_suffix(".service"), pid=pick(POD), level=level(pick(SEVERITY))
    )


PLUG = prefixed_transport(
    "loki_text",
    "Loki, logcli (default output)",
    "what the sender stamped (Loki's entry time), in seconds",
    Prefix(
        pattern=PATTERN,
        continuation=FURTHER,
        aside=ASIDE,
        finish=finish,
        score=scored,
        caps={
            30: "logcli's default limit: export with --limit and --forward, or check that there is no more",
            5000: "Loki's default limit of a query: export shorter spans one after another",
        },
    ),
    (
        '2026-11-29T12:14:31Z {app="api", env="prod"} INFO:     203.0.113.21:0 - "GET /health HTTP/1.1" 200 OK',
        '2026-11-29T13:14:30+01:00 {app="api"}             ERROR: boom',
        "2026-11-29T12:14:29Z {} ready: yes",
    ),
    reference="grafana/loki pkg/logcli/output/default.go",
)
