r"""Tables as psql prints them: aligned, bordered, expanded, unaligned, CSV, HTML, JSON, and each of them again and again (``\\watch``).

A table keeps the first physical line of each of its rows; every line of the file is in a table, blank, or unparsed.

Reference: https://www.postgresql.org/docs/current/app-psql.html, postgres/postgres src/fe_utils/print.c, src/bin/psql/command.c (do_watch).
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from forensics.formats.delimited import split
from forensics.formats.jsonl import consecutive, dicts, plain, salvaged

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

RULE = re.compile(r"^[ +|┌├└╔╠╚]?[-─═][-+|─═┼╪┬┴┐┘┤╗╝╣╬╦╩]*$")
RECORD = re.compile(r"^[+┌├╔╠]?[-─═]\[ \S+ \d+ \][-─═+┬┼╤╪┐┤╗╣]*$|^\* \S+ \d+$")
FOOTER = re.compile(r"^\(\d+ [^\W\d]+\)$")
LONGEST_STAMP = 300
"""Characters of a line that may be a stamp of ``\\watch``."""
WATCH = re.compile(
    r"^(?P<stamp>.*\d{4}.*?)\s+\([^\d()]*\d+(?:[.,]\d+)?s\)$|^Watch every \d+s\s+(?P<old>.*\d{4}.*)$"
)
ASIDE = re.compile(
    r"^(?:Time|Zeit|Tempo): \d|^(?:Timing|Expanded display|Output format|Pager|Tuples only|Null display|Field separator|Border style) |^\\\w|^[\w-]+[=(*!-]*[#>] "
)
"""What psql says around its tables: timing, settings, echoed commands and prompts."""
UNALIGNED = re.compile(r"^[A-Za-z_?][\w?]*(?:\|[A-Za-z_?][\w?]*)+$")
BAR = re.compile(r" ?[|│║] ?")


@dataclass(slots=True)
class Table:
    r"""One result: its columns, its rows with their line, and the stamp of ``\\watch`` above it."""

    line: int
    columns: list[str]
    stamp: str | None = None
    rows: list[tuple[int, dict[str, str | None]]] = field(default_factory=list)


@dataclass(slots=True)
class Printed:
    """Everything on a page."""

    tables: list[Table] = field(default_factory=list)
    in_records: int = 0
    blank: int = 0
    unparsed: int = 0
    first_unparsed: int | None = None


def read(text: str) -> Printed:
    """Read a whole page in whatever shape it is."""
    start = text.lstrip()[:1]
    lines = text.splitlines()
    if start in ("[", "{"):
        return flat(lines, [json_table(text)])
    if "<table" in text:
        return flat(lines, list(html_tables(text)))
    if delimiter := csv_delimiter(lines):
        return csv_table(text, delimiter)
    return printed(lines)


def flat(lines: Sequence[str], tables: list[Table]) -> Printed:
    """Return tables of a page whose lines mean nothing by themselves."""
    blank = sum(not line.strip() for line in lines)
    return Printed([table for table in tables if table.rows], len(lines) - blank, blank)


def json_table(text: str) -> Table:
    """Read rows made by json_agg or row_to_json; the line marks of an aligned print are taken off.

    json_agg begins a line with each row; of JSON that is laid out otherwise all rows stand on the first line.
    """
    values, rest = consecutive("\n".join(line.rstrip().removesuffix("+") for line in text.splitlines()))
    values.append(salvaged(rest))
    rows = [{str(key): plain(value) for key, value in row.items()} for row in dicts(values)]
    starts = [number for number, line in enumerate(text.splitlines(), 1) if re.match(r"\s*\[?\s*\{", line)]
    places = starts if len(starts) == len(rows) else [1] * len(rows)
    return Table(1, list(rows[0]) if rows else [], None, list(zip(places, rows, strict=True)))


def html_tables(text: str) -> Iterator[Table]:
    """Yield the tables of an HTML page."""
    for found in re.finditer(r"<table.*?(?:</table>|\Z)", text, re.DOTALL):
        columns: list[str] = []
        table: Table | None = None
        line = text.count("\n", 0, found.start()) + 1
        for part in re.split(r"(?=<tr\b)", found[0]):
            at, line = line, line + part.count("\n")
            cells = [(kind, clean(cell)) for kind, cell in re.findall(r"<(t[hd])\b[^<>]*>([^<]*)", part)]
            if cells and cells[0][0] == "th" and len(cells) > 1 and cells[1][0] == "td":
                continue
            if cells and all(kind == "th" for kind, _ in cells):
                columns = [cell for _, cell in cells]
                table = Table(at, columns)
            elif table is not None and len(cells) == len(columns):
                table.rows.append(
                    (at, {name: cell or None for name, (_, cell) in zip(columns, cells, strict=True)})
                )
        if table is not None:
            yield table


def clean(cell: str) -> str:
    """Return the text of an HTML cell."""
    return html.unescape(cell).replace("\xa0", " ").strip()


def csv_delimiter(lines: Sequence[str]) -> str | None:
    """Return the delimiter where the first line is the header of a CSV."""
    first = next((line for line in lines if line.strip()), "").strip("\ufeff")
    for delimiter in (",", ";", "\t"):
        names = first.split(delimiter)
        if len(names) > 1 and all(re.fullmatch(r'"?[A-Za-z_?][\w? ]*"?', name) for name in names):
            return delimiter
    return None


def csv_table(text: str, delimiter: str) -> Printed:
    """Read a CSV; a repeated header, as appended files have it, is no row."""
    page = Printed()
    table: Table | None = None
    for first, last, cells in split(text.removeprefix("\ufeff"), delimiter):
        count = last - first + 1
        if not any(cell.strip() for cell in cells):
            page.blank += count
        elif table is None:
            table = Table(first, [cell.strip() for cell in cells])
            page.in_records += count
        elif cells == table.columns or FOOTER.match(",".join(cells)):
            page.in_records += count
        elif len(cells) == len(table.columns):
            table.rows.append(
                (first, {name: cell or None for name, cell in zip(table.columns, cells, strict=True)})
            )
            page.in_records += count
        else:
            page.unparsed += count
            page.first_unparsed = page.first_unparsed or first
    page.tables = [table] if table is not None and table.rows else []
    return page


def printed(lines: Sequence[str]) -> Printed:
    """Read aligned, bordered, expanded and unaligned tables one after another."""
    reader = Reader()
    page = reader.page
    for number, raw in enumerate(lines, 1):
        line = raw.rstrip()
        after = lines[number].strip() if number < len(lines) else ""
        if not line.strip():
            page.blank += 1
        elif reader.frame(number, line, after) or reader.row(number, line) or ASIDE.match(line):
            page.in_records += 1
        else:
            page.unparsed += 1
            page.first_unparsed = page.first_unparsed or number
    page.tables = [table for table in page.tables if any(row for _, row in table.rows)]
    return page


@dataclass(slots=True)
class Reader:
    r"""The state of a reading: the table that rows go into, and the last stamp of ``\\watch``."""

    page: Printed = field(default_factory=Printed)
    table: Table | None = None
    expanded: bool = False
    stamp: str | None = None
    rules: int = 0
    """Rules since the header: in a bordered table the second one ends it."""

    def begin(self, number: int, columns: list[str]) -> Table:
        """Begin a table."""
        self.table, self.rules = Table(number, columns, self.stamp), 0
        self.page.tables.append(self.table)
        return self.table

    def frame(self, number: int, line: str, after: str) -> bool:
        """Read a line that stands around rows: a stamp, a header, a rule, a footer; False where it is none."""
        if len(line.strip()) < LONGEST_STAMP and (watch := WATCH.match(line.strip())):
            self.stamp, self.table, self.expanded = watch["stamp"] or watch["old"], None, False
        elif RECORD.match(line):
            fresh = self.table is None or not self.expanded or bool(re.search(r"\S 1\b", line))
            table = self.begin(number, []) if fresh else self.table
            assert table is not None
            table.rows.append((number, {}))
            self.expanded = True
        elif FOOTER.match(line):
            self.table, self.expanded = None, False
        elif RULE.match(line.strip()):
            self.rules += 1
            self.table = None if self.rules > 1 and line.strip()[:1] not in "-─═" else self.table
        elif not self.expanded and RULE.match(after) and not (self.rules == 1 and self.within(line)):
            self.begin(number, cells_of(line))
        elif self.table is None and UNALIGNED.match(line):
            self.begin(number, line.split("|"))
        else:
            return False
        return True

    def within(self, line: str) -> bool:
        """Is a line with borders a row of the table, and no header of another one?"""
        return self.table is not None and line.strip()[:1] in "|│║"

    def row(self, number: int, line: str) -> bool:
        """Read a row, or one field of an expanded row; False where it is none."""
        cells = cells_of(line)
        table = self.table
        if self.expanded and table is not None and len(cells) >= 2:
            if cells[0]:
                table.rows[-1][1][cells[0]] = " | ".join(cells[1:]).strip() or None
                table.columns.extend(cells[:1] if cells[0] not in table.columns else [])
            return True
        if table is not None and len(cells) > len(table.columns) and "query" in table.columns:
            cells = rejoined(cells, table.columns)
        if table is not None and table.columns[:1] != [""] and len(cells) == len(table.columns):
            pairs = zip(table.columns, cells, strict=True)
            table.rows.append((number, {name: cell or None for name, cell in pairs}))
            return True
        if table is not None and table.columns[:1] != [""]:
            return False
        bare = bare_row(line)
        if bare is None:
            return False
        if table is None or len(table.columns) != len(bare):
            table = self.begin(number, [""] * len(bare))
        table.rows.append((number, {str(index): cell for index, cell in enumerate(bare)}))
        return True


def cells_of(line: str) -> list[str]:
    """Return the cells of an aligned or bordered line, without the mark of a value that goes on."""
    inner = line.strip()
    bordered = inner[:1] in "|│║" and inner[-1:] in "|│║"
    parts = BAR.split(inner[1:-1] if bordered else line)
    return [part.strip().removesuffix("+").removesuffix("↵").rstrip() for part in parts]


def rejoined(cells: list[str], columns: Sequence[str]) -> list[str]:
    """Return the cells of a row whose query holds bars, as ``a || b`` does: what is too much is the query's."""
    at, surplus = columns.index("query"), len(cells) - len(columns)
    return [*cells[:at], "|".join(cells[at : at + surplus + 1]), *cells[at + surplus + 1 :]]


def bare_row(line: str) -> list[str] | None:
    """Return the fields of a row without a header that begins with a time: ``2026-11-29 12:20:40+00|11|8``."""
    cells = [cell.strip() for cell in line.split("|")]
    dated = re.match(r"^\d{4}-\d\d-\d\d[ T]\d\d:\d\d", cells[0])
    return cells if dated and 2 <= len(cells) <= 3 and all(cell.isdigit() for cell in cells[1:]) else None
