"""What holds of every chart: the same bytes everywhere, both themes, words for those who do not see it, no word of a log as markup."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from hashlib import sha256
from typing import Any

import founding_chart
import pytest
from reading import SVG, chunks, drawn, founding, svg_of, texts, words_of

from forensics.model.texts import languages
from forensics.report import charts
from forensics.report.charts import theme as looks
from forensics.report.prose import instant
from forensics.report.statements import catalogue

NAMES = tuple(charts.charts())
RENDER = """
import json, sys
from forensics.report import charts
document = json.load(sys.stdin)
json.dump({name: charts.svg(document, name) for name in charts.charts()}, sys.stdout)
"""
EVIL = '<script>alert(1)</script>&"\x00\x1b[31m\u202e\ud800 ]]> ' + "日本" * 200


def elsewhere(doc: dict[str, Any], **env: str) -> dict[str, str]:
    """Draw all charts in a fresh process under another environment."""
    done = subprocess.run(
        [sys.executable, "-c", RENDER],
        input=json.dumps(doc).encode(),
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | env,
        capture_output=True,
        check=True,
    )
    made: dict[str, str] = json.loads(done.stdout)
    return made


def poisoned(value: Any, key: str = "") -> Any:
    """Put hostile text before every name and text of a document."""
    if isinstance(value, dict):
        return {name: poisoned(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [poisoned(item, key) for item in value]
    named = key in {"service", "services", "signature", "monitor", "text", "series", "timezone", "family"}
    return f"{EVIL}{value}" if named and isinstance(value, str) else value


def light(colour: str) -> float:
    """Return the relative luminance of a colour (WCAG 2.2)."""
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours."""
    dark, bright = sorted((light(one), light(other)))
    return (bright + 0.05) / (dark + 0.05)


def test_charts_are_found_in_the_order_of_the_report() -> None:
    """A chart is a module of the package; the timeline comes first."""
    assert NAMES == ("timeline", "rates", "coverage", "daily")


@pytest.mark.parametrize(
    ("file", "section"),
    [
        ("charts/report-daily.svg", "recurrence"),
        ("coverage.svg", "alert"),
        ("my-daily-timeline.svg", "timeline"),
        ("report-rates.svg", "timeline"),
        ("anything.svg", "timeline"),
    ],
)
def test_a_file_belongs_to_the_section_of_its_chart(file: str, section: str) -> None:
    """The end of its name says which; a name of another kind goes to the timeline."""
    assert charts.of_section(file) == section


@pytest.mark.parametrize("language", languages())
def test_every_chart_has_a_title(language: str) -> None:
    """A chart's name is a word of every catalogue."""
    assert set(NAMES) <= set(catalogue(language)["chart"])


def test_machine_and_order_do_not_matter() -> None:
    """Zone, locale and hash order of a machine, and what was drawn before in the process, change no byte."""
    here = {name: charts.svg(founding(), name) for name in NAMES}
    again = {name: charts.svg(founding(), name) for name in reversed(NAMES)}

    assert all(here.values())
    assert again == here
    assert elsewhere(founding(), TZ="Asia/Kolkata", LC_ALL="pt_BR.UTF-8", PYTHONHASHSEED="1") == here


@pytest.mark.parametrize("theme", looks.THEMES)
@pytest.mark.parametrize("name", NAMES)
def test_drawing_is_800_wide_and_self_contained(name: str, theme: str) -> None:
    """One font that vl-convert bundles, unique ids that all resolve, nothing fetched, no colour of the other theme."""
    svg = svg_of(founding(), name, theme)
    ids = re.findall(r'\bid="([^"]+)"', svg)
    other = looks.THEMES["dark" if theme == "light" else "light"]

    assert drawn(founding(), name, theme).get("width") == "800"
    assert all(f.startswith("Liberation Sans") for f in re.findall(r'font-family="([^"]+)"', svg))
    assert len(set(ids)) == len(ids)
    assert set(re.findall(r"url\(#([^)]+)\)", svg)) <= set(ids)
    assert "href=" not in svg
    assert not {f'"{other[key]}"' for key in ("paper", "ink", "muted", "grid")} & set(
        re.findall(r'"#\w+"', svg)
    )


