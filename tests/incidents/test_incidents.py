"""Every incident: its approved report, what it must and must not claim, and what holds of any report."""

from __future__ import annotations

import functools
import gzip
import json
import re
from typing import TYPE_CHECKING, Any

import claims
import golden
import pytest
from anatomy import HEADINGS, HYPOTHESES
from jsonschema import Draft202012Validator

from forensics import pipeline
from forensics.report import document as made
from forensics.report.schema import schema

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = golden.names()
BLAME = re.compile(
    r"(?i)\b(should(?:n't| not)? have|could have|ought to have|failed to|forgot|neglect\w*|careless\w*|negligen\w*|incompeten\w*|human error|mistake\w*|blam\w+|at fault"
    r"|culprit|sloppy|stupid|guilty|operator error|deveria\w*|por culpa|esqueceu)\b"
)
LONGEST = 11_000
SUMMARY_WORDS = 120
TIMELINE_ROWS = 40
SHOWN_LINES = 40
JOURNAL = b"LPKSHHRH"
SQLITE = b"SQLite format 3"
COLOUR = re.compile("\x1b\\[[0-9;]*m")
"""Codes of a terminal in a line, which no report may carry."""
PART = re.compile(r"\S+ (?P<stream>stdout|stderr) (?P<tag>[PF]) (?P<text>.*)$")
"""A line of a container's log (CRI): P is a part, F the last one."""
RECORD_LINES = 400
"""Lines after the first in which the rest of one record may lie."""


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def document(name: str) -> dict[str, Any]:
    return golden.report(name)[0]


@pytest.fixture
def page(name: str) -> str:
    return golden.report(name)[1]


def expectations() -> Iterator[Any]:
    """Yield every expectation of every fixture as a parameter of its own."""
    for fixture in NAMES:
        for index, claim in enumerate(claims.claims(golden.table(fixture)), start=1):
            yield pytest.param(fixture, claim, id=f"{fixture}-{index}-{claim.path or 'page'}")


@functools.cache
def lines(fixture: str, source: str) -> list[str] | None:
    """Return the lines of an input, None where it has none (a binary journal, a database, one JSON document)."""
    raw = (golden.INCIDENTS / fixture / "inputs" / source).read_bytes()
    raw = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    if raw.startswith((JOURNAL, SQLITE)) or whole(raw):
        return None
    return raw.decode("utf-8", "replace").removesuffix("\n").split("\n") if raw else []


def whole(raw: bytes) -> bool:
    """Is an input one JSON document over many lines, whose records are no lines?"""
    if not raw.startswith((b"{", b"[")) or raw.count(b"\n") < 2:
        return False
    try:
        json.loads(raw)
    except ValueError:
        return False
    return True


@functools.cache
def bare(fixture: str) -> dict[str, Any]:
    """Return the document of a fixture without masks."""
    return golden.tell(golden.case(fixture), redact=False)[0]


def prose(page: str) -> str:
    """Return a page without what it quotes: fences and code."""
    text = re.sub(r"(?ms)^(`{3,})[^`\n]*\n.*?^\1$", "", page)
    return re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", text)


def section(page: str, title: str) -> str:
    """Return the text below one heading."""
    return re.split(r"(?m)^## ", page.split(f"\n## {title}\n", 1)[1], maxsplit=1)[0]


# --- this incident


@pytest.mark.parametrize(("name", "file"), [(name, file) for name in NAMES for file in golden.files(name)])
def test_the_report_is_the_approved_one(name: str, file: str) -> None:
    diff = golden.difference(name, file).split("\n")
    if diff != [""]:
        shown = "\n".join(line[:200] for line in diff[:SHOWN_LINES])
        more = f"\n({len(diff)} lines in all)"
        pytest.fail(
            f"if the change is meant: python tests/golden.py --write {name}\n{shown}{more}",
            pytrace=False,
        )


@pytest.mark.parametrize(("fixture", "claim"), list(expectations()))
def test_what_must_and_must_not_be_claimed(fixture: str, claim: claims.Claim) -> None:
    if said := claim.broken(*golden.report(fixture)):
        pytest.fail(f"{fixture}: {said}", pytrace=False)


def test_there_are_expectations_of_both_kinds(name: str) -> None:
    found = claims.claims(golden.table(name))
    assert {claim.must for claim in found} == {True, False}
    assert golden.table(name)["name"] == name


