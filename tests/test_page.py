"""Blocks of a page: text, place in the tree, boxes, runs and the spaces between them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html as lxml_html

from pagesight.layout.geometry import overlap, union_by
from pagesight.layout.page import Page, build_page
from pagesight.layout.paths import xpaths
from pagesight.render.capture import Renderer
from pagesight.render.loop import LoopThread
from pagesight.render.snapshot import STYLES
from pagesight.render.static import parse


def page_of(html: str) -> Page:
    return build_page(parse(html.encode(), "utf-8"))


@pytest.fixture
def rendered(loop: LoopThread, renderer: Renderer) -> Callable[[str], Page]:
    return lambda html: build_page(
        loop.run(renderer.replay(html.encode(), "http://page.example/", "utf-8"))
    )


HTML = """<html><head><title>t</title></head><body>
<div><p>first<br/>second<b>third</b>fourth</p><p>fifth</p></div>
<div class="x"><ul><li>sixth</li><li><a href="#">seventh</a> eighth</li></ul>
<table><tbody><tr><td>ninth</td><td><!-- between -->tenth<!-- texts -->eleventh</td></tr>
</tbody></table>
</div>twelfth</body></html>"""
NUMBERS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()
)


def test_text_and_xpath() -> None:
    page = page_of(HTML)
    assert [*page.text] == NUMBERS
    assert len(page) == 12
    paths = [*xpaths(page)]
    assert paths[3] == "/html[1]/body[1]/div[1]/p[1]/text()[3]"
    assert len(set(paths)) == len(paths)
    tree = lxml_html.document_fromstring(HTML).getroottree()
    for path, text in zip(paths, NUMBERS, strict=True):
        (found,) = tree.xpath(path)
        assert found.strip() == text, path


TEXTS = st.sampled_from(["x", "y", "zz"])
ITEMS = st.recursive(
    st.just("<i>text</i>"),
    lambda below: st.builds(
        lambda tag, parts: f"<{tag}>{''.join(parts)}</{tag}>",
        st.sampled_from(["div", "span", "b", "section"]),
        st.lists(st.one_of(below, st.sampled_from(["text", "<!-- c -->", "<br>"])), max_size=4),
    ),
    max_leaves=12,
)


@given(st.lists(ITEMS, min_size=1, max_size=4))
@settings(max_examples=80, deadline=None)
def test_xpaths_are_those_of_lxml(parts: list[str]) -> None:
    numbers = iter(range(10**6))
    pieces = "".join(parts).split("text")
    html = pieces[0] + "".join(f"t{next(numbers)}.{piece}" for piece in pieces[1:])
    html = f"<html><body>{html}</body></html>".replace("><b>", ">\n<b>")
    page = page_of(html)
    tree = lxml_html.document_fromstring(html).getroottree()
    for block, text in enumerate(page.text):
        (found,) = tree.xpath(xpaths(page)[block])
        assert " ".join(found.split()) == text


def test_tag_paths() -> None:
    page = page_of(HTML)
    assert page.tag_path(0) == ("html", "body", "div", "p")
    assert page.tag_path(6) == ("html", "body", "div", "ul", "li", "a")
    assert page.tag_path(11) == ("html", "body")


def test_a_static_page_has_no_layout() -> None:
    page = page_of(HTML)
    assert np.isnan(page.box).all()
    assert page.box.shape == (12, 4)
    assert page.lines.tolist() == [0] * 12
    assert page.style.tolist() == [-1] * 12
    assert page.styles(0) == {}
    assert page.frame(0) is None


def test_an_empty_page() -> None:
    page = page_of("")
    assert (len(page), page.text) == (0, ())
    assert page.box.shape == (0, 4)
    assert page.run.shape == page.space_before.shape == page.lines.shape == (0,)


def test_white_space_is_collapsed() -> None:
    page = page_of("<p> a \n\t b\xa0\u3000c </p><pre>  d\n\n  e\u200b f</pre>")
    assert page.text == ("a b c", "d e\u200b f")


def test_runs() -> None:
    page = page_of("<p>1<b>2</b>3<p>4<br>5<i>6</i>")
    assert page.text == ("1", "2", "3", "4", "5", "6")
    assert page.run.tolist() == [0, 0, 0, 1, 2, 2]


@pytest.mark.parametrize(
    ("html", "space"),
    [
        ("a<b>b</b>", False),
        ("a <b>b</b>", True),
        ("a<b> b</b>", True),
        ("<i>a</i> <b>b</b>", True),
        ("<i>a</i>\n<!-- c -->\n<b>b</b>", True),
        ("<i>a</i>&nbsp;<b>b</b>", True),
        ("<i>a</i><u></u><b>b</b>", False),
        ("<i>a</i><u> </u><b>b</b>", True),
        ("<i>a</i><u>\u200b</u><b>b</b>", False),
        ("<i>a</i><script>x y</script><b>b</b>", False),
        ("<i>a</i><script>x</script> <b>b</b>", True),
        ("<i>a</i><style> </style><b>b</b>", False),
        ("<span>D</span>rop cap", False),
    ],
)
def test_spaces_between_blocks(html: str, space: bool) -> None:
    page = page_of(f"<p>{html}")
    assert len(page) == 2
    assert page.space_before.tolist() == [True, space]


def test_boxes_are_the_union_of_the_lines(rendered: Callable[[str], Page]) -> None:
    page = rendered(
        """<!doctype html><body style="margin:0;width:200px;font:16px/20px monospace">
        <p style="margin:0">Some words that need several lines in a narrow column, with <b>bold
        ones</b> among them and a word that is long.</p>
        <p style="margin:0;position:absolute;left:300px;top:50px;width:500px">one line</p>
        <p hidden>not laid out</p><p style="font-size:0">no area</p>"""
    )
    snapshot = page.snapshot
    assert page.text[3:] == ("one line", "not laid out", "no area")
    for block, node in enumerate(page.tree.leaf_node.tolist()):
        lines = [
            box
            for row, box in zip(snapshot.line_row, snapshot.line_box.tolist(), strict=True)
            if snapshot.row_node[row] == node and box[2] > 0 and box[3] > 0
        ]
        assert page.lines[block] == len(lines)
        if not lines:
            assert np.isnan(page.box[block]).all()
            continue
        left, top = min(box[0] for box in lines), min(box[1] for box in lines)
        right, bottom = max(b[0] + b[2] for b in lines), max(b[1] + b[3] for b in lines)
        np.testing.assert_allclose(
            page.box[block], [left, top, right - left, bottom - top], atol=1e-3
        )
    assert page.lines[0] > 2
    assert page.box[0, 0] == 0
    assert page.box[3, :2].tolist() == pytest.approx([300, 50], abs=2)
    assert page.lines[3:].tolist() == [1, 0, 0]


def test_styles_of_a_block(rendered: Callable[[str], Page]) -> None:
    page = rendered("<p style='color:blue'>a<b>b</b><p hidden>c")
    assert tuple(page.styles(0)) == STYLES
    assert page.styles(0)["color"] == page.styles(1)["color"] == "rgb(0, 0, 255)"
    assert page.styles(0)["font-weight"] == "400"
    assert page.styles(1)["font-weight"] == "700"
    assert page.style[2] == -1
    assert page.styles(2) == {}


def test_frames_and_shadow_roots(rendered: Callable[[str], Page]) -> None:
    page = rendered(
        """<p>own<iframe srcdoc="<ul><li>a<li>inside</ul>"></iframe>
        <section><template shadowrootmode=open><div></div><div>shadow</div></template></section>"""
    )
    assert page.text == ("own", "a", "inside", "shadow")
    assert [page.frame(block) for block in range(4)] == [None, "about:srcdoc", "about:srcdoc", None]
    assert xpaths(page)[2] == "/html[1]/body[1]/ul[1]/li[2]/text()[1]"
    assert page.tag_path(2)[-3:] == ("body", "ul", "li")


def test_gaps_part_words(rendered: Callable[[str], Page]) -> None:
    page = rendered(
        """<!doctype html><div style="font:16px/20px monospace"><i>a</i><i>b</i><i
        style="margin-left:30px">c</i><i style="padding-left:1px">d</i></div><p><span
        style="float:left;font-size:60px;line-height:60px">E</span>fgh</p>"""
    )
    spaces = dict(zip(page.text, page.space_before.tolist(), strict=True))
    assert spaces == {"a": True, "b": False, "c": True, "d": False, "E": False, "fgh": False}


BOXES = st.lists(
    st.tuples(
        st.integers(-1, 4),
        *[st.integers(-50, 50)] * 2,
        *[st.integers(0, 30)] * 2,
    ),
    max_size=12,
)


@given(BOXES)
@settings(deadline=None)
def test_union_by(boxes: list[tuple[int, ...]]) -> None:
    key = np.array([box[0] for box in boxes], np.int32)
    union, count = union_by(key, np.array([b[1:] for b in boxes], np.float32).reshape(-1, 4), 5)
    for number in range(5):
        own = [box[1:] for box in boxes if box[0] == number and box[3] and box[4]]
        assert count[number] == len(own)
        if not own:
            assert np.isnan(union[number]).all()
            continue
        left, top = min(b[0] for b in own), min(b[1] for b in own)
        right, bottom = max(b[0] + b[2] for b in own), max(b[1] + b[3] for b in own)
        assert union[number].tolist() == [left, top, right - left, bottom - top]


def test_overlap() -> None:
    start, length = np.float32([0, 0, 0, 5, 3]), np.float32([10, 10, 10, 1, 2])
    other, other_length = np.float32([5, 10, 20, 0, 3]), np.float32([10, 5, 5, 10, 2])
    assert overlap(start, length, other, other_length).tolist() == [5, 0, 0, 1, 2]


def test_a_floating_drop_cap_is_part_of_its_word(loop: LoopThread, renderer: Renderer) -> None:
    html = (
        b"<p><span style='float:left;font-size:40px'>D</span>rop cap"
        b"<ul><li style='float:left'>one<li style='float:left'>two"
    )
    page = build_page(loop.run(renderer.replay(html, "http://stored.invalid/", "utf-8")))
    assert page.text == ("D", "rop cap", "one", "two")
    assert page.tree.break_before.tolist() == [True, False, True, True]
    assert not page.space_before[1]
