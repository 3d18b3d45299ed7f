"""A report in another language says in it what is to remark on troublesome inputs."""

from __future__ import annotations

import gzip
import io
import json
import re
import tarfile
import zipfile
from typing import TYPE_CHECKING, Any

from test_bad_input import BROKEN

from forensics.sources import magic

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

IN_BRACKETS = re.compile(r"\([^()]*\)")
"""What a library says of damage, and lists of names, stand in brackets as they are."""
ENGLISH = re.compile(
    r"\b(?:again|and|are|give|it|its|line|lines|of|is|that|the|there|they|this|was|were|which|with)\b"
)
"""Words of which hardly an English remark has none and no Portuguese one has any."""
LINE = "2026-11-29T12:00:00+0000 srv a[1]: x\n"
TIMES = [f"2026-11-29T12:{at // 60:02d}:{at % 60:02d}" for at in range(0, 180, 2)]


def tar() -> bytes:
    """Return a tar with links and pipes, cut before its end."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, kind in (("link", tarfile.SYMTYPE), ("pipe", tarfile.FIFOTYPE)):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "elsewhere"
            archive.addfile(info)
        info = tarfile.TarInfo("a.log")
        info.size = 4096
        archive.addfile(info, io.BytesIO(LINE.encode() * 128))
    return out.getvalue()[:3000]


def unsafe_zip(*, flip: bool = False) -> bytes:
    """Return a zip with names that lead out of it; its first member may be damaged."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name in ("good.log", "../evil.log", "/etc/evil.log"):
            archive.writestr(name, LINE * 9)
    data = out.getvalue()
    return data.replace(b": x\n", b": y\n", 1) if flip else data


def office() -> bytes:
    """Return a zip that is a workbook."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in ("[Content_Types].xml", "xl/workbook.xml"):
            archive.writestr(name, "<x/>")
    return out.getvalue()


ODD: dict[str, bytes] = {
    "cut.log.gz": gzip.compress(("".join(f"{at}+0000 srv a[1]: {at}\n" for at in TIMES)).encode())[:-20],
    "followed.log.gz": gzip.compress(LINE.encode() * 9) + b"other data that is no gzip",
    "latin.log": LINE.encode() * 9 + "2026-11-29T12:00:01+0000 srv a[1]: größe\n".encode("latin-1"),
    "zeros.log": LINE.encode() * 9 + bytes(64) + LINE.encode(),
    "wide.log": (LINE * 9).encode("utf-16-le"),
    "bar.log": LINE.encode() * 9 + b"2026-11-29T12:00:01+0000 srv a[1]: 10%\r50%\r100%\n",
    "returns.log": LINE.encode().replace(b"\n", b"\r") * 9,
    "long.log": (LINE.replace("x\n", "x" * 2_200_000 + "\n") * 4).encode(),
    "cut.json": (b'[{"ts":"2026-11-29T12:00:00Z","status":"up","target":"x","ms":1},{"ts":"20'),
    "yearless.log": b"Nov 29 12:00:00 srv a[1]: x\n" * 9,
    "zoneless.log": "".join(f"{at.replace('T', ' ')} INFO started\n" for at in TIMES).encode(),
    "timeless.log": b"one\ntwo words\nand three\n" * 9,
    "ambiguous.csv": b"data;hora;estado;latencia_ms\n09/10/2026;12:14:31;fora;30\n10/11/2026;12:14:31;fora;30\n",
    "silent.csv": b"ts,status,target\n2026-11-29 12:00:00,up,x\n2026-11-29 12:01:00,purple,x\n",
    "quote.csv": b'Date,Host,Service,Content\n"2026-11-29T12:14:31.123Z",web-1,api,"INFO: ok\n' * 2,
    "capped.csv": b"".join(
        [b"Date,Host,Service,Content\n", *[b'"2026-11-29T12:14:31.123Z",web-1,api,"INFO: ok"\n'] * 5000]
    ),
    "ist.log": b'2026-11-29 18:14:00.434 IST [8479] LOG:  listening on IPv4 address "127.0.0.1", port 21224\n'
    * 3,
    "dmesg.log": b"[   12.345678] usb 1-1: new device\n[   13.345678] eth0: link up\n" * 5,
    "compose.log": b"api-1    | 2026-11-29T12:14:31.123456789Z INFO: ok\napi-1    | INFO: without\n" * 9,
    "cut.journal": b"LPKSHHRH" + bytes(40),
    "links.tar": tar(),
    "unsafe.zip": unsafe_zip(),
    "checksum.zip": unsafe_zip(flip=True),
    "cut.zip": unsafe_zip()[:500],
    "book.xlsx": office(),
    "cut.7z": b"7z\xbc\xaf\x27\x1c" + bytes(90),
    "backup.json": b'{"version":"1.23.11","notificationList":[],"monitorList":[{"id":1,"name":"x"}]}',
    "error.json": b'{"status":"error","errorType":"bad_data","error":"parse error"}',
    "metrics.prom": b"# TYPE up gauge\nup 1\n# TYPE node_load1 gauge\nnode_load1 0.5\n",
    "ps.txt": b'CONTAINER ID   IMAGE   COMMAND      CREATED         STATUS                     NAMES\n228d8eab09a1   bb:1    "sh /s.sh"   8 seconds ago   Exited (0) 7 seconds ago   shop_web_1\n',
    **{f"magic-{n}.bin": start + bytes(range(256)) * 2 for n, (start, _) in enumerate(magic.KNOWN)},
}
"""Inputs of which much is to be remarked, by name."""


def test_remarks_are_told_in_the_language(run: Callable[..., Any], tmp_path: Path) -> None:
    """Of a folder of troublesome inputs every limit and every reason is said in Portuguese, and in no other language."""
    folder = tmp_path / "in"
    folder.mkdir()
    for name, data in ODD.items():
        (folder / name).write_bytes(data)
    for name, (make, _) in BROKEN.items():
        make(folder / f"broken-{name}")
    (folder / "linked").symlink_to(tmp_path)
    done = run("report", folder, "--lang", "pt-BR", "--json", tmp_path / "report.json")
    sources = json.loads((tmp_path / "report.json").read_text())["sources"]
    said = {row["name"]: [*row["limits"], *([row["skipped"]] if row["skipped"] else [])] for row in sources}

    english = {
        name: remark
        for name, remarks in said.items()
        for remark in remarks
        if ENGLISH.search(IN_BRACKETS.sub("", remark))
    }

    assert "Traceback" not in done.err
    assert english == {}
    assert said["capped.csv"] == [
        "justamente 5.000 linhas: um limite usual de exportação: aumente-o, ou confirme que não há mais"
    ]
    assert said["cut.log.gz"] == [
        "o fluxo gzip termina cedo, após 4.836 bytes; usou-se o que vem antes; copie o arquivo de novo para o resto"
    ]
    assert said["links.tar"] == [
        "o tar termina cedo ou está danificado (unexpected end of data); copie de novo; seu último membro é a.log; dispositivos ou pipes omitidos (1): pipe; links omitidos (1): link; se importarem, descompacte o pacote e forneça-os pelo nome"
    ]
    assert len([name for name, remarks in said.items() if remarks]) >= len(ODD) + len(BROKEN)
