"""case.toml: what logs cannot say. An unknown key is refused with the file, the key and the nearest known one."""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forensics.model.errors import UsageError
from forensics.model.known import KnownEvent, PoolHint, ProbeHint
from forensics.sources import clock

if TYPE_CHECKING:
    from pathlib import Path

TOP = ("title", "timezone", "language", "source", "probe", "pool", "database", "event", "redact")
KEYS = {
    "source": ("match", "format", "timezone", "fields"),
    "probe": ("name", "path", "client", "period_s", "timeout_s", "alert_after"),
    "pool": ("service", "size", "overflow", "timeout_s", "processes"),
    "database": ("max_connections", "reserved"),
    "event": ("at", "kind", "text"),
    "redact": ("keep", "names"),
}
KINDS = ("deploy", "detected", "acknowledged", "mitigated", "note")
LANGUAGES = ("en",)


@dataclass(frozen=True, slots=True)
class SourceRule:
    """What the case file says about the sources whose name matches."""

    match: str
    format: str | None = None
    timezone: str | None = None
    fields: dict[str, str] | None = None


@dataclass(frozen=True, slots=True)
class CaseFile:
    """The parsed case file."""

    title: str | None = None
    timezone: str | None = None
    language: str | None = None
    sources: tuple[SourceRule, ...] = ()
    probes: tuple[ProbeHint, ...] = ()
    pools: tuple[PoolHint, ...] = ()
    events: tuple[tuple[str, str, str], ...] = ()
    max_connections: int | None = None


def read(path: Path) -> CaseFile:
    """Read and check a case file."""
    name = path.name
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(
            f"cannot be read ({error.strerror})",
            where=str(path),
            remedy="give the path of a readable case.toml",
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"not valid TOML ({error})", where=name, remedy="correct the file") from None
    check(table, TOP, name)
    blocks = {key: listed(table, key, name) for key in KEYS}
    for timezone in (table.get("timezone"), *[block.get("timezone") for block in blocks["source"]]):
        if timezone is not None:
            clock.zone(timezone)
    language = table.get("language")
    if language is not None and language not in ("en", "pt-BR"):
        raise UsageError(
            f"unknown language {language!r}", where=f"{name}: language", remedy="use en or pt-BR"
        )
    for block in blocks["event"]:
        if block.get("kind") not in KINDS or "at" not in block:
            raise UsageError(
                "an event needs at and a known kind",
                where=f"{name}: [[event]]",
                remedy=f"kinds are {', '.join(KINDS)}",
            )
    return CaseFile(
        title=table.get("title"), timezone=table.get("timezone"), language=language, sources=tuple(SourceRule(**block) for block in blocks["source"]),
        probes=tuple(ProbeHint(**block) for block in blocks["probe"]), pools=tuple(PoolHint(**block) for block in blocks["pool"]),
        events=tuple((str(block["at"]), block["kind"], block.get("text", "")) for block in blocks["event"]), max_connections=next((block.get("max_connections") for block in blocks["database"]), None),
    )  # fmt: skip


def listed(table: dict[str, Any], key: str, name: str) -> list[dict[str, Any]]:
    """Return the blocks of one key, checked."""
    value = table.get(key, [])
    blocks = value if isinstance(value, list) else [value]
    for block in blocks:
        check(block, KEYS[key], f"{name}: {key}")
    return blocks


def check(table: dict[str, Any], known: tuple[str, ...], where: str) -> None:
    """Refuse an unknown key and name the nearest known one."""
    for key in table:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            raise UsageError(
                f"unknown key {key!r}",
                where=where,
                remedy=f"did you mean {near[0]!r}?" if near else f"known keys are {', '.join(known)}",
            )


def events(case: CaseFile, zone: str) -> tuple[KnownEvent, ...]:
    """Return the events with their instants; a time without offset is one of the case's zone."""
    tz = clock.zone(zone)
    return tuple(
        KnownEvent(clock.instant(at, tz, where=f"case.toml: event {text!r}"), kind, text)
        for at, kind, text in case.events
    )
