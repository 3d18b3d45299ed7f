"""``forensics signatures``, and signatures that a user brings along."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from forensics.cli.main import cli
from forensics.model.errors import DefinitionError, UsageError
from forensics.signatures import load

if TYPE_CHECKING:
    from collections.abc import Callable

CONTRIBUTING = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")

PIKA = re.search(
    r"<!-- forensics/signatures/pika\.toml -->\n```toml\n(.*?)^```$", CONTRIBUTING, re.MULTILINE | re.DOTALL
)
POOL = "QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00"
HEARTBEAT = (
    "pika.exceptions.AMQPHeartbeatTimeout: No activity or too many missed heartbeats in the last 60 seconds"
)
LINES = [
    "2026-11-29 12:26:55,001 INFO app listening on 192.0.2.7",
    f"2026-11-29 12:27:01,002 ERROR app checkout failed: {POOL}",
    "2026-11-29 12:27:02,003 ERROR app order 17 could not be stored",
    "2026-11-29 12:27:03,004 ERROR app order 18 could not be stored",
    "2026-11-29 12:27:04,005 WARNING app upstream 192.0.2.9 refused the call",
    f"2026-11-29 12:27:05,006 ERROR app {HEARTBEAT}",
    "2026-11-29 12:27:06,007 INFO app order 19 stored",
]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Write a small log of an application."""
    path = tmp_path / "app.log"
    path.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a folder with the signature of CONTRIBUTING."""
    assert PIKA is not None
    made = tmp_path / "own"
    made.mkdir()
    (made / "pika.toml").write_text(PIKA[1], encoding="utf-8")
    return made


@pytest.fixture
def case(tmp_path: Path) -> Path:
    """Make a case file with the same signature as a block."""
    assert PIKA is not None
    made = tmp_path / "case.toml"
    made.write_text(PIKA[1].replace("pika.missed", "case.missed"), encoding="utf-8")
    return made


def invoke(*args: str | Path) -> Result:
    """Run a command; errors of the library come out as they are."""
    return CliRunner().invoke(cli, [str(arg) for arg in args], catch_exceptions=False, standalone_mode=False)


def run(*args: str | Path) -> list[str]:
    """Run a command and return the lines that it prints."""
    return invoke(*args).output.splitlines()


def test_every_signature_is_listed() -> None:
    """Id, family and title, one a line; those that are known from documents only say so."""
    said = {line.split()[0]: line for line in run("signatures") if line}

    assert {one.id for one in load()} <= set(said)
    assert {one.id for one in load() if not one.verified} == {
        name for name, line in said.items() if line.endswith(" [unverified]")
    }
    assert re.fullmatch(
        r"sqlalchemy\.queuepool-timeout +pool_exhaustion +SQLAlchemy pool: .*",
        said["sqlalchemy.queuepool-timeout"],
    )


def test_one_is_explained() -> None:
    """What it means and does not, the wait, parameters with units, nesting, reference and samples."""
    said = "\n".join(run("signatures", "show", "sqlalchemy.queuepool-timeout"))

    assert "its time marks: the end of a wait" in said
    assert "wait: parameter timeout: the failure began that much earlier" in said
    assert "parameters: size (number), overflow (number), timeout (seconds)" in said
    assert "does not mean: " in said
    assert "reference: sqlalchemy/sqlalchemy lib/sqlalchemy/pool/impl.py" in said
    assert "  matches:\n    sqlalchemy.exc.TimeoutError: QueuePool limit of size 5" in said
    assert "  must not match:\n    SAWarning: " in said


def test_nesting_and_limits_are_explained() -> None:
    """Both sides of a nesting are told, and why counts of a limited text are lower bounds."""
    assert any("kubelet.probe-failed" in line for line in run("signatures", "show", "go.http-client-timeout"))
    outer = run("signatures", "show", "kubelet.probe-failed")
    assert any(
        line.startswith("  counted instead of: ") and "go.http-client-timeout" in line for line in outer
    )
    limited = run("signatures", "show", "php-fpm.max-children")
    assert (
        "  limited: the program prints this text once, not at every failure; counts are lower bounds"
        in limited
    )


@pytest.mark.parametrize("name", ["sqlalchemy.queuepol-timeout", "queuepool-timeout"])
def test_an_unknown_id_gets_the_nearest(name: str) -> None:
    """A misspelt id, or one without its library."""
    with pytest.raises(UsageError, match=r"did you mean 'sqlalchemy\.queuepool-timeout'\?"):
        run("signatures", "show", name)


def test_a_file_is_matched_line_by_line(log: Path) -> None:
    """Places with parameters, a summary, and what looks like a failure but is not known, by template."""
    assert run("signatures", "test", log) == [
        "app.log:2 sqlalchemy.queuepool-timeout size=5 overflow=10 timeout=30.00",
        "app.log: 1 matches, of 1 signatures",
        "       1 sqlalchemy.queuepool-timeout",
        "app.log: 4 lines look like failures and match nothing",
        "       2 app order <n> could not be stored   (first in line 3)",
        "       1 app upstream <ip> refused the call   (first in line 5)",
        "       1 app pika.exceptions.AMQPHeartbeatTimeout: No activity or too many missed heartbeats in the last <n> seconds   (first in line 6)",
    ]


def test_a_gap_is_closed_by_a_signature_of_ones_own(log: Path, folder: Path, case: Path) -> None:
    """A folder, before or behind the command's name, or a block of the case file."""
    for args in (
        ("signatures", "--signatures", folder, "test", log),
        ("signatures", "test", log, "--signatures", folder),
    ):
        assert "app.log:6 pika.missed-heartbeats timeout=60" in run(*args)
    assert "app.log:6 case.missed-heartbeats timeout=60" in run("signatures", "test", log, "--case", case)
    assert any("case.missed-heartbeats" in line for line in run("signatures", "--case", case))


