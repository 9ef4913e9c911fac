"""Decoding of a DOM snapshot's answer, without a browser."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from pagesight.render.decode import decode, frame_elements
from pagesight.render.snapshot import PSEUDO, STYLES, TEXT, Meta, Snapshot
from pagesight.render.tables import CURRENT_SOURCE


class Answer:
    """Writes an answer of `DOMSnapshot.captureSnapshot`, as far as `decode` reads it."""

    def __init__(self) -> None:
        self.strings: list[str] = []
        self.documents: list[dict[str, Any]] = []

    def string(self, text: str | None) -> int:
        if text is None:
            return -1
        if text not in self.strings:
            self.strings.append(text)
        return self.strings.index(text)

    def document(self, url: str, scroll: tuple[float, float] = (0, 0)) -> None:
        rare = ("pseudoType", "currentSourceURL", "contentDocumentIndex")
        columns = (
            "parentIndex",
            "nodeType",
            "nodeName",
            "nodeValue",
            "backendNodeId",
            "attributes",
        )
        layout = ("nodeIndex", "styles", "bounds", "text", "paintOrders")
        self.documents.append(
            {
                "documentURL": self.string(url),
                "scrollOffsetX": scroll[0],
                "scrollOffsetY": scroll[1],
                "contentWidth": 1280,
                "contentHeight": 900.4,
                "nodes": {name: [] for name in columns}
                | {name: {"index": [], "value": []} for name in rare},
                "layout": {name: [] for name in layout},
                "textBoxes": {"layoutIndex": [], "bounds": []},
            }
        )
        self.node(-1, 9, "#document", box=(0, 0, 1280, 900), styles=[])

    def node(
        self,
        parent: int,
        kind: int,
        name: str,
        value: str | None = None,
        attributes: dict[str, str] | None = None,
        box: tuple[float, ...] | None = None,
        **more: Any,
    ) -> int:
        nodes = self.documents[-1]["nodes"]
        number = len(nodes["parentIndex"])
        nodes["parentIndex"].append(parent)
        nodes["nodeType"].append(kind)
        nodes["nodeName"].append(self.string(name))
        nodes["nodeValue"].append(self.string(value))
        nodes["backendNodeId"].append(100 * len(self.documents) + number)
        pairs = [text for pair in (attributes or {}).items() for text in pair]
        nodes["attributes"].append([self.string(text) for text in pairs])
        for name in ("pseudoType", "currentSourceURL", "contentDocumentIndex"):
            if name in more:
                found = more[name]
                nodes[name]["index"].append(number)
                nodes[name]["value"].append(found if isinstance(found, int) else self.string(found))
        if box:
            self.row(number, box, more.get("text"), more.get("styles"))
        return number

    def row(self, node: int, box: Any, text: str | None = None, styles: Any = None) -> None:
        layout, lines = self.documents[-1]["layout"], self.documents[-1]["textBoxes"]
        layout["nodeIndex"].append(node)
        layout["bounds"].append(list(box))
        layout["text"].append(self.string(text))
        layout["paintOrders"].append(len(layout["nodeIndex"]))
        shown = [self.string("block")] * len(STYLES) if styles is None else styles
        layout["styles"].append(shown)
        if text is not None:
            lines["layoutIndex"].append(len(layout["nodeIndex"]) - 1)
            lines["bounds"].append(list(box))

    def result(self) -> dict[str, Any]:
        return {"documents": self.documents, "strings": self.strings}


def decoded(answer: Answer, **options: Any) -> Snapshot:
    snapshot = decode(answer.result(), Meta(url="http://a.example/", maker="chromium"), **options)
    snapshot.check()
    return snapshot


def one_page() -> Answer:
    answer = Answer()
    answer.document("http://a.example/")
    answer.node(0, 10, "html")
    html = answer.node(0, 1, "HTML", box=(0, 0, 1280, 900))
    div = answer.node(html, 1, "DIV", attributes={"id": "div", "class": "x"}, box=(8, 8, 50, 20))
    before = answer.node(div, 1, "::before", box=(8, 8, 9, 20), pseudoType="before")
    answer.row(before, (8, 8, 9, 20), "→ ")
    answer.node(div, 3, "#text", "Hello", box=(17, 8, 41, 20), text="Hello")
    answer.node(html, 1, "IMG", attributes={"src": "a.png"}, currentSourceURL="http://a/b.png")
    return answer


def test_columns() -> None:
    page = decoded(one_page())
    tags = [page.tag(node) for node in range(len(page.kind))]
    assert tags == ["#document", "!doctype", "html", "div", "::before", "#text", "img"]
    assert page.parent.tolist() == [-1, 0, 0, 2, 3, 3, 2]
    assert page.attributes(3) == {"id": "div", "class": "x"}
    assert page.attributes(6) == {"src": "a.png", CURRENT_SOURCE: "http://a/b.png"}
    assert (page.kind[4], page.text(4)) == (PSEUDO, "→ ")
    assert (page.kind[5], page.text(5)) == (TEXT, "Hello")
    assert page.row_node.tolist() == [0, 2, 3, 4, 4, 5]
    assert page.row_box[-1].tolist() == [17, 8, 41, 20]
    assert page.line_row.tolist() == [4, 5]
    assert page.meta.page_size == (1280, 900)
    assert page.meta.resolved_url == "http://a.example/"


def test_strings_are_the_used_ones_and_each_once() -> None:
    page = decoded(one_page())
    assert len(set(page.strings)) == len(page.strings)
    # A tag and an attribute's value that read the same are the same string.
    assert page.name[3] == page.attr_value[0]
    assert "DIV" not in page.strings


def test_styles_are_shared_between_rows() -> None:
    page = decoded(one_page())
    assert page.styles.shape == (2, len(STYLES))
    assert [page.strings[row[0]] for row in page.styles] == ["", "block"]


def test_first_letters_are_not_said_twice() -> None:
    answer = Answer()
    answer.document("http://a.example/")
    letter = answer.node(0, 1, "::first-letter", pseudoType="first-letter")
    answer.row(letter, (0, 0, 9, 9), "H")
    page = decoded(answer)
    assert page.text(1) == ""


def framed() -> Answer:
    """A page with two frames, the first of which holds a third document."""
    answer = Answer()
    answer.document("http://a.example/")
    html = answer.node(0, 1, "HTML")
    answer.node(html, 1, "IFRAME", box=(10, 100, 304, 154), contentDocumentIndex=1)
    answer.node(html, 3, "#text", "between")
    answer.node(html, 1, "IFRAME", box=(10, 300, 304, 154), contentDocumentIndex=3)
    answer.node(html, 3, "#text", "end")
    answer.document("http://b.example/", scroll=(0, 50))
    answer.node(0, 1, "IFRAME", box=(5, 60, 100, 100), contentDocumentIndex=2)
    answer.node(0, 3, "#text", "b")
    answer.document("http://c.example/")
    answer.node(0, 3, "#text", "c", attributes={}, box=(1, 2, 3, 4), text="c")
    answer.document("http://d.example/")
    answer.node(0, 3, "#text", "d", box=(1, 2, 3, 4), text="d")
    return answer


def test_frames_stand_below_their_elements() -> None:
    answer = framed()
    page = decoded(answer, insets={102: (2, 2), 201: (1, 7)})
    texts = [page.text(node) for node in range(len(page.kind)) if page.kind[node] == TEXT]
    assert texts == ["c", "b", "between", "d", "end"]
    assert page.meta.frames == tuple(f"http://{name}.example/" for name in "abdc")
    c, d = (next(i for i in range(len(page.kind)) if page.text(i) == text) for text in "cd")
    assert [page.tag(node) for node in page.ancestors(c)] == [
        "#document", "iframe", "#document", "iframe", "html", "#document",
    ]  # fmt: skip
    assert page.meta.frames[page.frame[c]] == "http://c.example/"
    boxes = dict(zip(page.row_node.tolist(), page.row_box.tolist(), strict=True))
    # 10 + 2 + 5 + 1 + 1, 100 + 2 - 50 + 60 + 7 + 2; scrolled content of b moves up.
    assert boxes[c] == [19, 121, 3, 4]
    assert boxes[d] == [11, 302, 3, 4]
    assert page.line_box[page.row_node[page.line_row] == c].tolist() == [[19, 121, 3, 4]]


def test_frame_elements() -> None:
    assert frame_elements(framed().result()) == [102, 104, 201]


def test_lone_surrogates() -> None:
    answer = Answer()
    answer.document("http://a.example/")
    answer.node(0, 3, "#text", "a\ud800b \U0001f600")
    page = decoded(answer)
    assert page.text(1) == "a\ufffdb \U0001f600"
    assert Snapshot.from_bytes(page.to_bytes()).text(1) == page.text(1)


def test_an_empty_document() -> None:
    answer = Answer()
    answer.document("http://a.example/")
    page = decoded(answer)
    assert page.kind.tolist() == [9]
    assert len(page.line_row) == 0


def test_the_answer_is_left_alone() -> None:
    answer = framed()
    before = copy.deepcopy(answer.result())
    decoded(answer)
    assert answer.result() == before


@pytest.mark.parametrize("seed", range(20))
def test_nested_frames_agree_with_a_recursive_walk(seed: int) -> None:
    chance = np.random.default_rng(seed)
    answer = Answer()
    count = int(chance.integers(1, 8))
    holder = [-1, *(int(chance.integers(0, number)) for number in range(1, count))]
    for number in range(count):
        answer.document(f"http://{number}.example/")
        inside = [child for child in range(count) if holder[child] == number]
        for place in range(int(chance.integers(1, 5)) + len(inside)):
            parent = int(chance.integers(max(0, place - 1), place + 1))
            if inside and (place % 2 or place >= 4):
                child = inside.pop()
                answer.node(parent, 1, "IFRAME", contentDocumentIndex=child)
            else:
                answer.node(parent, 1, "P", attributes={"n": f"{number}.{place}"})
        for child in inside:
            answer.node(0, 1, "IFRAME", contentDocumentIndex=child)
    page = decoded(answer)
    assert [page.attributes(node).get("n") for node in range(len(page.kind))] == walk(answer, 0)
    assert all(
        page.tag(int(page.parent[node])) == "iframe"
        for node in np.flatnonzero(page.kind[1:] == 9) + 1
    )


def walk(answer: Answer, number: int) -> list[str | None]:
    nodes = answer.documents[number]["nodes"]
    frames = dict(zip(*nodes["contentDocumentIndex"].values(), strict=True))
    found: list[str | None] = []
    for node, attributes in enumerate(nodes["attributes"]):
        found.append(answer.strings[attributes[1]] if attributes else None)
        if node in frames:
            found += walk(answer, frames[node])
    return found
