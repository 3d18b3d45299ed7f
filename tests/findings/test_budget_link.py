"""The connection budget as a link of a report's mechanism: only where a pool ran out, with the place of each term and what nobody states."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from forensics import pipeline
from forensics.model.budget import Range

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
    inputs.mkdir()
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
