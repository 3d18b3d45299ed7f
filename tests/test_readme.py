"""Documents can fail: README's commands are run, its excerpt and tables compared; CONTRIBUTING's definitions load."""

from __future__ import annotations

import difflib
import functools
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

import pytest

from forensics.formats.definition import message_format, transport
from forensics.signatures.catalogue import load as catalogue
from forensics.signatures.catalogue import read

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
FENCE = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DEFINITION = re.compile(r"^<!-- forensics/(\S+) -->\n```toml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXCERPT = re.compile(r"^<!-- excerpt of demo/report\.md -->\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"^!\[(.*)\]\(([^()]+\.png)\)$", re.MULTILINE)
FOUNDING = ROOT / "fixtures" / "incidents" / "crm-freeze" / "expected" / "report.json"
OMITTED = "…"
DEFINITIONS = dict(DEFINITION.findall(CONTRIBUTING))


def lines_of(blocks: re.Pattern[str]) -> list[str]:
    """Return the lines of all blocks, blank ones left out."""
    return [line for line in "\n".join(blocks.findall(README)).splitlines() if line.strip()]


COMMANDS = [re.sub(r"\s+# .*", "", line) for line in lines_of(FENCE)]
OURS = [line for line in COMMANDS if line.startswith("forensics ")]
REPORT = next(line for line in OURS if line.startswith("forensics report "))


def table(head: str) -> list[list[str]]:
    """Return the rows of the table whose head begins with `head`."""
    _, _, rest = README.partition(f"| {head} |")
    rows = rest.split("\n\n", 1)[0].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split("|", 1)] for row in rows]


def planned() -> list[str]:
    """Return what the list of planned things names as code."""
    _, _, rest = README.partition("Not there yet, but planned:\n\n")
    items = [
        item
        for item in rest.split("\n\n", 1)[0].split("\n- ")
        if "the commands" in item or "the options" in item
    ]
    return re.findall(r"`([a-z-]+)`", " ".join(items))


def run(line: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command line as a user would whose PATH has the installed console script."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return subprocess.run(
        ["sh", "-euc", line],
        cwd=cwd,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


@functools.cache
def help_of(*command: str) -> str:
    """Return a command's help."""
    said = run(shlex.join(["forensics", *command, "--help"]), ROOT)
    assert said.returncode == 0, said.stderr
    return said.stdout


def commands_of_help() -> list[str]:
    """Return the commands that ``forensics --help`` lists."""
    _, _, listed = help_of().partition("Commands:\n")
    return re.findall(r"^  (\S+)", listed, re.MULTILINE)


def folder_with_fixtures(folder: Path) -> Path:
    """Let an empty folder see the fixtures, as README's commands expect."""
    (folder / "fixtures").symlink_to(ROOT / "fixtures")
    return folder


def test_commands_work(tmp_path) -> None:
    """README's commands succeed one after another, complain about nothing and write the files that they name."""
    folder = folder_with_fixtures(tmp_path)
    done = {line: run(line, folder) for line in OURS}
    named = re.findall(r"(?:-o|--json|>) (\S+)", "\n".join(OURS))

    assert {line: (said.returncode, said.stderr) for line, said in done.items()} == dict.fromkeys(
        OURS, (0, "")
    )
    assert named
    assert [name for name in named if not (folder / name).stat().st_size] == []


@pytest.mark.parametrize("line", [line for line in COMMANDS if line not in OURS])
def test_other_command_exists(line) -> None:
    """`make` lines name targets of the Makefile; nothing else is shown but the installation."""
    word, name = line.split()[:2]

    assert word in ("make", "pipx")
    assert word != "make" or re.search(rf"^{name}:.*## ", MAKEFILE, re.MULTILINE)


def test_demo_is_the_command_shown() -> None:
    """`make demo` reports on the inputs, with the case file, that README's own command reports on."""
    assert REPORT.split(" -o ")[0] in " ".join(MAKEFILE.replace("\\\n", " ").split())


def real_report(folder: Path) -> list[str]:
    """Return the lines of the report that README's command writes."""
    said = run(REPORT, folder_with_fixtures(folder))
    assert said.returncode == 0, said.stderr
    return (folder / "report.md").read_text(encoding="utf-8").splitlines()


def stale(report: list[str]) -> dict[str, str]:
    """Return the lines of the excerpt that do not stand in the report, each with the line that is most like it."""
    wrong = [line for line in lines_of(EXCERPT) if line not in (OMITTED, *report)]
    return {line: "".join(difflib.get_close_matches(line, report, n=1, cutoff=0.4)) for line in wrong}


def test_excerpt_is_real(tmp_path) -> None:
    """Every line of the excerpt stands in the report, in this order; `make golden` renews those that do not."""
    report = real_report(tmp_path)
    shown = [line for line in lines_of(EXCERPT) if line != OMITTED]

    assert shown
    assert stale(report) == {}
    assert [line for line in report if line in shown] == shown


def picture() -> tuple[str, str, bytes]:
    """Draw README's chart: what it shows, in words, as the SHA-256 of its SVG, and as PNG."""
    from forensics.report import charts

    document = json.loads(FOUNDING.read_text(encoding="utf-8"))
    drawn = charts.svg(document, "timeline") or ""
    shown = f"svg sha256:{sha256(drawn.encode()).hexdigest()}"
    return charts.alt(document, "timeline") or "", shown, charts.raster(document, "timeline", drawn)


def test_picture_is_of_today() -> None:
    """README's chart shows what the approved report of the incident would be drawn as, and says so in words; `make golden` renews it."""
    said, shown, _ = picture()
    (alt, target), *more = PICTURE.findall(README)
    image = (ROOT / target).read_bytes()

    assert not more
    assert alt == said
    assert shown.encode() in image
    assert image.startswith(b"\x89PNG")
    assert len(image) < 150_000


def test_table_lists_the_commands() -> None:
    """The commands table has exactly the commands of ``forensics --help``."""
    named = [row[0].split()[1] for row in table("command")]

    assert sorted(named) == sorted(commands_of_help())


@pytest.mark.parametrize("row", table("command"), ids=lambda row: row[0].split()[1])
def test_table_names_real_options(row) -> None:
    """Each option and choice that the commands table names is in that command's help."""
    said = help_of(row[0].split()[1])
    named = [word for code in re.findall(r"`([^`]+)`", row[1]) for word in code.split() if not word.isupper()]
    text = set(re.findall(r"[\w/.-]+", said))

    assert [
        word for word in named if word not in text and not word.startswith(("F1", "E1", "forensics.report"))
    ] == []


def test_prose_names_real_options() -> None:
    """Options outside the list of planned ones exist."""
    told, _, _ = README.partition("Not there yet")
    helps = "\n".join(help_of(name) for name in commands_of_help())

    assert [
        name for name in re.findall(r"(--[a-z][a-z-]*)", told) if name not in f"{helps} --timestamps"
    ] == []


@pytest.mark.parametrize("name", planned())
def test_planned_is_not_there_yet(name) -> None:
    """What README calls planned does not exist; when it does, README says how to use it."""
    helps = "\n".join(help_of(command) for command in commands_of_help())

    assert name not in commands_of_help()
    assert not re.search(rf"(?<![\w-]){name}(?![\w-])", helps if name.startswith("--") else "")


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("1", "forensics report {fixture} --case {case} --exit-code"),
        ("2", "forensics report"),
        ("2", "forensics report missing"),
        ("2", "forensics report {fixture} --no-such-option"),
        ("3", "forensics report empty"),
    ],
    ids=["found", "no input", "missing input", "unknown option", "nothing read"],
)
def test_exit_code(tmp_path, code, line) -> None:
    """Exit codes are those of README's table."""
    (tmp_path / "empty").mkdir()
    incident = ROOT / "fixtures" / "incidents" / "crm-freeze"
    said = run(line.format(fixture=incident / "inputs", case=incident / "case.toml"), tmp_path)

    assert said.returncode == int(code)
    assert code in [row[0] for row in table("code")]
    assert "Traceback" not in said.stderr


