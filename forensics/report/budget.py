"""The connection budget as JSON and as text.

Connection budget of db:5432: over by 23

  api     3 x 2 x (12 + 0 + 0) = 72    Prisma
  worker  4 x 1 x (12 + 0 + 0) = 48    Prisma

  demand    72 + 48 = 120
  capacity  100 - 3 = 97
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forensics.report.markdown import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forensics.model.budget import Budget, Budgeted, Check, Demand, Origin, Range, Said, Term
    from forensics.report.masking import Masker

SCHEMA = "forensics.budget/1"
VERDICTS = {True: "over", False: "within", None: "not determined"}
LIMITS = {
    "server": "slots of the server",
    "server_update": "slots of the server during an update",
    "pooler_clients": "clients of the pooler",
    "pooler_sessions": "sessions of the pooler",
}


def document(answer: Budgeted, masks: Masker | None) -> dict[str, Any]:
    """Return the budget as data, masked by ``masks``; passwords are in none.

    ``demand`` and ``capacity`` are numbers where they are known exactly, else null; ``demand_range`` and ``capacity_range`` are
    [smallest, largest], the largest null where there is none. ``over`` is null where it is not determined. ``before`` is the same
    without ``--set``, else null.
    """
    made = {
        "schema": SCHEMA,
        **budget(answer.after),
        "before": budget(answer.before) if answer.before else None,
        "skipped": [{"name": name, "why": why} for name, why in answer.skipped],
    }
    masked: dict[str, Any] = masks.document(made) if masks else made
    return masked


def budget(found: Budget) -> dict[str, Any]:
    """Return one budget."""
    return {
        "verdict": VERDICTS[found.over],
        "over": found.over,
        "engine": found.engine,
        "servers": list(found.servers),
        "demand": found.demand.exact,
        "demand_range": span(found.demand),
        "capacity": found.capacity.exact,
        "capacity_range": span(found.capacity),
        "services": [service(item) for item in found.demands],
        "checks": [check(item) for item in found.checks],
        "terms": [term(item) for item in found.terms],
        "missing": [{"name": item.id, "why": item.why, "remedy": item.remedy} for item in found.missing],
        "assumptions": [item.id for item in found.assumed],
        "notes": list(found.notes),
    }


def span(value: Range) -> list[int | None]:
    """Return the smallest and the largest number."""
    return [value.low, value.high]


def service(item: Demand) -> dict[str, Any]:
    """Return what one service may open."""
    return {
        "name": item.service,
        "library": item.library,
        "pooled": item.pooled,
        "demand": item.total.exact,
        "demand_range": span(item.total),
        "formula": item.formula,
        "update_range": span(item.peak) if item.peak else None,
        "update_formula": item.peak_formula or None,
    }


def check(item: Check) -> dict[str, Any]:
    """Return one limit."""
    return {
        "name": item.name,
        "over": item.over,
        "demand_range": span(item.demand),
        "capacity_range": span(item.capacity),
        "formula": item.formula,
    }


def term(item: Term) -> dict[str, Any]:
    """Return one term with where it came from."""
    origin = item.origin
    return {
        "name": item.id,
        "service": item.service,
        "term": item.name,
        "value": item.text if item.text is not None else item.value.exact if origin else None,
        "range": None if item.text is not None else span(item.value),
        "unit": item.unit or None,
        "from": source(origin) if origin else None,
        "passed_over": [passed(said) for said in item.others],
    }


def passed(said: Said) -> dict[str, Any]:
    """Return a statement that another one came before."""
    value = said.value if said.value is None or isinstance(said.value, str) else str(said.value)
    return {"value": value, **source(said.origin)}


def source(origin: Origin) -> dict[str, Any]:
    """Return where a statement comes from; ``given``: the variables that gave its value, each with its line or null, and whether the default stood in."""
    given = [{"name": one.name, "where": one.where, "default": one.default} for one in origin.given]
    return {"kind": origin.kind, "where": origin.where, "text": origin.text, "given": given}


def text(found: dict[str, Any]) -> str:
    """Return the page for a document."""
    lines = [*head(found), ""]
    if found["before"]:
        lines += [*change(found), ""]
    lines += [*services(found), "", *limits(found), "", *terms(found)]
    if found["missing"]:
        lines += ["", "Missing:"]
        lines += [f"  {item['name']}: {item['why']}; give {item['remedy']}" for item in found["missing"]]
    if found["notes"]:
        lines += ["", "Notes:", *(f"  {note}" for note in found["notes"])]
    if found["skipped"]:
        lines += ["", "Not read:", *(f"  {item['name']}: {item['why']}" for item in found["skipped"])]
    return "".join(f"{visible(line).rstrip()}\n" for line in lines)


def head(found: dict[str, Any]) -> list[str]:
    """Return the verdict and by how much."""
    where = f" of {' = '.join(found['servers'])}" if found["servers"] else ""
    return [f"Connection budget{where}: {verdict(found)}"]


def verdict(found: dict[str, Any]) -> str:
    """Say the verdict in words, with the margin of the limit that decides it."""
    said = str(found["verdict"])
    if found["over"] is None:
        needs = ", ".join(item["name"] for item in found["missing"])
        return f"{said} (needs {needs})" if needs else said
    deciding = [item for item in found["checks"] if item["over"] is found["over"]]
    margins = [margin(item) for item in deciding]
    if found["over"]:
        worst = max(range(len(deciding)), key=lambda place: margins[place])
        which = "" if deciding[worst]["name"] == "server" else f" the {LIMITS[deciding[worst]['name']]}"
        least = "" if exact(deciding[worst]) else "at least "
        return f"{said}{which} by {least}{margins[worst]}"
    least = "" if exact(deciding[0]) else "at least "
    return f"{said}, {least}{-margins[0]} left"


def exact(item: dict[str, Any]) -> bool:
    """Are demand and capacity of a limit known exactly?"""
    return all(low == high for low, high in (item["demand_range"], item["capacity_range"]))


def margin(item: dict[str, Any]) -> int:
    """Return by how much the demand passes a limit at least; negative: what is left of it at least."""
    demand, capacity = item["demand_range"], item["capacity_range"]
    return int(demand[0] - capacity[1]) if item["over"] else int(demand[1] - capacity[0])


def change(found: dict[str, Any]) -> list[str]:
    """Return before and after, side by side."""
    before = found["before"]
    rows = [
        ("", "before", "after"),
        ("demand", number(before["demand_range"]), number(found["demand_range"])),
        ("capacity", number(before["capacity_range"]), number(found["capacity_range"])),
        ("verdict", verdict(before), verdict(found)),
    ]
    return columns(rows)


def number(pair: list[int | None]) -> str:
    """Show a number or a range."""
    low, high = pair
    if low == high:
        return str(low)
    return f"at least {low}" if high is None else f"{low} to {high}"


def columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Align rows of cells, two blanks before each."""
    wide = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return [
        "".join(f"  {cell:<{width}}" for cell, width in zip(row, wide, strict=True)).rstrip() for row in rows
    ]


