"""The terms of a connection budget: what is said of each, which statement counts, and what is assumed where nobody says.

    api: 3 x 2 x (12 + 0 + 10)   replicas x processes x (pool + worker pool + overflow)

A term that nobody states, and for which no library or program has a default, is missing: it stands in the sum as a range.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from forensics.model.budget import ALL, ANY, KINDS, Client, Demand, Library, Origin, Range, Said, Term

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Heard = dict[tuple[str, str], list[Said]]
"""Statements by service and term."""
UNITS = {
    "replicas": "replicas",
    "surge": "replicas",
    "processes": "processes",
    "cpus": "CPUs",
    "pools": "pools",
    "pool_mode": "",
    "library": "",
}
"""Everything else counts connections."""
SUMMED = ("pool", "worker_pool", "overflow")
MAY_BE_NONE = ("overflow", "worker_pool", "extra", "replicas", "surge")
"""Terms that may be 0 where a file names them without a number."""


def best(said: Iterable[Said]) -> tuple[Said | None, tuple[Said, ...]]:
    """Return the statement that counts (the most trusted kind, of that the last), and those that say something else."""
    listed = list(said)
    if not listed:
        return None, ()
    first = min(KINDS.index(item.origin.kind) for item in listed)
    winner = next(item for item in reversed(listed) if KINDS.index(item.origin.kind) == first)
    others = [
        item
        for item in listed
        if item.value not in (None, winner.value) and item.origin.kind != "default" and item is not winner
    ]
    return winner, tuple(others)


def term(service: str, name: str, said: Iterable[Said], default: Term | None = None, why: str = "") -> Term:
    """Return one term: what is said of it, else its default, else that it is missing."""
    winner, others = best(said)
    unit = UNITS.get(name, "connections")
    if winner is not None and isinstance(winner.value, Range):
        return Term(service, name, winner.value, unit, winner.origin, others=others)
    if winner is None and default is not None:
        return default
    if winner is not None:
        why = f"{winner.origin.text} ({winner.origin.where})"
    least = Range(0, None) if name in MAY_BE_NONE and winner else ANY
    return Term(service, name, least, unit, None, why, f"--set {service}.{name}=N", others)


def assumed(service: str, name: str, value: Range, text: str, where: str = "") -> Term:
    """Return a term that rests on a default."""
    return Term(service, name, value, UNITS.get(name, "connections"), Origin("default", where, text))


def demand(
    client: Client, heard: Heard, libraries: Mapping[str, Library], through: bool, notes: list[str]
) -> Demand:
    """Return what one service may open at most."""
    said = of_client(client, heard)
    winner, _ = best(said["library"])
    library = libraries.get(str(winner.value)) if winner else None
    terms = {
        "replicas": count_replicas(client.name, said),
        "processes": count_processes(client.name, said, library),
    }
    cpus = None
    if library and library.per_cpu and not said["pool"]:
        cpus = term(
            client.name,
            "cpus",
            said["cpus"],
            why=f"the default pool of {library.title} depends on the machine",
        )
    terms["pool"] = size(client.name, said, library, cpus)
    nothing = "no second pool is named"
    terms["worker_pool"] = term(
        client.name,
        "worker_pool",
        said["worker_pool"],
        assumed(client.name, "worker_pool", Range.of(0), nothing),
    )
    terms["overflow"] = term(client.name, "overflow", said["overflow"], overflow(client.name, library))
    remark(client.name, said["concurrency"], terms, notes)
    sum_ = terms["pool"].value + terms["worker_pool"].value + terms["overflow"].value
    total = terms["replicas"].value * terms["processes"].value * sum_
    inner = " + ".join(shown(terms[name].value) for name in SUMMED)
    each = f"{shown(terms['processes'].value)} x ({inner})"
    replicas = terms["replicas"].value
    extra = surge(client.name, said["surge"], replicas)
    found = Demand(
        client.name,
        library.title if library else None,
        through,
        (*terms.values(), *((extra,) if extra else ()), *((cpus,) if cpus else ())),
        total,
        f"{shown(replicas)} x {each}",
    )
    if extra is None:
        return found
    return replace(
        found,
        peak=total + extra.value * terms["processes"].value * sum_,
        peak_formula=f"({shown(replicas)} + {shown(extra.value)}) x {each}",
    )


def surge(service: str, said: Iterable[Said], replicas: Range) -> Term | None:
    """Return how many new replicas run beside the old ones during an update, at most as many as there are; None where nobody says that any do."""
    winner, others = best(said)
    if winner is None:
        return None
    if winner.value == ALL:
        found = Term(service, "surge", replicas, UNITS["surge"], winner.origin, others=others)
    else:
        found = term(service, "surge", [*others, winner])
        found = replace(found, value=found.value.capped(replicas))
    return None if found.value == Range.of(0) else found


def of_client(client: Client, heard: Heard) -> defaultdict[str, list[Said]]:
    """Return what is said of one service, by term; what a worker's URL says of its pool is the worker pool."""
    said: defaultdict[str, list[Said]] = defaultdict(list)
    for (service, name), all_ in heard.items():
        if service == client.name:
            said[name].extend(all_)
    for place, link in enumerate(client.links):
        for item in link.said:
            name = "worker_pool" if item.term == "pool" and place else item.term
            said[name].append(replace(item, term=name))
    return said