@pytest.mark.parametrize("target", re.findall(r"\]\(([^)#]+)\)", EXCERPT.sub("", README)))
def test_link_leads_somewhere(target) -> None:
    """Links name files of the repository."""
    assert (ROOT / target).is_file()


@pytest.mark.parametrize(("name", "text"), DEFINITIONS.items(), ids=DEFINITIONS)
def test_definition_loads(tmp_path, name, text) -> None:
    """The definitions that CONTRIBUTING shows fit their own samples, and are not in the catalogue already."""
    path = tmp_path / Path(name).name
    path.write_text(text, encoding="utf-8")
    check = {"transports": transport, "messages": message_format, "signatures": read}[Path(name).parent.name]

    assert check(path)
    assert not (ROOT / "forensics" / name).exists()


def test_signature_has_a_known_family() -> None:
    """The signature that CONTRIBUTING shows is of a family that exists."""
    shown = re.findall(r'^family = "(\w+)"', CONTRIBUTING, re.MULTILINE)

    assert set(shown) <= {signature.family for signature in catalogue()}


def test_make_targets_of_contributing_exist() -> None:
    """The `make` lines of CONTRIBUTING name targets of the Makefile."""
    named = re.findall(r"\bmake ([a-z]+)\b", "\n".join(FENCE.findall(CONTRIBUTING)))

    assert named
    assert [name for name in named if not re.search(rf"^{name}:.*## ", MAKEFILE, re.MULTILINE)] == []


def renew() -> None:
    """Put today's lines into the excerpt, draw the picture, and show each change."""
    text = README
    with tempfile.TemporaryDirectory() as folder:
        for old, new in stale(real_report(Path(folder))).items():
            text = text.replace(f"\n{old}\n", f"\n{new}\n" if new else "\n")
            sys.stdout.write(f"README.md\n- {old}\n+ {new}\n")
    said, shown, image = picture()
    for alt, target in PICTURE.findall(text):
        text = text.replace(f"![{alt}]({target})", f"![{said}]({target})")
        path = ROOT / target
        if not path.exists() or shown.encode() not in path.read_bytes():
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(image)
            sys.stdout.write(f"{target}\n")
    (ROOT / "README.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    renew()
