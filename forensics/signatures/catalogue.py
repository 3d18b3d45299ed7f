"""Loading: every block is checked through polars' own regex engine before it may match anything."""

from __future__ import annotations

import difflib
import hashlib
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from forensics.model.errors import DefinitionError
from forensics.model.signature import Signature

FOLDER = Path(__file__).parent
REQUIRED = (
    "id",
    "family",
    "title",
    "pattern",
    "anchors",
    "side",
    "library",
    "marks",
    "counts",
    "verified",
    "means",
    "does_not_mean",
    "reference",
    "hit",
    "miss",
)
OPTIONAL = ("wait", "parameters", "inner_of")
CHOICES = {
    "side": ("client", "server", "gateway", "kernel", "monitor", "manager"),
    "marks": ("end", "start", "instant"),
    "counts": ("failure", "event", "context"),
}
UNITS = ("s", "ms", "count", "text")


@cache
def load(*folders: Path) -> tuple[Signature, ...]:
    """Return all signatures of the package and of the given folders, sorted by id."""
    found: dict[str, Signature] = {}
    for path in (path for folder in (FOLDER, *folders) for path in sorted(folder.glob("*.toml"))):
        for signature in read(path):
            if signature.id in found:
                raise DefinitionError(
                    f"{signature.id}: the id exists already", where=path.name, remedy="choose another id"
                )
            found[signature.id] = signature
    return tuple(found[name] for name in sorted(found))


def fingerprint(*folders: Path) -> str:
    """Hash the catalogue, so that a report says which one made it."""
    digest = hashlib.sha256()
    for path in (path for folder in (FOLDER, *folders) for path in sorted(folder.glob("*.toml"))):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def read(path: Path) -> list[Signature]:
    """Read one file; the id of each block must begin with the file's name."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise DefinitionError(
            f"not valid TOML ({error})", where=path.name, remedy="correct the file"
        ) from None
    for key in table:
        if key != "signature":
            raise DefinitionError(
                f"unknown key {key!r}", where=path.name, remedy="blocks are called [[signature]]"
            )
    return [build(block, path) for block in table.get("signature", [])]


def build(block: dict[str, Any], path: Path) -> Signature:
    """Check one block and build its signature."""
    name = str(block.get("id", "?"))
    where = f"{path.name}: {name}"
    for key in block:
        if key not in (*REQUIRED, *OPTIONAL):
            near = difflib.get_close_matches(key, (*REQUIRED, *OPTIONAL), n=1)
            raise DefinitionError(
                f"unknown key {key!r}",
                where=where,
                remedy=f"did you mean {near[0]!r}?" if near else "remove it",
            )
    if lacking := [key for key in REQUIRED if key not in block]:
        raise DefinitionError(f"lacks {', '.join(lacking)}", where=where, remedy="add the missing keys")
    for key, allowed in CHOICES.items():
        if block[key] not in allowed:
            raise DefinitionError(
                f"{key} is {block[key]!r}", where=where, remedy=f"use one of {', '.join(allowed)}"
            )
    if not name.startswith(f"{path.stem}."):
        raise DefinitionError(
            "the id does not begin with the file's name", where=where, remedy=f"call it {path.stem}.<slug>"
        )
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in block.items()
    }
    signature = Signature(**values)
    prove(signature, where)
    return signature


def prove(signature: Signature, where: str) -> None:
    """Refuse a signature that fails its own samples."""
    try:
        said = (
            pl.Series([*signature.hit, *signature.miss], dtype=pl.String)
            .str.contains(signature.pattern)
            .to_list()
        )
    except pl.exceptions.ComputeError as error:
        raise DefinitionError(
            f"the pattern is not a Rust regex ({error})",
            where=where,
            remedy="look-around and back-references are not available",
        ) from None
    lines = (*signature.hit, *signature.miss)
    for line, match in zip(lines, said, strict=True):
        if match != (line in signature.hit):
            raise DefinitionError(
                f"{'misses its hit' if line in signature.hit else 'matches its miss'} {line[:120]!r}",
                where=where,
                remedy="correct pattern or sample",
            )
    if not signature.hit:
        raise DefinitionError("has no hit", where=where, remedy="add at least one real line")
    if bare := [line for line in signature.hit if not any(anchor in line for anchor in signature.anchors)]:
        raise DefinitionError(
            f"no anchor stands in its hit {bare[0][:120]!r}",
            where=where,
            remedy="anchors are literal parts of every hit",
        )
    if signature.wait is not None and signature.wait not in signature.parameters:
        raise DefinitionError(
            f"wait {signature.wait!r} is no parameter",
            where=where,
            remedy="give it a unit under [signature.parameters]",
        )
