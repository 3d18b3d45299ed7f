"""How all charts look: measures, font, colours and hatching.

Colours are those of Okabe and Ito (https://jfly.uni-koeln.de/color/); rows, shapes and hatching tell apart what colours do.
"""

from __future__ import annotations

from typing import Final

FONT: Final = "Liberation Sans, Arial, Helvetica, sans-serif"
"""Bundled with vl-convert; the next two have its metrics and serve a reader's browser."""
WIDTH: Final = 800
LEFT: Final = 136
PADDING: Final = 12
PLOT: Final = WIDTH - LEFT - 2 * PADDING - 2
INSET: Final = 8
"""Pixels kept free at both ends of the time axis, so that no symbol is cut in half."""
ROW_PX: Final = 19
MOST_ROWS: Final = 8
MOST_CELLS: Final = 22
"""Characters of a row's name that fit into the margin."""
MOST_TITLE_CELLS: Final = 94
MOST_TICKS: Final = 8
HEADROOM: Final = 1.4
"""A figure stands above the highest value."""

ORANGE, SKY, GREEN = "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE, GREY = "#0072B2", "#D55E00", "#CC79A7", "#999999"
ON_BAR: Final = "#111111"
THEMES: Final = {
    "light": {"paper": "#ffffff", "ink": "#1f2328", "muted": "#57606a", "grid": "#e3e6ea", "answered": BLUE},
    "dark": {"paper": "#0d1117", "ink": "#e6edf3", "muted": "#9da7b3", "grid": "#2b323b", "answered": SKY},
}
HATCHES: Final = {
    "hatch-bar": (VERMILION, "paper"),
    "hatch-day": (None, "muted"),
    "hatch-blind": (None, "ink"),
}
"""Fills that are no colour, by name: the ground (None: none) and the colour of the stripes, of the theme."""


def hatched(name: str) -> str:
    """Return what a mark's colour is where it is hatched."""
    assert name in HATCHES
    return f"url(#{name})"


WEIGHTS: Final = {"hatch-bar": 2, "hatch-day": 1, "hatch-blind": 1.6}
"""Width of the stripes in pixels."""


def patterns(theme: str) -> dict[str, str]:
    """Define each hatching as SVG: stripes of 45 degrees, which no colour-blind reader misses."""
    colours = THEMES[theme]
    return {
        name: f'<pattern id="{name}" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        + (f'<rect width="6" height="6" fill="{ground}"/>' if ground else "")
        + f'<path d="M1.5 0V6" stroke="{colours[stripe]}" stroke-width="{WEIGHTS[name]}"/></pattern>'
        for name, (ground, stripe) in HATCHES.items()
    }


def dark_rules(scope: str) -> str:
    """Return the style rules that turn a light drawing inside `scope` into the dark one: each colour of the theme by its twin."""
    light, dark = THEMES["light"], THEMES["dark"]
    rules = "".join(
        f'{scope} [{paint}="{light[key]}"]{{{paint}:{dark[key]}}}'
        for key in light
        for paint in ("fill", "stroke")
    )
    return f"@media screen and (prefers-color-scheme: dark){{{rules}}}"
