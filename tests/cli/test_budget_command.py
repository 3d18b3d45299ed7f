"""`forensics budget`: wrong use is one line, the change is shown beside what was, and the same input gives the same output."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ENV = "DATABASE_URL=postgres://app:hunter2@192.0.2.7/app?pool_max=10\nREPLICAS=12\n"


def one_line(err: str) -> str:
    """Return the one line of an error; more, or a traceback, is a fault."""
    (line,) = [text for text in err.splitlines() if text.startswith(("forensics: ", "Error: "))]
    assert "Traceback" not in err
    return line.removeprefix("forensics: ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "no service with a connection pool is known; give a Compose file, "),
        (("--set", "pool=3"), "--set: 'pool=3' has another form; write SERVICE.TERM=N"),
        (("--set", "api.pol=3"), "--set api.pol=3: unknown term 'pol'; did you mean 'pool'?"),
        (("--set", "db.max_connections=9"), "--set db.max_connections=9: unknown term 'max_connections'; did you mean 'database.max_connections'?"),
        (("--set", "api.pool=many"), "--set api.pool=many: 'many' is no number of pool; give a whole number of 0 or more"),
        (("--set", "database.max_connections=0"), "--set database.max_connections=0: '0' is no number of max_connections; "),
        (("--set", "api.library=prism"), "--set api.library=prism: unknown library 'prism'; did you mean 'prisma'?"),
        (("--set", "pooler.pool_mode=all"), "--set pooler.pool_mode=all: unknown pool_mode 'all'; modes are session, "),
        (("--url", "redis://cache"), "--url: is no connection URL of PostgreSQL or MySQL; write SERVICE=postgresql://"),
        (("--url", "postgres://a:hunter2@db/x?pool=many"), "--url: pool of the URL is no number; give a whole number"),
        (("--set", "a.pool=1", "--set", "database.reserved=100"), "100 reserved slots leave nothing of 100 connections; "),
        (("nowhere.yaml",), "nowhere.yaml: no such file or folder; "),
    ],
)  # fmt: skip
def test_usage(arguments: tuple[str, ...], said: str, run: Callable[..., Any]) -> None:
    """A slip of the command line is one line that says what to do: exit code 2, nothing on standard output."""
    done = run("budget", *arguments)

    assert (done.code, done.out) == (2, "")
    assert said in one_line(done.err)
    assert "hunter2" not in done.err


@pytest.mark.parametrize(
    ("name", "text"), [("notes.txt", "hello\nworld\n"), ("x.env", "A=1\n"), ("x.bin", "\0\1\2" * 99)]
)
def test_nothing_told(name: str, text: str, run: Callable[..., Any], tmp_path: Path) -> None:
    """Inputs that tell of no pool are exit code 3."""
    (tmp_path / name).write_text(text)
    done = run("budget", tmp_path / name)

    assert (done.code, done.out) == (3, "")
    assert one_line(done.err).startswith("no input tells of a connection pool")


def test_slip_in_the_name_of_a_service(run: Callable[..., Any], tmp_path: Path) -> None:
    """A service that is nearly one of the files is taken for a slip, another one is added."""
    (tmp_path / "orders.env").write_text(ENV)
    slip = run("budget", tmp_path / "orders.env", "--set", "order.pool=3")
    other = run("budget", tmp_path / "orders.env", "--set", "jobs.pool=3")

    assert slip.code == 2
    assert one_line(slip.err) == "--set order.pool=3: unknown service 'order'; did you mean 'orders'?"
    assert "jobs.pool" in other.out


def test_two_servers(run: Callable[..., Any], tmp_path: Path) -> None:
    """Several servers are named, and one has to be chosen."""
    (tmp_path / "a.env").write_text("A_URL=postgres://x@db-a/x\nB_URL=postgres://x@db-b/x\n")
    done = run("budget", tmp_path / "a.env")
    unknown = run("budget", tmp_path / "a.env", "--server", "db-c")

    assert done.code == unknown.code == 2
    assert one_line(done.err).startswith(
        "services connect to 2 database servers: db-a:5432, db-b:5432; choose one"
    )
    assert one_line(unknown.err) == "--server: no service connects to db-c; servers are db-a:5432, db-b:5432"


def test_before_and_after(run: Callable[..., Any], tmp_path: Path) -> None:
    """A change is shown beside what was; the exit code is that of the change."""
    (tmp_path / ".env").write_text(ENV)
    done = run("budget", tmp_path / ".env", "--set", "app.replicas=9")
    lines = [line.split() for line in done.out.splitlines()]

    assert done.code == 0
    assert ["demand", "120", "90"] in lines
    assert ["verdict", "over", "by", "23", "within,", "7", "left"] in lines
    assert "--set app.replicas=9; comes before 12 in .env:2" in done.out


def test_addresses_are_masked(run: Callable[..., Any], tmp_path: Path) -> None:
    """Addresses are masked as everywhere; passwords stay hidden with --no-redact too."""
    (tmp_path / ".env").write_text(ENV)
    masked = run("budget", tmp_path / ".env").out
    plain = run("budget", tmp_path / ".env", "--no-redact").out

    assert "192.0.2.7" not in masked
    assert "192.0.2.7:5432" in plain
    assert "hunter2" not in masked + plain


def test_json_has_the_keys_of_the_interface(run: Callable[..., Any], tmp_path: Path) -> None:
    """Demand and capacity are numbers where they are exact; every term says where it came from or is missing."""
    (tmp_path / ".env").write_text(ENV)
    found = json.loads(run("budget", tmp_path / ".env", "--format", "json").out)

    assert (found["demand"], found["capacity"], found["over"], found["missing"]) == (120, 97, True, [])
    assert found["before"] is None
    assert all(item["from"] for item in found["terms"])
    open_ = json.loads(run("budget", "--set", "a.pool=1", "--format", "json").out)
    assert (open_["demand"], open_["demand_range"], open_["over"]) == (None, [1, None], None)
    assert [item["name"] for item in open_["missing"]] == ["a.replicas", "a.processes"]


def test_hostile_names_reach_no_terminal(run: Callable[..., Any], tmp_path: Path) -> None:
    """Control characters of names are written out."""
    (tmp_path / "c.yaml").write_text(
        'services:\n  "a\\e[31mb":\n    environment: {DATABASE_URL: "postgres://x@db/x?pool_max=1"}\n'
    )
    done = run("budget", tmp_path / "c.yaml")

    assert "\x1b" not in done.out
    assert r"\x1b[31m" in done.out


def test_same_in_same_out(run: Callable[..., Any], tmp_path: Path, monkeypatch) -> None:
    """The variables of this machine change nothing, and two runs agree."""
    (tmp_path / "c.yaml").write_text(
        'services:\n  a:\n    command: node a.js\n    environment: {DATABASE_URL: "postgres://x@db/x?pool_max=${LIMIT:-3}"}\n'
    )
    first = run("budget", tmp_path / "c.yaml").out
    monkeypatch.setenv("LIMIT", "50")

    assert run("budget", tmp_path / "c.yaml").out == first


def test_two_pools_of_one_service_in_the_case_file(run: Callable[..., Any], tmp_path: Path) -> None:
    """A second block of one service is refused with its line and the key to use."""
    case = tmp_path / "case.toml"
    case.write_text('[[pool]]\nservice = "a"\nsize = 1\n\n[[pool]]\nservice = "a"\nsize = 2\n')
    done = run("budget", "--case", case)

    assert done.code == 2
    assert one_line(done.err).startswith(
        "case.toml:6: two [[pool]] blocks for 'a'; give the second pool as worker_pool"
    )
