"""Events that are no failed operations: repeated warnings are one, and a line that says so closes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from forensics import pipeline
from forensics.model.errors import DefinitionError
from forensics.model.facts import EventGroup, Events
from forensics.pipeline import Options
from forensics.signatures.catalogue import load

if TYPE_CHECKING:
    from pathlib import Path

LEAK = "WARN  com.zaxxer.hikari.pool.ProxyLeakTask - Connection leak detection triggered for org.postgresql.jdbc.PgConnection@{c} on thread exec-{c}, stack trace follows"
BACK = "INFO  com.zaxxer.hikari.pool.ProxyLeakTask - Previously reported leaked connection org.postgresql.jdbc.PgConnection@{c} on thread exec-{c} was returned to the pool (unleaked)"
BLOCKED = "WARN  io.vertx.core.impl.BlockedThreadChecker - Thread Thread[vert.x-eventloop-thread-{t},5,main] has been blocked for {ms} ms, time limit is 2000 ms"


def groups(folder: Path, lines: list[tuple[float, str]]) -> tuple[EventGroup, ...]:
    """Read lines (seconds into a minute, text) and return the events."""
    text = "".join(f"2026-11-29T12:24:{at:06.3f}Z {said}\n" for at, said in lines)
    (folder / "app.log").write_text(text, encoding="utf-8")
    return pipeline.investigate([str(folder)], Options()).facts[Events].groups


def test_repeated_warnings_of_one_thread_are_one_event(tmp_path: Path) -> None:
    """Line minus duration is the same beginning; another thread, or another beginning, is another event."""
    (group,) = groups(
        tmp_path,
        [
            (5.0, BLOCKED.format(t=1, ms=3000)),
            (6.0, BLOCKED.format(t=1, ms=4001)),
            (6.5, BLOCKED.format(t=2, ms=2500)),
            (7.0, BLOCKED.format(t=1, ms=5000)),
            (20.0, BLOCKED.format(t=1, ms=2000)),
        ],
    )

    assert (group.events, group.lines, group.bound, group.longest_s, group.over) == (3, 5, "exact", 5.0, None)
    assert (group.last - group.first) / 1_000_000 == pytest.approx(18.001)


def test_a_line_that_says_so_closes_an_event(tmp_path: Path) -> None:
    """Of three warnings one connection came back; one that was never warned of closes nothing."""
    (group,) = groups(
        tmp_path,
        [
            (1.0, LEAK.format(c="1a")),
            (2.0, LEAK.format(c="2b")),
            (3.0, LEAK.format(c="3c")),
            (9.0, BACK.format(c="2b")),
            (9.5, BACK.format(c="7f")),
        ],
    )

    assert (group.signature, group.events, group.over) == ("hikari.leak-detected", 3, 1)
    assert group.last_over is not None
    assert (group.last_over - group.first) / 1_000_000 == pytest.approx(8.0)


def test_a_connection_that_is_held_again_is_another_event(tmp_path: Path) -> None:
    """The same connection was late twice and came back twice."""
    said = [LEAK, BACK, LEAK, BACK]
    (group,) = groups(tmp_path, [(1.0 + at, text.format(c="1a")) for at, text in enumerate(said)])

    assert (group.events, group.over) == (2, 2)


def test_a_closing_text_must_name_an_event(tmp_path: Path) -> None:
    """A text that ends what no signature tells of is refused, with the remedy."""
    text = """
[[signature]]
id = "mine.back"
family = "pool_leak"
title = "a connection came back"
library = "mine"
side = "client"
anchors = ["came back: "]
pattern = 'came back: (?P<conn>\\S+)'
operation = 'came back: (\\S+)'
closes = "mine.away"
marks = "instant"
counts = "event"
verified = true
reference = "mine"
means = "It came back."
does_not_mean = "Nothing else."
hit = ["came back: c1"]
miss = ["went away: c1"]
[signature.parameters]
conn = "text"
"""
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")

    with pytest.raises(DefinitionError, match=r"closes 'mine\.away', which no signature is"):
        load(tmp_path)
