"""Planted secrets and personal items leave no trace in any output."""

from __future__ import annotations

import dataclasses
import html
import json
import re
from typing import TYPE_CHECKING, Any

import planted
import pytest

from forensics import pipeline
from forensics.cli import main
from forensics.cli.report import annex
from forensics.report import document as telling
from forensics.report.dialects import told
from forensics.report.masking import PSEUDONYM, TITLES, Masker
from forensics.report.webpage import html as webpage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from forensics.model.case import Case

pytestmark = pytest.mark.xdist_group("planted")
"""All in one process: the incidents take seconds to read."""
ITEMS = planted.items()
CARRIED = [carried for item in ITEMS for carried in planted.places(item)]
BATCHES = 5
"""Incidents over which the items are spread, so that many of them are quoted."""


ENDS = 12
"""Characters of the beginning and of the end of a long secret that must not be told either."""


def needles(trace: str) -> set[str]:
    """Return what of a secret must not be told: all of it, and its beginning and end where it is long."""
    return {trace, trace[:ENDS], trace[-ENDS:]} if len(trace) >= 2 * ENDS - 4 else {trace}


def plain(text: str) -> str:
    """Take the escapes of Markdown, HTML and JSON off an output, and what was put in to break a mention."""
    return html.unescape(re.sub(r"[\\\u200b\u2060]", "", text))


def sought(carried: Iterable[planted.Carried]) -> dict[str, tuple[str, str]]:
    """Return what must not be told, with what it is and where it was planted."""
    return {
        needle: (one.item.kind, one.place)
        for one in carried
        for trace in one.traces
        for needle in needles(plain(trace))
    }


def found(text: str, wanted: dict[str, tuple[str, str]]) -> list[tuple[str, str, str]]:
    """Return what of the planted items stands in an output."""
    bare = plain(text)
    return sorted((*wanted[needle], needle) for needle in wanted if needle in bare)


def test_there_are_enough_items() -> None:
    """300 items of 25 classes and more, in nine places."""
    assert len(ITEMS) >= 300
    assert len({item.kind for item in ITEMS}) >= 25
    assert len({one.place for one in CARRIED}) == 9
    assert len({secret for item in ITEMS for secret in item.secrets[:1]}) > 0.98 * len(ITEMS)


@pytest.mark.parametrize("place", sorted({one.place for one in CARRIED}))
def test_no_place_shows_an_item(place: str) -> None:
    """Every item is masked in every place, whatever stands around it."""
    masker = Masker(names=planted.PEOPLE)
    left = [
        (one.item.kind, needle, shown)
        for one in CARRIED
        if one.place == place
        for shown in [masker.text(one.text)]
        for trace in one.traces
        for needle in needles(trace)
        if needle in shown
    ]

    assert left == []


@dataclasses.dataclass(frozen=True)
class Batch:
    """One incident with planted items."""

    folder: Path
    carried: list[planted.Carried]
    wanted: dict[str, tuple[str, str]]
    case: Case


@pytest.fixture(scope="module")
def batches(tmp_path_factory: pytest.TempPathFactory) -> list[Batch]:
    """Return the incidents, read once."""
    return [batch(tmp_path_factory.mktemp(f"batch{n}"), ITEMS[n::BATCHES], n) for n in range(BATCHES)]


def batch(folder: Path, held: list[planted.Item], turn: int) -> Batch:
    """Write and read one incident."""
    carried = planted.write(folder / "in", held, turn)
    (folder / "case.toml").write_text(planted.CASE, encoding="utf-8")
    case = pipeline.investigate(
        [str(folder / "in")], pipeline.Options(case=folder / "case.toml", context=telling.FETCHED)
    )
    return Batch(folder, carried, sought(carried), case)


def outputs(case: Case, *, redact: bool = True) -> Iterator[tuple[str, str]]:
    """Yield everything that is written of a case, by name."""
    for language in ("en", "pt-BR"):
        masks = telling.masker(case) if redact else None
        document = telling.build(dataclasses.replace(case, language=language), redact=redact, masks=masks)
        around = telling.context(case, document, masks)
        yield f"{language} json", json.dumps(document, ensure_ascii=False)
        yield f"{language} html", webpage(document)
        yield f"{language} annex", annex(document, around, as_lines=False)
        yield f"{language} annex.jsonl", annex(document, around, as_lines=True)
        for dialect in ("commonmark", "github", "gitlab", "jira", "slack"):
            yield f"{language} {dialect}", told(document, dialect, None)


def test_no_output_shows_an_item(batches: list[Batch]) -> None:
    """Report, data, page, annex, chart, in every dialect and language."""
    left = [
        (name, *one)
        for held in batches
        for name, text in outputs(held.case)
        for one in found(text, held.wanted)
    ]

    assert left == []


