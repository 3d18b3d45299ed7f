"""What every signature promises, checked for all of them at once, through polars' regex engine."""

from __future__ import annotations

import json
import re
import tomllib
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl
import pytest

from forensics.model.errors import DefinitionError
from forensics.signatures import Matcher, catalogue, load

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from forensics.model.signature import Signature

CATALOGUE = load()
BY_ID = {signature.id: signature for signature in CATALOGUE}
WAITING = [signature for signature in CATALOGUE if signature.wait is not None]
MATCHER = Matcher(CATALOGUE)
FILES = sorted(catalogue.FOLDER.glob("*.toml"))


@pytest.fixture(scope="module")
def matched() -> dict[str, list[set[str]]]:
    """Return, for each signature, the ids that the whole catalogue finds on each of its hits."""
    owners = [(signature.id, hit) for signature in CATALOGUE for hit in signature.hit]
    found = MATCHER.match(pl.Series([hit for _, hit in owners]))
    by_row: dict[int, set[str]] = defaultdict(set)
    for row, name in found.select("row", "signature").iter_rows():
        by_row[row].add(name)
    out: dict[str, list[set[str]]] = defaultdict(list)
    for row, (owner, _) in enumerate(owners):
        out[owner].append(by_row[row])
    return out


@pytest.mark.parametrize("signature", CATALOGUE, ids=lambda signature: signature.id)
class TestSignature:
    """The contract of one signature block."""

    def test_hits_and_misses(self, signature: Signature) -> None:
        """The pattern finds all of `hit` and none of `miss`."""
        said = pl.Series([*signature.hit, *signature.miss]).str.contains(signature.pattern).to_list()

        assert said == [True] * len(signature.hit) + [False] * len(signature.miss)

    def test_anchors_stand_in_hits(self, signature: Signature) -> None:
        """Each hit has one of the literals that make the pattern run."""
        assert [hit for hit in signature.hit if not any(anchor in hit for anchor in signature.anchors)] == []

    def test_id_names_its_file(self, signature: Signature) -> None:
        """`postgres.x` lives in postgres.toml."""
        assert re.fullmatch(catalogue.SLUG, signature.id)
        assert not signature.id.startswith(f"{catalogue.CASE}.")
        assert (catalogue.FOLDER / f"{signature.id.split('.')[0]}.toml").exists()

    def test_is_found_on_its_own_hits(self, signature: Signature, matched: dict[str, list[set[str]]]) -> None:
        """The matcher reports it on each of its hits, unless a declared outer text covers the line."""
        lacking = [
            found
            for found in matched[signature.id]
            if signature.id not in found and not found & set(signature.inner_of)
        ]

        assert lacking == []

    def test_every_collision_is_declared(
        self, signature: Signature, matched: dict[str, list[set[str]]]
    ) -> None:
        """Two failures on one line are counted twice unless one of them is declared as inner of the other."""
        others = {name for found in matched[signature.id] for name in found - {signature.id}}
        undeclared = {
            name
            for name in others
            if signature.id not in BY_ID[name].inner_of and name not in signature.inner_of
        }

        assert set() == undeclared

    def test_parameters_are_captured(self, signature: Signature) -> None:
        """Every declared parameter is a group of the pattern, and every group is declared."""
        groups = set(re.findall(r"\(\?P<(\w+)>", signature.pattern))

        assert set(signature.parameters) == groups
        assert set(signature.parameters.values()) <= set(catalogue.UNITS)

    def test_every_run_may_trust_it(self, signature: Signature) -> None:
        """What is asked of a user's own signature on every run holds for those of the house."""
        catalogue.prove(signature, signature.id)
        catalogue.check_outer(signature, BY_ID, signature.id)

    def test_inner_of_names_signatures(self, signature: Signature) -> None:
        """`inner_of` names signatures that exist, and never itself."""
        assert set() == set(signature.inner_of) - set(BY_ID)
        assert signature.id not in signature.inner_of


@pytest.mark.parametrize("signature", WAITING, ids=lambda signature: signature.id)
def test_wait_is_a_number(signature: Signature) -> None:
    """A signature that tells of a wait reads its length from at least one of its hits; a failure marks its end."""
    said = Matcher([signature]).match(pl.Series(signature.hit))
    ended = replace(signature, marks="end")
    waits = [ended.wait_s(json.loads(text)) for text in said["parameters"]]

    assert signature.marks == "end" or signature.counts == "event"
    assert any(wait is not None and wait > 0 for wait in waits)


