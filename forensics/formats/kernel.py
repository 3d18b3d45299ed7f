"""What the outputs of dmesg have in common."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from forensics.model.plug import Parsed

LEVELS = {
    "emerg": "critical",
    "alert": "critical",
    "crit": "critical",
    "err": "error",
    "warn": "warning",
    "notice": "info",
    "info": "info",
    "debug": "debug",
}
"""The kernel's names of levels, which ``dmesg -x`` prints (util-linux sys-utils/dmesg.c)."""
NUMBERS = tuple(LEVELS.values())
PREFIX = r"^(?:[a-z0-9]+ *:(?P<level>[a-z]+) *: |<\d+>)?"
"""Facility and level of ``dmesg -x``, or the priority of ``dmesg -r``."""
UNDATED = "its times are seconds since the kernel started and place no line: export again with dmesg --time-format iso, or journalctl -k -o short-iso-precise"


def named(parsed: Parsed, *notes: str) -> Parsed:
    """Give the records the kernel's name and our levels."""
    assert parsed.records is not None
    level = pl.col("level").replace_strict(LEVELS, default=None, return_dtype=pl.String)
    records = parsed.records.with_columns(level=level, service=pl.lit("kernel"))
    return replace(parsed, records=records, notes=(*parsed.notes, *notes))
