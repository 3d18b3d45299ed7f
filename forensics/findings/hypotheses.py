"""The fifteen hypotheses as data, with the commands that would fetch what is missing."""

from __future__ import annotations

import datetime as dt
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from forensics.model.finding import Need

DATABASE_LOG = "/var/log/postgresql/postgresql-*-main.log"
WINDOW = re.compile(r"--since '\{since(?:_iso)?\}' --until '\{until(?:_iso)?\}' ")
"""The window in a command, left out where no instant is known."""
PATH = Path(__file__).with_name("hypotheses.toml")


@dataclass(frozen=True, slots=True)
class Wanted:
    """One input that would tell, and when to ask for it."""

    need: Need
    engine: str | None
    """The database that it is asked of (``postgres``, ``mysql``), or null for any."""
    ongoing: bool
    """Does it help only while the incident is going on?"""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One row of the differential diagnosis."""

    id: str
    title: str
    scope: str
    wanted: tuple[Wanted, ...]
    supported_by: tuple[str, ...]
    contradicted_by: tuple[str, ...]
    coverage: str
    """What must cover the window before it is ruled out or without sign."""

    def needs(self, engine: str, *, ongoing: bool) -> tuple[Need, ...]:
        """Return what would tell where the database is ``engine``: first what helps afterwards, then what helps only now."""
        asked = [item for item in self.wanted if item.engine in (None, engine)]
        return tuple(
            item.need
            for now in (False, True)
            for item in asked
            if item.ongoing is now and (ongoing or not now)
        )


@cache
def load() -> tuple[Hypothesis, ...]:
    """Return all hypotheses in their fixed order."""
    blocks: list[dict[str, Any]] = tomllib.loads(PATH.read_text(encoding="utf-8"))["hypothesis"]
    return tuple(
        Hypothesis(
            block["id"],
            block["title"],
            block["scope"],
            tuple(wanted(need) for need in block["needs"]),
            tuple(block["supported_by"]),
            tuple(block["contradicted_by"]),
            block["coverage"],
        )
        for block in blocks
    )


def wanted(need: dict[str, Any]) -> Wanted:
    """Return one row of ``hypothesis.needs``."""
    return Wanted(
        Need(need["input"], need["command"], need["expires"]), need.get("engine"), bool(need.get("ongoing"))
    )


def fill(needs: tuple[Need, ...], *, unit: str, container: str, since: int, until: int) -> tuple[Need, ...]:
    """Put unit, container and window into commands; journalctl understands ``2026-09-09 12:42:26 UTC``."""
    if until <= 0:
        bare = tuple(Need(need.input, WINDOW.sub("", need.command), need.expires) for need in needs)
        return tuple(
            Need(
                need.input,
                replace(need.command, {"unit": unit, "container": container, "database_log": DATABASE_LOG}),
                need.expires,
            )
            for need in bare
        )
    start, end = (dt.datetime.fromtimestamp(us // 1_000_000, dt.UTC) for us in (since, until))
    values = {
        "unit": unit, "container": container, "since": f"{start:%Y-%m-%d %H:%M:%S} UTC", "until": f"{end:%Y-%m-%d %H:%M:%S} UTC",
        "since_iso": f"{start:%Y-%m-%dT%H:%M:%SZ}", "until_iso": f"{end:%Y-%m-%dT%H:%M:%SZ}", "database_log": DATABASE_LOG,
    }  # fmt: skip
    return tuple(Need(need.input, replace(need.command, values), need.expires) for need in needs)


def replace(command: str, values: dict[str, str]) -> str:
    """Fill placeholders; other braces stay as they are."""
    for name, value in values.items():
        command = command.replace(f"{{{name}}}", value)
    return command
