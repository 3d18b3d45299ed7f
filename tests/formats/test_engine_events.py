"""Events of a container engine keep their line as it was printed, so that signatures find it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from forensics import pipeline
from forensics.pipeline import Options

if TYPE_CHECKING:
    from pathlib import Path

ID = "4a5f0c1d2e3b" * 5 + "4a5f"


@pytest.mark.parametrize("before", ["", "2026-03-03T12:06:31.000000000Z stdout F "], ids=["bare", "shipped"])
def test_a_change_of_health_is_found(tmp_path: Path, before: str) -> None:
    """What stands before the colon of an action is no program's name."""
    text = "".join(
        f"{before}2026-03-03T12:0{minute}:30.162350114+02:00 container health_status: {status} {ID} (image=shop/web:1.4, name=shop-web-1)\n"
        for minute, status in ((6, "healthy"), (8, "unhealthy"))
    )
    (tmp_path / "events.txt").write_text(text, encoding="utf-8")
    hits = pipeline.survey([str(tmp_path)], Options())["hits"].sort("line")

    assert hits["signature"].to_list() == ["docker.health-status"] * 2
    assert [f'"status":"{status}"' in said for status, said in zip(("healthy", "unhealthy"), hits["parameters"], strict=True)] == [True, True]  # fmt: skip
