"""What every report must hold, sentence by sentence, on every incident and in every language.

Evidence, coverage, time, analysis, safety and tickets; wording and languages are held by test_languages, identical bytes by
test_laws, hostile text by the tests of the report.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import golden
import pytest
from anatomy import HEADINGS, HYPOTHESES
from markdown_it import MarkdownIt

from forensics.findings.timeline import unsure
from forensics.model.facts import ClockOffset, Clocks
from forensics.model.finding import Grade, Moment
from forensics.model.source import Ref
from forensics.report.consistency import broken
from forensics.report.render import NOTICE, markdown, whole

LONGEST = 11_000
FINDING = re.compile(r"^- (F\d+) (.*)$", re.MULTILINE)
GRADES = (
    "Verified",
    "Derived",
    "Inferred",
    "Clue, never cause",
    "No sign (not proof)",
    "Ruled out",
    "Not determined",
)
GRADE = re.compile(rf"\*\[(?:{'|'.join(map(re.escape, GRADES))})(?:: [^\]]*)?\]\*")
ID = re.compile(r"\b([EF]\d+)\b(?! more)")
CODE = re.compile(r"(?ms)^(`{3,})[^`\n]*\n.*?^\1$|(`+)(?!`).+?(?<!`)\2(?!`)")
CLOCK = re.compile(r"\b\d\d:\d\d:\d\d\b")
OFFSET = re.compile(r"[+-]\d\d:\d\d\b")
PUBLIC_ADDRESS = re.compile(r"(?<![\d.])(?!127\.|0\.0\.0\.0)(?:\d{1,3}\.){3}\d{1,3}(?![\d.])")
EMAIL = re.compile(r"[\w.+-]+@[\w-]+\.[a-z]{2,}")
INSIDE_S = 0.0015
"""Instants are written to the millisecond."""


@pytest.fixture(params=golden.names())
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def document(name: str) -> dict[str, Any]:
    return golden.report(name)[0]


@pytest.fixture
def page(name: str) -> str:
    return golden.report(name)[1]


def section(page: str, title: str) -> str:
    """Return what stands below one heading."""
    return re.split(r"(?m)^## ", page.split(f"\n## {title}\n", 1)[1])[0]


def tables(page: str) -> list[list[list[str]]]:
    """Return the tables of a page as rows of cells."""
    found: list[list[list[str]]] = [[]]
    for line in page.splitlines():
        if line.startswith("|"):
            found[-1].append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
        elif found[-1]:
            found.append([])
    return [rows for rows in found if rows]


# --- evidence


def test_every_number_has_evidence_or_a_formula(document: dict[str, Any]) -> None:
    """A finding with a number cites lines, shows its formula, or says what it lacks."""
    assert [
        row["text"]
        for row in document["findings"]
        if re.search(r"\d", row["text"])
        and not (row["evidence"] or row["formula"] or row["needs"] or row["grade"] == "no_sign")
    ] == []


def test_every_id_leads_to_a_line(document: dict[str, Any]) -> None:
    """Each place lies in its source; one of a journal with cursors has its cursor."""
    sources = {row["id"]: row for row in document["sources"]}
    with_cursors = {row["source"] for row in document["evidence"] if row["cursor"]}
    for row in document["evidence"]:
        source = sources[row["source"]]
        assert 1 <= row["line"] <= (source["lines"] or {"total": source["records"]})["total"], row
        if row["source"] in with_cursors:
            assert row["cursor"], row


def test_every_id_on_the_page_is_known(document: dict[str, Any], page: str) -> None:
    known = {row["id"] for key in ("findings", "evidence") for row in document[key]}

    assert set(ID.findall(CODE.sub("", page))) <= known


def test_one_grade_a_claim(page: str) -> None:
    """Every finding on the page ends with one grade and its evidence."""
    assert [(key, text) for key, text in FINDING.findall(page) if len(GRADE.findall(text)) != 1] == []
    summary = section(page, HEADINGS[0])
    assert [line for line in summary.splitlines() if line[:2] == "- " and len(GRADE.findall(line)) != 1] == []


def test_inputs_carry_their_particulars(document: dict[str, Any], page: str) -> None:
    """Hash, lines read and unparsed, first and last instant; those on the page agree."""
    for row in document["sources"]:
        assert re.fullmatch(r"[0-9a-f]{64}", row["sha256"])
        assert row["lines"] is None or row["lines"]["unparsed"] is not None
        assert (row["first"] is None) == (row["last"] is None)
    said = section(page, "Sources and coverage")
    hashes = re.findall(r"`([0-9a-f]{12})`", said)
    assert hashes
    assert all(any(row["sha256"].startswith(short) for row in document["sources"]) for short in hashes)


def test_counts_say_what_was_counted(document: dict[str, Any], page: str) -> None:
    """Failures stand beside the lines that tell of them, and the page says how to count again."""
    assert all(
        row["lines"] >= 1 and row["bound"] in ("exact", "at_least", "at_most")
        for row in document["signatures"]
    )
    assert "forensics check report.json" in section(page, "How to check this")


def test_no_heading_is_missing(page: str) -> None:
    assert re.findall(r"(?m)^## (.+)$", page) == HEADINGS


# --- coverage


def test_limits_come_first(page: str) -> None:
    """What was read is said before any claim of never, first or only."""
    claim = re.search(r"(?i)\b(?:never|first|only)\b", CODE.sub("", page).replace(HEADINGS[0], ""))

    assert claim is None or page.index("- Coverage: ") < claim.start()


def test_first_seen_is_bounded(page: str) -> None:
    assert re.findall(r"first seen(?! since)", page) == []


def test_a_lower_bound_is_written_as_one(document: dict[str, Any], page: str) -> None:
    """Counts that a loss bounds below are never shown bare."""
    for row in document["signatures"]:
        if row["bound"] == "at_least" and row["failures"]:
            bare = rf"{re.escape(row['service'])} `{re.escape(row['id'])}` {row['failures']} \("
            assert not re.search(bare, page), row


def test_a_plateau_is_an_interval(document: dict[str, Any]) -> None:
    """What samples tell carries their period, and a time at the peak is a span of two numbers."""
    for row in document["findings"]:
        if row["key"] == "mechanism.gauge":
            assert "every " in row["text"], row
            assert not re.search(r"at the peak for \d+ (?:s|min)", row["text"]), row


def test_silence_is_no_health(document: dict[str, Any]) -> None:
    """Nothing is ruled out by a source that had stopped speaking before the window."""
    last = {row["id"]: row["last"] for row in document["sources"]}
    where = {row["id"]: row["source"] for row in document["evidence"]}
    primary = next((row for row in document["incidents"] if row["primary"]), None)
    for row in document["hypotheses"]:
        if primary and row["verdict"] == "ruled_out":
            ends = [last[where[key]] for key in row["against"]]
            assert any(
                end and datetime.fromisoformat(end) >= datetime.fromisoformat(primary["start"])
                for end in ends
            ), row


# --- time


def test_tables_of_instants_have_date_and_offset(page: str) -> None:
    """Every cell with a time of day has its date; the offset stands in the head or in the cell."""
    for head, *rows in tables(page):
        for row in rows:
            for title, cell in zip(head, row, strict=True):
                if not re.match(r"(?:Time|First|Last|Instant)\b", title) or not CLOCK.search(cell):
                    continue
                assert re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", cell), row
                assert OFFSET.search(title) or OFFSET.search(cell), (head, row)


def test_the_offset_of_all_times_is_said(page: str) -> None:
    assert re.search(r"(?m)^- Zone of all times: \S.*\(UTC(?:[+-]\d\d:\d\d)?", page)


def test_sums_durations_and_references_hold(document: dict[str, Any]) -> None:
    assert broken(document) == []


def test_derived_instants_show_how(document: dict[str, Any]) -> None:
    """A start that was found by subtraction says from what, and that it is a bound."""
    for row in document["findings"]:
        if row["key"] == "times.backdated":
            assert re.search(r"had waited [\d.]+ (?:s|ms)", row["text"]), row
            assert "no later than" in row["text"], row


def test_due_and_observed_are_apart(document: dict[str, Any]) -> None:
    """Late probes say when they were due and when they were answered; a beat has its jitter."""
    for row in document["probes"]:
        assert row["jitter_s"] is not None or row["due"] <= 2, row
        for late in row["late"]:
            assert late["due"] is not None
            assert late["answered"] is not None or late["delay_s"] is None, late


# --- analysis


def test_every_probe_has_one_fate(document: dict[str, Any]) -> None:
    """Answered, late, missed, failed, in a blind gap or not known: together they are all that were due."""
    for row in document["probes"]:
        fates = row["answered"] + len(row["late"]) + len(row["missed"]) + len(row["failed"])
        assert fates + row["in_blind_gap"] + row["not_known"] == row["due"], row


def test_the_fates_of_probes_add_up_on_the_page(page: str) -> None:
    """The numbers of a series on the page make what was due: late ones with rivals are among the late."""
    fates = re.compile(
        r"(?m)^- Probe .*?; due ([\d,]+), answered ([\d,]+), late (\d+), missed (\d+), failed (\d+)"
        r"(?:; ambiguous among the late \d+)?(?:; in a blind gap ([\d,]+))?(?:; not known ([\d,]+))?$"
    )
    said = [line for line in page.splitlines() if line.startswith("- Probe ")]
    found = [[int((n or "0").replace(",", "")) for n in line] for line in fates.findall(page)]
    assert len(found) == len(said)
    assert [row for row in found if row[0] != sum(row[1:])] == []


def test_a_complete_outage_completed_nothing(document: dict[str, Any], page: str) -> None:
    """Where a response completed inside the window, the page counts it and claims no complete outage."""
    if any(row["key"] == "impact.completed" for row in document["findings"]):
        assert not re.search(r"(?i)(?<!no )complete outage|total outage|stopped completely", page)


def test_a_gap_is_blindness(document: dict[str, Any], page: str) -> None:
    """No downtime is made of a monitor's gap, and no uptime of what nobody saw."""
    said = re.sub(r"(?i)uptime.kuma|neither uptime nor downtime is known", "", CODE.sub("", page))
    assert not re.search(r"(?i)\b(?:downtime|uptime|availability)\b", said)
    for row in document["blind_gaps"]:
        inside = {*row["incidents_inside"], *row["incidents_overlapping"]}
        assert inside <= {incident["id"] for incident in document["incidents"]}


