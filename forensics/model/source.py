"""One input: what it is, what it covers, or why it could not be read."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Zone:
    """How the offset of a source's times is known."""

    name: str | None
    rule: str
    """``stated`` (in the lines), ``given`` (option or case file), ``inferred``, ``assumed`` or ``unknown``."""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Lines:
    """Conservation of physical lines: ``total`` is the sum of the other three."""

    total: int
    in_records: int
    blank: int
    unparsed: int


@dataclass(frozen=True, slots=True)
class Source:
    """One input as the report lists it. Instants are microseconds UTC, or None when nothing is dated."""

    index: int
    name: str
    sha256: str | None
    size: int
    transport: str | None
    message_formats: tuple[str, ...] = ()
    zone: Zone = field(default_factory=lambda: Zone(None, "unknown"))
    first_us: int | None = None
    last_us: int | None = None
    lines: Lines | None = None
    records: int = 0
    undated: int = 0
    copy_of: int | None = None
    services: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    skipped: str | None = None
    """Why the input was not read, with the remedy; None when it was."""
    choice: str = ""
    """How it was recognised: the score, and the nearest other format."""
    keeps_days: int | None = None
    """How many days a monitor keeps its results, by its own settings."""
    precision: str = ""
    """Unit in which all its times are whole: ``s``, ``ms`` or ``us``."""
    streams: tuple[str, ...] = ()
    """The same for the message format of each of its streams."""

    @property
    def id(self) -> str:
        """The id in report.json: s1, s2 …"""
        return f"s{self.index + 1}"


@dataclass(frozen=True, slots=True, order=True)
class Ref:
    """The permanent name of a record: source index and first physical line (a row id for a database)."""

    source: int
    line: int
