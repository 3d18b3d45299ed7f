"""``forensics formats``, and formats that a user brings along."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from forensics import formats
from forensics.cli.main import cli
from forensics.formats.definition import Own
from forensics.model.errors import DefinitionError

CONTRIBUTING = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
PM2 = re.search(
    r"<!-- forensics/formats/transports/pm2\.toml -->\n```toml\n(.*?)^```$",
    CONTRIBUTING,
    re.MULTILINE | re.DOTALL,
)
LINES = "2026-11-29T12:26:55: server listening on 21042\n2026-11-29T12:26:56: GET /health 200\n"


@pytest.fixture(autouse=True)
def _only_the_house() -> object:
    """Leave no format behind."""
    yield
    formats.use(Own())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a folder with the definition of CONTRIBUTING."""
    assert PM2 is not None
    made = tmp_path / "own"
    made.mkdir()
    (made / "pm2.toml").write_text(PM2[1], encoding="utf-8")
    (tmp_path / "pm2.log").write_text(LINES, encoding="utf-8")
    return made


def run(*args: str | Path) -> str:
    """Run a command that must succeed and return what it prints."""
    result = CliRunner().invoke(cli, [str(arg) for arg in args], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def refused(*args: str | Path) -> str:
    """Run a command that must refuse a definition and return why."""
    with pytest.raises(DefinitionError) as caught:
        CliRunner().invoke(cli, [str(arg) for arg in args], catch_exceptions=False, standalone_mode=False)
    return str(caught.value)


def test_every_format_is_listed() -> None:
    """Name, kind and title, one a line; those that are known from documents only say so."""
    said = run("formats")
    known = {*formats.all_transports(), *formats.all_messages(), *formats.all_monitors()}

    assert {line.split()[0] for line in said.splitlines() if line} >= known
    assert re.search(r"^datadog_csv +transport +.*\[unconfirmed\]$", said, re.MULTILINE)


UNCONFIRMED = """azure_csv azure_json betterstack_json cloudflare_health datadog_csv fluentbit_file fluentbit_json fluentd_file
gcp_logging heroku heroku_router kong_json log4j log4j_level_first logback_default loki_api pingdom_json railway_json render_json
splunk_csv splunk_json spring_boot uptimerobot_csv vector_json"""
"""Formats of which no file of a running system was seen: each is taken off the list with the recorded file that confirms it."""


def test_what_no_recorded_file_confirms_says_so() -> None:
    """What is known from documents or source only is marked, names them, and says that it is read leniently."""
    plugs = {**formats.all_transports(), **formats.all_messages(), **formats.all_monitors()}

    marked = {name for name, plug in plugs.items() if plug.unconfirmed}

    assert marked >= set(UNCONFIRMED.split())
    assert [name for name in sorted(marked) if not plugs[name].reference] == []
    assert "not yet confirmed by a file of a running system; read leniently" in run(
        "formats", "show", "vector_json"
    )


def test_unknown_lines_between_known_ones_are_listed(tmp_path: Path) -> None:
    """`formats test` names lines that a record takes and that look like no part of it, by number; tracebacks are parts."""
    lines = [
        "2026-11-29 12:00:00,123 INFO app.main: started",
        "!! something else",
        "2026-11-29 12:00:01,123 ERROR app.main: failed",
        "Traceback (most recent call last):",
        '  File "x.py", line 1, in <module>',
        "ValueError: x",
        "2026-11-29 12:00:02,123 INFO app.main: ok",
    ]
    (tmp_path / "app.log").write_text("\n".join(lines) + "\n")
    said = run("formats", "test", tmp_path / "app.log")

    assert [line for line in said.splitlines() if "?" in line] == ["  ? 2: !! something else"]


def test_unknown_lines_in_an_envelope_are_listed(tmp_path: Path) -> None:
    """Behind a transport the lines that no message format knows have their numbers too."""
    lines = [
        "INFO:     Started server process [1]",
        "hello from my program",
        "INFO:     Waiting for application startup.",
    ]
    stamped = [f"2026-11-29T12:00:0{n}.123456789Z {line}\n" for n, line in enumerate(lines)]
    (tmp_path / "api.log").write_text("".join(stamped))

    assert "\n  ? 2: hello from my program\n" in run("formats", "test", tmp_path / "api.log")


def test_a_near_miss_is_explained(tmp_path: Path) -> None:
    """`sources -v` names the format that came next, also where one that takes any stamped line came before it."""
    lines = [
        "2026-11-29T12:00:00.123456789Z stdout F started",
        "2026-11-29T12:00:00.223456789Z stdout X hello",
        "2026-11-29T12:00:01.123456789Z stdio F third",
    ]
    (tmp_path / "pod.log").write_text("\n".join(lines) + "\n")

    said = run("sources", "-v", tmp_path / "pod.log")
    assert re.search(r"^s1 docker_timestamps 1\.00, next \w+ 0\.\d\d$", said, re.MULTILINE)


def test_one_is_explained() -> None:
    """What the time marks, the reference and the samples."""
    said = run("formats", "show", "uvicorn_access")

    assert "its time marks" in said
    assert "INFO:     " in said


def test_what_contributing_says_works(folder: Path, tmp_path: Path) -> None:
    """A file of no known format, its definition, and the file read with it."""
    file = tmp_path / "pm2.log"

    assert "pm2" not in run("formats", "test", file).splitlines()[0].partition(":")[2]
    assert run("formats", "--formats", folder, "test", file).splitlines()[0] == "pm2.log: pm2"
    sources = json.loads(run("sources", "--formats", folder, "--format", "json", file))
    assert (sources[0]["transport"], sources[0]["lines"]["total"], sources[0]["lines"]["unparsed"]) == (
        "pm2",
        2,
        0,
    )


def test_a_block_of_the_case_file_does_the_same(folder: Path, tmp_path: Path) -> None:
    """``[[format]]`` with a name."""
    text = (folder / "pm2.toml").read_text(encoding="utf-8")
    case = tmp_path / "case.toml"
    case.write_text(f'[[format]]\nname = "pm2"\n{text}', encoding="utf-8")
    sources = json.loads(run("sources", "--case", case, "--format", "json", tmp_path / "pm2.log"))

    assert sources[0]["transport"] == "pm2"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("samples = [", "samplez = ["), "did you mean 'samples'?"),
        (('zone = "none"', "zone = 3"), "zone is of the wrong type"),
        (("2026-11-29T12:26:56: GET", "29.11.2026 GET"), "does not parse its own samples"),
        (("(?P<message>", "(?P<rest>"), "needs the groups time and message"),
        (("(?P<message>.*)", "(?P<message>(?!x).*)"), "not a Rust regex"),
    ],
)
def test_a_definition_that_breaks_its_promise_is_refused(
    folder: Path, change: tuple[str, str], reason: str
) -> None:
    """With the reason, before anything is read."""
    path = folder / "pm2.toml"
    path.write_text(path.read_text(encoding="utf-8").replace(*change), encoding="utf-8")

    assert reason in refused("formats", "--formats", folder)


