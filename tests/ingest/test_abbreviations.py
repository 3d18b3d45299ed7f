"""An abbreviation of several meanings never changes how the lines that state their offset are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from forensics import pipeline
from forensics.ingest import abbreviations
from forensics.model.source import Zone
from forensics.pipeline import Options

if TYPE_CHECKING:
    from pathlib import Path

    from forensics.model.digest import Evidence

STATED = ("Thu 2026-08-27 15:58:01 UTC", "Thu 2026-08-27 21:43:02 +0545", "Thu 2026-08-27 17:58:06 CEST")
AT = 1_787_846_281


def read(tmp_path: Path, *stamps: str) -> Evidence:
    """Read a file with a line for each stamp."""
    text = "".join(f"{stamp} edge-1 gateway[1234]: GET /cart {n}\n" for n, stamp in enumerate(stamps))
    (tmp_path / "edge.txt").write_text(text, encoding="utf-8")
    return pipeline.survey([str(tmp_path)], Options())


def placed(evidence: Evidence) -> list[int]:
    """Return the seconds of all lines since the first stated one."""
    return sorted(second - AT for second in evidence["seconds"]["second"].drop_nulls())


@pytest.mark.parametrize(
    ("stamp", "offset"),
    [("21:28:03", "+05:30"), ("16:58:03", "+01:00"), ("17:58:03", "+02:00")],
    ids=["india", "ireland", "israel"],
)
def test_neighbours_tell_which_zone_is_meant(tmp_path: Path, stamp: str, offset: str) -> None:
    """The line stands between two others of its time."""
    evidence = read(tmp_path, *STATED[:2], f"Thu 2026-08-27 {stamp} IST", STATED[2])
    (source,) = evidence.sources

    assert placed(evidence) == [0, 1, 2, 5]
    assert source.zone == Zone("UTC", "stated")
    assert source.limits == (f"IST is read as {offset}: so its lines lie beside those around them",)


def test_a_line_that_lies_near_none_is_left_undated(tmp_path: Path) -> None:
    """At no offset does it lie beside its neighbours; these keep their own."""
    evidence = read(tmp_path, *STATED[:2], "Thu 2026-08-27 10:00:00 IST", STATED[2])
    (source,) = evidence.sources

    assert placed(evidence) == [0, 1, 5]
    assert source.zone == Zone("UTC", "stated")
    assert source.limits == (abbreviations.UNKNOWN.format(name="IST"),)


def test_the_meaning_does_not_depend_on_shards(tmp_path: Path) -> None:
    """Its neighbours may lie in another shard."""
    read(tmp_path, *STATED[:2], "Thu 2026-08-27 21:28:03 IST", STATED[2])
    evidence = pipeline.survey([str(tmp_path)], Options(shard_size=60))

    assert placed(evidence) == [0, 1, 2, 5]
