"""Golden reports of the incidents: what the whole pipeline says about each fixture, approved by a person.

    python tests/golden.py                    compare all, exit 1 where one differs
    python tests/golden.py --write [NAME…]    show what changed and write it; goldens that agree are left alone

A fixture is a folder below fixtures/incidents with inputs/, incident.toml ([options] names what the command line would) and
maybe case.toml. Where it has a folder expected/, report.json and the pages in it are approved, in every language and in the
dialects portable and GitHub's, such as expected/report.pt-BR.github.md; of the others the expectations of incident.toml alone
are held. The version and the hash of the signatures are not compared.
"""

from __future__ import annotations

import argparse
import dataclasses
import difflib
import functools
import json
import re
import sys
import tomllib
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from forensics.model.case import Case

INCIDENTS = Path(__file__).parents[1] / "fixtures" / "incidents"
WRITTEN_BY = re.compile(r"^(.* forensics) \d\S*, .*`\.$", re.MULTILINE)
READ_ONCE = frozenset(
    {
        "knex-shared-pool",
        "prisma-replicas",
        "s1b-pool-stall-still-on",
        "s3-redis-frozen",
        "s9-knex-jobs-starve-pages",
    }
)
"""Fixtures of which no variants are made: long ones, with databases, logs in local time, or no end, as others are."""
CORE = ("report.md", "report.json")
"""The two files that everything else is made of."""
DIALECTS = ("commonmark", "github")
"""Dialects in which pages are approved, the portable one first."""


def names() -> list[str]:
    """Name all fixtures."""
    return sorted(path.parent.name for path in INCIDENTS.glob("*/incident.toml"))


def approved() -> list[str]:
    """Name the fixtures whose whole report is approved: recordings long enough to be cut, shifted and read in parts."""
    return [name for name in names() if (INCIDENTS / name / "expected").is_dir()]


def varied() -> list[str]:
    """Name the fixtures that are read again and again in variants: one of each kind, so that all tests take minutes."""
    return [name for name in approved() if name not in READ_ONCE]


@functools.cache
def table(name: str) -> dict[str, Any]:
    """Return a fixture's incident.toml."""
    return tomllib.loads((INCIDENTS / name / "incident.toml").read_text("utf-8"))


def inputs(name: str) -> list[Path]:
    """Return a fixture's input files."""
    return sorted((INCIDENTS / name / "inputs").iterdir())


def case_file(name: str) -> Path | None:
    """Return a fixture's case.toml, None if it has none."""
    path = INCIDENTS / name / "case.toml"
    return path if path.exists() else None


def investigate(name: str, files: Iterable[Path] | None = None, **changes: Any) -> Case:
    """Run reading and thinking on a fixture, or on some of its files only."""
    from forensics import pipeline

    given = [str(INCIDENTS / name / "inputs")] if files is None else [str(path) for path in files]
    said = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in table(name).get("options", {}).items()
    }
    return pipeline.investigate(given, pipeline.Options(**{"case": case_file(name), **said, **changes}))


@functools.cache
def case(name: str) -> Case:
    """Return the case of a whole fixture, computed once."""
    return investigate(name)


def tell(found: Case, *, redact: bool = True) -> tuple[dict[str, Any], str]:
    """Return the document and the page of a case."""
    from forensics.report import document as telling
    from forensics.report.render import markdown

    document = telling.build(found, redact=redact)
    return document, markdown(document)


def other_languages() -> tuple[str, ...]:
    """Name the languages besides English."""
    from forensics.model import texts

    return texts.languages()[1:]


def pages() -> dict[str, tuple[str, str]]:
    """Return the approved pages by the name of their file: language and dialect of each."""
    return {
        ".".join(
            ["report", *([] if tag == "en" else [tag]), *([] if dialect == DIALECTS[0] else [dialect]), "md"]
        ): (tag, dialect)
        for tag in ("en", *other_languages())
        for dialect in DIALECTS
    }


def files(name: str) -> tuple[str, ...]:
    """Name the approved files of a fixture, none where only its expectations are held."""
    return (*pages(), "report.json") if (INCIDENTS / name / "expected").is_dir() else ()


@functools.cache
def report(name: str, language: str = "en") -> tuple[dict[str, Any], str]:
    """Return the document and the page of a whole fixture, computed once; not to be changed."""
    document, page = tell(dataclasses.replace(case(name), language=language))
    return json.loads(json.dumps(document)), page


