"""String columns of polars over a foreign buffer, without copying the bytes.

The Arrow C data interface (https://arrow.apache.org/docs/format/CDataInterface.html) hands polars a
variable-size binary *view* array: per row 16 bytes, the length and either up to 12 bytes inline or a prefix, a
buffer number and an offset into it. The buffers are the mapped file (in windows of 1 GiB, since offsets have
31 bits) and whatever else the caller brings; polars keeps them alive.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forensics.sources.journal.header import Index, Octets, Words

_MATRIX_ROWS = 1 << 22
WINDOW = 1 << 30
"""Bytes between the starts of two windows over one buffer; each window is twice as long."""


class _Schema(ctypes.Structure):
    """ArrowSchema of the C data interface."""

    _fields_: ClassVar = [
        ("format", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
        ("metadata", ctypes.c_char_p),
        ("flags", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("children", ctypes.c_void_p),
        ("dictionary", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("private_data", ctypes.c_void_p),
    ]


class _Array(ctypes.Structure):
    """ArrowArray of the C data interface."""

    _fields_: ClassVar = [
        ("length", ctypes.c_int64),
        ("null_count", ctypes.c_int64),
        ("offset", ctypes.c_int64),
        ("n_buffers", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("buffers", ctypes.c_void_p),
        ("children", ctypes.c_void_p),
        ("dictionary", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("private_data", ctypes.c_void_p),
    ]


_RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_kept: dict[int, Any] = {}
"""What an exported array needs, by its private number, until its consumer releases it."""
_numbers = count(1)


def _release_schema(address: int) -> None:
    _Schema.from_address(address).release = None


def _release_array(address: int) -> None:
    array = _Array.from_address(address)
    _kept.pop(array.private_data, None)
    array.release = None


_RELEASERS = (_RELEASE(_release_schema), _RELEASE(_release_array))

_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)


class _BinaryView:
    """A column to be imported once through ``__arrow_c_array__``; the caller keeps it until then."""

    def __init__(self, views: Words, valid: Octets | None, nulls: int, buffers: Sequence[Octets]) -> None:
        self._rows, self._nulls = len(views), nulls
        sizes = np.array([buffer.size for buffer in buffers], np.int64)
        addresses = [
            None if valid is None else valid.ctypes.data,
            views.ctypes.data,
            *(buffer.ctypes.data for buffer in buffers),
            sizes.ctypes.data,
        ]
        self._addresses = (ctypes.c_void_p * len(addresses))(*addresses)
        self._hold = (views, valid, buffers, sizes, self._addresses)
        self._structs: list[ctypes.Structure] = []

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """Give the capsules of schema and array."""
        number = next(_numbers)
        _kept[number] = self._hold
        release_schema, release_array = (ctypes.cast(release, ctypes.c_void_p) for release in _RELEASERS)
        schema = _Schema(b"vz", b"", None, 2, 0, None, None, release_schema, None)
        array = _Array(
            self._rows,
            self._nulls,
            0,
            len(self._addresses),
            0,
            ctypes.cast(self._addresses, ctypes.c_void_p),
            None,
            None,
            release_array,
            number,
        )
        self._structs = [schema, array]
        return (
            _new_capsule(ctypes.addressof(schema), b"arrow_schema", None),
            _new_capsule(ctypes.addressof(array), b"arrow_array", None),
        )


def text_column(name: str, views: Words, rows: Index | None, windows: Sequence[Octets]) -> pl.Series:
    """Make a String column of ``views[rows]`` (of all when None); a negative row is a null.

    Bytes that are no UTF-8 become U+FFFD.
    """
    valid, nulls = None, 0
    if rows is not None:
        missing = rows < 0
        nulls = int(missing.sum())
        views = views.take(rows, axis=0, mode="clip") if len(views) else np.zeros((len(rows), 2), np.uint64)
        if nulls:
            views[missing] = 0
            valid = np.packbits(~missing, bitorder="little")
    return _decode(pl.Series(name, _BinaryView(views, valid, nulls, windows), dtype=pl.Binary))


def make_windows(words: Words) -> list[Octets]:
    """Overlapping windows over one source of values."""
    octets = words.view(np.uint8)
    return [octets[at : at + 2 * WINDOW - 1] for at in range(0, octets.size, WINDOW)]


def make_views(words: Words, start: Index, skip: int, length: Index, window: int) -> Words:
    """Views of values of ``length`` bytes that start ``skip`` bytes after each word ``start`` of ``words``.

    ``window`` is the number of the first window over ``words``. Two words per row: the length and the first
    four bytes; then bytes 4 to 12, or window and offset.
    """
    at, turn = start + skip // 8, np.uint64(skip % 8 * 8)
    low = _shifted(words, at, turn)
    size = length.astype(np.uint64)
    views = np.empty((len(at), 2), np.uint64)
    views[:, 0] = size | (low << np.uint64(32))
    offset = (at * 8 + skip % 8).astype(np.uint64)
    number = (offset >> np.uint64(30)) + np.uint64(window)
    views[:, 1] = number | ((offset & np.uint64(WINDOW - 1)) << np.uint64(32))
    short = np.flatnonzero(length <= 12)
    if len(short):
        low, count_ = low[short], length[short]
        high = _shifted(words, at[short] + 1, turn)
        low &= _mask(np.minimum(count_, 8))
        high &= _mask(np.maximum(count_ - 8, 0))
        views[short, 0] = size[short] | (low << np.uint64(32))
        views[short, 1] = (low >> np.uint64(32)) | (high << np.uint64(32))
    return views


def _shifted(words: Words, at: Index, turn: np.uint64) -> Words:
    """Eight bytes from ``turn`` bits after each word ``at``; beyond the end anything (it is masked)."""
    low: Words = words.take(at, mode="clip")
    if turn:
        low >>= turn
        low |= words.take(at + 1, mode="clip") << (np.uint64(64) - turn)
    return low


def _mask(octets: Index) -> Words:
    """Words with that many low bytes set, 0 to 8."""
    table = np.array([(1 << 8 * number) - 1 for number in range(9)], np.uint64)
    return table[octets]


def _decode(column: pl.Series) -> pl.Series:
    """Binary to String; where that fails, halves of it, down to the values at fault."""
    try:
        return column.cast(pl.String)
    except pl.exceptions.PolarsError:
        pass
    if len(column) <= 32:
        values = [None if value is None else value.decode(errors="replace") for value in column]
        return pl.Series(column.name, values, dtype=pl.String)
    half = len(column) // 2
    return pl.concat([_decode(column[:half]), _decode(column[half:])], rechunk=False)


def template_column(name: str, parts: Sequence[bytes | Digits]) -> pl.Series:
    """Make a String column (over 12 bytes a row) of constant ``parts`` and digits, joined without a separator.

    Rows with the same number of digits in every part are the rows of one matrix of characters.
    """
    digits = [part for part in parts if isinstance(part, Digits)]
    shape = digits[0].count.astype(np.int64)
    for part in digits[1:]:
        shape = shape * 33 + part.count
    views = np.zeros((len(shape), 2), np.uint64)
    windows: list[Octets] = []
    for kind in np.unique(shape):
        every = np.flatnonzero(shape == kind)
        for first in range(0, len(every), _MATRIX_ROWS):
            rows = every[first : first + _MATRIX_ROWS]
            text = _matrix(parts, rows)
            prefix = text[:, :4].copy().view("<u4").reshape(-1).astype(np.uint64)
            views[rows, 0] = np.uint64(text.shape[1]) | (prefix << np.uint64(32))
            offset = np.arange(len(rows), dtype=np.uint64) * np.uint64(text.shape[1])
            views[rows, 1] = np.uint64(len(windows)) | (offset << np.uint64(32))
            windows.append(text.reshape(-1))
    return text_column(name, views, None, windows)


def _matrix(parts: Sequence[bytes | Digits], rows: Index) -> Octets:
    """Characters of ``rows``, of which every part has the same length."""
    pieces = [
        np.frombuffer(part, np.uint8)
        if isinstance(part, bytes)
        else part.text.take(rows, axis=0)[:, part.text.shape[1] - int(part.count[rows[0]]) :]
        for part in parts
    ]
    text = np.empty((len(rows), sum(piece.shape[-1] for piece in pieces)), np.uint8)
    at = 0
    for piece in pieces:
        text[:, at : at + piece.shape[-1]] = piece
        at += piece.shape[-1]
    return text


@dataclass(frozen=True, slots=True)
class Digits:
    """One row of characters per row, of which the last ``count`` are meant."""

    text: Octets
    count: npt.NDArray[np.int8]


def hexadecimal(numbers: Words) -> Digits:
    """Lower-case hexadecimal digits of each number, without leading zeros (``%x``)."""
    pairs = np.frombuffer("".join(f"{octet:02x}" for octet in range(256)).encode(), "<u2")
    text = pairs.take(numbers.astype(">u8").view(np.uint8)).view(np.uint8).reshape(-1, 16)
    high = numbers >> np.uint64(32)
    half = np.where(high != 0, high, numbers & np.uint64(0xFFFFFFFF)).astype(np.float64)  # exact below 2**53
    bits = np.frexp(half)[1] + np.where(high != 0, 32, 0)
    return Digits(text, np.maximum((bits + 3) // 4, 1).astype(np.int8))