def test_a_report_counts_ones_own(log: Path, folder: Path, case: Path, tmp_path: Path) -> None:
    """In the signatures of report.json, and in the hash of the catalogue."""
    prints = set()
    for number, (args, expected) in enumerate(
        (
            ((), None),
            (("--signatures", folder), "pika.missed-heartbeats"),
            (("--case", case), "case.missed-heartbeats"),
        )
    ):
        out = tmp_path / f"out{number}" / "report.json"
        invoke("report", log, "--json", out, "-o", out.with_suffix(".md"), *args)
        said = json.loads(out.read_text(encoding="utf-8"))
        rows = {row["id"]: row for row in said["signatures"]}
        prints.add(said["tool"]["signatures_sha256"])
        assert set(rows) == {"sqlalchemy.queuepool-timeout", *filter(None, [expected])}
        if expected:
            assert (rows[expected]["family"], rows[expected]["failures"]) == ("broker", 1)
            assert rows[expected]["parameters"] == {"timeout": 60.0}

    assert len(prints) == 3


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("does_not_mean", "does_not_meen"), "unknown key 'does_not_meen'; did you mean 'does_not_mean'?"),
        (('side = "client"', 'side = "cliemt"'), "side is 'cliemt'; use one of client, server"),
        (("the last 60 seconds", "the last minute"), "misses its hit"),
        (("in the last (?P", "in the last (?=x)(?P"), "is not a Rust regex"),
        (('timeout = "s"', 'timeout = "sec"'), "unknown unit 'sec'; use one of s, ms, count, text"),
    ],
)
@pytest.mark.parametrize("by", ["folder", "case"])
def test_a_block_that_breaks_its_promise_is_refused(
    log: Path, folder: Path, case: Path, by: str, change: tuple[str, str], reason: str
) -> None:
    """With file, id, reason and remedy, before anything is read."""
    path = folder / "pika.toml" if by == "folder" else case
    text = path.read_text(encoding="utf-8")
    assert change[0] in text
    path.write_text(text.replace(*change), encoding="utf-8")
    args = ("--signatures", folder) if by == "folder" else ("--case", case)

    for command in (("report", log), ("sources", log), ("signatures",)):
        with pytest.raises(DefinitionError) as caught:
            invoke(*command, *args)

        assert str(caught.value).startswith(
            "pika.toml: pika.missed-heartbeats: "
            if by == "folder"
            else "case.toml: [[signature]]: case.missed-heartbeats: "
        )
        assert reason in str(caught.value)


