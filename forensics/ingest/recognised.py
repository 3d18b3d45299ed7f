"""How was each stream recognised? The second layer of recognition, asked of every unit, container or process by itself.

A file may hold many streams, each of another program, and a stream lines of several formats: an access log stands between a
server's own lines. So no format is fixed for a file. The records that each stream begins in the head of the file are scored: the log
formats that a good part of them is of are the stream's own, and a line that one of these fits goes to no stranger that fits it by
chance. Requests and measurements are told by what they name, in any stream, since a log's general shape fits them too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from forensics.formats import bare
from forensics.formats.continued import CHAIN, CONTINUATION, EXCEPTION, FURTHER_BARE
from forensics.ingest.understand import name_services

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from forensics.model.plug import MessageFormat, Transport

MOST = 200
"""Record starts of a stream that are looked at."""
STREAMS = 64
"""Streams of a head that are looked at."""
OWN = 0.1
"""Share of a stream's record starts that make a log format one of its own."""
KNOWN = 0.5
"""Share of the record starts that its own formats have together; below it the stream is of no known shape."""
SHOWN = 3
"""Formats that are named."""


@dataclass(frozen=True, slots=True)
class Stream:
    """What the beginning of one stream looks like."""

    name: str
    starts: int
    """Record starts that were looked at."""
    got: tuple[tuple[str, int], ...]
    """Formats with the record starts that went to them, the most first."""
    near: tuple[tuple[str, int], ...]
    """Formats that fit others' record starts too, with how many: a more specific one got them."""
    own: tuple[str, ...] = ()
    """Log formats of the stream: its lines go to these first."""

    def said(self) -> str:
        """Say what was chosen and what came next."""
        total = f"{self.starts} record start{'s' if self.starts != 1 else ''}"
        parts = [f"{name} {n / self.starts:.2f}" for name, n in self.got[:SHOWN]]
        unknown = self.starts - sum(n for _, n in self.got)
        if unknown:
            parts.append(f"no known format {unknown / self.starts:.2f}")
        near = ", ".join(f"{name} {n / self.starts:.2f}" for name, n in self.near[:SHOWN])
        return f"{self.name}, {total}: {', '.join(parts)}{'; others fit too: ' if near else ''}{near}"


def streams(
    plug: Transport, head: bytes, default: str, formats: Mapping[str, MessageFormat], *, near: bool = False
) -> tuple[Stream, ...]:
    """Score the streams of a head. ``near``: say what else fits."""
    whole = head[: head.rfind(b"\n") + 1] or head
    records = None if plug.name == "plain" else plug.parse(whole).records
    return of_records(plug, head, records, default, formats, near=near)


def of_records(
    plug: Transport,
    head: bytes,
    records: pl.DataFrame | None,
    default: str,
    formats: Mapping[str, MessageFormat],
    *,
    near: bool = False,
) -> tuple[Stream, ...]:
    """Score the streams of a head that was parsed already."""
    ordered = bare.order(formats)
    if plug.name == "plain":
        # All lines of a bare file are of one program.
        return (scored(default, bare.record_starts(head), ordered, near=near),)
    if records is None or not records.height:
        return ()
    # One query: over the few lines of a head each further one costs more than what it does.
    parts = (
        name_services(records.lazy(), default)
        .filter(~pl.col("cont").fill_null(value=False))
        .select("ident", message=pl.col("message").fill_null("").str.extract(r"^([^\n]*)"))
        .filter(~pl.col("message").str.contains(f"{CONTINUATION}|{EXCEPTION}|{CHAIN}"))
        .group_by("ident", maintain_order=True)
        .agg(pl.col("message").head(MOST))
        .head(STREAMS)
        .collect()
    )
    return tuple(
        scored(str(name), bare.by_beginning(messages), ordered, near=near)
        for name, messages in parts.iter_rows()
    )


def scored(name: str, lines: bare.Head, formats: Sequence[MessageFormat], *, near: bool) -> Stream:
    """Score one stream against the formats."""
    got = bare.claimed(lines, formats)
    every = (
        {fmt.name: sum(sum(bare.fits(part, fmt)) for part in lines.of(fmt).values()) for fmt in formats}
        if near
        else {}
    )
    others = {known: n - got.get(known, 0) for known, n in every.items()}
    return Stream(name, lines.total, ranked(got), ranked(others), own(got, lines.total, formats))


def strangers(lines: pl.DataFrame) -> pl.DataFrame:
    """Return the lines that a record takes although they look like no part of it: maybe of a format that is not known."""
    part = f"{FURTHER_BARE}|{CONTINUATION}|{EXCEPTION}|{CHAIN}"
    return lines.filter(~pl.col("starts") & ~pl.col("message").str.contains(part))


def own(got: Mapping[str, int], starts: int, formats: Sequence[MessageFormat]) -> tuple[str, ...]:
    """Return the log formats that a stream is of, none where too few of its record starts are of any."""
    logs = {fmt.name for fmt in formats if fmt.kind == "log"}
    mine = {name: n for name, n in got.items() if name in logs and n >= OWN * starts}
    requests = sum(n for name, n in got.items() if name not in logs)
    return tuple(sorted(mine)) if sum(mine.values()) >= KNOWN * max(1, starts - requests) else ()


def ranked(counts: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    """Return what was counted at all, the most first."""
    return tuple(sorted(((name, n) for name, n in counts.items() if n), key=lambda pair: (-pair[1], pair[0])))
