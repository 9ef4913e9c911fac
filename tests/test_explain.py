"""The explanation of a page, opened in a real browser."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page as Tab
from playwright.sync_api import sync_playwright

from pagesight.app.document import build_document
from pagesight.app.explain import explain_html, explain_png
from pagesight.layout.overlay import colour, draw
from pagesight.layout.page import Labels, Page, build_page
from pagesight.render.browser import find_browser
from pagesight.render.capture import Renderer
from pagesight.render.errors import PagesightError, SnapshotError
from pagesight.render.loop import LoopThread
from pagesight.render.snapshot import Meta
from pagesight.render.static import parse

URL = "https://site.example/a"
HOSTILE = "</script><img src=https://evil.example/x onerror=boom()>\u2028${boom()}{{data}}"
SOURCE = f"""<title>{HOSTILE.replace("<", "&lt;")}</title><body style="margin:0;background:#fff">
<p style="position:absolute;left:100px;top:50px;width:400px;height:40px;margin:0">Kept text</p>
<p style="position:absolute;left:640px;top:200px;margin:0">Left out</p>
<p style="position:absolute;left:0;top:2000px">{HOSTILE.replace("<", "&lt;")}</p>"""


def labels_of(page: Page) -> Labels:
    content = np.array(["Left" not in text for text in page.text], bool)
    probability = np.where(content, 0.9, 0.05).astype(np.float32)
    return Labels(content, probability, tuple(f"reason {HOSTILE}" for _ in page.text))


@pytest.fixture(scope="module")
def page(loop: LoopThread, renderer: Renderer) -> Page:
    return build_page(loop.run(renderer.replay(SOURCE.encode(), URL, "utf-8")))


@pytest.fixture
def open_file(tmp_path: Path) -> Iterator[Callable[[str], tuple[Tab, list[str]]]]:
    """Open HTML as a file, 1280 pixels wide; the tab, and what it asked for or complained of."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser())

        def open_html(html: str) -> tuple[Tab, list[str]]:
            path = tmp_path / "page.html"
            path.write_text(html, encoding="utf-8")
            tab, events = browser.new_page(viewport={"width": 1280, "height": 800}), list[str]()
            tab.on("request", lambda request: events.append(request.url[:30]))
            tab.on("pageerror", lambda error: events.append(str(error)))
            tab.on("console", lambda message: events.append(message.text))
            tab.goto(path.as_uri())
            return tab, events

        yield open_html
        browser.close()


def test_html_in_a_browser(page: Page, open_file: Callable[[str], tuple[Tab, list[str]]]) -> None:
    tab, events = open_file(explain_html(page, build_document(page, labels_of(page))))
    picture = tab.locator("#stage img").bounding_box()
    outlines = [tab.locator(f"[data-block='{i}']") for i in range(3)]
    assert picture is not None
    scale = picture["width"] / 1280
    for outline, (x, y) in zip(outlines, [(100, 50), (640, 200)], strict=False):
        box = outline.bounding_box()
        assert box is not None
        assert box["x"] - picture["x"] == pytest.approx(x * scale, abs=2)
        assert box["y"] - picture["y"] == pytest.approx(y * scale, abs=2)
        assert box["x"] + box["width"] <= picture["x"] + picture["width"]
    assert ["kept" in (o.get_attribute("class") or "") for o in outlines] == [True, False, True]

    outlines[1].hover()
    detail = tab.locator("#detail").inner_text()
    assert "Boilerplate, probability of content 0.05" in detail
    assert "Left out" in detail
    outlines[2].focus()
    assert f"reason {HOSTILE}".replace("\u2028", "") in tab.locator("#detail").inner_text().replace(
        "\u2028", ""
    )
    assert tab.locator("#texts p:visible").count() == 2
    assert tab.locator("img").count() == 1
    assert [event for event in events if not event.startswith(("file:", "data:"))] == []


def test_the_threshold_chooses_anew(
    page: Page, open_file: Callable[[str], tuple[Tab, list[str]]]
) -> None:
    tab, _ = open_file(explain_html(page, build_document(page, labels_of(page))))
    assert "2 of 3 blocks kept" in tab.locator("#summary").inner_text()
    tab.locator("#threshold").fill("0.01")
    assert "3 of 3 blocks kept" in tab.locator("#summary").inner_text()
    tab.locator("#threshold").fill("0.95")
    assert tab.locator(".block.kept").count() == 0
    tab.locator("#reset").click()
    assert "2 of 3 blocks kept" in tab.locator("#summary").inner_text()


def test_png_has_outlines_in_their_colours(page: Page) -> None:
    labels = labels_of(page)
    with Image.open(io.BytesIO(explain_png(page, labels))) as image:
        scale = page.snapshot.meta.screenshot_scale
        assert image.format == "PNG"
        assert image.width == round(1280 * scale)
        for block, (x, y) in enumerate([(100, 50), (640, 200)]):
            left, top = (
                round(float(page.box[block, 0] * scale)),
                round(float(page.box[block, 1] * scale)),
            )
            assert (left / scale, top / scale) == pytest.approx((x, y), abs=4)
            assert image.convert("RGB").getpixel((left, top)) == colour(
                float(labels.probability[block])
            )


def test_blocks_below_the_picture_are_left_out(page: Page) -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (320, 100), "white").save(buffer, "JPEG")
    cut = _with_picture(page, buffer.getvalue())
    assert draw(cut, labels_of(cut)).size == (320, 100)


def _with_picture(page: Page, picture: bytes) -> Page:
    return replace(page, snapshot=replace(page.snapshot, screenshot=picture))


def test_a_parsed_page_cannot_be_explained() -> None:
    page = build_page(parse(b"<p>x", "utf-8", Meta(url=URL)))
    with pytest.raises(PagesightError, match="explain needs a rendering"):
        explain_html(page, build_document(page, labels_of(page)))
    with pytest.raises(PagesightError, match="explain needs a rendering"):
        explain_png(page, labels_of(page))


def test_a_missing_and_a_damaged_picture(page: Page) -> None:
    with pytest.raises(PagesightError, match="no picture"):
        draw(_with_picture(page, b""), labels_of(page))
    with pytest.raises(SnapshotError, match="damaged"):
        draw(_with_picture(page, b"\xff\xd8\xffgarbage"), labels_of(page))


@pytest.mark.parametrize(
    ("probability", "rgb"), [(0, (204, 41, 41)), (0.5, (214, 158, 0)), (1, (30, 132, 73))]
)
def test_colours(probability: float, rgb: tuple[int, int, int]) -> None:
    assert colour(probability) == rgb
