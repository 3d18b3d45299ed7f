"""What every language promises: all texts are there, they take the same values, and no sentence stands outside."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jinja2 import Environment, meta, nodes
from jinja2.ext import extract_from_ast

import forensics
from forensics.model import signature, texts
from forensics.report import charts
from forensics.report.charts.timeline import EVENT_SHAPES
from forensics.report.language import NOTE, read, speak
from forensics.report.statements import Statements, catalogue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from babel.messages.catalog import Message

CODE = Path(forensics.__file__).parent
INPUT = re.compile(r'^input = "(.+)"$|(?:Need|Wanted)\(\s*"([^"]+)"', re.MULTILINE)
"""Inputs that a need names, in the code and in its table of hypotheses."""
TEMPLATES = sorted(Path(str(texts.root())).glob("*/*.j2"))
OTHERS = texts.languages()[1:]
ENGINE = Environment(trim_blocks=True, lstrip_blocks=True)  # noqa: S701 - parsed only, never rendered
PLACE = re.compile(r"\{(\w+)\}")
PIECE = re.compile(r"\{\w+\}|[,;:()]|\b(?:and|for|because)\b")
"""Where code may put the pieces of a note together."""
LEAST_PIECE = 12
WORD = re.compile(r"[A-Za-z]{2,}")
JINJA = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
TAG = re.compile(r"<[^>]*>")
READ = re.compile(r'(?:aria-label|title|alt|placeholder)="([^"]*)"')
"""Attributes that are read to people."""
KEY = re.compile(r"\bEnter\b|\bdata-\w+(?:=\"[^\"]*\")?")
"""What stands on a key, and attributes that a macro adds to a tag."""
SAID = ("scope", "method", "alternatives")
"""Arguments of a Finding that are texts."""
BARE = re.compile(r"\b(?:title|why_bound)\b(?!\s*\|\s*tr\b)")
"""A text of the catalogue that a statement prints in English."""


def flat(language: str) -> dict[str, str]:
    """Return every text of a language's statements by its whole key."""
    return {
        f"{table}.{key}": text for table, rows in catalogue(language).items() for key, text in rows.items()
    }


def of_templates() -> Iterator[tuple[str | None, tuple[str, ...]]]:
    """Yield context and forms of every message of the templates."""
    for path in TEMPLATES:
        for _, function, found in extract_from_ast(ENGINE.parse(path.read_text(encoding="utf-8"))):
            parts = (found,) if isinstance(found, str) else tuple(part for part in found if part)
            yield (parts[0], parts[1:]) if function == "pgettext" else (None, parts)


def of_data() -> set[str]:
    """Return the texts of hypotheses and signatures."""
    found = set()
    tables = tomllib.loads((CODE / "findings/hypotheses.toml").read_text(encoding="utf-8"))
    found |= {need["input"] for block in tables["question"] for need in block["needs"]}
    found |= {block["name"] for block in tables["quantity"]}
    for block in tables["hypothesis"]:
        found |= {
            block["title"],
            block["scope"],
            *(need["input"] for need in block["needs"]),
        }
    for path in (CODE / "signatures").glob("*.toml"):
        found |= {
            one["title"] for one in tomllib.loads(path.read_text(encoding="utf-8")).get("signature", [])
        }
    return found


def of_masks() -> set[str]:
    """Return the titles of what is masked."""
    from forensics.report.masking import TITLES

    return set(TITLES.values())