@pytest.mark.parametrize("theme", looks.THEMES.values(), ids=looks.THEMES)
def test_colours_stand_out(theme: dict[str, str]) -> None:
    """Text has the contrast of WCAG 2.2's level AA, and shapes have what it asks of graphics or are outlined in ink."""
    assert min(contrast(theme[key], theme["paper"]) for key in ("ink", "muted")) >= 4.5
    assert contrast(theme["answered"], theme["paper"]) >= 3
    assert contrast(looks.VERMILION, theme["paper"]) >= 3
    assert (
        min(contrast(looks.ON_BAR, colour) for colour in (looks.ORANGE, looks.SKY, looks.PURPLE, looks.GREY))
        >= 4.5
    )


@pytest.mark.parametrize("name", NAMES)
def test_words_are_part_of_the_drawing(name: str) -> None:
    """`<title>` and `<desc>` are the first children; the description is the alternative text."""
    root = drawn(founding(), name)

    assert [child.tag for child in root][:2] == [f"{SVG}title", f"{SVG}desc"]
    assert root[0].text == catalogue("en")["chart"][name]
    assert root[1].text == charts.alt(founding(), name)
    assert (root.get("aria-labelledby"), root.get("aria-describedby")) == (
        root[0].get("id"),
        root[1].get("id"),
    )
    assert root.get("role") == "img"


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("name", NAMES)
def test_languages_say_the_same_numbers(name: str, language: str) -> None:
    """The alternative text has the same figures in every language, and no word that is missing."""
    document = founding()
    document["case"]["language"] = language
    said = charts.alt(document, name) or ""

    assert sorted(re.findall(r"\d+", said)) == sorted(re.findall(r"\d+", charts.alt(founding(), name) or ""))
    assert said.endswith(".")


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_question_has_no_chart(name: str) -> None:
    """A report of nothing has no picture; neither has one that lacks the keys of pictures."""
    empty = {"case": {"timezone": "UTC", "language": "en", "window": None, "title": ""}}

    assert charts.svg(empty, name) is None
    assert charts.png(empty, name) is None
    assert charts.alt(empty, name) is None
    assert name == "timeline" or charts.svg(founding_chart.document(), name) is None


@pytest.mark.parametrize("name", NAMES)
def test_log_text_is_hostile(name: str) -> None:
    """Markup is escaped; control, bidi and unpaired characters do not arrive; the drawing stays within its width."""
    svg = svg_of(poisoned(founding()), name)
    root = drawn(poisoned(founding()), name)

    assert root.get("width") == "800"
    assert "<script" not in svg
    assert not set("\x00\x1b\u202e\ud800") & set(svg)
    assert len(texts(root)) <= len(texts(drawn(founding(), name)))


def test_png_carries_its_words_and_its_source() -> None:
    """The raster copy is twice as wide, says what one sees, and which drawing it shows; its pixels are well-formed."""
    svg = svg_of(founding(), "coverage")
    image = charts.png(founding(), "coverage") or b""

    assert image.startswith(b"\x89PNG")
    assert int.from_bytes(dict(chunks(image))["IHDR"][:4]) == 1600
    assert words_of(image) == {
        "Title": catalogue("en")["chart"]["coverage"],
        "Description": charts.alt(founding(), "coverage"),
        "Source": f"svg sha256:{sha256(svg.encode()).hexdigest()}",
    }
    assert charts.raster(founding(), "coverage", svg) == image


def test_dark_rules_cover_the_theme() -> None:
    """The rules that turn a light drawing dark know every colour that differs, as fill and as stroke."""
    rules = looks.dark_rules(".here")
    light_, dark = looks.THEMES["light"], looks.THEMES["dark"]

    assert all(
        f'.here [{paint}="{light_[key]}"]{{{paint}:{dark[key]}}}' in rules
        for key in light_
        for paint in ("fill", "stroke")
    )
    assert len(set(light_.values())) == len(light_)


def test_import_costs_no_drawing_library() -> None:
    """Commands that draw nothing do not pay for altair."""
    code = "import sys; from forensics.report import charts; charts.charts(); sys.exit(bool({'altair', 'vl_convert'} & set(sys.modules)))"
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}

    assert subprocess.run([sys.executable, "-c", code], env=env, check=False).returncode == 0


def test_instants_are_those_of_the_page() -> None:
    """An instant is rounded to the second as the text beside the chart rounds it: half a second up."""
    doc = founding()
    shown = {instant(one[edge], fraction=False)[:19] for one in doc["incidents"] for edge in ("start", "end")}
    told = charts.alt(doc, "rates") or ""

    assert "2026-09-08 11:53:11" in shown  # .506
    assert {text for text in shown if text not in told and text[11:] not in told} == set()
