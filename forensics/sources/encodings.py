r"""Text as later stages expect it: UTF-8, one record start a line, without holes. Line numbers stay those of the file.

    \xff\xfe2\x000\x002\x006\x00...      what Windows PowerShell's ``>`` writes (UTF-16LE with its mark)
    \0\0\0\0\0\0\0\0Nov 29 13:58:26 ...   a block that never reached the disk, or a file that was cut under its writer

What changes the words of a line (zeros left out, bytes that are no UTF-8, overwritten parts of a progress bar, the rest of
an endless line) is counted and said; a byte order mark and the carriage return of CRLF are dropped without a word. Binary data
pass as they are, and so does journald's export format, whose fields are counted in bytes.
"""

from __future__ import annotations

import codecs
import itertools
import re
from typing import TYPE_CHECKING

from forensics.sources import magic
from forensics.sources.magic import WIDE, ZEROS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from forensics.sources.limits import Damage

PROBE = 1 << 16
"""Bytes that decide what the rest is."""
HOLE = 1024
"""Zeros in front of anything that can be recognised; a file that was cut under its writer begins with any number of them."""
LONGEST_LINE = 2 << 20
"""Bytes that are read of one line, unless it is JSON: no message is longer, every stage holds a line whole, and every pattern
reads all of it. At least twice :data:`PIECE`, so that where a read ends does not decide what is cut."""
PIECE = 1 << 20
"""A line that is longer is handed on in pieces."""
MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Byte order marks; that of UTF-32LE begins like that of UTF-16LE, so it comes first."""
EXPORT = re.compile(rb"^(?:__REALTIME_TIMESTAMP=\d|__CURSOR=s=)", re.MULTILINE)
LONE = re.compile(rb"\r(?!\n)")
STAMPED = re.compile(
    rb"^\s*(?:[\[{<(]|\d{4}-|\d\d?[:/]\d\d|\w{3} +\d|\d{9,}|(?:\x1b\[[\d;]*m)?[\w.-]+ *\|(?:\x1b\[[\d;]*m)? )"
)
"""What the start of a record looks like, or that of a line behind its container's name."""
MANY = 3
"""Endless lines that are named one by one."""
REPLACED = "\N{REPLACEMENT CHARACTER}".encode()


def as_text(pieces: Iterator[bytes], damage: Damage) -> Iterator[bytes]:
    """Yield a stream as UTF-8 text where it is text, else as it is."""
    head, zeros = b"", 0
    while len(head) < PROBE and (piece := next(pieces, None)) is not None:
        head += piece
        if len(head) >= PROBE and head.startswith(bytes(HOLE)):
            rest = head.lstrip(b"\0")
            zeros += len(head) - len(rest)
            head = rest
    if not head and not zeros:
        return
    encoding, mark = encoding_of(head[:PROBE])
    if encoding is None:
        yield from holes(zeros)
        yield head
        yield from pieces
        return
    if encoding == "utf-8":
        body: Iterator[bytes] = itertools.chain([head[mark:]], pieces)
        if b"\n" not in head and len([part for part in head.split(b"\r") if STAMPED.match(part)]) > 1:
            damage.say("its lines end in carriage returns alone and were read as lines")
            body = (piece.replace(b"\r", b"\n") for piece in body)
    else:
        if not mark:
            damage.say(f"it has no byte order mark and was read as {encoding.upper()}, by its zeros")
        body = recoded(head[mark:], pieces, encoding, damage)
    yield from Text(damage, zeros).read(body)


def encoding_of(head: bytes) -> tuple[str | None, int]:
    """Return the encoding of a text and how long its mark is; None for what is no text."""
    for mark, name in MARKS:
        if head.startswith(mark):
            return name, len(mark)
    if head.startswith(codecs.BOM_UTF8):
        return "utf-8", len(codecs.BOM_UTF8)
    if magic.advice(head) is None:
        for name, high in (("utf-16-le", head[1::2]), ("utf-16-be", head[::2])):
            if is_wide(head, name, high):
                return name, 0
    if EXPORT.search(head) or magic.is_binary(head):
        return None, 0
    return "utf-8", 0


