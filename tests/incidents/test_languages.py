"""The same report in every language: ids, numbers and grades agree, the page fits, and no wording blames."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import golden
import pytest
from babel.numbers import get_decimal_symbol, get_group_symbol

import forensics
from forensics.model import texts
from forensics.report.language import read, speak
from forensics.report.statements import catalogue

if TYPE_CHECKING:
    from collections.abc import Iterator

OTHERS = golden.other_languages()
TEXTS = frozenset({
    "text", "title", "why", "scope", "question", "input", "expires", "method", "alternatives", "limits", "skipped", "coverage_line", "formula",
})  # fmt: skip
"""Keys of a document whose value is in the report's language."""
BLAME = {
    "en": r"should(?:n't| not)? have|could have|ought to have|failed to|forgot|neglect\w*|careless\w*|negligen\w*|incompeten\w*|human error|mistake\w*|blam\w+|at fault|culprit|sloppy|guilty|operator error|exactly",
    "pt-BR": r"deveria\w*|devia\w* ter|poderia\w* ter|esquec\w+|neglig\w+|descuid\w*|desaten\w+|incompet\w+|erro humano|falha humana|erro d[eo] operador|culpa\w*|culpad\w+|imprud\w+|irrespons\w+|deix(?:ou|aram) de|respons[áa]ve(?:l|is) pel\w+|exatamente",
}
"""Words that make a person the actor, or claim that unequal numbers are equal."""
SECTIONS = {
    "pt-BR": [
        "Se você só ler esta parte", "Marcos", "Impacto", "Linha do tempo", "Mecanismo", "O que foi descartado", "O alerta estava certo?", "Recorrência",
        "Ruído pré-existente", "Pistas, nunca causa", "Não determinado", "Recomendações (não executadas)", "Fontes e cobertura", "Evidências", "Como conferir",
    ],
}  # fmt: skip
VERDICTS = {
    "pt-BR": {
        "confirmed": "Confirmado", "supported": "Apoiado por indícios", "suspected": "Suspeito", "no_sign": "Sem indício (não é prova)", "ruled_out": "Descartado",
        "not_determined": "Não determinado",
    },
}  # fmt: skip
GRADES = {
    "pt-BR": {
        "verified": "Verificado", "derived": "Derivado", "inferred": "Inferido", "clue": "Pista, nunca causa", "no_sign": "Sem indício (não é prova)",
        "ruled_out": "Descartado", "not_determined": "Não determinado",
    },
}  # fmt: skip
LONGEST = 11_000
SUMMARY_WORDS = 120
HEAD = re.compile(r"^## (.+)$", re.MULTILINE)
NUMBER = re.compile(r"(?<![\w.,:-])\d[\d.,]*(?<![.,])(?![\w:-])")


@pytest.fixture(params=golden.approved())
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=OTHERS)
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def neutral(value: Any, key: str = "") -> Any:
    """Return a document without its texts."""
    if key in TEXTS:
        return None
    if isinstance(value, dict):
        return {
            name: neutral(inner, name)
            for name, inner in value.items()
            if name not in ("language", "unfilled")
        }
    return [neutral(item, key) for item in value] if isinstance(value, list) else value


