"""Attempts of one message are joined by its name: delivered later, given up, or neither seen."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
from typing import TYPE_CHECKING

import golden
import small_logs as logs

from forensics.model.facts import Deliveries
from forensics.pipeline import Options, investigate
from forensics.report import document as telling

if TYPE_CHECKING:
    from pathlib import Path


def line(at: float, text: str) -> str:
    """Render a line of the gateway as Docker keeps it."""
    stamp = dt.datetime.fromtimestamp(logs.NOON + at, dt.UTC).isoformat().replace("+00:00", "000Z")
    return (
        json.dumps({"log": f"[Gateway] 7  - [WebhookService] {text}\n", "stream": "stdout", "time": stamp})
        + "\n"
    )


def failed(at: float, name: str, attempt: int, after_ms: int = 3) -> str:
    """Render a failed attempt of three."""
    named = f" id={name}" if name else ""
    return line(
        at,
        f"Webhook delivery failed event=messages.upsert{named} attempt={attempt}/3 after {after_ms}ms: connect ECONNREFUSED 127.0.0.1:21081",
    )


def delivered(at: float, name: str) -> str:
    """Render a delivery."""
    return line(at, f"Webhook delivered event=messages.upsert id={name} status=200 (22ms)")


def test_messages_end_in_one_of_three_ways(tmp_path: Path) -> None:
    """One is delivered on its second attempt, one given up, one is open, one line names none, and one never failed."""
    rows = [
        delivered(1.5, "QUICK"), failed(10.5, "LATER", 1, 500), failed(11.5, "GONE", 1), failed(12.5, "OPEN", 1), failed(13.5, "", 1),
        failed(14.5, "GONE", 2), failed(18.5, "GONE", 3), delivered(40.5, "LATER"), delivered(41.5, "OTHER"),
    ]  # fmt: skip
    (tmp_path / "gateway-json.log").write_text("".join(rows), encoding="utf-8")
    (one,) = investigate([str(tmp_path)], Options()).facts[Deliveries].items

    assert (one.messages, one.attempts, one.delivered, one.given_up, one.open) == (3, 5, 1, 1, 1)
    assert (one.longest_s, one.last_delivered, one.unnamed, one.capped) == (
        30.5,
        round((logs.NOON + 40.5) * 1e6),
        1,
        False,
    )
    assert [ref.line for ref in one.refs] == [7, 8, 2]


def test_a_delivery_before_the_last_failure_is_none_of_that_attempt(tmp_path: Path) -> None:
    """A message that was delivered to one receiver and then failed at another is not delivered afterwards."""
    rows = [
        delivered(1.5, "A"),
        failed(5.5, "A", 1),
        failed(9.5, "A", 2),
        failed(12.5, "A", 3),
        *(failed(13.5 + n, name, 1) for n, name in enumerate("BCD")),
    ]
    (tmp_path / "gateway-json.log").write_text("".join(rows), encoding="utf-8")
    (one,) = investigate([str(tmp_path)], Options()).facts[Deliveries].items

    assert (one.messages, one.delivered, one.given_up, one.open) == (4, 0, 1, 3)


def test_recorded_senders_tell_what_the_receivers_saw() -> None:
    """The laboratory's account: no message lost in the freeze, one in the deploy."""
    freeze, deploy = (golden.report(name)[0] for name in ("s1-pool-stall", "s5-deploy-restart"))
    keys = ("messages", "attempts", "delivered", "given_up", "unknown")

    assert [[row[key] for key in keys] for row in freeze["impact"]["messages"]] == [[65, 99, 65, 0, 0]]
    assert [[row[key] for key in keys] for row in deploy["impact"]["messages"]] == [[9, 29, 8, 1, 0]]
    text = next(row["text"] for row in deploy["findings"] if row["key"] == "impact.messages")
    assert text.startswith(
        "9 messages of gateway had 29 failed attempts: 8 delivered afterwards, the last at "
    )
    assert text.endswith("; 1 given up after the last attempt")


def test_portuguese_says_it_too(tmp_path: Path) -> None:
    rows = [
        failed(5.5, "A", 1),
        *(failed(6.5 + n, name, 1) for n, name in enumerate("BCDEF")),
        failed(9.5, "A", 2),
        delivered(30.5, "A"),
    ]
    (tmp_path / "gateway-json.log").write_text("".join(rows), encoding="utf-8")
    case = dataclasses.replace(investigate([str(tmp_path)], Options()), language="pt-BR")
    text = next(row["text"] for row in telling.build(case)["findings"] if row["key"] == "impact.messages")

    assert text.startswith(
        "6 mensagens de gateway tiveram 7 tentativas com falha: 1 entregue depois, a última às "
    )
