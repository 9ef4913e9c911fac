"""The Document: its fields are a contract."""

from __future__ import annotations

import copy
import json
import pickle
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from pagesight.app.content import FormatOptions
from pagesight.app.document import Document, Status, build_document
from pagesight.layout.page import Labels, Page, build_page
from pagesight.render.capture import Renderer
from pagesight.render.errors import DeadlineError, SourceError, UnsupportedError
from pagesight.render.loop import LoopThread
from pagesight.render.snapshot import Meta
from pagesight.render.static import parse

URL = "https://site.example/a"
SOURCE = (
    "<html lang=en><title>Title</title><meta name=author content=Desk>"
    "<meta name=date content=2024-04-18><meta property=og:image content=/i.png>"
    "<nav>Menu</nav><div><p>One <b>two</b></p><p>three</p></div>"
)
NAMES = [
    "status",
    "error",
    "url",
    "resolved_url",
    "title",
    "author",
    "date",
    "language",
    "sitename",
    "description",
    "image",
    "text",
    "markdown",
    "html",
    "page_type",
    "confidence",
    "blocks",
]
BLOCK_NAMES = ["id", "text", "label", "probability", "role", "bbox", "xpath", "frame", "reason"]


def page_of(html: str, **meta: object) -> Page:
    return build_page(parse(html.encode(), "utf-8", Meta(url=URL, **meta)))  # type: ignore[arg-type]


def labels_of(page: Page, boilerplate: str = "Menu") -> Labels:
    content = np.array([boilerplate not in text for text in page.text], bool)
    probability = np.where(content, 0.87654321, 0.1).astype(np.float32)
    return Labels(content, probability, tuple(f"because {text}" for text in page.text))


def document_of(html: str = SOURCE, **meta: object) -> Document:
    page = page_of(html, **meta)
    return build_document(page, labels_of(page))


def test_fields() -> None:
    document = document_of()
    assert (document.status, document.error) == ("ok", None)
    assert (document.url, document.title, document.author) == (URL, "Title", "Desk")
    assert (document.date, document.language) == ("2024-04-18", "en")
    assert document.image == "https://site.example/i.png"
    assert document.text == "One two\n\nthree"
    assert document.markdown == "One **two**\n\nthree"
    assert document.html == "<p>One <strong>two</strong></p>\n<p>three</p>"
    # Three words of .8765 are kept; with "Menu" 3 x .8765 + .1 are likely; one more is right.
    likely = 3 * 0.87654321
    assert document.confidence == pytest.approx((2 * likely + 1) / (3 + likely + 0.1 + 1), abs=1e-4)
    assert document.page_type is None
    assert [block.label for block in document.blocks] == ["boilerplate", *["content"] * 3]


def test_the_kind_that_the_model_told() -> None:
    page = page_of(SOURCE)
    document = build_document(page, replace(labels_of(page), kind="forum"))
    assert document.page_type == document.to_dict()["page_type"] == "forum"


def test_how_sure_it_is_by_hand() -> None:
    """Words count, not characters; nothing kept is sure where nothing is likely."""
    page = page_of("<p>one two three<p>incomprehensibilities")

    def confidence(content: list[bool], probability: list[float]) -> float | None:
        labels = Labels(np.array(content), np.array(probability, np.float32), ("", ""))
        return build_document(page, labels).confidence

    # Right: 3 x .9, of 3 kept; likely: 2.7 and .2.
    assert confidence([True, False], [0.9, 0.2]) == pytest.approx(6.4 / 6.9, abs=1e-4)
    assert confidence([True, True], [0.9, 0.2]) == pytest.approx(6.8 / 7.9, abs=1e-4)
    assert confidence([False, False], [0.1, 0.2]) == pytest.approx(1 / 1.5, abs=1e-4)
    assert confidence([False, False], [0.0, 0.0]) == confidence([True, True], [1.0, 1.0]) == 1


def test_the_dictionary_is_the_contract() -> None:
    result = document_of().to_dict()
    assert list(result) == NAMES
    assert list(result["blocks"][0]) == BLOCK_NAMES
    assert result["blocks"][1] == {
        "id": 1,
        "text": "One",
        "label": "content",
        "probability": 0.8765,
        "role": None,
        "bbox": None,
        "xpath": "/html[1]/body[1]/div[1]/p[1]/text()[1]",
        "frame": None,
        "reason": "because One",
    }


def test_json_round_trip() -> None:
    result = document_of().to_dict()
    assert json.loads(json.dumps(result)) == result
    assert json.loads(json.dumps(result))["status"] == "ok"


