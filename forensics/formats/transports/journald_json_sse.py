"""``journalctl -o json-sse``: server-sent events, one ``data: {…}`` and an empty line an entry."""

from __future__ import annotations

from forensics.formats.journald_framed import framed_transport

PLUG = framed_transport("journald_json_sse", "journalctl -o json-sse", "data: ")
