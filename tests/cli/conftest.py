"""Running the command line in this process, for speed, as a user would see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from forensics.cli import main
from forensics.report.charts import drawing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

GOOD = "".join(
    f'2026-11-29T12:{minute:02d}:{second:02d}+0000 srv uvicorn[81]: INFO:     203.0.113.15:0 - "GET /api/views HTTP/1.1" 200 OK\n'
    for minute in range(3)
    for second in range(0, 60, 2)
)
"""Three quiet minutes."""


@dataclass(frozen=True, slots=True)
class Done:
    """What a command left: its exit code and its two streams."""

    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def sketches(monkeypatch) -> None:
    """Leave drawing out: it takes longer than all that is tried here, and has tests of its own (tests/charts)."""
    monkeypatch.setattr(drawing, "svg", lambda *_: '<svg xmlns="http://www.w3.org/2000/svg"/>')
    monkeypatch.setattr(drawing, "png", lambda *_: b"")


@pytest.fixture
def run(capfd) -> Callable[..., Done]:
    """Return a function that runs one command."""

    def call(*args: object) -> Done:
        capfd.readouterr()
        with pytest.raises(SystemExit) as stop:
            main([str(arg) for arg in args])
        out, err = capfd.readouterr()
        assert isinstance(stop.value.code, int)
        return Done(stop.value.code, out, err)

    return call


@pytest.fixture
def good(tmp_path: Path) -> Path:
    """Return a folder that holds one readable log."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "api.log").write_text(GOOD)
    return folder
