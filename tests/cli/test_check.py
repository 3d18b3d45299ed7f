"""`forensics check`: what it finds, what it says, and with which exit code."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

FAILURES = "".join(
    f"2026-11-29T12:01:{second:02d}+0000 srv uvicorn[81]: sqlalchemy.exc.TimeoutError: QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00\n"
    for second in range(60)
)
SIGNATURE = re.search(
    r"<!-- forensics/signatures/pika\.toml -->\n```toml\n(.*?)^```$",
    (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text("utf-8"),
    re.MULTILINE | re.DOTALL,
)
FILES = ("report.json", "report.md")
WRITTEN: dict[tuple[str, ...], tuple[str, ...]] = {}
"""Reports on the same inputs, by their options."""


@pytest.fixture
def report(run: Callable[..., Any], good: Path, tmp_path: Path) -> Callable[..., Path]:
    """Return a function that reports on the inputs, with options, and returns the folder of report.json and report.md."""
    (good / "db.log").write_text(FAILURES)

    def write(*options: object) -> Path:
        folder = tmp_path / "out"
        key = tuple(map(str, options))
        if key not in WRITTEN:
            done = run("report", good, *options, "-o", folder / "report.md", "--json", folder / "report.json")
            assert done.code == 0, done.err
            WRITTEN[key] = tuple((folder / name).read_text("utf-8") for name in FILES)
        folder.mkdir(exist_ok=True)
        for name, text in zip(FILES, WRITTEN[key], strict=True):
            (folder / name).write_text(text, encoding="utf-8")
        return folder

    return write


@pytest.fixture(params=FILES)
def file(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def change(path: Path, **changes: Any) -> None:
    """Change top-level keys of a report.json."""
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_a_report_agrees_with_its_inputs(run, report, good, file) -> None:
    done = run("check", report() / file, good)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"{file} agrees with its inputs: ")
    assert "2 inputs" in done.out


@pytest.mark.parametrize(
    "options",
    [
        ["--tz", "America/Sao_Paulo"],
        ["--since", "2m"],
        ["--since", "12:00:30", "--until", "2026-11-29 12:02:10"],
        ["--unit", "uvicorn"],
        ["--unit", "worker@1.service", "--unit", "uvicorn"],
        ["--no-redact"],
        ["--lang", "en", "--unpack-limit", "1G"],
        ["--unpack-limit", "members=9", "--unpack-limit", "size=2G"],
        ["--dialect", "github"],
        ["--dialect", "gitlab", "--max-chars", "9000"],
    ],
    ids=" ".join,
)
def test_a_report_states_the_options_that_made_it(run, report, good, file, options) -> None:
    done = run("check", report(*options) / file, good)
    assert (done.code, done.err) == (0, "")


def test_a_changed_number_is_named_with_what_the_inputs_give(run, report, good) -> None:
    path = report() / "report.json"
    document = json.loads(path.read_text())
    row = next(row for row in document["signatures"] if row["id"] == "sqlalchemy.queuepool-timeout")
    row["failures"] += 1
    path.write_text(json.dumps(document))
    done = run("check", path, good)
    assert done.code == 4
    assert (
        "signatures[id=sqlalchemy.queuepool-timeout].failures: the report says 61, the inputs give 60"
        in done.out
    )
    assert "the report says 61, its days make 60" in done.out


def test_a_changed_number_of_the_page_is_named_with_its_line(run, report, good) -> None:
    path = report() / "report.md"
    lines = path.read_text().split("\n")
    at = next(at for at, line in enumerate(lines) if "60 failures" in line)
    lines[at] = lines[at].replace("60 failures", "61 failures")
    path.write_text("\n".join(lines))
    done = run("check", path, good)
    assert done.code == 4
    assert f"- line {at + 1} (" in done.out
    assert "the report says 61 for 60" in done.out


def test_a_changed_quotation_is_named_once_with_its_place(run, report, good) -> None:
    path = report() / "report.json"
    document = json.loads(path.read_text())
    entry = next(row for row in document["evidence"] if "QueuePool" in row["text"])
    entry["text"] = entry["text"].replace("overflow 10", "overflow 20")
    path.write_text(json.dumps(document))
    done = run("check", path, good)
    assert done.code == 4
    assert "1 mismatch (" in done.out
    assert f"- {entry['id']} db.log:{entry['line']}: the report quotes" in done.out


def test_moved_and_renamed_inputs_are_found_by_their_content(run, report, good, file, tmp_path) -> None:
    written = report()
    for index, path in enumerate(sorted(good.iterdir(), reverse=True)):
        path.rename(good / f"{index}.txt")
    good.rename(tmp_path / "elsewhere")
    done = run("check", written / file, tmp_path / "elsewhere")
    assert done.code == 0, done.out
    assert "note: api.log was found as 1.txt" in done.err


def test_members_of_an_archive_are_found_unpacked(run, report, good, file, tmp_path) -> None:
    report()
    with zipfile.ZipFile(tmp_path / "exports.zip", "w") as archive:
        for path in good.iterdir():
            archive.write(path, f"host/{path.name}")
    out = tmp_path / "zipped"
    run("report", tmp_path / "exports.zip", "-o", out / "report.md", "--json", out / "report.json")
    assert run("check", out / file, tmp_path / "exports.zip").code == 0
    done = run("check", out / file, good)
    assert done.code == 0, done.out
    assert run("check", tmp_path / "out" / file, tmp_path / "exports.zip").code == 0


def test_a_database_is_found_with_its_log(run, tmp_path, file) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    with sqlite3.connect(folder / "kuma.db") as base:
        base.execute("PRAGMA journal_mode=WAL")
        base.execute("CREATE TABLE results (at TEXT, target TEXT, status TEXT)")
        rows = [(f"2026-11-29T12:{minute:02d}:00Z", "api", "up") for minute in range(30)]
        base.executemany("INSERT INTO results VALUES (?, ?, ?)", rows)
        base.commit()
        for name in ("kuma.db", "kuma.db-wal"):
            (tmp_path / name.replace("kuma", "moved")).write_bytes((folder / name).read_bytes())
        out = tmp_path / "out"
        assert run("report", folder, "-o", out / "report.md", "--json", out / "report.json").code == 0
        assert run("check", out / file, tmp_path / "moved.db").code == 0


def test_a_missing_input_is_named_and_the_rest_is_checked(run, report, good) -> None:
    path = report() / "report.json"
    (good / "api.log").unlink()
    done = run("check", path, good)
    assert done.code == 4
    assert "- api.log: missing: no input has its SHA-256" in done.out
    assert "1 mismatch (" in done.out
    assert "numbers were not made again" in done.err
    change(path, evidence=[row | {"text": "other"} for row in json.loads(path.read_text())["evidence"]])
    assert "db.log:1: the report quotes other, the line there is" in run("check", path, good).out


def test_a_missing_input_of_the_page_is_named(run, report, good) -> None:
    path = report() / "report.md"
    (good / "api.log").unlink()
    done = run("check", path, good)
    assert done.code == 4
    assert "- api.log: missing" in done.out


def test_a_changed_input_is_named_with_what_it_changes(run, report, good, file) -> None:
    written = report()
    (good / "db.log").write_text(FAILURES.replace("12:01:59", "12:02:59"))
    done = run("check", written / file, good)
    assert done.code == 4
    assert "- db.log: changed: the report read SHA-256" in done.out
    assert done.out.count("\n- ") > 2


def test_files_that_the_report_does_not_know_are_left_out(run, report, good, file) -> None:
    written = report()
    (good / "later.log").write_text(f"{FAILURES}more\n")
    done = run("check", written / file, good)
    assert done.code == 0
    assert "not in the report, and not read: later.log" in done.err


def test_the_case_file_is_asked_for_and_compared(run, report, good, file, tmp_path) -> None:
    case = tmp_path / "case.toml"
    case.write_text('title = "The pool ran out"\ntimezone = "Asia/Kolkata"\n')
    path = report("--case", case) / file
    asked = run("check", path, good)
    assert asked.code == 2
    assert "was made with --case case.toml; give the same" in asked.err
    assert run("check", path, good, "--case", case).code == 0
    case.write_text('title = "Another"\ntimezone = "Asia/Kolkata"\n')
    other = run("check", path, good, "--case", case)
    assert other.code == 4
    assert "the inputs give Another" in other.out or "# Another" in other.out


def test_a_case_file_that_the_report_did_not_use_is_refused(run, report, good, file, tmp_path) -> None:
    (tmp_path / "case.toml").write_text('title = "x"\n')
    done = run("check", report() / file, good, "--case", tmp_path / "case.toml")
    assert done.code == 2
    assert "was made without --case case.toml; leave it out" in done.err


def test_signatures_of_ones_own_are_asked_for(run, report, good, file, tmp_path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    assert SIGNATURE is not None
    (folder / "pika.toml").write_text(SIGNATURE[1])
    path = report("--signatures", folder) / file
    asked = run("check", path, good)
    assert asked.code == 2
    assert "was made with --signatures DIR; give the same" in asked.err
    done = run("check", path, good, "--signatures", folder)
    assert (done.code, done.err) == (0, "")
    (folder / "pika.toml").write_text(f"# changed\n{SIGNATURE[1]}")
    assert "written with other signatures" in run("check", path, good, "--signatures", folder).err


def test_a_report_in_which_names_were_masked_agrees(run, tmp_path, file) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("203.0.113.7.log", "203.0.113.9.log"):
        (folder / name).write_text(FAILURES.replace("12:01", f"12:0{len(name) + int(name[10])}"[:5]))
    out = tmp_path / "out"
    assert run("report", folder, "-o", out / "report.md", "--json", out / "report.json").code == 0
    assert "client-1" in (out / "report.json").read_text()
    done = run("check", out / file, folder)
    assert (done.code, done.err) == (0, ""), done.out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is no report"),
        ("# Notes\n\nnothing\n", "is no report"),
        ("{", "not a report.json"),
        ("[]", "states no schema"),
        ("{}", "states no schema"),
        ("[" * 100_000, "nested too deeply"),
        (
            '{"schema": "forensics.report/2"}',
            "has the schema 'forensics.report/2'; this version checks forensics.report/1",
        ),
        ('{"schema": "forensics.report/1"}', "is no report: sources is no list of objects"),
        ('{"schema": "forensics.report/1", "schema": "x"}', "the key 'schema' is there twice"),
        ("# Title\n\nWritten by forensics 0.1.0.\n", "does not show the command"),
    ],
)
def test_what_is_no_report_is_refused(run, good, tmp_path, text, said) -> None:
    (tmp_path / "r.txt").write_text(text)
    done = run("check", tmp_path / "r.txt", good)
    assert done.code == 2
    assert said in done.err


@pytest.mark.parametrize(
    "changes",
    [
        {"options": {"tz": 7}},
        {"options": {"tz": "Nowhere/Else"}},
        {"options": {"unit": [7]}},
        {"options": {"since": "soon"}},
        {"sources": [{"id": "s1", "name": None, "sha256": None}]},
        {"sources": [{"id": [], "name": "x", "sha256": 7}]},
    ],
    ids=str,
)
def test_a_report_that_states_nonsense_is_refused(run, report, good, changes) -> None:
    path = report() / "report.json"
    change(path, **changes)
    done = run("check", path, good)
    assert done.code == 2
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    "changes",
    [
        {"options": None, "tool": None, "charts": None},
        {
            "evidence": [
                {},
                {"id": 7, "source": {}, "line": True},
                {"id": "E1", "source": "s1", "line": 2**80},
            ]
        },
        {"findings": [{"id": "F1", "evidence": 7}], "incidents": [{"id": {}, "start": 7}]},
        {"timeline": 7, "daily": [7], "signatures": {"a": []}, "hypotheses": None, "impact": []},
        {"probes": [{"late": [{"rivals": [7], "delay_s": "x"}]}], "blind_gaps": [{"start": "x", "end": []}]},
        {"sources": []},
    ],
    ids=" ".join,
)
def test_a_report_of_any_shape_is_compared_without_a_fault(run, report, good, changes) -> None:
    path = report() / "report.json"
    change(path, **changes)
    done = run("check", path, good)
    assert done.code == 4
    assert "internal fault" not in done.err


@pytest.mark.parametrize(
    "name", ["../../evil.log", "/evil/evil.log", "a/../b.log", "x\x1b[31m.log", "n" * 5000, "."]
)
def test_a_name_from_a_report_writes_nothing_elsewhere(run, report, good, tmp_path, name) -> None:
    path = report() / "report.json"
    document = json.loads(path.read_text())
    document["sources"][0]["name"] = name
    path.write_text(json.dumps(document))
    before = sorted(tmp_path.rglob("*"))
    done = run("check", path, good)
    assert done.code in (0, 4)
    assert "\x1b" not in done.out + done.err
    assert sorted(tmp_path.rglob("*")) == before


def test_years_that_a_copy_has_lost_are_named_as_a_reason(run, tmp_path, file) -> None:
    log = tmp_path / "api.log"
    log.write_text("".join(f"Nov 29 12:01:{second} srv api[81]: INFO hello\n" for second in range(10, 60)))
    os.utime(log, (1_700_000_000, 1_700_000_000))
    out = tmp_path / "out"
    assert run("report", log, "-o", out / "report.md", "--json", out / "report.json").code == 0
    os.utime(log, (1_800_000_000, 1_800_000_000))
    done = run("check", out / file, log)
    assert done.code == 4
    assert "took it from their file's own time" in done.err
