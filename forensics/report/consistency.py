"""What holds inside any report, whatever its inputs: ids are unique and lead somewhere, durations and sums are right."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from forensics.report.comparison import Mismatch, instant, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Law = Callable[[dict[str, Any]], Iterator[Mismatch]]

LEADS = (
    ("findings", "evidence", "evidence"),
    ("timeline", "evidence", "evidence"),
    ("hypotheses", "for", "evidence"),
    ("hypotheses", "against", "evidence"),
    ("stalls", "evidence", "evidence"),
    ("evidence", "source", "sources"),
    ("sources", "copy_of", "sources"),
    ("incidents", "findings", "findings"),
    ("actions", "findings", "findings"),
    ("blind_gaps", "incidents_inside", "incidents"),
    ("blind_gaps", "incidents_overlapping", "incidents"),
)
"""A list, the key of its rows that names others by id, and the list in which those are."""
SPANS = ("incidents", "silences", "stalls", "blind_gaps")
FATES = 6
"""What can become of a probe: answered, late, missed, failed, in a blind gap, not known."""
CLOSE_S = 0.0015
"""Instants are written to the millisecond."""
ROUNDED_S = 0.1
"""Delays are written to a tenth of a second."""
QUOTIENT = re.compile(r"(\d[\d.,]* s|\(\d[\d.,]* s(?: \+ \d[\d.,]* s)+\)) / (\d[\d.,]*) s = (\d+)")
PRODUCT = re.compile(r"(\d+) \u00d7 (\d[\d.,]*) s \+ (\d[\d.,]*) s = (\d[\d.,]*) s")
SECONDS = re.compile(r"\d[\d.,]*")


def broken(document: dict[str, Any]) -> list[Mismatch]:
    """Return what a document says that cannot be true of any inputs."""
    return [found for law in LAWS for found in law(document)]


def table(document: dict[str, Any], key: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the rows of a list, each with its place."""
    rows = document.get(key)
    if not isinstance(rows, list):
        return []
    named = [(row.get("id", index), row) for index, row in enumerate(rows) if isinstance(row, dict)]
    return [(f"{key}[{'id=' if isinstance(name, str) else ''}{name}]", row) for name, row in named]


