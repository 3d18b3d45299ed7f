"""A text known from documents only supports a hypothesis; it never confirms one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import golden
import pytest

from forensics import analyses, pipeline
from forensics.findings.signals import Signals
from forensics.findings.weighing import judge_all
from forensics.model.finding import Verdict
from forensics.model.source import Ref
from forensics.signatures import load

if TYPE_CHECKING:
    from pathlib import Path

    from forensics.model.case import Case
    from forensics.model.finding import Judgement
    from forensics.model.signature import Signature

UNVERIFIED = [one for one in load() if not one.verified]
SERVED = 'INFO:     192.0.2.7:1 - "GET /health HTTP/1.1" 200 OK'


def confirmed(judgements: tuple[Judgement, ...]) -> dict[str, Judgement]:
    """Return what is confirmed, by hypothesis."""
    return {item.id: item for item in judgements if item.verdict is Verdict.CONFIRMED}


def judged(case: Case, *doubted: str) -> tuple[Judgement, ...]:
    """Judge a case again as if some signatures were known from documents only; without names: all of them."""
    signatures = {
        name: replace(one, verified=one.verified and bool(doubted) and name not in doubted)
        for name, one in case.known.signatures.items()
    }
    known = replace(case.known, signatures=signatures)
    return judge_all(Signals(case.evidence, known, analyses.run_all(case.evidence, known)))


def written(folder: Path, *texts: str) -> Case:
    """Return what is concluded from a log in which each text stands six times amid ordinary lines."""
    lines = [
        f"2026-11-29T12:{minute:02}:{second:02}.000Z {text}"
        for minute in range(20)
        for second, text in enumerate((SERVED, *(texts if 8 <= minute < 14 else ())))
    ]
    path = folder / "app.log"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return pipeline.investigate([str(path)], pipeline.Options())


@pytest.mark.parametrize("signature", UNVERIFIED, ids=lambda signature: signature.id)
def test_an_unverified_signature_confirms_nothing(signature: Signature, tmp_path: Path) -> None:
    """However often it occurs."""
    case = written(tmp_path, *signature.hit)

    assert confirmed(case.diagnosis.judgements) == {}


@pytest.mark.parametrize("name", golden.varied())
def test_nothing_is_confirmed_by_doubted_texts_alone(name: str) -> None:
    """Were all signatures unverified, each confirmation would rest on something that is no text of a signature."""
    case = golden.case(name)
    texts = {Ref(source, line) for source, line in case.evidence["hits"].select("source", "line").iter_rows()}

    assert [
        item.id for item in confirmed(judged(case)).values() if item.supports and set(item.supports) <= texts
    ] == []


def test_a_doubted_text_lowers_no_proof(tmp_path: Path) -> None:
    """What a verified text confirms stays confirmed, whatever doubtful ones stand before it."""
    case = written(tmp_path, *[f"borrow {n}: {UNVERIFIED_POOL}" for n in range(3)], POOL)
    alone = confirmed(judged(case, "sqlalchemy.queuepool-timeout"))

    assert "app_pool_exhausted" in confirmed(case.diagnosis.judgements)
    assert "app_pool_exhausted" not in alone


POOL = "sqlalchemy.exc.TimeoutError: QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00"
UNVERIFIED_POOL = next(one.hit[0] for one in UNVERIFIED if one.id == "rds-proxy.borrow-timeout")
