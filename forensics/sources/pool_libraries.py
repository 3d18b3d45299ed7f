"""Libraries with a connection pool, read from ``pool_libraries.toml``: defaults, URL parameters, and where each is documented."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from forensics.model.budget import Library

PATH = Path(__file__).with_suffix(".toml")
UNLIMITED = "unlimited"
TUPLES = ("signatures", "words")


@cache
def load() -> dict[str, Library]:
    """Return the libraries by id."""
    blocks = tomllib.loads(PATH.read_text(encoding="utf-8"))["library"]
    return {block["id"]: build(block) for block in blocks}


def build(block: dict[str, Any]) -> Library:
    """Return one library; a misspelt key is a TypeError."""
    said = dict(block)
    pool = said.pop("pool")
    size = {"least": None} if pool == UNLIMITED else pool
    lists: dict[str, Any] = {key: tuple(said.pop(key, ())) for key in TUPLES}
    return Library(**said, **size, **lists)


@cache
def by_parameter() -> dict[str, tuple[str, str]]:
    """Return parameter of a connection URL, in lower case, to library and term."""
    return {
        name: (library.id, term)
        for library in load().values()
        for name, term in (library.parameters or {}).items()
    }
