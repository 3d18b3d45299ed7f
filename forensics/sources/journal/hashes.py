"""Hashes of many payloads at once: one lane per payload, one step per block of it.

Jenkins lookup3 (``hashlittle2``, public domain) and siphash-2-4 from their published descriptions; how a
journal uses them is in docs/JOURNAL_FILE_FORMAT.md, "Data Objects" and "Entry Objects". Lanes are sorted by
length, so that each step works on one slice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forensics.sources.journal.threads import spread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.sources.journal.header import Halves, Index, Words

_LANES = 1 << 13
_REST = np.array(
    [[(1 << 8 * min(max(rest - 4 * word, 0), 4)) - 1 for word in range(3)] for rest in range(13)], np.uint32
)


def jenkins(halves: Halves, start: Index, length: Index) -> Words:
    """Hash ``length`` bytes (at least 1) from each 32-bit word ``start`` of ``halves``."""
    result = np.zeros(len(start), np.uint64)
    blocks = (length - 1) // 12

    def work(lanes: Index) -> None:
        result[lanes] = _jenkins(halves, start[lanes], length[lanes], blocks[lanes])

    spread(work, _groups(blocks))
    return result


def siphash(words: Words, key: bytes, start: Index, length: Index) -> Words:
    """Siphash-2-4 under ``key`` of ``length`` bytes from each 64-bit word ``start`` of ``words``."""
    result = np.zeros(len(start), np.uint64)
    for lanes in _groups(length // 8):
        result[lanes] = _siphash(words, key, start[lanes], length[lanes])
    return result


def _groups(blocks: Index) -> Iterator[Index]:
    """Lanes in ascending number of blocks, so many at a time that the state stays in the cache."""
    order = np.argsort(blocks, kind="stable")
    for first in range(0, len(order), _LANES):
        yield order[first : first + _LANES]


def _jenkins(halves: Halves, start: Index, length: Index, blocks: Index) -> Words:
    a = (length.astype(np.uint32)) + np.uint32(0xDEADBEEF)
    b, c = a.copy(), a.copy()
    at = start.copy()
    for block in range(int(blocks[-1]) if len(blocks) else 0):
        active = slice(int(np.searchsorted(blocks, block, "right")), None)
        here = at[active]
        x, y, z = a[active], b[active], c[active]
        x += halves.take(here, mode="clip")
        y += halves.take(here + 1, mode="clip")
        z += halves.take(here + 2, mode="clip")
        here += 3
        for left, middle, right, bits in (
            (x, z, y, 4), (y, x, z, 6), (z, y, x, 8), (x, z, y, 16), (y, x, z, 19), (z, y, x, 4),
        ):  # fmt: skip
            _mix(left, middle, right, bits)
    mask = _REST[length - blocks * 12]
    a += halves.take(at, mode="clip") & mask[:, 0]
    b += halves.take(at + 1, mode="clip") & mask[:, 1]
    c += halves.take(at + 2, mode="clip") & mask[:, 2]
    for lane, other, bits in (
        (c, b, 14), (a, c, 11), (b, a, 25), (c, b, 16), (a, c, 4), (b, a, 14), (c, b, 24),
    ):  # fmt: skip
        _finish(lane, other, bits)
    return (c.astype(np.uint64) << np.uint64(32)) | b


def _mix(left: Halves, middle: Halves, right: Halves, bits: int) -> None:
    left -= middle
    left ^= _left(middle, bits)
    middle += right


def _finish(lane: Halves, other: Halves, bits: int) -> None:
    lane ^= other
    lane -= _left(other, bits)


def _left(lane: Halves, bits: int) -> Halves:
    return (lane << np.uint32(bits)) | (lane >> np.uint32(32 - bits))


def _siphash(words: Words, key: bytes, start: Index, length: Index) -> Words:
    k0, k1 = np.frombuffer(key, "<u8")
    blocks = length // 8
    state = [
        np.full(len(start), k ^ np.uint64(constant), np.uint64)
        for k, constant in zip(
            (k0, k1, k0, k1),
            (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573),
            strict=True,
        )
    ]
    for block in range(int(blocks[-1]) if len(blocks) else 0):
        active = slice(int(np.searchsorted(blocks, block, "right")), None)
        _absorb([lane[active] for lane in state], words[start[active] + block])
    rest = (length % 8).astype(np.uint64)
    mask = (np.uint64(1) << (rest * np.uint64(8))) - np.uint64(1)
    _absorb(
        state, (words.take(start + blocks, mode="clip") & mask) | (length.astype(np.uint64) << np.uint64(56))
    )
    state[2] ^= np.uint64(0xFF)
    for _ in range(4):
        _round(state)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


def _absorb(state: list[Words], word: Words) -> None:
    state[3] ^= word
    _round(state)
    _round(state)
    state[0] ^= word


def _round(state: list[Words]) -> None:
    v0, v1, v2, v3 = state
    v0 += v1
    _turn(v1, 13)
    v1 ^= v0
    _turn(v0, 32)
    v2 += v3
    _turn(v3, 16)
    v3 ^= v2
    v0 += v3
    _turn(v3, 21)
    v3 ^= v0
    v2 += v1
    _turn(v1, 17)
    v1 ^= v2
    _turn(v2, 32)


def _turn(lane: Words, bits: int) -> None:
    high = lane >> np.uint64(64 - bits)
    lane <<= np.uint64(bits)
    lane |= high
