"""What the timeline draws."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
import reading
from founding_chart import at, document
from reading import SVG, lanes, marks, texts

from forensics.report import charts
from forensics.report.charts.timeline import EVENT_SHAPES
from forensics.report.charts.view import runs
from forensics.report.statements import catalogue

if TYPE_CHECKING:
    from xml.etree import ElementTree as ET


def svg_of(doc: dict[str, Any], theme: str = "light") -> str:
    """Draw the timeline of a document that has something to draw."""
    return reading.svg_of(doc, "timeline", theme)


def said_of(doc: dict[str, Any]) -> str:
    """Return the alternative text of a document that has something to draw."""
    return charts.alt(doc, "timeline") or ""


def drawn(doc: dict[str, Any], theme: str = "light") -> ET.Element:
    """Draw the timeline of a document and read the SVG back."""
    return reading.drawn(doc, "timeline", theme)


def test_order_of_the_document_does_not_matter() -> None:
    """Points are placed by their time, not by their place in a list."""
    shuffled = document()
    for key in shuffled["chart"]:
        shuffled["chart"][key].reverse()
    shuffled["timeline"].reverse()

    assert svg_of(shuffled) == svg_of(document())


def test_instants_in_another_offset_are_drawn_in_the_zone_of_the_case() -> None:
    """12:50:29 UTC is 09:50:29 at UTC−03:00."""  # noqa: RUF002 - a minus sign
    doc = document()
    doc["timeline"][1]["at"] = "2026-09-09T12:50:29+00:00"

    assert svg_of(doc) == svg_of(document())


def test_lanes_and_values_of_the_founding_case() -> None:
    """Every lane is there, in order, with as many items as the document has."""
    root = drawn(document())

    assert lanes(root) == [
        "incidents",
        "failures_0",
        "failures_1",
        "probes_0",
        "quiet",
        "samples_0",
        "blind",
        "events",
    ]
    assert len(marks(root, "failures_1_bars")) == 3
    assert len(marks(root, "probes_0_points")) == 3
    assert len(marks(root, "probes_0_trails")) == 1
    assert len(marks(root, "quiet_bars")) == 2
    assert len(marks(root, "events_points")) == 3
    assert {"answered 1", "late 1", "missed 1", "34", "46", "35", "100", "09:46"} <= set(texts(root))
    assert "Failures: crm-api pool exhaustion (66, per 20 s)" in texts(root)
    assert "Probes: GET /health (client-3), every 5 min" in texts(root)


def test_labels_of_neighbouring_stretches_keep_apart() -> None:
    """A stretch too short for its label has it beside it only where no other stretch or label stands."""
    edges = (("09:43:00", "09:43:10"), ("09:43:10", "09:45:00"), ("09:45:00", "09:45:20"), ("09:45:50", "09:46:00"), ("09:46:00", "09:48:00"))  # fmt: skip
    silences = [{"service": "crm-api", "start": at(start), "end": at(end)} for start, end in edges]
    root = drawn({**document(), "silences": silences, "stalls": []})
    spans = []
    for align, shift in (("center", -0.5), ("left", 0.0), ("right", -1.0)):
        for node in marks(root, f"quiet_labels_{align}"):
            text = "".join(node.itertext())
            found = re.search(r"translate\(([\d.]+)", node.get("transform") or "")
            assert found is not None
            wide = 6.0 * len(text)
            left = float(found[1]) + shift * wide
            spans.append((left, left + wide, text))
    spans.sort()

    assert {"1 min 50 s", "2 min"} <= {text for _, _, text in spans}
    assert [one for one, other in pairwise(spans) if one[1] > other[0]] == []


def test_states_of_probes_differ_in_shape() -> None:
    """A reader who sees no colour tells a missed probe from an answered one."""
    shapes = [item.get("d") for item in marks(drawn(document()), "probes_0_points")]

    assert len(set(shapes)) == len(shapes) == 3


@pytest.mark.parametrize(
    ("key", "lane"),
    [("failures", "failures_0"), ("probes", "probes_0"), ("samples", "samples_0")],
)
def test_lanes_without_chart_data_are_left_out(key: str, lane: str) -> None:
    """No data, no lane."""
    doc = document()
    doc["chart"][key] = []

    assert lane in lanes(drawn(document()))
    assert lane not in lanes(drawn(doc))


@pytest.mark.parametrize(
    ("keys", "lane"),
    [(("silences", "stalls"), "quiet"), (("blind_gaps",), "blind"), (("timeline",), "events")],
)
def test_lanes_without_findings_are_left_out(keys: tuple[str, ...], lane: str) -> None:
    """No data, no lane: the same for what the report lists."""
    assert lane not in lanes(drawn(document(**{key: [] for key in keys})))


def test_window_is_the_incident_and_its_surroundings() -> None:
    """What lies more than a quarter of the incident (at least three minutes) away is not drawn."""
    doc = document()
    doc["chart"]["failures"] += [
        {"at": at(clock), "service": "far", "family": "away", "count": 9}
        for clock in ("09:39:25", "09:54:29")
    ]

    assert svg_of(doc) == svg_of(document())


def test_primary_incident_is_the_one_marked() -> None:
    """The chart is about the primary incident, else about the first."""
    other = {
        **document()["incidents"][0],
        "id": "i0",
        "start": at("09:30:00"),
        "end": at("09:40:30"),
        "primary": False,
    }

    assert "09:42:26" in said_of(document(incidents=[other, *document()["incidents"]]))
    assert "09:30:00" in said_of(document(incidents=[other]))


def test_ongoing_incident_is_marked() -> None:
    """It is shaded up to the end of the input and ends in an arrow."""
    doc = document()
    doc["incidents"][0] |= {"ongoing": True, "end": None}
    doc["case"]["window"][1] = at("09:55:00")
    root = drawn(doc)

    assert "ongoing" in texts(root)
    assert len(marks(root, "incidents_ongoing")) == 1
    assert len(marks(drawn(document()), "incidents_ongoing")) == 0


def test_bound_of_the_start_is_said() -> None:
    """A start that is "no later than" is dashed and says so."""
    doc = document()
    doc["incidents"][0]["start_bound"] = "exact"

    assert "or earlier" in said_of(document())
    assert "or earlier" not in said_of(doc)
    assert marks(drawn(document()), "probes_0_edges_no_later")
    assert not marks(drawn(doc), "probes_0_edges_no_later")


def test_quiet_timeline_needs_something_to_show() -> None:
    """Without an incident: the window of the case where there is data for it, else nothing."""
    bare: dict[str, Any] = {"failures": [], "probes": [], "samples": []}
    nothing = document(incidents=[], silences=[], stalls=[], chart=bare)

    assert svg_of(document(incidents=[])).startswith("<svg")
    assert said_of(document(incidents=[])).startswith("No incident, 2026-09-09 00:00:00 to 12:00:00.")
    assert charts.svg(nothing, "timeline") is None
    assert charts.png(nothing, "timeline") is None
    assert charts.alt(nothing, "timeline") is None
    nothing["case"]["window"] = None
    assert charts.svg(nothing, "timeline") is None


def test_document_without_chart_data_still_draws_its_incident() -> None:
    """The key `chart` is an addition; a report without it is no error."""
    doc = document()
    del doc["chart"]

    assert lanes(drawn(doc)) == ["incidents", "quiet", "blind", "events"]


def test_log_text_is_hostile() -> None:
    """Markup is escaped; control, bidi and unpaired characters do not arrive; the drawing stays within its width."""
    evil = '<script>alert(1)</script>&"\x00\x1b[31m\u202e\ud800 ]]> ' + "日本" * 200
    doc = document()
    doc["case"]["timezone"] = evil
    doc["incidents"][0]["services"] = [evil]
    for key, name in (
        ("stalls", "service"),
        ("silences", "service"),
        ("blind_gaps", "monitor"),
        ("timeline", "text"),
    ):
        doc[key][0][name] = evil
    doc["timeline"][1]["text"] = evil
    doc["chart"]["failures"][0]["service"] = evil
    doc["chart"]["samples"][0]["series"] = evil
    doc["chart"]["probes"][0]["series"] = evil
    svg = svg_of(doc)

    assert drawn(doc).get("width") == "800"
    assert "<script" not in svg
    assert "&lt;script&gt;alert(1)&lt;/script&gt;&amp;" in svg
    assert not set("\x00\x1b\u202e\ud800") & set(svg)


def test_alternative_text_says_what_one_sees() -> None:
    """`<title>` and `<desc>` are the first children, and the description carries the figures."""
    root = drawn(document())
    said = said_of(document())

    assert [child.tag for child in root][:2] == [f"{SVG}title", f"{SVG}desc"]
    assert root[1].text == said
    assert root.get("aria-describedby") == root[1].get("id")
    for part in (
        "Incident 2026-09-09 09:42:26 or earlier to 09:51:28 (9 min 2 s): crm-api",
        "Failures: 75 (crm-api pool exhaustion 66, crm-api redis timeout 9)",
        "Probes: answered 1, late 1, missed 1",
        "pg connections: 34 to 35, peak 46, limit 100",
        "09:50:29 alert: 2 consecutive failures of GET /health",
        "America/Sao_Paulo (UTC−03:00)",  # noqa: RUF001 - a minus sign
    ):
        assert part in said


def test_the_samples_that_are_named_are_those_around_the_incident() -> None:
    """The report tells the sample before an incident and the one after it: the drawing must not name others."""
    doc = document()
    samples = doc["chart"]["samples"]
    series, limit = samples[0]["series"], samples[0]["limit"]
    shown = [(39, 45, 31), (41, 40, 34), (44, 0, 46), (51, 40, 35), (54, 0, 30)]
    doc["chart"]["samples"] = [
        {"at": at(f"09:{minute}:{second:02d}"), "series": series, "value": value, "limit": limit}
        for minute, second, value in shown
    ]

    texts = [element.text for element in drawn(doc).iter(f"{SVG}text")]

    assert f"{series}: 34 to 35, peak 46" in said_of(doc)
    assert {"34", "46", "35"} <= set(texts)
    assert not {"31", "30"} & set(texts)


def test_both_languages_say_the_same_numbers() -> None:
    """Words change with the language; figures, order and instants do not."""
    doc = document()
    doc["case"]["language"] = "pt-BR"
    numbers = [re.findall(r"\d+", said_of(d)) for d in (document(), doc)]

    assert "Incidente" in said_of(doc)
    assert numbers[0] == numbers[1]
    assert set(EVENT_SHAPES) <= set(catalogue("en")["chart"])


def test_far_limit_is_named_and_does_not_flatten_the_line() -> None:
    """A limit of 5000 above a peak of 46 is said, not drawn."""
    doc = document()
    for one in doc["chart"]["samples"]:
        one["limit"] = 5000
    root = drawn(doc)

    assert "pg connections, peak 46, limit 5000 (off the scale)" in texts(root)
    assert not marks(root, "samples_0_limit")
    assert len(marks(drawn(document()), "samples_0_limit")) == 1


def test_long_windows_stay_small() -> None:
    """Five days of probes, samples and failures give a bounded drawing whose figures are complete."""
    start = datetime.fromisoformat(at("00:00:00"))
    steps = [(start + timedelta(minutes=2 * n)).isoformat() for n in range(3600)]
    doc = document(incidents=[])
    doc["case"]["window"] = [steps[0], steps[-1]]
    doc["chart"] = {
        "failures": [
            {"at": s, "service": f"svc{n % 6}", "family": "f", "count": 1} for n, s in enumerate(steps)
        ],
        "probes": [{"due": s, "answered": s, "state": "answered"} for s in steps],
        "samples": [{"at": s, "value": n % 7, "limit": None, "series": "x"} for n, s in enumerate(steps)],
    }
    root = drawn(doc)

    assert len(svg_of(doc)) < 150_000
    assert "answered 3600" in texts(root)
    assert "Failures: other kinds (3) (1800, per 2 h)" in texts(root)
    assert len(marks(root, "failures_3_bars")) == 60


def test_many_events_keep_the_alert() -> None:
    """Where labels find no room, an alert outweighs notes, and what has no label is counted."""
    notes = [
        {
            "at": at(f"09:4{n % 10}:{n:02}"),
            "kind": "note",
            "service": "x",
            "text": f"a rather long note, number {n}",
        }
        for n in range(50)
    ]
    root = drawn(document(timeline=[*notes, document()["timeline"][1]]))

    assert "09:50:29 alert: 2 consecutive failures of GET /health" in texts(root)
    assert any(re.fullmatch(r"Events \(\+\d+ more without a label\)", text) for text in texts(root))


def test_what_is_cut_is_counted() -> None:
    """More series or rows than there is room for are not left out in silence."""
    doc = document()
    doc["chart"]["samples"] = [one | {"series": f"s{n}"} for one in doc["chart"]["samples"] for n in range(5)]
    doc["silences"] = [doc["silences"][0] | {"service": f"svc{n}"} for n in range(9)]
    root = drawn(doc)

    assert "s2, peak 46, limit 100 (+2 more not drawn)" in texts(root)
    assert "Silence and stalls (+2 more not drawn)" in texts(root)
    assert "s4: 34 to 35" in said_of(doc)


def test_what_a_server_logs_too_is_no_further_failure() -> None:
    """A lane of a client says how many of its failures stand in the server's log as well, and the sum counts each once."""
    doc = document()
    doc["chart"]["failures"] = [
        {"at": at("09:44:10"), "service": "postgres", "family": "server_limit", "count": 9, "most": 9},
        {"at": at("09:44:10"), "service": "api", "family": "server_limit", "count": 4, "most": 5, "once": 1, "once_most": 2},
    ]  # fmt: skip
    said = texts(drawn(doc))

    assert (
        "Failures: 10 to 11 (postgres server limit 9; api server limit 4 to 5, 3 in the server's log too)"
        in said_of(doc)
    )
    assert "Failures: api server limit (4 to 5, per 20 s; 3 in the server's log too)" in said
    assert "Failures: postgres server limit (9, per 20 s)" in said


