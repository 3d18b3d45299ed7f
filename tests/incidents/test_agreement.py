"""What a report says in two places agrees: counts with their bounds, sums with the parts that stand on the page."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import golden
import pytest

from forensics.report.charts import svg
from forensics.report.dialects import told
from forensics.report.prose import count
from forensics.report.statements import catalogue

ROUGH = "s6-blind-monitor"
"""A fixture in which two lines may tell of one failure or of two, and in which the process stood still twice."""
SPAN = re.compile(r"stood still from .*? \((\d+) s\b")


@pytest.fixture(params=golden.approved())
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def document(name: str) -> dict[str, Any]:
    return golden.report(name)[0]


def of(document: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """Return the findings of one statement."""
    return [row for row in document["findings"] if row["key"] == key]


def section(page: str, title: str) -> str:
    """Return what stands below one heading."""
    return re.split(r"(?m)^## ", page.split(f"\n## {title}\n", 1)[1])[0]


def test_a_count_with_two_bounds_has_them_everywhere() -> None:
    """26 to 27 waits are not 26 in another section."""
    document, page = golden.report(ROUGH)
    (row,) = [one for one in document["signatures"] if one["id"] == "sqlalchemy.queuepool-timeout"]
    said = count(row["failures"], row["failures_max"])

    assert (row["failures"], row["failures_max"]) == (26, 27)
    for key in ("summary.pool", "mechanism.pool", "mechanism.serial", "recurrence.sum"):
        assert [said in one["text"] for one in of(document, key)] == [True], key
    assert document["hypotheses"][0]["why"].startswith(f"{said} failures")
    assert f"`sqlalchemy.queuepool-timeout` {said} (27)" in section(page, "Recurrence")
    assert sum(one["most"] - one["count"] for one in document["bars"]) == 1
    assert "(and at most 1 more," in section(page, "Timeline")


def test_what_a_blind_gap_holds_is_named() -> None:
    """Of 1150 probes due, 102 fell into the monitor's gap; of a loss of lines it is not known what became of them."""
    founding, suppressed = (golden.report(one) for one in ("crm-freeze", "s11-journald-suppressed"))

    assert (
        "due 1150, answered 1046, late 1, missed 1, failed 0; ambiguous among the late 1; in a blind gap 102"
    ) in founding[1]
    assert [(row["due"], row["in_blind_gap"]) for row in founding[0]["probes"]] == [(1150, 102)] * 2
    assert "due 20, answered 18, late 0, missed 0, failed 0; not known 2" in suppressed[1]


def test_days_have_the_bounds_of_their_signature(document: dict[str, Any]) -> None:
    """What the days count at most makes what the signature counts at most; no day counts more surely than at most."""
    for row in document["signatures"]:
        days = [
            day
            for day in document["daily"]
            if (day["service"], day["signature"]) == (row["service"], row["id"])
        ]
        if row["failures_max"] is None:
            assert {day["failures_max"] for day in days} <= {None}
        else:
            assert sum(day["failures_max"] for day in days) == row["failures_max"]
            assert all(day["failures"] <= day["failures_max"] for day in days)


def test_stalls_make_their_sum(document: dict[str, Any]) -> None:
    """The time that a process stood still in all is the sum of the parts that the page shows."""
    parts = [int(SPAN.search(row["text"])[1]) for row in of(document, "mechanism.stall")]  # type: ignore[index]
    for row in of(document, "summary.stall"):
        assert f"{sum(parts)} s" in row["text"], (parts, row["text"])
    for row in of(document, "mechanism.serial"):
        assert f"in {sum(parts)} s" in row["text"]
        assert [int(n) for n in re.findall(r"(\d+) s", row["formula"].split("/")[0])] == parts


def test_window_and_outside_make_the_whole(document: dict[str, Any]) -> None:
    """The sum that is shown adds up with either bound, and says of what it is."""
    bound = r"≥? ?([\d,]+)(?: to ([\d,]+))?"
    for row in of(document, "recurrence.sum"):
        found = re.search(rf": {bound} failures? of .+ and {bound} outside make {bound} over", row["text"])
        assert found, row["text"]
        ends = [int(one.replace(",", "")) if one else None for one in found.groups()]
        low = ends[::2]
        high = [most if most is not None else least for least, most in zip(low, ends[1::2], strict=True)]
        assert low[0] + low[1] == low[2]  # type: ignore[operator]
        assert high[0] + high[1] == high[2]  # type: ignore[operator]


