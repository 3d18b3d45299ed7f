"""Each stream of a file goes to its own formats, by the records that it begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from forensics import pipeline
from forensics.pipeline import Options

if TYPE_CHECKING:
    from pathlib import Path

LOOKALIKE = "info: Microsoft.Hosting.Lifetime[14]"
"""A line of .NET's console logger; winston's simple format fits it too."""
WINSTON = [f"info: order {n} stored" for n in range(30)]
DOTNET = ["info: Microsoft.Hosting.Lifetime[14]", "      Now listening on: http://localhost:5000"] * 15
ACCESS = 'INFO:     10.0.0.1:5 - "GET /cart HTTP/1.1" 200 OK'
UVICORN = ["INFO:     Started server process [7]", "INFO:     Application startup complete."] * 15


def formats_of(folder: Path, **streams: list[str]) -> dict[str, dict[str, int]]:
    """Read one Compose log of several services and return how many lines each format got, by service."""
    lines = [
        f"{name}  | 2026-11-29T12:{at // 60:02}:{at % 60:02}.000000000Z {line}"
        for name, said in streams.items()
        for at, line in enumerate(said)
    ]
    (folder / "compose.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    evidence = pipeline.investigate([str(folder)], Options()).evidence
    found: dict[str, dict[str, int]] = {}
    for service, fmt, n in (
        evidence["formats"].sort("service", "format").select("service", "format", "n").iter_rows()
    ):
        found.setdefault(service, {})[fmt] = n
    return found


@pytest.mark.parametrize("at", [0, 15, 30])
def test_a_line_that_looks_like_another_format_stays_in_its_stream(at: int, tmp_path: Path) -> None:
    """One line of thirty that a stranger fits better, by chance, is no line of the stranger."""
    found = formats_of(tmp_path, shop=[*WINSTON[:at], LOOKALIKE, *WINSTON[at:]])

    assert found == {"shop": {"winston_simple": 31}}


def test_streams_of_one_file_have_formats_of_their_own(tmp_path: Path) -> None:
    """The same line is of .NET's logger in a stream of .NET's, and of winston in one of winston's."""
    found = formats_of(tmp_path, net=DOTNET, shop=[*WINSTON, LOOKALIKE])

    assert found == {"net": {"dotnet_console": 15}, "shop": {"winston_simple": 31}}


@pytest.mark.parametrize("many", [1, 30])
def test_requests_are_told_in_any_stream(many: int, tmp_path: Path) -> None:
    """An access line is a request, however seldom one stands between a server's own lines, whose shape it has too."""
    found = formats_of(tmp_path, api=[*UVICORN, *[ACCESS] * many])

    assert found == {"api": {"uvicorn_access": many, "uvicorn_log": 30}}


def test_a_stream_of_no_known_shape_has_no_format_of_its_own(tmp_path: Path) -> None:
    """Where most record starts fit nothing, a few that fit do not make a home."""
    free = [f"Stored order number {n}" for n in range(40)]

    assert formats_of(tmp_path, shop=[*free, *WINSTON[:8], LOOKALIKE])["shop"]["dotnet_console"] == 1
