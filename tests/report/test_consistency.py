"""Laws that any report obeys, and how two reports are compared."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest

from forensics.report import comparison, consistency

if TYPE_CHECKING:
    from collections.abc import Callable

REPORT: dict[str, Any] = {
    "sources": [{"id": "s1", "copy_of": None, "lines": {"total": 9, "in_records": 6, "blank": 2, "unparsed": 1}}],
    "incidents": [
        {"id": "i1", "start": "2026-11-29T12:00:00+00:00", "end": "2026-11-29T12:09:02+00:00", "duration_s": 542.0, "findings": ["F1"]}
    ],
    "signatures": [{"id": "a.b", "service": "api", "failures": 7, "lines": 8, "inside_incidents": 5}],
    "daily": [
        {"date": "2026-11-28", "service": "api", "signature": "a.b", "failures": 1, "lines": 1, "inside": 0},
        {"date": "2026-11-29", "service": "api", "signature": "a.b", "failures": 6, "lines": 7, "inside": 5},
    ],
    "probes": [
        {"series": "p", "due": 3, "answered": 1, "in_blind_gap": 1, "not_known": 0, "missed": [], "failed": [], "late": [{"due": "2026-11-29T12:00:00+00:00", "answered": "2026-11-29T12:01:28.100+00:00", "delay_s": 88.1, "rivals": []}]}
    ],
    "findings": [{"id": "F1", "evidence": ["E1"], "formula": "542 s / 30.0 s = 18"}],
    "timeline": [{"at": "2026-11-29T12:00:00+00:00", "evidence": ["E1"]}],
    "evidence": [{"id": "E1", "source": "s1"}],
}  # fmt: skip


def spoilt(change: Callable[[dict[str, Any]], object]) -> list[str]:
    """Return what is wrong with the report after a change."""
    document = copy.deepcopy(REPORT)
    change(document)
    return [str(mismatch) for mismatch in consistency.broken(document)]


def test_a_sound_report_breaks_no_law() -> None:
    assert consistency.broken(REPORT) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d["incidents"][0].update(duration_s=543), "incidents[id=i1].duration_s: the report says 543 s, but 2026-11-29T12:09:02+00:00 - 2026-11-29T12:00:00+00:00 is 542 s"),
        (lambda d: d["probes"][0]["late"][0].update(delay_s=87), "probes[0].late[0].delay_s: the report says 87 s"),
        (lambda d: d["probes"][0].update(answered=2), "probes[0].due: the report says 3, but 2 + 1 + 0 + 1 + 0 + 0 is 4"),
        (lambda d: d["sources"][0]["lines"].update(unparsed=2), "sources[id=s1].lines: 6 + 2 + 2 is not 9"),
        (lambda d: d["daily"][1].update(inside=7), "daily[1].inside: 7 inside incidents, but only 6 on the whole day"),
        (lambda d: d["signatures"][0].update(failures=8), "signatures[id=a.b].failures: the report says 8, its days make 7"),
        (lambda d: d["findings"][0].update(formula="542 s / 30.0 s = 20"), "findings[id=F1].formula: 542 s / 30.0 s = 20 is not so"),
        (lambda d: d["findings"][0].update(formula="(81 s + 121 s) / 2,5 s = 20"), "findings[id=F1].formula: (81 s + 121 s) / 2,5 s = 20 is not so"),
        (lambda d: d["findings"][0].update(evidence=["E2"]), "findings[id=F1].evidence: E2 is not among the evidence"),
        (lambda d: d["evidence"][0].update(source="s2"), "evidence[id=E1].source: s2 is not among the sources"),
        (lambda d: d["evidence"].append({"id": "E1", "source": "s1"}), "evidence[id=E1]: two rows have this id"),
        (lambda d: d["incidents"][0].update(end="2026-11-29T11:00:00+00:00"), "incidents[id=i1]: ends 2026-11-29T11:00:00+00:00, before its start"),
    ],
)  # fmt: skip
def test_a_broken_law_is_told_in_its_own_words(change: Callable[[dict[str, Any]], object], said: str) -> None:
    found = spoilt(change)
    assert any(line.startswith(said) for line in found), found


def test_whole_numbers_are_equal_however_they_are_written() -> None:
    assert comparison.documents({"a": 30.0, "b": [1]}, {"a": 30, "b": [1.0]}) == []
    assert len(comparison.documents({"a": True}, {"a": 1})) == 1


def test_instants_say_how_far_they_lie_apart() -> None:
    (found,) = comparison.documents({"at": "2026-11-29T12:00:03+00:00"}, {"at": "2026-11-29T12:00:00+00:00"})
    assert (
        str(found)
        == "at: the report says 2026-11-29T12:00:03+00:00, the inputs give 2026-11-29T12:00:00+00:00 (3 s later)"
    )


def test_a_row_too_many_does_not_make_the_others_differ() -> None:
    rows = [{"id": f"E{n}", "n": n} for n in range(5)]
    more = [*rows[:2], {"id": "E9", "n": 9}, *rows[2:]]
    assert [found.place for found in comparison.documents({"rows": more}, {"rows": rows})] == ["rows[id=E9]"]
    assert [found.place for found in comparison.documents({"rows": rows}, {"rows": more})] == ["rows[id=E9]"]


def test_keys_that_are_missing_or_unknown_are_told() -> None:
    found = [str(one) for one in comparison.documents({"b": None}, {"a": 1})]
    assert found == [
        "a: not in the report, the inputs give 1",
        "b: the report says null, the inputs give nothing of the kind",
    ]


def test_documents_are_not_changed_by_a_comparison() -> None:
    before = json.dumps(REPORT)
    comparison.documents(REPORT, {})
    assert json.dumps(REPORT) == before