def strings(node: ast.AST) -> Iterator[str]:
    """Yield the texts that stand in an expression."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and WORD.search(part.value):
            yield part.value


def of_findings() -> set[str]:
    """Return what findings say beside their statement, and why counts are lower bounds."""
    found = set(signature.LIMITS.values())
    for path in (CODE / "findings").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg in SAID:
                found |= set(strings(node.value))
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                found |= set(strings(node.value)) if node.targets[0].id in ("SILENT", *SAID) else set()
    for node in ast.walk(ast.parse((CODE / "analyses/failures.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            named = node.targets[0].id in ("SUPPRESSED", "CAPPED", "HOLED", "SILENT")
            found |= set(strings(node.value)) if named else set()
    return found


def messages(language: str) -> list[Message]:
    """Return the messages of a catalogue, its head left out."""
    return [message for message in read(language) if message.id]


def forms(text: Any) -> tuple[str, ...]:
    """Return one text or its plural forms."""
    return (text,) if isinstance(text, str) else tuple(text)


def test_there_are_two_languages() -> None:
    """The two files of a language make it one; English is first."""
    assert texts.languages() == ("en", "pt-BR")


@pytest.mark.parametrize("language", OTHERS)
def test_statements_have_the_same_keys(language: str) -> None:
    """No statement is missing, none is left over."""
    assert flat(language).keys() == flat("en").keys()


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("key", sorted(flat("en")))
def test_statements_take_the_same_values(language: str, key: str) -> None:
    """A translation names every value that the English statement names, and no other."""
    used = [meta.find_undeclared_variables(ENGINE_OF[tag].parse(flat(tag)[key])) for tag in ("en", language)]

    assert used[0] == used[1]


ENGINE_OF = {tag: Statements(tag, "UTC").environment for tag in texts.languages()}


@pytest.mark.parametrize("language", OTHERS)
def test_titles_are_translated_where_they_are_printed(language: str) -> None:
    """A title or a reason that a statement prints goes through the catalogue."""
    printed = {
        key: BARE.findall(" ".join(re.findall(r"\{\{(.*?)\}\}", text)))
        for key, text in flat(language).items()
    }

    assert {key: found for key, found in printed.items() if found} == {}


@pytest.mark.parametrize("language", OTHERS)
def test_every_message_is_translated(language: str) -> None:
    """Templates, hypotheses, signatures and findings say nothing that a language lacks."""
    there = {
        (message.context, forms(message.id)) for message in messages(language) if all(forms(message.string))
    }
    wanted = set(of_templates()) | {(None, (text,)) for text in of_data() | of_findings() | of_masks()}

    assert sorted(map(str, wanted - there)) == []


@pytest.mark.parametrize("language", OTHERS)
def test_titles_begin_with_a_capital_or_a_name(language: str) -> None:
    """A title begins a sentence: in lower case it begins only with the name that begins it in English too."""
    titles = {
        one["title"]
        for path in (CODE / "signatures").glob("*.toml")
        for one in tomllib.loads(path.read_text(encoding="utf-8")).get("signature", [])
    }
    told = {title: speak(language).text(title) for title in titles}

    assert [
        (title, said)
        for title, said in sorted(told.items())
        if said[:1].islower() and said.split()[0].strip(":,") != title.split()[0].strip(":,")
    ] == []


@pytest.mark.parametrize("language", OTHERS)
def test_placeholders_agree(language: str) -> None:
    """A translation holds the values of its message, in every plural form."""
    count = read(language).num_plurals
    for message in messages(language):
        wanted = set(PLACE.findall(forms(message.id)[-1]))
        assert len(forms(message.string)) == (count if message.pluralizable else 1), message.id
        assert [set(PLACE.findall(form)) for form in forms(message.string)] == [wanted] * len(
            forms(message.string)
        ), message.id


@pytest.mark.parametrize("language", OTHERS)
def test_no_message_is_left_over(language: str) -> None:
    """A message that nothing says any more leaves the catalogue; of a note, every part stands in the code."""
    code = [path.read_text(encoding="utf-8") for path in CODE.rglob("*.py")]
    whole = "\n".join(code)
    said = {forms_ for _, forms_ in of_templates()} | {
        (text,) for text in of_data() | of_findings() | of_masks()
    }
    unused = [
        message.id
        for message in messages(language)
        if forms(message.id) not in said
        and message.context not in (NOTE, "family", "chart")
        and str(message.id) not in whole
    ]
    lost = [
        (message.id, part)
        for message in messages(language)
        if message.context == NOTE
        for part in PIECE.split(str(message.id))
        if len(part) >= LEAST_PIECE and part.strip(" .") not in whole
    ]

    assert unused == []
    assert lost == []


def test_families_are_those_of_the_signatures() -> None:
    """The chart names every kind of failure."""
    families = {
        one["family"].replace("_", " ")
        for path in (CODE / "signatures").glob("*.toml")
        for one in tomllib.loads(path.read_text(encoding="utf-8")).get("signature", [])
    }
    for language in OTHERS:
        assert {m.id for m in messages(language) if m.context == "family"} == families


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_no_sentence_stands_outside_the_messages(path: Path) -> None:
    """What a template prints by itself is punctuation; words are messages."""
    text = path.read_text(encoding="utf-8")
    if path.parent.name == "web" or path.stem == "html":
        text = TAG.sub(lambda tag: " ".join(READ.findall(tag[0])), JINJA.sub("", text))
        assert WORD.findall(KEY.sub("", text)) == []
        return
    bare = [data.data for data in ENGINE.parse(text).find_all(nodes.TemplateData) if WORD.search(data.data)]

    assert bare == []


@pytest.mark.parametrize("language", texts.languages())
def test_every_event_of_the_chart_has_a_word(language: str) -> None:
    """The chart looks its words up by kind."""
    assert set(EVENT_SHAPES) <= set(catalogue(language)["chart"])
    assert all(catalogue(language)["chart"].values())


def test_numbers_and_plurals_are_those_of_the_language() -> None:
    """A decimal comma, points between thousands, and the singular for nought and one."""
    spoken = speak("pt-BR")

    assert [spoken.number(n) for n in (0, 85.3, 1048, 1234567.25)] == ["0", "85,3", "1.048", "1.234.567,25"]
    assert [spoken.form(n, "falha", "falhas") for n in (0, 1, 2, 1.5)] == [
        "falha",
        "falha",
        "falhas",
        "falhas",
    ]
    assert [speak("en").form(n, "failure", "failures") for n in (0, 1, 2)] == [
        "failures",
        "failure",
        "failures",
    ]
    assert spoken.plural("{n} more row", "{n} more rows", 1) == "Mais {n} linha"


def test_formulas_have_the_marks_of_the_language() -> None:
    """A formula keeps its numbers, with the language's decimal mark, and says its words in the language."""
    spoken = speak("pt-BR")

    assert spoken.formula("542 s / 2.5 s = 216") == "542 s / 2,5 s = 216"
    assert spoken.formula("window + outside = all") == "dentro + fora = total"
    assert speak("en").formula("542 s / 2.5 s = 216") == "542 s / 2.5 s = 216"