def is_wide(head: bytes, name: str, high: bytes) -> bool:
    """Tell UTF-16 without a mark: most high bytes are zero, no low byte is, and what it spells is text."""
    if len(head) < 8 or head.count(0) > 0.6 * len(head) or high.count(0) < 0.7 * len(high):
        return False
    text = head[: len(head) // 2 * 2].decode(name, "replace")
    odd = sum(not (char.isprintable() or char in "\t\r\n\f\x1b") for char in text)
    return odd <= 0.01 * len(text)


def holes(size: int) -> Iterator[bytes]:
    """Yield zeros in pieces."""
    for at in range(0, size, PIECE):
        yield bytes(min(PIECE, size - at))


def recoded(head: bytes, pieces: Iterator[bytes], encoding: str, damage: Damage) -> Iterator[bytes]:
    """Yield UTF-16 or UTF-32 as UTF-8."""
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    bad = 0
    for piece in itertools.chain([head], pieces, [b""]):
        text = decoder.decode(piece, final=not piece)
        bad += text.count("\N{REPLACEMENT CHARACTER}")
        yield text.encode()
    if bad:
        damage.say(f"{bad:,} places are no {encoding[:6].upper()} and were replaced by U+FFFD")


class Text:
    """A stream of UTF-8 on its way, with counts of what was changed."""

    def __init__(self, damage: Damage, zeros: int) -> None:
        self.damage = damage
        self.line = 1
        """Number of the line that comes next, or is under way."""
        self.zeros, self.zeros_at = zeros, 1
        self.bad, self.bad_at = 0, 0
        self.overwritten, self.overwritten_at = 0, 0
        self.wide, self.wide_at = 0, 0
        self.cut: list[tuple[int, int]] = []
        self.under_way = False
        """Was a part of the present line handed on already?"""
        self.size, self.kept = 0, 0
        """Bytes of the line under way, and how many of them were handed on."""
        self.whole = False
        """Is the line under way JSON, which makes no sense cut?"""
        self.in_zeros = False
        """Did the part before end inside a run of zeros?"""

    def read(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """Yield whole lines, and a line that has no end in parts."""
        held = b""
        for piece in pieces:
            for at in range(0, len(piece), PIECE):
                data = held + piece[at : at + PIECE]
                end = data.rfind(b"\n") + 1
                if end:
                    yield from self.lines(data[:end])
                elif len(data) >= PIECE:
                    end = len(data) - unfinished(data)
                    yield from self.part(data[:end])
                held = data[end:]
        if self.wide:
            held = held.removeprefix(b"\0")  # the other half of the last line end
        rest = held.rstrip(b"\0")
        self.count_zeros(len(held) - len(rest), self.line)
        yield from self.lines(rest)
        self.finish()
        self.tell()

    def lines(self, data: bytes) -> Iterator[bytes]:
        """Yield whole lines; what ends a line under way comes first."""
        if self.under_way:
            end = data.find(b"\n") + 1 or len(data)
            yield from self.part(data[:end].removesuffix(b"\n").removesuffix(b"\r"))
            if data[end - 1 : end] == b"\n":
                yield b"\n"
                self.finish()
                self.line += 1
            data = data[end:]
        if data:
            yield self.clean(data)
            self.line += data.count(b"\n")

    def part(self, data: bytes) -> Iterator[bytes]:
        """Yield a part of a line that is longer than a piece, up to the limit."""
        self.under_way = True
        if self.in_zeros:
            short = data.lstrip(b"\0")
            self.count_zeros(len(data) - len(short), self.line)
            data = short
        self.in_zeros = data.endswith(bytes(4)) or (self.in_zeros and not data)
        data = self.without_zeros(data)
        if not self.size:
            self.whole = data[:64].lstrip(b" \t\r\x1e")[:1] in (b"{", b"[")
        self.size += len(data)
        kept = data if self.whole else data[: max(0, LONGEST_LINE - self.kept)]
        if len(kept) < len(data):
            kept = kept[: len(kept) - unfinished(kept)]
        self.kept += len(kept)
        if kept:
            yield self.clean(kept.replace(b"\r", b" "))

    def finish(self) -> None:
        """Close the line under way."""
        if self.kept < self.size:
            self.cut.append((self.line, self.size))
        self.under_way = self.in_zeros = False
        self.size = self.kept = 0

    def clean(self, block: bytes) -> bytes:
        """Return a block of lines as valid UTF-8 without zeros and lone carriage returns."""
        if b"\0" in block:
            block = self.without_zeros(block)
        if b"\r" in block:
            block = self.without_returns(block.replace(b"\r\n", b"\n"))
        if not block.isascii():
            block = self.valid(block)
        return block

    def count_zeros(self, count: int, line: int) -> None:
        """Count zeros that were left out."""
        if count and not self.zeros:
            self.zeros_at = line
        self.zeros += count

    def without_zeros(self, block: bytes) -> bytes:
        """Leave out runs of zeros, and the zeros between letters of UTF-16 that was appended."""
        if bytes(4) in block and (found := ZEROS.search(block)):
            short = ZEROS.sub(b"", block)
            self.count_zeros(len(block) - len(short), self.place(block, found.start()))
            block = short
        if b"\0" in block and (found := WIDE.search(block)):
            self.wide_at = self.wide_at or self.place(block, found.start())
            self.wide += 1
            block = WIDE.sub(lambda match: match[0].replace(b"\0", b""), block)
            block = block.replace(b"\n\0", b"\n").removeprefix(b"\0")
        return block

    def without_returns(self, block: bytes) -> bytes:
        """Keep of a line with lone carriage returns what a terminal shows last, all of it if its first part has a stamp."""
        out, done = [], 0
        while found := LONE.search(block, done):
            start = block.rfind(b"\n", done, found.start()) + 1 or done
            end = block.find(b"\n", found.end())
            end = len(block) if end < 0 else end
            line = block[start:end]
            parts = [part for part in line.split(b"\r") if part.strip()]
            if len(parts) > 1:
                self.overwritten_at = self.overwritten_at or self.place(block, start)
                self.overwritten += 1
            stamped = len(parts) > 1 and STAMPED.match(parts[0]) and not STAMPED.match(parts[-1])
            out += [block[done:start], b" ".join(parts) if stamped else parts[-1] if parts else b""]
            done = end
        return b"".join([*out, block[done:]])

    def valid(self, block: bytes) -> bytes:
        """Replace bytes that are no UTF-8."""
        try:
            block.decode()
        except UnicodeDecodeError as error:
            self.bad_at = self.bad_at or self.place(block, error.start)
            fixed = block.decode("utf-8", "replace").encode()
            self.bad += fixed.count(REPLACED) - block.count(REPLACED)
            return fixed
        return block

    def place(self, block: bytes, at: int) -> int:
        """Return the line of a place in the block that is being cleaned."""
        return self.line + block.count(b"\n", 0, at)

    def tell(self) -> None:
        """Say what was changed."""
        if self.zeros:
            self.damage.say(
                f"{self.zeros:,} zero bytes were left out, the first in line {self.zeros_at} (a crash, or a file that was cut while it was written): what stood there is lost"
            )
        if self.wide:
            self.damage.say(
                f"UTF-16 stands inside other text and was read as such, first in line {self.wide_at}"
            )
        if self.bad:
            self.damage.say(
                f"{self.bad:,} places are no UTF-8 (perhaps Latin-1) and were replaced by U+FFFD, the first in line {self.bad_at}"
            )
        if self.overwritten:
            self.damage.say(
                f"{self.overwritten:,} lines were overwritten by carriage returns (a progress bar) and read as a terminal shows them last, the first is line {self.overwritten_at}"
            )
        for line, size in self.cut[:MANY]:
            self.damage.say(f"line {line} is {size:,} bytes long; its first {LONGEST_LINE:,} were read")
        if (more := len(self.cut) - MANY) > 0:
            self.damage.say(
                f"{more:,} more lines are longer than {LONGEST_LINE:,} bytes; the beginning of each was read"
            )


def unfinished(data: bytes) -> int:
    """Return how many bytes at the end may belong to what follows: of a letter, of a run of zeros, of CRLF."""
    if data.endswith((b"\0", b"\r")):
        tail = data[-3:]
        return 0 if data.endswith(bytes(4)) else len(tail) - len(tail.rstrip(b"\0\r"))
    for back in range(1, min(3, len(data)) + 1):
        byte = data[-back]
        if byte < 0x80:
            return 0
        if byte >= 0xC0:
            return back if back < (2 if byte < 0xE0 else 3 if byte < 0xF0 else 4) else 0
    return 0
