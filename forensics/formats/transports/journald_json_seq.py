"""``journalctl -o json-seq``: RFC 7464, a record separator (0x1E) before each object and a newline behind it."""

from __future__ import annotations

from forensics.formats.journald_framed import framed_transport

PLUG = framed_transport("journald_json_seq", "journalctl -o json-seq", "\x1e")
