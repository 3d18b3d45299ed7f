"""What remains of a shard of input after one pass: a bag of small frames that adds up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from forensics.model.schema import FRAMES, KEYS, conform, empty

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from forensics.model.source import Source


@dataclass(frozen=True, slots=True)
class Digest:
    """Frames by name, as :data:`forensics.model.schema.FRAMES` lists them; a missing frame is an empty one.

    Digests form a commutative monoid under ``+`` up to the order of rows, which :mod:`forensics.ingest.fold`
    fixes by sorting on (source, shard, line).
    """

    frames: Mapping[str, pl.DataFrame] = field(default_factory=dict)

    def __add__(self, other: Digest) -> Digest:
        """Join two digests; the result does not depend on grouping."""
        return total((self, other))

    def __getitem__(self, name: str) -> pl.DataFrame:
        """Return one frame, empty if the shard had nothing for it."""
        return self.frames.get(name, empty(name))


def total(digests: Iterable[Digest]) -> Digest:
    """Add up any number of digests at once."""
    parts: dict[str, list[pl.DataFrame]] = {}
    for digest in digests:
        for name, frame in digest.frames.items():
            if frame.height:
                parts.setdefault(name, []).append(frame)
    return Digest({name: pl.concat(frames) for name, frames in parts.items()})


def stamped(frames: Mapping[str, pl.DataFrame], source: int, shard: int) -> Digest:
    """Make a digest of the frames of one shard, each row marked with where it came from."""
    return Digest(
        {
            name: conform(
                frame.with_columns(source=pl.lit(source), shard=pl.lit(shard)), {**KEYS, **FRAMES[name]}
            )
            for name, frame in frames.items()
            if frame.height
        }
    )


@dataclass(frozen=True, slots=True)
class Evidence:
    """A settled Digest: every instant UTC, every line absolute, copies taken out. What the thinking wing reads."""

    sources: tuple[Source, ...]
    digest: Digest

    def __getitem__(self, name: str) -> pl.DataFrame:
        """Return one frame of the digest."""
        return self.digest[name]