def test_both_languages_count_alike() -> None:
    """A statement that shows a count with two bounds shows it so in every language."""
    english, other = (catalogue(tag)["recurrence"]["sum"] for tag in ("en", "pt-BR"))

    assert all(
        f"{name}|count" in text for name in ("inside", "outside", "total") for text in (english, other)
    )


# --- what the effect was, and how it ended


def test_failed_attempts_of_calls_are_in_the_summary() -> None:
    """Where more attempts of calls failed than requests, that is the main effect; a later attempt may have delivered."""
    document = golden.report("s5-deploy-restart")[0]
    (row,) = of(document, "summary.window")

    assert "29 attempts of outgoing calls of gateway failed" in row["text"]
    assert row["evidence"]
    assert "attempts" not in of(golden.report(ROUGH)[0], "summary.window")[0]["text"]


@pytest.mark.parametrize("fixture", ["crm-freeze", "knex-shared-pool", "prisma-replicas"])
def test_what_people_state_cites_no_line_of_a_log(fixture: str) -> None:
    """The case file is named as the source; the one line that a clue cites shows what it is near to, from which it counts."""
    document = golden.report(fixture)[0]
    rows = [row for row in document["timeline"] if "from the case file" in row["text"]]
    clues = of(document, "clue.event")

    assert rows
    assert [row["evidence"] for row in rows] == [[]] * len(rows)
    for row in clues:
        assert ", from the case file) lies " in row["text"]
        assert row["text"].endswith("nothing given ties them")
        assert row["method"] == "an event that the case file states"
        assert len(row["evidence"]) <= 1


def test_attempts_are_never_told_as_calls_given_up(document: dict[str, Any]) -> None:
    """A line of a failed attempt (1/5) does not say what became of its message."""
    for row in (*of(document, "summary.window"), *of(document, "impact.calls_failed")):
        assert "gave up" not in row["text"]


def test_a_response_beside_the_edge_proves_nothing() -> None:
    """What completed 0.3 s after the request to stop does not show that anything was answered between."""
    stopped = of(golden.report("s5-deploy-restart")[0], "impact.completed")[0]["text"]
    frozen = of(golden.report("crm-freeze")[0], "impact.completed")[0]["text"]

    assert stopped.startswith(
        "1 response below 500 completed inside the window, within 5 s of its start or end"
    )
    assert "no complete outage" not in stopped
    assert re.match(r"28 responses .*, 18 of them more than 5 s .*: no complete outage", frozen)


def test_a_kill_after_the_stop_timeout_is_in_the_mechanism() -> None:
    (row,) = of(golden.report("s5-deploy-restart")[0], "mechanism.killed")

    assert row["text"] == (
        "crm-api had not ended 20 s after the request to stop, its stop timeout ran out, and the service manager"
        " killed 5 of its processes at 12:43:39"
    )
    assert (row["section"], len(row["evidence"])) == ("mechanism", 4)


@pytest.mark.parametrize("fixture", [one for one in golden.approved() if one != "s10-quiet-day"])
def test_the_story_begins_and_ends_in_health(fixture: str) -> None:
    """A healthy event stands before the incident and, where it ended within the inputs, a recovered one after it."""
    document = golden.report(fixture)[0]
    (primary,) = [row for row in document["incidents"] if row["primary"]]
    kinds = {row["kind"]: row for row in document["timeline"] if row["kind"] in ("healthy", "recovered")}

    assert kinds["healthy"]["at"] < primary["start"]
    assert ("recovered" in kinds) == (primary["end"] is not None)
    if "recovered" in kinds:
        assert kinds["recovered"]["at"] >= primary["end"]