def test_nothing_contradicts_itself(document: dict[str, Any]) -> None:
    assert document["contradictions"] == []


def test_every_hypothesis_is_judged(document: dict[str, Any]) -> None:
    """All of them, once; what is ruled out or confirmed cites lines, what is open says what would tell."""
    assert tuple(row["id"] for row in document["hypotheses"]) == HYPOTHESES
    for row in document["hypotheses"]:
        if row["verdict"] in ("confirmed", "supported", "suspected"):
            assert row["for"], row
        if row["verdict"] == "ruled_out":
            assert row["against"], row
        if row["verdict"] == "not_determined":
            assert row["needs"], row
            assert all(need["command"] for need in row["needs"]), row


def test_a_clue_is_no_cause(page: str) -> None:
    """What only coincides stands neither in the summary nor in the mechanism."""
    for title in (HEADINGS[0], "Mechanism"):
        assert "Clue, never cause" not in section(page, title)


def test_actions_are_not_executed(document: dict[str, Any]) -> None:
    """Each answers a finding of this report."""
    known = {row["id"] for row in document["findings"]}

    assert all(row["findings"] and set(row["findings"]) <= known for row in document["actions"])


# --- safety and tickets


@pytest.mark.parametrize("tag", ["en", *golden.other_languages()])
def test_people_and_hosts_are_masked(name: str, tag: str) -> None:
    """No address, no e-mail; what a fixture's own file names is no secret."""
    page = golden.report(name, tag)[1]
    named = "\n".join(path.name for path in golden.inputs(name))

    assert [found for found in EMAIL.findall(page) if found not in named] == []
    assert PUBLIC_ADDRESS.findall(CODE.sub("", page)) == []