def test_a_name_of_the_house_is_refused(folder: Path) -> None:
    """Two formats of one name could not be told apart in a report."""
    (folder / "pm2.toml").rename(folder / "docker_json.toml")

    assert "comes with the tool" in refused("formats", "--formats", folder)


def test_a_sample_that_another_format_reads_is_refused(folder: Path) -> None:
    """A pattern that fits everything would win by chance."""
    sample = 'INFO:     203.0.113.15:0 - "GET /health HTTP/1.1" 200 OK'
    text = f'title = "mine"\nkind = "log"\nmarks = "end"\npattern = \'^(?P<message>INFO: .*)$\'\nsamples = [\'{sample}\']\n'
    (folder / "mine.toml").write_text(text, encoding="utf-8")

    assert "is read as 'uvicorn_access'" in refused("formats", "--formats", folder)


def test_the_choice_of_each_stream_is_explained(tmp_path: Path) -> None:
    """`sources -v` says by stream what its record starts went to, what else fits them, and what no format knows."""
    said = {
        "api": ['INFO:     10.0.0.1:5 - "GET /health HTTP/1.1" 200 OK'] * 3
        + ["Traceback (most recent call last):", "something else"],
        "redis": ["1:M 29 Nov 2026 12:14:00.688 * Ready to accept connections"],
    }
    lines = [
        f"{name}-1  | 2026-11-29T12:14:{number:02d}.000000000Z {text}"
        for name, texts in said.items()
        for number, text in enumerate(texts)
    ]
    (tmp_path / "compose.log").write_text("\n".join(lines) + "\n")

    done = CliRunner().invoke(cli, ["sources", "-v", str(tmp_path)])

    assert (
        "s1 api-1, 4 record starts: uvicorn_access 0.75, no known format 0.25; others fit too: uvicorn_log 0.75"
        in done.output
    )
    assert "s1 redis-1, 1 record start: redis 1.00" in done.output
