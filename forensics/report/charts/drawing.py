"""Turning a planned chart into SVG and PNG, with the same bytes on every machine.

- Instants are shifted to the offset of the case's zone and drawn on a UTC scale, since the time axes of vl-convert follow the
  zone of the machine.
- The font is the one that vl-convert carries, and no extent of a drawing depends on the width of a text.
- Generated ids are renumbered, since they count on through the life of a process.
"""

from __future__ import annotations

import html
import re
import struct
import zlib
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from forensics.report.charts.shapes import Marks
from forensics.report.charts.theme import FONT, INSET, LEFT, ORANGE, PADDING, PLOT, THEMES, patterns

if TYPE_CHECKING:
    from collections.abc import Callable

    import altair as alt

    from forensics.report.charts.shapes import Axis, Band, Drawing, Lane
    from forensics.report.charts.view import Row, View

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {"at": "x", "until": "x2", "row": "y", "value": "y", "base": "y2"}
"""Keys of values that are not named after their channel."""
PARTS = re.compile(r' (?:role|aria-roledescription|aria-label)="[^"]*"')
"""What vl-convert says of titles and marks, one by one: the drawing is one image with one description."""
LEVEL = 7
"""Level of compression: charts are mostly paper, and become a third of what vl-convert writes."""


def svg(drawing: Drawing, title: str, name: str, theme: str) -> str:
    """Draw a chart. `title` is its kind in words, `name` begins its ids: several drawings may stand in one page."""
    import vl_convert  # noqa: PLC0415 - costs a tenth of a second that other commands need not pay
    from altair.utils.schemapi import debug_mode  # noqa: PLC0415 - the same

    with debug_mode(False):  # our own specifications are right, and validating them takes longer than drawing
        specification = _specification(drawing, THEMES[theme])
    drawn = str(vl_convert.vegalite_to_svg(specification))
    return _finish(drawn, title, drawing.said, f"{name}-{theme}", theme)


def _specification(drawing: Drawing, colours: dict[str, str]) -> dict[str, Any]:
    """Write a chart in Vega-Lite by the classes of its schema: those of altair's own charts copy what is inside again and again."""
    import altair as alt  # noqa: PLC0415 - see `svg`

    values: dict[str, list[Row]] = {}
    heading = alt.Title(
        drawing.headline,
        subtitle=drawing.notes,
        anchor="start",
        frame="bounds",
        fontSize=14,
        subtitleFontSize=11,
        subtitlePadding=5,
        offset=8,
        color=colours["ink"],
        subtitleColor=colours["muted"],
    )
    chart = alt.TopLevelVConcatSpec(
        vconcat=[_band(band, values) for band in drawing.bands],
        spacing=7,
        title=heading,
        background=colours["paper"],
        padding=PADDING,
        config=alt.Config(
            font=FONT,
            aria=False,
            view=alt.ViewConfig(stroke=colours["grid"], fill=None),
            axis=alt.AxisConfig(
                labelColor=colours["ink"], gridColor=colours["grid"], labelFontSize=11, labelLimit=0
            ),
        ),
    )
    return dict(chart.to_dict(validate=False)) | {"$schema": alt.SCHEMA_URL, "datasets": values}


def png(drawn: str, title: str, said: str, scale: float) -> bytes:
    """Turn an SVG into pixels, `scale` to a unit; the file carries the same words, and the SHA-256 of what it shows.

    The pixels are the same on every machine; how they are packed is a matter of its zlib.
    Reference: https://www.w3.org/TR/png-3/
    """
    import vl_convert  # noqa: PLC0415 - see `svg`

    chunks = _chunks(bytes(vl_convert.svg_to_png(drawn, scale=scale)))
    pixels = zlib.decompress(b"".join(body for kind, body in chunks if kind == b"IDAT"))
    texts = {
        "Title": title,
        "Description": said,
        "Source": f"svg sha256:{sha256(drawn.encode()).hexdigest()}",
    }
    written = [
        (b"IHDR", next(body for kind, body in chunks if kind == b"IHDR")),
        *((b"iTXt", key.encode() + bytes(5) + text.encode()) for key, text in texts.items()),
        (b"IDAT", zlib.compress(pixels, LEVEL)),
        (b"IEND", b""),
    ]
    return PNG_SIGNATURE + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in written
    )


def _chunks(image: bytes) -> list[tuple[bytes, bytes]]:
    """Read the chunks of a PNG."""
    chunks, at = [], len(PNG_SIGNATURE)
    while at < len(image):
        (size,) = struct.unpack_from(">I", image, at)
        chunks.append((image[at + 4 : at + 8], image[at + 8 : at + 8 + size]))
        at += size + 12
    return chunks


