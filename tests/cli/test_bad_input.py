"""Bad input and bad options: one clear line, the rest still used, the exit code of the interface, nothing half-written."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from forensics.cli import output

if TYPE_CHECKING:
    from collections.abc import Callable

COMMANDS = ("report", "daily", "sources")
NAN_JOURNAL = '{"__REALTIME_TIMESTAMP":"1795956484887545","_SYSTEMD_UNIT":"a.service","MESSAGE":[300,1]}\n'
LEAP = "".join(f"Feb 29 18:14:{n:02d} srv uvicorn[81]: line {n}\n" for n in range(40))
DEEP = "[" * 200_000


def gz_cut(text: str) -> bytes:
    """Return a gzip file whose end is missing."""
    packed = zlib.compressobj(1, zlib.DEFLATED, 31)
    whole = packed.compress(text.encode()) + packed.flush()
    return whole[: len(whole) * 2 // 3]


def rows(done: Any) -> dict[str, Any]:
    """Return the sources of `forensics sources --format json` by name."""
    return {row["name"]: row for row in json.loads(done.out)}


def one_line(err: str) -> str:
    """Return the one line of an error; more, or a traceback, is a fault."""
    assert "Traceback" not in err
    assert err.startswith(("forensics: ", "Usage: ", "Error: "))
    (line,) = [text for text in err.splitlines() if text.startswith(("forensics: ", "Error: "))]
    return line


class TestUsage:
    """Wrong options and missing paths: exit code 2, nothing on standard output, nothing read."""

    @pytest.mark.parametrize("command", COMMANDS)
    def test_missing_path(self, command: str, run: Callable[..., Any], good: Path) -> None:
        """A path that is not there is named with the remedy, although another input is good."""
        done = run(command, good, good / "nowhere.log")

        assert (done.code, done.out) == (2, "")
        assert (
            one_line(done.err)
            == f"forensics: {good / 'nowhere.log'}: no such file or folder; give a file, a folder, a glob or - for standard input"
        )

    @pytest.mark.parametrize("command", COMMANDS)
    def test_unknown_zone(self, command: str, run: Callable[..., Any], good: Path) -> None:
        """An unknown zone names the nearest."""
        done = run(command, good, "--tz", "America/SaoPaulo")

        assert (done.code, done.out) == (2, "")
        assert (
            one_line(done.err)
            == "forensics: --tz: unknown time zone 'America/SaoPaulo'; did you mean America/Sao_Paulo?"
        )

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ('titel = "x"', "forensics: case.toml: unknown key 'titel'; did you mean 'title'?"),
            ("title = ", "forensics: case.toml: not valid TOML ("),
            (
                "[[probe]]\nperiod = 3",
                "forensics: case.toml: probe: unknown key 'period'; did you mean 'period_s'?",
            ),
        ],
        ids=["key", "toml", "block"],
    )
    @pytest.mark.parametrize("command", COMMANDS)
    def test_bad_case_file(
        self, command: str, text: str, said: str, run: Callable[..., Any], good: Path, tmp_path: Path
    ) -> None:
        """A slip in the case file stops the run before anything is read."""
        case = tmp_path / "case.toml"
        case.write_text(text)
        done = run(command, good, "--case", case)

        assert (done.code, done.out) == (2, "")
        assert one_line(done.err).startswith(said)

    @pytest.mark.parametrize(
        "args",
        [
            ("--case", "nowhere.toml"),
            ("--since", "yesterday"),
            ("--since", ""),
            ("--until", "25:00"),
            ("--since", "12:02", "--until", "12:01"),
            ("--shard-size", "12"),
            ("--shard-size", "many"),
            ("--lang", "fr"),
            ("--signatures", "nowhere"),
            ("--nosuch",),
        ],
        ids=" ".join,
    )
    @pytest.mark.parametrize("command", ["report", "daily"])
    def test_bad_option(
        self, command: str, args: tuple[str, ...], run: Callable[..., Any], good: Path
    ) -> None:
        """A bad value of an option is one line and exit code 2."""
        done = run(command, good, *args)

        assert (done.code, done.out) == (2, "")
        assert one_line(done.err)

    @pytest.mark.parametrize("option", ["--since", "--until"])
    def test_bad_since_of_sources(self, option: str, run: Callable[..., Any], good: Path) -> None:
        """An option that a command takes is checked by it."""
        assert run("sources", good, option, "yesterday").code == 2

    @pytest.mark.parametrize(
        "args", [(), ("report",), ("nosuch",), ("explain",), ("explain", "nowhere.json", "F1")], ids=" ".join
    )
    def test_no_input(self, args: tuple[str, ...], run: Callable[..., Any]) -> None:
        """A command without its arguments is a usage error."""
        done = run(*args)

        assert done.code == 2
        assert "Traceback" not in done.err + done.out

    def test_bad_signatures(self, run: Callable[..., Any], good: Path, tmp_path: Path) -> None:
        """A broken signature of one's own stops the run and says where."""
        folder = tmp_path / "mine"
        folder.mkdir()
        (folder / "my.toml").write_text('[[signature]]\nid = "my.x"\ncaveats = "x"\n')
        done = run("report", good, "--signatures", folder)

        assert (done.code, done.out) == (2, "")
        assert one_line(done.err).startswith("forensics: my.toml: my.x: unknown key 'caveats'")

    @pytest.mark.parametrize("text", ["{", "[]", "{}", '{"findings": 3}'])
    def test_explain_of_no_report(self, text: str, run: Callable[..., Any], tmp_path: Path) -> None:
        """A file that is no report.json, or an id that is not in it, is told in one line."""
        path = tmp_path / "report.json"
        path.write_text(text)
        done = run("explain", path, "F1")

        assert (done.code, done.out) == (2, "")
        assert one_line(done.err)


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "empty": (lambda path: path.write_bytes(b""), "the file is empty"),
    "binary": (
        lambda path: path.write_bytes(bytes(range(256)) * 40),
        "binary data of an unknown kind; export it as text or JSON",
    ),
    "unknown": (
        lambda path: path.write_text('{\n "version": 3,\n "lorem": ["ipsum"]\n}\n'),
        "no known format fits its lines; ",
    ),
    "zip": (
        lambda path: path.write_bytes(b"PK\x03\x04" + b"\0" * 99),
        "the zip has no readable table of contents",
    ),
    "zstd": (
        lambda path: path.write_bytes(b"\x28\xb5\x2f\xfd" + b"\0" * 99),
        "the zstd stream ",
    ),
    "journal": (lambda path: path.write_bytes(b"LPKSHHRH" + b"\0" * 300), ""),
    "sqlite": (
        lambda path: path.write_bytes(b"SQLite format 3\0" + b"\0" * 300),
        "a SQLite database of an unknown schema",
    ),
    "broken-kuma": (
        lambda path: path.write_bytes(b"SQLite format 3\0" + b"heartbeat monitor" * 99),
        "SQLite cannot read it (",
    ),
    "dangling": (lambda path: path.symlink_to(path.parent / "nowhere"), "export"),
    "fifo": (os.mkfifo, "not a regular file"),
    "gz-of-nothing": (lambda path: path.write_bytes(gzip.compress(b"")), "the file is empty"),
    "gz-head-only": (lambda path: path.write_bytes(gzip.compress(b"x" * 99)[:6]), ""),
}
"""Name to (how to make it, how the reason begins): inputs of which nothing can be used."""


