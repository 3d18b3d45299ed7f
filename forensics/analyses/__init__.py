"""One question, one module, one pure function over the evidence; siblings know nothing of each other."""

from __future__ import annotations

import sys
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING

from forensics.model.facts import Facts
from forensics.model.plug import Analysis, discover

if TYPE_CHECKING:
    from forensics.model.digest import Evidence
    from forensics.model.known import Known


def run_all(evidence: Evidence, known: Known) -> Facts:
    """Run every analysis after those whose answers it needs."""
    found = discover(sys.modules[__name__], Analysis)
    by_answer = {analysis.gives: analysis for analysis in found.values()}
    order = TopologicalSorter({analysis.gives: analysis.needs for analysis in found.values()}).static_order()
    facts = Facts()
    for answer in order:
        facts.put(by_answer[answer].run(evidence, known, facts))
    return facts