def test_a_title_names_services_whole() -> None:
    """What does not fit is counted; a name is cut only where it is the first and too long by itself."""
    doc = document()
    doc["incidents"][0]["services"] = ["api-1", "api-2", "billing-1", "postgres", "psql-check", "worker-1"]
    head = "Incident 2026-09-09 09:42:26 or earlier to 09:51:28 (9 min 2 s): "

    assert f"{head}api-1, api-2, billing-1 (+3)" in texts(drawn(doc))
    doc["incidents"][0]["services"] = ["x" * 90, "api"]
    (title,) = [text for text in texts(drawn(doc)) if text.startswith(head)]
    assert title.endswith("x… (+1)")
    assert len(title) <= 94


def test_what_the_case_file_states_names_its_kind_once() -> None:
    """Its text ends in the kind, so that the label has room for the text."""
    doc = document()
    said = "workers scaled from 6 to 8 (deploy, from the case file)"
    doc["timeline"] = [
        {"at": at("09:44:00"), "kind": "deploy", "service": None, "text": said, "grade": "clue", "evidence": []},
        {"at": at("09:50:29"), "kind": "alert", "service": None, "text": "down", "grade": "verified", "evidence": []},
    ]  # fmt: skip
    shown = texts(drawn(doc))

    assert f"09:44:00 {said}" in shown
    assert "09:50:29 alert: down" in shown


def test_a_line_ends_where_samples_are_missing() -> None:
    """Nobody knows a level at which nobody looked: over more than two and a half usual pauses, or between two samples alone, none is drawn."""
    every = [0, 10, 20, 30, 60, 70]

    assert runs(every) == [(0, 30), (60, 70)]
    assert runs([0, 10, 20, 30, 55]) == [(0, 55)]
    assert runs([0, 300]) == [(0, 0), (300, 300)]
    assert runs([]) == []
    doc = document()
    one = doc["chart"]["samples"][0] | {"value": 30}
    doc["chart"]["samples"] = [
        one | {"at": at(f"09:{42 + second // 60:02}:{second % 60:02}")} for second in every
    ]

    assert len(marks(drawn(doc), "samples_0_line")) == 2