@pytest.mark.parametrize("name", BROKEN)
class TestUnusable:
    """An input of which nothing can be used is listed with what it is and what to do."""

    def test_alone(self, name: str, run: Callable[..., Any], tmp_path: Path) -> None:
        """Alone it gives a list that names it, and exit code 3."""
        path = tmp_path / "input.bin"
        BROKEN[name][0](path)
        done = run("sources", path, "--format", "json")
        row = rows(done)["input.bin"]

        assert done.code == 3
        assert "Traceback" not in done.err
        assert BROKEN[name][1] in row["skipped"]
        assert ";" in row["skipped"]
        assert "\n" not in row["skipped"]

    def test_beside_a_good_one(self, name: str, run: Callable[..., Any], good: Path) -> None:
        """Beside a good input it changes neither the exit code nor what is read of the good one."""
        BROKEN[name][0](good / "input.bin")
        done = run("sources", good, "--format", "json")

        assert done.code == 0
        assert rows(done)["api.log"]["lines"] == {"total": 90, "in_records": 90, "blank": 0, "unparsed": 0}
        assert rows(done)["input.bin"]["skipped"]


class TestReportOnUnusable:
    """The report is written even of nothing, and says so."""

    def test_nothing_readable(self, run: Callable[..., Any], tmp_path: Path) -> None:
        """A report of one unknown file says that nothing was read: exit code 3, one line on standard error."""
        (tmp_path / "x.bin").write_bytes(b"\0\1\2" * 99)
        done = run("report", tmp_path / "x.bin")

        assert done.code == 3
        assert one_line(done.err) == "forensics: nothing could be read or recognised; the report says why"
        assert "x.bin" in done.out
        assert "binary data of an unknown kind" in done.out

    @pytest.mark.parametrize("command", COMMANDS)
    def test_empty_folder(self, command: str, run: Callable[..., Any], tmp_path: Path) -> None:
        """An empty folder is exit code 3, with no traceback."""
        (tmp_path / "empty").mkdir()
        done = run(command, tmp_path / "empty")

        assert done.code == 3
        assert "Traceback" not in done.err + done.out
        assert "internal fault" not in done.err

    def test_empty_folder_of_sources(self, run: Callable[..., Any], tmp_path: Path) -> None:
        """`sources` of an empty folder says that there is nothing and what to give instead."""
        (tmp_path / "empty").mkdir()
        done = run("sources", tmp_path / "empty")

        assert one_line(done.err)

    def test_empty_folder_beside_a_good_one(
        self, run: Callable[..., Any], good: Path, tmp_path: Path
    ) -> None:
        """An empty folder beside a good one leaves the good one readable."""
        (tmp_path / "empty").mkdir()
        done = run("daily", good, tmp_path / "empty", "--format", "csv")

        assert done.code == 0

    def test_truncated_gzip_is_used(self, run: Callable[..., Any], good: Path) -> None:
        """What a cut gzip file still holds is used and its end named."""
        text = (good / "api.log").read_text()
        (good / "api.log").unlink()
        (good / "api.log.gz").write_bytes(
            gz_cut("".join(f"{line}{n}\n" for n in range(40) for line in text.splitlines()))
        )
        done = run("sources", good, "--format", "json")
        row = rows(done)["api.log.gz"]

        assert done.code == 0
        assert row["transport"] == "journald_short_iso"
        assert row["lines"]["total"] > 90
        assert any(
            "the gzip stream ends early after" in limit and "copy the file again" in limit
            for limit in row["limits"]
        )

    def test_unreadable_file(self, run: Callable[..., Any], good: Path, monkeypatch) -> None:
        """A file without permission is listed with its mode and the rest is used."""
        (good / "secret.log").write_text("x\n")
        (good / "secret.log").chmod(0)
        real = Path.open

        def refuse(self: Path, *args: Any, **kwargs: Any) -> Any:
            if self.name == "secret.log":
                raise PermissionError(13, "Permission denied", str(self))
            return real(self, *args, **kwargs)

        monkeypatch.setattr(Path, "open", refuse)
        done = run("sources", good, "--format", "json")

        assert done.code == 0
        assert (
            rows(done)["secret.log"]["skipped"]
            == "permission denied (mode 0); copy it with sudo and make the copy readable"
        )
        assert rows(done)["api.log"]["records"] == 90

    def test_reading_fails_midway(self, run: Callable[..., Any], good: Path, monkeypatch) -> None:
        """A disk error while reading one input is that input's, not the run's."""
        from forensics.sources import streams

        real = streams.chunks

        def fail(path: Path, damage: Any = None) -> Any:
            yield from real(path, damage)
            if path.name == "bad.log" and damage is not None:
                raise OSError(5, "Input/output error", str(path))

        (good / "bad.log").write_text((good / "api.log").read_text())
        monkeypatch.setattr(streams, "chunks", fail)
        done = run("sources", good, "--format", "json")

        assert done.code == 0
        assert rows(done)["bad.log"]["skipped"] == "reading failed (Input/output error); copy the file again"

    def test_file_vanishes_while_reading(self, run: Callable[..., Any], good: Path, monkeypatch) -> None:
        """A file that is rotated away between planning and reading is listed, and the rest is used."""
        from forensics.sources import streams

        (good / "bad.log").write_text((good / "api.log").read_text())
        real = streams.sha256

        def vanish(path: Path) -> str:
            if path.name == "bad.log":
                path.unlink()
            return real(path)

        monkeypatch.setattr(streams, "sha256", vanish)
        done = run("sources", good, "--format", "json")

        assert done.code == 0

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            pytest.param("hostile.json", NAN_JOURNAL, id="bytes"),
            pytest.param(
                "leap.log",
                LEAP,
                id="leap-day",
            ),
            pytest.param(
                "deep.json",
                DEEP,
                id="deep-json",
            ),
            pytest.param(
                "deep2.json",
                '{"ts":"2026-11-29T12:00:00Z","status":"up","target":"x","ms":1}\n' + DEEP + "\n",
                id="deep-line",
            ),
            pytest.param("nul.log", "2026-11-29T12:00:00+0000 srv a[1]: \0\0\n", id="nul"),
            pytest.param(
                "long.log", "2026-11-29T12:00:00+0000 srv a[1]: " + "x" * 3_000_000 + "\n", id="long-line"
            ),
            pytest.param(
                "sample.jsonl",
                '{"ts":"2026-11-29T12:00:00Z","connections":"many","max":[1]}\n',
                id="sample-types",
            ),
            pytest.param(
                "probe.jsonl", '{"ts":{"a":1},"status":["up"],"target":null,"ms":1e999}\n', id="probe-types"
            ),
        ],
    )
    def test_hostile_file_does_not_end_the_run(
        self, name: str, text: str, run: Callable[..., Any], good: Path
    ) -> None:
        """One strange file costs at most itself: the good one beside it is still read, exit code 0."""
        (good / name).write_text(text)
        os.utime(good / name, (1_790_000_000, 1_790_000_000))
        (good / "api.log").rename(good / "api.txt")
        done = run("sources", good, "--format", "json")

        assert "internal fault" not in done.err
        assert done.code == 0
        assert rows(done)["api.txt"]["records"] == 90