def test_files_without_signatures_are_refused(tmp_path: Path) -> None:
    """An empty folder, a file of another kind and bytes that are no text are told, not passed over."""
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(DefinitionError, match=r"empty: has no \*\.toml; give a folder of signatures"):
        run("signatures", "--signatures", empty)
    for content, said in (
        (b"", "has no blocks"),
        (b"\xff\xfe", "not valid TOML"),
        (b"signature = 3", "has no blocks"),
    ):
        (empty / "x.toml").write_bytes(content)
        with pytest.raises(DefinitionError, match=said):
            run("signatures", "--signatures", empty)


@pytest.mark.parametrize(
    "content", [b"", b"\x00\x01\xff\xfe" * 500, b"\n\n\n"], ids=["empty", "bytes", "blank"]
)
def test_a_file_that_is_no_log_is_told(tmp_path: Path, content: bytes) -> None:
    """Why nothing could be matched, in one line, and an exit code of its own."""
    path = tmp_path / "x.log"
    path.write_bytes(content)
    result = invoke("signatures", "test", path)

    assert result.return_value == 3
    assert re.fullmatch(r"x\.log: .+\n", result.output)


STACK = f"Error: checkout\n    at f (a.js:1:1)\nsqlalchemy.exc.TimeoutError: {POOL}"
PINO = json.dumps({"level": 50, "time": 1796041621002, "pid": 7, "msg": "failed", "err": {"stack": STACK}})
COLOURED = "\x1b[31mERROR\x1b[0m: " + POOL.replace("limit", "\x1b[1mlimit\x1b[0m")
STAMP = "2026-11-29T12:27:01.002000000Z"


@pytest.mark.parametrize("said", [PINO, COLOURED], ids=["JSON", "colours"])
@pytest.mark.parametrize(
    "travelled",
    [
        lambda said: json.dumps(
            {"log": said + "\n", "stream": "stderr", "time": STAMP}, separators=(",", ":")
        ),
        lambda said: f"{STAMP} stderr F {said}",
        lambda said: json.dumps(
            {
                "__REALTIME_TIMESTAMP": "1796041621002000",
                "_SYSTEMD_UNIT": "api.service",
                "_PID": "7",
                "MESSAGE": said,
            }
        ),
        lambda said: f"2026-11-29T12:27:01+0000 srv-1 api[7]: {said}",
        lambda said: f"api-1  | {said}",
        lambda said: json.dumps({"stream": {"app": "api"}, "values": [[str(1796041621002000000), said]]}),
        lambda said: f"2026-11-29 12:27:01,002 ERROR app {said}",
        lambda said: said,
    ],
    ids=["docker", "cri", "journald", "journalctl", "compose", "loki", "dated", "bare"],
)
def test_a_text_is_found_however_it_travelled(
    tmp_path: Path, travelled: Callable[[str], str], said: str
) -> None:
    """In an envelope, in a JSON object inside it, in colours: the place is that of the line in the file."""
    path = tmp_path / "x.log"
    path.write_text("".join(f"{travelled(text)}\n" for text in ("listening", said)), encoding="utf-8")

    assert "x.log:2 sqlalchemy.queuepool-timeout size=5 overflow=10 timeout=30.00" in run(
        "signatures", "test", path
    )
