"""The page in a real browser: Debian's chromium, headless, without a network."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import example
import pytest
from test_render import PAYLOADS, poisoned

from forensics.report import webpage

api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

CHROMIUM = shutil.which("chromium")
A4_PX = 688
"""Width of a printed page between its margins, at 96 pixels to the inch."""
CONTRAST = """() => {
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = (c) => { const [r, g, b] = c.slice(0, 3).map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const behind = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor);
    if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
  const worst = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement;
    if (!walk.currentNode.textContent.trim() || !element.getClientRects().length || element.closest(".picture")) continue;
    const style = getComputedStyle(element);
    const ink = rgb(element instanceof SVGElement ? style.fill : style.color);
    const [a, b] = [light(ink), light(behind(element))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) worst.push([element.tagName, element.className.baseVal ?? element.className, ratio.toFixed(2)]);
  }
  return worst;
}"""
"""Pictures are left out: their figures stand on a halo of paper, and tests/charts measures their colours."""
CUT = """() => [...document.querySelectorAll("table, pre, svg.drawing")]
  .filter((e) => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1 || e.scrollWidth > e.clientWidth + 1)
  .map((e) => [e.tagName, e.closest("section").id])"""


@pytest.fixture(scope="module")
def browser() -> Generator[Any]:
    """Start the browser once."""
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    with api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Generator[Callable[..., Any]]:
    """Return a function that opens a document's page; afterwards the page must have asked nobody and complained of nothing."""
    heard: list[str] = []
    contexts = []

    def call(document: dict[str, Any], **options: Any) -> Any:
        file = tmp_path / "report.html"
        file.write_text(webpage.html(document), encoding="utf-8")
        context = browser.new_context(**{"viewport": {"width": 1000, "height": 800}, **options})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: heard.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: heard.append(f"error: {error}"))
        page.on("dialog", lambda dialog: heard.append(f"dialog: {dialog.message}"))
        page.on(
            "request",
            lambda asked: None if asked.url == file.as_uri() else heard.append(f"asked: {asked.url}"),
        )
        page.set_default_timeout(10_000)
        page.goto(file.as_uri())
        if options.get("java_script_enabled", True):
            settle(page)
        return page

    yield call
    for context in contexts:
        context.close()
    assert heard == []


