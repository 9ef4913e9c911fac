"""The content tree: structure, white space, and nothing lost or glued, whatever the page."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagesight.app.content import FormatOptions, build_content
from pagesight.app.formats import to_html, to_text
from pagesight.app.places import BLOCKS, MARKS, PARENTS
from pagesight.layout.page import Page, build_page
from pagesight.render.capture import Renderer
from pagesight.render.loop import LoopThread
from pagesight.render.snapshot import Meta
from pagesight.render.static import parse

WHITE_LIST = BLOCKS | set(MARKS) | {"br", "img"}
# What may hold an inline element, and what a block.
HOLDERS = (
    set(MARKS) | (BLOCKS - {"ul", "ol", "dl", "table", "thead", "tbody", "tr", "pre"}),
    {"article", "li", "dd", "td", "th", "blockquote", "figure"},
)
ALL = FormatOptions(links=True, images=True)
URL = "https://site.example/dir/page"


def page_of(html: str) -> Page:
    return build_page(parse(html.encode(), "utf-8", Meta(url=URL)))


def html_of(html: str, without: str = "\0", options: FormatOptions = ALL) -> str:
    """The content's HTML, of all blocks but those that hold `without`."""
    page = page_of(html)
    kept = np.array([without not in text for text in page.text], bool)
    return to_html(build_content(page, kept, options))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param(
            "<div>one</div><div>two</div><p>three</p>",
            "<p>one</p>\n<p>two</p>\n<p>three</p>",
            id="minified blocks are not glued",
        ),
        pytest.param(
            "<p><span class=drop>T</span>he cat</p>",
            "<p>The cat</p>",
            id="drop cap without a space",
        ),
        pytest.param(
            "<p>a <b>bold</b>, <i>and</i> <b>x<i>y</i></b>z",
            "<p>a <strong>bold</strong>, <em>and</em> <strong>x<em>y</em></strong>z</p>",
            id="inline elements keep their places",
        ),
        pytest.param(
            "<body><ul><li><span>a</span></li><li><span>b</span></li></ul>",
            "<ul><li>a</li><li>b</li></ul>",
            id="every item wrapped in a span",
        ),
        pytest.param(
            "<ul><li>a<ul><li>b</li></ul>c</li><li>d</li></ul>",
            "<ul><li>a<ul><li>b</li></ul>c</li><li>d</li></ul>",
            id="nested list with text behind it",
        ),
        pytest.param(
            "<ul><li><b>a<ul><li>b</ul></b></ul>",
            "<ul><li><strong>a</strong><ul><li><strong>b</strong></li></ul></li></ul>",
            id="inline element around a list",
        ),
        pytest.param(
            "<ul><li>a</li><ul><li>b</li></ul></ul>",
            "<ul><li>a<ul><li>b</li></ul></li></ul>",
            id="list right in a list",
        ),
        pytest.param(
            "<ul><div>a</div><div>b</div></ul>", "<ul><li>a</li><li>b</li></ul>", id="list of divs"
        ),
        pytest.param("<div><li>a</li><td>b</div>", "<p>a</p>\n<p>b</p>", id="item without a list"),
        pytest.param(
            "<p>one<br>two<br><br>three</p>",
            "<p>one<br>two</p>\n<p>three</p>",
            id="a line break, and two that are a paragraph",
        ),
        pytest.param(
            "<dl><div><dt>a</dt><dd>b</dd></div></dl>", "<dl><dt>a</dt><dd>b</dd></dl>", id="dl"
        ),
        pytest.param(
            "<blockquote>a<p>b</p></blockquote>",
            "<blockquote><p>a</p><p>b</p></blockquote>",
            id="quotation",
        ),
        pytest.param(
            "<h2><div>a</div><div>b</div></h2>", "<h2>a<br>b</h2>", id="blocks in a heading"
        ),
        pytest.param(
            "<a href=x><h3>t</h3><p>s</p></a>",
            '<h3><a href="https://site.example/dir/x">t</a></h3>\n'
            '<p><a href="https://site.example/dir/x">s</a></p>',
            id="link around blocks",
        ),
        pytest.param(
            "<base href='//cdn.example/r/'><p><a href=' /x\n'>a</a> <a href='javascript:x()'>b</a> "
            "<a href='mailto:c@d.example'>c</a> <a href='http://[bad'>d</a>",
            '<p><a href="https://cdn.example/x">a</a> b <a href="mailto:c@d.example">c</a> d</p>',
            id="links are absolute and safe",
        ),
        pytest.param(
            "<p>a<figure><img src=i.png><figcaption>c</figcaption></figure><p>b<img src='data:x'>",
            '<p>a</p>\n<figure><img src="https://site.example/dir/i.png">'
            "<figcaption>c</figcaption></figure>\n<p>b</p>",
            id="images",
        ),
        pytest.param(
            "<p>a\x01b</p><p>\x02</p><p>c", "<p>ab</p>\n<p>c</p>", id="control characters"
        ),
        pytest.param("", "", id="nothing"),
    ],
)
def test_structure(source: str, expected: str) -> None:
    assert html_of(source) == expected


def test_blocks_that_are_left_out_part_words_and_leave_no_trace() -> None:
    source = "<p>one<b>DROP</b>two</p><ul><li>DROP</li><li>a</li></ul><div><p>DROP</p></div>"
    assert html_of(source, without="DROP") == "<p>one two</p>\n<ul><li>a</li></ul>"


