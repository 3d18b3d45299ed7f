"""What CI and the Makefile promise: pinned names only, no silent skip, a script that parses."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PIN = re.compile(r"(?P<name>[A-Za-z0-9._-]+)==(?P<version>[0-9A-Za-z.+!]+)")


def pins() -> dict[str, str]:
    """Read constraints.txt."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    found = [PIN.fullmatch(line) for line in lines if not line.startswith("#")]
    return {canonicalize_name(pin["name"]): pin["version"] for pin in found if pin}


def required() -> list[Requirement]:
    """Read what the project, its extras and its build ask for."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project = table["project"]
    texts = [*project["dependencies"], *table["build-system"]["requires"]]
    texts += [text for extra in project["optional-dependencies"].values() for text in extra]
    return [Requirement(text) for text in texts]


def test_constraints_are_names_and_versions_only() -> None:
    """No address, path, marker or range stands in constraints.txt, and no package twice."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = [line for line in lines if not line.startswith("#")]

    assert [line for line in pinned if not PIN.fullmatch(line)] == []
    assert len(pinned) == len(pins())


@pytest.mark.parametrize("requirement", required(), ids=str)
def test_requirement_is_pinned(requirement) -> None:
    """Each requirement of pyproject.toml has a pin that satisfies it."""
    assert requirement.specifier.contains(pins()[canonicalize_name(requirement.name)], prereleases=True)


def test_ci_script_is_executable_and_parses() -> None:
    """`.ci/run` can be started and bash reads it."""
    script = ROOT / ".ci" / "run"

    assert os.access(script, os.X_OK)
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0


LACKING = {
    "test_inside": "import pytest\ndef test_it():\n    pytest.skip('no journal here')\n",
    "test_mark": "import pytest\n@pytest.mark.skipif(True, reason='no gcc here')\ndef test_it():\n    pass\n",
    "test_module": "import pytest\npytest.skip('no jq here', allow_module_level=True)\n",
    "test_known": "import pytest\n@pytest.mark.xfail\ndef test_it():\n    raise ValueError\n",
}
"""Tests that do not run, each in its own way, and one that is expected to fail."""


@pytest.mark.parametrize(
    ("ci", "ended"), [("true", "1 failed, 1 xfailed, 2 errors in"), ("", "3 skipped, 1 xfailed in")]
)
def test_skip_fails_under_ci_only(tmp_path, ci, ended) -> None:
    """A skipped test passes at home and fails under CI, both times with its reason; an expected failure does neither."""
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path)
    for name, code in LACKING.items():
        (tmp_path / f"{name}.py").write_text(code, encoding="utf-8")
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:randomly", "-rs"]
    run = subprocess.run(
        [*command, "--continue-on-collection-errors", "."],
        cwd=tmp_path,
        env=env | {"CI": ci},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended in run.stdout
    assert bool(run.returncode) == bool(ci)
    assert all(reason in run.stdout for reason in ("no journal here", "no gcc here", "no jq here"))