def test_ids_are_unique() -> None:
    """Two signatures never share an id."""
    ids = [signature.id for signature in CATALOGUE]

    assert sorted(set(ids)) == ids


def test_every_file_has_signatures() -> None:
    """No file is empty, and nothing but the files makes the catalogue."""
    counts = [len(catalogue.read(path)) for path in FILES]

    assert 0 not in counts
    assert sum(counts) == len(CATALOGUE)


def test_order_of_rows_does_not_matter() -> None:
    """A line is matched alone, whatever stands around it."""
    lines = [hit for signature in CATALOGUE[:60] for hit in signature.hit]
    forward = MATCHER.match(pl.Series(lines))
    backward = MATCHER.match(pl.Series(lines[::-1])).with_columns(row=len(lines) - 1 - pl.col("row"))

    assert (
        forward.rows()
        == backward.select(pl.col("row").cast(pl.UInt32), "signature", "parameters")
        .sort("row", "signature")
        .rows()
    )


def test_inner_text_counts_once() -> None:
    """On a line that holds an outer text, the inner one is not reported."""
    inner = Matcher([BY_ID["sqlalchemy.queuepool-timeout"]])
    lines = pl.Series(
        ["x", "", "QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00"]
    )

    assert inner.match(lines).rows() == [
        (2, "sqlalchemy.queuepool-timeout", '{"size":"5","overflow":"10","timeout":"30.00"}')
    ]


def test_no_message_no_hit() -> None:
    """An empty series gives an empty table of the same columns."""
    assert list(MATCHER.match(pl.Series([], dtype=pl.String)).columns) == ["row", "signature", "parameters"]


BLOCK = {
    "id": '"my.slug"', "family": '"pool_exhaustion"', "title": '"t"', "library": '"l"', "side": '"client"', "anchors": '["boom"]',
    "pattern": "'boom (?P<n>\\d+)'", "marks": '"instant"', "counts": '"failure"', "verified": "true", "reference": '"r"', "means": '"m"',
    "does_not_mean": '"d"', "hit": '["boom 1"]', "miss": '["bang 1"]',
}  # fmt: skip


def written(folder: Path, **changes: str | None) -> Path:
    """Write one block with some keys changed, or left out where None."""
    keys = {key: value for key, value in {**BLOCK, **changes}.items() if value is not None}
    path = folder / "my.toml"
    path.write_text(
        "[[signature]]\n"
        + "".join(f"{key} = {value}\n" for key, value in keys.items())
        + '[signature.parameters]\nn = "count"\n'
    )
    return path


def bad() -> Iterator[tuple[dict[str, str | None], str]]:
    """Yield changes to a good block and what the loader says about each."""
    yield {"caveats": '"x"'}, "my.toml: my.slug: unknown key 'caveats'"
    yield {"familia": '"x"'}, "my.toml: my.slug: unknown key 'familia'; did you mean 'family'?"
    yield {"hit": None}, "my.toml: my.slug: lacks hit"
    yield {"hit": "[]"}, "my.toml: my.slug: has no hit"
    yield {"hit": '["bang 1", "boom 1"]', "miss": "[]"}, "my.toml: my.slug: misses its hit 'bang 1'"
    yield {"miss": '["boom 2"]'}, "my.toml: my.slug: matches its miss 'boom 2'"
    yield {"anchors": '["bang"]'}, "my.toml: my.slug: no anchor stands in its hit 'boom 1'"
    yield {"side": '"clent"'}, "my.toml: my.slug: side is 'clent'; use one of client"
    yield (
        {"id": '"other.slug"'},
        "my.toml: other.slug: the id does not begin with the file's name; call it my.<slug>",
    )
    yield {"pattern": "'boom (?=\\d)'"}, "my.toml: my.slug: the pattern is not a Rust regex"
    yield {"operation": '"job (x"'}, "my.toml: my.slug: operation is not a regex"
    yield {"operation": '"job x"'}, "my.toml: my.slug: operation has no group; put parentheses"
    yield {"then": '"x)"'}, "my.toml: my.slug: then is not a regex"
    yield {"then": "3"}, "my.toml: my.slug: then is of the wrong type; give text in quotes"
    yield {"wait": '"m"'}, "my.toml: my.slug: wait 'm' is no parameter"
    yield {"id": "1 1"}, "my.toml: not valid TOML"
    yield {"id": '"my.Slug"'}, "my.toml: my.Slug: the id is no <library>.<slug>; use lower-case letters"
    yield {"id": "3"}, "my.toml: 3: id is of the wrong type; give text in quotes"
    yield {"hit": '"boom 1"'}, "my.toml: my.slug: hit is of the wrong type; give a list of texts"
    yield {"verified": '"yes"'}, "my.toml: my.slug: verified is of the wrong type; give true or false"
    yield {"anchors": '["boo"]'}, "my.toml: my.slug: the anchor 'boo' is too short"
    yield {"limits": '"often"'}, "my.toml: my.slug: limits is 'often'; use one of once, rate, merged"
    yield {"pattern": "'boom \\d+'"}, "my.toml: my.slug: 'n' is a unit without a group"
    yield (
        {"pattern": "'(?P<word>boom) (?P<n>\\d+)'"},
        "my.toml: my.slug: 'word' is a group without a unit; name every group",
    )
    yield (
        {"inner_of": '["sqlalchemy.queuepol-timeout"]'},
        "my.toml: my.slug: inner_of names 'sqlalchemy.queuepol-timeout', which is no other signature; did you mean 'sqlalchemy.queuepool-timeout'?",
    )


