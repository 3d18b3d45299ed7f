"""Every remark on an input, wherever the reading wing makes it, is told in every language."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

import forensics
from forensics import formats
from forensics.formats.transports.journald_live import LIVE
from forensics.model import texts
from forensics.report.language import NOTE, PLACE, speak

if TYPE_CHECKING:
    from collections.abc import Iterator

CODE = Path(forensics.__file__).parent
OTHERS = texts.languages()[1:]
READING = ("sources", "formats", "signatures", "ingest", "engine", "pipeline.py")
"""Where remarks on inputs come from."""
SENTENCE = re.compile(r"(?<![\w./=-])[A-Za-z][a-z']*(?:[ ,:;()]+[A-Za-z{][a-z'}]*){2,}")
"""Three words in a row: a remark, or a part of one, whatever becomes of it."""
WORD = re.compile(r"[A-Za-z]{3,}")
"""A word, which is enough where a remark is asked for."""
CODED = re.compile(r"\\[dswbS]|\(\?|\^|\bselect\b(?! now)|\n|^\$|^[a-z]+:\S+$")
"""What patterns, queries and samples of several lines have and no remark has."""
ASKED_CALLS = ("UnreadableError", "say", "refuse")
ASKED_KEYWORDS = ("notes", "caps", "remedy", "declined", "skipped", "trouble", "why")
ASKED_OWNERS = ("sources/clock.py:AMBIGUOUS",)
"""What is given to these, or stands in them, is a remark or its value, however short."""
SILENT_KEYWORDS = {
    "where": "the place of an error on the command line",
    "service": "the name of a service",
}
SILENT_CALLS = {
    "UsageError": "ends the command before anything is read, and the command line speaks English",
    "DefinitionError": "as UsageError",
    "compile": "a pattern",
    "info": "what the command line shows while it works",
}
SILENT_MODULES = {
    "sources/casefile.py": "the case file ends the command or is right: UsageError",
    "sources/compose.py": "only `forensics budget` reads a deployment, and it speaks English",
    "sources/connection_urls.py": "as compose.py",
    "sources/deployment.py": "as compose.py",
    "sources/pool_libraries.py": "as compose.py",
    "sources/programs.py": "as compose.py",
    "sources/server_files.py": "as compose.py",
    "sources/services.py": "as compose.py",
    "sources/settings.py": "as compose.py",
    "sources/stated.py": "as compose.py",
    "sources/variables.py": "as compose.py",
    "formats/definition.py": "a definition ends the command or is right: DefinitionError",
    "signatures/catalogue.py": "as definition.py",
}
EVENT = "what an event says: it is quoted like a line of a log"
SERIES = "the name of a series"
READ = "what is looked for in an input"
CHOICE = "how an input was recognised, which `forensics sources -v` shows"
SILENT_OWNERS = {
    "formats/monitors/sadf_csv.py:HEADER": READ,
    "formats/pg_groups.py:STATES": READ,
    "formats/prometheus.py:GAUGES": SERIES,
    "formats/prometheus.py:PROBES": EVENT,
    "formats/state.py:DOWN": READ,
    "formats/sysstat.py:FIGURES": SERIES,
    "formats/sysstat.py:RESTART": EVENT,
    "formats/text.py:MONTHS": READ,
    "formats/transports/docker_inspect.py:ending": EVENT,
    "ingest/recognised.py:said": CHOICE,
    "pipeline.py:fit": "`forensics formats test` shows it",
    "pipeline.py:trial": "`forensics signatures test` shows it",
    "sources/clock.py:WRITE": "remedy of a UsageError",
    "sources/clock.py:zone": "as WRITE",
}
"""Functions and constants none of whose texts reaches a report as a remark."""
SILENT_TEXTS = {
    "unhealthy, {} checks in a row have failed": EVENT,
    "exit code {}": EVENT,
    "endpoint that was removed": SERIES,
    "the job reported a failure": EVENT,
    "pg_stat_activity waiting for a lock": SERIES,
    "count of a watched query": SERIES,
    "host {} {}": SERIES,
    "pool pgbouncer {} s waited each second": SERIES,
    "pool pgbouncer {} servers in use": SERIES,
    "pool pgbouncer {} clients waiting": SERIES,
    'psql -p 6432 pgbouncer -c "show pools" > FILE': "a command, the same in every language",
    "failed checks per hour: ": SERIES,
    "result of the query": SERIES,
    " (restarted {} times since it was created)": EVENT,
    "health check exited with code {}": EVENT,
    "container created (image={})": EVENT,
    "the run before ended": EVENT,
    "no format fits any line": CHOICE,
    ", next {} {}": CHOICE,
    "{}, by its prefix": CHOICE,
    "{}, since no format fits half of its lines: {}": CHOICE,
    "unknown lzma properties": "the words of a decoder, which a remark holds as a value",
}
"""Single texts of functions that make remarks too."""


class Said(NamedTuple):
    """One way in which a text of the code may come out, with ``{}`` for its values."""

    place: str
    text: str


class Module:
    """One module with what its texts are given to."""

    def __init__(self, path: Path) -> None:
        self.name = path.relative_to(CODE).as_posix()
        self.tree = ast.parse(path.read_text(encoding="utf-8"))
        self.around: dict[ast.AST, ast.AST] = {}
        self.texts: list[ast.JoinedStr | ast.Constant] = []
        left: list[ast.AST] = [self.tree]
        while left:
            node = left.pop()
            if isinstance(node, ast.JoinedStr) or (
                isinstance(node, ast.Constant) and isinstance(node.value, str)
            ):
                self.texts.append(node)  # what stands inside an f-string is a part of it
            for child in ast.iter_child_nodes(node):
                self.around[child] = node
                if not isinstance(node, ast.JoinedStr):
                    left.append(child)

    def constants(self) -> Iterator[tuple[str, str]]:
        """Yield name and text of the constants."""
        for node in self.tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant | ast.JoinedStr):
                for target in node.targets:
                    if isinstance(target, ast.Name) and isinstance(getattr(node.value, "value", ""), str):
                        yield target.id, spelled(node.value, {})[0]

    def outer(self, node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
        """Yield every node around another with the child that leads there."""
        while (around := self.around.get(node)) is not None:
            yield around, node
            node = around

    def owner(self, node: ast.AST) -> str:
        """Return the function or the constant that a text stands in, with the module."""
        for around, inner in self.outer(node):
            if isinstance(around, ast.FunctionDef):
                return f"{self.name}:{around.name}"
            if isinstance(around, ast.Module) and isinstance(inner, ast.Assign):
                return f"{self.name}:{ast.unparse(inner.targets[0])}"
        return self.name

    def silent(self, node: ast.AST) -> bool:
        """Tell a docstring, or a text that reaches no report."""
        if self.owner(node) in SILENT_OWNERS:
            return True
        for around, inner in self.outer(node):
            if isinstance(around, ast.Expr) and inner is node:
                return True
            if isinstance(around, ast.keyword) and around.arg in SILENT_KEYWORDS:
                return True
            if isinstance(around, ast.Call) and called(around) in SILENT_CALLS:
                return True
            if isinstance(around, ast.Dict) and inner in around.keys:
                return True
            if isinstance(around, ast.stmt):
                return False
        return False

    def asked(self, node: ast.AST) -> bool:
        """Tell a text that is given to what takes remarks."""
        if self.owner(node) in ASKED_OWNERS:
            return True
        for around, _ in self.outer(node):
            if isinstance(around, ast.keyword) and around.arg in ASKED_KEYWORDS:
                return True
            if isinstance(around, ast.Call):
                return called(around) in ASKED_CALLS
            if isinstance(around, ast.Compare | ast.Subscript | ast.stmt):
                return False
        return False

    def said(self, constants: dict[str, str]) -> Iterator[Said]:
        """Yield every text that may be a remark, in each way in which it may come out."""
        for node in sorted(self.texts, key=lambda node: (node.lineno, node.col_offset)):
            if self.silent(node):
                continue
            wanted = WORD if self.asked(node) else SENTENCE
            for text in spelled(node, constants):
                if wanted.search(PLACE.sub("", text)) and not CODED.search(text):
                    yield Said(f"{self.owner(node)}:{node.lineno}", text)


def called(call: ast.Call) -> str:
    """Return the name of what is called."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def spelled(node: ast.AST, constants: dict[str, str]) -> list[str]:
    """Return what an expression may come out as, ``{}`` for values."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.JoinedStr):
        return ["".join(parts) for parts in product(*(spelled(part, constants) for part in node.values))]
    if isinstance(node, ast.FormattedValue):
        return spelled(node.value, constants)
    if isinstance(node, ast.IfExp):
        return [*spelled(node.body, constants), *spelled(node.orelse, constants)]
    if isinstance(node, ast.Name):
        return [constants.get(node.id, "{}")]
    return ["{}"]


@cache
def reading() -> list[Module]:
    """Return the modules of the reading wing."""
    paths = {path for part in READING for path in (CODE / part, *(CODE / part).rglob("*.py"))}
    return [Module(path) for path in sorted(paths) if path.suffix == ".py"]


@cache
def remarks() -> list[Said]:
    """Return every text of the reading wing that may stand in a report as a remark on an input."""
    modules = [module for module in reading() if module.name not in SILENT_MODULES]
    named: dict[str, set[str]] = defaultdict(set)
    for module in modules:
        for name, text in module.constants():
            named[name].add(text)
    shared = {name: min(found) for name, found in named.items() if len(found) == 1}
    plugs = (LIVE, *formats.all_transports().values(), *formats.all_monitors().values(), *formats.all_messages().values())  # fmt: skip
    # `forensics formats` prints these, in English like the rest of the command; a report does not.
    printed = {text for plug in plugs for text in (plug.title, plug.marks, plug.reference, *plug.samples)}
    return [
        said
        for module in modules
        for said in module.said(shared | dict(module.constants()))
        if said.text not in printed and said.text not in SILENT_TEXTS
    ]


def filled(text: str) -> str:
    """Return a text with a value in each of its places."""
    return re.sub(r"\{\w*\}", VALUE, text)


VALUE = "17"


@pytest.mark.parametrize("language", OTHERS)
def test_every_remark_is_told(language: str) -> None:
    """A text of the reading wing fits a message, or is known to reach no report: add it to the catalogue as a ``note``."""
    spoken = speak(language)
    english = [
        (said.place, said.text, remark)
        for said in remarks()
        for remark, told in spoken.remarks(filled(said.text))
        if told is None and remark != VALUE
    ]

    assert english == []


def test_the_walk_finds_remarks_of_every_kind() -> None:
    """Constants, caps, errors with their remedy, damage, advice, years and zones are all looked at."""
    found = {said.text for said in remarks()}

    assert {
        "a PDF; give the text or table that it was made from",
        "a Parquet file, a table of columns; export it as CSV or JSON lines: duckdb -c \"copy (from 'FILE') to 'FILE.csv'\"",
        "links left out ({n}): {names}",
        "Kibana's default sample size: raise it, or check that there is no more",
        "it has no tables heartbeat and monitor",
        "export it again",
        "the {} stream is damaged after {} bytes ({}); what lies before was used",
        "unpacking stopped after {} bytes: the limit is {}; give --unpack-limit size=N to raise it",
        "the lines carry no year: {} for the last ones, because {}",
        "+05:30 (India), +01:00 (Ireland) or +02:00 (Israel)",
        "times carry no zone and are taken as {}: give --tz or a timezone in case.toml",
        "{} rows have no readable value",
    } <= found


def test_what_is_excused_is_there() -> None:
    """The lists of texts that reach no report hold nothing that the code has no more."""
    owners = {module.owner(node) for module in reading() for node in module.texts}
    found = {text for module in reading() for node in module.texts for text in spelled(node, {})}

    assert SILENT_MODULES.keys() <= {module.name for module in reading()}
    assert SILENT_OWNERS.keys() | set(ASKED_OWNERS) <= owners
    assert [text for text in SILENT_TEXTS if not any(text in one for one in found)] == []


@pytest.mark.parametrize("language", OTHERS)
def test_every_message_wins_its_own_text(language: str) -> None:
    """Where two messages fit one text the more specific one is taken: no message stands in the way of another."""
    spoken = speak(language)
    lost = [
        message.id
        for message in spoken.messages
        if message.context == NOTE and spoken.fitted(filled(str(message.id))) != filled(str(message.string))
    ]

    assert lost == []


def test_the_more_specific_message_wins() -> None:
    """A message that leaves less to its values goes before one that fits too, whatever its length."""
    note = speak("pt-BR").note

    assert (
        note("export it as text: last -F -f FILE > FILE.txt")
        == "exporte como texto: last -F -f FILE > FILE.txt"
    )
    assert note(
        "export it as text: wevtutil qe FILE.evtx /lf:true /f:text > FILE.txt, or Get-WinEvent -Path FILE.evtx | Export-Csv FILE.csv"
    ).startswith("exporte como texto: wevtutil qe FILE.evtx /lf:true /f:text > FILE.txt, ou Get-WinEvent")
    assert note(
        "the lines carry no year: 2026 for the last ones, because the year is that of the dated inputs"
    ) == ("as linhas não trazem ano: 2026 para as últimas, porque o ano é o das entradas datadas")
    assert note("3 rows state no result ('?') and count neither as up nor as down") == (
        "3 linhas não trazem resultado ('?') e não contam como no ar nem como fora do ar"
    )


def test_a_value_that_is_a_message_is_told() -> None:
    """The reason of a limit is a remark by itself; a value that only looks like words stays."""
    note = speak("pt-BR").note

    assert note("exactly 10,000 records: the most that the API gives: export shorter spans") == (
        "justamente 10.000 registros: o máximo que a API entrega: exporte intervalos menores"
    )
    assert note("links left out (1): the most that") == "links omitidos (1): the most that"


def test_remarks_are_told_one_by_one() -> None:
    """What stands between remarks ends a value; a message that holds it is one remark all the same."""
    note = speak("pt-BR").note

    assert note("links left out (2): a, b; devices or pipes left out (1): c; 5 of what is not known") == (
        "links omitidos (2): a, b; dispositivos ou pipes omitidos (1): c; 5 of what is not known"
    )
    assert note("cannot be read (Is a directory); copy it again; its last member is a.log") == (
        "não pode ser lido (Is a directory); copie de novo; seu último membro é a.log"
    )
    assert note("") == ""
