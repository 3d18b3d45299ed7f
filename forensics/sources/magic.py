"""Files that are no logs, told by their first bytes, and what to export instead.

References: file/file magic/Magdir (numbers), moby/moby daemon/logger/local (framing), sysstat/sysstat sa.h (SYSSTAT_MAGIC,
FORMAT_MAGIC), glibc bits/utmp.h (records of 384 bytes), sqlite.org/fileformat2.html (write-ahead log).
"""

from __future__ import annotations

import re

IMAGE = "an image; give the text or data that it shows"
CAPTURE = "a packet capture; export its summary as text: tshark -r FILE -t ud > FILE.txt"
OFFICE = "an office document; save its sheet as CSV or its text as UTF-8 text"
COLUMNS = "a table of columns; export it as CSV or JSON lines: duckdb -c \"copy (from 'FILE') to 'FILE.csv'\""
SYSSTAT = "sysstat's binary data; export it as JSON: sadf -j FILE -- -A > FILE.json"
TAIL = "SQLite's write-ahead log without its database; copy the database together with it: NAME.db and NAME.db-wal"
LOGINS = "a record of logins (wtmp or btmp); export it as text: last -F -f FILE > FILE.txt"
LOCAL = "the store of Docker's local log driver; export it as text: docker logs -t NAME > NAME.log 2>&1"

