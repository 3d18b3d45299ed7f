"""What places the start, and what is known of a monitor whose timeout or rule is not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from findings_evidence import PIECES, Draft, series, signals, stall

from forensics.findings.sections.alert import undetermined
from forensics.findings.sections.summary import summary_cause
from forensics.findings.signals import Signals
from forensics.model.facts import Detectability, Incidents, Watch, Witness
from forensics.model.finding import Grade
from forensics.model.source import Ref
from forensics.pipeline import Options, investigate
from forensics.report.statements import Statements

if TYPE_CHECKING:
    from pathlib import Path

POOL = "QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00 (Background on this error at: https://sqlalche.me/e/20/3o7r)"


def lines(rows: list[tuple[float, str]]) -> str:
    """Write lines at seconds after 12:00 UTC."""
    return "".join(f"2026-11-29T12:{int(at) // 60:02}:{at % 60:06.3f}Z {text}\n" for at, text in sorted(rows))


def served(seconds: range) -> list[tuple[float, str]]:
    """Return requests, one a second."""
    return [(float(at), f'INFO:     203.0.113.7:0 - "GET /x{at % 7} HTTP/1.1" 200 OK') for at in seconds]


def test_the_first_failure_places_the_start(tmp_path: Path) -> None:
    """Its wait is subtracted, and it is no silence."""
    rows = served(range(600)) + [
        (300.0 + at, f"ERROR sqlalchemy.exc.TimeoutError: {POOL}") for at in range(20)
    ]
    (tmp_path / "api.log").write_text(lines(rows), encoding="utf-8")
    incident = investigate([str(tmp_path)], Options()).facts[Incidents].primary()

    assert incident is not None
    assert (incident.start_kind, incident.start_wait_s) == ("failure", 30.0)


@pytest.mark.parametrize(
    ("kind", "english", "portuguese"),
    [
        ("failure", "the first failed operation", "da primeira operação com falha"),
        ("silence", "the last line before the silence", "da última linha antes do silêncio"),
        ("probe", "the first probe that was not answered", "da primeira sonda não respondida"),
        ("stop", "the request to stop the service", "do pedido de parada do serviço"),
        ("end", "the end of the process", "do fim do processo"),
    ],
)
def test_the_start_says_which_line_places_it(kind: str, english: str, portuguese: str) -> None:
    """One of them, in both languages."""
    incident = replace(signals(Draft()).primary, start_kind=kind)  # type: ignore[type-var]

    for tag, words in (("en", english), ("pt-BR", portuguese)):
        assert words in Statements(tag, "UTC").say("times.start", {"incident": incident})


def told(
    timeout_s: float | None, alert_after: int | None, known: tuple[Detectability, ...] = ()
) -> list[Any]:
    """Return what is said of a monitor that asks every 30 s."""
    draft = Draft()
    one = series(draft, "failed", "monitor", "https://a.example/health")
    draft.put(replace(one, timeout_s=timeout_s, alert_after=alert_after))
    found = signals(draft)
    found.facts.put(Watch((), known, ()))
    return list(undetermined(found))


@pytest.mark.parametrize(
    ("timeout_s", "alert_after", "below", "missing"),
    [
        (None, 2, 30.0, "its timeout is not in the inputs"),
        (None, 1, None, "its timeout is not in the inputs"),
        (5.0, None, 5.0, "its rule is not in the inputs"),
        (None, None, None, "its timeout and rule are not in the inputs"),
    ],
)
def test_what_is_known_of_a_monitor_is_told(
    timeout_s: float | None, alert_after: int | None, below: float | None, missing: str
) -> None:
    """A rule of two alone says that nothing under a period alerts; a timeout alone that nothing under it fails."""
    (finding,) = told(timeout_s, alert_after)

    assert finding.values["below"] == below
    assert finding.grade is (Grade.DERIVED if below else Grade.NOT_DETERMINED)
    assert [need.input for need in finding.needs] == ([] if below else ["the monitor's timeout and rule"])
    assert len(finding.refs) == 2
    said = Statements("en", "UTC").say("alert.undetermined", finding.values)
    assert missing in said
    assert ("never meets its rule" in said) is (below is not None)


def test_a_monitor_that_is_known_is_told_with_its_bounds_alone() -> None:
    """With timeout and rule, or where another target of the same beat has them."""
    assert told(5.0, 2) == []
    assert told(None, None, (Detectability("b", 30.0, 5.0, 2, 35.0, 65.0),)) == []


@pytest.mark.parametrize(
    ("tag", "words"),
    [
        ("en", "a freeze under 35 s never meets its rule, one over 65 s always does"),
        ("pt-BR", "um congelamento abaixo de 35 s nunca atende à sua regra, um acima de 65 s sempre atende"),
    ],
)
def test_arithmetic_speaks_of_the_rule_and_not_of_the_monitor(tag: str, words: str) -> None:
    """Whether a monitor alerts when its rule is met only its record tells."""
    said = Statements(tag, "UTC").say(
        "alert.detectability", {"item": Detectability("b", 30.0, 5.0, 2, 35.0, 65.0)}
    )

    assert said.endswith(words)


def test_pieces_are_put_together_whole() -> None:
    """Each piece alone makes signals that can be asked."""
    for piece in PIECES.values():
        draft = Draft()
        piece(draft)
        assert isinstance(signals(draft), Signals)


@pytest.mark.parametrize(
    ("witnesses", "english", "portuguese"),
    [
        (
            (Witness("probes", 2, (Ref(0, 1),), {"series": "GET /health"}),),
            ", but for moments: probes of GET /health were not answered in time",
            ", exceto por instantes: sondas de GET /health não foram respondidas a tempo",
        ),
        (
            (Witness("probes", 1, (Ref(0, 1),), {"series": "GET /health"}),),
            ", but for moments: a probe of GET /health was not answered in time",
            ", exceto por instantes: uma sonda de GET /health não foi respondida a tempo",
        ),
        (
            (Witness("burst", 40, (Ref(0, 1),), {"usual": 1.0}),),
            ", but for moments",
            ", exceto por instantes",
        ),
    ],
)
def test_the_summary_of_a_stall_names_only_its_witnesses(
    witnesses: tuple[Witness, ...], english: str, portuguese: str
) -> None:
    """Probes are told of where some were not answered; what their endpoint needs is never made up."""
    draft = Draft()
    draft.put(replace(stall(draft), witnesses=witnesses))
    (finding,) = [one for one in summary_cause(signals(draft), {}) if one.key == "summary.stall"]

    for tag, words in (("en", english), ("pt-BR", portuguese)):
        assert Statements(tag, "UTC").say("summary.stall", finding.values).endswith(words)
