"""An incident in an archive gives the report that its folder gives, and every claim leads back into the archive."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import shutil
import tarfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import py7zr
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

INPUTS = Path(__file__).parents[2] / "fixtures" / "incidents" / "s2-pool-threadpool-gate" / "inputs"
CASE = INPUTS.parent / "case.toml"


LINE = b'{"log":"request 1\\n","stream":"stdout","time":"2026-11-29T12:00:00.5Z"}\n'


def zipped(files: dict[str, bytes]) -> bytes:
    """Return a zip of files."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return held.getvalue()


def pack(kind: str, target: Path) -> Path:
    """Pack the incident's inputs and return the archive."""
    path = target / f"incident.{kind}"
    files = sorted(INPUTS.iterdir())
    if kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in files:
                archive.write(file, file.name)
    elif kind == "7z":
        with py7zr.SevenZipFile(path, "w") as archive:
            for file in files:
                archive.write(file, file.name)
    else:
        with tarfile.open(path, "w:gz" if kind == "tar.gz" else "w") as archive:
            for file in files:
                archive.add(file, file.name)
    return path


def report(run: Callable[..., Any], source: Path, target: Path) -> tuple[dict[str, Any], Path]:
    """Write the report of an input."""
    out = target / f"{source.name}.json"
    case = ("--case", CASE) if CASE.exists() else ()
    done = run("report", source, *case, "--json", out, "-o", target / f"{source.name}.md", "--no-progress")
    assert done.code == 0, done.err
    return json.loads(out.read_text()), out


@pytest.mark.parametrize("kind", ["zip", "tar", "tar.gz", "7z"])
def test_report_of_an_archive(kind: str, run: Callable[..., Any], tmp_path: Path) -> None:
    """The same findings and quotes, hash by hash, with the archive's name before that of the member; and explain finds the lines."""
    plain, plain_path = report(run, INPUTS, tmp_path)
    packed, packed_path = report(run, pack(kind, tmp_path), tmp_path)
    prefix = f"incident.{kind}!"

    assert [prefix + source["name"] for source in plain["sources"]] == [s["name"] for s in packed["sources"]]
    for key in ("sha256", "bytes", "transport", "first", "last", "lines", "records", "copy_of", "skipped"):
        assert [s[key] for s in plain["sources"]] == [s[key] for s in packed["sources"]], key
    assert json.dumps(packed["findings"]).replace(prefix, "") == json.dumps(plain["findings"])
    assert packed["evidence"] == plain["evidence"]
    finding = next(item["id"] for item in plain["findings"] if item["evidence"])
    explained = [
        run("explain", path, finding, source).out
        for path, source in ((plain_path, INPUTS), (packed_path, tmp_path / f"incident.{kind}"))
    ]
    assert explained[0].count("\n") > 2
    assert explained[1].replace(prefix, "") == explained[0]


def test_an_archive_is_never_overwritten(run: Callable[..., Any], tmp_path: Path) -> None:
    """An output that is the archive itself is refused, and the archive stays."""
    path = pack("zip", tmp_path)
    before = path.read_bytes()
    done = run("report", path, "-o", path)

    assert done.code == 2
    assert "is an input and would be overwritten" in done.err
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("size", "read"), [("1K", False), ("1", False), ("10M", True), ("2g", True), ("1 TiB", True)]
)
def test_unpack_limit(size: str, run: Callable[..., Any], tmp_path: Path, *, read: bool) -> None:
    """--unpack-limit takes a size and bounds what is read; what lies before it is used."""
    line = r'{"log":"request %d\n","stream":"stdout","time":"2026-11-29T12:00:00.5Z"}' + "\n"
    path = tmp_path / "a.log.gz"
    path.write_bytes(gzip.compress("".join(line % n for n in range(20_000)).encode()))
    done = run("sources", path, "--format", "json", "--unpack-limit", size)
    (row,) = json.loads(done.out)

    assert done.code == 0
    assert (row["records"] == 20_000) is read
    assert any("--unpack-limit" in limit for limit in row["limits"]) is not read


