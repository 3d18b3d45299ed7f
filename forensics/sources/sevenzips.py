"""7z archives, whose members are packed as one and so are spooled in one pass."""

from __future__ import annotations

from typing import Any

from forensics.sources import compression, streams
from forensics.sources.members import (
    ENCRYPTED,
    LINKS,
    Contents,
    dense,
    hidden,
    safe_name,
    sane_time,
    shortfall,
    too_dense,
)
from forensics.sources.spool import NoRoomError, Spooled, as_file

MAGIC = b"7z\xbc\xaf\x27\x1c"


def read_7z(contents: Contents) -> None:
    """Put the members of a 7z on record; they are packed as one, so they are spooled in one pass."""
    import py7zr  # noqa: PLC0415 - few inputs need it

    file = as_file(contents.path, MAGIC)
    spooled: dict[str, Spooled] = {}
    wanted: dict[str, tuple[str, int]] = {}
    try:
        with py7zr.SevenZipFile(file) as archive:
            wanted = wanted_7z(contents, archive, spooled)
            if wanted:
                archive.extract(targets=list(wanted), factory=factory_7z(contents, spooled))
    except NoRoomError:
        raise
    except py7zr.PasswordRequired:
        contents.trouble.append(ENCRYPTED)
    except Exception as error:  # noqa: BLE001 - the library fails in any way at damaged bytes
        contents.trouble.append(
            f"the 7z archive is damaged or cut ({compression.reason(error)}); copy it again (its table of contents stands at its end)"
        )
    for inside, member in spooled.items():
        name, size = wanted.get(inside, (safe_name(inside)[0], member.size))
        if member.size < size:
            member.notes.append(shortfall(member.size, size))
        stored = member.stored()
        if name is not None and (not size or stored.size):
            contents.add(name, stored)


def wanted_7z(contents: Contents, archive: Any, spooled: dict[str, Spooled]) -> dict[str, tuple[str, int]]:
    """Return what to read of a 7z: safe name and size by the name inside."""
    wanted: dict[str, tuple[str, int]] = {}
    total = 0
    encrypted = archive.needs_password()
    for info in archive.list():
        name, wrong = safe_name(info.filename)
        if name is None:
            contents.leave_out(wrong, info.filename)
        elif info.is_directory or hidden(name):
            continue
        elif info.is_symlink or not info.is_file:
            contents.leave_out(LINKS, name)
        elif encrypted:
            contents.refuse(name, ENCRYPTED)
        elif not contents.room(total + (info.uncompressed or 0)):
            break
        elif info.filename not in wanted:
            total += info.uncompressed or 0
            when = info.creationtime.timestamp() if info.creationtime else 0
            spooled[info.filename] = Spooled(sane_time(when, contents), contents.limits)
            wanted[info.filename] = (name, info.uncompressed or 0)
    packed = max(streams.size(contents.path), 1)
    if too_dense(packed, total, contents.limits):
        contents.trouble.append(dense(packed, total, contents.limits))
        return {}
    return wanted


def factory_7z(contents: Contents, spooled: dict[str, Spooled]) -> Any:
    """Return what py7zr asks for a place to write each member to; it numbers the second member of a name."""
    from py7zr.io import Py7zIO, WriterFactory  # noqa: PLC0415 - few inputs need it

    class Sink(Py7zIO):
        """One member, written once from beginning to end."""

        def __init__(self, member: Spooled) -> None:
            self.member = member

        def write(self, s: bytes | bytearray) -> int:
            """Add bytes."""
            self.member.write(bytes(s))
            return len(s)

        def read(self, size: int | None = None) -> bytes:
            """Nothing is read back."""
            del size
            return b""

        def seek(self, offset: int, whence: int = 0) -> int:
            """There is one place only."""
            del offset, whence
            return self.member.size

        def flush(self) -> None:
            """Nothing waits."""

        def close(self) -> None:
            """The member is complete."""
            self.member.seal()

        def size(self) -> int:
            """Return what was written."""
            return self.member.size

    class Sinks(WriterFactory):
        """A place for each member."""

        def create(self, filename: str) -> Py7zIO:
            """Return the place of one member."""
            if filename not in spooled:
                spooled[filename] = Spooled(contents.modified_us, contents.limits)
            return Sink(spooled[filename])

    return Sinks()
