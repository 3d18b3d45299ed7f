"""From a message to an event: which message format does each line have, and what does it say?

The format that names most parts of a line gets it; a line that none claims stays a plain log line. Lines of a
traceback are told from records by their shape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from forensics.formats.bare import FEW, NEEDS, Head, has_year, order
from forensics.formats.continued import CHAIN, CONTINUATION, EXCEPTION
from forensics.formats.starts import start
from forensics.formats.text import is_offset, stamp_and_zone

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeVar

    Table = TypeVar("Table", pl.DataFrame, pl.LazyFrame)

    from forensics.model.plug import MessageFormat

DURATION = r"(?:\((?P<bracket>\d+(?:\.\d+)?) ?ms\)$|\bafter (?P<after>\d+(?:\.\d+)?) ?ms\b|\s(?P<last>\d+(?:\.\d+)?) ?ms$)"
"""How long an operation took, where a log line says so at its end."""
SECRETS = (
    (r"(?i)(cookie[\w-]*[\"']?\s*[:=]\s*).+", "${1}<secret>"),
    (
        r"\b([Bb]asic|[Bb]earer|BEARER|BASIC)\s+[A-Za-z0-9+/=._~-]*[A-Z0-9=][A-Za-z0-9+/=._~-]{4,}",
        "${1} <secret>",
    ),
    (
        r"(?i)((?:passw|passphrase|pwd|senha|secret|token|api[_-]?key|private[_-]?key|credential|authorization|signature|session[_-]?id)[\w-]*[\"']?\s*[:=]\s*[\"']?)[^\s\"']+",
        "${1}<secret>",
    ),
    (r"://[^\s/@\"']*@", "://<secret>@"),
    (r"(hooks\.slack\.com/|discord(?:app)?\.com/api/webhooks/|api\.telegram\.org/bot)\S+", "${1}<secret>"),
)
"""What is masked before digits are: a template of a secret is no secret to those who look for one, and shows all of it but digits."""
MASKS = (
    (r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}", "<uuid>"),
    (r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z\b|[+-]\d\d:?\d\d\b)?", "<time>"),
    (r"[\w.+-]+@[\w-]+\.[\w.-]+", "<email>"),
    (r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b", "<ip>"),
    (r"\b(?:0x)?[0-9a-fA-F]*\d[0-9a-fA-F]{7,}\b|\b[0-9A-F]{12,}\b", "<id>"),
    (
        (
            r"[A-Za-z_+=-]*\d[A-Za-z_+=-]*\d[A-Za-z0-9_+=-]{9,}(?:\n[ \t]*[A-Za-z0-9+/_-]{16,})*"
            r"(?:\n[ \t]*[A-Za-z0-9+/_-]*(?:[0-9+/]|[a-z][A-Z])[A-Za-z0-9+/_-]*={0,2}(\s|$))?"
        ),
        "<id>${1}",
    ),
    (r"[A-Za-z0-9+/_-]*[A-Z0-9][A-Za-z0-9+/_-]{4,}={1,2}([\s\"']|$)", "<id>${1}"),
    (r"\d+(?:\.\d+)?", "<n>"),
)
"""What varies between two lines of one template, most specific first."""
EVENTS = {
    "format": pl.String(), "kind": pl.String(), "method": pl.String(), "path": pl.String(), "status": pl.Int16(), "client": pl.String(),
    "agent": pl.String(), "duration_ms": pl.Float64(), "body": pl.String(), "said_level": pl.String(), "unit": pl.String(),
    "series": pl.String(), "value": pl.Float64(), "limit": pl.Float64(), "own_us": pl.Int64(), "own_naive": pl.Boolean(),
}  # fmt: skip
"""Columns that :func:`understand` adds to records."""
NO_CLAIM = pl.DataFrame(schema={"row": pl.UInt32, **EVENTS})
GROUPS = ("method", "path", "status", "client", "agent", "duration_ms", "unit", "series", "value", "limit")
"""Groups of a pattern that are columns of events as they are."""
NO_SERVICE = r"^(?i:WARN|WARNING|ERROR|ERR|INFO|DEBUG|TRACE|FATAL|CRITICAL|NOTICE|LOG)$|(?:Exception|Error)$"
"""What stands where a service's name should but is a level or an exception's class."""


def name_services(records: Table, default: str) -> Table:
    """Give records without a service the file's; a level or an exception's class goes back into the message."""
    wrong = pl.col("service").str.contains(NO_SERVICE).fill_null(value=False)
    return records.with_columns(
        message=pl.when(wrong).then(pl.concat_str("service", pl.lit(": "), "message")).otherwise("message"),
        service=pl.when(~wrong).then("service").fill_null(default),
    ).with_columns(ident=pl.coalesce("ident", "service"))


def rows(records: pl.DataFrame, *, physical: bool) -> pl.DataFrame:
    """Give each line of a multi-line message a row of its own; ``physical`` says whether it is a line of the file too."""
    has_lines = records["message"].str.contains("\n", literal=True).fill_null(value=False)
    table = records.with_columns(cont=pl.col("cont").fill_null(value=False))
    if not has_lines.any():
        return table
    split = (
        table.with_columns(pl.col("message").str.split("\n"))
        .with_columns(sub=pl.int_ranges(pl.col("message").list.len()))
        .explode("message", "sub")
    )
    return split.with_columns(
        cont=pl.col("cont") | (pl.col("sub") > 0),
        line=pl.col("line") + pl.col("sub").cast(pl.UInt32) * int(physical),
    ).drop("sub")


def understand(
    table: pl.DataFrame,
    formats: Mapping[str, MessageFormat],
    *,
    own: bool = False,
    streams: Mapping[str, tuple[str, ...]] | None = None,
) -> pl.DataFrame:
    """Add :data:`EVENTS` and the marks ``starts`` (a record begins), ``ends`` (an exception line) and ``chains``.

    ``own`` says that the times of the lines are the program's own and not their arrival; ``streams`` names the log formats that the
    lines of a stream (``ident``) go to before others.
    """
    table = table.with_row_index("row").with_columns(message=pl.col("message").fill_null(""))
    asked = table.select("row", "cont", "message", "ident", start=start(pl.col("message")))
    turns = in_turn(formats, streams or {})
    # An entry may hold several access lines: each is a request of its own, whereas what else stands there is part of the first line.
    requests = [(fmt, idents) for fmt, idents in turns if fmt.kind == "request"]
    claims = pl.concat(
        [
            claimed_by(asked.filter(~pl.col("cont")).drop("cont"), turns, own=own),
            claimed_by(asked.filter("cont").drop("cont"), requests, own=own),
        ]
    )
    table = table.join(claims, on="row", how="left", maintain_order="left").pipe(told)
    return table.with_columns(spent()).with_columns(
        reach([fmt.name for fmt in formats.values() if fmt.edge == "start"] if own else [])
    )


def claimed_by(
    lines: pl.DataFrame, turns: list[tuple[MessageFormat, list[str] | None]], *, own: bool
) -> pl.DataFrame:
    """Return what the formats say of lines (row, message, ident, start): each line is the first's that takes it."""
    claims = [NO_CLAIM]
    for (beginning,), part in lines.partition_by("start", as_dict=True, include_key=False).items():
        left = part
        few = Head(part.height, {beginning: part["message"].to_list()}) if part.height <= FEW else None
        for fmt, idents in turns:
            if not left.height:
                break
            if fmt.starts and beginning not in fmt.starts:
                continue
            if few and not few.has(fmt):
                continue
            mine = left if idents is None else left.filter(pl.col("ident").is_in(idents))
            claim = claim_rows(mine, fmt, dated=not own and bool(fmt.time) and has_year(fmt))
            if claim.height:
                claims.append(claim)
                left = left.join(claim.select("row"), on="row", how="anti")
    return pl.concat(claims)


