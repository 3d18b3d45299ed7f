"""Transports (how a line travelled), messages (what it says) and monitors (what a monitor remembers)."""

from __future__ import annotations

from functools import cache

from forensics.formats import messages, monitors, transports
from forensics.formats.definition import Own, message_formats, text_transports
from forensics.model.errors import DefinitionError
from forensics.model.plug import MessageFormat, Monitor, Transport, discover

_used = [Own()]
"""The user's formats of this run."""


@cache
def transports_of_the_house() -> dict[str, Transport]:
    """Every transport that comes with the tool."""
    return {**discover(transports, Transport), **text_transports(transports)}


@cache
def messages_of_the_house() -> dict[str, MessageFormat]:
    """Every message format that comes with the tool."""
    return {**discover(messages, MessageFormat), **message_formats(messages)}


def use(own: Own) -> None:
    """Read with a user's formats too, instead of those given before."""
    known = {*transports_of_the_house(), *messages_of_the_house(), *all_monitors()}
    if taken := sorted(known & {*own.transports, *own.messages}):
        raise DefinitionError(
            f"a format {taken[0]!r} comes with the tool", where=taken[0], remedy="give yours another name"
        )
    _used[0] = own
    all_transports.cache_clear()
    all_messages.cache_clear()


@cache
def all_transports() -> dict[str, Transport]:
    """Every transport by name: modules and TOML definitions, the user's among them."""
    return dict(sorted({**transports_of_the_house(), **_used[0].transports}.items()))


@cache
def all_messages() -> dict[str, MessageFormat]:
    """Every message format by name, the user's among them."""
    return dict(sorted({**messages_of_the_house(), **_used[0].messages}.items()))


@cache
def all_monitors() -> dict[str, Monitor]:
    """Every monitor by name."""
    return dict(sorted(discover(monitors, Monitor).items()))
