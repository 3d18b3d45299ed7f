"""case.toml: what logs cannot say. An unknown key is refused with the file, the key and the nearest known one."""

from __future__ import annotations

import datetime as dt
import difflib
import re
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from forensics.model.errors import UsageError
from forensics.model.known import KnownEvent, PoolHint, ProbeHint
from forensics.model.texts import languages
from forensics.sources import clock

if TYPE_CHECKING:
    from pathlib import Path

IDLE = "idle_in_transaction_s"
TEXT, NUMBER, WHOLE, TABLE, LIST = (str,), (int, float), (int,), (dict,), (list,)
TOP: dict[str, tuple[type, ...]] = {
    "title": TEXT,
    "timezone": TEXT,
    "language": TEXT,
    "source": LIST,
    "probe": LIST,
    "pool": LIST,
    "database": TABLE,
    "pooler": TABLE,
    "event": LIST,
    "redact": TABLE,
    "format": LIST,
    "signature": LIST,
}
KEYS: dict[str, dict[str, tuple[type, ...]]] = {
    "source": {"match": TEXT, "format": TEXT, "timezone": TEXT, "fields": TABLE},
    "probe": {"name": TEXT, "path": TEXT, "client": TEXT, "period_s": NUMBER, "timeout_s": NUMBER, "alert_after": WHOLE},
    "pool": {"service": TEXT, "size": WHOLE, "overflow": WHOLE, "timeout_s": NUMBER, "processes": WHOLE, "replicas": WHOLE, "worker_pool": WHOLE, "cpus": WHOLE, "library": TEXT, "fan_out": WHOLE},
    "database": {"max_connections": WHOLE, "reserved": WHOLE, "extra": WHOLE, IDLE: NUMBER},
    "pooler": {"pool_mode": TEXT, "default_pool_size": WHOLE, "reserve_pool_size": WHOLE, "max_db_connections": WHOLE, "max_client_conn": WHOLE, "pools": WHOLE, "replicas": WHOLE},
    "event": {"at": (str, dt.datetime), "kind": TEXT, "text": TEXT},
    "redact": {"keep": LIST, "names": LIST},
}  # fmt: skip
"""Known keys of each block with the types of their values."""
WORDS = {
    str: "text in quotes",
    int: "a whole number",
    float: "a number",
    dict: "a table",
    list: "a list of [[blocks]]",
    dt.datetime: "a time",
}
HEAD = re.compile(r"\s*\[{1,2}\s*([\w.-]+)\s*\]")
KEY = re.compile(r"\s*([\w-]+)\s*=")
KINDS = ("deploy", "detected", "acknowledged", "mitigated", "note")


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
    idle_in_transaction_s: float | None = None
    database: dict[str, int] = field(default_factory=dict)
    """What ``[database]`` says, its ``max_connections`` among it."""
    pooler: dict[str, Any] = field(default_factory=dict)
    """What ``[pooler]`` says."""
    lines: dict[tuple[str, int, str], int] = field(default_factory=dict, compare=False)
    """Line of a key: block, its place among those of its name, key."""
    formats: tuple[dict[str, Any], ...] = ()
    """Definitions of formats, checked where formats are."""
    signatures: tuple[dict[str, Any], ...] = ()
    """Blocks of signatures, checked where signatures are."""
    keep: tuple[str, ...] = ()
    """What ``[redact]`` leaves as it is."""
    names: tuple[str, ...] = ()
    """Names that ``[redact]`` masks."""


def read(path: Path) -> CaseFile:
    """Read and check a case file."""
    name = path.name
    try:
        text = path.read_text(encoding="utf-8")
        table = tomllib.loads(text)
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
            clock.zone(timezone, f"{name}: timezone")
    if any("match" not in block for block in blocks["source"]):
        raise UsageError(
            "a source needs match", where=f"{name}: [[source]]", remedy='write match = "state/*.json"'
        )
    language = table.get("language")
    if language is not None and language not in languages():
        raise UsageError(
            f"unknown language {language!r}",
            where=f"{name}: language",
            remedy=f"use {' or '.join(languages())}",
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
        idle_in_transaction_s=next((block.get(IDLE) for block in blocks["database"]), None),
        database={key: value for block in blocks["database"] for key, value in block.items() if key != IDLE}, pooler=dict(next(iter(blocks["pooler"]), {})), lines=lines(text),
        formats=tuple(table.get("format", ())), signatures=tuple(table.get("signature", ())),
        **{key: redacted(blocks["redact"], key, name) for key in KEYS["redact"]},
    )  # fmt: skip


def lines(text: str) -> dict[tuple[str, int, str], int]:
    """Return where each key of a block stands; a key of an inline table is not found."""
    found: dict[tuple[str, int, str], int] = {}
    counts: Counter[str] = Counter()
    block, place = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if head := HEAD.match(line):
            block = head[1]
            place = counts[block]
            counts[block] += 1
        elif key := KEY.match(line):
            found.setdefault((block, place, key[1]), number)
    return found


def redacted(blocks: list[dict[str, Any]], key: str, name: str) -> tuple[str, ...]:
    """Return a list of ``[redact]``; one that holds anything but texts is refused, since it would mask nothing."""
    held = [value for block in blocks for value in block.get(key, ())]
    for value in held:
        if not isinstance(value, str) or not value.strip():
            raise UsageError(
                f"{value!r} is no text",
                where=f"{name}: redact: {key}",
                remedy='write texts in quotes, such as "Ana Souza"',
            )
    return tuple(held)


def listed(table: dict[str, Any], key: str, name: str) -> list[dict[str, Any]]:
    """Return the blocks of one key, checked."""
    value = table.get(key, [])
    blocks = value if isinstance(value, list) else [value]
    for block in blocks:
        check(block, KEYS[key], f"{name}: {key}")
    return blocks


def check(table: Any, known: dict[str, tuple[type, ...]], where: str) -> None:
    """Refuse an unknown key and name the nearest known one; refuse a value of another type."""
    if not isinstance(table, dict):
        raise UsageError("is no table", where=where, remedy=f"write it as a block with {', '.join(known)}")
    for key, value in table.items():
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            remedy = f"did you mean {near[0]!r}?" if near else f"known keys are {', '.join(known)}"
            raise UsageError(f"unknown key {key!r}", where=where, remedy=remedy)
        if not isinstance(value, known[key]) or isinstance(value, bool):
            raise UsageError(
                "a value of the wrong type", where=f"{where}: {key}", remedy=f"give {WORDS[known[key][0]]}"
            )


def events(case: CaseFile, zone: str) -> tuple[KnownEvent, ...]:
    """Return the events with their instants; a time without offset is one of the case's zone."""
    tz = clock.zone(zone)
    return tuple(
        KnownEvent(clock.instant(at, tz, where=f"case.toml: event {text!r}"), kind, text)
        for at, kind, text in case.events
    )
