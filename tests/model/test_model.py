"""The ground: digests add up, claims have places, waits have units, errors say what, where and what to do."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.model.digest import Digest, stamped, total
from forensics.model.errors import DefinitionError, ForensicsError, UnreadableError, UsageError
from forensics.model.facts import Coverage, Facts, Incident, Incidents
from forensics.model.finding import GRADE_OF, Expiry, Finding, Grade, Need, Store, Verdict
from forensics.model.schema import FRAMES, KEYS, conform, empty
from forensics.model.signature import convert
from forensics.model.source import Ref, Source
from forensics.signatures import load

SIGNATURES = {signature.id: signature for signature in load()}
COUNTS = ("lines", "records", "in_records", "blank", "unparsed", "undated")
PARTS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.integers(0, 99)), max_size=6)


def digest(parts: list[tuple[int, int, int]]) -> Digest:
    """Return a digest of some shards."""
    return total(
        stamped(
            {
                "shards": pl.DataFrame({name: [n] for name in COUNTS}),
                "formats": pl.DataFrame({"service": ["a"], "format": ["x"], "n": [n]}),
            },
            source,
            shard,
        )
        for source, shard, n in parts
    )


def rows(one: Digest) -> dict[str, list[tuple[object, ...]]]:
    """Return the rows of a digest in a fixed order."""
    return {name: sorted(one[name].rows(), key=repr) for name in FRAMES}


class TestDigest:
    """Digest + Digest = Digest, associative, with an empty one."""

    @settings(max_examples=30, deadline=None)
    @given(PARTS, PARTS, PARTS)
    def test_monoid(self, one, two, three) -> None:
        """Grouping and order play no part, and nothing gets lost."""
        a, b, c = digest(one), digest(two), digest(three)

        assert rows((a + b) + c) == rows(a + (b + c))
        assert rows(a + b) == rows(b + a)
        assert rows(a + Digest()) == rows(Digest() + a) == rows(a)
        assert (a + b + c)["shards"].height == len(one) + len(two) + len(three)

    @pytest.mark.parametrize("name", FRAMES)
    def test_missing_frame_is_empty(self, name: str) -> None:
        """A frame that no shard filled is an empty one of the right columns."""
        assert dict(Digest()[name].schema) == {**KEYS, **FRAMES[name]}
        assert empty(name).height == 0

    def test_stamped_rows_conform(self) -> None:
        """A shard's rows get its source and number, the columns of the schema, and null where nothing was said."""
        made = stamped({"formats": pl.DataFrame({"service": ["a"], "other": [1]})}, 2, 7)["formats"]

        assert made.rows(named=True) == [{"source": 2, "shard": 7, "service": "a", "format": None, "n": None}]

    def test_conform_never_raises_on_values(self) -> None:
        """A value that does not fit its column becomes null."""
        assert conform(pl.DataFrame({"n": ["x", "3"]}), {"n": pl.UInt32()})["n"].to_list() == [None, 3]


class TestFinding:
    """A claim that nobody can check cannot be built."""

    @pytest.mark.parametrize("grade", Grade)
    def test_number_without_place(self, grade: Grade) -> None:
        """Whatever its grade, a claim without evidence, needs or scope is refused."""
        with pytest.raises(ValueError, match="has neither evidence nor needs"):
            Finding("x", "impact", grade, {"n": 66})

    def test_with_a_place(self) -> None:
        """Evidence, or an input that would tell, makes it a claim."""
        assert Finding("x", "impact", Grade.VERIFIED, refs=(Ref(0, 1),)).refs == (Ref(0, 1),)
        assert Finding(
            "x",
            "impact",
            Grade.NOT_DETERMINED,
            needs=(Need("kernel log", "journalctl -k", Expiry(Store.JOURNAL)),),
        ).needs

    def test_absence_needs_a_scope(self) -> None:
        """`No sign` is only said of a span that a source covers."""
        assert Finding("x", "ruled_out", Grade.NO_SIGN, scope="12:00 to 13:00").scope
        with pytest.raises(ValueError, match="neither evidence"):
            Finding("x", "ruled_out", Grade.NO_SIGN, scope="")

    def test_a_clue_may_name_the_file_that_states_it(self) -> None:
        """What people know stands in no log; anything surer than a clue needs a place all the same."""
        assert Finding("x", "clues", Grade.CLUE, method="stated by a file").refs == ()
        with pytest.raises(ValueError, match="neither evidence"):
            Finding("x", "clues", Grade.VERIFIED, method="stated by a file")

    def test_every_verdict_has_a_grade(self) -> None:
        """The two scales say the same."""
        assert set(Verdict) == set(GRADE_OF)


