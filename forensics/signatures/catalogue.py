"""Loading: signatures are TOML blocks; a user's own prove themselves on their samples before they may match anything.

That those of the house hold what they promise is a work of tests, not of every run: proving takes three times as long as
reading them.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.model.errors import DefinitionError
from forensics.model.signature import LIMITS, Signature

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FOLDER = Path(__file__).parent
SHORTEST = 4
"""Characters of the shortest anchor: a shorter one stands in ordinary lines, and its pattern would run on all of them."""
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
OPTIONAL = ("wait", "parameters", "inner_of", "limits", "operation", "closes", "retells", "then")
CHOICES = {
    "side": ("client", "server", "gateway", "kernel", "monitor", "manager"),
    "marks": ("end", "start", "instant"),
    "counts": ("failure", "event", "context", "success"),
    "limits": tuple(LIMITS),
}
UNITS = ("s", "ms", "count", "text")
LISTS = ("anchors", "hit", "miss", "inner_of")
SLUG = r"[a-z0-9-]+\.[a-z0-9-]+"
CASE = "case"
"""Ids of blocks in a case file begin with this, whatever the file is called: no file of the catalogue has the name, so that
none can collide with an id of a later release, and a report shows whose signature it was."""


def load(
    *folders: Path, blocks: Iterable[Mapping[str, Any]] = (), where: str = "case.toml"
) -> tuple[Signature, ...]:
    """Return all signatures of the house, of the given folders and of a case file's blocks, sorted by id.

    Raises DefinitionError for one of the user's that is misspelt, incomplete, fails its own samples or has an id that exists.
    """
    found = {signature.id: signature for signature in house()}
    for folder in folders:
        if not files([folder]):
            raise DefinitionError("has no *.toml", where=folder.name, remedy="give a folder of signatures")
    own = [(signature, path.name) for path in files(folders) for signature in read(path)]
    case = f"{where}: [[signature]]"
    own += [(build(block, CASE, case), case) for block in blocks]
    for signature, place in own:
        if signature.id in found:
            raise DefinitionError(
                f"{signature.id}: the id exists already", where=place, remedy="choose another id"
            )
        prove(signature, f"{place}: {signature.id}")
        found[signature.id] = signature
    for signature, place in own:
        check_outer(signature, found, f"{place}: {signature.id}")
    check_closing(found)
    return tuple(found[name] for name in sorted(found))


@cache
def house() -> tuple[Signature, ...]:
    """Return the signatures of the package."""
    return tuple(signature for path in files([FOLDER]) for signature in read(path))


def files(folders: Iterable[Path]) -> list[Path]:
    """Return the definition files of folders, in a fixed order."""
    return [path for folder in folders for path in sorted(folder.glob("*.toml"))]


def fingerprint(*folders: Path, blocks: Iterable[Mapping[str, Any]] = ()) -> str:
    """Hash the catalogue with the user's own, so that a report says which one made it."""
    digest = hashlib.sha256()
    for path in files([FOLDER, *folders]):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    for block in blocks:
        digest.update(b"\0" + json.dumps(block, sort_keys=True, default=str).encode())
    return digest.hexdigest()


def read(path: Path) -> list[Signature]:
    """Read one file; the id of each block must begin with the file's name."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DefinitionError(
            f"not valid TOML ({error})", where=path.name, remedy="correct the file"
        ) from None
    except OSError as error:
        raise DefinitionError(
            f"cannot be read ({error.strerror})", where=path.name, remedy="make it readable"
        ) from None
    for key in table:
        if key != "signature":
            raise DefinitionError(
                f"unknown key {key!r}", where=path.name, remedy="blocks are called [[signature]]"
            )
    blocks = table.get("signature", [])
    if not isinstance(blocks, list) or not blocks:
        raise DefinitionError(
            "has no blocks", where=path.name, remedy="write each signature as a block [[signature]]"
        )
    return [build(block, path.stem, path.name) for block in blocks]


def build(block: Mapping[str, Any], prefix: str, place: str) -> Signature:
    """Check the keys of one block, whose id must begin with the prefix, and build its signature."""
    if not isinstance(block, dict):
        raise DefinitionError("is no table", where=place, remedy="write it as a block [[signature]]")
    name = str(block.get("id", "?"))
    where = f"{place}: {name}"
    for key, value in block.items():
        check_value(key, value, where)
    if lacking := [key for key in REQUIRED if key not in block]:
        raise DefinitionError(f"lacks {', '.join(lacking)}", where=where, remedy="add the missing keys")
    for key, allowed in CHOICES.items():
        if key in block and block[key] not in allowed:
            raise DefinitionError(
                f"{key} is {block[key]!r}", where=where, remedy=f"use one of {', '.join(allowed)}"
            )
    if not name.startswith(f"{prefix}."):
        told = "case." if prefix == CASE else "the file's name"
        raise DefinitionError(
            f"the id does not begin with {told}", where=where, remedy=f"call it {prefix}.<slug>"
        )
    if not re.fullmatch(SLUG, name):
        raise DefinitionError(
            "the id is no <library>.<slug>", where=where, remedy="use lower-case letters, digits and hyphens"
        )
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in block.items()
    }
    return Signature(**values)


def check_value(key: str, value: Any, where: str) -> None:
    """Refuse an unknown key and name the nearest known one; refuse a value of another type."""
    if key not in (*REQUIRED, *OPTIONAL):
        near = difflib.get_close_matches(key, (*REQUIRED, *OPTIONAL), n=1)
        raise DefinitionError(
            f"unknown key {key!r}",
            where=where,
            remedy=f"did you mean {near[0]!r}?" if near else "remove it",
        )
    if key in LISTS:
        fits, told = (
            isinstance(value, list) and all(isinstance(item, str) for item in value),
            "a list of texts",
        )
    elif key == "verified":
        fits, told = isinstance(value, bool), "true or false"
    elif key == "parameters":
        fits, told = isinstance(value, dict), "a table"
    else:
        fits, told = isinstance(value, str), "text in quotes"
    if not fits:
        raise DefinitionError(f"{key} is of the wrong type", where=where, remedy=f"give {told}")


def prove(signature: Signature, where: str) -> None:
    """Refuse a signature that fails its own samples, or whose parameters are not its pattern's groups."""
    check_samples(signature, where)
    check_anchors(signature, where)
    check_parameters(signature, where)
    check_further(signature, where)


