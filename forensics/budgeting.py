"""The connection budget: reads what files, options and logs say of a deployment, and adds it up; beside the pipeline, which reads the logs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from forensics import pipeline
from forensics.findings import budget, pool_sightings
from forensics.model.budget import Budgeted, Deployment
from forensics.model.errors import UnreadableError
from forensics.sources import casefile, deployment, pool_libraries, stated

if TYPE_CHECKING:
    from collections.abc import Iterable

    from forensics.model.budget import Budget, Said


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line says."""

    inputs: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    """``SERVICE.TERM=VALUE``, as given."""
    max_connections: int | None = None
    servers: tuple[str, ...] = ()


def answer(asked: Asked, options: pipeline.Options) -> Budgeted:
    """Return the budget of what was given; with ``--set`` also the one before.

    Raises UsageError where the inputs are wrong or tell of no service, UnreadableError where nothing of them could be read; one that could
    not be read beside others is listed with the reason.
    """
    changes = tuple(stated.from_option(text) for text in asked.sets)
    fixed = () if asked.max_connections is None else (stated.max_connections(asked.max_connections),)
    found = told(asked, options)
    if asked.inputs and not found.clients and not changes:
        reasons = (*found.notes, *(f"{name}: {why}" for name, why in found.skipped))
        raise UnreadableError(
            " ".join(["no input tells of a connection pool", *(f"({reason})" for reason in reasons)]),
            remedy="give Compose files, .env files with a connection URL, or logs in which a pool ran out",
        )
    libraries = pool_libraries.load()
    after = budget.settle(found.plus(*fixed, *changes), libraries, asked.servers)
    return Budgeted(after, before(found, fixed, changes, asked), found.skipped)


def before(
    found: Deployment, fixed: tuple[Said, ...], changes: tuple[Said, ...], asked: Asked
) -> Budget | None:
    """Return the budget without the changes, None where there are none, or nothing is known without them."""
    if not changes or not found.clients:
        return None
    return budget.settle(found.plus(*fixed), pool_libraries.load(), asked.servers)


def told(asked: Asked, options: pipeline.Options) -> Deployment:
    """Return everything that is said, the case file's services and the logs' among it."""
    case = casefile.read(options.case) if options.case else casefile.CaseFile()
    inputs = deployment.sort(asked.inputs)
    found = deployment.read(inputs, asked.urls)
    clients, said = stated.from_case(case, options.case.name if options.case else "case.toml")
    found = replace(found, clients=(*found.clients, *clients)).plus(*said)
    return with_logs(found, inputs.logs, options) if inputs.logs else found


def with_logs(found: Deployment, logs: Iterable[str], options: pipeline.Options) -> Deployment:
    """Return the deployment with what the logs tell of it."""
    case = pipeline.investigate(logs, options)
    declared = [client.name for client in found.clients]
    seen = pool_sightings.sightings(case, pool_libraries.load(), declared)
    skipped = tuple((source.name, source.skipped) for source in case.evidence.sources if source.skipped)
    return replace(
        found,
        clients=(*found.clients, *(client for client in seen.clients if client.name not in declared)),
        notes=(*found.notes, *seen.notes),
        skipped=(*found.skipped, *skipped),
    ).plus(*seen.said)