class TestOutputs:
    """Outputs are written whole or not at all, and standard output carries nothing but the result."""

    def test_stdout_is_the_result(self, run: Callable[..., Any], good: Path) -> None:
        """The three commands print their result and nothing on standard error."""
        assert json.loads(run("sources", good, "--format", "json").out)
        assert json.loads(run("daily", good, "--format", "json").out)["daily"] == []
        assert (
            run("daily", good, "--format", "csv").out
            == "date,service,signature,failures,lines,partial,bound\n"
        )
        assert run("report", good).out.startswith("# ")
        assert run("report", good).err == ""

    def test_report_to_a_file_prints_nothing(
        self, run: Callable[..., Any], good: Path, tmp_path: Path
    ) -> None:
        """With -o nothing is printed where standard output is no terminal; the files are there and no others."""
        out = tmp_path / "out"
        done = run("report", good, "-o", out / "r.md", "--json", out / "r.json", "--evidence", out / "e.md")

        assert (done.code, done.out, done.err) == (0, "", "")
        assert {"r.md", "r.json", "e.md"} <= {path.name for path in out.iterdir()}
        assert all(not path.name.startswith(".") for path in out.iterdir())
        assert json.loads((out / "r.json").read_text())["schema"] == "forensics.report/1"

    def test_quiet_day_has_exit_code_0(self, run: Callable[..., Any], good: Path, tmp_path: Path) -> None:
        """`--exit-code` is 0 where no incident was found."""
        assert run("report", good, "--exit-code", "-o", tmp_path / "r.md").code == 0

    def test_incident_has_exit_code_1(self, run: Callable[..., Any], good: Path, tmp_path: Path) -> None:
        """`--exit-code` is 1 where one was, and 0 without the option."""
        failed = "".join(
            f"2026-11-29T12:01:{second:02d}+0000 srv uvicorn[81]: sqlalchemy.exc.TimeoutError: QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00\n"
            for second in range(0, 40, 2)
        )
        (good / "api.log").write_text(
            "".join(sorted(((good / "api.log").read_text() + failed).splitlines(keepends=True)))
        )

        assert run("report", good, "--exit-code", "-o", tmp_path / "r.md").code == 1
        assert run("report", good, "-o", tmp_path / "r.md").code == 0

    @pytest.mark.parametrize("option", ["-o", "--json", "--evidence"])
    def test_folder_cannot_be_made(
        self, option: str, run: Callable[..., Any], good: Path, tmp_path: Path
    ) -> None:
        """Where a file stands in the way of the output's folder, one line says so and no other output is left."""
        (tmp_path / "wall").write_text("x")
        others = {"-o": "r.md", "--json": "r.json", "--evidence": "e.md"}
        args = [
            arg
            for name, file in others.items()
            for arg in (name, tmp_path / ("wall/x" if name == option else f"out/{file}"))
        ]
        done = run("report", good, *args)

        assert done.code == 3
        assert "check the path and its permissions" in one_line(done.err)
        assert not any(path.is_file() for path in (tmp_path / "out").rglob("*"))

    @pytest.mark.parametrize("failing", [1, 2, 3])
    def test_disk_full(
        self, failing: int, run: Callable[..., Any], good: Path, tmp_path: Path, monkeypatch
    ) -> None:
        """A disk that fills up while the n-th file is written leaves neither it nor the files before it."""
        out = tmp_path / "out"
        calls = []
        real = os.fdopen

        def full(handle: int, *args: Any, **kwargs: Any) -> Any:
            calls.append(handle)
            if len(calls) == failing:
                os.close(handle)
                raise OSError(28, "No space left on device", "out")
            return real(handle, *args, **kwargs)

        monkeypatch.setattr(output.os, "fdopen", full)
        done = run("report", good, "-o", out / "r.md", "--json", out / "r.json", "--evidence", out / "e.md")

        assert done.code == 3
        assert "No space left on device" in one_line(done.err)
        assert [path for path in out.rglob("*") if path.is_file()] == []

    def test_existing_report_survives_a_failure(
        self, run: Callable[..., Any], good: Path, tmp_path: Path, monkeypatch
    ) -> None:
        """A report of yesterday is not touched by a run that can't write its own."""
        (tmp_path / "r.md").write_text("yesterday")
        monkeypatch.setattr(
            output.os,
            "fdopen",
            lambda handle, *_: (
                os.close(handle),
                (_ for _ in ()).throw(OSError(28, "No space left on device")),
            )[1],
        )
        done = run("report", good, "-o", tmp_path / "r.md")

        assert done.code == 3
        assert (tmp_path / "r.md").read_text() == "yesterday"

    def test_rename_fails(self, run: Callable[..., Any], good: Path, tmp_path: Path, monkeypatch) -> None:
        """If the last file can't get its name, the first does not keep it either."""
        real = Path.replace

        def refuse(self: Path, target: Path) -> Path:
            if Path(target).name == "r.json":
                raise OSError(21, "Is a directory", str(target))
            return real(self, target)

        monkeypatch.setattr(Path, "replace", refuse)
        out = tmp_path / "out"
        run("report", good, "-o", out / "r.md", "--json", out / "r.json")

        assert [path for path in out.rglob("*") if path.is_file()] == []

    @pytest.mark.parametrize("option", ["-o", "--json", "--evidence"])
    def test_evidence_is_never_overwritten(self, option: str, run: Callable[..., Any], good: Path) -> None:
        """An output that would replace one of the inputs is refused."""
        before = (good / "api.log").read_bytes()
        done = run("report", good / "api.log", option, good / "api.log")

        assert (good / "api.log").read_bytes() == before
        assert done.code == 2

    def test_two_outputs_of_one_name(self, run: Callable[..., Any], good: Path, tmp_path: Path) -> None:
        """Two outputs can't have one name."""
        assert run("report", good, "-o", tmp_path / "x", "--json", tmp_path / "x").code == 2

    def test_inputs_are_not_touched(self, run: Callable[..., Any], good: Path, tmp_path: Path) -> None:
        """Nothing is created beside the inputs, and they keep their bytes."""
        before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in good.rglob("*")}
        run("report", good, "-o", tmp_path / "r.md")

        assert before == {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in good.rglob("*")}