def told(table: pl.DataFrame) -> pl.DataFrame:
    """Add where records begin and what kind they are; what systemd says of a unit is told of that unit."""
    claimed = pl.col("format").is_not_null()
    ends = pl.col("message").str.contains(EXCEPTION) & ~claimed
    chains = pl.col("message").str.contains(CHAIN)
    looks_continued = pl.col("message").str.contains(CONTINUATION) | ends | chains
    begins = pl.when(claimed).then(pl.col("kind") != "trace").otherwise(~pl.col("cont") & ~looks_continued)
    by_manager = pl.col("unit").is_not_null() & pl.col("service").is_in(["systemd", "init.scope", "init"])
    return table.with_columns(
        ends=ends,
        chains=chains,
        starts=begins,
        body=pl.coalesce("body", "message"),
        level=pl.coalesce("said_level", "level"),
    ).with_columns(
        kind=pl.when(pl.col("kind").is_not_null())
        .then("kind")
        .when(pl.col("starts"))
        .then(pl.lit("log"))
        .otherwise(pl.lit("trace")),
        service=pl.when(by_manager).then(pl.col("unit").str.strip_suffix(".service")).otherwise("service"),
    )


def in_turn(
    formats: Mapping[str, MessageFormat], streams: Mapping[str, tuple[str, ...]]
) -> list[tuple[MessageFormat, list[str] | None]]:
    """Return the formats in the order in which they may claim lines, with the streams whose lines (None: of all).

    Requests, units and measurements come first, then each stream's own log formats, then the others; among equals the one that
    names most parts of a line.
    """
    ordered = order(formats)
    told = [(fmt, None) for fmt in ordered if fmt.kind != "log"]
    owned = [
        (fmt, sorted(ident for ident, names in streams.items() if fmt.name in names))
        for fmt in ordered
        if fmt.kind == "log"
    ]
    return [
        *told,
        *((fmt, idents) for fmt, idents in owned if idents),
        *((fmt, None) for fmt in ordered if fmt.kind == "log"),
    ]