def test_the_charts_have_names_in_every_language() -> None:
    """A page with little room names its charts by what they show."""
    for language in OTHERS:
        assert {str(m.id) for m in messages(language) if m.context == "chart"} == set(charts.charts())


def test_a_note_keeps_its_values() -> None:
    """Remarks on an input are told in the language, part by part, with their values; others stay as they are."""
    note = speak("pt-BR").note

    assert note("reading failed (Input/output error); copy the file again") == (
        "a leitura falhou (Input/output error); copie o arquivo de novo"
    )
    assert note("1,204 of its entries are also in s2 and counted there") == (
        "1.204 de suas entradas também estão em s2 e são contadas lá"
    )
    assert note("nothing in it can be read; what no catalogue knows") == (
        "nada nele pode ser lido; what no catalogue knows"
    )
    assert note("x" * 5000) == "x" * 5000


def test_a_language_that_is_not_there_is_english() -> None:
    """An unknown tag gives English, and English is the messages themselves."""
    assert speak("tlh").tag == "en"
    assert speak("en").text("Timeline") == "Timeline"
    assert speak("en").note("reading failed (x); copy the file again").startswith("reading failed")


def test_needs_begin_with_no_article() -> None:
    """In Portuguese they follow "precisa de", which an article or "quem" would contract with or break."""
    files = [path for path in (CODE / "findings").rglob("*") if path.suffix in (".py", ".toml")]
    inputs = {one or two for path in files for one, two in INPUT.findall(path.read_text("utf-8"))}
    said = [speak("pt-BR").text(one) for one in sorted(inputs)]

    assert {"the server's log over the whole incident", "who holds sessions now"} <= inputs
    assert [one for one in said if re.match(r"(?:[oa]s?|uma?|quem|el[ea]s?)\b", one)] == []