def settle(page: Any) -> None:
    """Wait until what was asked for is drawn."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def window(page: Any) -> tuple[int, int]:
    """Return the window of the chart."""
    settle(page)
    chart = page.locator("#chart")
    return int(chart.get_attribute("data-lo")), int(chart.get_attribute("data-hi"))


def span(page: Any) -> int:
    """Return how long the window of the chart is."""
    lo, hi = window(page)
    return hi - lo


def shown_rows(page: Any) -> int:
    """Count the rows of the timeline that can be seen."""
    return int(page.locator("#timeline tbody tr:visible").count())


class TestZoom:
    """The window of the chart."""

    def test_buttons(self, opened: Callable[..., Any]) -> None:
        """Each button does what it says, and the first window comes back."""
        page = opened(example.founding())
        lo, hi = window(page)

        page.get_by_role("button", name="Zoom in").click()
        assert span(page) == pytest.approx((hi - lo) / 2, abs=2)
        page.get_by_role("button", name="Later").click()
        assert window(page)[0] > lo + (hi - lo) // 4
        page.get_by_role("button", name="Incident").click()
        assert window(page) == (lo, hi)
        page.get_by_role("button", name="Whole period").click()
        assert span(page) > 86_400_000
        page.get_by_role("button", name="Zoom out").click()
        assert window(page) == tuple(
            int(page.locator("#chart").get_attribute(f"data-{name}")) for name in ("first", "last")
        )

    def test_keys(self, opened: Callable[..., Any]) -> None:
        """The chart is reached with the keyboard; its keys zoom and move."""
        page = opened(example.founding())
        first = window(page)
        plot = page.locator(".plot")
        plot.focus()

        page.keyboard.press("+")
        assert span(page) == pytest.approx((first[1] - first[0]) / 2, abs=2)
        before = window(page)
        page.keyboard.press("ArrowRight")
        assert window(page)[0] > before[0]
        page.keyboard.press("0")
        assert window(page) == first

    def test_wheel_zooms_only_a_chosen_chart(self, opened: Callable[..., Any]) -> None:
        """The wheel scrolls the page past the chart, and zooms around the pointer where the chart has the focus."""
        page = opened(example.founding())
        page.locator("#chart").scroll_into_view_if_needed()
        box = page.locator(".field").bounding_box()
        page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + 60)
        first = window(page)

        page.mouse.wheel(0, 10)
        assert window(page) == first
        page.locator(".plot").focus()
        page.mouse.wheel(0, -200)
        page.wait_for_function(f"() => Number(document.getElementById('chart').dataset.lo) !== {first[0]}")
        lo, hi = window(page)
        assert hi - lo < first[1] - first[0]
        assert first[1] - hi < lo - first[0]

    def test_dragging_moves(self, opened: Callable[..., Any]) -> None:
        """The drawing follows the pointer and keeps its scale."""
        page = opened(example.founding())
        page.locator("#chart").scroll_into_view_if_needed()
        lo, hi = window(page)
        box = page.locator(".field").bounding_box()
        page.mouse.move(box["x"] + 400, box["y"] + 150)
        page.mouse.down()
        page.mouse.move(box["x"] + 200, box["y"] + 150, steps=4)
        page.mouse.up()

        assert window(page)[0] > lo
        assert span(page) == pytest.approx(hi - lo, abs=2)

    def test_marks_follow(self, opened: Callable[..., Any]) -> None:
        """What lies outside the window is not drawn, and comes back with the whole period."""
        page = opened(example.founding())
        count = page.locator(".mark:visible").count()

        page.get_by_role("button", name="Whole period").click()
        settle(page)
        assert page.locator(".mark:visible").count() > count
        assert page.locator(".axis text").count() > 1


class TestFilter:
    """What of the timeline is shown."""

    @pytest.mark.parametrize("legend", ["Kind", "Service", "Grade"])
    def test_hides_marks_and_rows(self, opened: Callable[..., Any], legend: str) -> None:
        """Each group hides marks of the drawing and rows of the table, counts what is left, and lets all come back."""
        page = opened(example.founding())
        total = shown_rows(page)
        page.get_by_text("Filter (").click()
        group = page.get_by_role("group", name=legend, exact=True)
        marks = page.locator(".mark:not(.off)").count()

        for box in group.get_by_role("checkbox").all():
            box.uncheck()
        left = shown_rows(page)
        assert left < total
        assert page.locator(".mark:not(.off)").count() < marks
        assert page.locator("[data-shown]").inner_text() == str(left)
        page.get_by_role("button", name="Show all").click()
        assert shown_rows(page) == total == len(example.founding()["timeline"])

    def test_one_grade(self, opened: Callable[..., Any]) -> None:
        """The rows that stay have the grade that was left."""
        page = opened(example.founding())
        page.get_by_text("Filter (").click()
        for box in page.get_by_role("group", name="Grade", exact=True).get_by_role("checkbox").all()[1:]:
            box.uncheck()
        wanted = example.founding()["timeline"][0]["grade"]

        assert shown_rows(page) == sum(row["grade"] == wanted for row in example.founding()["timeline"])


class TestChosen:
    """A mark that is chosen is told, and leads to its row and its lines."""

    def test_with_the_keyboard(self, opened: Callable[..., Any]) -> None:
        """Arrow keys choose marks, Enter goes to the row in the table."""
        page = opened(example.founding())
        page.locator(".plot").focus()
        for _ in range(40):
            page.keyboard.press("ArrowDown")
            if page.locator("[data-row]").is_visible():
                break
        told = page.locator("[data-chosen]").inner_text()
        page.keyboard.press("Enter")

        assert page.locator("tr.chosen").count() == 1
        assert page.locator("tr.chosen td").nth(1).inner_text() in told
        assert page.evaluate("location.hash").startswith("#row-")

    def test_with_the_pointer(self, opened: Callable[..., Any]) -> None:
        """A click on a mark shows links to its evidence, which lead to the masked line."""
        page = opened(example.founding())
        page.locator("path.mark[data-n]:not(.out)").first.click()
        link = page.locator("[data-evidence] a").first
        name = link.inner_text()
        link.click()

        assert page.evaluate("location.hash") == f"#{name}"
        assert page.locator(f"#evidence tr:has(#{name})").is_visible()


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS.keys())
def test_hostile_text_does_nothing(opened: Callable[..., Any], payload: str) -> None:
    """A browser finds nothing to run, to load or to complain of, and the page works as ever."""
    page = opened(poisoned(example.founding(), lambda text: f"{payload} {text} {payload}"))
    first = span(page)
    page.get_by_role("button", name="Zoom in").click()

    assert span(page) < first
    assert page.evaluate("document.scripts.length") == 1
    assert page.evaluate("document.images.length") == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(opened: Callable[..., Any], scheme: str) -> None:
    """Every text has at least 4.5 times the contrast of its ground, the AA level of WCAG 2."""
    page = opened(example.founding(), color_scheme=scheme)
    page.get_by_text("Filter (").click()

    assert page.evaluate(CONTRAST) == []


@pytest.mark.parametrize("width", [360, 800, 1600])
def test_no_window_is_too_narrow(opened: Callable[..., Any], width: int) -> None:
    """Wide tables scroll in their own frame, never the page."""
    page = opened(example.founding(), viewport={"width": width, "height": 800})

    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_verdicts_have_their_evidence_in_view(opened: Callable[..., Any], language: str) -> None:
    """In 800 pixels the hypotheses stand with verdict, reason, scope and evidence, none of them behind the edge."""
    document = example.founding()
    document["case"]["language"] = language
    ids = [line["id"] for line in document["evidence"]][:4]
    for one in document["hypotheses"]:
        one |= {
            "verdict": "no_sign",
            "why": "slow at that instant, which proves nothing about any other " * 4,
            "for": ids,
        }
    page = opened(document, viewport={"width": 800, "height": 900})
    width, whole = page.locator("#ruled_out .scroll").evaluate("box => [box.clientWidth, box.scrollWidth]")

    assert whole == width == 760


@pytest.mark.parametrize("payload", ["", "x" * 300], ids=["plain", "long words"])
def test_print_cuts_no_table(opened: Callable[..., Any], payload: str) -> None:
    """Printed on A4 every table and block is whole, rows that were filtered included, and the controls are gone."""
    page = opened(
        poisoned(example.founding(), lambda text: f"{text} {payload}"),
        viewport={"width": A4_PX, "height": 900},
    )
    page.get_by_text("Filter (").click()
    page.get_by_role("checkbox").first.uncheck()
    page.emulate_media(media="print")

    assert page.evaluate(CUT) == []
    assert shown_rows(page) == len(example.founding()["timeline"])
    assert not page.get_by_text("Zoom in").is_visible()
    assert not page.locator("nav").is_visible()


def test_without_script_the_report_is_whole(opened: Callable[..., Any]) -> None:
    """The drawing, the tables and the links need no script."""
    page = opened(example.founding(), java_script_enabled=False)

    assert page.locator(".mark:visible").count() > 5
    assert page.locator("#timeline tbody tr:visible").count() == len(example.founding()["timeline"])
