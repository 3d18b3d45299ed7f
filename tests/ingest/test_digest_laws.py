"""Laws 1, 2 and 5: nothing is lost, nothing is made up, and any cut in any order gives the same Digest."""

from __future__ import annotations

import random

import mixed_logs as logs
import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from forensics import formats
from forensics.formats.text import lines_of
from forensics.ingest import plan
from forensics.model.plug import Transport

HEALTH = [HealthCheck.too_slow, HealthCheck.data_too_large]
FAST = settings(max_examples=12, deadline=None, suppress_health_check=HEALTH)
FEW = settings(max_examples=8, deadline=None, suppress_health_check=HEALTH)
"""Each example reads a whole log several times."""
KNOWN_TO_FAIL = settings(FEW, phases=[Phase.explicit, Phase.generate])
"""Without looking for the smallest example."""
SIZES = (1, 400, 1024, 4096)
LINES = st.lists(
    st.one_of(
        st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=60).map(
            str.encode
        ),
        st.binary(max_size=40).map(lambda raw: raw.replace(b"\n", b"")),
        st.sampled_from(
            [b"", b" ", b"\r", b"\0", b"{}", b'{"time":1}', b'{"__REALTIME_TIMESTAMP":null}', b"\xff\xfe"]
        ),
        st.sampled_from(["own"]),
    ),
    max_size=12,
)


WHOLE_POOL = [logs.Said(1000, lines, stderr=False, pieces=1) for lines in logs.EVENTS]


def physical(data: bytes) -> int:
    """Count lines as a text editor does: a last line without its newline is one too."""
    return data.count(b"\n") + (not data.endswith(b"\n") and bool(data))


def plug_of(name: str) -> Transport:
    """Return a transport by its name."""
    plug, _ = plan.resolve(name)
    assert isinstance(plug, Transport)
    return plug


def sums(name: str, data: bytes) -> tuple[int, int]:
    """Return (lines accounted for, physical lines); a file that is read whole names its records by ordinal."""
    parsed = plug_of(name).parse(data)
    counted = parsed.in_records + parsed.blank + parsed.unparsed
    return counted, counted if plug_of(name).for_head(data).binary else physical(data)


@pytest.mark.parametrize("name", logs.text_formats())
class TestNothingIsLost:
    """Every physical line is in a record, blank or unparsed."""

    @FAST
    @given(lines=LINES, ended=st.booleans(), dos=st.booleans())
    def test_any_lines(self, name: str, lines: list[bytes | str], *, ended: bool, dos: bool) -> None:
        """Random lines between real ones, with either line end and with or without a final one."""
        own = plug_of(name).samples[0].rstrip("\n").encode()
        end = b"\r\n" if dos else b"\n"
        data = end.join(own if isinstance(line, str) else line for line in lines) + end * ended

        counted, there = sums(name, data)

        assert counted == there

    @pytest.mark.parametrize(
        "data",
        [
            b"",
            b"\n",
            b"\n\n",
            b"\r\n",
            b"x",
            b"\0",
            b"\xff\xfe\x00\n",
            b"\xef\xbb\xbfx\n",
            b"\xef\xbb\xbf",
            b" \n \t\n",
        ],
        ids=repr,
    )
    def test_odd_files(self, name: str, data: bytes) -> None:
        """Files of almost nothing are accounted for too."""
        counted, there = sums(name, data)

        assert counted == there

    def test_dos_line_ends(self, name: str) -> None:
        """A text file with CRLF line ends gives the same records as one without."""
        plug = plug_of(name)
        if name == "journald_export":
            assert plug.safe_cut is None  # binary by definition: no tool rewrites its line ends
            return
        unix = "".join(f"{sample.removesuffix(chr(10))}\n" for sample in plug.samples).encode()
        here, there = plug.parse(unix).records, plug.parse(unix.replace(b"\n", b"\r\n")).records

        assert here is not None
        assert there is not None
        assert there.select("line", "ts", "message").rows() == here.select("line", "ts", "message").rows()

    def test_invalid_utf8(self, name: str) -> None:
        """A record with bytes that are no UTF-8 stays a record; the bytes become U+FFFD."""
        plug = plug_of(name)
        sample = plug.samples[0].removesuffix("\n").encode()
        at = len(sample) - 3
        end = b"\n\n" if name == "journald_export" else b"\n"
        data = sample + end + sample[:at] + b"\xff" + sample[at:] + end
        parsed = plug.parse(data)

        assert parsed.in_records + parsed.blank + parsed.unparsed == physical(data)
        assert parsed.records is not None
        assert parsed.records["message"][0] == plug.parse(sample + end).records["message"][0]  # type: ignore[index]