@pytest.mark.parametrize(
    ("changes", "said"), list(bad()), ids=lambda value: next(iter(value)) if isinstance(value, dict) else ""
)
def test_bad_block_is_refused(changes: dict[str, str | None], said: str, tmp_path: Path) -> None:
    """A block that is misspelt, incomplete or fails its own samples does not load and says where and why."""
    written(tmp_path)
    assert [one.id for one in load(tmp_path) if one.id not in BY_ID] == ["my.slug"]

    written(tmp_path, **changes)
    with pytest.raises(DefinitionError) as refused:
        load(tmp_path)

    assert str(refused.value).startswith(said)


def test_own_signatures_are_added(tmp_path: Path) -> None:
    """A folder of one's own adds to the catalogue; an id that exists already is refused."""
    written(tmp_path)
    assert {one.id for one in load(tmp_path)} - set(BY_ID) == {"my.slug"}
    taken = tmp_path / "again"
    taken.mkdir()
    (taken / "sqlalchemy.toml").write_text((catalogue.FOLDER / "sqlalchemy.toml").read_text())

    with pytest.raises(DefinitionError, match="the id exists already"):
        load(taken)


def block(**changes: object) -> dict[str, object]:
    """Return a good block of a case file."""
    keys = tomllib.loads("\n".join(f"{key} = {value}" for key, value in BLOCK.items()))
    return {**keys, "id": "case.slug", "parameters": {"n": "count"}, **changes}


def test_blocks_of_a_case_file_are_added() -> None:
    """They prove themselves as a folder's do, and their ids begin with ``case.`` whatever the file is called."""
    assert {one.id for one in load(blocks=[block()], where="incident-7.toml")} - set(BY_ID) == {"case.slug"}
    for changes, said in (
        (
            {"id": "nginx.slug"},
            "[[signature]]: nginx.slug: the id does not begin with case.; call it case.<slug>",
        ),
        ({"famly": "x"}, "[[signature]]: case.slug: unknown key 'famly'; did you mean 'family'?"),
        ({"hit": ["bang"]}, " case.slug: misses its hit 'bang'; correct pattern or sample"),
    ):
        with pytest.raises(DefinitionError) as refused:
            load(blocks=[block(**changes)], where="incident-7.toml")

        assert str(refused.value).startswith("incident-7.toml:")
        assert str(refused.value).endswith(said)
    with pytest.raises(DefinitionError, match=r"case\.slug: the id exists already"):
        load(blocks=[block(), block()])


def test_the_fingerprint_knows_the_users_own(tmp_path: Path) -> None:
    """Two reports with the same fingerprint were made with the same signatures."""
    written(tmp_path)
    prints = [
        catalogue.fingerprint(),
        catalogue.fingerprint(tmp_path),
        catalogue.fingerprint(blocks=[block()]),
        catalogue.fingerprint(blocks=[block(title="u")]),
    ]

    assert len(set(prints)) == 4
    assert catalogue.fingerprint(blocks=[block()]) == prints[2]


def test_a_file_without_blocks_is_refused(tmp_path: Path) -> None:
    """A file whose table is misspelt must not silently add nothing."""
    (tmp_path / "my.toml").write_text(
        written(tmp_path)
        .read_text()
        .replace("[[signature]]", "[[signatures]]")
        .replace("[signature.parameters]", "[signatures.parameters]")
    )

    with pytest.raises(DefinitionError, match="signatures"):
        catalogue.read(tmp_path / "my.toml")