def dump(document: dict[str, Any]) -> str:
    """Write a document with one row per line: small enough to keep, and a change shows as a line."""
    parts = []
    for key, value in document.items():
        if isinstance(value, list) and value:
            shown = "[\n" + ",\n".join(f"  {compact(item)}" for item in value) + "\n ]"
        else:
            shown = compact(value)
        parts.append(f" {compact(key)}: {shown}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def compact(value: Any) -> str:
    """Write a value on one line."""
    return json.dumps(value, ensure_ascii=False)


def normal(file: str, text: str) -> str:
    """Blank what each release and each new signature changes."""
    if file.endswith(".md"):
        return WRITTEN_BY.sub(r"\1.", text)
    return dump(json.loads(text) | {"tool": {}})


@functools.cache
def page(name: str, language: str, dialect: str) -> str:
    """Return the page of a whole fixture in a language and a dialect, computed once."""
    from forensics.report.dialects import told

    document, portable = report(name, language)
    return portable if dialect == DIALECTS[0] else told(document, dialect, None)


def produced(name: str) -> dict[str, str]:
    """Return the files of a fixture as the pipeline writes them now."""
    said = {file: page(name, tag, dialect) for file, (tag, dialect) in pages().items()}
    return said | {"report.json": dump(report(name)[0])}


def expected(name: str) -> dict[str, str]:
    """Return the approved files of a fixture, empty where there are none yet."""
    folder = INCIDENTS / name / "expected"
    return {
        file: (folder / file).read_text("utf-8") if (folder / file).exists() else "" for file in files(name)
    }


def difference(name: str, file: str) -> str:
    """Return a unified diff from the approved to the produced file, empty where they agree."""
    old, new = expected(name)[file], produced(name)[file]
    before, after = normal(file, old) if old else "", normal(file, new)
    where = f"{name}/expected/{file}"
    return "".join(
        line if line.endswith("\n") else f"{line}\n"
        for line in difflib.unified_diff(
            before.splitlines(keepends=True), after.splitlines(keepends=True), where, f"{where} (now)", n=1
        )
    )


def write(name: str, file: str) -> None:
    """Replace an approved file, whole or not at all."""
    target = INCIDENTS / name / "expected" / file
    fresh = target.with_suffix(".new")
    fresh.write_text(produced(name)[file], "utf-8")
    fresh.replace(target)


def faults(name: str) -> list[str]:
    """Return what a report must or must not say and does not hold."""
    sys.path.insert(0, str(Path(__file__).parent / "incidents"))
    import claims

    document, page = report(name)
    return claims.broken(table(name), document, page)


def say(line: str) -> None:
    """Write one line to standard output."""
    sys.stdout.write(f"{line}\n")


def show(name: str, *, writing: bool) -> bool:
    """Compare one fixture, write what changed if asked to, and say so; True where nothing is left to do."""
    changed = {file: diff for file in files(name) if (diff := difference(name, file))}
    for file, diff in changed.items():
        sys.stdout.write(diff)
        if writing:
            write(name, file)
    open_ = faults(name)
    state = "agrees" if files(name) else "no approved report"
    if changed:
        state = f"{'written' if writing else 'DIFFERS'} ({', '.join(changed)})"
    say(f"{name}: {state}; {len(open_)} expectation(s) of incident.toml do not hold")
    for line in open_:
        say(f"    {line}")
    return writing or not changed


def main(args: Sequence[str] | None = None) -> int:
    """Run the command; one fixture that fails does not keep the others from being compared or written."""
    ask = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    ask.add_argument("name", nargs="*", help="a fixture (default: all)")
    ask.add_argument("--write", action="store_true", help="write what changed")
    said = ask.parse_args(args)
    if unknown := sorted(set(said.name) - set(names())):
        ask.error(f"no fixture {', '.join(unknown)}; there are {', '.join(names())}")
    done = True
    for name in said.name or names():
        try:
            done &= show(name, writing=said.write)
        except Exception:  # noqa: BLE001 - the others are still worth comparing
            traceback.print_exc()
            say(f"{name}: FAILED, its goldens are left as they are")
            done = False
    return 0 if done else 1


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    sys.exit(main())