def test_a_quiet_day_has_no_incident() -> None:
    document, page = golden.report("s10-quiet-day")
    assert document["incidents"] == []
    assert document["stalls"] == document["blind_gaps"] == document["silences"] == []
    assert "No incident" in page


# --- any report: the document


def test_the_document_obeys_the_schema(document: dict[str, Any]) -> None:
    found = Draft202012Validator(schema(), format_checker=Draft202012Validator.FORMAT_CHECKER).iter_errors(
        document
    )
    assert [f"{error.json_path}: {error.message}" for error in found] == []


def test_a_number_has_evidence_a_formula_or_a_need(document: dict[str, Any]) -> None:
    bare_numbers = [
        f["text"]
        for f in document["findings"]
        if re.search(r"\d", f["text"]) and not (f["evidence"] or f["needs"] or f["formula"])
    ]
    assert bare_numbers == []
    unchecked = [
        f["text"]
        for f in document["findings"]
        if not (f["evidence"] or f["needs"] or (f["grade"] == "no_sign" and f["scope"]))
    ]
    assert unchecked == []


def test_a_derived_finding_names_its_formula_or_its_lines(document: dict[str, Any]) -> None:
    loose = [
        f["text"]
        for f in document["findings"]
        if f["grade"] == "derived" and not (f["formula"] or f["evidence"])
    ]
    assert loose == []


def test_every_evidence_id_is_known_and_used(document: dict[str, Any]) -> None:
    ids = [entry["id"] for entry in document["evidence"]]
    assert len(ids) == len(set(ids))
    cited = {
        i for key in ("findings", "timeline", "stalls") for row in document[key] for i in row["evidence"]
    }
    cited |= {i for row in document["hypotheses"] for i in (*row["for"], *row["against"])}
    assert cited - set(ids) == set()
    findings = {f["id"] for f in document["findings"]}
    assert {i for row in document["incidents"] for i in row["findings"]} - findings == set()
    assert {i for row in document["actions"] for i in row["findings"]} - findings == set()


def test_no_evidence_is_beyond_its_file(name: str, document: dict[str, Any]) -> None:
    sources = {source["id"]: source["name"] for source in document["sources"]}
    wrong = []
    for entry in document["evidence"]:
        held = lines(name, sources[entry["source"]])
        if held is not None and not 1 <= entry["line"] <= len(held):
            wrong.append((entry["id"], sources[entry["source"]], entry["line"], len(held)))
    assert wrong == []


def test_the_quoted_text_stands_at_its_place(name: str) -> None:
    document = bare(name)
    sources = {source["id"]: source["name"] for source in document["sources"]}
    wrong = []
    for entry in document["evidence"]:
        held = lines(name, sources[entry["source"]])
        if held is not None and not stands(
            entry["text"], held[entry["line"] - 1 : entry["line"] + RECORD_LINES]
        ):
            wrong.append((entry["id"], sources[entry["source"]], entry["line"], entry["text"][:120]))
    assert wrong == []


def stands(text: str, held: list[str]) -> bool:
    """Is a quoted text that of the record which begins at the first of these lines?"""
    if not text.strip():
        return False
    if held[0].startswith("{"):
        return any(
            text.strip() in COLOUR.sub("", value) for value in (held[0], *strings(json.loads(held[0])))
        )
    quoted = [part.strip() for part in text.strip().split("\n")]
    if held[0].startswith("__CURSOR="):
        record = held[: held.index("") if "" in held else None]
        return any(
            part.partition("=")[2].strip() == quoted[0] or part.strip().startswith(quoted[0])
            for part in record
        )
    if PART.match(held[0]):
        return joined(held).startswith(text)
    bare = [COLOUR.sub("", line) for line in held]
    return all(
        part in line or all(cell in line for cell in part.split(": "))
        for part, line in zip(quoted, bare, strict=False)
    )


def joined(held: list[str]) -> str:
    """Return the record of a container's log that begins at the first of these lines: its parts, without those of the other stream."""
    parts = [found for line in held if (found := PART.match(line))]
    mine = [part for part in parts if part["stream"] == parts[0]["stream"]]
    last = next((n for n, part in enumerate(mine) if part["tag"] == "F"), len(mine) - 1)
    return COLOUR.sub("", "".join(part["text"] for part in mine[: last + 1]))


