"""One environment for all tests: UTC, no colour; under CI a test that does not run has failed."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, TypeVar

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Generator

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)
UNDER_CI = os.environ.get("CI") == "true"

os.environ |= {"TZ": "UTC", "NO_COLOR": "1"}
os.environ.pop("FORCE_COLOR", None)
time.tzset()

settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("here", deadline=None)
settings.load_profile("ci" if UNDER_CI else "here")


def refuse_skip(report: Report) -> Report:
    """Turn a skip into a failure, with its reason; an expected failure stays what it is."""
    if UNDER_CI and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{reason}: CI must run every test; install in .ci/run what it lacks"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Refuse skipped tests under CI."""
    return refuse_skip((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Refuse skipped modules under CI."""
    return refuse_skip((yield))