def check_further(signature: Signature, where: str) -> None:
    """Refuse patterns around the text that are none, or that name nothing."""
    for key, text, groups in (("operation", signature.operation, 1), ("then", signature.then, 0)):
        try:
            found = re.compile(text or "").groups
        except re.error as error:
            raise DefinitionError(
                f"{key} is not a regex ({error})", where=where, remedy="correct the pattern"
            ) from None
        if text is not None and found < groups:
            raise DefinitionError(
                f"{key} has no group", where=where, remedy="put parentheses around what names the operation"
            )


def check_closing(signatures: Mapping[str, Signature]) -> None:
    """Refuse a text that ends what no text begins, or that does not name what ends, or that tells again of what no text tells."""
    for one in signatures.values():
        if one.retells is not None and one.retells not in signatures:
            raise DefinitionError(
                f"retells {one.retells!r}, which no signature is",
                where=one.id,
                remedy="give the id of an event",
            )
        if one.closes is None:
            continue
        begun = signatures.get(one.closes)
        if begun is None:
            raise DefinitionError(
                f"closes {one.closes!r}, which no signature is",
                where=one.id,
                remedy="give the id of an event",
            )
        if one.operation is None or begun.operation is None:
            raise DefinitionError(
                f"closes {one.closes!r}, but not both name an operation",
                where=one.id,
                remedy="give both the pattern whose group 1 names what begins and ends",
            )


def check_samples(signature: Signature, where: str) -> None:
    """Refuse a pattern that is no Rust regex, misses a hit or matches a miss."""
    lines = (*signature.hit, *signature.miss)
    try:
        said = pl.Series(lines, dtype=pl.String).str.contains(signature.pattern).to_list()
    except pl.exceptions.ComputeError as error:
        raise DefinitionError(
            f"the pattern is not a Rust regex ({error})",
            where=where,
            remedy="look-around and back-references are not available",
        ) from None
    for line, match in zip(lines, said, strict=True):
        if match != (line in signature.hit):
            raise DefinitionError(
                f"{'misses its hit' if line in signature.hit else 'matches its miss'} {line[:120]!r}",
                where=where,
                remedy="correct pattern or sample",
            )
    if not signature.hit:
        raise DefinitionError("has no hit", where=where, remedy="add at least one real line")


def check_anchors(signature: Signature, where: str) -> None:
    """Refuse a signature that the one pass could miss."""
    if short := [anchor for anchor in signature.anchors if len(anchor) < SHORTEST]:
        raise DefinitionError(
            f"the anchor {short[0]!r} is too short",
            where=where,
            remedy=f"an anchor has {SHORTEST} characters or more, and stands in no ordinary line",
        )
    if bare := [line for line in signature.hit if not any(anchor in line for anchor in signature.anchors)]:
        raise DefinitionError(
            f"no anchor stands in its hit {bare[0][:120]!r}",
            where=where,
            remedy="anchors are literal parts of every hit",
        )


def check_parameters(signature: Signature, where: str) -> None:
    """Refuse a group without a unit, a unit without a group, and a wait that is no parameter."""
    groups = set(re.findall(r"\(\?P?<(\w+)>", signature.pattern))
    if odd := sorted(groups ^ set(signature.parameters)):
        raise DefinitionError(
            f"{odd[0]!r} is a {'group without a unit' if odd[0] in groups else 'unit without a group'}",
            where=where,
            remedy="name every group of the pattern under [signature.parameters]",
        )
    if strange := [unit for unit in signature.parameters.values() if unit not in UNITS]:
        raise DefinitionError(
            f"unknown unit {strange[0]!r}", where=where, remedy=f"use one of {', '.join(UNITS)}"
        )
    if signature.counts == "success" and len(signature.parameters) != 1:
        raise DefinitionError(
            "counts as a success and has not exactly one parameter",
            where=where,
            remedy="name what succeeded, as the text of its failure does, and nothing else",
        )
    if signature.wait is not None and signature.wait not in signature.parameters:
        raise DefinitionError(
            f"wait {signature.wait!r} is no parameter",
            where=where,
            remedy="give it a unit under [signature.parameters]",
        )


def check_outer(signature: Signature, known: Mapping[str, Signature], where: str) -> None:
    """Refuse nesting in a signature that does not exist."""
    for outer in signature.inner_of:
        if outer not in known or outer == signature.id:
            near = difflib.get_close_matches(outer, [name for name in known if name != signature.id], n=1)
            raise DefinitionError(
                f"inner_of names {outer!r}, which is no other signature",
                where=where,
                remedy=f"did you mean {near[0]!r}?" if near else "forensics signatures lists all",
            )