def strings(value: Any) -> Iterator[str]:
    """Yield every text of a JSON record; journald writes what is no clean text as a list of bytes."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and value and all(isinstance(item, int) for item in value):
        yield bytes(value).decode("utf-8", "replace")
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)


def test_masks_change_no_reference(name: str, document: dict[str, Any]) -> None:
    place = ("id", "source", "line", "cursor", "at")
    assert [[e[key] for key in place] for e in document["evidence"]] == [
        [e[key] for key in place] for e in bare(name)["evidence"]
    ]


def test_line_totals_are_true_and_sum_up(name: str, document: dict[str, Any]) -> None:
    assert sorted(source["name"] for source in document["sources"]) == [
        path.name for path in golden.inputs(name)
    ]
    for source in document["sources"]:
        held, counted = lines(name, source["name"]), source["lines"]
        if held is None:
            assert counted is None, source["name"]
        else:
            assert counted["total"] == len(held), source["name"]
            assert counted["total"] == counted["in_records"] + counted["blank"] + counted["unparsed"], source[
                "name"
            ]
            assert counted["blank"] <= sum(not line.strip() for line in held), source["name"]


def test_a_skipped_source_says_what_to_do(document: dict[str, Any]) -> None:
    skipped = [source for source in document["sources"] if source["skipped"]]
    assert all(source["records"] == 0 and len(source["skipped"]) > 20 for source in skipped)


def test_all_hypotheses_are_judged_in_order(document: dict[str, Any]) -> None:
    assert tuple(row["id"] for row in document["hypotheses"]) == HYPOTHESES
    for row in document["hypotheses"]:
        assert row["for"] or row["against"] or row["needs"], row["id"]
        assert row["verdict"] != "not_determined" or row["needs"], row["id"]
        assert row["verdict"] != "confirmed" or row["for"], row["id"]


def test_failures_add_up(document: dict[str, Any]) -> None:
    for row in document["signatures"]:
        assert row["failures_max"] is None or row["failures"] <= row["failures_max"], row["id"]
        assert row["inside_incidents"] <= row["failures"], row["id"]
        assert row["failures_max"] is not None or row["bound"] == "at_least", row["id"]
        days = [d for d in document["daily"] if (d["service"], d["signature"]) == (row["service"], row["id"])]
        assert sum(d["failures"] for d in days) == row["failures"], row["id"]
        assert sum(d["lines"] for d in days) == row["lines"], row["id"]


def test_probes_add_up(document: dict[str, Any]) -> None:
    for row in document["probes"]:
        seen = row["answered"] + len(row["late"]) + len(row["missed"]) + len(row["failed"])
        assert seen <= row["due"], row["series"]
        for late in row["late"]:
            assert all(rival["delay_s"] != late["delay_s"] for rival in late["rivals"])


def test_spans_begin_before_they_end(document: dict[str, Any]) -> None:
    spans = [row for key in ("incidents", "silences", "stalls", "blind_gaps") for row in document[key]]
    assert [
        row
        for row in spans
        if row["end"] is not None and claims.instant(row["start"]) > claims.instant(row["end"])
    ] == []  # type: ignore[operator]
    assert [row for row in document["incidents"] if (row["end"] is None) != row["ongoing"]] == []


def test_the_timeline_is_in_order(document: dict[str, Any]) -> None:
    instants = [claims.instant(row["at"]) for row in document["timeline"]]
    assert None not in instants
    assert instants == sorted(instants)  # type: ignore[type-var]


def test_a_clue_stays_among_the_clues(document: dict[str, Any]) -> None:
    assert [
        f for f in document["findings"] if f["grade"] == "clue" and f["section"] in ("summary", "mechanism")
    ] == []


def test_what_no_input_says_is_asked(document: dict[str, Any]) -> None:
    asked = " ".join(question["question"] for question in document["not_determined"])
    assert [
        row["title"]
        for row in document["hypotheses"]
        if row["verdict"] == "not_determined" and row["title"] not in asked
    ] == []
    assert all(
        need["input"] and need["command"] and need["expires"]
        for q in document["not_determined"]
        for need in q["needs"]
    )


def test_nothing_contradicts_itself(document: dict[str, Any]) -> None:
    assert document["contradictions"] == []


# --- any report: the page


def test_the_page_has_its_sixteen_sections_in_order(page: str) -> None:
    found = re.findall(r"(?m)^(#{1,2}) (.+)$", re.sub(r"(?ms)^(`{3,})[^`\n]*\n.*?^\1$", "", page))
    assert [marks for marks, _ in found] == ["#"] + ["##"] * 15
    assert [title for _, title in found[1:]] == HEADINGS


def test_no_section_is_empty(page: str) -> None:
    assert [title for title in HEADINGS if not section(page, title).strip()] == []


def test_the_page_fits_a_ticket(page: str) -> None:
    assert 0 < len(page) <= LONGEST


def test_the_summary_is_short(page: str) -> None:
    assert 0 < len(section(page, HEADINGS[0]).split()) <= SUMMARY_WORDS


def test_every_number_of_the_summary_stands_below(page: str) -> None:
    summary = re.sub(r"\(E\d[^)]*\)", "", section(page, HEADINGS[0]))
    below = page.split(f"\n## {HEADINGS[1]}\n", 1)[1]
    missing = [
        number
        for number in re.findall(r"(?<![\w.:-])\d+(?:\.\d+)?(?![\w:-]|\.\d)", summary)
        if not re.search(rf"(?<![\d.]){re.escape(number)}(?!\d)", below)
    ]
    assert missing == []


def test_the_timeline_is_short(page: str) -> None:
    rows = [line for line in section(page, "Timeline").split("\n") if re.match(r"\| ?\d{4}-", line)]
    assert len(rows) <= TIMELINE_ROWS


def test_nobody_is_blamed(page: str, document: dict[str, Any]) -> None:
    assert BLAME.findall(prose(page)) == []
    assert [action["text"] for action in document["actions"] if BLAME.search(action["text"])] == []


def test_equal_is_said_of_equal_numbers_only(page: str) -> None:
    assert re.findall(r"(?i).{0,40}\bexactly\b.{0,40}", prose(page)) == []


def test_the_page_names_only_evidence_that_there_is(page: str, document: dict[str, Any]) -> None:
    known = {entry["id"] for entry in document["evidence"]}
    assert set(re.findall(r"\bE\d+\b", prose(page))) - known == set()


def test_no_raw_markup_reaches_the_page(page: str) -> None:
    text = prose(page)
    assert re.findall(r"(?<!\\)<[A-Za-z/!][^>\n]*>", text) == []
    assert re.findall(r"(?m)^#{4,}|!\[|\[\^|^---$", text) == []
    assert re.findall("[\u0000-\u0008\u000b-\u001f\u007f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", page) == []


def test_no_address_reaches_the_page_or_the_document(page: str, document: dict[str, Any]) -> None:
    texts = page + json.dumps(
        [
            document[key]
            for key in (
                "findings",
                "evidence",
                "timeline",
                "probes",
                "background",
                "signatures",
                "hypotheses",
            )
        ]
    )
    found = set(re.findall(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])", texts))
    assert {address for address in found if not address.startswith(("127.", "0."))} == set()


# --- the fixtures


def test_the_fixtures_stay_small() -> None:
    folder = golden.INCIDENTS.parent
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < 12_000_000


def test_packed_inputs_carry_no_time(name: str) -> None:
    packed = [path for path in golden.inputs(name) if path.suffix == ".gz"]
    assert [path.name for path in packed if path.read_bytes()[4:8] != b"\0\0\0\0"] == []


def test_a_quiet_day_without_a_given_zone() -> None:
    """Nobody says the zone: the export takes it from its copy in UTC, the other local logs from that, and the report says so."""
    evidence = pipeline.survey([str(golden.INCIDENTS / "s10-quiet-day" / "inputs")], pipeline.Options())
    zones = {source.name.split(".")[0]: (source.zone.name, source.zone.rule) for source in evidence.sources}
    local = next(source for source in evidence.sources if source.name.startswith("api.short"))

    assert zones["api"] == zones["postgres"] == zones["redis"] == ("UTC+05:30", "inferred")
    assert local.copy_of is not None
    assert re.fullmatch(
        r"\d+ minutes of its lines stand in host\.export\S* with their offset from UTC", local.zone.why
    )
    report = pipeline.investigate([str(golden.INCIDENTS / "s10-quiet-day" / "inputs")], pipeline.Options())
    said = made.build(report, redact=True)
    assert local.zone.why in next(row for row in said["sources"] if row["name"] == local.name)["limits"]