@pytest.mark.parametrize("tag", ["en", *golden.other_languages()])
def test_the_page_is_portable(name: str, tag: str) -> None:
    """A parser of CommonMark with tables finds headings to level 3 in order, flat lists, and nothing that a ticket refuses."""
    page = golden.report(name, tag)[1]
    tokens = MarkdownIt("commonmark").enable("table").parse(page)
    kinds = {token.type for token in tokens} | {
        child.type for token in tokens for child in token.children or []
    }
    levels = [int(token.tag[1]) for token in tokens if token.type == "heading_open"]

    assert kinds & {"html_block", "html_inline", "image", "hr", "code_block", "blockquote_open"} == set()
    assert levels[0] == 1
    assert set(levels[1:]) <= {2, 3}
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert {token.level for token in tokens if token.type == "bullet_list_open"} <= {0}
    assert len([token for token in tokens if token.type == "fence"]) * 2 == len(
        re.findall(r"(?m)^`{3,}", page)
    )
    bare = CODE.sub("", page)
    assert re.findall(r"(?<![\w`\\])@\w+", bare) == []
    assert re.findall(r"(?<![\w&`\\])#\d+", bare) == []
    assert len(page) < LONGEST


def test_all_rows_of_a_table_have_its_cells(page: str) -> None:
    assert [row for head, *rows in tables(page) for row in rows if len(row) != len(head)] == []


