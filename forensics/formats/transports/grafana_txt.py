"""Grafana: logs downloaded from Explore as text.

    Common labels: {"app":"api"}
    Line limit: "1000 (2 returned)"
    …
    1795954471123	2026-11-29T12:14:31.123Z	INFO ok

Milliseconds and the same instant as ISO 8601 in UTC, then the line. Nanoseconds are cut. Newest first unless the view was turned. Further
lines of an entry stand bare. Reference: grafana/grafana public/app/features/inspector/utils/download.ts.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl

from forensics.formats.envelopes import SERVICE
from forensics.formats.prefixed import Prefix, prefixed_transport

if TYPE_CHECKING:
    from collections.abc import Iterator

PATTERN = r"^\d{12,14}\t(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)\t(?P<message>.*)$"
ASIDE = r"^Common labels: \{|^(?:Line limit|Limit|Total bytes processed|Error|Query|Log browser|Fields|Unique labels|Deduplication count): "
CONTINUES = r"^(?:[^\d\x00-\x08]|\d{1,11}[^\d])"
"""Any line that is neither stamped nor meta."""


def finish(table: pl.DataFrame) -> pl.DataFrame:
    """Name the service by the labels that all lines share."""
    shared = table.filter("aside")["full"].str.extract(r"^Common labels: (\{.*\})$").drop_nulls()
    labels: object = None
    if len(shared):
        try:
            labels = json.loads(shared[0])
        except (ValueError, RecursionError):
            labels = None
    named = (
        next((labels[name] for name in SERVICE if isinstance(labels.get(name), str)), None)
        if isinstance(labels, dict)
        else None
    )
    return table.with_columns(service=pl.lit(named, pl.String))


def notes(records: pl.DataFrame, asides: pl.Series) -> Iterator[str]:
    """Say where as many lines came back as were asked for at most."""
    del records
    said = (
        asides.str.extract_groups(r'^(?:Line )?[Ll]imit: "?(?P<most>\d+) \((?P<got>\d+) ')
        .struct.unnest()
        .drop_nulls()
    )
    for most, got in said.iter_rows():
        if most == got:
            yield f"as many lines came back as Grafana asks for at most ({most}): raise the limit, or export shorter spans one after another"


PLUG = prefixed_transport(
    "grafana_txt",
    "Grafana Explore logs, text",
    "what the data source stamped, cut to milliseconds",
    Prefix(pattern=PATTERN, continuation=CONTINUES, aside=ASIDE, finish=finish, notes=notes),
    (
        "1795954471123\t2026-11-29T12:14:31.123Z\tINFO ok",
        "1795954470000\t2026-11-29T12:14:30.000Z\tERROR boom",
    ),
    reference="grafana/grafana public/app/features/inspector/utils/download.ts",
)