def shown(value: Range) -> str:
    """Write a number of a formula."""
    return str(value) if value.exact is not None else f"({value})"


def count_replicas(service: str, said: Mapping[str, list[Said]]) -> Term:
    """Return how often a service runs; where logs show its processes and nobody says how often, these are all of them."""
    firm = [item for item in said["replicas"] if item.origin.kind != "default"]
    if not firm and not stated(said["processes"]) and (seen := said["seen"]):
        origin = seen[-1].origin
        return Term(
            service,
            "replicas",
            Range.of(1),
            "replicas",
            replace(origin, text="the processes that logs show are those of all replicas"),
        )
    return term(service, "replicas", said["replicas"], why="nobody says how often it runs")


def stated(said: list[Said]) -> bool:
    """Does anybody but a default say it?"""
    return any(item.origin.kind != "default" for item in said)


def count_processes(service: str, said: Mapping[str, list[Said]], library: Library | None) -> Term:
    """Return how many processes one replica has, each with pools of its own."""
    if said["processes"] and (stated(said["processes"]) or not said["seen"]):
        return term(service, "processes", said["processes"])
    if said["seen"]:
        return seen_processes(service, said)
    default = None
    if library and library.processes is not None:
        default = assumed(
            service, "processes", Range.of(library.processes), library.runtime, library.reference
        )
    return term(service, "processes", (), default, "nobody says how many processes one replica has")


def seen_processes(service: str, said: Mapping[str, list[Said]]) -> Term:
    """Return the processes that wrote lines at the same time, shared out among the replicas; one of several may be a parent without a pool."""
    item = said["seen"][-1]
    assert isinstance(item.value, Range)
    found, _ = best(said["replicas"])
    replicas = (
        found.value.exact if found and stated(said["replicas"]) and isinstance(found.value, Range) else 1
    )
    if not replicas:
        return Term(service, "processes", ANY, "processes", item.origin)
    each = Range(max(1, item.value.low // replicas), max(1, -(-(item.value.high or 1) // replicas)))
    return Term(service, "processes", each, "processes", item.origin)


def size(service: str, said: Mapping[str, list[Said]], library: Library | None, cpus: Term | None) -> Term:
    """Return the size of a service's pool."""
    if said["min_pool"] and not said["pool"] and (library is None or library.fixed):
        least, others = best(said["min_pool"])
        assert least is not None
        origin = replace(least.origin, text=f"{least.origin.text}; max_size is not given and is the same")
        return term(service, "pool", [replace(least, term="pool", origin=origin), *others])
    default = None
    if library:
        value = library.pool(cpus.value if cpus else ANY)
        least, _ = best(said["min_pool"])
        if least and isinstance(least.value, Range):
            value = Range(max(value.low, least.value.low), value.high and max(value.high, least.value.low))
        default = assumed(service, "pool", value, default_text(library), library.reference)
    return term(service, "pool", said["pool"], default, "neither a size nor a library is named")


def default_text(library: Library) -> str:
    """Say what a library's default is."""
    if library.least is None:
        return f"{library.title} sets no limit"
    formula = ""
    if library.per_cpu:
        each = f"{library.per_cpu} x CPUs" if library.per_cpu > 1 else "CPUs"
        formula = (
            f": {each} + {library.plus}" if library.plus else f": the greater of {library.least} and {each}"
        )
    return f"default of {library.title}{formula}{f' ({library.note})' if library.note else ''}"


def overflow(service: str, library: Library | None) -> Term:
    """Return how far a pool may grow beyond its size where nobody says."""
    if library is None:
        return assumed(service, "overflow", Range.of(0), "no library with an overflow is named")
    if library.overflow:
        return assumed(
            service, "overflow", Range.of(library.overflow), f"default of {library.title}", library.reference
        )
    return assumed(service, "overflow", Range.of(0), f"{library.title} has none")


def remark(service: str, jobs: list[Said], terms: Mapping[str, Term], notes: list[str]) -> None:
    """Note where jobs at once are more than the connections that one process has for them."""
    numbers = [item for item in jobs if isinstance(item.value, Range) and item.value.exact is not None]
    total = sum(item.value.low for item in numbers if isinstance(item.value, Range))
    own = terms["worker_pool"].value
    pool = own if own.high else terms["pool"].value + terms["overflow"].value
    if pool.high is not None and total > pool.high:
        names = ", ".join(f"{item.origin.text} ({item.origin.where})" for item in numbers)
        notes.append(
            f"{service}: {total} jobs at once may wait for {pool} pooled connections of their process: {names}"
        )