NESTED = "inner!deeper!deepest!a.log"


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ([], ["depth=N"]),
        (["depth=4"], []),
        (["depth=4", "members=2"], ["members=N"]),
        (["depth=4", "MEMBERS = 2000"], []),
        (["depth=4", "size=20"], ["size=N"]),
    ],
)
def test_each_limit_of_unpacking_can_be_raised(
    bounds: list[str], said: list[str], run: Callable[..., Any], tmp_path: Path
) -> None:
    """Depth and members have options as the size has, and what meets a limit names the one that raises it."""
    data = zipped({"a.log": LINE, "b.log": LINE.replace(b"request 1", b"request 2")})
    for name in ("deepest", "deeper", "inner"):
        data = zipped({f"{name}.zip": data})
    path = tmp_path / "logs.zip"
    path.write_bytes(data)
    options = [word for bound in bounds for word in ("--unpack-limit", bound)]
    rows = json.loads(run("sources", path, "--format", "json", *options).out)
    told = " ".join(str(row["skipped"] or "") + " ".join(row["limits"]) for row in rows)

    assert [name for name in ("depth=N", "members=N", "size=N", "ratio=N") if name in told] == said
    assert (sum(row["records"] for row in rows) == 2) is not bool(said)


def test_a_bomb_of_one_byte_is_stopped_and_the_ratio_can_be_raised(
    run: Callable[..., Any], tmp_path: Path
) -> None:
    """A stream that unpacks to more than 2000 times its size is left where it passes that; the option reads on."""
    path = tmp_path / "zeros.log.xz"
    path.write_bytes(lzma.compress(LINE + b"\0" * (300 << 20), preset=0))
    stopped, read = (
        json.loads(run("sources", path, "--format", "json", *options).out)[0]
        for options in ([], ["--unpack-limit", "ratio=20000"])
    )

    assert any("ratio=N" in limit for limit in stopped["limits"])
    assert not any("ratio=N" in limit for limit in read["limits"])
    assert stopped["records"] == read["records"] == 1


@pytest.mark.parametrize("size", ["0", "-1", "many", "1X", "", "1.5G", "width=3", "depth="])
def test_bad_unpack_limit(size: str, run: Callable[..., Any], good: Path) -> None:
    """What is no size is a usage error with an example."""
    done = run("sources", good, "--unpack-limit", size)

    assert done.code == 2
    assert "200G" in done.err


def test_cut_monitor_file_says_so(run: Callable[..., Any], tmp_path: Path) -> None:
    """A cut file of a monitor, which is read by path, tells where it broke like any other."""
    line = '{"ts": "2026-11-29T12:47:%02dZ", "level": "ok", "connections": %d, "max_connections": 100}\n'
    packed = gzip.compress("".join(line % (n % 60, n * n % 97) for n in range(2000)).encode())
    path = tmp_path / "saturation.jsonl.gz"
    path.write_bytes(packed[: len(packed) // 2])
    (row,) = json.loads(run("sources", path, "--format", "json").out)

    assert row["transport"] == "samples_jsonl"
    assert row["limits"][0].startswith("the gzip stream ends early after ")


def test_a_folder_of_everything(run: Callable[..., Any], tmp_path: Path) -> None:
    """A folder of archives, encodings and rubbish is read as far as it can be, and every name is listed once."""
    target = tmp_path / "in"
    target.mkdir()
    shutil.copy(INPUTS / "postgres.log", target / "postgres.log")
    text = (INPUTS / "postgres.log").read_text()
    (target / "utf16.log").write_bytes(b"\xff\xfe" + text.replace("\n", "\r\n").encode("utf-16-le"))
    (target / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(99))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("postgres.log", text)
        archive.writestr("inner.tar.gz", pack("tar.gz", tmp_path).read_bytes())
    (target / "logs.zip").write_bytes(out.getvalue()[:-30])
    done = run("sources", target, "--format", "json")
    found = {row["name"]: row for row in json.loads(done.out)}

    assert done.code == 0
    assert list(found)[:3] == ["logs.zip", "logs.zip!inner.tar.gz!api.short-precise.txt.gz", "logs.zip!inner.tar.gz!gateway.docker-timestamps.log.gz"]  # fmt: skip
    assert "the zip has no readable table of contents" in found["logs.zip"]["skipped"]
    assert "an image" in found["photo.png"]["skipped"]
    same = [found[name] for name in ("postgres.log", "utf16.log", "logs.zip!postgres.log")]
    assert len({(row["records"], row["lines"]["total"], row["first"], row["last"]) for row in same}) == 1
    assert same[0]["records"] > 0
