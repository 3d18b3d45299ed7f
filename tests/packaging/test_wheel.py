"""The wheel is complete: installed anywhere, it makes reports without the checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SECTIONS = sorted(path.name for path in (ROOT / "templates" / "sections").glob("*.j2"))
TIMEOUT_LINE = "sqlalchemy.exc.TimeoutError: QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Build the source distribution and the wheel from it, without the network."""
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    (found,) = out.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """Install the wheel alone into a folder of its own; its dependencies are this interpreter's."""
    target = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps"]
    subprocess.run([*command, "--no-index", "--target", str(target), str(wheel)], check=True)
    return target


def run(installed: Path, cwd: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """Run this interpreter in a foreign folder on the installed wheel instead of the checkout."""
    env = os.environ | {"PYTHONPATH": str(installed)}
    return subprocess.run(
        [sys.executable, *args], cwd=cwd, env=env, capture_output=True, text=True, check=False
    )


def export(path: Path, lines: int = 6) -> None:
    """Write a journald JSON export in which a pool runs out."""
    path.parent.mkdir(parents=True, exist_ok=True)
    entries = [
        {
            "__REALTIME_TIMESTAMP": str(1_788_957_776_000_000 + second * 1_000_000),
            "_SYSTEMD_UNIT": "shop-api.service",
            "_PID": "77",
            "MESSAGE": TIMEOUT_LINE,
        }
        for second in range(lines)
    ]
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")


@pytest.mark.parametrize(
    "name",
    [
        "py.typed",
        "report/report.schema.json",
        "findings/hypotheses.toml",
        "signatures/sqlalchemy.toml",
        "formats/transports/journald_short.toml",
        "formats/messages/uvicorn_access.toml",
        "_templates/statements/en.toml",
        "_templates/kit/markdown.j2",
        "_templates/kit/html.j2",
        "_templates/kit/jira.j2",
        "_templates/kit/slack.j2",
        "_templates/web/page.j2",
        "_templates/web/page.css",
        "_templates/web/page.js",
        *(f"_templates/sections/{name}" for name in SECTIONS),
    ],
)
def test_wheel_carries(wheel, name) -> None:
    """Definitions, templates, schema and type marker travel in the wheel."""
    assert f"forensics/{name}" in zipfile.ZipFile(wheel).namelist()


def test_wheel_carries_all_definitions_and_nothing_else(wheel) -> None:
    """Every file of the package and every template is there, and no test, fixture or cache."""
    found = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    package = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "forensics").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    templates = {
        f"forensics/_templates/{path.relative_to(ROOT / 'templates').as_posix()}"
        for path in (ROOT / "templates").rglob("*")
        if path.is_file()
    }

    assert found == package | templates


def test_installed_wheel_writes_the_report(installed, tmp_path) -> None:
    """From a foreign folder the report has all its sections, which only the wheel's own templates can give."""
    export(tmp_path / "exports" / "api.json")

    where = run(installed, tmp_path, "-c", "import forensics; print(forensics.__file__)")
    made = run(
        installed,
        tmp_path,
        "-m",
        "forensics",
        "report",
        "exports",
        "-o",
        "report.md",
        "--json",
        "report.json",
    )
    report = (tmp_path / "report.md").read_text(encoding="utf-8")

    assert Path(where.stdout.strip()).is_relative_to(installed)
    assert (made.returncode, made.stdout, made.stderr) == (0, "", "")
    assert report.startswith("# ")
    assert report.count("\n## ") == len(SECTIONS) - 1
    assert "sqlalchemy.queuepool-timeout" in (tmp_path / "report.json").read_text(encoding="utf-8")


def test_console_script_is_installed(installed, tmp_path) -> None:
    """The wheel brings the command ``forensics``."""
    said = run(installed, tmp_path, str(installed / "bin" / "forensics"), "--version")

    assert said.returncode == 0
    assert said.stdout.startswith("forensics, version ")
