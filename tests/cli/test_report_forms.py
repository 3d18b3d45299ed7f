"""The forms of a report: a page for a browser, and the texts for tickets."""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_page_is_written_beside_the_report(run: Callable[..., Any], good: Path, tmp_path: Path) -> None:
    """`--html` writes one page; standard output still carries the Markdown, and nothing else is left."""
    done = run("report", good, "--html", tmp_path / "out" / "report.html")

    assert done.code == 0
    assert done.out.startswith("# ")
    assert (tmp_path / "out" / "report.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["report.html"]


def test_page_is_whole_where_the_ticket_is_short(run: Callable[..., Any], good: Path, tmp_path: Path) -> None:
    """Limits of the ticket and its dialect are none of the page's."""
    pages = []
    for name, more in (("a", ()), ("b", ("--dialect", "slack", "--max-chars", "3000"))):
        run("report", good, "--html", tmp_path / f"{name}.html", *more)
        pages.append((tmp_path / f"{name}.html").read_bytes())

    assert pages[0] == pages[1]


def test_two_outputs_of_one_name(run: Callable[..., Any], good: Path, tmp_path: Path) -> None:
    """The page does not overwrite the report."""
    done = run("report", good, "-o", tmp_path / "x", "--html", tmp_path / "x")

    assert (done.code, done.out) == (2, "")
    assert "two outputs have this name" in done.err


@pytest.mark.parametrize(
    ("dialect", "start"),
    [("commonmark", "# "), ("github", "# "), ("gitlab", "# "), ("jira", "h1. "), ("slack", "*")],
)
def test_dialects(run: Callable[..., Any], good: Path, dialect: str, start: str) -> None:
    """Each dialect is written, as short as asked."""
    done = run("report", good, "--dialect", dialect, "--max-chars", "4000")

    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(start)
    assert len(done.out) <= 4000


@pytest.mark.parametrize(
    "options",
    [("--dialect", "github"), ("--max-chars", "5000"), ("--dialect", "jira", "--max-chars", "6000"), ()],
)
def test_the_printed_command_makes_the_same_page(
    run: Callable[..., Any], good: Path, options: tuple[str, ...]
) -> None:
    """Its dialect and length are in it where they are not the usual ones, and with them it gives the same bytes."""
    page = run("report", good, *options).out
    (command,) = re.findall(r"(?m)^forensics report INPUT… ?(.*) --json report\.json -o report\.md$", page)
    words = shlex.split(command)

    assert words[len(words) - len(options) :] == list(options)
    assert ("--dialect" in words, "--max-chars" in words) == (
        "--dialect" in options,
        "--max-chars" in options,
    )
    assert run("report", good, *words).out == page


def test_too_short_is_refused(run: Callable[..., Any], good: Path) -> None:
    """A limit in which not even the headings fit is a wrong use."""
    assert run("report", good, "--max-chars", "200").code == 2


def test_annex_shows_the_lines_around(run: Callable[..., Any], tmp_path: Path) -> None:
    """Two lines before and behind each cited one, masked and numbered; fewer at the edges of the file."""
    texts = [
        "INFO start",
        "INFO call of 203.0.113.7",
        "ERROR QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00",
        "INFO sent to 203.0.113.7",
        "INFO end",
    ]
    log = tmp_path / "api.log"
    log.write_text(
        "".join(f"2026-11-29T12:00:0{n}.000000000Z {text}\n" for n, text in enumerate(texts)), "utf-8"
    )
    for name in ("e.jsonl", "e.md"):
        assert run("report", log, "--evidence", tmp_path / name).code == 0
    rows = [json.loads(line) for line in (tmp_path / "e.jsonl").read_text("utf-8").splitlines()]
    found = next(row for row in rows if row["line"] == 3)
    first = next(row for row in rows if row["line"] == 1)

    assert "QueuePool limit" in found["text"]
    assert found["before"] == ["INFO start", "INFO call of client-1"]
    assert found["after"] == ["INFO sent to client-1", "INFO end"]
    assert first["before"] == []
    assert "> 3  ERROR QueuePool limit" in (tmp_path / "e.md").read_text("utf-8")
    assert "  4  INFO sent to client-1" in (tmp_path / "e.md").read_text("utf-8")
