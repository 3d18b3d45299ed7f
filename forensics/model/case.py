"""Everything one run knows; the report is a pure function of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from forensics.model.digest import Evidence
    from forensics.model.facts import Facts
    from forensics.model.finding import Diagnosis
    from forensics.model.known import Known
    from forensics.model.source import Ref


@dataclass(frozen=True, slots=True)
class Quote:
    """The text behind a Ref, fetched again from its source."""

    text: str
    at: int | None
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """Evidence, answers, conclusions and quotes of one run."""

    evidence: Evidence
    known: Known
    facts: Facts
    diagnosis: Diagnosis
    quotes: Mapping[Ref, Quote]
    version: str
    signatures_sha256: str
    language: str = "en"
    options: Mapping[str, Any] = field(default_factory=dict)
    around: Mapping[Ref, Quote] = field(default_factory=dict)
    """Lines beside the quoted ones, where they were asked for."""
