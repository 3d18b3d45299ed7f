"""Terms of a connection budget that people state: ``[[pool]]``, ``[database]`` and ``[pooler]`` of case.toml, and ``--set``."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from forensics.model.budget import DATABASE, POOLER, Client, Origin, Range, Said
from forensics.model.errors import UsageError
from forensics.sources import pool_libraries
from forensics.sources.server_files import MODES

if TYPE_CHECKING:
    from forensics.sources.casefile import CaseFile

SERVICE_TERMS = ("replicas", "surge", "processes", "pool", "overflow", "worker_pool", "cpus", "library")
TERMS = {
    DATABASE: ("max_connections", "reserved", "superuser_reserved_connections", "reserved_connections", "extra"),
    POOLER: ("pool_mode", "default_pool_size", "reserve_pool_size", "max_db_connections", "max_client_conn", "pools", "replicas", "surge"),
}  # fmt: skip
WORDS = ("library", "pool_mode")
"""Terms that are no numbers."""
LEAST = {"max_connections": 1, "cpus": 1, "pools": 1, "default_pool_size": 1}
"""The smallest number that makes sense where that is not 0."""
KEYS = {"size": "pool"}
"""Keys of ``[[pool]]`` that have another name than their term."""
ANONYMOUS = "app"


def statement(service: str, term: str, text: str, origin: Origin) -> Said:
    """Return one statement, checked.

    Raises UsageError for a number that is none or too small, an unknown library and an unknown pool mode.
    """
    if term == "library":
        return Said(service, term, library(text, origin.where), origin)
    if term == "pool_mode":
        if text not in MODES:
            raise UsageError(
                f"unknown pool_mode {text!r}", where=origin.where, remedy=f"modes are {', '.join(MODES)}"
            )
        return Said(service, term, text, origin)
    if term == "overflow" and text == "-1":
        return Said(service, term, Range(0, None), origin)
    least = LEAST.get(term, 0)
    if not re.fullmatch(r"\d{1,9}", text) or int(text) < least:
        raise UsageError(
            f"{text!r} is no number of {term}",
            where=origin.where,
            remedy=f"give a whole number of {least} or more",
        )
    return Said(service, term, Range.of(int(text)), origin)


def library(text: str, where: str) -> str:
    """Return the id of a library; UsageError with the nearest for one that is not known."""
    known = pool_libraries.load()
    by_name = {name: item.id for item in known.values() for name in (item.id, item.title.lower())}
    name = text.strip().lower()
    if name not in by_name:
        near = difflib.get_close_matches(name, by_name, n=1)
        remedy = f"did you mean {by_name[near[0]]!r}?" if near else f"known are {', '.join(known)}"
        raise UsageError(f"unknown library {text!r}", where=where, remedy=remedy)
    return by_name[name]


def from_case(case: CaseFile, name: str) -> tuple[list[Client], list[Said]]:
    """Return the services and terms of a case file.

    Raises UsageError for two ``[[pool]]`` blocks of one service: a second pool is its ``worker_pool``.
    """
    clients: dict[str, Client] = {}
    said: list[Said] = []
    for place, pool in enumerate(case.pools):
        service = pool.service or ANONYMOUS
        line = case.lines.get(("pool", place, "service"), "")
        if service in clients:
            raise UsageError(
                f"two [[pool]] blocks for {service!r}",
                where=f"{name}:{line}",
                remedy="give the second pool as worker_pool of the first",
            )
        if service in TERMS:
            raise UsageError(
                f"a service cannot be called {service!r}",
                where=f"{name}:{line}",
                remedy="give it another name",
            )
        clients[service] = Client(service)
        for key in ("replicas", "processes", "size", "overflow", "worker_pool", "cpus", "library"):
            value = getattr(pool, key)
            if value is not None:
                origin = Origin("case", at(case, name, "pool", place, key), f"{key} of [[pool]]")
                said.append(statement(service, KEYS.get(key, key), str(value), origin))
    for block, table in ((DATABASE, case.database), (POOLER, case.pooler)):
        for key, value in table.items():
            origin = Origin("case", at(case, name, block, 0, key), f"{key} of [{block}]")
            said.append(statement(block, key, str(value), origin))
    return list(clients.values()), said


def at(case: CaseFile, name: str, block: str, place: int, key: str) -> str:
    """Return file and line of a key."""
    line = case.lines.get((block, place, key))
    return f"{name}:{line}" if line else name


def from_option(text: str) -> Said:
    """Return what ``--set SERVICE.TERM=VALUE`` says; UsageError for another form and for an unknown term."""
    found = re.fullmatch(r"(.+)\.([A-Za-z_]+)=(.*)", text, re.DOTALL)
    where = f"--set {text}" if found else "--set"
    if found is None:
        raise UsageError(
            f"{text!r} has another form",
            where=where,
            remedy="write SERVICE.TERM=N, for example api.replicas=3",
        )
    service, term, value = found[1], found[2], found[3].strip()
    known = TERMS.get(service, SERVICE_TERMS)
    if term not in known:
        owner = next((name for name, all_ in TERMS.items() if term in all_), None)
        near = [f"{owner}.{term}"] if owner else difflib.get_close_matches(term, known, n=1)
        remedy = f"did you mean {near[0]!r}?" if near else f"terms are {', '.join(known)}"
        raise UsageError(f"unknown term {term!r}", where=where, remedy=remedy)
    return statement(service, term, value, Origin("option", where, "option"))


def max_connections(number: int) -> Said:
    """Return what ``--max-connections`` says."""
    return Said(
        DATABASE,
        "max_connections",
        Range.of(number),
        Origin("option", f"--max-connections {number}", "option"),
    )
