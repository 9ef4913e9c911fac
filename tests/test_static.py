"""The static parse builds the tree that Chromium builds, within bounds."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagesight.layout.page import build_page
from pagesight.render.capture import Renderer
from pagesight.render.charset import as_utf8, choose, decode
from pagesight.render.loop import LoopThread
from pagesight.render.settings import Limits
from pagesight.render.snapshot import ELEMENT, FRAGMENT, TEXT, Meta, Snapshot
from pagesight.render.static import MAX_STEPS, parse

ROOT = Path(__file__).parents[1]
# What a browser makes more of than a parser does.
DYNAMIC = re.compile(
    b"<(script(?! type=.application/ld)|noscript|template|i?frame|object|embed)", re.I
)
STORED = [
    path
    for folder in (ROOT / "data" / "samples", ROOT / "tests" / "pages")
    for path in sorted(folder.rglob("*.html"))
    if not DYNAMIC.search(path.read_bytes())
]
Paths = list[tuple[tuple[str, ...], str]]


def texts(page: Snapshot) -> Paths:
    """Every text node, blank ones too, with the tags above it."""
    found = []
    for node in range(len(page.parent)):
        if page.kind[node] == TEXT:
            above = [page.tag(a) for a in page.ancestors(node) if page.kind[a] == ELEMENT]
            found.append((tuple(above[::-1]), page.text(node)))
    return found


def shown(page: Snapshot) -> list[str]:
    return list(build_page(page).text)


@pytest.fixture(scope="module")
def replay(loop: LoopThread, renderer: Renderer) -> Callable[[bytes, str], Snapshot]:
    return lambda content, charset: loop.run(
        renderer.replay(content, "http://page.example/", charset)
    )


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.name)
def test_stored_pages_as_in_chromium(path: Path, replay: Callable) -> None:
    content = path.read_bytes()
    charset = choose(content)
    assert texts(parse(content, charset)) == texts(replay(content, charset))


MALFORMED = {
    "foster parenting": "<table>a<tr>b<td>c</td>d</tr>e<p>f</table>g",
    "foster parented table": "<table><tr><table><tr><td>inner</table>outer<td>x",
    "unclosed": "<p>one<p>two<ul><li>a<li>b<ul><li>c</ul>d<div>e<p>f",
    "nested forms": "<form>a<form>b</form>c</form>d<form>e",
    "misnested formatting": "<b>1<i>2</b>3</i>4<p><b>5<p>6</b>7<a>8<a>9</a>10<b><b><b><b>11</p>12",
    "a block in a formatting element": "<a href=x><div>a</div>b<p>c</a>d",
    "headings": "<h1>a<h2>b</h1>c</h3>d",
    "stray ends": "</p></br></li></b>x</table></body>y</html>z<!-- c -->w",
    "no closing quote of a tag": "<p title='x>a</p>b",
    "comments": "a<!-->b<!--->c<!--x--!>d<!x>e<?x?>f</ x>g<!--",
    "entities": "&amp;&lt;&notit;&copy&#x80;&#xd800;&#0;&#99999999;&nosuch;&nbsp;x",
    "raw text": "<textarea>\n<b>a</textarea><title>b<i></title><xmp><b>c</xmp><style>d</style>e",
    "lists": "<dl><dt>a<dd>b<dt>c<p>d<dd>e</dl><li>f<li>g",
    "ruby": "<ruby>a<rp>(<rt>b<rp>)</ruby>c<rtc>d",
    "foreign": "<svg><g>a<foreignObject><p>b</p></foreignObject></g><desc>c</desc><p>d</svg>e",
    "math": "<math><mi>a<mtext><p>b</mtext><annotation-xml encoding=text/html><p>c</math>d",
    "CDATA": "<![CDATA[a]]><svg><![CDATA[b<c]]></svg>",
    "frames": "<frameset><p>a</frameset>b",
    "head": "<head>a<title>b</title></head><meta>c<body>d<head>e<body class=x>f",
    "buttons": "<button>a<button>b</button>c<p>d</button>e",
    "line ends": "<pre>\n\na\r\nb\rc</pre>\x0cd\te",
    "quirks": "<!doctype html SYSTEM 'x'><p>a<table>b",
    "upper case": "<P>a<DIV>b</p>C<CUSTOM-TAG>d",
    "image": "<image>a<isindex>b<nobr>c<nobr>d<keygen>e",
    "captions": "<table><caption>a<tr><td>b<caption>c<col>d<tbody>e<tfoot><tr><th>f",
    "plaintext": "<p>a<plaintext>b</plaintext><p>c",
    "menus": "<menu><li>a<hr>b<center>c<p>d</center></menu><dialog>e<summary>f<search>g",
}


@pytest.mark.parametrize("html", MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed_pages_as_in_chromium(html: str, replay: Callable) -> None:
    content = html.encode()
    assert texts(parse(content, "utf-8")) == texts(replay(content, "utf-8"))


def test_the_pages_are_not_all_empty() -> None:
    assert len(STORED) > 1
    assert sum(len(texts(parse(html.encode(), "utf-8"))) > 2 for html in MALFORMED.values()) > 15


def test_random_soups_as_in_chromium(replay: Callable) -> None:
    tags = "p div b i a table tr td ul li form h1 span em section pre dl dd tbody th center".split()
    for seed in range(12):
        rng = random.Random(seed)
        parts = [
            rng.choice([f"<{tag}>", f"<{tag}>", f"</{tag}>", f"{i} ", " "])
            for i, tag in enumerate(rng.choices(tags, k=60))
        ]
        content = "".join(parts).encode()
        assert texts(parse(content, "utf-8")) == texts(replay(content, "utf-8")), content


def test_attributes_and_order() -> None:
    page = parse(b"<p ID=a class='x y' hidden data-v=1&amp;2>t", "utf-8")
    node = next(node for node in range(len(page.parent)) if page.tag(node) == "p")
    assert page.attributes(node) == {"id": "a", "class": "x y", "hidden": "", "data-v": "1&2"}
    assert page.parent.tolist() == [-1, 0, 1, 1, 3, 4]
    assert [page.tag(i) for i in range(6)] == ["#document", "html", "head", "body", "p", "#text"]
    assert not page.rendered


@pytest.mark.parametrize(
    "content", [b"", b" \n ", b"\xef\xbb\xbf", b"<!-- x -->", b"<!doctype html>"]
)
def test_empty_pages(content: bytes) -> None:
    page = parse(content, "utf-8")
    assert shown(page) == []
    assert [page.tag(node) for node in range(4)] == ["#document", "html", "head", "body"]
    assert page.meta.cut == ()


def test_control_characters() -> None:
    page = parse(b"<p>a\x00b\x01c\x7fd\x1be\xc2\x85f", "utf-8")
    assert shown(page) == ["ab\x01c\x7fd\x1be f"]
    assert Snapshot.from_bytes(page.to_bytes()).strings == page.strings


def test_meta_is_kept() -> None:
    meta = Meta(url="http://a.example/", http_status=404, cut=("deadline",))
    assert parse(b"<p>x", "utf-8", meta).meta == meta


@pytest.mark.parametrize("size", [0, 1, 7, 8, 100])
def test_bytes_are_capped(size: int) -> None:
    page = parse(b"<p>12345", "utf-8", limits=Limits(bytes=size))
    assert page.meta.cut == (("bytes",) if size < 8 else ())
    assert "".join(shown(page)) == {0: "", 1: "<", 7: "1234"}.get(size, "12345")


def test_nodes_are_capped() -> None:
    content = b"<p>1<p>2<p>3"
    whole = len(parse(content, "utf-8").parent)
    for most in range(1, whole):
        page = parse(content, "utf-8", Meta(cut=("bytes",)), Limits(nodes=most))
        assert len(page.parent) == most
        assert page.meta.cut == ("bytes", "nodes")
    assert parse(content, "utf-8", limits=Limits(nodes=whole)).meta.cut == ()


def test_caps_hold_in_a_shadow_root() -> None:
    content = b"<div><template shadowrootmode=open>" + b"<p>x" * 50 + b"</template></div>after"
    page = parse(content, "utf-8", limits=Limits(nodes=30))
    assert (len(page.parent), page.meta.cut) == (30, ("nodes",))


@pytest.mark.parametrize("tag", ["div", "b", "span", "section", "x-y"])
def test_deep_nesting_is_whole(tag: str) -> None:
    page = parse(f"<{tag}>".encode() * 5000 + b"deep", "utf-8")
    (path, text) = texts(page)[-1]
    assert (text, path.count(tag)) == ("deep", 5000)
    assert page.meta.cut == ()
    assert shown(page) == ["deep"]


@pytest.mark.parametrize(
    "start", ["<div>", "<b>", "<p><i><div>", "<table><td>", "<a><p>x", "<svg><g>"]
)
def test_deeper_nesting_is_cut_and_quick(start: str) -> None:
    content = b"<p>first</p>" + start.encode() * 50_000 + b"deep"
    began = time.process_time()
    page = parse(content, "utf-8")
    assert time.process_time() - began < 2
    assert page.meta.cut == ("nodes",)
    assert max(len(path) for path, _ in texts(page)) <= 3 * (2 * MAX_STEPS) ** 0.5
    assert shown(page)[0] == "first"


@pytest.mark.parametrize(
    "content",
    [
        b"<path>" * 100_000 + b"</x>" * 100_000,
        b"<svg><div>" + b"<path/>" * 100_000 + b"</x>" * 100_000,
        b"<svg><style>" + b"<div>" * 100_000,
        b"<div><p>" * 20_000 + b"</x>" * 300_000,
        b"<script>" * 100_000,
        b"<!--" * 100_000,
    ],
)
def test_no_source_takes_long(content: bytes) -> None:
    began = time.process_time()
    parse(content, "utf-8")
    assert time.process_time() - began < 4


def test_a_picture_of_many_shapes_is_whole() -> None:
    shapes = b"<svg>" + b"<g><path d='M0 0'/><circle r='1'/></g>" * 5000 + b"</svg><p>text</p>"
    page = parse(shapes, "utf-8")
    assert page.meta.cut == ()
    assert shown(page) == ["text"]


def test_a_long_page_is_not_a_deep_one() -> None:
    content = b"<table>" + b"<tr><td>1<br>2<td><p>3</p>" * 4000 + b"</table><ul>" + b"<li>x" * 4000
    page = parse(content, "utf-8", limits=Limits(nodes=10**6))
    assert page.meta.cut == ()
    assert len(shown(page)) == 4000 * 4


def test_templates() -> None:
    page = parse(
        b"""<div id=a><template shadowrootmode=open><i>shadow</i></template>light</div>
        <template><p>not shown</p></template>
        <svg><template><text>svg</text></template></svg>
        <section><template shadowrootmode=closed><b>outer<span><template shadowrootmode=open>inner
        </template></span></b></template></section>""",
        "utf-8",
    )
    found = [(path[2:], text.strip()) for path, text in texts(page) if text.strip()]
    assert found == [
        (("div", "i"), "shadow"),
        (("div",), "light"),
        (("svg", "template", "text"), "svg"),
        (("section", "b"), "outer"),
        (("section", "b", "span"), "inner"),
    ]


def test_shadow_roots_in_shadow_roots_need_no_recursion() -> None:
    depth = 2_000
    page = parse(b"<div><template shadowrootmode=open>" * depth + b"deep", "utf-8")
    (path, text) = texts(page)[-1]
    assert (text, path) == ("deep", ("html", "body", *["div"] * depth))
    assert (page.kind == FRAGMENT).sum() == depth
    page.check()


def test_what_follows_a_shadow_root_is_in_the_page() -> None:
    page = parse(
        b"<div><template shadowrootmode=open><i>a</i><template shadowrootmode=open>b</template>"
        b"c</template><b>d</b></div>e",
        "utf-8",
    )
    assert [(path[2:], text) for path, text in texts(page)] == [
        (("div", "i"), "a"),
        (("div",), "b"),
        (("div",), "c"),
        (("div", "b"), "d"),
        ((), "e"),
    ]


@pytest.mark.parametrize("charset", ["utf-8", "windows-1252", "utf-16le", "shift_jis", "unknown"])
@pytest.mark.parametrize("content", ["<p>caf\xe9 \ud83d\ude00", "\ufeff<p>x", "<p>a\x00\x80"])
def test_bytes_are_read_in_their_charset(content: str, charset: str) -> None:
    raw = content.encode("utf-16", "surrogatepass").decode("utf-16")
    for damage in (b"", b"\xff", b"\xe2\x82"):
        data = raw.encode(charset if charset != "unknown" else "utf-8", "replace") + damage
        wanted = decode(data, charset)
        assert as_utf8(data, charset).decode() == wanted
        assert parse(data, charset).strings == parse(wanted.encode(), "utf-8").strings


def test_a_shadow_root_has_the_paths_of_chromium(replay: Callable) -> None:
    content = (
        b"<section><template shadowrootmode=open><h1>a</h1><p>b <b>c</b></template></section>d"
    )
    assert texts(parse(content, "utf-8")) == texts(replay(content, "utf-8"))


def test_noscript_is_the_page_where_it_holds_most_of_the_text() -> None:
    most = b"<p>menu</p><noscript><p>A whole article that lives in here.</p><p>End.</p></noscript>"
    assert shown(parse(most, "utf-8")) == ["menu", "A whole article that lives in here.", "End."]
    little = b"<p>A whole article that lives out here.</p><noscript><p>Enable it</p></noscript>"
    assert shown(parse(little, "utf-8")) == ["A whole article that lives out here."]
    assert shown(parse(b"<noscript>only</noscript>", "utf-8")) == ["only"]
    assert shown(parse(b"<p>same</p><noscript>same</noscript>", "utf-8")) == ["same"]


MARKUP = st.lists(
    st.one_of(
        st.sampled_from(
            "<p> </p> <table> <td> <b> </b> <svg> <template> <template\tshadowrootmode=open> "
            "</template> <!-- --> <script> </script> <select> <option> <frameset> <plaintext> < & "
            "<math> <br/> <textarea> </div> <![CDATA[ ]]> <p\tx=' ' \0 \ufeff".split(" ")
        ),
        st.text(max_size=5),
    ),
    max_size=25,
)


@given(MARKUP, st.integers(1, 40))
@settings(max_examples=80, deadline=None)
def test_any_markup_is_a_tree_in_pre_order(parts: list[str], most: int) -> None:
    content = "".join(parts).encode("utf-8", "replace")
    page = parse(content, "utf-8")
    page.check()
    open_nodes = [-1]
    for node, parent in enumerate(page.parent.tolist()):
        assert parent in open_nodes
        del open_nodes[open_nodes.index(parent) + 1 :]
        open_nodes.append(node)
    cut = parse(content, "utf-8", limits=Limits(nodes=most))
    size = min(most, len(page.parent))
    assert cut.parent.tolist() == page.parent.tolist()[:size]
    assert [cut.tag(i) for i in range(size)] == [page.tag(i) for i in range(size)]
