"""Reader of systemd's ``.journal`` files: columnar, without libsystemd, and of damaged files too."""

from __future__ import annotations

from forensics.sources.journal.header import SIGNATURE, Header, parse_header
from forensics.sources.journal.reader import FIXED, Journal, Opened, numbers, read

__all__ = ["FIXED", "SIGNATURE", "Header", "Journal", "Opened", "numbers", "parse_header", "read"]
