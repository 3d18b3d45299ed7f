"""Budgets whose right values were worked out by hand: `fixtures/budget/cases.toml`."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

CASES = tomllib.loads(
    (Path(__file__).parents[2] / "fixtures" / "budget" / "cases.toml").read_text(encoding="utf-8")
)["case"]
KEYS = {
    "name", "files", "beside", "args", "case", "demand", "capacity", "verdict", "missing", "from", "value", "checks", "server", "before", "expect", "given", "update",
}  # fmt: skip
PASSWORD = "hunter2"  # noqa: S105 - stands where the cases have passwords


def lay_out(case: dict[str, Any], folder: Path) -> list[str]:
    """Write a case's files, and return the arguments that give them."""
    for name, text in {**case.get("files", {}), **case.get("beside", {})}.items():
        (folder / name).write_text(text, encoding="utf-8")
    arguments = [str(folder / name) for name in case.get("files", {})]
    if "case" in case:
        (folder / "case.toml").write_text(case["case"].lstrip("\n"), encoding="utf-8")
        arguments += ["--case", str(folder / "case.toml")]
    return [*arguments, *case.get("args", []), *case.get("expect", {}).get("args", [])]


def said(pair: list[int | None]) -> str:
    """Write a range as the cases do."""
    low, high = pair
    return str(low) if low == high else f"at least {low}" if high is None else f"{low} to {high}"


def source_of(variable: dict[str, Any]) -> str:
    """Say where a variable's value came from, as the page does."""
    name, where = variable["name"], variable["where"]
    if not variable["default"]:
        return f"{name} in {where}"
    return f"default, {name} " + (f"is empty in {where}" if where else "not set")


def test_cases_are_many_and_named_once() -> None:
    """There are forty cases at least, each with a name of its own and no misspelt key."""
    names = Counter(case["name"] for case in CASES)

    assert len(names) >= 40
    assert names.most_common(1)[0][1] == 1
    assert {key for case in CASES for key in case} <= KEYS


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_budget(case: dict[str, Any], run: Callable[..., Any], tmp_path: Path) -> None:
    """Demand, capacity, verdict, exit code, missing terms and origins are right, and no password is shown."""
    arguments = lay_out(case, tmp_path)
    done = run("budget", *arguments, "--format", "json")
    assert done.err == ""
    found = json.loads(done.out)
    terms = {item["name"]: item for item in found["terms"]}

    assert said(found["demand_range"]) == case["demand"]
    assert said(found["capacity_range"]) == case["capacity"]
    assert found["verdict"] == case["verdict"]
    assert done.code == int(case["verdict"] == "over")
    assert sorted(item["name"] for item in found["missing"]) == sorted(case.get("missing", []))
    for name, where in case.get("from", {}).items():
        assert terms[name]["from"]["where"] == where, name
    for name, variables in case.get("given", {}).items():
        assert [source_of(one) for one in terms[name]["from"]["given"]] == variables, name
    for name, value in case.get("value", {}).items():
        assert terms[name]["value"] == value, name
    if "server" in case:
        assert found["servers"] == [case["server"]]
    verdicts = {
        item["name"]: {True: "over", False: "within", None: "not determined"}[item["over"]]
        for item in found["checks"]
    }
    assert verdicts == {**verdicts, **case.get("checks", {})}
    updates = [said(item["demand_range"]) for item in found["checks"] if item["name"] == "server_update"]
    assert updates == ([case["update"]] if "update" in case else [])
    if "before" in case:
        assert said(found["before"]["demand_range"]) == case["before"]["demand"]
        assert found["before"]["verdict"] == case["before"]["verdict"]
    for part in case.get("expect", {}).get("notes", []):
        assert any(part in note for note in found["notes"]), found["notes"]
    assert PASSWORD not in done.out
    assert str(tmp_path) not in done.out


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_page(case: dict[str, Any], run: Callable[..., Any], tmp_path: Path) -> None:
    """The page states the verdict, both sums and every term, and shows no password and no path of the machine."""
    done = run("budget", *lay_out(case, tmp_path))
    first = done.out.splitlines()[0]

    assert case["verdict"] in first
    assert f"  {case['demand']}" in done.out
    assert "database.max_connections" in done.out
    assert all(name in done.out for name in case.get("missing", []))
    for variables in case.get("given", {}).values():
        assert all(variable in done.out for variable in variables)
    assert PASSWORD not in done.out
    assert str(tmp_path) not in done.out
