"""The connection budget as a link of a report's mechanism: only where a pool ran out, with the place of each term and what nobody states."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from forensics import pipeline
from forensics.model.budget import Given, Range
from forensics.report.statements import Statements

if TYPE_CHECKING:
    from pathlib import Path

    from forensics.model.finding import Finding

START = dt.datetime(2026, 11, 30, 18, 0, tzinfo=dt.UTC)
POOL = "QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00"
COMPOSE = """services:
  shop:
    image: shop
    deploy: {replicas: 3}
    environment:
      DATABASE_URL: postgresql+psycopg2://app:secret@db/shop
      WEB_CONCURRENCY: "2"
"""
CASE = """[[pool]]
service = "shop"
replicas = 4
processes = 1
[database]
max_connections = 60
"""


def link(folder: Path, text: str, case: str = "", **files: str) -> Finding | None:
    """Return the link of a report on a service that prints a text every three seconds for two minutes."""
    inputs = folder / "inputs"
    inputs.mkdir(exist_ok=True)
    lines = [
        f"{START + dt.timedelta(seconds=at):%Y-%m-%dT%H:%M:%SZ} ERROR shop: {text}" for at in range(0, 120, 3)
    ]
    (inputs / "shop.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name, content in files.items():
        (inputs / f"{name}.yml").write_text(content, encoding="utf-8")
    (folder / "case.toml").write_text(case, encoding="utf-8")
    found = pipeline.investigate([str(inputs)], pipeline.Options(tz="UTC", case=folder / "case.toml"))
    return next((one for one in found.diagnosis.findings if one.key == "mechanism.budget"), None)


def test_what_nobody_states_is_named(tmp_path: Path) -> None:
    """The log alone states one pool: the sum is a lower bound, and replicas and processes are asked for."""
    found = link(tmp_path, POOL)

    assert found is not None
    budget = found.values["budget"]
    assert (budget.demand, budget.capacity, budget.over) == (Range(15, None), Range.of(97), None)
    assert found.values["missing"] == ["replicas", "processes"]
    assert found.values["stated"] == {"shop.log:1": [("pool", Range.of(5)), ("overflow", Range.of(10))]}
    assert found.values["assumed"] == [("max_connections", Range.of(100))]


def test_the_case_file_completes_it(tmp_path: Path) -> None:
    """4 replicas x 1 process x (5 + 10) against 60 - 3: over."""
    found = link(tmp_path, POOL, CASE)

    assert found is not None
    assert (found.values["budget"].demand.exact, found.values["budget"].capacity.exact) == (60, 57)
    assert found.values["budget"].over is True
    assert found.values["stated"]["case.toml:3"] == [("replicas", Range.of(4))]


def test_a_compose_file_among_the_inputs(tmp_path: Path) -> None:
    """3 replicas x 2 processes x (5 + 10) fit 97, by what the file and the log say."""
    found = link(tmp_path, POOL, compose=COMPOSE)

    assert found is not None
    assert (found.values["budget"].demand.exact, found.values["budget"].over) == (90, False)


def test_a_broken_compose_file_breaks_no_report(tmp_path: Path) -> None:
    """A file that cannot be read as what its name says tells nothing of the budget."""
    found = link(tmp_path, POOL, compose="services: [")

    assert found is not None
    assert found.values["budget"].demand == Range(15, None)


def test_without_the_size_of_a_pool_there_is_no_sum(tmp_path: Path) -> None:
    """Failures that tell of no pool give no budget."""
    assert link(tmp_path, "ConnectionRefusedError: [Errno 111] Connection refused") is None


VARIABLES = COMPOSE.replace("{replicas: 3}", '{replicas: "${COPIES:-3}"}').replace('"2"', "${WORKERS}")


def test_variables_are_named_beside_their_place(tmp_path: Path) -> None:
    """A term that a variable of the Compose file gave names the line that set it, or that the default stood in."""
    (tmp_path / "inputs").mkdir()
    (tmp_path / "inputs" / ".env").write_text("\nWORKERS=2\n", encoding="utf-8")

    found = link(tmp_path, POOL, compose=VARIABLES)

    assert found is not None
    assert found.values["budget"].demand.exact == 90
    assert found.values["given"] == {
        "compose.yml:4": [Given("COPIES", None, default=True)],
        "compose.yml:7": [Given("WORKERS", ".env:2")],
    }
    english, portuguese = (
        Statements(language, "UTC").say(found.key, found.values) for language in ("en", "pt-BR")
    )
    assert "(compose.yml:4: default, COPIES not set)" in english
    assert "(compose.yml:7: WORKERS in .env:2)" in english
    assert "(compose.yml:4: padrão, COPIES não definida)" in portuguese
    assert "(compose.yml:7: WORKERS em .env:2)" in portuguese


UPDATED = COMPOSE.replace("{replicas: 3}", "{replicas: 3, update_config: {order: start-first}}")


def test_an_update_is_told_beside_what_is_usual(tmp_path: Path) -> None:
    """(3 + 1) replicas x 2 processes x (5 + 10) pass 97 while they are updated; 90 do not otherwise, and that is the verdict on the incident."""
    found = link(tmp_path, POOL, compose=UPDATED)

    assert found is not None
    budget = found.values["budget"]
    assert (budget.demand.exact, budget.usual, budget.update.demand.exact, budget.update.over) == (
        90,
        False,
        120,
        True,
    )
    assert ("surge", Range.of(1)) in found.values["stated"]["compose.yml:4"]
    english, portuguese = (
        Statements(language, "UTC").say(found.key, found.values) for language in ("en", "pt-BR")
    )
    assert (
        "demand 90, capacity 97: within; during an update, new replicas beside old ones, demand 120: over. "
        in english
    )
    assert (
        "demanda 90, capacidade 97: cabe; durante uma atualização, réplicas novas ao lado das antigas, demanda 120: acima. "
        in portuguese
    )
