"""Transports (how a line travelled), messages (what it says) and monitors (what a monitor remembers)."""

from __future__ import annotations

from functools import cache

from forensics.formats import messages, monitors, transports
from forensics.formats.definition import message_formats, text_transports
from forensics.model.plug import MessageFormat, Monitor, Transport, discover


@cache
def all_transports() -> dict[str, Transport]:
    """Every transport by name: modules and TOML definitions."""
    return dict(sorted({**discover(transports, Transport), **text_transports(transports)}.items()))


@cache
def all_messages() -> dict[str, MessageFormat]:
    """Every message format by name."""
    return dict(sorted({**discover(messages, MessageFormat), **message_formats(messages)}.items()))


@cache
def all_monitors() -> dict[str, Monitor]:
    """Every monitor by name."""
    return dict(sorted(discover(monitors, Monitor).items()))