def told(value: Any, key: str = "", path: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text of a document with its path."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from told(inner, name, f"{path}.{name}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from told(item, key, f"{path}[{index}]")
    elif key in TEXTS and isinstance(value, str):
        yield path, value


def numbers(text: str, language: str) -> list[str]:
    """Return the numbers of a text, sorted, in one form whatever the language."""
    locale = speak(language).locale
    if language != texts.ENGLISH:
        group, decimal = re.escape(get_group_symbol(locale)), re.escape(get_decimal_symbol(locale))
        text = re.sub(rf"(?<=\d){group}(?=\d{{3}}(?!\d))", "", text)
        text = re.sub(rf"(?<=\d){decimal}(?=\d)", ".", text)
    return sorted(NUMBER.findall(text))


def section(page: str, title: str) -> str:
    """Return the text below one heading."""
    return HEAD.split(page.split(f"\n## {title}\n", 1)[1])[0]


def test_ids_numbers_and_grades_are_the_same(name: str, language: str) -> None:
    english, other = golden.report(name)[0], golden.report(name, language)[0]

    assert other["case"]["language"] == language
    assert neutral(english) == neutral(other)
    assert english["unfilled"].keys() == other["unfilled"].keys()


def test_every_text_states_the_same_numbers(name: str, language: str) -> None:
    english, other = (dict(told(golden.report(name, tag)[0])) for tag in (texts.ENGLISH, language))

    assert english.keys() == other.keys()
    assert [
        (path, english[path], other[path])
        for path in english
        if english[path] != other[path]  # a quoted line is the same in every language
        and numbers(english[path], texts.ENGLISH) != numbers(other[path], language)
    ] == []


def test_instants_keep_their_form(name: str, language: str) -> None:
    instant = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d\d:\d\d")
    english, other = (dict(told(golden.report(name, tag)[0])) for tag in (texts.ENGLISH, language))

    assert [
        p for p in english if sorted(instant.findall(english[p])) != sorted(instant.findall(other[p]))
    ] == []


def test_the_page_is_a_report(name: str, language: str) -> None:
    page = golden.report(name, language)[1]
    summary = section(page, SECTIONS[language][0])

    assert HEAD.findall(page) == SECTIONS[language]
    assert 0 < len(page) < LONGEST
    assert 0 < len(summary.split()) <= SUMMARY_WORDS
    assert [title for title in SECTIONS[language] if not section(page, title).strip()] == []


def test_verdicts_and_grades_have_their_names(name: str, language: str) -> None:
    document, page = golden.report(name, language)
    rows = [
        line.strip("|").split("|")
        for line in section(page, SECTIONS[language][5]).splitlines()
        if line[:1] == "|"
    ]

    assert [row[1].strip() for row in rows[2:]] == [
        VERDICTS[language][row["verdict"]] for row in document["hypotheses"]
    ]
    named = dict(re.findall(r"^- (F\d+) .*\*\[([^\]:]+)(?::[^\]]*)?\]\*", page, re.MULTILINE))
    grades = {row["id"]: GRADES[language][row["grade"]] for row in document["findings"]}
    assert named == {key: grades[key] for key in named}


def test_the_story_stays_whole(language: str) -> None:
    """The page of the example goes from a healthy probe before to an answered one after, with the alert between."""
    page = golden.report("crm-freeze", language)[1]
    rows = section(page, SECTIONS[language][3])

    assert all(at in rows for at in ("09:40:00", "09:42:26", "09:50:29", "09:51:28", "09:55:00"))


@pytest.mark.parametrize("tag", texts.languages())
def test_no_page_blames(name: str, tag: str) -> None:
    document, page = golden.report(name, tag)
    bare = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", re.sub(r"(?ms)^(`{3,})[^`\n]*\n.*?^\1$", "", page))
    blame = re.compile(rf"(?i)\b(?:{BLAME[tag]})\b")

    assert blame.findall(bare) == []
    assert [action["text"] for action in document["actions"] if blame.search(action["text"])] == []


@pytest.mark.parametrize("tag", texts.languages())
def test_no_statement_blames(tag: str) -> None:
    """What a catalogue could say on some other input does not blame either."""
    blame = re.compile(rf"(?i)\b(?:{BLAME[tag]})\b")
    said = [text for rows in catalogue(tag).values() for text in rows.values()]
    for message in read(tag):
        said += [message.string] if isinstance(message.string, str) else list(message.string)
    if tag == texts.ENGLISH:
        root = Path(str(texts.root()))
        said += [path.read_text(encoding="utf-8") for path in root.glob("*/*.j2")]
        said += hypotheses()

    assert [(text, blame.findall(text)) for text in said if blame.search(text)] == []


def hypotheses() -> list[str]:
    """Return the texts of all hypotheses."""
    path = Path(forensics.__file__).parent / "findings" / "hypotheses.toml"
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    blocks = [*tables["hypothesis"], *tables["question"]]
    return [block["title"] for block in tables["hypothesis"]] + [
        need["input"] for block in blocks for need in block["needs"]
    ]


def test_the_language_is_the_options_else_the_case_files(tmp_path: Path) -> None:
    """``--lang`` comes before ``language`` in case.toml; without both the report is in English."""
    given = tmp_path / "case.toml"
    given.write_text('language = "pt-BR"\n', encoding="utf-8")
    said = [
        golden.investigate("s10-quiet-day", case=case, lang=lang).language
        for case, lang in ((None, None), (given, None), (given, "en"), (None, "pt-BR"))
    ]

    assert said == ["en", "pt-BR", "en", "pt-BR"]


# --- nothing is left in English

WORD = re.compile(r"[^\W\d_]{3,}")
JINJA = re.compile(r"\{%.*?%\}|\{\{.*?\}\}")
TERMS = frozenset(
    [
        "alert",
        "backend",
        "client",
        "clients",
        "connections",
        "crm",
        "data",
        "deploy",
        "edge",
        "event",
        "from",
        "gateway",
        "handler",
        "health",
        "host",
        "hosts",
        "instance",
        "jobs",
        "journal",
        "kernel",
        "line",
        "lines",
        "lock",
        "locks",
        "log",
        "logs",
        "loop",
        "master",
        "monitor",
        "pool",
        "pools",
        "probe",
        "process",
        "processes",
        "rate",
        "read",
        "redis",
        "reconcile",
        "replicas",
        "reserved",
        "server",
        "session",
        "sessions",
        "sync",
        "test",
        "timeout",
        "timeouts",
        "token",
        "web",
        "worker",
        "workers",
    ]
)
"""What engineers write in English in any language, and words that inputs and case files of the fixtures hold."""
QUOTED = re.compile(r"\"[^\"]*\"|`[^`]*`|\([^()]*(?:exceeded|refused)[^()]*\)")


def words_of(tag: str) -> set[str]:
    """Return the words that a language's statements and messages hold, the names of values left out."""
    said = [JINJA.sub(" ", text) for rows in catalogue(tag).values() for text in rows.values()]
    for message in read(texts.ENGLISH if tag == texts.ENGLISH else tag):
        said += [message.string] if isinstance(message.string, str) else list(message.string)
    if tag == texts.ENGLISH:
        for message in read("pt-BR"):
            said += [message.id] if isinstance(message.id, str) else list(message.id)
    return {word for text in said for word in WORD.findall(text.lower())}


def of_the_inputs(document: dict[str, Any]) -> set[str]:
    """Return the words of templates, series, sources and events of a document: inputs and case files say them."""
    own = [row["template"] for row in document["background"]] + [row["series"] for row in document["probes"]]
    own += [row["name"] for row in document["sources"]] + [str(document["case"]["title"])]
    own += [row["monitor"] for row in document["blind_gaps"]] + [row["series"] for row in document["samples"]]
    own += [row["text"] for row in document["timeline"] if row["kind"] in ("note", "deploy", "mitigated")]
    return {word for text in own for word in WORD.findall(text.lower())}


def test_no_english_word_is_left(name: str, language: str) -> None:
    """What only the English texts say stands in no text of another language, unless the inputs say it."""
    document = golden.report(name, language)[0]
    english = words_of(texts.ENGLISH) - words_of(language) - TERMS - of_the_inputs(document)
    quoted = [row["text"] for row in document["evidence"]]
    left = {
        (path, word)
        for path, text in told(document)
        if not path.startswith((".evidence", ".case")) and text not in quoted
        for word in WORD.findall(QUOTED.sub("", text).lower())
        if word in english
    }

    assert left == set()
