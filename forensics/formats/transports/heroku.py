"""``heroku logs``: source and dyno behind a stamp.

    2026-11-29T12:14:31.123456+00:00 heroku[router]: at=error code=H12 desc="Request timeout" method=GET path="/orders" …
    2026-11-29T12:14:32.000000+00:00 app[web.1]: INFO ok

The time is when the dyno or the platform wrote the line. ``heroku[web.1]`` is the platform about that dyno (exits, memory), ``app[api]``
the platform about a deployment. Logplex keeps 1,500 lines; lines over 10,000 bytes arrive in parts; L10 and L11 say that lines were dropped.
Reference: Heroku Dev Center, Logging; heroku/cli packages/cli/src/lib/run/log-displayer.ts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from forensics.formats.continued import FURTHER
from forensics.formats.prefixed import Prefix, prefixed_transport

if TYPE_CHECKING:
    from collections.abc import Iterator

PATTERN = r"^(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)) (?P<stream>[a-z][a-z0-9_-]*)\[(?P<service>[A-Za-z][\w.-]*)\]: ?(?P<message>.*)$"
DROPPED = r"Error L1[01]\b.*?(\d+) messages? dropped|Error L1[01] "


def finish(table: pl.DataFrame) -> pl.DataFrame:
    """Keep the platform's own speakers apart from an app's dynos; its errors state their severity."""
    platform = (pl.col("service") == "api") & (pl.col("stream") == "app")
    code = pl.col("message").str.contains(r"^at=error |^Error [RHL]\d+ |\bcode=H\d+ ")
    crashed = pl.col("message").str.contains(
        r"State changed from \w+ to crashed|Process exited with status [1-9]"
    )
    return table.with_columns(
        service=pl.when(platform).then(pl.lit("heroku-api")).otherwise("service"),
        level=pl.when((pl.col("stream") == "heroku") & (code | crashed)).then(pl.lit("error")),
    )


def notes(records: pl.DataFrame, asides: pl.Series) -> Iterator[str]:
    """Say where the platform dropped lines."""
    del asides
    if dropped := int(records["message"].str.contains(DROPPED).sum()):
        yield f"the platform dropped lines (L10 or L11), which it says {dropped} times: a log drain that keeps up loses none"


PLUG = prefixed_transport(
    "heroku",
    "heroku logs",
    "when the dyno or the platform wrote the line",
    Prefix(
        pattern=PATTERN,
        continuation=FURTHER,
        finish=finish,
        notes=notes,
        caps={
            100: "the command's default number of lines: export with -n 1500",
            1500: "as many lines as the platform keeps: earlier ones are only in a log drain",
        },
    ),
    (
        '2026-11-29T12:14:31.123456+00:00 heroku[router]: at=error code=H12 desc="Request timeout" method=GET path="/orders" host=crm.example.net request_id=1 fwd="203.0.113.4" dyno=web.1 connect=0ms service=30000ms status=503 bytes=0 protocol=https',
        '2026-11-29T12:14:32.000000+00:00 app[web.1]: INFO:     203.0.113.4:0 - "GET / HTTP/1.1" 200 OK',
        "2026-11-29T12:14:33+00:00 heroku[web.1]: State changed from up to crashed",
    ),
    reference="Heroku Dev Center, Logging",
    unconfirmed=True,
)