def python(*args: object, text: bytes = b"", **env: str) -> subprocess.CompletedProcess[bytes]:
    """Run `python` with arguments in a process of its own."""
    return subprocess.run(
        [sys.executable, *map(str, args)],
        input=text,
        capture_output=True,
        check=False,
        env={**os.environ, **env},
    )


class TestProcess:
    """What only a process of its own can show."""

    @pytest.mark.parametrize(
        "args",
        [
            ("--help",),
            ("report", "--help"),
            ("daily", "--help"),
            ("sources", "--help"),
            ("explain", "--help"),
            ("--version",),
            ("report", "--nosuch"),
        ],
        ids=" ".join,
    )
    def test_help_is_quick(self, args: tuple[str, ...]) -> None:
        """Help, version and usage errors do not pay for polars, jinja2, altair or rich."""
        code = (
            "import sys\nfrom forensics.cli import main\n"
            f"try: main({list(args)!r})\nexcept SystemExit as stop: code = stop.code\n"
            "print('LOADED', code, sorted({'polars', 'jinja2', 'altair', 'rich', 'dateutil'} & set(sys.modules)))"
        )
        done = python("-c", code)

        assert done.stdout.decode().splitlines()[-1] == f"LOADED {2 if '--nosuch' in args else 0} []"

    def test_module_runs(self, good: Path) -> None:
        """`python -m forensics` is the console script."""
        done = python("-m", "forensics", "daily", good, "--format", "csv")

        assert (done.returncode, done.stdout, done.stderr) == (
            0,
            b"date,service,signature,failures,lines,partial,bound\n",
            b"",
        )

    def test_errors_of_a_process(self, tmp_path: Path) -> None:
        """A missing path in a real process: exit code 2, one line, nothing on standard output."""
        done = python("-m", "forensics", "report", tmp_path / "nowhere")

        assert (done.returncode, done.stdout) == (2, b"")
        assert done.stderr.count(b"\n") == 1

    def test_standard_input(self, good: Path) -> None:
        """`-` reads standard input."""
        done = python(
            "-m",
            "forensics",
            "sources",
            "-",
            "--format",
            "json",
            text=(good / "api.log").read_bytes(),
        )

        assert done.returncode == 0
        assert json.loads(done.stdout)[0]["records"] == 90

    def test_standard_input_leaves_nothing(self, good: Path) -> None:
        """The private copy of standard input is gone when the process is."""
        spool = good.parent / "tmp"
        spool.mkdir()
        python("-m", "forensics", "sources", "-", text=(good / "api.log").read_bytes(), TMPDIR=str(spool))

        assert list(spool.iterdir()) == []

    def test_machine_plays_no_part(self, good: Path) -> None:
        """Zone, locale and hash seed of the machine do not reach the report."""
        runs = [
            python("-m", "forensics", "report", good, TZ=zone, LC_ALL=locale, PYTHONHASHSEED=seed)
            for zone, locale, seed in (("Asia/Tokyo", "C", "1"), ("America/New_York", "C.UTF-8", "2"))
        ]

        assert runs[0].returncode == 0
        assert runs[0].stdout == runs[1].stdout
