"""A server's own words about its start, in the middle of its log, tell of a restart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from forensics import pipeline
from forensics.model.facts import Restarts

if TYPE_CHECKING:
    from pathlib import Path

SPRING = "com.example.shop.ShopApplication         : "


def kinds(folder: Path, *lines: str) -> list[str]:
    """Return the kinds of what a container's log tells of its process."""
    text = "".join(f"2026-11-29T12:{20 + n}:11.000000001Z stdout F {line}\n" for n, line in enumerate(lines))
    (folder / "api.log").write_text(text, encoding="utf-8")
    case = pipeline.investigate([str(folder)], pipeline.Options(tz="UTC"))
    return [event.kind for event in case.facts[Restarts].events]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (
            (
                f"{SPRING}Starting ShopApplication v4.2.0 using Java 21.0.2 with PID 812 (/srv/app.jar started by shop in /srv)",
                f"{SPRING}Started ShopApplication in 6.9 seconds (process running for 7.4)",
            ),
            ["start", "ready"],
        ),
        (("* Listening on http://0.0.0.0:3000", "Use Ctrl-C to stop"), ["ready"]),
        (("[29-Nov-2026 12:20:11] NOTICE: ready to handle connections",), ["ready"]),
        (("Starting development server at http://0.0.0.0:8000/",), ["ready"]),
        (
            (
                "[2026-11-29 12:20:11 +0000] [1] [INFO] Handling signal: term",
                "[2026-11-29 12:20:12 +0000] [1] [INFO] Shutting down: Master",
                "[2026-11-29 12:20:14 +0000] [1] [INFO] Starting gunicorn 23.0.0",
                "[2026-11-29 12:20:14 +0000] [1] [INFO] Listening at: http://0.0.0.0:8000 (1)",
                "[2026-11-29 12:20:15 +0000] [1] [INFO] Handling signal: winch",
            ),
            ["stop", "stopped", "start", "ready"],
        ),
        (
            ("2026/11/29 12:20:11 [notice] 1#1: signal 1 (SIGHUP) received from 1200, reconfiguring", "2026/11/29 12:20:11 [notice] 1#1: start worker processes"),
            ["reload"],
        ),
    ],
)  # fmt: skip
def test_each_server_says_what_it_does(tmp_path: Path, lines: tuple[str, ...], told: list[str]) -> None:
    """A reload ends nothing, and neither does a signal about workers."""
    assert kinds(tmp_path, *lines) == told


def test_a_java_service_that_starts_in_the_middle_of_the_incident_restarted(tmp_path: Path) -> None:
    """Nobody else tells of it: no line of a manager is there."""
    head = "2026-11-29T12:{}Z  {} 812 --- [           main] {}\n"
    lines = [
        head.format(f"{minute}:05.000", " INFO", "com.example.shop.Orders : placed")
        for minute in range(10, 40)
    ]
    lines += [
        head.format(f"25:{second}.000", "ERROR", "com.example.shop.Orders : java.sql.SQLTransientConnectionException: HikariPool-1 - Connection is not available, request timed out after 30000ms.")
        for second in range(10, 40, 3)
    ]  # fmt: skip
    lines.append(head.format("25:59.000", " INFO", f"{SPRING}Started ShopApplication in 6.9 seconds (process running for 7.4)"))  # fmt: skip
    (tmp_path / "shop.log").write_text("".join(sorted(lines)), encoding="utf-8")
    case = pipeline.investigate([str(tmp_path)], pipeline.Options(tz="UTC"))
    verdict = next(one for one in case.diagnosis.judgements if one.id == "service_restarted")

    assert (verdict.verdict.value, verdict.why) == ("supported", "restart.begun")
