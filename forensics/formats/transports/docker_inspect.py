"""``docker inspect``, ``podman inspect`` and ``config.v2.json``: when a container was made, began, ended and was probed.

    [{"Id": "9638…", "Created": "2026-11-29T12:33:43.7Z", "State": {"StartedAt": "…", "FinishedAt": "…", "ExitCode": 137, "OOMKilled": true, "Health": {"Log": […]}}}]

Each instant becomes a record: creation, the last start, the last end with its exit code, and each of the health
checks that the engine remembers (five). Earlier starts and ends are not there, only their number (``RestartCount``). The zero
time (year 1) means never. Reference: moby/moby api/types/container/state.go, health.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.formats.envelopes import Envelope, json_transport, text_of
from forensics.formats.inner import level
from forensics.sources import clock

if TYPE_CHECKING:
    from collections.abc import Iterator

NEVER = "0001-01-01"


def is_container(item: object) -> bool:
    """Hold for the description of a container."""
    if not isinstance(item, dict) or not isinstance(item.get("State"), dict):
        return False
    return "StartedAt" in item["State"] and ("Name" in item or "Config" in item)


def unfold(value: object) -> list[dict[str, Any]] | None:
    """Return what happened to the containers of a description; None where it is none."""
    containers = value if isinstance(value, list) else [value]
    if not containers or not all(isinstance(item, dict) for item in containers):
        return None
    found = [item for item in containers if is_container(item)]
    return [event for item in found for event in events(item)] if found else None


def events(item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what happened to one container, with its instant."""
    state = item["State"]
    config = item["Config"] if isinstance(item.get("Config"), dict) else {}
    name = text_of(item.get("Name") or "").lstrip("/") or text_of(item.get("Id") or item.get("ID") or "")[:12]
    image = text_of(config.get("Image") or item.get("ImageName") or "")

    def event(when: object, text: str, severity: str = "info") -> Iterator[dict[str, Any]]:
        if isinstance(when, str) and when and not when.startswith(NEVER):
            yield {"at": when, "service": name, "severity": severity, "text": text}

    yield from event(item.get("Created"), f"container created (image={image})" if image else "container created")
    restarts = item.get("RestartCount")
    again = f" (restarted {restarts} times since it was created)" if isinstance(restarts, int) and restarts > 0 else ""
    yield from event(state.get("StartedAt"), f"container started{again}")
    if not state.get("Running"):
        yield from event(state.get("FinishedAt"), *ending(state))
    for check in checks(state):
        code = check.get("ExitCode")
        output = text_of(check.get("Output") or "").strip()
        said = f"health check exited with code {code}" + (f": {output}" if output else "")
        yield from event(check.get("End") or check.get("Start"), said, "info" if code == 0 else "error")
    if state.get("Running"):
        # The end of the run before: the container was started again after it.
        yield from event(state.get("FinishedAt"), "the run before ended")


def ending(state: dict[str, Any]) -> tuple[str, str]:
    """Return how a container ended and how bad that is."""
    code = state.get("ExitCode")
    if state.get("OOMKilled"):
        return f"container exited with code {code}, killed for lack of memory (OOMKilled)", "critical"
    fault = text_of(state.get("Error") or "").strip()
    said = f"container exited with code {code}" + (f": {fault}" if fault else "")
    return said, "info" if code == 0 else "error"


def checks(state: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the health checks that the engine remembers."""
    for key in ("Health", "Healthcheck"):
        health = state.get(key)
        log = health.get("Log") if isinstance(health, dict) else None
        if isinstance(log, list):
            return [check for check in log if isinstance(check, dict)]
    return []


def records(table: pl.DataFrame) -> pl.DataFrame:
    """Turn what happened into records."""
    return table.select(
        "line",
        ts=clock.iso(pl.col("at")),
        naive=pl.lit(value=False),
        service="service",
        level=level(pl.col("severity")),
        message="text",
    )


PLUG = json_transport(
    "docker_inspect",
    "docker inspect (state of containers)",
    "when it happened",
    Envelope(("at", "service", "severity", "text"), lambda item: "at" in item and "text" in item, records, unfold=unfold),
    (
        '[{"Id":"9638435b5796","Created":"2026-11-29T12:33:43.747055622Z","State":{"StartedAt":"0001-01-01T00:00:00Z","FinishedAt":"0001-01-01T00:00:00Z"},"Name":"/web-1","Config":{}}]',
        '{"ID":"db1ef129ebce","Created":"2026-11-29T12:33:46.18Z","Name":"/lab-1","State":{"Running":false,"StartedAt":"","FinishedAt":""}}',
    ),
    lines=False,
    reference="moby/moby api/types/container/state.go",
)
