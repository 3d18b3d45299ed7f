"""``docker compose logs`` and ``docker compose up``, versions 1 and 2: lines behind the name of their container.

    web-1  | 2026-11-29T12:14:31.123456789Z INFO:     203.0.113.9:0 - "GET /health HTTP/1.1" 200 OK
    web_1           | stdout one

The name is padded to the widest, which grows as containers register, and stands in colours with its bar. With ``-t``
a stamp follows: of ``logs`` it is the engine's, of ``up`` that of the client when it printed the line. Without, a line
is dated by what its program wrote, or not at all. Containers are printed one after another by version 1: lines are
not in the order of time. Version 1 glues the next prefix to a last line without a newline. Reference: docker/compose
cmd/formatter/logs.go, docker/compose (1.29) compose/cli/log_printer.py.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from forensics.formats import heads
from forensics.formats.inner import without_chunk_stamps
from forensics.formats.prefixed import STAMP, Prefix, prefixed_transport

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NAME = r"[A-Za-z0-9][\w.-]*"
PATTERN = rf"^\r?(?P<service>{NAME})\s{{2,}}\| ?(?:(?P<time>{STAMP})(?: |$))?(?P<message>.*)$"
EXITED = rf"^\r?(?P<who>{NAME}) exited with code (?P<code>\d+)(?: \(restarting\))?\s*$"
ASIDE = (
    rf"^\s*Attaching to |{EXITED}|^\s*(?:Creating|Recreating|Starting|Restarting|Stopping|Killing|Removing|Pulling|Building) \S+\s*\.\.\."
    r"|^\s*\[\+\] |^\s*[✔✘⠿⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]? ?(?:Container|Network|Volume|Image) \S+ +[A-Z]\w+|^\s*(?:Gracefully [Ss]topping|Aborting on container exit|Killing\.\.\.|canceled)"
    r"|^(?:WARN|INFO|ERRO)\[\d{4}\] |^WARNING: |^\s+⦿ |^\^C|^\s*v View in Docker Desktop|^time=\"\S+\" level=(?:warning|info)"
)
"""What compose says of its own."""
TABLE = r"^-\[ RECORD \d+ \]|^\(\d+ rows?\)$|^[-+]+$"
"""``psql`` prints bars too."""
LEVELS = r"^(?i:TRACE|DEBUG|INFO|NOTICE|SUCCESS|WARN|WARNING|ERROR|CRITICAL|FATAL)$"
NUMBERED = r"[-_]\d+$"


def scored(lines: Sequence[str]) -> float:
    """Score lines that are not compose's own: names that end in a number are its habit, other names may be a table's."""
    if heads.fitting(lines, TABLE):
        return 0.0
    level, numbered = heads.finder(LEVELS), heads.finder(NUMBERED)
    named = [
        found for found in heads.groups(lines, PATTERN) if found["service"] and not level(found["service"])
    ]
    sure = sum(bool(found["time"] or numbered(found["service"] or "")) for found in named)
    return len(named) / len(lines) * (1.0 if 2 * sure > len(named) else 0.6)


def finish(table: pl.DataFrame) -> pl.DataFrame:
    """Part glued lines, and make records of the containers that ended."""
    table = without_chunk_stamps(parted(table))
    ended = pl.col("full").str.extract_groups(EXITED)
    who, code = ended.struct.field("who"), ended.struct.field("code")
    is_end = pl.col("aside") & who.is_not_null()
    names = table["service"].drop_nulls().unique().sort(descending=True).to_list()
    known = pl.coalesce(
        pl.lit(None, pl.String), *[pl.when(who.str.ends_with(name)).then(pl.lit(name)) for name in names]
    )
    return table.with_columns(
        service=pl.when(is_end).then(pl.coalesce(known, who)).otherwise("service"),
        message=pl.when(is_end).then(pl.col("full").str.strip_chars()).otherwise("message"),
        level=pl.when(is_end & (code != "0")).then(pl.lit("error")),
        start=pl.col("start") | is_end,
    ).filter(pl.col("start"))


def parted(table: pl.DataFrame) -> pl.DataFrame:
    """Part a line to which the prefix or the end of another container was glued (version 1)."""
    names = table["service"].drop_nulls().unique().to_list()
    whole = table.filter("aside")["full"].str.extract(r"^\s*Attaching to (.+)$").drop_nulls()
    full_names = {name.strip() for text in whole for name in text.split(",") if name.strip()}
    if not names:
        return table
    either = "|".join(re.escape(name) for name in sorted(names, key=lambda name: (-len(name), name)))
    ends = "|".join(
        re.escape(name) for name in sorted({*full_names, *names}, key=lambda name: (-len(name), name))
    )
    glued = rf"^(?P<left>.*?)(?P<right>(?:{either})\s{{2,}}\| .*|(?:{ends}) exited with code \d+\s*)$"
    has = table["message"].str.contains(glued).fill_null(value=False) & (table["message"] != "")
    if not has.any():
        return table
    cut = table.filter(has).with_columns(c=pl.col("message").str.extract_groups(glued)).unnest("c")
    cut = cut.filter(pl.col("left") != "")
    lines = cut["line"].implode()
    further = (
        cut.select("line", full="right")
        .with_columns(g=pl.col("full").str.extract_groups(PATTERN))
        .unnest("g")
    )
    further = further.with_columns(
        start=pl.col("message").is_not_null(),
        aside=pl.col("message").is_null(),
        cont=pl.lit(value=False),
        naive=pl.lit(value=False),
        ts=pl.col("time")
        .str.to_datetime("%Y-%m-%dT%H:%M:%S%.f%#z", time_unit="us", strict=False)
        .dt.epoch("us"),
    )
    first = cut.with_columns(message=pl.col("left")).drop("left", "right")
    rest = table.filter(~pl.col("line").is_in(lines))
    return pl.concat([rest, first, further], how="diagonal").sort("line", maintain_order=True)


def notes(records: pl.DataFrame, asides: pl.Series) -> Iterator[str]:
    """Say whose clock the stamps may be, and how to get stamps where there are none."""
    undated = records["ts"].null_count()
    if undated:
        yield f"lines without a time: {undated}; export them with docker compose logs -t"
    elif asides.str.contains(r"^\s*Attaching to ").any() and records["service"].str.contains(r"-\d+$").any():
        yield "this looks like docker compose up -t, whose stamps are the client's clock when it printed: docker compose logs -t gives the engine's"


PLUG = prefixed_transport(
    "compose",
    "docker compose logs or up",
    "receipt by the Docker engine (logs -t), or printing by the client (up -t); without -t what the program wrote, else none",
    Prefix(pattern=PATTERN, aside=ASIDE, finish=finish, notes=notes, score=scored),
    (
        'api-1    | 2026-11-29T12:14:31.123456789Z INFO:     203.0.113.21:0 - "GET /health HTTP/1.1" 200 OK',
        "redis-1  | 2026-11-29T12:14:30.000000001Z 1:M 29 Nov 2026 12:14:30.000 * Ready to accept connections tcp",
        "db-long-name_1  | 2026-11-29T12:34:55.935757755Z db ready",
    ),
    reference="docker/compose cmd/formatter/logs.go",
)
