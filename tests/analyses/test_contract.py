"""What every analysis promises, checked for all of them at once."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest
import small_logs as logs

from forensics import analyses
from forensics.model import facts
from forensics.model.plug import Analysis, discover
from forensics.model.source import Ref

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from forensics.model.case import Case

ANALYSES = discover(analyses, Analysis)


def refs(value: object) -> Iterator[Ref]:
    """Yield every place that an answer names."""
    if isinstance(value, Ref):
        yield value
    elif isinstance(value, tuple | list):
        for item in value:
            yield from refs(item)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from refs(getattr(value, field.name))


@pytest.mark.parametrize("analysis", ANALYSES.values(), ids=ANALYSES.keys())
class TestAnalysis:
    """The contract of `Analysis`."""

    def test_is_named_like_its_file(self, analysis: Analysis) -> None:
        """One slug everywhere, and a question that ends like one."""
        assert analysis is ANALYSES[analysis.name]
        assert analysis.question.endswith("?")

    def test_shape_is_a_noun_of_the_model(self, analysis: Analysis) -> None:
        """Each analysis gives one shape that no other gives, and needs shapes that others give."""
        given = [other.gives for other in ANALYSES.values()]

        assert getattr(facts, analysis.gives.__name__) is analysis.gives
        assert given.count(analysis.gives) == 1
        assert set(analysis.needs) <= set(given) - {analysis.gives}

    def test_nothing_gives_an_answer(self, analysis: Analysis, think: Callable[..., Case]) -> None:
        """An input of which nothing can be read gives an answer of the promised shape all the same."""
        answer = think(junk="lorem ipsum\n").facts[analysis.gives]

        assert isinstance(answer, analysis.gives)
        assert list(refs(answer)) == []

    def test_places_exist(self, analysis: Analysis, think: Callable[..., Case]) -> None:
        """Every place that an answer names is a line of an input."""
        lines = [
            *logs.served(0, 300),
            *[line for second in range(60, 90) for line in logs.at(second + 0.5, *logs.TRACEBACK)],
        ]
        case = think(api=logs.journal(lines), monitor=logs.beats(range(0, 300, 20), down=(80,)))
        totals = {source.index: source.lines.total for source in case.evidence.sources if source.lines}

        assert [
            ref for ref in refs(case.facts[analysis.gives]) if not 1 <= ref.line <= totals[ref.source]
        ] == []