def test_what_is_cut_is_counted(document: dict[str, Any], page: str) -> None:
    """Evidence shown, placed and counted make all of it."""
    said = section(page, "Evidence")
    shown = len(re.findall(r"(?m)^\| ?E\d+ ?\|", said))
    more = re.search(r"(\d+) more lines? of evidence", said)

    assert shown + int(more[1] if more else 0) == len(document["evidence"])


def test_the_picture_adds_no_fact(document: dict[str, Any], page: str) -> None:
    """The bars of the page are numbers too: each stands for the failures until the next one, and together they are all; none is drawn of none."""
    bars = re.findall(r"(?m)^(\d\d:\d\d|\d{4}-\d\d-\d\d) +(\d+)(?: #+)?$", section(page, "Timeline"))
    counts = [row["count"] for row in document["bars"]]
    places = [*([row["label"] for row in document["bars"]].index(label) for label, _ in bars), len(counts)]

    assert bool(bars) is bool(sum(counts))
    assert [sum(counts[lo:hi]) for lo, hi in pairwise(places)] == [int(count) for _, count in bars]
    assert places[0] == 0 or not bars


def test_a_page_that_names_its_charts_keeps_the_days_with_failures() -> None:
    """Links take room: what gives way for them is no count."""
    document = golden.report("crm-freeze")[0]
    named = [f"report-{name}.svg" for name in ("timeline", "rates", "coverage", "daily")]
    page = markdown(document | {"charts": named})

    assert len(page) < LONGEST
    assert "[timeline](report-timeline.svg), [rates](report-rates.svg)" in page
    assert re.findall(r"(?m)^\|(2026-09-0[89])(?: \(partial day\))?\|crm-api", page) == [
        "2026-09-08",
        "2026-09-09",
    ]
    assert "09:46 13 ####" in page


def test_a_window_holds_its_failures(document: dict[str, Any]) -> None:
    """Where the primary incident's failures are counted by minute, none lies outside its buckets."""
    primary = next((row for row in document["incidents"] if row["primary"]), None)
    if primary is None or primary["end"] is None:
        assert document["bars"] == [] or primary is not None
        return
    lo, hi = (datetime.fromisoformat(primary[key]) for key in ("start", "end"))
    assert hi - lo >= timedelta(0)
    assert abs((hi - lo).total_seconds() - primary["duration_s"]) <= INSIDE_S


