"""Dated lines of Java's loggers in other languages are records of their own, with their level."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from forensics import pipeline
from forensics.pipeline import Options

if TYPE_CHECKING:
    from pathlib import Path

STAMPS = {
    "es": ("15-ene-2026 18:54:42.585 INFORMACIÓN", "15-ene-2026 18:55:12.590 ADVERTENCIA", "15-dic-2026 23:59:59.001 GRAVE"),
    "pt": ("15-fev.-2026 18:54:42.585 INFORMAÇÕES", "15-mai-2026 18:55:12.590 ADVERTÊNCIA", "15-out.-2026 18:55:12.590 GRAVE"),
    "fr": ("15-janv.-2026 18:54:42.585 INFOS", "15-févr.-2026 18:55:12.590 AVERTISSEMENT", "15-août-2026 18:55:12.590 GRAVE"),
    "it": ("15-gen-2026 18:54:42.585 INFORMAZIONI", "15-mag-2026 18:55:12.590 AVVERTENZA", "15-dic-2026 18:55:12.590 GRAVE"),
    "de": ("15-Jan-2026 18:54:42.585 INFORMATIONEN", "15-Mär-2026 18:55:12.590 WARNUNG", "15-Dez-2026 18:55:12.590 SCHWERWIEGEND"),
    "lost": ("15-ene-2026 18:54:42.585 INFORMACI\N{REPLACEMENT CHARACTER}N", "15-ene-2026 18:55:12.590 ADVERTENCIA", "15-dic-2026 23:59:59.001 GRAVE"),
}  # fmt: skip


@pytest.mark.parametrize("language", STAMPS)
def test_each_line_is_a_record_with_its_level(tmp_path: Path, language: str) -> None:
    """No line is taken for a part of the one above, and none is without its level."""
    text = "".join(f"{stamp} [main] com.zaxxer.hikari.pool.HikariPool x\n" for stamp in STAMPS[language])
    (tmp_path / "catalina.log").write_text(text, encoding="utf-8")
    evidence = pipeline.survey([str(tmp_path)], Options())
    (source,) = evidence.sources

    assert (source.records, source.undated, source.message_formats) == (3, 0, ("day_month_year",))
    levels = evidence["templates"].sort("first_line")["level"].to_list()
    assert levels == ["info", "warning", "error"]