def number(value: Any) -> float | None:
    """Return a number, None for anything else."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def ids_are_unique(document: dict[str, Any]) -> Iterator[Mismatch]:
    """No two rows of a list have one id."""
    for key in ("sources", "incidents", "hypotheses", "findings", "evidence"):
        seen: set[Any] = set()
        for place, row in table(document, key):
            if (name := shown(row.get("id"))) in seen:
                yield Mismatch(place, "two rows have this id")
            seen.add(name)


def ids_lead_somewhere(document: dict[str, Any]) -> Iterator[Mismatch]:
    """Every id that is named is there."""
    for key, field, target in LEADS:
        known = {shown(row.get("id")) for _, row in table(document, target)}
        for place, row in table(document, key):
            named = row.get(field)
            for name in named if isinstance(named, list) else [named]:
                if name is not None and shown(name) not in known:
                    yield Mismatch(f"{place}.{field}", f"{shown(name)} is not among the {target}")


def spans_end_after_their_start(document: dict[str, Any]) -> Iterator[Mismatch]:
    """No span ends before it starts."""
    for key in SPANS:
        for place, row in table(document, key):
            start, end = instant(row.get("start")), instant(row.get("end"))
            if start and end and end < start:
                yield Mismatch(place, f"ends {row['end']}, before its start {row['start']}")


def durations_are_differences(document: dict[str, Any]) -> Iterator[Mismatch]:
    """A duration is end minus start, a delay the answer minus when it was due."""
    for place, row in table(document, "incidents"):
        yield from difference(
            f"{place}.duration_s", row.get("duration_s"), row.get("start"), row.get("end"), CLOSE_S
        )
    for place, series in table(document, "probes"):
        for index, (_, late) in enumerate(table(series, "late")):
            where = f"{place}.late[{index}]"
            answered = late.get("answered")
            yield from difference(
                f"{where}.delay_s", late.get("delay_s"), late.get("due"), answered, ROUNDED_S
            )
            for at, (_, rival) in enumerate(table(late, "rivals")):
                said = rival.get("delay_s")
                yield from difference(
                    f"{where}.rivals[{at}].delay_s", said, rival.get("due"), answered, ROUNDED_S
                )


def difference(place: str, said: Any, start: Any, end: Any, within: float) -> Iterator[Mismatch]:
    """Compare a duration with its two ends."""
    lo, hi, seconds = instant(start), instant(end), number(said)
    if lo and hi and seconds is not None:
        real = (hi - lo).total_seconds()
        if abs(real - seconds) > within:
            yield Mismatch(place, f"the report says {seconds:g} s, but {end} - {start} is {real:g} s")


def lines_add_up(document: dict[str, Any]) -> Iterator[Mismatch]:
    """Lines in records, blank and unparsed make all lines."""
    for place, row in table(document, "sources"):
        lines = row.get("lines")
        if isinstance(lines, dict):
            parts = [number(lines.get(key)) for key in ("in_records", "blank", "unparsed")]
            total = number(lines.get("total"))
            known = [part for part in parts if part is not None]
            if total is not None and len(known) == len(parts) and sum(known) != total:
                yield Mismatch(
                    f"{place}.lines", f"{' + '.join(f'{part:g}' for part in known)} is not {total:g}"
                )


def probes_add_up(document: dict[str, Any]) -> Iterator[Mismatch]:
    """Every due probe has one fate, and the fates make all that were due."""
    for place, row in table(document, "probes"):
        counts = [number(row.get(key)) for key in ("answered", "in_blind_gap", "not_known")]
        counts += [
            float(len(row[key])) for key in ("late", "missed", "failed") if isinstance(row.get(key), list)
        ]
        known = [n for n in counts if n is not None]
        due = number(row.get("due"))
        if due is not None and len(known) == FATES and sum(known) != due:
            said = " + ".join(f"{n:g}" for n in known)
            yield Mismatch(f"{place}.due", f"the report says {due:g}, but {said} is {sum(known):g}")


def days_add_up(document: dict[str, Any]) -> Iterator[Mismatch]:
    """The days of a signature make its whole, inside and outside of incidents, and no day has more inside than in all."""
    sums: dict[tuple[str, str], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for place, row in table(document, "daily"):
        failures, inside = number(row.get("failures")), number(row.get("inside"))
        if failures is not None and inside is not None and inside > failures:
            yield Mismatch(
                f"{place}.inside", f"{inside:g} inside incidents, but only {failures:g} on the whole day"
            )
        for key in ("failures", "lines", "inside"):
            sums[shown(row.get("service")), shown(row.get("signature"))][key] += number(row.get(key)) or 0
    for place, row in table(document, "signatures"):
        days = sums.get((shown(row.get("service")), shown(row.get("id"))))
        for key, of_days in (("failures", "failures"), ("lines", "lines"), ("inside_incidents", "inside")):
            said = number(row.get(key))
            if days is not None and said is not None and days[of_days] != said:
                yield Mismatch(f"{place}.{key}", f"the report says {said:g}, its days make {days[of_days]:g}")


def quotients_are_right(document: dict[str, Any]) -> Iterator[Mismatch]:
    """A formula that divides gives its result, cut to a whole number."""
    for place, row in table(document, "findings"):
        if (shown_formula := QUOTIENT.fullmatch(str(row.get("formula")))) is None:
            continue
        terms, part, result = shown_formula.groups()
        whole = sum(decimal(term) for term in SECONDS.findall(terms))
        if not part.strip("0.,") or abs(whole / decimal(part) - int(result)) >= 1:
            yield Mismatch(f"{place}.formula", f"{row['formula']} is not so")


def decimal(text: str) -> float:
    """Read a number of a formula, which has no groups, with the decimal mark of either language."""
    return float(text.replace(",", "."))


def products_are_right(document: dict[str, Any]) -> Iterator[Mismatch]:
    """A formula that multiplies a period and adds a timeout gives its result, to a tenth of a second."""
    for place, row in table(document, "findings"):
        for times, period, rest, result in PRODUCT.findall(str(row.get("formula"))):
            real = int(times) * decimal(period) + decimal(rest)
            if abs(real - decimal(result)) > ROUNDED_S:
                yield Mismatch(f"{place}.formula", f"{row['formula']} is not so")


LAWS: tuple[Law, ...] = (
    ids_are_unique,
    ids_lead_somewhere,
    spans_end_after_their_start,
    durations_are_differences,
    lines_add_up,
    probes_add_up,
    days_add_up,
    quotients_are_right,
    products_are_right,
)
