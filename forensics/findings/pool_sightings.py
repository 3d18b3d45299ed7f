"""What logs tell of a connection budget: sizes of pools in error texts, processes at work at once, the server's limit.

    QueuePool limit of size 5 overflow 10 reached          ->  pool 5, overflow 10
    (Current connection pool timeout: 20, connection limit: 12)  ->  pool 12

Reference: the texts of ``forensics signatures``.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import polars as pl

from forensics.model.budget import DATABASE, Client, Origin, Range, Said
from forensics.model.facts import Failures, Samples
from forensics.model.names import counts_connections
from forensics.model.source import Ref

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from forensics.model.budget import Library
    from forensics.model.digest import Evidence
    from forensics.model.facts import Facts

SIZES = {
    "sqlalchemy.queuepool-timeout": {"size": "pool", "overflow": "overflow"},
    "prisma.pool-timeout": {"limit": "pool"},
    "npgsql.pool-timeout": {"max": "pool"},
    "hikari.pool-timeout": {"total": "pool"},
    "tomcat-jdbc.pool-timeout": {"size": "pool"},
}
"""Signature to parameter to the term that it states; a pool that is exhausted has grown to its size."""
EXHAUSTED = "pool_exhaustion"
REFUSED = (
    "mysql.too-many-connections",
    "postgres.reserved-slots-role",
    "postgres.reserved-slots-superuser",
    "postgres.too-many-clients",
)
"""Texts of a server, or of its client, that no connection is left (PostgreSQL's 53300, MySQL's 1040)."""


class Seen(Protocol):
    """What was read and what was found in it: a case, or what is known of one while it is judged."""

    @property
    def evidence(self) -> Evidence:
        """The settled digest."""

    @property
    def facts(self) -> Facts:
        """Answers of the analyses."""


@dataclass(frozen=True, slots=True)
class Sightings:
    """What logs say: services whose pool ran out, terms, and remarks on which side refused."""

    clients: tuple[Client, ...]
    said: tuple[Said, ...]
    notes: tuple[str, ...]


def sightings(case: Seen, libraries: Mapping[str, Library], declared: Iterable[str]) -> Sightings:
    """Return what the logs of a case tell; services are called as the deployment calls them where that is certain."""
    by_prefix = {prefix: item for item in libraries.values() for prefix in item.signatures}
    declared = tuple(declared)
    said: list[Said] = []
    names: dict[str, str] = {}
    notes: list[str] = []
    for group in case.facts[Failures].groups:
        library = by_prefix.get(group.signature.partition(".")[0])
        if group.family == EXHAUSTED and library:
            name = names.setdefault(group.service, called(group.service, declared))
            where = place(case, group.refs[0])
            said.append(Said(name, "library", library.id, Origin("log", where, f"prints {group.signature}")))
            said.extend(sizes(case, group.signature, group.service, name))
            notes.append(
                f"{name}: {group.failures} waits for a pooled connection ran out ({group.signature}, {where}): its own pool was too small or held for too long"
            )
        elif group.signature in REFUSED:
            notes.append(
                f"{group.service}: {group.failures} connections were refused because the server's were all taken ({group.signature}, {place(case, group.refs[0])}): the demand passed what the server has"
            )
    for service, name in names.items():
        said.extend(processes(case, service, name))
    said.extend(limits(case))
    if declared:
        strange = sorted({name for name in names.values() if name not in declared})
        notes.extend(
            f"the pool of {name} in the logs belongs to no service of the given files and is not counted"
            for name in strange
        )
        said = [item for item in said if item.service not in strange]
        names = {service: name for service, name in names.items() if name not in strange}
    return Sightings(tuple(Client(name) for name in dict.fromkeys(names.values())), tuple(said), tuple(notes))


def called(service: str, declared: tuple[str, ...]) -> str:
    """Return the deployment's name of a service: ``shop-api-1`` and ``shop-api`` are its ``api`` if no other is."""
    plain = re.sub(r"[-_]\d+$", "", service)
    if service in declared:
        return service
    found = [name for name in declared if plain == name or plain.endswith((f"-{name}", f"_{name}"))]
    return max(found, key=len) if found else service


def place(case: Seen, ref: Ref) -> str:
    """Return file and line."""
    source = next((item for item in case.evidence.sources if item.index == ref.source), None)
    return f"{source.name if source else ref.source}:{ref.line}"


def sizes(case: Seen, signature: str, service: str, name: str) -> list[Said]:
    """Return what the error texts of one service say of its pool; a range where they say different things."""
    wanted = SIZES.get(signature, {})
    hits = case.evidence["hits"].filter((pl.col("signature") == signature) & (pl.col("service") == service))
    found: dict[str, list[tuple[int, Ref]]] = {}
    rows = hits.sort("ts", "source", "line").unique("parameters", keep="first", maintain_order=True)
    for row in rows.iter_rows(named=True):
        parameters: dict[str, Any] = json.loads(row["parameters"] or "{}")
        for parameter, term in wanted.items():
            text = str(parameters.get(parameter) or "")
            if re.fullmatch(r"-?\d{1,9}", text):
                found.setdefault(term, []).append((int(text), Ref(row["source"], row["line"])))
    return [
        Said(
            name,
            term,
            spanned(term, [value for value, _ in values]),
            Origin("log", place(case, values[0][1]), f"text of {signature}"),
        )
        for term, values in found.items()
    ]


def spanned(term: str, values: list[int]) -> Range:
    """Return the range of the numbers that texts state; an overflow of -1 has no limit."""
    if term == "overflow" and min(values) < 0:
        return Range(0, None)
    return Range(min(values), max(values))


def processes(case: Seen, service: str, name: str) -> list[Said]:
    """Return how many processes of a service wrote lines at the same time; one of several may be a parent without a pool."""
    rows = case.evidence["processes"].filter(
        (pl.col("service") == service) & pl.col("pid").is_not_null() & ~pl.col("naive")
    )
    spans = rows.group_by("boot", "pid").agg(
        pl.col("first_us").min(),
        pl.col("last_us").max(),
        pl.col("source", "first_line").sort_by("first_us").first(),
    )
    if not spans.height:
        return []
    edges = sorted(
        [(row["first_us"], 1) for row in spans.iter_rows(named=True)]
        + [(row["last_us"] + 1, -1) for row in spans.iter_rows(named=True)]
    )
    now = most = 0
    for _, step in edges:
        now += step
        most = max(most, now)
    first = spans.sort("first_us", "source", "first_line").row(0, named=True)
    where = place(case, Ref(first["source"], first["first_line"]))
    what = f"{most} process{'es' if most != 1 else ''} wrote lines at once{', one of which may be a parent without a pool' if most > 1 else ''}"
    return [Said(name, "seen", Range(max(1, most - 1), most), Origin("log", where, what))]


def limits(case: Seen) -> list[Said]:
    """Return the server's ``max_connections`` where a monitor recorded it beside its connections."""
    found = []
    for series in case.facts[Samples].series:
        if (
            counts_connections(series.series)
            and series.limit
            and series.refs
            and float(series.limit).is_integer()
        ):
            ref = min(series.refs.values())
            origin = Origin("log", place(case, ref), f"limit of the gauge {series.series}")
            found.append(Said(DATABASE, "max_connections", Range.of(int(series.limit)), origin))
    return found[:1] if len({item.value for item in found}) == 1 else []
