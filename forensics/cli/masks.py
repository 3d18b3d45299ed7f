"""What commands that show lines without a report mask them with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pathlib import Path

    from forensics.report.masking import Masker

no_redact = click.option(
    "--no-redact", is_flag=True, help="Do not mask secrets, addresses and what names persons."
)


def masker(case: Path | None) -> Masker:
    """Return what masks as the case file says."""
    from forensics.report.masking import Masker
    from forensics.sources import casefile

    said = casefile.read(case) if case else casefile.CaseFile()
    return Masker(said.keep, said.names)
