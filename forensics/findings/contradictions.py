"""Conclusions of one run that cannot both hold: verdicts, findings, and numbers that two findings tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forensics.findings.hypotheses import Exclusion, Side, exclusions, quantities
from forensics.model.finding import Contradiction

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from forensics.findings.hypotheses import Quantity
    from forensics.model.finding import Finding, Judgement


def contradictions(judgements: Sequence[Judgement], findings: Sequence[Finding]) -> tuple[Contradiction, ...]:
    """Return every pair of conclusions that exclude each other, and every quantity that is told with two values."""
    return (
        *(each for one in exclusions() for each in excluded(one, judgements, findings)),
        *(each for one in quantities() for each in told_twice(one, findings)),
    )


def excluded(
    one: Exclusion, judgements: Sequence[Judgement], findings: Sequence[Finding]
) -> Iterator[Contradiction]:
    """Yield an exclusion whose two sides both hold."""
    if any(judgement.why in one.unless for judgement in judgements):
        return
    for left in holding(one.one, judgements, findings, one.of):
        for right in holding(one.other, judgements, findings, one.of):
            if left["of"] == right["of"]:
                yield Contradiction("contradiction.excluded", {"one": left, "other": right})
                return


def holding(
    side: Side, judgements: Sequence[Judgement], findings: Sequence[Finding], of: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield what one side says in this run, and what of."""
    for index, finding in enumerate(findings, start=1):
        if side.finding == finding.key:
            yield {"finding": f"F{index}", "title": None, "of": reach(finding.values, of) if of else None}
    for judgement in judgements:
        if judgement.id == side.hypothesis and judgement.verdict in side.verdicts:
            yield {"finding": None, "title": judgement.title, "of": None}


def told_twice(quantity: Quantity, findings: Sequence[Finding]) -> Iterator[Contradiction]:
    """Yield a quantity that two findings tell with different values; one that a finding leaves open is not told."""
    told: list[tuple[str, Any]] = []
    for key, path in quantity.told:
        for index, finding in enumerate(findings, start=1):
            if finding.key == key and (value := reach(finding.values, path)) is not None:
                told.append((f"F{index}", value))
    for name, value in told[1:]:
        if value != told[0][1]:
            yield Contradiction(
                "contradiction.number",
                {
                    "name": quantity.name,
                    "one": told[0][0],
                    "n": told[0][1],
                    "other": name,
                    "m": value,
                    "instant": quantity.instant,
                },
            )
            return


def reach(values: Any, path: Sequence[str]) -> Any:
    """Follow names, and places in tuples, through a finding's values; None where one is missing."""
    for name in path:
        if isinstance(values, tuple):
            values = values[int(name)]
            continue
        values = values.get(name) if isinstance(values, dict) else getattr(values, name, None)
        if values is None:
            return None
    return values
