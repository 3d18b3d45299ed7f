"""What is found is told in the summary and answered by a suggestion; nothing is called well that is not."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest

from forensics import pipeline
from forensics.findings.hypotheses import load
from forensics.model.facts import Restarts
from forensics.model.finding import POSITIVE
from forensics.report import document

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

KERNEL = {
    "oom": (
        "Nov 29 12:00:10 srv kernel: Out of memory: Killed process 812 (node) total-vm:9000000kB, anon-rss:7800000kB, file-rss:0kB, shmem-rss:0kB, UID:1000 pgtables:16000kB oom_score_adj:0\n",
        "act.memory",
        "why.oom.killed",
    ),
    "conntrack": (
        "".join(
            f"Nov 29 12:00:1{n} srv kernel: nf_conntrack: nf_conntrack: table full, dropping packet\n"
            for n in range(6)
        ),
        "act.resource",
        "why.resource.text",
    ),
}


def told(folder: Path, text: str, lang: str = "en") -> tuple[Any, dict[str, Any]]:
    """Read a log of the kernel beside another line of its host."""
    around = "Nov 29 {} srv kernel: usb 1-1: new high-speed USB device number 4 using xhci_hcd\n"
    (folder / "kern.log").write_text(around.format("11:59:00") + text + around.format("12:01:00"), "utf-8")
    case = pipeline.investigate([str(folder)], pipeline.Options(tz="UTC"))
    return case, document.build(dataclasses.replace(case, language=lang))


@pytest.mark.parametrize("name", KERNEL)
def test_a_host_in_trouble_is_told_without_an_incident(tmp_path: Path, name: str) -> None:
    """The verdict is a link of the mechanism, stands in the summary, and has a suggestion that answers it."""
    text, act, key = KERNEL[name]
    case, page = told(tmp_path, text)
    places = [row["section"] for row in page["findings"] if row["key"] == key]
    acts = [one.key for one in case.diagnosis.actions]

    assert places == ["summary", "mechanism"]
    assert act in acts
    assert [row["findings"] for row in page["actions"]] == [
        [row["id"] for row in page["findings"] if (row["key"], row["section"]) == (key, "mechanism")]
    ]
    assert "actions" not in page["unfilled"]


def test_a_suggestion_names_no_service_that_is_not_known(tmp_path: Path) -> None:
    texts = [told(tmp_path, KERNEL["oom"][0], lang)[1]["actions"][0]["text"] for lang in ("en", "pt-BR")]

    assert [text.split(" a memory")[0].split(" um limite")[0] for text in texts] == [
        "Give each service",
        "Dar a cada serviço",
    ]


def test_the_killed_process_is_named_and_no_service_of_the_kernel_s(tmp_path: Path) -> None:
    """The line stands in the kernel's log and is about a process: its command where no log of the inputs is its own."""
    case, page = told(tmp_path, KERNEL["oom"][0])
    (text,) = {row["text"] for row in page["findings"] if row["key"] == "why.oom.killed"}

    assert text == "1 line about kills for lack of memory: node"
    assert case.facts[Restarts].outages == ()
    assert page["incidents"] == []


def test_nothing_calls_for_a_change_where_nothing_is_found(tmp_path: Path) -> None:
    case, page = told(tmp_path, "")

    assert not [one for one in case.diagnosis.judgements if one.verdict in POSITIVE]
    assert page["unfilled"]["actions"] == "Nothing in these inputs calls for a change."


def test_every_step_has_its_sentence_and_a_value() -> None:
    """Steps are data: each answers a finding."""
    steps = [step for one in load() for step in one.next_steps]

    assert {step.key for step in steps} >= {"act.stacks", "act.memory", "act.db_down", "act.redis"}
    assert all(step.answers and 1 <= step.value <= 4 for step in steps)
