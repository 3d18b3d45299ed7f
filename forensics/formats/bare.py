"""Bare files: no transport around the lines, so what they say must also date them.

One message format, the *primary*, gives most records. Lines that it does not know may be another format's (an access log
between a server's own lines), may go on with the record above, or are of no known shape and then taken as part of the
record above, with a note. A file whose formats carry no time at all is still read: its records are undated, and the
report says what to export instead.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import polars as pl

from forensics.formats import heads
from forensics.formats.continued import FURTHER_BARE
from forensics.formats.heads import ANSI
from forensics.formats.text import is_offset, lines_of, stamp_and_zone
from forensics.model.frames import least
from forensics.model.plug import Parsed, Transport
from forensics.model.schema import RECORDS, conform
from forensics.sources import clock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from forensics.model.plug import MessageFormat

ASIDE = r"^#(?:Version|Fields|Software|Date|Start-Date|End-Date|Remark): |^OK$"
"""The head of a W3C log and Redis' answer to MONITOR: no part of any record."""
NEEDS = {"request": "status", "sample": "value", "log": "message", "unit": "unit"}
"""The group that must be filled for a line to be of a kind."""
SPECIFIC = 0.01
"""Between two patterns that fit equally well, the one that names more parts of the line scores higher."""
FEWEST = 0.1
"""Share of the lines that a format must have to date a file whose lines are of several formats."""
FEW = 300
"""Lines that are looked at one by one before a format's frame query, which costs as much as some hundred of them."""
UNDATED = "its lines carry no date with a time of day and can't be placed: export them with stamps (docker logs --timestamps, journalctl -o short-iso-precise, or a log format with a time)"
ATTACHED = "lines without a stamp, of no known shape, are taken as parts of the record above them"


def order(messages: Mapping[str, MessageFormat]) -> list[MessageFormat]:
    """Return formats in the order in which they may claim a line: the one that names most parts first."""
    return sorted(messages.values(), key=lambda fmt: (-parts(fmt.pattern), fmt.name))


@cache
def parts(pattern: str) -> int:
    """Return how many parts of a line a pattern names."""
    return pattern.count("(?P<")


def fits(lines: Sequence[str], fmt: MessageFormat) -> list[bool]:
    """Tell which lines are of a format."""
    if fmt.of_head:
        return [fmt.of_head(line) for line in lines]
    if fmt.prepare:
        return prepared(tuple(lines), fmt.name, fmt.pattern, fmt.prepare)
    find = heads.finder(fmt.pattern)
    return [bool(find(line)) for line in lines]


@lru_cache(maxsize=128)
def prepared(
    lines: tuple[str, ...], _name: str, pattern: str, prepare: Callable[[pl.Expr], pl.Expr]
) -> list[bool]:
    """Tell which lines are of a format that has to be rewritten first: dear, and asked of one head more than once."""
    text = pl.DataFrame({"raw": lines}, schema={"raw": pl.String}).select(prepare(pl.col("raw")))
    return text.to_series().str.contains(pattern).fill_null(value=False).to_list()


@dataclass(frozen=True, slots=True)
class Head:
    """The lines of a head that can begin a record, by how they begin."""

    total: int
    parts: dict[str, list[str]]
    texts: dict[str, str] = field(default_factory=dict)

    def of(self, fmt: MessageFormat) -> dict[str, list[str]]:
        """Return the parts in which a format may have lines: those with its beginnings and one of its anchors.

        Python's search over a joined part is cheap, and rules out nine formats of ten.
        """
        return {
            name: part
            for name, part in self.parts.items()
            if (not fmt.starts or name in fmt.starts)
            and (not fmt.anchors or any(anchor in self.text(name) for anchor in fmt.anchors))
        }

    def has(self, fmt: MessageFormat) -> bool:
        """Is any line of a format?"""
        return any(any(fits(part, fmt)) for part in self.of(fmt).values())

    def text(self, name: str) -> str:
        """Return a part as one text."""
        if name not in self.texts:
            self.texts[name] = "\n".join(self.parts[name])
        return self.texts[name]


