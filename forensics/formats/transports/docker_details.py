"""``docker logs --timestamps --details``: the logging attributes of the container stand between stamp and message.

    2026-11-29T12:33:46.560919690Z svc=api,tag=lab-1%2Fdb1ef129ebce labelled

Attributes are the labels and variables that the container's ``--log-opt`` names, and its tag; names and values are
percent-encoded and the same on every line, which tells them from a message that begins with ``key=value``. The time
is when the engine received the line. Reference: moby/moby api/server/httputils/write_log_stream.go.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

import polars as pl

from forensics.formats import heads
from forensics.formats.prefixed import Prefix, prefixed_transport

if TYPE_CHECKING:
    from collections.abc import Sequence

PATTERN = r"^(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}(?:Z|[+-]\d\d:\d\d)) (?P<attrs>[\w.%-]+=[^\s,=\"']*(?:,[\w.%-]+=[^\s,=\"']*)*) (?P<message>.*)$"
LOGFMT = re.compile(
    r"^(?:time|ts|t|level|lvl|msg|severity|at|caller|logger|source|event|method|path|status)="
)
"""Keys with which a structured message begins."""
NAMED = ("com.docker.compose.service", "com.docker.swarm.service.name", "service", "svc", "app", "name")


def scored(lines: Sequence[str]) -> float:
    """Score lines whose attributes are all the same."""
    given = [found["attrs"] for found in heads.groups(lines, PATTERN)]
    if len(set(given)) != 1 or LOGFMT.match(given[0] or ""):
        return 0.0
    return len(given) / len(lines)


def finish(table: pl.DataFrame) -> pl.DataFrame:
    """Name the service by the attributes."""
    names = {text: service(text) for text in table["attrs"].drop_nulls().unique().to_list()}
    return table.with_columns(
        service=pl.col("attrs").replace_strict(names, default=None, return_dtype=pl.String)
    )


def service(attrs: str) -> str | None:
    """Return the service that attributes name: a label for it, else the tag without the container's id."""
    pairs = [part.partition("=") for part in attrs.split(",")]
    said = {unquote(name): unquote(value) for name, _, value in pairs}
    for name in NAMED:
        if said.get(name):
            return said[name]
    tag = re.sub(r"/?\b[0-9a-f]{12}(?:[0-9a-f]{52})?$", "", said.get("tag", ""))
    return tag or None


PLUG = prefixed_transport(
    "docker_details",
    "docker logs --timestamps --details",
    "receipt of the line by the Docker engine",
    Prefix(pattern=PATTERN, finish=finish, score=scored),
    ("2026-11-29T12:33:46.560919690Z svc=api,tag=lab-1%2Fdb1ef129ebce labelled",),
    reference="moby/moby api/server/httputils/write_log_stream.go",
)