KNOWN: tuple[tuple[bytes, str], ...] = (
    (
        b"SQLite format 3\0",
        "a SQLite database of an unknown schema; export the table of results as CSV or JSON lines",
    ),
    (b"\x37\x7f\x06\x82", TAIL),
    (b"\x37\x7f\x06\x83", TAIL),
    (
        b"\x18\xe2\x2d\0",
        "SQLite's index of a write-ahead log; copy the database together with its -wal file instead",
    ),
    (
        b"ElfFile\0",
        "a Windows event log; export it as text: wevtutil qe FILE.evtx /lf:true /f:text > FILE.txt, or Get-WinEvent -Path FILE.evtx | Export-Csv FILE.csv",
    ),
    (
        b"\x30\0\0\0LfLe",
        "a Windows event log of before Vista; export it as text: wevtutil qe FILE.evt /lf:true /f:text > FILE.txt",
    ),
    (b"\xd4\xc3\xb2\xa1", CAPTURE),
    (b"\xa1\xb2\xc3\xd4", CAPTURE),
    (b"\x4d\x3c\xb2\xa1", CAPTURE),
    (b"\xa1\xb2\x3c\x4d", CAPTURE),
    (b"\x0a\x0d\x0d\x0a", CAPTURE),
    (b"\x96\xd5", SYSSTAT),
    (b"\xd5\x96", SYSSTAT),
    (b"PAR1", f"a Parquet file, {COLUMNS}"),
    (b"ARROW1", f"an Arrow file, {COLUMNS}"),
    (b"ORC", f"an ORC file, {COLUMNS}"),
    (b"Obj\x01", "an Avro file; export it as JSON lines: avro-tools tojson FILE > FILE.jsonl"),
    (b"\x7fELF", "a program or a core dump; give the log of the process, or: coredumpctl info > FILE.txt"),
    (b"MZ", "a Windows program; give the log of the process"),
    (b"\x89PNG\r\n\x1a\n", IMAGE),
    (b"\xff\xd8\xff", IMAGE),
    (b"GIF8", IMAGE),
    (b"RIFF", IMAGE),
    (b"II*\0", IMAGE),
    (b"MM\0*", IMAGE),
    (b"%PDF-", "a PDF; give the text or table that it was made from"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", OFFICE),
    (b"{\\rtf", OFFICE),
    (b"\xca\xfe\xba\xbe", "a compiled Java class; give the log of the process"),
    (
        b"JAVA PROFILE ",
        "a Java heap dump; give the log of the process, and jcmd PID Thread.print for its threads",
    ),
    (b"FLR\0", "a Java flight recording; export it as JSON: jfr print --json FILE > FILE.json"),
    (b"REDIS0", "a Redis snapshot; give the server's log and redis-cli INFO instead"),
    (
        b"PGDMP",
        "a PostgreSQL dump in the custom format; export the table as CSV: psql -c '\\copy TABLE to FILE csv header'",
    ),
    (b"\xfebin", "a MySQL binary log; export it as text: mysqlbinlog -v FILE > FILE.txt"),
    (b"RRD\0", "a round-robin database; export it as CSV or JSON: rrdtool xport --json"),
    (b"\x85\xbd\x40\xdd", "a chunk of Prometheus' store; export it as text: promtool tsdb dump DIR"),
    (b"\xba\xaa\xd7\0", "an index of Prometheus' store; export it as text: promtool tsdb dump DIR"),
    (b"PERFILE2", "a perf recording; export it as text: perf script > FILE.txt"),
    (b"\x1f\x9d", "packed by compress; unpack it first: gzip -d FILE"),
    (b"\x1f\xa0", "packed by compress; unpack it first: gzip -d FILE"),
    (b"LZIP", "packed by lzip; unpack it first: lzip -d FILE"),
    (b"\x89LZO\0\r\n\x1a\n", "packed by lzop; unpack it first: lzop -d FILE"),
    (b"\x02\x21\x4c\x18", "packed by lz4's old format; unpack it first: lz4 -d FILE"),
    (b"\xff\x06\0\0sNaPpY", "packed by snappy; unpack it first: snzip -d FILE"),
    (b"Rar!\x1a\x07", "a RAR archive; unpack it and give the folder: unar FILE"),
    (b"MSCF\0\0\0\0", "a Cabinet archive; unpack it and give the folder: cabextract FILE"),
    (b"\xed\xab\xee\xdb", "an RPM package; unpack it and give the folder: rpm2cpio FILE | cpio -id"),
    (b"!<arch>\n", "an ar archive or a Debian package; unpack it and give the folder: ar x FILE"),
    (b"070701", "a cpio archive; unpack it and give the folder: cpio -id < FILE"),
    (b"070707", "a cpio archive; unpack it and give the folder: cpio -id < FILE"),
    (b"age-encryption.org/", "encrypted by age; decrypt it first: age -d FILE"),
    (b"-----BEGIN PGP MESSAGE-----", "encrypted by PGP; decrypt it first: gpg -d FILE"),
    (b"Salted__", "encrypted by openssl; decrypt it first"),
    (b"\0\0\0\1Bud1", "macOS' view of a folder; leave it out"),
)
"""First bytes and advice. A magic that is text or short counts only where the rest is no text (:func:`is_binary`)."""
WORDS = (b"ORC", b"MZ", b"RIFF", b"GIF8", b"LZIP", b"PAR1", b"REDIS0", b"070701", b"070707", b"ARROW1")
"""Magics that a text may begin with."""
JOURNAL = b"LPKSHHRH"
CONTROLS = bytes(code for code in range(32) if code not in (7, 8, 9, 10, 12, 13, 27, 30)) + b"\x7f"
"""Bytes that no text holds: not bell, backspace, tab, line ends, form feed, escape, record separator (RFC 7464)."""
BINARY_SHARE = 0.05
"""Share of such bytes in a file that is no text; random bytes have a tenth."""
ZEROS = re.compile(rb"\0{4,}")
"""A run of zeros: a hole, or a block that never reached the disk. In a text it is left out."""
WIDE = re.compile(rb"(?:[\t\n\r -~]\0){8,}")
"""UTF-16LE that PowerShell appended to a file of another encoding."""
STREAMS = (b"stdout", b"stderr")
UTMP = 384
"""Size of a login record (glibc, 64 bit)."""


def advice(head: bytes) -> str | None:
    """Say what a file is and what to export instead, None if its first bytes are not known."""
    found = next((said for magic, said in KNOWN if head.startswith(magic)), None)
    if found and not (head.startswith(WORDS) and not is_binary(head)):
        return found
    if is_local_driver(head):
        return LOCAL
    return LOGINS if is_logins(head) else None


def is_local_driver(head: bytes) -> bool:
    """Tell frames of Docker's local driver: a length, then a protobuf entry whose first field is the stream, then the length again."""
    size = int.from_bytes(head[:4], "big")
    return (
        8 < size < 1 << 24
        and head[4:6] == b"\x0a\x06"
        and head[6:12] in STREAMS
        and (size + 8 > len(head) or head[4 + size : 8 + size] == head[:4])
    )


def is_logins(head: bytes) -> bool:
    """Tell login records: a type of 0 to 9, then texts of fixed width that are filled up with zeros."""
    records = [head[at : at + UTMP] for at in range(0, min(len(head), 8 * UTMP), UTMP)]
    whole = [record for record in records if len(record) == UTMP]
    return bool(whole) and all(map(is_login, whole)) and any(record[0] for record in whole)


def is_login(record: bytes) -> bool:
    """Tell one login record."""
    texts = (record[8:40], record[44:76], record[76:332])
    return (
        record[0] <= 9
        and record[1:4] == b"\0\0\0"
        and record[364:384] == bytes(20)
        and all(re.fullmatch(rb"[ -~]*\0*", text) for text in texts)
    )


def is_binary(head: bytes) -> bool:
    """Tell bytes that are no text in any encoding of one byte or UTF-8."""
    if head.startswith(JOURNAL) or any(
        head.startswith(magic) for magic, _ in KNOWN if not magic.startswith(WORDS)
    ):
        return True
    text = WIDE.sub(b"", ZEROS.sub(b"", head)) if b"\0" in head else head
    odd = len(text) - len(text.translate(None, CONTROLS))
    return odd > BINARY_SHARE * len(text)
