"""Tests of whole reports: the goldens' module lies one folder above, the path language beside."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from forensics.model.finding import Contradiction

HERE = Path(__file__).parent
sys.path[:0] = [folder for folder in (str(HERE), str(HERE.parent)) if folder not in sys.path]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of one incident in one process: each reads the whole incident once."""
    import golden

    known = frozenset(golden.names())
    for item in items:
        values = getattr(item, "callspec", None)
        for value in values.params.values() if values else ():
            if isinstance(value, str) and value in known:
                item.add_marker(pytest.mark.xdist_group(value))
                break


@pytest.fixture(autouse=True)
def _agrees_with_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail a test in whose run two conclusions contradict each other; in use the report names them."""
    from forensics.findings import contradictions, diagnosis

    def none(*conclusions: Any) -> tuple[Contradiction, ...]:
        found = contradictions.contradictions(*conclusions)
        assert found == (), "two conclusions of this run cannot both hold"
        return found

    monkeypatch.setattr(diagnosis, "contradictions", none)
