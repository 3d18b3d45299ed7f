"""case.toml: what logs cannot say, and how a slip in it is told."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import pytest

from forensics.model.errors import UsageError
from forensics.model.known import KnownEvent, PoolHint, ProbeHint
from forensics.sources import casefile

if TYPE_CHECKING:
    from pathlib import Path

WHOLE = """
title = "CRM API stopped answering"
timezone = "America/Sao_Paulo"
language = "pt-BR"
[[source]]
match = "state/saturation*.json"
format = "samples_jsonl"
timezone = "America/Sao_Paulo"
fields = { time = "at", value = "conns", limit = "max" }
[[probe]]
name = "edge worker"
path = "/health"
client = "203.0.113.21"
period_s = 300
timeout_s = 8
alert_after = 2
[[pool]]
service = "crm-api"
size = 5
overflow = 10
timeout_s = 30
processes = 1
[database]
max_connections = 100
[[event]]
at = "2026-09-08T14:10:00-03:00"
kind = "deploy"
text = "photos delivered"
"""
"""The example of INTERFACE.md."""


def put(tmp_path: Path, text: str) -> Path:
    """Write a case file."""
    path = tmp_path / "case.toml"
    path.write_text(text)
    return path


def refusal(tmp_path: Path, text: str) -> str:
    """Return how a case file is refused."""

    def use(path: Path) -> None:
        case = casefile.read(path)
        casefile.events(case, case.timezone or "UTC")

    with pytest.raises(UsageError) as refused:
        use(put(tmp_path, text))
    return str(refused.value)


def test_whole_example(tmp_path: Path) -> None:
    """Every key of the interface is read."""
    case = casefile.read(put(tmp_path, WHOLE))

    assert (case.title, case.timezone, case.language, case.max_connections) == (
        "CRM API stopped answering",
        "America/Sao_Paulo",
        "pt-BR",
        100,
    )
    assert case.sources == (
        casefile.SourceRule(
            "state/saturation*.json",
            "samples_jsonl",
            "America/Sao_Paulo",
            {"time": "at", "value": "conns", "limit": "max"},
        ),
    )
    assert case.probes == (ProbeHint("edge worker", "/health", "203.0.113.21", 300, 8, 2),)
    assert case.pools == (PoolHint("crm-api", 5, 10, 30, 1),)


def test_events_have_instants(tmp_path: Path) -> None:
    """An event's time is an instant; a TOML date-time works as well as a text, and one without offset is of the case's zone."""
    truth = round(dt.datetime(2026, 9, 8, 17, 10, tzinfo=dt.UTC).timestamp() * 1e6)
    spellings = [
        '"2026-09-08T14:10:00-03:00"',
        "2026-09-08T14:10:00-03:00",
        "2026-09-08T14:10:00",
        '"2026-09-08 14:10"',
    ]
    for at in spellings:
        case = casefile.read(put(tmp_path, f'[[event]]\nat = {at}\nkind = "deploy"\ntext = "x"\n'))
        assert casefile.events(case, "America/Sao_Paulo") == (KnownEvent(truth, "deploy", "x"),)


def test_empty_file(tmp_path: Path) -> None:
    """An empty case file is allowed: everything in it is optional."""
    assert casefile.read(put(tmp_path, "")) == casefile.CaseFile()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('titel = "x"', "case.toml: unknown key 'titel'; did you mean 'title'?"),
        ("[[probe]]\nperiod = 3", "case.toml: probe: unknown key 'period'; did you mean 'period_s'?"),
        ("[[pool]]\nsise = 3", "case.toml: pool: unknown key 'sise'; did you mean 'size'?"),
        ("[[source]]\nmatch = 'x'\nzone = 'UTC'", "case.toml: source: unknown key 'zone'; "),
        (
            "[database]\nmax_connection = 3",
            "case.toml: database: unknown key 'max_connection'; did you mean 'max_connections'?",
        ),
        (
            "[[event]]\nat = '2026-09-08T14:10Z'\nkind = 'deployed'",
            "case.toml: [[event]]: an event needs at and a known kind; kinds are deploy, ",
        ),
        ("[[event]]\nkind = 'deploy'", "case.toml: [[event]]: an event needs at and a known kind"),
        ("[[event]]\nat = '14:10'\nkind = 'deploy'", "case.toml: event '': the time '14:10' has no date"),
        ("language = 'fr'", "case.toml: language: unknown language 'fr'; use en or pt-BR"),
        (
            "[[event]]\nat = '2026-09-08T14:10Z'\nkind = ['deploy']",
            "case.toml: event: kind: ",
        ),
        ("probe = 'x'", "case.toml: probe: "),
        ("title = ", "case.toml: not valid TOML"),
        ("title = 'a'\ntitle = 'b'", "case.toml: not valid TOML"),
    ],
)
def test_slip_is_refused(text: str, said: str, tmp_path: Path) -> None:
    """A slip is one line: the file, the key, and the nearest known one."""
    assert refusal(tmp_path, text).startswith(said)
    assert "\n" not in refusal(tmp_path, text)


def test_bytes_that_are_no_utf8(tmp_path: Path) -> None:
    """A file in another encoding is refused, not a traceback."""
    path = tmp_path / "case.toml"
    path.write_bytes('title = "São Paulo"'.encode("latin-1"))

    with pytest.raises(UsageError, match="not valid TOML"):
        casefile.read(path)


@pytest.mark.parametrize(
    "text", ["timezone = 'America/SaoPaulo'", "[[source]]\nmatch = 'x'\ntimezone = 'America/SaoPaulo'"]
)
def test_unknown_zone_names_the_file(text: str, tmp_path: Path) -> None:
    """An unknown zone of the case file is told as the case file's, with the nearest one."""
    said = refusal(tmp_path, text)

    assert said.startswith("case.toml")
    assert "did you mean America/Sao_Paulo?" in said


@pytest.mark.parametrize(
    "text",
    [
        "timezone = 3",
        "title = 3",
        "source = 3",
        "[[probe]]\nperiod_s = 'five minutes'",
        "[[pool]]\nsize = '5'",
        "[[source]]\nformat = 'samples_jsonl'",
        "[database]\nmax_connections = 'many'",
    ],
)
def test_wrong_type_is_refused(text: str, tmp_path: Path) -> None:
    """A value of the wrong type, or a block without what it needs, is refused like an unknown key."""
    assert refusal(tmp_path, text).startswith("case.toml")
