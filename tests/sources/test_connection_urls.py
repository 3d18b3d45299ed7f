"""Connection URLs: where they lead, what they say of the pool, and that no password leaves them."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.sources.connection_urls import read
from forensics.sources.pool_libraries import load
from forensics.sources.variables import expand

MARK = "hunter2"


@pytest.mark.parametrize(
    ("text", "server", "database", "user"),
    [
        ("postgresql://app:x@db:5433/app", "db:5433", "app", "app"),
        ("postgres://db/app", "db:5432", "app", None),
        ("postgresql:///app?host=/run/postgresql", "localhost:5432", "app", None),
        ("postgresql://app@%2Frun%2Fpostgresql/app", "localhost:5432", "app", "app"),
        ("postgresql://app:x@127.0.0.1/app", "localhost:5432", "app", "app"),
        ("postgresql://app:x@[2001:db8::1]:5432/app", "[2001:db8::1]:5432", "app", "app"),
        ("postgresql://app:x@h1:5432,h2:5432/app", "h1,h2:5432", "app", "app"),
        ("mysql2://app:x@DB/shop", "db:3306", "shop", "app"),
        ("jdbc:mysql://db:3306/shop?user=app&password=x", "db:3306", "shop", "app"),
        ("host=db user=app password='a b' dbname=app", "db:5432", "app", "app"),
        ("Server=db;Port=5433;User Id=app;Password=x;Database=app", "db:5433", "app", "app"),
        (expand("postgres://app:x@${HOST}/app", {}), None, "app", "app"),
        (expand("postgres://app:${PASSWORD}@db/app", {}), "db:5432", "app", "app"),
    ],
)
def test_address(text: str, server: str | None, database: str | None, user: str | None) -> None:
    """Server, database and user are found in every form; what a variable hides is unknown."""
    found = read(text)

    assert found is not None
    assert (found.server, found.database, found.user) == (server, database, user)


@pytest.mark.parametrize(
    "text", ["", "redis://x:6379/0", "amqp://x", "https://db.example/app", "db", "mongodb://db/x"]
)
def test_other_addresses_are_none(text: str) -> None:
    """What leads to no database with slots is no connection URL."""
    assert read(text) is None


@pytest.mark.parametrize(
    ("text", "pooled"),
    [
        ("postgres://a@pgbouncer/x", True),
        ("postgres://a@db:6432/x", True),
        ("postgres://a@db/x?pgbouncer=true", True),
        ("postgres://a@ep-1-pooler.example/x", True),
        ("postgres://a@db/x", False),
    ],
)
def test_pooler(text: str, pooled: bool) -> None:
    """A pooler is known by its name, its port, or Prisma's parameter."""
    found = read(text)

    assert found is not None
    assert found.pooled is pooled


PASSWORDS = st.text(alphabet=string.ascii_letters + string.digits + "@/?#:&=%+; $!", max_size=20)


@given(PASSWORDS, PASSWORDS)
def test_no_part_of_a_password_leaves(before: str, after: str) -> None:
    """Whatever signs a password has, nothing of it stands in what is read of the server, and the server is right."""
    found = read(f"postgresql://app:{before}{MARK}{after}@db:5432/app?connection_limit=7")

    assert found is not None
    assert found.server == "db:5432"
    assert MARK not in repr(found)
    assert ("pool", "7", "connection_limit") in found.settings


@given(st.text(alphabet="ab@:/?#&=.,[]%+; ", max_size=30))
def test_any_text_is_read_or_not(rest: str) -> None:
    """No text is a fault, and a server is always a name or nothing."""
    found = read(f"postgres://{rest}")

    assert found is None or found.server is None or "@" not in found.server


def test_libraries_are_documented() -> None:
    """Each library says where its default is documented, and names real terms."""
    for library in load().values():
        assert library.reference.startswith("https://"), library.id
        assert set((library.parameters or {}).values()) <= {"pool", "overflow", "min_pool"}
        assert (library.processes is None) == (not library.runtime)