def _band(band: Band, values: dict[str, list[Row]]) -> alt.LayerSpec:
    """Draw a lane over the shaded incidents, and put what is drawn into `values`."""
    import altair as alt  # noqa: PLC0415 - see `svg`

    lane, view = band.lane, band.view
    marks = {f"{lane.name}_{one.name}": one for one in (*_shades(view), *lane.marks) if one.values}
    values |= {name: one.values for name, one in marks.items()}
    layers = [
        alt.UnitSpec(
            data=alt.NamedData(name=name),
            mark=alt.MarkDef(**one.mark, clip=True),
            encoding=alt.Encoding(**_channels(one, band)),
            name=name,
        )
        for name, one in marks.items()
    ]
    title = alt.Title(
        lane.title,
        anchor="start",
        frame="group",
        fontSize=11,
        fontWeight="bold",
        offset=3,
        color=view.colours["ink"],
    )
    heading: dict[str, Any] = {"title": title} if lane.title else {}
    return alt.LayerSpec(layer=layers, width=PLOT, height=lane.height, name=lane.name, **heading)


def _shades(view: View) -> list[Marks]:
    """Shade the incidents and rule their edges, dashed where an edge is not exact."""
    boxes = [{"at": span.at, "until": span.until} for span in view.incidents]
    edges: dict[bool, list[Row]] = {True: [], False: []}
    for span in view.incidents:
        edges[span.exact] += [{"at": span.at}]
        edges[True] += [] if span.ongoing else [{"at": span.until}]
    rule = {"type": "rule", "color": ORANGE, "strokeWidth": 1.2}
    return [
        Marks("shade", {"type": "rect", "color": ORANGE, "opacity": 0.14}, boxes),
        Marks("edges", rule, edges[True]),
        Marks("edges_no_later", rule | {"strokeDash": [4, 3]}, edges[False]),
    ]


def _channels(marks: Marks, band: Band) -> dict[str, Any]:
    """Choose the encoding from the keys that the values have."""
    import altair as alt  # noqa: PLC0415 - see `svg`

    lane, view = band.lane, band.view
    every: dict[str, Callable[[], Any]] = {
        "at": lambda: (
            alt.X("at:T")
            .scale(type="utc", domain=[view.lo, view.hi], padding=INSET, nice=False)
            .axis(_time_axis(band.axis))
        ),
        "until": lambda: alt.X2("until:T"),
        "row": lambda: alt.Y("row:N").scale(domain=list(lane.rows)).axis(_row_axis(lane)),
        "value": lambda: alt.Y("value:Q").scale(domain=[0, lane.top], nice=False).axis(_row_axis(lane)),
        "base": lambda: alt.Y2("base:Q"),
        "text": lambda: alt.Text("text:N"),
        "color": lambda: alt.Color("color:N").scale(None).legend(None),
        "shape": lambda: alt.Shape("shape:N").scale(None).legend(None),
        "angle": lambda: alt.Angle("angle:Q").scale(None),
    }
    return {CHANNELS.get(key, key): every[key]() for key in marks.values[0]}


def _time_axis(axis: Axis) -> alt.Axis:
    """Rule a lane, and name the places where the axis says so."""
    import altair as alt  # noqa: PLC0415 - see `svg`

    return alt.Axis(
        title=None,
        format=axis.pattern,
        values=list(axis.ticks),
        grid=axis.grid,
        labels=axis.labelled,
        ticks=axis.labelled,
        domain=axis.labelled,
        labelFlush=True,
        labelOverlap=False,
    )


def _row_axis(lane: Lane) -> alt.Axis:
    """Name the rows of a lane, or the two ends of its scale, in a margin of fixed width."""
    import altair as alt  # noqa: PLC0415 - see `svg`

    look: dict[str, Any] = {
        "title": None,
        "minExtent": LEFT,
        "maxExtent": LEFT,
        "domain": False,
        "ticks": False,
    }
    look |= {"labelPadding": 6, "labelOverlap": False}
    if lane.rows:
        return alt.Axis(grid=False, **look)
    return alt.Axis(
        values=list(lane.ticks), format=".12~g", grid=bool(lane.ticks), labels=bool(lane.ticks), **look
    )


def _finish(drawn: str, title: str, said: str, prefix: str, theme: str) -> str:
    """Renumber generated ids, define the hatchings, and tell readers who do not see the image what it shows."""
    drawn = PARTS.sub("", drawn)
    numbers: dict[str, int] = {}
    for name in re.findall(r'\bid="(\w+)"', drawn):
        numbers.setdefault(name, len(numbers) + 1)

    def renamed(found: re.Match[str]) -> str:
        """Replace one generated id, at its definition or where it is used."""
        number = numbers.get(found[2])
        return f"{found[1]}{prefix}-{number}{found[3]}" if number else found[0]

    drawn = re.sub(r'(\bid=")(\w+)(")', renamed, drawn)
    drawn = re.sub(r"(url\(#)(\w+)(\))", renamed, drawn)
    hatchings = ""
    for name, pattern in patterns(theme).items():
        if f"url(#{name})" in drawn:
            drawn = drawn.replace(f"url(#{name})", f"url(#{prefix}-{name})")
            hatchings += pattern.replace(f'id="{name}"', f'id="{prefix}-{name}"')
    about = (
        f'<title id="{prefix}-title">{html.escape(title, quote=False)}</title>'
        f'<desc id="{prefix}-desc">{html.escape(said, quote=False)}</desc>'
    ) + (f"<defs>{hatchings}</defs>" if hatchings else "")
    head, _, body = drawn.partition(">")
    return (
        f'{head} role="img" aria-labelledby="{prefix}-title" aria-describedby="{prefix}-desc">{about}{body}\n'
    )
