"""The connection budgets of the incidents, before and after what was done about them."""

from __future__ import annotations

import golden

from forensics import budgeting, pipeline


def settled(name: str, *sets: str, files: tuple[str, ...] = (), case: bool = False) -> tuple[object, ...]:
    """Return (demand, capacity, over) before --set and after."""
    folder = golden.INCIDENTS / name
    asked = budgeting.Asked(tuple(str(folder / file) for file in files), (), sets, None, ())
    answer = budgeting.answer(asked, pipeline.Options(case=folder / "case.toml" if case else None))
    return tuple(
        (one.demand.exact, one.capacity.exact, one.over)
        for one in (answer.before, answer.after)
        if one is not None
    )


def test_a_second_pool_fits() -> None:
    """One process with a pool of ten, and with five more for the jobs: the server never was short of slots."""
    assert settled("knex-shared-pool", "status-web.worker_pool=5", case=True) == (
        (13, 107, False),
        (18, 107, False),
    )


def test_replicas_times_pools_pass_the_server() -> None:
    """Eight workers, two APIs and billing, each with a pool of twelve; with five workers they fit."""
    found = settled("prisma-replicas", "worker.replicas=5", files=("inputs/compose.yaml",))

    assert found == ((132, 100, True), (96, 100, False))