def test_links_images_and_tables_are_options() -> None:
    source = "<p><a href=/a>x</a><img src=/i.png>y</p><table><tr><td>1<td>2<tr><td>3<td>4</table>"
    table = (
        "<table><tbody><tr><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr></tbody></table>"
    )
    assert html_of(source, options=FormatOptions()) == f"<p>xy</p>\n{table}"
    assert html_of(source, options=FormatOptions(tables=False)) == "<p>xy</p>"


def test_a_data_table_keeps_its_spans_and_its_empty_cells() -> None:
    source = (
        "<table><tr><th colspan=2>a</th><th colspan=9999>b</th></tr>"
        "<tr><td></td><td rowspan=0>1</td><td>2</td></tr><tr><td rowspan=2>3<td><td>DROP</table>"
    )
    assert html_of(source, without="DROP") == (
        '<table><tbody><tr><th colspan="2">a</th><th colspan="100">b</th></tr>'
        '<tr><td></td><td>1</td><td>2</td></tr><tr><td rowspan="2">3</td><td></td><td></td></tr>'
        "</tbody></table>"
    )


@pytest.mark.parametrize(
    "source",
    [
        "<table><tr><td>nav</td><td>text</td></tr></table>",
        "<table><tr><td>nav<tr><td>text</table>",
        "<table role=presentation><tr><td>nav<td>text<tr><td>a<td>b</table>",
        "<table><tr><td>nav<td><h2>text</h2><tr><td>a<td>b</table>",
        f"<table><tr><td>nav<td>{'word ' * 300}<tr><td>a<td>b</table>",
    ],
)
def test_a_table_that_arranges_the_page_is_no_table(source: str) -> None:
    assert "table" not in html_of(source)
    assert html_of(source).startswith("<p>nav</p>")


def test_preformatted_text_is_exact() -> None:
    source = "<pre>def f(x):\n\n    return  x\n</pre>"
    assert html_of(source) == "<pre>def f(x):\n\n    return  x</pre>"


def test_highlighted_code_keeps_blank_spans() -> None:
    source = "<pre><code><b>if</b><i> </i><i>x</i>:<i>\n    </i><b>pass</b></code></pre>"
    assert html_of(source) == "<pre>if x:\n    pass</pre>"


def test_lines_of_code_in_blocks_of_their_own() -> None:
    source = "<pre><div>a</div><div>  b</div>c<br>d <span>DROP</span></pre>"
    assert html_of(source, without="DROP") == "<pre>a\n  b\nc\nd</pre>"


def test_text_of_a_shadow_root_stands_in_its_place() -> None:
    source = "<ul><li>a<template shadowrootmode=open><p>shadow</p></template></li></ul>"
    assert html_of(source) == "<ul><li>a<p>shadow</p></li></ul>"


def test_line_ends_that_a_style_shows(loop: LoopThread, renderer: Renderer) -> None:
    source = "<p style='white-space: pre-line'>one\ntwo\n\n<b>three</b> x</p><p>four\nfive</p>"
    page = build_page(loop.run(renderer.replay(source.encode(), URL, "utf-8")))
    tree = build_content(page, np.ones(len(page), bool), ALL)
    assert to_text(tree) == "one\ntwo\n\nthree x\n\nfour five"


def test_hidden_columns_are_no_cells(loop: LoopThread, renderer: Renderer) -> None:
    row = "<tr><td>{}<td style='display:none'><td></td></tr>"
    source = f"<table>{row.format(1)}{row.format(2)}</table><p>x"
    page = build_page(loop.run(renderer.replay(source.encode(), URL, "utf-8")))
    html = to_html(build_content(page, np.ones(len(page), bool), ALL))
    assert html.startswith("<table><tbody><tr><td>1</td><td></td></tr><tr><td>2</td><td></td>")


@pytest.mark.parametrize("tag", ["div", "b", "ul", "blockquote", "table"])
def test_depth_costs_no_stack(tag: str) -> None:
    html = html_of(f"<{tag}>x" * 5_000)
    assert html.count("x") == 5_000


_TAGS = sorted(BLOCKS | set(MARKS) | {"div", "span", "section", "br", "script", "i", "form"})
_PIECES = st.one_of(
    st.sampled_from([f"<{tag}>" for tag in _TAGS] + [f"</{tag}>" for tag in _TAGS]),
    st.sampled_from(["<a href=/x>", "<img src=/i>", "<td colspan=3>", "<td rowspan=2>", "<svg>"]),
    st.sampled_from(
        [" ", "\n", "one", "two ", " three\nfour", "中文", "&lt;p&gt;", "&nbsp;", "\x01"]
    ),
)


@given(st.lists(_PIECES, max_size=60), st.randoms(use_true_random=False))
@settings(max_examples=300, deadline=None)
def test_every_page_keeps_its_words_in_a_white_list(pieces: list[str], random) -> None:
    page = page_of("".join(pieces))
    kept = np.array([random.random() < 0.7 for _ in page.text], bool)
    tree = build_content(page, kept, ALL)
    expected = "".join("".join(page.text[i].split()) for i in np.flatnonzero(kept))
    assert "".join(to_text(tree).split()) == expected.replace("\x01", "")
    for element in tree.iterdescendants():
        assert element.tag in WHITE_LIST
        assert set(element.attrib) <= {"href", "src", "colspan", "rowspan"}
        assert element.getparent().tag in PARENTS.get(element.tag, HOLDERS[element.tag in BLOCKS])
