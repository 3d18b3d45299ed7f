"""A pause of the JVM's collector is an event as long as it says, from its beginning to its line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from forensics.model.facts import Events
from forensics.pipeline import Options, investigate
from forensics.report.statements import Statements

if TYPE_CHECKING:
    from pathlib import Path

PAUSE = "[2026-03-10T17:{}+0000][info][gc] GC({}) Pause {} 2044M->2038M(2048M) {}ms"
POOL = "2026-03-10T17:20:{:02}.000Z ERROR 1 --- [shop] [nio-8080-exec-1] c.e.shop.Orders : HikariPool-1 - Connection is not available, request timed out after 30001ms (total=10, active=10, idle=0, waiting=12)"


def test_a_long_pause_is_told_with_its_length(tmp_path: Path) -> None:
    """Of those below a second nothing is said; the line of a long one stands at its end."""
    gc = [
        PAUSE.format(f"{at:02}:00.000", at, "Young (Normal) (G1 Evacuation Pause)", "11.270")
        for at in range(40)
    ]
    gc.insert(21, PAUSE.format("20:12.400", 99, "Full (G1 Compaction Pause)", "4214.400"))
    (tmp_path / "gc.log").write_text("\n".join(gc) + "\n", encoding="utf-8")
    (tmp_path / "shop.log").write_text(
        "\n".join(POOL.format(at) for at in range(0, 60, 2)) + "\n", encoding="utf-8"
    )
    case = investigate([str(tmp_path)], Options(tz="UTC"))
    (group,) = (one for one in case.facts[Events].groups if one.signature == "jvm.collector-pause")
    (block,) = (one for one in case.diagnosis.findings if one.key == "mechanism.blocked")
    (stalled,) = (one for one in case.diagnosis.judgements if one.id == "process_stalled")

    assert (group.events, group.longest_s) == (1, pytest.approx(4.2144))
    assert block.values["span"].told - block.values["span"].began == 4_214_400
    assert stalled.why == "stall.text"
    for tag, words in (
        ("en", "was blocked from 2026-03-10 17:20:08 +00:00 to 17:20:12 (4214 ms)"),
        ("pt-BR", "teve um bloqueio de 2026-03-10 17:20:08 +00:00 a 17:20:12"),
    ):
        assert words in Statements(tag, "UTC").say("mechanism.blocked", block.values)
