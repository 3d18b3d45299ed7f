"""Conclusions that cannot both hold are found, whatever they are: verdicts, findings, numbers; and the report names them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import forensics
from forensics.findings import diagnosis, hypotheses
from forensics.findings.contradictions import contradictions
from forensics.findings.hypotheses import exclusions, quantities, side
from forensics.model import texts
from forensics.model.finding import Contradiction, Finding, Grade, Judgement, Verdict
from forensics.model.source import Ref
from forensics.pipeline import Options, investigate
from forensics.report.document import build
from forensics.report.render import markdown

if TYPE_CHECKING:
    from forensics.findings.hypotheses import Side


def judged(name: str, verdict: Verdict, why: str = "x.y") -> Judgement:
    """Return a verdict."""
    return Judgement(name, name.title(), verdict, why, {}, (), (), "", ())


def said(key: str, **values: Any) -> Finding:
    """Return a finding."""
    return Finding(key, key.partition(".")[0], Grade.VERIFIED, values, (Ref(0, 1),))


def holding(one: Side) -> tuple[list[Judgement], list[Finding]]:
    """Return what makes a side hold."""
    if one.finding:
        return [], [said(one.finding, series={"name": "GET /health"})]
    return [judged(str(one.hypothesis), one.verdicts[0])], []


@pytest.mark.parametrize("number", range(len(exclusions())))
def test_each_declared_pair_is_found(number: int) -> None:
    """Both sides hold: a contradiction; one of them, or another verdict, is none."""
    pair = exclusions()[number]
    (verdicts, findings), (others, told) = holding(pair.one), holding(pair.other)

    assert len(contradictions([*verdicts, *others], [*findings, *told])) == 1
    assert contradictions(verdicts, findings) == ()
    assert contradictions(others, told) == ()


def test_findings_about_two_things_exclude_nothing() -> None:
    """One check was answered all through, another was not."""
    green = said("alert.green", series={"name": "a"})

    assert contradictions([], [green, said("mechanism.probes", series={"name": "b"})]) == ()
    assert len(contradictions([], [green, said("mechanism.probes", series={"name": "a"})])) == 1


def test_a_reason_may_allow_both() -> None:
    """A server that says that it ends may have refused before."""
    refused = judged("db_slots_exhausted", Verdict.CONFIRMED)

    assert contradictions([judged("db_down", Verdict.CONFIRMED, "db_down.lifecycle"), refused], []) == ()
    assert len(contradictions([judged("db_down", Verdict.CONFIRMED), refused], [])) == 1


def test_one_quantity_told_with_two_values() -> None:
    """Equal numbers, and one that is left open, contradict nothing."""
    window = said("summary.window", failed=22, completed=None)

    assert contradictions([], [window, said("impact.failed", count=22), said("impact.completed", n=5)]) == ()
    (found,) = contradictions([], [window, said("impact.failed", count=3)])
    assert (found.key, found.values["one"], found.values["n"], found.values["other"], found.values["m"]) == (
        "contradiction.number", "F1", 22, "F2", 3,
    )  # fmt: skip


def test_what_is_declared_exists() -> None:
    """Findings that exclusions and quantities name have a statement; the loader refuses what it can check itself."""
    words = tomllib.loads((Path(str(texts.root())) / "statements" / "en.toml").read_text("utf-8"))
    keys = {each.finding for pair in exclusions() for each in (pair.one, pair.other) if each.finding}
    keys |= {key for quantity in quantities() for key, _ in quantity.told}

    assert [key for key in sorted(keys) if key.partition(".")[2] not in words[key.partition(".")[0]]] == []
    for wrong in (
        {"hypothesis": "db_down", "verdicts": ["sure"]},
        {"verdicts": ["ruled_out"]},
        {"finding": "a.b", "hypothesis": "db_down"},
    ):
        with pytest.raises(ValueError, match=r"sure|is not"):
            side(wrong)
    with pytest.raises(ValueError, match="no hypothesis db_gone"):
        hypotheses.known({"db_gone", "db_down"})


@pytest.mark.parametrize(
    ("lang", "words"), [("en", "cannot both hold"), ("pt-BR", "não podem valer ao mesmo tempo")]
)
def test_the_report_names_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, lang: str, words: str) -> None:
    """In use it stands among the first facts of the page, and in report.json."""
    both = {
        "one": {"finding": "F1", "title": None},
        "other": {"finding": None, "title": "Host rebooted", "verdict": "confirmed"},
    }
    counted = {"name": "failed requests", "one": "F1", "n": 22, "other": "F2", "m": 3, "instant": False}
    found = (Contradiction("contradiction.excluded", both), Contradiction("contradiction.number", counted))
    monkeypatch.setattr(diagnosis, "contradictions", lambda *_: found)
    (tmp_path / "a.log").write_text("2026-11-29T12:00:00Z INFO a\n", encoding="utf-8")
    document = build(investigate([str(tmp_path / "a.log")], Options(lang=lang)))

    assert words in document["contradictions"][0]
    assert "22" in document["contradictions"][1]
    assert words in markdown(document).split("\n## ")[0]
    assert Path(forensics.__file__).exists()