def cut_against_whole(slug: str, items: list[logs.Said], size: int, seed: int) -> dict[str, object]:
    """Return what differs between a log read in shuffled shards and the log read whole."""
    name, render = logs.ALL[slug]
    item = logs.planned(name)
    data = render(items).encode()
    whole = logs.settled(item, logs.shards(item, data, len(data) + 1))
    parts = logs.shards(item, data, size)
    random.Random(seed).shuffle(parts)  # noqa: S311 - any order will do
    return dict(logs.differing(whole, logs.settled(item, parts)))


@pytest.mark.parametrize("slug", logs.PLAIN)
@KNOWN_TO_FAIL
@example(items=WHOLE_POOL, size=1, seed=0)
@given(items=logs.said(), size=st.sampled_from((1, 400)), seed=st.integers(0, 99))
def test_any_cut_of_a_bare_file(slug: str, items: list[logs.Said], size: int, seed: int) -> None:
    """Shards of a bare file, whose further lines have no stamp, equal the whole too."""
    assert cut_against_whole(slug, items, size, seed) == {}


@pytest.mark.parametrize("slug", logs.RENDER)
class TestDigestIsAMonoid:
    """Any cut of the input into shards, in any order, settles into the same Digest."""

    @FEW
    @given(items=logs.said(), size=st.sampled_from(SIZES), seed=st.integers(0, 99))
    def test_any_cut_any_order(self, slug: str, items: list[logs.Said], size: int, seed: int) -> None:
        """Shards of any size, folded in any order, equal the whole."""
        assert cut_against_whole(slug, items, size, seed) == {}

    @FEW
    @given(items=logs.said(12), size=st.sampled_from((1, 400)))
    def test_grouping_does_not_matter(self, slug: str, items: list[logs.Said], size: int) -> None:
        """(a + b) + c equals a + (b + c), and the empty Digest changes nothing."""
        name, render = logs.ALL[slug]
        item = logs.planned(name)
        parts = logs.shards(item, render(items).encode(), size)
        left = right = logs.Digest()
        for part in parts:
            left = left + part
        for part in reversed(parts):
            right = part + right

        assert logs.differing(logs.settled(item, [left]), logs.settled(item, [right])) == {}
        assert logs.differing(logs.settled(item, [left]), logs.settled(item, [left, logs.Digest()])) == {}

    def test_generated_lines_are_read(self, slug: str) -> None:
        """The generator writes logs that the format reads without a rest."""
        name, render = logs.ALL[slug]
        items = [
            logs.Said(1000, lines, number % 2 == 0, 1 + number % 3)
            for number, lines in enumerate(logs.EVENTS)
        ]
        evidence = logs.settled(
            logs.planned(name), logs.shards(logs.planned(name), render(items).encode(), 1 << 20)
        )

        assert evidence["shards"]["unparsed"].sum() == 0
        assert evidence["hits"].height > 0


@pytest.mark.parametrize("seed", range(4))
def test_caps_do_not_depend_on_the_cut(seed: int) -> None:
    """More failed requests, slow calls and arrivals than are kept: the same ones are kept whatever the cut."""
    random_ = random.Random(seed)  # noqa: S311 - any numbers will do
    lines = [
        ('INFO:     127.0.1.1:33721 - "GET /api/presence HTTP/1.1" 500 Internal Server Error',),
        ("call of upstream took long (5123 ms)",),
        ('INFO:     203.0.113.9:0 - "GET /health HTTP/1.1" 200 OK',),
    ]
    items = [
        logs.Said(random_.choice([0, 10, 100]), random_.choice(lines), stderr=False, pieces=1)
        for _ in range(700)
    ]
    item = logs.planned("journald_json")
    data = logs.journald_json(items).encode()
    whole = logs.settled(item, logs.shards(item, data, len(data) + 1))
    parts = logs.shards(item, data, 3000)
    random_.shuffle(parts)

    assert len(parts) > 20
    assert logs.differing(whole, logs.settled(item, parts)) == {}


