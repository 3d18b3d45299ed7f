"""Small logs made by hand, and the whole pipeline run on them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

sys.path.insert(0, str(Path(__file__).parent))

if TYPE_CHECKING:
    from collections.abc import Callable

    from forensics.model.case import Case


@pytest.fixture
def think(tmp_path: Path) -> Callable[..., Case]:
    """Return a function that writes files and returns what the pipeline concludes from them."""

    def run(case_toml: str = "", *, tz: str | None = None, **files: str) -> Case:
        from forensics import pipeline

        folder = tmp_path / "in"
        folder.mkdir(exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text)
        case = tmp_path / "case.toml"
        case.write_text(case_toml)
        return pipeline.investigate([str(folder)], pipeline.Options(tz=tz, case=case))

    return run