@lru_cache(maxsize=8)
def record_starts(head: bytes) -> Head:
    """Return the lines of a head that can begin a record, without colours and without a last line that is cut."""
    return by_beginning(heads.without(heads.lines(head), f"{FURTHER_BARE}|{ASIDE}", "$^"))


def by_beginning(lines: Sequence[str]) -> Head:
    """Part lines by how they begin."""
    parts: dict[str, list[str]] = {}
    for line in lines:
        parts.setdefault(heads.beginning(line), []).append(line)
    return Head(len(lines), parts)


def scores(head: bytes, messages: Mapping[str, MessageFormat]) -> dict[str, float]:
    """Score every format that dates its lines by the share of record starts that are of it."""
    lines = record_starts(head)
    found = {}
    for fmt in messages.values():
        near = lines.of(fmt) if fmt.time else {}
        if near:
            found[fmt.name] = sum(sum(fits(part, fmt)) for part in near.values()) / lines.total
            found[fmt.name] *= 1 - SPECIFIC / (1 + parts(fmt.pattern))
    return found


def together(head: bytes, messages: Mapping[str, MessageFormat]) -> tuple[str, float] | None:
    """Score a file by the lines that any format knows: (the format that dates most of them, the share).

    Where none of them has a time, the one with most lines stands for the file.
    """
    lines = record_starts(head)
    counts = claimed(lines, order(messages))
    if not counts:
        return None
    dated = {name: n for name, n in counts.items() if messages[name].time and n >= FEWEST * lines.total}
    best = max(dated or counts, key=lambda name: (counts[name], name))
    return best, sum(counts.values()) / lines.total


def claimed(lines: Head, formats: Iterable[MessageFormat]) -> dict[str, int]:
    """Count the lines that each format gets where the first that fits gets it."""
    counts: dict[str, int] = {}
    free = {name: [True] * len(part) for name, part in lines.parts.items()}
    for fmt in formats:
        for name, part in lines.of(fmt).items():
            if not any(free[name]):
                continue
            said = [fit and open_ for fit, open_ in zip(fits(part, fmt), free[name], strict=True)]
            if any(said):
                counts[fmt.name] = counts.get(fmt.name, 0) + sum(said)
                free[name] = [open_ and not fit for fit, open_ in zip(said, free[name], strict=True)]
    return counts


def transport(name: str, messages: Mapping[str, MessageFormat]) -> Transport:
    """Build the transport of a bare file whose lines are mostly messages of one format."""
    fmt = messages[name]

    def safe_cut(_before: Sequence[bytes], line: bytes) -> bool:
        claim = claims(lines_frame(line), fmt)
        return bool(claim.height) and not claim["further"][0]

    return Transport(
        name="plain",
        title=fmt.title,
        marks=fmt.marks,
        sniff=sniffer(fmt),
        parse=lambda data: parse(data, fmt, messages),
        samples=fmt.samples,
        safe_cut=safe_cut,
        zone="none" if fmt.time and fmt.zone == "none" else "stated",
        year=has_year(fmt),
    )


def has_year(fmt: MessageFormat) -> bool:
    """Tell whether the stamps of a format carry a year."""
    return fmt.time in (None, "iso", "epoch", "any") or "%Y" in (fmt.time or "") or "%y" in (fmt.time or "")


def sniffer(fmt: MessageFormat) -> Callable[[bytes], float]:
    """Score a head for one format."""

    def sniff(head: bytes) -> float:
        lines = record_starts(head)
        said = sum(sum(fits(part, fmt)) for part in lines.of(fmt).values())
        return said / lines.total if lines.total else 0.0

    return sniff


def lines_frame(data: bytes) -> pl.DataFrame:
    """Return the lines of a shard without colours, numbered from 1."""
    lines = lines_of(data)
    if b"\x1b" in data:
        lines = lines.str.replace_all(ANSI, "")
    return pl.DataFrame({"raw": lines.str.strip_suffix("\r")}).with_row_index("line", offset=1)


