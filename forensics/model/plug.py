"""Plug shapes of the reading wing, and how plugs are found.

A plug is a module (or a TOML file beside the modules) in a folder; its file name is its name everywhere else.
Order never matters: formats are chosen by score.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from mmap import mmap
    from pathlib import Path
    from types import ModuleType

    import polars as pl

    from forensics.model.digest import Evidence
    from forensics.model.facts import Facts
    from forensics.model.known import Known

T = TypeVar("T")
Span: TypeAlias = tuple[int, int]
"""First and last of a run of numbers, both included."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """What one shard says, before anything is counted.

    ``records`` has the columns of :data:`forensics.model.schema.RECORDS`. ``physical`` lines are the sum of
    ``in_records``, ``blank`` and ``unparsed``; all three are None for a database, which has no lines.
    """

    records: pl.DataFrame | None = None
    beats: pl.DataFrame | None = None
    samples: pl.DataFrame | None = None
    alerts: pl.DataFrame | None = None
    sessions: pl.DataFrame | None = None
    poolers: pl.DataFrame | None = None
    in_records: int = 0
    blank: int = 0
    unparsed: int = 0
    first_unparsed: int | None = None
    notes: tuple[str, ...] = ()
    keeps_days: int | None = None
    """How many days a monitor keeps its results, by its own settings."""


@dataclass(frozen=True, slots=True)
class Transport:
    """How a line travelled: gives arrival time, service, stream and the message inside."""

    name: str
    title: str
    marks: str
    """What the time of a line is, in words."""
    sniff: Callable[[bytes], float]
    """Score of a 64 KiB head: 0 = not this, 1 = every record start fits."""
    parse: Callable[[bytes], Parsed]
    samples: tuple[str, ...]
    safe_cut: Callable[[Sequence[bytes], bytes], bool] | None = None
    """May a shard begin at this line, given the lines before it? None: the stream is read whole."""
    zone: str = "stated"
    """``stated`` when lines carry an offset or are UTC by definition, ``none`` when they carry none."""
    year: bool = True
    """False when lines carry no year."""
    binary: bool = False
    """True when the file has no lines: a record is named by its ordinal."""
    parts: Callable[[mmap | bytes, Sequence[Span]], Iterator[Parsed]] | None = None
    """Reads a whole (mapped) file piece by piece, without the records of the given numbers, which are counted elsewhere;
    the line of a record is its ordinal in the piece. None: the file is cut into shards of bytes."""
    escaped: bool = False
    """True when a record is one physical line whatever its message holds: further lines of a message are none of the file."""
    whole: Callable[[bytes], bool] | None = None
    """Does this head show records that are no lines of their own (an array, an envelope)? Then the file is read whole and
    as ``binary``; :meth:`for_head` applies it."""
    service: Callable[[Path], str | None] | None = None
    """Names the service by where the file lies and what lies beside it, for records that name none."""
    declined: str | None = None
    """Why a file of this kind is recognised but not read, and what to export instead."""
    reference: str = ""
    unconfirmed: bool = False
    """True when the shape is known from documents or memory, not from the program's own output or source."""

    def for_head(self, head: bytes) -> Transport:
        """Return the transport as a file with this head needs it."""
        if self.whole is None or not self.whole(head):
            return self
        return replace(self, safe_cut=None, binary=True)


@dataclass(frozen=True, slots=True)
class MessageFormat:
    """What a line says: one Rust pattern with named groups, tried on every message that has an anchor."""

    name: str
    title: str
    pattern: str
    kind: str
    """``request``, ``log``, ``sample`` or ``unit`` (the service manager about a unit)."""
    samples: tuple[str, ...]
    anchors: tuple[str, ...] = ()
    starts: tuple[str, ...] = ()
    """How its lines begin (:mod:`forensics.formats.starts`); none: in any way."""
    marks: str = ""
    time: str | None = None
    """strptime format of the group ``time``, ``iso``, ``epoch`` or ``any``; a format with one dates a bare file."""
    zone: str = "none"
    """``none``, ``utc``, ``offset`` (in the time itself), ``token`` (group ``zone``) or ``any`` (each line's own)."""
    levels: dict[str, str] = field(default_factory=dict)
    """What the group ``level`` says, in the five words of the reports. A group ``further`` marks a line that belongs to
    the record above although it has a stamp of its own."""
    service: str | None = None
    """Service name of a bare file in this format; None: the file's own name."""
    prepare: Callable[[pl.Expr], pl.Expr] | None = None
    """Rewrites the message into the text that ``pattern`` reads (JSON envelopes)."""
    prepare_dated: Callable[[pl.Expr], pl.Expr] | None = None
    """The same with what only a bare file needs, time and process; None: ``prepare`` gives them."""
    of_head: Callable[[str], bool] | None = None
    """Tells whether one line of a file's head is of a format with ``prepare``, as that and ``pattern`` would, without a frame."""
    reference: str = ""
    unconfirmed: bool = False
    """True when neither the program's source nor its output could be looked at."""

    @property
    def edge(self) -> str:
        """Return what the time marks: the ``start`` or the ``end`` of an operation, or an ``instant``."""
        if self.marks.startswith("start of") or ": the start" in self.marks:
            return "start"
        return "end" if self.marks.startswith("end of") else "instant"


@dataclass(frozen=True, slots=True)
class Analysis:
    """One question: a pure function of the evidence, what people know, and earlier answers."""

    name: str
    question: str
    gives: type
    """Shape of the answer, a class of :mod:`forensics.model.facts`."""
    run: Callable[[Evidence, Known, Facts], Any]
    needs: tuple[type, ...] = ()
    """Answers that must be there first."""


@dataclass(frozen=True, slots=True)
class Monitor:
    """What a monitor remembers: results of probes, samples of a resource, alerts."""

    name: str
    title: str
    marks: str
    sniff: Callable[[bytes], float]
    parse: Callable[[Path, Mapping[str, str]], Parsed]
    """Reads a file; the mapping names fields (time, value, limit, status …) where their names are not the usual ones."""
    samples: tuple[str, ...] = ()
    binary: bool = False
    """True when the file is a database, or JSON that is read whole: a row is named by its ordinal or its id."""
    unconfirmed: bool = False
    """True where no real file was at hand: fields are read as the documentation names them."""
    reference: str = ""
    """Where the rule comes from: repo:path or an address."""


def modules(package: ModuleType) -> list[ModuleType]:
    """Import every module of a package, in name order."""
    names = sorted(info.name for info in pkgutil.iter_modules(package.__path__))
    return [importlib.import_module(f"{package.__name__}.{name}") for name in names]


def discover(package: ModuleType, shape: type[T]) -> dict[str, T]:
    """Return every ``PLUG`` of the wanted shape in a package, by name; the module's name must be the plug's."""
    found: dict[str, T] = {}
    for module in modules(package):
        plug = getattr(module, "PLUG", None)
        if isinstance(plug, shape):
            found[module.__name__.rpartition(".")[2]] = plug
    return found