def test_one_replica_does_not_stand_for_all_in_silence() -> None:
    """A report on several replicas says which one its rows name, and for how many; sums say of which failure they are."""
    document, page = golden.report("prisma-replicas")

    assert "worker-6 stands for the 8 replicas of worker" in section(page, "Ruled out")
    assert "which stands here for the 8 replicas of worker" in of(document, "recurrence.coverage")[0]["text"]
    assert of(document, "recurrence.sum")[0]["text"].startswith(
        "node-postgres pool: no client became free in time: 114 failures of 6 replicas of worker in the window"
    )


def test_a_template_masks_the_message_s_own_time() -> None:
    """What a message says of its own time is one blank of a template, whatever its digits."""
    templates = {row["template"] for row in golden.report("prisma-replicas")[0]["background"]}

    assert any(one.startswith("<time> debug reconcile") for one in templates)
    assert not any("<n>-<n>-<n>T" in one for one in templates)


def test_what_a_monitor_can_see_follows_from_its_rule() -> None:
    (row,) = of(golden.report("crm-freeze")[0], "alert.detectability")

    assert row["formula"] == "1 × 300 s + 8 s = 308 s; 2 × 300 s + 8 s = 608 s"  # noqa: RUF001 - as the page shows it


# --- room is used, and pictures tell what the text tells


@pytest.mark.parametrize("fixture", ["crm-freeze", "prisma-replicas"])
def test_a_roomy_page_quotes_all_of_the_evidence(fixture: str) -> None:
    """Where a ticket has room, no line of evidence is left out; a page without much room shows more than one."""
    document, page = golden.report(fixture)
    roomy = told(document, "github")
    row = re.compile(r"(?m)^\| ?E\d+ ?\|")

    assert len(row.findall(roomy)) == len(document["evidence"])
    assert "more lines of evidence" not in roomy
    assert len(row.findall(section(page, "Evidence"))) >= 2


def test_what_was_scaled_away_is_not_drawn_as_silent() -> None:
    """Replicas that were scaled away, and a server that has no more refusals to log, stand not still."""
    document = golden.report("prisma-replicas")[0]
    why = {row["service"]: row["why"] for row in document["silences"]}
    drawn = svg(document, "timeline") or ""

    assert {why["worker-7"], why["worker-8"], why["postgres"]} == {"after"}
    assert "worker-8 no more lines" in drawn
    assert "worker-8 silent" not in drawn


def test_a_silence_inside_an_incident_stays_one(document: dict[str, Any]) -> None:
    """Only what begins as the incident ends, or a stop explains, is explained."""
    ends = [row["end"] for row in document["incidents"] if row["primary"] and row["end"]]
    for row in document["silences"]:
        if row["why"] == "after":
            assert ends
            late = datetime.fromisoformat(row["start"]) - datetime.fromisoformat(ends[0])
            assert late.total_seconds() >= -30


# --- bars and counts


@pytest.mark.parametrize(
    ("fixture", "parts", "retold", "alt"),
    [
        ("prisma-replicas", (114, 4, 282), 282, "Failures: 400 ("),
        ("s4-too-many-clients", (566, 6), 127, "Failures: 572 ("),
    ],
)
def test_bars_stand_for_the_failures_that_the_text_counts(
    fixture: str, parts: tuple[int, ...], retold: int, alt: str
) -> None:
    """A refusal in the server's log and in a client's is one: the bars of the page, of the pictures and the numbers of the text agree."""
    document, page = golden.report(fixture)
    said = " ".join(row["text"] for row in document["findings"])
    rates = [one["failures"] for row in document["chart"]["rates"] for one in row["counts"]]
    kinds = document["chart"]["failures"]

    assert sum(row["count"] for row in document["bars"]) == sum(rates) == sum(parts)
    assert sum(row["once"] for row in kinds) == sum(parts)
    assert [str(n) in said for n in parts] == [True] * len(parts)
    assert sum(row["retold"] for row in document["bars"]) == retold
    assert f"; {retold} that the server's log and a client's both tell of count once (" in page
    assert alt in svg(document, "timeline")


def test_bars_leave_out_only_what_is_told_twice(document: dict[str, Any]) -> None:
    """Where no server's log tells of a client's failures, each counts."""
    if not any(row["retold"] for row in document["bars"]):
        assert all(row["once"] == row["count"] for row in document["chart"]["failures"])
