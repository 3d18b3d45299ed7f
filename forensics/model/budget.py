"""The nouns of the connection budget: what is said of a deployment, and what follows for its database server.

All numbers count connections, processes or machines; a number that is not known exactly is a :class:`Range`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

DATABASE = "database"
"""The name under which the server's own terms stand beside those of the services."""
POOLER = "pooler"
"""The same for the pooler's."""
ALL = "all"
"""The value of a term that is as large as the number that bounds it."""
KINDS = ("option", "log", "case", "url", "file", "default")
"""Who may say something, the most trusted first: what a running program printed comes before what it was told to be."""


@dataclass(frozen=True, slots=True)
class Range:
    """A whole number between ``low`` and ``high``, both included; ``high`` None: no upper bound is known."""

    low: int
    high: int | None

    @classmethod
    def of(cls, value: int) -> Range:
        """Return an exact number."""
        return cls(value, value)

    @property
    def exact(self) -> int | None:
        """The number where it is known exactly, else None."""
        return self.low if self.low == self.high else None

    def __add__(self, other: Range) -> Range:
        """Add two numbers."""
        high = None if self.high is None or other.high is None else self.high + other.high
        return Range(self.low + other.low, high)

    def __mul__(self, other: Range) -> Range:
        """Multiply two numbers that are not negative; nothing times any number is nothing."""
        if 0 in (self.high, other.high):
            return Range.of(0)
        high = None if self.high is None or other.high is None else self.high * other.high
        return Range(self.low * other.low, high)

    def __sub__(self, other: Range) -> Range:
        """Subtract a number whose upper bound is known."""
        assert other.high is not None
        return Range(self.low - other.high, None if self.high is None else self.high - other.low)

    def capped(self, cap: Range) -> Range:
        """Return the smaller of two numbers."""
        highs = [high for high in (self.high, cap.high) if high is not None]
        return Range(min(self.low, cap.low), min(highs, default=None))

    def hull(self, other: Range) -> Range:
        """Return the range that holds both."""
        high = None if self.high is None or other.high is None else max(self.high, other.high)
        return Range(min(self.low, other.low), high)

    def exceeds(self, limit: Range) -> bool | None:
        """Is this number greater than ``limit``? None where the ranges leave both answers open."""
        if limit.high is not None and self.low > limit.high:
            return True
        if self.high is not None and self.high <= limit.low:
            return False
        return None

    def __str__(self) -> str:
        """Show the number: ``12``, ``3 to 9`` or ``at least 3``."""
        if self.exact is not None:
            return str(self.low)
        return f"at least {self.low}" if self.high is None else f"{self.low} to {self.high}"


ANY = Range(1, None)
"""What is known of a number that nobody states: there is at least one."""


@dataclass(frozen=True, slots=True)
class Given:
    """A variable that a statement's value was taken from."""

    name: str
    where: str | None
    """File and line that set it; None where none of the given files does."""
    default: bool = False
    """Did the default of the reference stand in for it, because it is not set, or set to nothing?"""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a statement comes from."""

    kind: str
    """One of :data:`KINDS`."""
    where: str
    """File and line, option, log line, or the reference of a default."""
    text: str
    """What stands there, in words; never a value that may be secret."""
    given: tuple[Given, ...] = ()
    """The variables that stand there instead of a value."""


@dataclass(frozen=True, slots=True)
class Said:
    """One statement about one term; ``value`` None: the term is named there, but its value is not (an unset variable)."""

    service: str
    term: str
    value: Range | str | None
    origin: Origin


@dataclass(frozen=True, slots=True)
class Link:
    """One way from a service to a database, as a connection URL or a host setting names it."""

    name: str
    """The variable that holds it; its value is never kept."""
    engine: str
    """``postgres`` or ``mysql``."""
    server: str | None
    """Host and port, None where a variable without a value hides it."""
    database: str | None = None
    user: str | None = None
    pooled: bool = False
    """Does it lead through a pooler?"""
    port: int | None = None
    worker: bool = False
    """Is it a pool of its own for jobs?"""
    said: tuple[Said, ...] = ()
    """What it says of the pool that it opens."""
    remark: str = ""
    """What else is to be known of that."""


@dataclass(frozen=True, slots=True)
class Own:
    """What a pooler's file sets for one database or one user alone, in place of what holds for all."""

    of: str
    """``database`` (the name by which clients ask the pooler for it; ``*`` is any that has no entry of its own) or ``user``."""
    name: str
    said: Said
    """Its term is that for all which it stands in for: ``default_pool_size``, ``reserve_pool_size`` or ``max_db_connections``."""


@dataclass(frozen=True, slots=True)
class Client:
    """A service that connects to a database."""

    name: str
    links: tuple[Link, ...] = ()
    """The main one first."""


