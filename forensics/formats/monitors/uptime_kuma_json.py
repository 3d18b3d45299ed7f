"""Beats of Uptime Kuma as its socket, its page or its status page API give them.

    {"heartbeatList": {"1": [{"status": 1, "time": "2026-11-29 12:36:51.980", "msg": "", "ping": 41}]}, "uptimeList": {"1_24": 1}}
    [{"monitorID": 1, "status": 0, "time": "2026-11-29 12:36:51.980", "msg": "timeout of 48000ms exceeded", "ping": null, "important": true, "duration": 20}]

``time`` is the start of the check, UTC without a zone; the status numbers are those of the database. At most the last 100
beats of a monitor are given. The backup of version 1 holds the configuration and no beat; it is declined.

Reference: louislam/uptime-kuma server/model/heartbeat.js (toJSON, toPublicJSON), server/client.js (sendHeartbeatList).
"""

from __future__ import annotations

import re
from pathlib import Path  # noqa: TC003 - part of the plug's signature
from typing import TYPE_CHECKING, Any

from forensics.formats.jsonl import head_values, mapping, number, read, text
from forensics.formats.state import framed, moments
from forensics.model.errors import UnreadableError
from forensics.model.plug import Monitor, Parsed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

STATUS = {0: "down", 1: "up", 2: "pending", 3: "maintenance"}
STAMP = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?$")
BACKUP = {"monitorList", "notificationList"}
DEEP = 6
KEPT = (
    "Uptime Kuma gives at most the last 100 beats of a monitor here: the first is not the begin of the watch"
)


def sniff(head: bytes) -> float:
    """1 for beats with a status number, a time of Kuma's and a ping or text, and for a backup."""
    values = head_values(head.removeprefix(b"42"))
    if any(set(mapping(value)) >= BACKUP for value in values) or (
        b'"monitorList"' in head and b'"notificationList"' in head
    ):
        return 1.0
    return 1.0 if next(found(values), None) else 0.0


def found(value: Any, monitor: str = "", depth: int = 0) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every beat with the key that it stands under."""
    if depth > DEEP:
        return
    if isinstance(value, list):
        number_of = next(
            (item for item in value if isinstance(item, str | int) and str(item).isdigit()), None
        )
        for item in value:
            yield from found(item, monitor if number_of is None else str(number_of), depth + 1)
    elif isinstance(value, dict):
        if is_beat(value):
            yield monitor, value
            return
        for key, item in value.items():
            yield from found(item, key if key.isdigit() else monitor, depth + 1)


def is_beat(value: Mapping[str, Any]) -> bool:
    """Is this a beat?"""
    status = value.get("status")
    stamped = isinstance(value.get("time"), str) and STAMP.match(value["time"])
    return bool(stamped) and type(status) is int and status in STATUS and ("ping" in value or "msg" in value)


def parse(path: Path, fields: Mapping[str, str]) -> Parsed:
    """Read every beat; a row is named by its ordinal."""
    del fields
    document = read(path)
    beats = list(found(list(document.values)))
    if not beats:
        raise UnreadableError(
            "a backup of Uptime Kuma holds its configuration and no beat",
            remedy="copy kuma.db together with kuma.db-wal from its data folder",
        )
    names = called(document.values)
    instants = moments([text(beat["time"]) for _, beat in beats])
    rows: list[dict[str, object]] = []
    alerts: list[dict[str, object]] = []
    for index, ((under, beat), ts) in enumerate(zip(beats, instants, strict=True), 1):
        which = str(beat.get("monitorID") or beat.get("monitor_id") or under or "1")
        said = text(beat.get("msg")) or None
        code = re.match(r"(\d{3}) - ", said) if said else None
        row: dict[str, object] = {
            "line": index,
            "monitor": names.get(which, f"monitor {which}"),
            "ts": ts,
            "status": STATUS[beat["status"]],
            "latency_ms": number(beat.get("ping")),
            "http_status": int(code[1]) if code else None,
            "error": said if beat["status"] != 1 else None,
        }
        rows.append(row)
        if beat.get("important") in (True, 1) and beat["status"] in (0, 1) and index > 1:
            alerts.append(
                {
                    **{key: row[key] for key in ("line", "monitor", "ts")},
                    "state": row["status"],
                    "text": "status change",
                }
            )
    return Parsed(beats=framed("beats", rows), alerts=framed("alerts", alerts), notes=(*document.notes, KEPT))


def called(values: tuple[Any, ...]) -> dict[str, str]:
    """Return the names of monitors where the file has them, by number."""
    names: dict[str, str] = {}
    for value in values:
        for key, item in mapping(mapping(value).get("monitorList")).items():
            if name := text(mapping(item).get("name")):
                names[key] = name
        single = mapping(mapping(value).get("monitor"))
        if isinstance(single.get("id"), int) and (name := text(single.get("name"))):
            names[str(single["id"])] = name
    return names


PLUG = Monitor(
    name="uptime_kuma_json",
    title="Uptime Kuma beats, JSON",
    marks="start of the check",
    sniff=sniff,
    parse=parse,
    binary=True,
    reference="louislam/uptime-kuma server/model/heartbeat.js",
)
