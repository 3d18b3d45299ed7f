"""pino and bunyan: one JSON object a line.

    {"level":30,"time":1795955634146,"pid":1,"hostname":"c41f","context":"NestApplication","msg":"Gateway started"}

``time`` (epoch ms) is when the line was written. Reference: pinojs/pino docs/api.md.
"""

from __future__ import annotations

import polars as pl

from forensics.model.plug import MessageFormat

SEPARATOR = "\x1f"


def prepare(message: pl.Expr) -> pl.Expr:
    """Join the fields that matter, so that one pattern can read them."""
    is_object = message.str.starts_with('{"') & message.str.contains('"msg":', literal=True)
    text = pl.when(is_object).then(message)
    part = [
        text.str.json_path_match(f"$.{name}").fill_null("") for name in ("level", "time", "context", "msg")
    ]
    return pl.when(is_object).then(pl.concat_str(part, separator=SEPARATOR))


PLUG = MessageFormat(
    name="pino",
    title="pino or bunyan JSON",
    kind="log",
    marks="when the line was written",
    anchors=('"msg":',),
    pattern=r"^(?P<level>\d{2}|trace|debug|info|warn|error|fatal)\x1f(?P<epoch>\d*)\x1f(?P<context>[^\x1f]*)\x1f(?P<message>(?s:.*))$",
    levels={
        "10": "debug",
        "20": "debug",
        "30": "info",
        "40": "warning",
        "50": "error",
        "60": "critical",
        "warn": "warning",
        "error": "error",
        "fatal": "critical",
    },
    prepare=prepare,
    samples=(
        '{"level":30,"time":1795955634146,"pid":1,"hostname":"c41f2d7a90be","context":"NestApplication","msg":"Gateway started on port 21022"}',
    ),
    reference="https://github.com/pinojs/pino/blob/main/docs/api.md",
)
