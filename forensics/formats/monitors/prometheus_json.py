"""Series of Prometheus as its API, ``promtool query -o json`` or VictoriaMetrics' export give them.

    {"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"up","job":"node"},"values":[[1795955155.201,"1"]]}]}}
    [{"metric":{"__name__":"up"},"values":[[1795955154,"1"]]}]
    {"metric":{"__name__":"up"},"values":[1],"timestamps":[1795955154000]}

The time is that of the scrape in an instant query over a range (``up[5m]``), else of the step of the query, always UTC. A range query
repeats the last value for up to 5 minutes. Values are text, also ``NaN`` and ``+Inf``. An answer that says ``error`` holds none, and what it says is
passed on.

Reference: prometheus/prometheus docs/querying/api.md, cmd/promtool/main.go.
"""

from __future__ import annotations

import re
from pathlib import Path  # noqa: TC003 - part of the plug's signature
from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.formats.jsonl import head_values, listing, mapping, number, read, text
from forensics.formats.prometheus import POINTS, STALE, told
from forensics.model.plug import Monitor, Parsed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ANSWER = re.compile(
    rb'^\s*\{\s*"status"\s*:\s*"(?:error"\s*,\s*"errorType"|success"[^\0]{0,400}?"resultType"\s*:\s*"(?:matrix|vector|scalar|string)")'
)
STEPS = 3
"""Values from which a constant distance is a step."""


def sniff(head: bytes) -> float:
    """1 for an answer of the API, or a list of series."""
    if ANSWER.search(head.removeprefix(b"\xef\xbb\xbf")):
        return 1.0
    first = next(iter(head_values(head)), None)
    rows = [mapping(item) for item in first] if isinstance(first, list) else [mapping(first)]
    return 1.0 if rows and all(is_series(row) for row in rows) else 0.0


def is_series(row: Mapping[str, Any]) -> bool:
    """Is this a series with values?"""
    return isinstance(row.get("metric"), dict) and ("values" in row or "value" in row)


def parse(path: Path, fields: Mapping[str, str]) -> Parsed:
    """Read every value; a row is named by its ordinal."""
    del fields
    document = read(path)
    answers = [mapping(value) for value in document.values]
    refused = [
        f"Prometheus answered with an error ({answer.get('errorType')}: {str(answer.get('error'))[:200]}) and no samples: "
        "correct the query and export again"
        for answer in answers
        if answer.get("status") == "error"
    ]
    rows = [
        (labels(metric), seconds, value)
        for value_ in document.values
        for metric, seconds, value in points(value_)
    ]
    table = pl.DataFrame(
        [
            (index, name, rest, round(seconds * 1e6) if seconds is not None else None, value)
            for index, ((name, rest), seconds, value) in enumerate(rows, 1)
        ],
        schema=POINTS,
        orient="row",
    )
    said = told(table)
    notes = [
        *document.notes,
        *refused,
        *(str(item) for answer in answers for item in listing(answer.get("warnings"))),
    ]
    if stepped(table):
        notes.append(STALE)
    return Parsed(beats=said.beats, samples=said.samples, notes=(*notes, *said.notes))


def points(value: Any) -> Iterator[tuple[dict[str, Any], float | None, float | None]]:
    """Yield (metric, seconds, value) of an answer, a list of series, or one series."""
    if isinstance(value, list):
        for item in value:
            if is_series(mapping(item)):
                yield from series(item)
    elif isinstance(value, dict) and is_series(value):
        yield from series(value)
    elif isinstance(value, dict):
        data = mapping(value.get("data"))
        if data.get("resultType") in ("scalar", "string"):
            yield from series({"metric": {}, "value": data.get("result")})
        else:
            yield from points(data.get("result"))


def series(row: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], float | None, float | None]]:
    """Yield the values of one series."""
    metric = mapping(row.get("metric"))
    pairs = listing(row.get("values")) or [row.get("value")]
    if stamps := listing(row.get("timestamps")):
        for value, ms in zip(pairs, stamps, strict=False):
            at = number(ms)
            yield metric, at / 1000 if at is not None else None, float_of(value)
        return
    for pair in pairs:
        if isinstance(pair, list) and len(pair) == 2:
            yield metric, number(pair[0]), float_of(pair[1])


def float_of(value: object) -> float | None:
    """Return a value, which may be NaN or infinite."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def labels(metric: Mapping[str, Any]) -> tuple[str, str]:
    """Return the name of a series and its other labels as text."""
    rest = (f'{key}="{value}"' for key, value in sorted(metric.items()) if key != "__name__")
    return text(metric.get("__name__")) or "", ", ".join(rest)


def stepped(table: pl.DataFrame) -> bool:
    """Do all series stand on one grid? Then it is a range query."""
    stamps = table["ts"].drop_nulls().unique().sort()
    return len(stamps) >= STEPS and stamps.diff().drop_nulls().n_unique() == 1


PLUG = Monitor(
    name="prometheus_json",
    title="Prometheus series, JSON",
    marks="the scrape, or the step of the query; UTC",
    sniff=sniff,
    parse=parse,
    binary=True,
    reference="prometheus/prometheus docs/querying/api.md",
)