def claims(left: pl.DataFrame, fmt: MessageFormat) -> pl.DataFrame:
    """Return line, time, zone and process of the lines that are of a format."""
    near = left.filter(pl.col("raw").str.contains_any(list(fmt.anchors))) if fmt.anchors else left
    prepare = fmt.prepare_dated or fmt.prepare
    source = prepare(pl.col("raw")) if prepare else pl.col("raw")
    groups = near.select("line", g=source.str.extract_groups(fmt.pattern)).unnest("g")
    groups = groups.filter(pl.col(NEEDS[fmt.kind]).is_not_null())
    ts, naive = pl.lit(None, dtype=pl.Int64), pl.lit(value=False)
    if fmt.time and "time" in groups.columns:
        ts, naive = stamp_and_zone(pl.col("time"), fmt.time, fmt.zone)
        if fmt.zone == "token" and "zone" in groups.columns:
            naive = ~is_offset(pl.col("zone"))
    return groups.select(
        "line",
        ts=ts,
        naive=naive,
        pid=pl.col("pid") if "pid" in groups.columns else pl.lit(None, dtype=pl.String),
        zone=pl.col("zone") if "zone" in groups.columns else pl.lit(None, dtype=pl.String),
        further=pl.col("further").is_not_null() if "further" in groups.columns else pl.lit(value=False),
    )


def parse(data: bytes, fmt: MessageFormat, messages: Mapping[str, MessageFormat]) -> Parsed:
    """Turn a shard into records."""
    table = lines_frame(data)
    found = [claims(table, fmt)]
    rest = table.join(found[0].select("line"), on="line", how="anti")
    blank = rest.filter(pl.col("raw").str.strip_chars() == "")
    aside = rest.filter(pl.col("raw").str.contains(ASIDE))
    cont = rest.filter(pl.col("raw").str.contains(FURTHER_BARE)).join(blank, on="line", how="anti")
    rest = rest.filter(~pl.col("raw").str.contains(f"{FURTHER_BARE}|{ASIDE}"))
    few = by_beginning(rest["raw"].to_list()) if rest.height <= FEW else None
    for other in order(messages):
        if not rest.height:
            break
        if other is fmt or (other.time and has_year(other) != has_year(fmt)):
            continue
        if few and not few.has(other):
            continue
        claim = claims(rest, other)
        if claim.height:
            found.append(claim)
            rest = rest.join(claim.select("line"), on="line", how="anti")
    starts = pl.concat(found).sort("line")
    first = least(starts["line"])
    loose = pl.concat([cont.select("line"), rest.select("line")]).sort("line")
    joined = loose.filter(pl.col("line") > first) if first is not None else loose.clear()
    unparsed = loose.join(joined, on="line", how="anti")
    records = records_of(table, starts, joined)
    return Parsed(
        records=conform(records, RECORDS),
        in_records=records.height + aside.height,
        blank=blank.height,
        unparsed=unparsed.height,
        first_unparsed=least(unparsed["line"]),
        notes=(*notes(fmt, rest, first), *clock.doubtful(starts["zone"])),
    )


def notes(fmt: MessageFormat, rest: pl.DataFrame, first: int | None) -> tuple[str, ...]:
    """Say what a reader must know about how the lines were taken."""
    attached = first is not None and rest.filter(pl.col("line") > first).height
    return ((UNDATED,) if fmt.time is None else ()) + ((ATTACHED,) if attached else ())


def records_of(table: pl.DataFrame, starts: pl.DataFrame, joined: pl.DataFrame) -> pl.DataFrame:
    """Return the records: lines that begin one, and the lines below them with the time and process of theirs."""
    kept = pl.concat(
        [
            starts.with_columns(own=pl.lit(value=True)),
            joined.with_columns(own=pl.lit(value=False)),
        ],
        how="diagonal",
    ).sort("line")
    record = pl.col("own").cum_sum()
    inherited = [pl.col(column).first().over(record) for column in ("ts", "naive", "pid")]
    kept = kept.with_columns(*inherited, cont=~pl.col("own") | pl.col("further").fill_null(value=False))
    return kept.join(table, on="line", how="left", maintain_order="left").with_columns(message=pl.col("raw"))