def claim_rows(left: pl.DataFrame, fmt: MessageFormat, *, dated: bool = False) -> pl.DataFrame:
    """Return the rows of one format with what they say; ``dated``: with the time that the program wrote too."""
    near = left.filter(pl.col("message").str.contains_any(list(fmt.anchors))) if fmt.anchors else left
    if not near.height:
        return NO_CLAIM
    source = fmt.prepare(pl.col("message")) if fmt.prepare else pl.col("message")
    groups = (
        near.select("row", "message", g=source.str.extract_groups(fmt.pattern)).unnest("g")
        if "message" not in fmt.pattern
        else (near.select("row", g=source.str.extract_groups(fmt.pattern)).unnest("g"))
    )
    have = set(groups.columns)
    groups = groups.filter(pl.col(NEEDS[fmt.kind]).is_not_null())
    kind = pl.lit(fmt.kind)
    if "further" in have:
        kind = pl.when(pl.col("further").is_null()).then(kind).otherwise(pl.lit("trace"))
    made = groups.select("row", format=pl.lit(fmt.name), kind=kind, **said(fmt, have, dated=dated))
    return made.select(
        "row",
        *[
            (pl.col(n) if n in made.columns else pl.lit(None)).cast(t, strict=False).alias(n)
            for n, t in EVENTS.items()
        ],
    )


def said(fmt: MessageFormat, have: set[str], *, dated: bool) -> dict[str, pl.Expr]:
    """Return the columns of events that the groups of a format's pattern fill."""
    named: dict[str, pl.Expr] = {name: pl.col(name) for name in GROUPS if name in have}
    if "duration_s" in have:
        seconds = pl.col("duration_s").cast(pl.Float64, strict=False) * 1000
        stated = pl.col("duration_ms").cast(pl.Float64, strict=False) if "duration_ms" in have else None
        named["duration_ms"] = pl.coalesce(stated, seconds)
    if fmt.levels and "level" in have:
        named["said_level"] = pl.col("level").replace_strict(fmt.levels, default=None, return_dtype=pl.String)
    if dated and "time" in have:
        named["own_us"], named["own_naive"] = stamp_and_zone(pl.col("time"), fmt.time or "", fmt.zone)
        if fmt.edge == "start":
            # The line was written when the operation ended: what it took is no time in a buffer.
            took = named.get("duration_ms", pl.lit(None)).cast(pl.Float64, strict=False)
            took = pl.when(took >= 0).then(took)
            named["own_us"] += (took * 1000).round().cast(pl.Int64)
        if fmt.zone == "token" and "zone" in have:
            named["own_naive"] = ~is_offset(pl.col("zone"))
    named["body"] = (
        pl.coalesce("result", "message")
        if "result" in have
        else pl.col("message")
        if "message" in have
        else pl.lit(None)
    )
    return named


def spent() -> pl.Expr:
    """Return the duration that a log line states at its end, in milliseconds."""
    groups = pl.col("body").str.extract_groups(DURATION)
    stated = pl.coalesce([groups.struct.field(name) for name in ("bracket", "after", "last")]).cast(
        pl.Float64, strict=False
    )
    return pl.when(pl.col("kind") == "log").then(stated).otherwise(pl.col("duration_ms")).alias("duration_ms")


def reach(at_start: list[str]) -> list[pl.Expr]:
    """Return when the operation of a line began and ended, in microseconds; null for the one that only a duration could tell.

    A line is written when the operation ends; a stamp of its own marks the start in some formats.
    """
    took = (pl.col("duration_ms") * 1000).round().cast(pl.Int64, strict=False)
    first = pl.col("format").is_in(at_start).fill_null(value=False)
    return [
        pl.when(first).then("ts").otherwise(pl.col("ts") - took).alias("began"),
        pl.when(first).then(pl.col("ts") + took).otherwise("ts").alias("ended"),
    ]


def route(path: pl.Expr) -> pl.Expr:
    """Return a path without its query, with ids, numbers and long tokens replaced."""
    bare = path.str.replace(r"[?#].*$", "")
    return (
        bare.str.replace_all(r"/[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}", "/{id}")
        .str.replace_all(r"/\d+(?:[^/]*)?", "/{id}")
        .str.replace_all(r"/[A-Za-z_-]*\d[\w-]{11,}", "/{id}")
        .str.slice(0, 120)
    )


def template(body: pl.Expr) -> pl.Expr:
    """Return a message with everything that varies replaced."""
    text = body.str.slice(0, 240)
    for pattern, mark in (*SECRETS, *MASKS):
        text = text.str.replace_all(pattern, mark)
    return text.str.slice(0, 160)
