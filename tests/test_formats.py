"""Plain text and Markdown of content trees; Markdown is read back by an independent parser."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from lxml import etree
from lxml.html import HTMLParser, fragment_fromstring
from markdown_it import MarkdownIt

from pagesight.app.content import FormatOptions, build_content
from pagesight.app.formats import from_bytes, to_bytes, to_html, to_text
from pagesight.app.markdown import to_markdown
from pagesight.app.places import BLOCKS, MARKS
from pagesight.layout.page import build_page
from pagesight.render.snapshot import Meta
from pagesight.render.static import parse

READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
GRID = (
    "<table><caption>T</caption><tr><th>a|b<th colspan=2>c"
    "<tr><td rowspan=2>1<td><td>x<br>y<tr><td>3<td>4</table>"
)


def tree_of(html: str) -> etree._Element:
    page = build_page(parse(html.encode(), "utf-8", Meta(url="https://site.example/")))
    return build_content(page, np.ones(len(page), bool), FormatOptions(links=True, images=True))


def markdown_of(html: str) -> str:
    return to_markdown(tree_of(html))


def read_back(markdown: str) -> etree._Element:
    parser = HTMLParser(encoding="utf-8")
    return fragment_fromstring(READER.render(markdown), create_parent="article", parser=parser)


def words(tree: etree._Element) -> str:
    return "".join("".join(tree.itertext()).split())


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<h1>a</h1><p>b<br>c</p><p>d", "a\n\nb\nc\n\nd"),
        (
            "<p>a</p><ul><li>b<ol><li>c</ol></li><li><p>d</p><p>e</p></li></ul>f",
            "a\n\nb\nc\nd\ne\n\nf",
        ),
        ("<dl><dt>a<dd>b</dl>c", "a\nb\n\nc"),
        (GRID, "T\na|b\tc\n1\t\tx y\n3\t4"),
        ("<table><tr><td>1<td><td>3<tr><td><td>5<td></table>x", "1\t\t3\n\t5\n\nx"),
        ("<figure><img src=i><figcaption>c</figcaption></figure>", "c"),
        ("<p><img src=i> a", "a"),
        ("<p>a<pre>  b\n c</pre>d", "a\n\n  b\n c\n\nd"),
        ("<blockquote>a<p>b</blockquote>c", "a\n\nb\n\nc"),
        ("", ""),
    ],
)
def test_text(source: str, expected: str) -> None:
    assert to_text(tree_of(source)) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<h1>a <b>b</b></h1><h3>c #</h3>", "# a **b**\n\n### c \\#"),
        ("<p>a <b>b</b> <i>c</i> d<i>e</i>f <b>(g)</b>h", "a **b** _c_ d*e*f (g)h"),
        ("<p>a<br>b", "a  \nb"),
        ("<p>H<sub>2</sub>O", "H<sub>2</sub>O"),
        ("<p><code>a`b</code> <code>*</code>", "``a`b`` `*`"),
        ("<ul><li>a<ul><li>b</ul>c<li>d</ul>", "- a\n  - b\n\n  c\n- d"),
        ("<ol><li>a<pre>b\n\n  c</pre><li>d</ol>", "1. a\n\n   ```\n   b\n\n     c\n   ```\n2. d"),
        ("<ol><li>a</ol><ol><li>b</ol><ul><li>c</ul><ul><li>d</ul>", "1. a\n\n1) b\n\n- c\n\n* d"),
        ("<dl><dt>a<dd>b<dd>c<dt>d<dd>e</dl>", "a\n- b\n- c\n\nd\n- e"),
        ("<blockquote><p>a<p>b<ul><li>c</ul></blockquote>", "> a\n>\n> b\n>\n> - c"),
        ("<pre>a ```b</pre>", "````\na ```b\n````"),
        (GRID, "T\n\n| a\\|b | c |  |\n| --- | --- | --- |\n| 1 |  | x<br>y |\n|  | 3 | 4 |"),
        ("<p><a href='/x_(y) z'>a]</a>", "[a\\]](<https://site.example/x_(y)%20z>)"),
        ("<figure><img src=i.png><figcaption>c", "![](https://site.example/i.png)\n\nc"),
        ("<p># a<br>1. b<br>- c<br>=== <br>> d", "\\# a  \n1\\. b  \n\\- c  \n\\===  \n\\> d"),
        ("<p>&lt;b> a_b _c_ &amp;lt; C++ a=b 2 * 3 [1] x!<a href=/>y", None),
        ("", ""),
    ],
)
def test_markdown(source: str, expected: str | None) -> None:
    if expected is not None:
        assert markdown_of(source) == expected
    assert words(read_back(markdown_of(source))) == words(tree_of(source))


def test_a_table_is_read_back_cell_by_cell() -> None:
    back = read_back(markdown_of(GRID))
    rows = [["".join(cell.itertext()) for cell in row] for row in back.iter("tr")]
    assert rows == [["a|b", "c", ""], ["1", "", "xy"], ["", "3", "4"]]


def test_code_is_read_back_as_it_was() -> None:
    code = "if x:\n\n    y = '<&>' # `z`\n\tpass"
    back = read_back(markdown_of(f"<ul><li>a<pre>{code.replace('<', '&lt;')}</pre></ul>"))
    assert next(back.iter("code")).text == code + "\n"


def test_html_is_safe_and_the_bytes_are_exact() -> None:
    tree = tree_of(
        "<p onclick=x() class=y>a &lt;script>&amp; <a href='/?a=\"&b=1'>b</a><pre>\n\n x"
    )
    html = to_html(tree)
    assert html == (
        "<p>a &lt;script&gt;&amp; "
        '<a href="https://site.example/?a=%22&amp;b=1">b</a></p>\n<pre> x</pre>'
    )
    assert to_html(from_bytes(to_bytes(tree))) == html
    assert to_html(from_bytes(b"")) == ""


@pytest.mark.parametrize(
    "unit",
    [
        "<ol>{}</ol>|<li>item",
        "<table>{}</table>|<tr><td>a<td>b",
        "{}|<p>a <b>b</b>",
        "<p>{}|<b>a</b>x<br>",
    ],
)
def test_time_grows_with_the_page(unit: str) -> None:
    around, one = unit.split("|")
    source = around.format(one * 10_000)
    start = time.process_time()
    tree = tree_of(source)
    to_text(tree), to_markdown(tree), to_html(tree)
    assert time.process_time() - start < 8


def test_spans_do_not_multiply() -> None:
    row = "<tr>" + "<td colspan=100 rowspan=1000>x" * 20
    assert len(markdown_of(f"<table>{row * 200}</table>")) < 500_000


_TAGS = sorted(BLOCKS | set(MARKS) | {"div", "br"})
_PIECES = st.one_of(
    st.sampled_from([f"<{tag}>" for tag in _TAGS] + [f"</{tag}>" for tag in _TAGS]),
    st.sampled_from(["<a href='/x(1'>", "<td colspan=3>", "<td rowspan=2>", "<p>", "</p>"]),
    st.text("ab12 .)*_`~[]()<>!&;#+-=|\\\"':\n中」", max_size=8).map(
        lambda text: text.replace("&", "&amp;").replace("<", "&lt;")
    ),
)


@given(st.lists(_PIECES, max_size=40).map("".join))
@settings(max_examples=300, deadline=None)
@example("<p>a<b>)</b>b")
def test_markdown_shows_the_same_words(source: str) -> None:
    tree = tree_of(source)
    assert words(read_back(to_markdown(tree))) == words(tree)


@pytest.mark.parametrize("html", [GRID, f"<p>before</p>{GRID}<p>after</p>"])
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_tables_of_which_any_part_was_dropped(html: str, data: st.DataObject) -> None:
    page = build_page(parse(html.encode(), "utf-8"))
    kept = data.draw(st.lists(st.booleans(), min_size=len(page), max_size=len(page)))
    tree = build_content(page, np.array(kept), FormatOptions())
    assert words(read_back(to_markdown(tree))) == words(tree)