def services(found: dict[str, Any]) -> list[str]:
    """Return one line for each service: replicas x processes x (pool + worker pool + overflow)."""
    rows = [("service", "replicas x processes x (pool + worker pool + overflow)", "library")]
    rows += [
        (
            item["name"],
            f"{item['formula']} = {number(item['demand_range'])}",
            f"{item['library'] or 'unknown'}{', through the pooler' if item['pooled'] else ''}",
        )
        for item in found["services"]
    ]
    return columns(rows)


def limits(found: dict[str, Any]) -> list[str]:
    """Return each limit with its arithmetic."""
    rows = [("limit", "demand", "capacity", "", "how")]
    rows += [
        (
            LIMITS[item["name"]],
            number(item["demand_range"]),
            number(item["capacity_range"]),
            VERDICTS[item["over"]],
            item["formula"],
        )
        for item in found["checks"]
    ]
    return columns(rows)


def terms(found: dict[str, Any]) -> list[str]:
    """Return every term with where it came from."""
    rows = [("term", "value", "from")]
    rows += [(item["name"], shown(item), origin(item)) for item in found["terms"]]
    return columns(rows)


def shown(item: dict[str, Any]) -> str:
    """Show a term's value."""
    return str(item["value"]) if item["range"] is None else number(item["range"])


def origin(item: dict[str, Any]) -> str:
    """Say where a term came from, and what it comes before."""
    source = item["from"]
    if source is None:
        return "missing"
    if source["kind"] == "default":
        said = f"assumed: {source['text']}"
        said += f" ({source['where']})" if source["where"] else ""
    elif source["text"] in ("option", source["where"]):
        said = source["where"]
    else:
        said = f"{source['where']}: {source['text']}"
    said += given(source)
    others = "; ".join(f"{one['value']} in {one['where']}{given(one)}" for one in item["passed_over"])
    return f"{said}; comes before {others}" if others else said


def given(source: dict[str, Any]) -> str:
    """Say which variables gave a value: `` (WORKERS in .env:2)``, `` (default, WORKERS not set)``."""
    parts = []
    for one in source["given"]:
        if one["default"]:
            state = f"is empty in {one['where']}" if one["where"] else "not set"
            parts.append(f"default, {one['name']} {state}")
        elif one["where"]:
            parts.append(f"{one['name']} in {one['where']}")
    return f" ({'; '.join(parts)})" if parts else ""