def test_fixtures_are_there() -> None:
    """The founding incident and the recorded ones: an empty list would hold every promise."""
    assert len(golden.names()) >= 11
    assert Path(golden.INCIDENTS / "crm-freeze").is_dir()


def test_what_the_page_cuts_the_evidence_file_holds(name: str, document: dict[str, Any]) -> None:
    """Nothing is cut in it: every finding, question with its commands, action, event and source."""
    everything = whole(document)
    commands = [
        line
        for question in document["not_determined"]
        for need in question["needs"]
        for line in need["command"].splitlines()
    ]
    rows = [
        line
        for line in everything.splitlines()
        if re.match(r"\| ?20\d\d-\d\d-\d\d \d\d:\d\d:\d\d[^|]*\|", line)
    ]

    assert NOTICE.search(everything) is None, name
    assert [line for line in commands if line not in everything] == []
    assert [
        f["id"]
        for f in document["findings"]
        if f["section"] != "summary" and f"- {f['id']} " not in everything
    ] == []
    assert len(rows) >= len(document["timeline"])


# --- what else every report must hold


def test_equals_is_said_of_equal_numbers_only(document: dict[str, Any]) -> None:
    """A rise beside a pool's overflow is consistent with it, and the differences are shown."""
    for row in document["findings"]:
        assert not re.search(r"(?i)\b(?:equals?|exactly|identical)\b", row["text"]), row
        if "consistent with the pool's overflow" in row["text"]:
            assert re.search(r"\+\d[\d.]* against the one (?:before|after)", row["text"]), row


def test_an_arithmetic_that_fails_says_so(document: dict[str, Any]) -> None:
    """More waits than fit one after another into the stall are counted: they waited elsewhere."""
    for row in document["findings"]:
        if row["key"] == "mechanism.serial":
            fits = int(row["formula"].rpartition("= ")[2])
            failures = int(
                re.search(r"(\d+)(?: to \d+)? (?:waited elsewhere|failures? fits?)", row["text"])[1]
            )  # type: ignore[index]
            said = re.search(r"at least (\d+) of", row["text"])
            assert (int(said[1]) if said else 0) == max(0, failures - fits), row


def test_no_percentage_stands_for_what_was_not_seen(document: dict[str, Any]) -> None:
    """No sentence gives a share of time: gaps of monitors would count as one or the other. How sure an interval is, is none."""
    assert [row["text"] for row in document["findings"] if re.search(r"\d ?%(?!:)", row["text"])] == []


def test_a_page_has_neither_front_matter_nor_footnotes(page: str) -> None:
    assert page.startswith("# ")
    assert "[^" not in CODE.sub("", page)
    assert "](data:" not in page


@pytest.mark.parametrize("file", ["monitor-state.jsonl", "gateway-json.log.gz"])
def test_a_missing_source_removes_no_heading(file: str) -> None:
    """Of an incident with one of its inputs alone, all sections are there, and each says something."""
    left = [path for path in golden.inputs("s6-blind-monitor") if path.name == file]
    page = golden.tell(golden.investigate("s6-blind-monitor", left))[1]

    assert re.findall(r"(?m)^## (.+)$", page) == HEADINGS
    assert [title for title in HEADINGS if not section(page, title).strip()] == []


def test_order_within_the_doubt_of_the_clocks_is_uncertain() -> None:
    """Rows of two sources that lie nearer than their clocks are known to agree are marked, and no others."""
    rows = [
        Moment(at, "note", None, "row.known", {}, Grade.CLUE, (Ref(source, 1),))
        for at, source in ((0, 0), (200_000, 1), (5_000_000, 0), (5_100_000, 0))
    ]
    clocks = Clocks((ClockOffset(0, 1, 0.0, 0.3, 4, "requests", (Ref(0, 1), Ref(1, 1))),), ())
    marked = [row.values.get("unsure", False) for row in unsure(rows, clocks)]

    assert marked == [True, True, False, False]
