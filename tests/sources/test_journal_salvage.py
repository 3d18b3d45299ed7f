"""Damaged journal files: everything that lies whole is read, nothing wrong is, and nothing is raised."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from forensics.model.errors import UnreadableError
from forensics.sources.journal import Journal, parse_header, read

FIXTURES = Path(__file__).parents[2] / "fixtures" / "formats" / "journald"
FIELDS = ("MESSAGE", "PRIORITY", "_SYSTEMD_UNIT", "_PID", "_HOSTNAME")
NAMES = ("busy.journal.gz", "synth-COMPACT=0.journal.gz")
ROUNDS = 100


class Sound:
    """A sound journal cut after its last object, with what is known of it."""

    def __init__(self, name: str) -> None:
        data = gzip.decompress((FIXTURES / name).read_bytes())
        header = parse_header(data)
        tail = int.from_bytes(data[136:144], "little")
        size = int.from_bytes(data[tail + 8 : tail + 16], "little")
        self.end = (tail + size + 7) // 8 * 8
        arena = (self.end - header.size).to_bytes(8, "little")
        self.data = data[:96] + arena + data[104 : self.end]
        self.journal = read(self.data, FIELDS)
        words = np.frombuffer(self.data, "<u8")
        seqnums = set(self.journal.frame["__SEQNUM"].to_list())
        self.entry_ends = {
            int(words[at + 2]): (int(at) * 8, int(at) * 8 + int(words[at + 1]))
            for at in np.flatnonzero(words[:-8] == 3)
            if int(words[at + 2]) in seqnums and int(words[at + 3]) > 1 << 48
        }
        used = np.flatnonzero(np.frombuffer(self.data, np.uint8))
        self.used = [int(at) for at in used if at >= 8]

    def stamps(self, at: int) -> bool:
        """Whether a byte is a time, number or boot id of an entry, which the format protects by nothing."""
        return any(start + 16 <= at < start + 56 for start, _ in self.entry_ends.values())


@pytest.fixture(scope="module", params=NAMES)
def sound(request: pytest.FixtureRequest) -> Sound:
    return Sound(request.param)


def never_wrong(damaged: Journal, sound: Sound, fields: tuple[str, ...] = FIELDS) -> None:
    """Each row is a row of the sound journal, but for values that are missing."""
    both = damaged.frame.join(sound.journal.frame, on="__SEQNUM", how="left", suffix="_sound")
    for field in ("__REALTIME_TIMESTAMP", "__MONOTONIC_TIMESTAMP", "_BOOT_ID", *fields):
        wrong = both.filter(pl.col(field).is_not_null() & pl.col(field).ne_missing(pl.col(f"{field}_sound")))
        assert wrong.is_empty(), (field, wrong.select("__SEQNUM", field, f"{field}_sound"))


def test_sound_file_has_all_entries(sound: Sound) -> None:
    assert sound.journal.notes == ()
    assert sound.journal.frame.height == sound.journal.header.n_entries == len(sound.entry_ends)


@pytest.mark.parametrize("seed", range(4))
def test_truncated_anywhere(sound: Sound, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - a fixed seed is wanted
    first = min(start for start, _ in sound.entry_ends.values())
    for _ in range(ROUNDS // 4):
        cut = rng.randrange(first if rng.random() < 0.9 else 208, sound.end)
        damaged = read(sound.data[:cut], FIELDS)
        never_wrong(damaged, sound)
        whole = {number for number, (_, end) in sound.entry_ends.items() if end <= cut}
        assert set(damaged.frame["__SEQNUM"].to_list()) == whole
        assert damaged.frame.select(pl.col("MESSAGE").is_null().any()).item() is False or not whole
        assert any("cut" in note for note in damaged.notes)
        if len(whole) < sound.journal.header.n_entries:
            missing = sound.journal.header.n_entries - len(whole)
            assert any(note.startswith(f"{missing} of ") for note in damaged.notes), damaged.notes


@pytest.mark.parametrize("seed", range(4))
def test_one_byte_flipped(sound: Sound, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - a fixed seed is wanted
    for _ in range(ROUNDS // 4):
        at = rng.choice(sound.used) if rng.random() < 0.9 else rng.randrange(8, sound.end)
        flip = rng.randrange(1, 256)
        data = bytearray(sound.data)
        data[at] ^= flip
        try:
            damaged = read(data, FIELDS)
        except UnreadableError:
            assert at in range(12, 16), "only an unknown feature may be refused"
            continue
        if not sound.stamps(at):
            never_wrong(damaged, sound)
        lost = sound.journal.header.n_entries - damaged.frame.height
        assert lost <= 1, (at, flip, damaged.notes)
        assert not lost or damaged.notes


def test_truncated_inside_the_header_is_refused(sound: Sound) -> None:
    for cut in (0, 7, 8, 100, 207):
        with pytest.raises(UnreadableError):
            read(sound.data[:cut], FIELDS)


def test_broken_chain_is_made_good_by_the_scan(sound: Sound) -> None:
    data = bytearray(sound.data)
    data[176:184] = (64).to_bytes(8, "little")
    damaged = read(data, FIELDS)
    assert damaged.frame.drop("ordinal").equals(sound.journal.frame.drop("ordinal"))
    assert any("entry array" in note for note in damaged.notes)


def test_damaged_shared_value_is_null_where_it_was(sound: Sound) -> None:
    data = bytearray(sound.data)
    value = sound.journal.frame["_HOSTNAME"][0]
    at = data.index(b"_HOSTNAME=" + value.encode()) + len("_HOSTNAME=")
    data[at] ^= 0x20
    damaged = read(data, FIELDS)
    never_wrong(damaged, sound)
    assert damaged.frame.height == sound.journal.frame.height
    assert damaged.frame["_HOSTNAME"].null_count() == sound.journal.frame["_HOSTNAME"].eq(value).sum()
    assert damaged.frame["MESSAGE"].equals(sound.journal.frame["MESSAGE"])
    assert any("lack a damaged field" in note for note in damaged.notes)


def test_damaged_unwanted_value_costs_nothing(sound: Sound) -> None:
    data = bytearray(sound.data)
    at = data.index(b"_HOSTNAME=")
    data[at + 10] ^= 0x20
    damaged = read(data, ["MESSAGE"])
    assert damaged.frame["MESSAGE"].equals(sound.journal.frame["MESSAGE"])


def test_compact_flag_flipped(sound: Sound) -> None:
    data = bytearray(sound.data)
    data[12] ^= 16
    never_wrong(read(data, FIELDS), sound)
    assert read(data, FIELDS).frame.height == sound.journal.frame.height


def test_noise_is_no_entry() -> None:
    head = gzip.decompress((FIXTURES / NAMES[0]).read_bytes())[:264]
    noise = random.Random(5).randbytes(1 << 20)  # noqa: S311 - a fixed seed is wanted
    damaged = read(head + noise, FIELDS)
    assert damaged.frame.is_empty()
    assert damaged.notes
