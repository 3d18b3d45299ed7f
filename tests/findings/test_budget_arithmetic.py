"""The arithmetic of the budget: ranges hold every number that they stand for, and more knowledge never turns a verdict round."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from forensics.findings.budget import settle
from forensics.model.budget import DATABASE, POOLER, Client, Deployment, Origin, Range, Said
from forensics.sources.pool_libraries import load

SMALL = st.integers(min_value=0, max_value=12)
OPTION = Origin("option", "--set", "option")


@st.composite
def ranges(draw: st.DrawFn) -> tuple[Range, int]:
    """Return a range and a number in it."""
    low, more = draw(SMALL), draw(st.none() | SMALL)
    inside = low + draw(st.integers(min_value=0, max_value=20 if more is None else more))
    return Range(low, None if more is None else low + more), inside


def holds(whole: Range, number: int) -> bool:
    """Is a number in a range?"""
    return whole.low <= number and (whole.high is None or number <= whole.high)


@given(ranges(), ranges())
def test_results_hold_the_numbers(one: tuple[Range, int], other: tuple[Range, int]) -> None:
    """Sum, product, minimum and hull of ranges hold those of the numbers in them."""
    (a, x), (b, y) = one, other

    assert holds(a + b, x + y)
    assert holds(a * b, x * y)
    assert holds(a.capped(b), min(x, y))
    assert holds(a.hull(b), x)
    if b.high is not None:
        assert holds(a - b, x - y)


@given(ranges(), ranges())
def test_verdict_is_that_of_every_number(one: tuple[Range, int], other: tuple[Range, int]) -> None:
    """What is said of two ranges is true of all numbers in them."""
    (a, x), (b, y) = one, other

    assert a.exceeds(b) in (None, x > y)


TERMS = ("replicas", "processes", "pool", "worker_pool", "overflow")


@given(
    st.dictionaries(st.sampled_from(TERMS), st.integers(min_value=1, max_value=20)),
    st.sampled_from([None, "sqlalchemy", "prisma", "knex", "pgx", "database-sql"]),
    st.sampled_from(["replicas", "processes"]),
    st.integers(min_value=1, max_value=20),
    st.booleans(),
)
def test_more_knowledge_turns_no_verdict(
    known: dict[str, int], library: str | None, term: str, number: int, pooled: bool
) -> None:
    """A term that was missing and is then stated may decide the budget, but never turns what was decided; nor does the demand leave its range."""
    said = [Said("api", name, Range.of(value), OPTION) for name, value in known.items()]
    if library:
        said.append(Said("api", "library", library, OPTION))
    if pooled:
        said.append(Said(POOLER, "pool_mode", "transaction", OPTION))
    less = settle(Deployment((Client("api"),), tuple(said)), load())
    if f"api.{term}" not in {item.id for item in less.missing}:
        return
    more = settle(Deployment((Client("api"),), (*said, Said("api", term, Range.of(number), OPTION))), load())

    assert less.over in (None, more.over)
    assert less.demand.low <= more.demand.low
    assert less.demand.high is None or (more.demand.high is not None and more.demand.high <= less.demand.high)


@given(*[st.integers(min_value=0, max_value=30) for _ in range(5)], st.integers(min_value=4, max_value=500))
def test_exact_terms_give_the_formula(
    replicas: int, processes: int, pool: int, worker: int, overflow: int, most: int
) -> None:
    """With every term stated the demand is replicas x processes x (pool + worker pool + overflow), and it is over above what is left."""
    values = dict(zip(TERMS, (replicas, processes, pool, worker, overflow), strict=True))
    said = [Said("api", name, Range.of(value), OPTION) for name, value in values.items()]
    said.append(Said(DATABASE, "max_connections", Range.of(most), OPTION))
    found = settle(Deployment((Client("api"),), tuple(said)), load())
    demand = replicas * processes * (pool + worker + overflow)

    assert found.demand.exact == demand
    assert found.over is (demand > most - 3)
    assert found.missing == ()


def test_the_most_trusted_statement_counts() -> None:
    """An option comes before a log, that before people, URLs and files; what else was said is kept."""
    kinds = ("file", "url", "case", "log", "option")
    said = [
        Said("api", "pool", Range.of(place), Origin(kind, kind, kind)) for place, kind in enumerate(kinds, 1)
    ]
    for n in range(1, len(kinds) + 1):
        found = settle(Deployment((Client("api"),), tuple(said[:n])), load())
        term = next(item for item in found.terms if item.id == "api.pool")

        assert term.value.exact == n
        assert term.origin is not None
        assert term.origin.kind == kinds[n - 1]
        assert len(term.others) == n - 1