def test_boxes_are_those_of_the_page(loop: LoopThread, renderer: Renderer) -> None:
    source = (
        b"<body style='margin:0'><p style='position:absolute;left:30px;top:50px;margin:0'>x</p>"
    )
    page = build_page(loop.run(renderer.replay(source, URL, "utf-8")))
    document = build_document(page, labels_of(page))
    x, y, width, height = document.blocks[0].bbox or []
    assert (x, y) == pytest.approx((30, 50), abs=1)
    assert 0 < width < 20 < 60 > height > 10
    json.dumps(document.to_dict())


def test_an_xpath_starts_at_its_shadow_root() -> None:
    page = page_of(SOURCE + "<div><template shadowrootmode=open><i>a<b>b</b>c</i></template></div>")
    document = build_document(page, labels_of(page))
    assert document.blocks[-1].xpath == "/i[1]/text()[2]"


def test_depth_has_no_path() -> None:
    document = document_of("<div>x" * 4_000)
    assert document.blocks[-1].xpath is None
    assert len(document.blocks) == 4_000


def test_a_cut_page_is_partial_and_an_empty_one_says_so() -> None:
    assert document_of(cut=("bytes", "nodes")).status is Status.PARTIAL
    assert document_of(cut=("bytes", "nodes")).error == "cut at the limit of bytes, nodes"
    empty = document_of("<nav>Menu</nav>")
    assert (empty.status, empty.error, empty.text) == (Status.EMPTY, "no content found", "")
    assert (empty.markdown, empty.html) == ("", "")
    nothing = document_of("")
    assert (nothing.status, nothing.confidence, nothing.blocks) == (Status.EMPTY, None, ())


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (UnsupportedError("a PDF"), "unsupported"),
        (DeadlineError("late"), "timeout"),
        (SourceError("no such file"), "error"),
    ],
)
def test_failures(error: SourceError, status: str) -> None:
    document = Document.failed(URL, error)
    assert (document.status, document.error, document.url) == (status, str(error), URL)
    assert list(document.to_dict()) == NAMES


def test_options_reach_the_formats() -> None:
    page = page_of("<p><a href=/b>x</a>")
    document = build_document(page, labels_of(page), FormatOptions(links=True))
    assert document.markdown == "[x](https://site.example/b)"
    assert document.text == "x"


def test_documents_are_values() -> None:
    document = document_of()
    assert document.markdown is document.markdown
    for twin in (pickle.loads(pickle.dumps(document)), copy.deepcopy(document), document_of()):
        assert twin == document
        assert twin.to_dict() == document.to_dict()
    assert replace(document, error="x").markdown == document.markdown
    with pytest.raises(FrozenInstanceError):
        document.text = ""  # type: ignore[misc]


def test_blocks_are_listed_once_and_let_the_page_go() -> None:
    page = page_of(SOURCE)
    before = sys.getrefcount(page)
    document = build_document(page, labels_of(page))
    assert sys.getrefcount(page) == before + 1
    assert document.blocks is document.blocks
    assert sys.getrefcount(page) == before


@pytest.mark.parametrize("change", [lambda d: d, lambda d: replace(d, error="x"), copy.copy])
def test_copies_have_the_blocks(change: Callable[[Document], Document]) -> None:
    document = document_of()
    assert change(document).blocks == document.blocks
    assert [block.text for block in document.blocks] == ["Menu", "One", "two", "three"]


def test_documents_differ_by_their_blocks() -> None:
    page = page_of(SOURCE)
    labels = labels_of(page)
    other = replace(labels, reasons=("another", *labels.reasons[1:]))
    assert build_document(page, labels) != build_document(page, other)
    assert hash(build_document(page, labels)) == hash(build_document(page, labels))


def test_threads_may_ask_for_blocks_together() -> None:
    document = document_of("<p>word</p>" * 500)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: document.blocks, range(32)))
    assert {len(blocks) for blocks in found} == {500}


def test_diffbot_names() -> None:
    answer = document_of().to_diffbot()
    assert answer["request"] == {"pageUrl": URL, "api": "article", "version": 3}
    assert answer["objects"] == [
        {
            "type": "article",
            "pageUrl": URL,
            "title": "Title",
            "text": "One two\n\nthree",
            "html": "<p>One <strong>two</strong></p>\n<p>three</p>",
            "author": "Desk",
            "date": "Thu, 18 Apr 2024 00:00:00 GMT",
            "humanLanguage": "en",
            "images": [{"url": "https://site.example/i.png", "primary": True}],
        }
    ]
    failed = Document.failed(URL, SourceError("gone")).to_diffbot()
    assert (failed["objects"], failed["error"]) == ([], "gone")
