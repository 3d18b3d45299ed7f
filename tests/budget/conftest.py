"""Running `forensics budget` in this process, as a user would see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from forensics.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Done:
    """What a command left: its exit code and its two streams."""

    code: int
    out: str
    err: str


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
