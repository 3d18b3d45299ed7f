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


PROBED = '{at}+0000 node-7 kubelet[911]: I1129 12:24:{second:09.6f}     911 prober.go:107] "Probe failed" probeType="{type}" pod="shop/{pod}" containerName="api" probeResult=failure output="{output}"'


def failed_probe(second: float, *, kind: str = "Readiness", pod: str = "api-5f", output: str = "EOF") -> str:
    """Return the kubelet's own line about a probe."""
    at = f"2026-11-29T12:24:{second:09.6f}"
    return PROBED.format(at=at, second=second, type=kind, pod=pod, output=output) + "\n"


def cluster(folder: Path, rows: list[tuple[int, str, str]], lines: list[str]) -> dict[str, list[EventGroup]]:
    """Read events (second, object, message) beside the journal of a kubelet; return the groups by signature, one a pod."""
    head = f"{'LAST SEEN':<23}{'TYPE':<10}{'REASON':<12}{'OBJECT':<18}MESSAGE\n"
    text = "".join(
        f"{f'2026-11-29T12:24:{at:02}Z':<23}{'Warning':<10}{'Unhealthy':<12}{'pod/' + pod:<18}{said}\n" for at, pod, said in rows
    )  # fmt: skip
    (folder / "events.txt").write_text(head + text, encoding="utf-8")
    (folder / "kubelet.log").write_text("".join(lines), encoding="utf-8")
    found: dict[str, list[EventGroup]] = {}
    for one in pipeline.investigate([str(folder)], Options()).facts[Events].groups:
        found.setdefault(one.signature, []).append(one)
    return found


def test_what_two_observers_tell_of_one_instant_is_one_event(tmp_path: Path) -> None:
    """Three events of a pod and the kubelet's lines of two of them are three failures, told with their distances."""
    said = "Readiness probe failed: HTTP probe failed with statuscode: 503"
    found = cluster(
        tmp_path,
        [(10, "api-5f", said), (25, "api-5f", said), (33, "api-5f", "Readiness probe failed: ")],
        [failed_probe(10.402), failed_probe(25.118)],
    )

    (one,) = found["kubelet.probe-failed"]
    assert (one.events, one.also, one.mute, one.apart_s) == (3, 2, 1, (15.0, 8.0))
    assert "kubelet.prober" not in found


def test_another_pod_another_probe_and_another_instant_are_events_of_their_own(tmp_path: Path) -> None:
    """What differs in the pod or the type, or lies seconds apart, is told by one observer alone."""
    found = cluster(
        tmp_path,
        [(10, "api-5f", "Readiness probe failed: EOF"), (20, "web-9c", "Readiness probe failed: EOF")],
        [
            failed_probe(10.1, kind="Liveness"),
            failed_probe(14.0),
            failed_probe(20.2),
            failed_probe(20.3, pod="web-9c"),
        ],
    )

    told = [(one.service, one.events, one.also) for one in found["kubelet.probe-failed"]]
    assert told == [("api-5f", 1, 0), ("web-9c", 1, 1)]
    assert [one.events for one in found["kubelet.prober"]] == [3]


def test_what_is_not_over_is_named(tmp_path: Path) -> None:
    """Three of four came back within 8 ms, 3.998 to 6.006 s after their lines; the fourth is named."""
    (group,) = groups(
        tmp_path,
        [(1.0 + n, LEAK.format(c=f"{n}a")) for n in range(4)]
        + [(7.0 + n / 250, BACK.format(c=f"{n}a")) for n in (0, 2, 1)],
    )

    assert group.open == ("org.postgresql.jdbc.PgConnection@3a",)
    assert (group.returns_s, group.over_within_s) == ((4.0, 6.0), 0.008)


def test_a_server_that_is_back_ends_its_outage(tmp_path: Path) -> None:
    """Each server of a backend is down for its own time."""
    down = "lb-1 haproxy[8]: Server shop/{} is DOWN, reason: Layer4 timeout, check duration: 2001ms. 1 active and 0 backup servers left. 0 sessions active, 0 requeued, 0 remaining in queue."
    up = "lb-1 haproxy[8]: Server shop/{} is UP, reason: Layer7 check passed, code: 200, check duration: 3ms. 2 active and 0 backup servers online. 0 sessions requeued, 0 total in queue."
    (group,) = groups(
        tmp_path,
        [(1.0, down.format("a")), (4.0, down.format("b")), (9.0, up.format("b")), (21.0, up.format("a"))],
    )

    spans = {one.name: round(((one.over or 0) - one.began) / 1_000_000) for one in group.spans}
    assert spans == {"shop/a": 20, "shop/b": 5}