def test_a_partial_line_across_many_lines_of_the_other_stream() -> None:
    """A chunk that waits for its rest behind a hundred lines of the other stream is joined in any cut."""
    rest = [f"2026-11-29T12:00:{n % 60:02d}.0Z stderr F line {n}\n" for n in range(100)]
    data = "".join(
        [
            "2026-11-29T12:00:00.0Z stdout P first half, \n",
            *rest,
            "2026-11-29T12:02:00.0Z stdout F second half\n",
        ]
    ).encode()
    item = logs.planned("cri")
    whole, cut = (logs.settled(item, logs.shards(item, data, size)) for size in (1 << 20, 1024))

    assert logs.differing(whole, cut) == {}


@pytest.mark.parametrize(
    ("name", "line"),
    [
        pytest.param("journald_json", '{"MESSAGE":"no time","_SYSTEMD_UNIT":"a.service"}'),
        pytest.param("journald_json", '{"__REALTIME_TIMESTAMP":null,"MESSAGE":"null time"}'),
        ("docker_json", '{"log":"null time\\n","stream":"stdout","time":null}'),
    ],
)
def test_a_broken_line_elsewhere_changes_nothing(name: str, line: str) -> None:
    """How an entry without a time is counted does not depend on whether its shard also holds a broken line."""
    plug = plug_of(name)
    alone = plug.parse(f"{line}\n{plug.samples[0]}\n".encode())
    beside = plug.parse(f"{line}\n{plug.samples[0]}\n{{broken\n".encode())

    assert (beside.in_records, beside.unparsed - 1) == (alone.in_records, alone.unparsed)


def test_process_of_a_line_without_one() -> None:
    """A record whose line names no process id does not get that of the record above it."""
    lines = [
        "2026-11-29T12:00:00+0000 srv uvicorn[81]: first",
        " " * 42 + "goes on",
        "2026-11-29T12:00:01+0000 srv kernel: Out of memory: Killed process 4021 (node)",
    ]
    records = plug_of("journald_short_iso").parse("\n".join(lines).encode()).records

    assert records is not None
    assert records["pid"].to_list() == ["81", "81", None]


def test_hostile_bytes_message() -> None:
    """A MESSAGE array whose numbers are no bytes is one odd entry, not the end of the run."""
    plug = plug_of("journald_json")
    parsed = plug.parse(
        f'{{"__REALTIME_TIMESTAMP":"1795956484887545","MESSAGE":[300,1]}}\n{plug.samples[0]}\n'.encode()
    )

    assert parsed.in_records + parsed.unparsed == 2


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("journald_json", "1795956484887544", "yesterday"),
        ("docker_json", "2026-11-29T12:47:04.603695891Z", "2026-11-31T12:47:04Z"),
        ("cri", "2026-11-29T12:26:55.949633893Z", "2026-11-31T12:26:55.949633893Z"),
        ("journald_short_iso", "2026-11-29T09:47:03-0300", "2026-11-29T29:47:03-0300"),
        ("journald_short", "Nov 29 18:14:02", "Nov 31 18:14:02"),
        ("journald_export", "1795955215689627", "99999999999999999999999"),
        ("plain:postgres", "2026-11-29 18:14:00.434", "2026-13-29 18:14:00.434"),
    ],
)
def test_unreadable_time_is_null_and_counted(name: str, good: str, bad: str) -> None:
    """A time that can't be read is null, never 1970 and never now, and the source says how many there are."""
    plug = plug_of(name)
    sample = plug.samples[0].removesuffix("\n")
    end = "\n\n" if name == "journald_export" else "\n"
    data = f"{sample}{end}{sample.replace(good, bad, 1)}{end}".encode()
    records = plug.parse(data).records
    assert records is not None
    item = logs.planned(name)
    source = logs.settled(item, logs.shards(item, data, 1 << 20)).sources[0]

    assert records["ts"].is_null().to_list() == [False, True]
    assert source.undated == 1
    assert any(limit.startswith("1 records have no readable time") for limit in source.limits)


@pytest.mark.parametrize("data", [b"x^2 + y\n", b"x\x01 and so on\n", b"x\x9cabc\n"], ids=repr)
def test_text_that_begins_like_a_compressed_stream(data: bytes) -> None:
    """A shard is text already: a line that happens to begin like a zlib stream is a line."""
    assert len(lines_of(data)) == 1


def test_cut_zstd_head_is_no_error() -> None:
    """The head of a compressed file that no format reads scores 0 everywhere."""
    head = b"\x28\xb5\x2f\xfd" + bytes(range(256)) * 16

    assert {
        name: plug.sniff(head) for name, plug in formats.all_transports().items() if plug.sniff(head)
    } == {}
