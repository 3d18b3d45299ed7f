"""Commands that Redis refused for lack of memory: it answered, and the report says why and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from forensics.model.finding import Verdict
from forensics.pipeline import Options, investigate
from forensics.report import document
from forensics.report.statements import Statements

if TYPE_CHECKING:
    from pathlib import Path

    from forensics.model.case import Case

OOM = "OOM command not allowed when used memory > 'maxmemory'."
SLOW = "Error: Socket timeout. Expecting data, but didn't receive any in 5000ms."


def case(folder: Path, *texts: str) -> Case:
    """Return what follows from a Node service that printed an hour of ordinary lines and then some errors, thirty times."""
    rows = [
        f"[Nest] 1  - 03/10/2026, {8 + at // 60}:{at % 60:02}:01 AM     LOG [Cart] saved"
        for at in range(0, 90, 1)
    ]
    rows += [
        f"[Nest] 1  - 03/10/2026, 9:{15 + at // 4}:{at % 4 * 15:02} AM   ERROR [ExceptionsHandler] {text}\n{text}\n    at parse (/srv/parser.js:179:12)"
        for at in range(30)
        for text in texts
    ]
    (folder / "shop.log").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return investigate([str(folder)], Options(tz="UTC"))


def suggested(found: Case) -> list[str]:
    """Return the steps about Redis that the report suggests, by the words that they begin with."""
    texts = [str(one["text"]) for one in document.build(found, redact=False)["actions"]]
    return [" ".join(text.split()[:2]) for text in texts if "Redis" in text]


def test_redis_refused_for_lack_of_memory(tmp_path: Path) -> None:
    """The verdict says so, the next step is about memory, and nobody asks why it did not answer."""
    found = case(tmp_path, f"ReplyError: {OOM}")
    (verdict,) = (one for one in found.diagnosis.judgements if one.id == "redis_failed")
    links = [one.key for one in found.diagnosis.findings if one.section == "mechanism"]

    assert (verdict.verdict, verdict.why) == (Verdict.CONFIRMED, "redis.memory")
    assert verdict.values["n"] == 30
    assert links[0] == "why.redis.memory"
    assert suggested(found) == ["Raise maxmemory"]
    assert "open.redis" not in [one.question for one in found.diagnosis.open_questions]
    for tag, words in (
        ("en", "Redis refused 30 commands of shop"),
        ("pt-BR", "O Redis recusou 30 comandos de shop"),
    ):
        assert words in Statements(tag, "UTC").say("why.redis.memory", verdict.values)


@pytest.mark.parametrize("text", [SLOW, "Error: Connection is closed."])
def test_redis_that_did_not_answer_is_asked_about(tmp_path: Path, text: str) -> None:
    """Time-outs are no refusals."""
    found = case(tmp_path, text)
    (verdict,) = (one for one in found.diagnosis.judgements if one.id == "redis_failed")

    assert verdict.why == "redis.clients"
    assert "open.redis" in [one.question for one in found.diagnosis.open_questions]
    assert suggested(found) == ["Give every"]
