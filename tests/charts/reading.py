"""Reading drawings back: their bands, marks and texts."""

from __future__ import annotations

import json
import re
import struct
import zlib
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from forensics.report import charts

SVG = "{http://www.w3.org/2000/svg}"
GOLDEN = Path(__file__).parents[2] / "fixtures" / "incidents" / "crm-freeze" / "expected" / "report.json"


def founding() -> dict[str, Any]:
    """Return the whole report of the founding incident, which has something for every chart."""
    document: dict[str, Any] = json.loads(GOLDEN.read_text("utf-8"))
    return document


@cache
def _svg(text: str, name: str, theme: str) -> str:
    """Draw each document once for all tests that look at it."""
    return charts.svg(json.loads(text), name, theme=theme) or ""


def svg_of(doc: dict[str, Any], name: str, theme: str = "light") -> str:
    """Draw a document that has something to draw."""
    return _svg(json.dumps(doc), name, theme)


def drawn(doc: dict[str, Any], name: str, theme: str = "light") -> ET.Element:
    """Draw a document and read the SVG back."""
    return ET.fromstring(svg_of(doc, name, theme))  # noqa: S314 - our own output


def marks(root: ET.Element, name: str) -> list[ET.Element]:
    """Find the drawn items of one layer."""
    groups = [g for g in root.iter(f"{SVG}g") if re.search(rf"\b{name}(_\d+)?_marks\b", g.get("class") or "")]
    return [item for group in groups for item in group]


def texts(root: ET.Element) -> list[str]:
    """List every text of the drawing, without the alternative text."""
    return ["".join(node.itertext()) for node in root.iter(f"{SVG}text")]


def lanes(root: ET.Element) -> list[str]:
    """List the lanes, top to bottom."""
    classes = " ".join(g.get("class") or "" for g in root.iter(f"{SVG}g"))
    return re.findall(r"role-scope (\w+)_group", classes)


def boxes(items: list[ET.Element]) -> list[tuple[float, float, float]]:
    """Return left edge, width and height of drawn rectangles, in the plot's pixels."""
    found = [
        re.fullmatch(r"M([\d.]+),([\d.]+)h([\d.]+)v([\d.]+)h-\3Z", item.get("d") or "") for item in items
    ]
    return [(float(one[1]), float(one[3]), float(one[4])) for one in found if one]


def chunks(image: bytes) -> list[tuple[str, bytes]]:
    """Return the chunks of a PNG; each must have the checksum that it states."""
    found, at = [], 8
    while at < len(image):
        (size,) = struct.unpack_from(">I", image, at)
        kind, body = image[at + 4 : at + 8], image[at + 8 : at + 8 + size]
        assert struct.unpack_from(">I", image, at + 8 + size)[0] == zlib.crc32(kind + body)
        found.append((kind.decode(), body))
        at += size + 12
    return found


def words_of(image: bytes) -> dict[str, str]:
    """Return the texts that a PNG carries."""
    found = [body.split(b"\0", 1) for kind, body in chunks(image) if kind == "iTXt"]
    return {key.decode(): rest[4:].decode() for key, rest in found}