class TestSignatureValues:
    """Parameters have units."""

    def test_seconds_and_milliseconds(self) -> None:
        """A wait is in seconds whatever the text's unit."""
        assert SIGNATURES["sqlalchemy.queuepool-timeout"].wait_s({"timeout": "30.00"}) == 30.0
        assert SIGNATURES["webhook.delivery-failed"].wait_s({"after": "12500"}) == 12.5

    @pytest.mark.parametrize("text", [None, "", "soon"])
    def test_no_wait(self, text: str | None) -> None:
        """A wait that is not stated, or is no number, is none; it is never made up."""
        assert SIGNATURES["sqlalchemy.queuepool-timeout"].wait_s({"timeout": text}) is None
        assert SIGNATURES["sqlalchemy.queuepool-timeout"].wait_s({}) is None

    @pytest.mark.parametrize(
        ("text", "unit", "value"),
        [
            ("5", "count", 5),
            ("1,000", "count", 1000),
            ("30.00", "s", 30.0),
            ("250", "ms", 0.25),
            ("x", "count", "x"),
            ("5", "text", "5"),
        ],
    )
    def test_convert(self, text: str, unit: str, value: object) -> None:
        """A captured text becomes a number of its unit, or stays a text."""
        assert convert(text, unit) == value

    def test_separators_of_times(self) -> None:
        """A separator in a time is read as in a wait."""
        assert convert("1,500", "ms") == 1.5

    def test_typed_leaves_out_nothing_said(self) -> None:
        """A group that did not take part is no parameter."""
        assert SIGNATURES["sqlalchemy.queuepool-timeout"].typed(
            {"size": "5", "overflow": "10", "timeout": None}
        ) == {"size": 5, "overflow": 10}


class TestErrors:
    """An error is one line: where, what, remedy."""

    @pytest.mark.parametrize(
        ("where", "remedy", "text"),
        [
            ("a.toml", "fix it", "a.toml: is wrong; fix it"),
            ("", "fix it", "is wrong; fix it"),
            ("a.toml", "", "a.toml: is wrong"),
            ("", "", "is wrong"),
        ],
    )
    def test_text(self, where: str, remedy: str, text: str) -> None:
        """The three parts are joined; those that are not there leave no trace."""
        assert str(ForensicsError("is wrong", where=where, remedy=remedy)) == text

    @pytest.mark.parametrize("kind", [UsageError, DefinitionError, UnreadableError])
    def test_one_family(self, kind: type[ForensicsError]) -> None:
        """The command line catches one class."""
        assert issubclass(kind, ForensicsError)


class TestFacts:
    """Answers are found by their shape."""

    def test_put_and_get(self) -> None:
        """An answer is there once its analysis has run, and not before."""
        facts = Facts()
        with pytest.raises(KeyError):
            facts[Coverage]
        facts.put(Coverage((), None, None))

        assert facts[Coverage] == Coverage((), None, None)

    def test_primary_incident(self) -> None:
        """The report's head is about the weightiest incident, the latest of equals."""

        def incident(start: int, weight: float) -> Incident:
            return Incident(start, "exact", start + 1, False, None, None, None, None, (), weight)

        assert Incidents(()).primary() is None
        assert Incidents(
            (incident(1, 5.0), incident(2, 9.0), incident(3, 9.0), incident(4, 1.0))
        ).primary() == incident(3, 9.0)


def test_source_ids() -> None:
    """Sources are called s1, s2 … in report.json."""
    assert [Source(index, "x", None, 0, None).id for index in range(2)] == ["s1", "s2"]


def test_refs_are_ordered() -> None:
    """Places sort by source, then line."""
    assert sorted([Ref(1, 1), Ref(0, 9), Ref(0, 2)]) == [Ref(0, 2), Ref(0, 9), Ref(1, 1)]
