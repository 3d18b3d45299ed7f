"""What must not change a report (the machine, the cuts, the order of inputs), and what less input may do to it."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import golden
import pytest

from forensics.engine import local
from forensics.ingest import plan

NAMES = golden.varied()
HERE = Path(__file__).parents[1]
SMALL_SHARD = 4096
LARGER = {
    "crm-freeze": 1 << 18,
    "s1-pool-stall": 1 << 15,
    "s2-pool-threadpool-gate": 1 << 14,
    "s4-too-many-clients": 1 << 15,
    "s5-deploy-restart": 1 << 15,
    "s6-blind-monitor": 1 << 14,
}
"""Shards of fixtures whose thousands of 4 KiB pieces take a minute: still dozens of cuts each."""
SEVERAL = 1 << 18
"""Shards of long fixtures that are read by several workers: a handful of cuts each."""
READ_TOGETHER = ("crm-freeze", "prisma-replicas", "s3-redis-frozen", "s6-blind-monitor")
"""Fixtures that several workers read: a journal, a fleet of replicas, logs in local time, exports of several kinds."""
MACHINES = (
    {
        "TZ": "Pacific/Kiritimati",
        "LC_ALL": "C",
        "PYTHONHASHSEED": "1",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "POLARS_MAX_THREADS": "1",
    },
    {"TZ": "America/Sao_Paulo", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "4242", "POLARS_MAX_THREADS": "3"},
)
"""Two hosts that differ in whatever a report must not depend on."""
WRITE = "import sys; from pathlib import Path; import golden\nfor file, text in golden.produced(sys.argv[1]).items(): Path(file).write_bytes(text.encode())"
ELSEWHERE = ("crm-freeze", "s4-too-many-clients", "s6-blind-monitor", "s10-quiet-day")
"""Fixtures that are told on other machines: one of each kind of input."""
REMOVAL = [(name, path.name) for name in ("s6-blind-monitor", "crm-freeze") for path in golden.inputs(name)]
WEAKER = {"supported", "suspected", "not_determined"}
"""What a confirmed verdict may become: the evidence is gone, and nothing speaks against it."""


def environment(**changes: str) -> dict[str, str]:
    """Return this process' environment with changes."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("LC_", "LANG", "PYTHON", "POLARS"))
    }
    return kept | {"PYTHONPATH": os.pathsep.join((str(HERE), str(HERE.parent)))} | changes


@pytest.mark.parametrize("name", ELSEWHERE)
def test_two_machines_write_the_same_bytes(name: str, tmp_path: Path) -> None:
    """Two processes that differ in zone, locale, hash seed and threads write what this one writes."""
    folders = [tmp_path / str(number) for number in range(len(MACHINES))]
    for folder in folders:
        folder.mkdir()
    running = [
        subprocess.Popen(
            [sys.executable, "-c", WRITE, name],
            env=environment(**machine),
            cwd=folder,
            stderr=subprocess.PIPE,
            text=True,
        )
        for folder, machine in zip(folders, MACHINES, strict=True)
    ]
    here = {file: text.encode() for file, text in golden.produced(name).items()}
    said = [process.communicate()[1] for process in running]
    assert [
        (process.returncode, text) for process, text in zip(running, said, strict=True) if process.returncode
    ] == []
    for folder in folders:
        there = {path.name: path.read_bytes() for path in folder.iterdir()}
        assert sorted(there) == sorted(here)
        assert [file for file in here if there[file] != here[file]] == []


def test_the_command_writes_the_same_bytes_twice(tmp_path: Path) -> None:
    name = "s6-blind-monitor"
    command = [
        sys.executable,
        "-m",
        "forensics",
        "report",
        str(golden.INCIDENTS / name / "inputs"),
        "--no-progress",
        "--tz",
        golden.table(name)["options"]["tz"],
    ]
    folders = []
    for index, machine in enumerate(MACHINES):
        folder = tmp_path / str(index)
        folder.mkdir()
        subprocess.run(
            [*command, "-o", "report.md", "--json", "report.json", "--evidence", "annex.md"],
            cwd=folder,
            env=environment(**machine),
            check=True,
            capture_output=True,
        )
        folders.append({path.name: path.read_bytes() for path in sorted(folder.iterdir())})
    drawn = [f"report-{name}.{suffix}" for name in ("rates", "timeline") for suffix in ("png", "svg")]
    assert list(folders[0]) == ["annex.md", *drawn, "report.json", "report.md"]
    assert [file for file in folders[0] if folders[0][file] != folders[1].get(file)] == []


@pytest.mark.parametrize("name", NAMES)
def test_where_the_input_is_cut_changes_nothing(name: str) -> None:
    document, page = golden.tell(golden.investigate(name, shard_size=LARGER.get(name, SMALL_SHARD)))
    assert first_difference(golden.dump(document), golden.produced(name)["report.json"]) is None
    assert page == golden.report(name)[1]


@pytest.mark.parametrize(
    ("name", "workers"),
    [("s6-blind-monitor", 1), *((name, 5) for name in READ_TOGETHER)],
)
def test_how_many_read_changes_nothing(name: str, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One worker or five, which end in any order, tell the same."""
    monkeypatch.setattr(local, "WORKERS", workers)
    monkeypatch.setattr(local, "IN_FLIGHT", workers + 1)
    monkeypatch.setattr(plan, "WORKERS", workers)
    document, page = golden.tell(golden.investigate(name, shard_size=LARGER.get(name, SEVERAL)))
    assert first_difference(golden.dump(document), golden.produced(name)["report.json"]) is None
    assert page == golden.report(name)[1]


@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_the_inputs_changes_nothing(name: str) -> None:
    document, page = golden.tell(golden.investigate(name, reversed(golden.inputs(name))))
    assert first_difference(golden.dump(document), golden.produced(name)["report.json"]) is None
    assert page == golden.report(name)[1]


def first_difference(left: str, right: str) -> tuple[str, str] | None:
    """Return the first rows that differ."""
    if left == right:
        return None
    rows = zip([*left.split("\n"), ""], [*right.split("\n"), ""], strict=False)
    return next(((a[:600], b[:600]) for a, b in rows if a != b), ("length", "differs"))


def verdicts(document: dict[str, Any]) -> dict[str, str]:
    """Return the verdict of each hypothesis."""
    return {row["id"]: row["verdict"] for row in document["hypotheses"]}


@functools.cache
def without(name: str, gone: str) -> dict[str, str]:
    """Return the verdicts on a fixture without one of its inputs."""
    left = [path for path in golden.inputs(name) if path.name != gone]
    return verdicts(golden.tell(golden.investigate(name, left))[0])


@pytest.mark.parametrize(("name", "gone"), REMOVAL)
def test_less_input_only_weakens_what_was_confirmed(name: str, gone: str) -> None:
    whole, less = verdicts(golden.report(name)[0]), without(name, gone)
    turned = {
        key: f"{verdict} -> {less[key]}"
        for key, verdict in whole.items()
        if verdict == "confirmed" and less[key] not in WEAKER | {"confirmed"}
    }
    assert turned == {}


@pytest.mark.parametrize("kind", [("confirmed", "supported"), ("ruled_out",)], ids="-".join)
@pytest.mark.parametrize(("name", "gone"), REMOVAL)
def test_less_input_concludes_nothing_more(name: str, gone: str, kind: tuple[str, ...]) -> None:
    whole, less = verdicts(golden.report(name)[0]), without(name, gone)
    risen = {
        key: f"{whole[key]} -> {verdict}"
        for key, verdict in less.items()
        if verdict in kind and whole[key] not in kind
    }
    assert risen == {}