def test_without_masks_most_items_show(batches: list[Batch]) -> None:
    """The test before proves something: the lines that are quoted carry most items, of every class and in every place."""
    shown = {
        one.item.secrets[0]: one
        for held in batches
        for text in [plain(json.dumps(telling.build(held.case, redact=False), ensure_ascii=False))]
        for one in held.carried
        if any(plain(trace) in text for trace in one.traces)
    }

    assert len(shown) > len(ITEMS) / 3
    assert len({one.item.kind for one in shown.values()}) >= 15
    assert len({one.place for one in shown.values()}) >= 3


def test_a_pseudonym_is_the_same_everywhere(batches: list[Batch]) -> None:
    """What one run calls by a name is called so in every output; the counts are those of the table."""
    for held in batches:
        masks = telling.masker(held.case)
        document = telling.build(held.case, masks=masks)
        table = json.loads(masks.table())["pseudonyms"]

        assert document == telling.build(held.case)
        assert sum(document["masked"].values()) == len(table)
        assert set(document["masked"]) <= set(TITLES)


def test_places_of_evidence_stay_valid(batches: list[Batch]) -> None:
    """Masks change no place: the line that is named holds what is left of the quotation."""
    for held in batches:
        masked, bare = telling.build(held.case), telling.build(held.case, redact=False)
        place = ("id", "source", "line", "cursor", "at")
        assert [[row[key] for key in place] for row in masked["evidence"]] == [
            [row[key] for key in place] for row in bare["evidence"]
        ]
        names = {source["id"]: source["name"] for source in masked["sources"]}
        for row in masked["evidence"]:
            if names[row["source"]].endswith((".log", ".ndjson")):
                line = (held.folder / "in" / names[row["source"]]).read_text().splitlines()[row["line"] - 1]
                left = PSEUDONYM.sub(" ", row["text"].splitlines()[0])
                words = re.findall(r"[A-Za-z]{5,}", left)[:3]
                assert all(word in line for word in words), (row, line)


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Return a function that runs a command and returns all that it printed."""

    def call(*args: object, codes: tuple[int, ...] = (0,)) -> str:
        capfd.readouterr()
        with pytest.raises(SystemExit) as stop:
            main([str(arg) for arg in args])
        out, err = capfd.readouterr()
        assert stop.value.code in codes, err
        return out + err

    return call


def test_no_command_prints_an_item(batches: list[Batch], run: Callable[..., str], tmp_path: Path) -> None:
    """Everything that a terminal or a file gets to see, of every command that reads logs."""
    held = batches[0]
    inputs, case = held.folder / "in", ("--case", held.folder / "case.toml")
    out = tmp_path / "out"
    files = (
        "-o",
        out / "r.md",
        "--json",
        out / "r.json",
        "--html",
        out / "r.html",
        "--evidence",
        out / "e.md",
        "--charts",
        out / "charts",
    )
    said = {
        "report": run("report", inputs, *case, *files),
        "stdout": run("report", inputs, *case, "--lang", "pt-BR", "--evidence", out / "e.jsonl"),
    }
    said |= {
        path.name: path.read_bytes().decode("utf-8", "replace") for path in out.rglob("*") if path.is_file()
    }
    for form in ("md", "csv", "json"):
        said[f"daily {form}"] = run("daily", inputs, *case, "--format", form)
    said["sources"] = run("sources", inputs, *case, "-v")
    said["sources json"] = run("sources", inputs, *case, "--format", "json")
    said["check"] = run("check", out / "r.json", inputs, *case)
    document: dict[str, Any] = json.loads((out / "r.json").read_text("utf-8"))
    for row in document["findings"][::4]:
        said[f"explain {row['id']}"] = run("explain", out / "r.json", row["id"], inputs, *case)
    for path in sorted(inputs.iterdir()):
        said[f"formats {path.name}"] = run("formats", "test", path, *case, codes=(0, 3))
        said[f"signatures {path.name}"] = run("signatures", "test", path, *case, codes=(0, 3))
    env = tmp_path / "billing.env"
    urls = [one.item.written for one in held.carried if one.item.kind == "password in postgresql URL"]
    env.write_text(f"DATABASE_URL={urls[0]}\nDB_POOL_SIZE=5\nSERVICE_NAME={planted.PEOPLE[0]}\n")
    said["budget"] = run("budget", env, "--max-connections", 100, *case, codes=(0, 1))

    assert len(said) > 30
    assert {name: left for name, text in said.items() if (left := found(text, held.wanted))} == {}
