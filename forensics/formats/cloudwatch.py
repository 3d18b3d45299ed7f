"""What the names of CloudWatch's groups and streams say."""

from __future__ import annotations

import polars as pl

INSIGHTS_CAP = {
    1000: "the default limit of an Insights query: add | limit 10000, or export shorter spans one after another",
    10000: "the most that one page of CloudWatch gives: export shorter spans one after another",
}
TASK = r"^[^/]+/(?P<container>[^/\s]+)/(?P<task>[0-9a-f-]{4,36})$"
"""Stream of the awslogs driver on ECS: prefix, container, task."""
DATED = r"^\d{4}/\d\d/\d\d/"
"""Stream of a Lambda function: its group is its name."""


def stream_parts(stream: pl.Expr, group: pl.Expr | None = None) -> tuple[pl.Expr, pl.Expr]:
    """Return service and process: container and task on ECS, the function, else the stream's own name."""
    said = stream.str.extract_groups(TASK)
    container, task = said.struct.field("container"), said.struct.field("task")
    plain = pl.when((stream != "") & ~stream.str.contains(DATED)).then(stream)
    last = group.str.extract(r"([^/]+)$") if group is not None else pl.lit(None, pl.String)
    return pl.coalesce(container, plain, last), task
