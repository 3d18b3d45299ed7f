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
    import altair as alt

    from forensics.report.charts.shapes import Axis, Band, Drawing, Lane
    from forensics.report.charts.view import Row, View

PNG_HEAD = 8 + 25
"""Bytes of a PNG's signature and of its first chunk, after which texts may stand (https://www.w3.org/TR/png-3/#5ChunkOrdering)."""


def svg(drawing: Drawing, title: str, name: str, theme: str) -> str:
    """Draw a chart. `title` is its kind in words, `name` begins its ids: several drawings may stand in one page."""
    import altair as alt  # noqa: PLC0415 - costs a third of a second that other commands need not pay
    import vl_convert  # noqa: PLC0415 - the same

    colours = THEMES[theme]
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
    bands = [_band(band) for band in drawing.bands]
    chart = (
        alt.vconcat(*bands, spacing=7, title=heading, background=colours["paper"], padding=PADDING)
        .configure(font=FONT, aria=False)
        .configure_view(stroke=colours["grid"], fill=None)
        .configure_axis(labelColor=colours["ink"], gridColor=colours["grid"], labelFontSize=11, labelLimit=0)
    )
    drawn = str(vl_convert.vegalite_to_svg(chart.to_dict()))
    return _finish(drawn, title, drawing.said, f"{name}-{theme}", theme)


def png(drawn: str, title: str, said: str, scale: float) -> bytes:
    """Turn an SVG into pixels, `scale` to a unit; the file carries the same words, and the SHA-256 of what it shows."""
    import vl_convert  # noqa: PLC0415 - see `svg`

    image = bytes(vl_convert.svg_to_png(drawn, scale=scale))
    texts = {
        "Title": title,
        "Description": said,
        "Source": f"svg sha256:{sha256(drawn.encode()).hexdigest()}",
    }
    return image[:PNG_HEAD] + b"".join(_text(key, text) for key, text in texts.items()) + image[PNG_HEAD:]


def _text(key: str, text: str) -> bytes:
    """Write a text chunk of a PNG (iTXt: UTF-8, not compressed)."""
    body = b"iTXt" + key.encode() + b"\0\0\0\0\0" + text.encode()
    return struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))


def _band(band: Band) -> alt.LayerChart | alt.FacetChart:
    """Draw a lane over the shaded incidents."""
    import altair as alt  # noqa: PLC0415 - see `svg`

    lane, view = band.lane, band.view
    marks = [*_shades(view), *lane.marks]
    layers = [
        alt.Chart(alt.InlineData(values=one.values), mark=alt.MarkDef(**one.mark, clip=True))
        .encode(**_channels(one, band))
        .properties(name=f"{lane.name}_{one.name}")
        for one in marks
        if one.values
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
    heading = {"title": title} if lane.title else {}
    return alt.layer(*layers, width=PLOT, height=lane.height, name=lane.name, **heading)


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
    every: dict[str, Any] = {
        "at": (
            "x",
            alt.X("at:T")
            .scale(type="utc", domain=[view.lo, view.hi], padding=INSET, nice=False)
            .axis(_time_axis(band.axis)),
        ),
        "until": ("x2", alt.X2("until:T")),
        "row": ("y", alt.Y("row:N").scale(domain=list(lane.rows)).axis(_row_axis(lane))),
        "value": ("y", alt.Y("value:Q").scale(domain=[0, lane.top], nice=False).axis(_row_axis(lane))),
        "base": ("y2", alt.Y2("base:Q")),
        "text": ("text", alt.Text("text:N")),
        "color": ("color", alt.Color("color:N").scale(None).legend(None)),
        "shape": ("shape", alt.Shape("shape:N").scale(None).legend(None)),
        "angle": ("angle", alt.Angle("angle:Q").scale(None)),
    }
    return dict(every[key] for key in marks.values[0])


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
