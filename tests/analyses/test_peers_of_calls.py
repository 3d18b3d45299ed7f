"""A call of Python's requests that ran out of time names whom it addressed, and began where its wait did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forensics.model.facts import Failures
from forensics.pipeline import Options, investigate

if TYPE_CHECKING:
    from pathlib import Path

    from forensics.model.facts import FailureGroup

POOL = "HTTPSConnectionPool(host='api.paygate.example', port=443)"


def failed(folder: Path, lines: list[str]) -> FailureGroup:
    """Return the only kind of failure that lines of a service tell of."""
    (folder / "shop.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (group,) = investigate([str(folder)], Options(tz="UTC")).facts[Failures].groups
    return group


def test_a_read_timeout_names_its_peer_and_its_wait(tmp_path: Path) -> None:
    """Each of the failed calls began 75 s before its line."""
    group = failed(
        tmp_path,
        [
            f"2026-03-10 21:{10 + at:02}:00,000 ERROR shop.pay: requests.exceptions.ReadTimeout: {POOL}: Read timed out. (read timeout=75)"
            for at in range(6)
        ],
    )

    assert (group.signature, group.failures) == ("urllib3.read-timeout", 6)
    assert group.peers == ("api.paygate.example",)
    assert group.first_wait_began == group.first - 75_000_000


def test_a_call_that_failed_after_retries_names_its_peer(tmp_path: Path) -> None:
    """The pool in front of the wrapper's text."""
    text = f"requests.exceptions.ConnectionError: {POOL}: Max retries exceeded with url: /v1 (Caused by NewConnectionError('x: [Errno 111] Connection refused'))"
    group = failed(tmp_path, [f"2026-03-10 21:{10 + at:02}:00,000 ERROR shop.pay: {text}" for at in range(6)])

    assert (group.signature, group.peers) == ("urllib3.max-retries", ("api.paygate.example",))