@dataclass(frozen=True, slots=True)
class Deployment:
    """Everything that files, options and logs say."""

    clients: tuple[Client, ...] = ()
    said: tuple[Said, ...] = ()
    upstream: tuple[Link, ...] = ()
    """Where the pooler connects to; those of its file are called as its entries of databases are."""
    has_pooler: bool = False
    notes: tuple[str, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    """Inputs that could not be used, and why."""
    own: tuple[Own, ...] = ()
    """What the pooler's file sets for single databases and users."""

    def plus(self, *said: Said) -> Deployment:
        """Return the deployment with further statements."""
        return replace(self, said=(*self.said, *said))


@dataclass(frozen=True, slots=True)
class Library:
    """A library with a connection pool, and what its pool is where nobody sets it."""

    id: str
    title: str
    reference: str
    least: int | None
    """The default size of the pool is the greater of this and ``per_cpu`` x CPUs + ``plus``; None: it has no limit."""
    per_cpu: int = 0
    plus: int = 0
    overflow: int = 0
    processes: int | None = None
    """Processes of a program that uses it, None where the server that runs it decides."""
    runtime: str = ""
    """Why so many."""
    note: str = ""
    fixed: bool = False
    """Where only the least size of a pool is stated, is that its size?"""
    unlimited: Mapping[str, int] | None = None
    """Term to the value that means that there is no limit."""
    parameters: Mapping[str, str] | None = None
    """Parameter of a connection URL, in lower case, to the term that it sets."""
    signatures: tuple[str, ...] = ()
    """First parts of the ids of failure texts that this library prints."""
    words: tuple[str, ...] = ()
    """Names of settings begin so where this library is used."""

    def pool(self, cpus: Range) -> Range:
        """Return the default size of the pool on a machine with so many CPUs."""
        if self.least is None:
            return ANY
        made = Range.of(self.per_cpu) * cpus + Range.of(self.plus)
        high = None if made.high is None else max(self.least, made.high)
        return Range(max(self.least, made.low), high)


@dataclass(frozen=True, slots=True)
class Term:
    """One term of the sum, with where it came from and what else was said of it."""

    service: str
    name: str
    value: Range
    unit: str
    origin: Origin | None
    """None where nobody states it: ``value`` is then all that can be said."""
    why: str = ""
    """Why it is missing."""
    remedy: str = ""
    """How to state it."""
    others: tuple[Said, ...] = ()
    """Statements that were passed over because another is trusted more, and say something else."""
    text: str | None = None
    """What is said where that is no number."""

    @property
    def id(self) -> str:
        """The name that ``--set`` takes."""
        return f"{self.service}.{self.name}"


@dataclass(frozen=True, slots=True)
class Demand:
    """What one service may open at most."""

    service: str
    library: str | None
    """Title of the library, None where none is known."""
    pooled: bool
    terms: tuple[Term, ...]
    total: Range
    formula: str
    peak: Range | None = None
    """The same while it is updated and new replicas run beside the old ones; None where none do."""
    peak_formula: str = ""


UPDATE = "server_update"
"""The server's slots during an update."""


@dataclass(frozen=True, slots=True)
class Check:
    """One limit that the demand is held against."""

    name: str
    """``server`` (slots of the database), ``server_update`` (the same while services are updated whose new replicas start first), ``pooler_clients``
    (``max_client_conn``) or ``pooler_sessions`` (session mode)."""
    demand: Range
    capacity: Range
    formula: str

    @property
    def over(self) -> bool | None:
        """Does the demand pass the limit? None: not determined."""
        return self.demand.exceeds(self.capacity)


def any_over(checks: Iterable[Check]) -> bool | None:
    """Is any limit passed? None: not determined."""
    found = [check.over for check in checks]
    return True if True in found else None if None in found else False


@dataclass(frozen=True, slots=True)
class Budget:
    """The demand on one database server against what it can serve."""

    engine: str
    servers: tuple[str, ...]
    demands: tuple[Demand, ...]
    terms: tuple[Term, ...]
    """All terms: those of the services, of the pooler and of the server."""
    checks: tuple[Check, ...]
    """The server's slots first."""
    notes: tuple[str, ...] = ()

    @property
    def demand(self) -> Range:
        """Connections that the server may be asked for at most."""
        return self.checks[0].demand

    @property
    def capacity(self) -> Range:
        """Connections that the server has for them."""
        return self.checks[0].capacity

    @property
    def over(self) -> bool | None:
        """Is any limit passed? None: not determined."""
        return any_over(self.checks)

    @property
    def usual(self) -> bool | None:
        """Is any limit passed while nothing is updated? None: not determined."""
        return any_over(check for check in self.checks if check.name != UPDATE)

    @property
    def update(self) -> Check | None:
        """The server's slots during an update; None where no service starts new replicas first."""
        return next((check for check in self.checks if check.name == UPDATE), None)

    @property
    def missing(self) -> tuple[Term, ...]:
        """Terms that nobody states."""
        return tuple(term for term in self.terms if term.origin is None)

    @property
    def assumed(self) -> tuple[Term, ...]:
        """Terms that rest on the default of a library or program."""
        return tuple(term for term in self.terms if term.origin and term.origin.kind == "default")


@dataclass(frozen=True, slots=True)
class Budgeted:
    """The answer of one run: the budget, and the one without ``--set`` where that differs."""

    after: Budget
    before: Budget | None = None
    skipped: tuple[tuple[str, str], ...] = ()
