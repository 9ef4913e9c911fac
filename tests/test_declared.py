"""What a page declares of itself: addresses, schema.org, metadata; hostile declarations."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagesight.layout.features import BLOCK, DECLARED, extract
from pagesight.layout.features.declared import PROPERTIES, declared_features
from pagesight.layout.features.survey import survey_page
from pagesight.layout.page import Page, build_page
from pagesight.render.capture import Renderer
from pagesight.render.loop import LoopThread
from pagesight.render.snapshot import Meta
from pagesight.render.static import parse

OF_PAGE = DECLARED.columns[: -len(PROPERTIES)]


def page_of(html: str, url: str = "") -> Page:
    meta = Meta(resolved_url=url)
    return build_page(parse(html.encode("utf-8", "replace"), "utf-8", meta))


def table_of(page: Page) -> np.ndarray:
    return declared_features(survey_page(page))


def declared(html: str, url: str = "") -> dict[str, float]:
    """All that a page with one block more says of itself, without what is 0."""
    table = table_of(page_of(f"{html}<p>text", url))
    assert len(table)
    # The same for all blocks.
    assert (table[:, : len(OF_PAGE)] == table[0, : len(OF_PAGE)]).all()
    return {name: value for name, value in zip(OF_PAGE, table[0].tolist(), strict=False) if value}


def json_ld(*sources: str) -> str:
    return "".join(f"<script type=application/ld+json>{source}</script>" for source in sources)


def kinds(html: str) -> set[str]:
    found = declared(html)
    return {name.removeprefix("type.") for name in found if name.startswith("type.")}


# Addresses.


def named(value: object) -> str | None:
    """Sets have no order: every process must call a test by the same name."""
    return "+".join(sorted(value)) if isinstance(value, set) else None


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        # Three words of letters, a number of four digits, two parts; the host says "shop".
        (
            "https://shop.example/products/Blue-Winter-Hat-4711?color=red",
            {"product": 1, "list": 1, "depth": 2 / 4, "slug": 3 / 5, "query": 1, "number": 1},
        ),
        ("https://www.example.com", {"root": 1}),
        ("http://www.example.com/?", {"root": 1}),
        ("https://www.example.com/?q=1", {"root": 1, "query": 1}),
        (
            "https://paper.example/2024/05/a-mill",
            {"article": 1, "depth": 3 / 4, "slug": 2 / 5},
        ),
        ("https://boards.example/t/99", {"forum": 1, "depth": 2 / 4}),
        ("https://x.example/viewtopic?p=12345", {"forum": 1, "depth": 1 / 4, "slug": 1 / 5}),
        ("https://docs.x.example/caf%C3%A9/", {"documentation": 1, "depth": 1 / 4, "slug": 1 / 5}),
        (
            "https://x.example/about/our-services/",
            {"service": 1, "depth": 2 / 4, "slug": 2 / 5},
        ),
        ("https://x.example/item_p_1234", {"product": 1, "depth": 1 / 4, "slug": 2 / 5}),
        # "postal" is no post, "shops" no shop of its own.
        ("https://x.example/postal/shops-1999", {"depth": 2 / 4, "slug": 1 / 5}),
    ],
)
def test_addresses(url: str, wanted: dict[str, float]) -> None:
    usual = {"known": 1.0} | ({"query": 1.0} if "?p" in url else {})
    usual |= {"number": 1.0} if url.endswith(("1999", "1234")) else {}
    found = declared("", url)
    assert found == pytest.approx({f"address.{k}": v for k, v in (usual | wanted).items()})


@pytest.mark.parametrize(
    "url",
    ["", "file:///docs/x.html", "page.html", "about:blank", "http://[", "http:"],
)
def test_what_is_no_address(url: str) -> None:
    assert declared("", url) == {}


def test_a_page_goes_by_the_address_that_it_has_in_the_end() -> None:
    both = Meta(url="https://x.example/", resolved_url="https://y.example/docs/a")
    named = Meta(url="https://x.example/docs/a")
    for meta in (both, named):
        table = table_of(build_page(parse(b"<p>text", "utf-8", meta)))
        found = dict(zip(DECLARED.columns, table[0].tolist(), strict=True))
        assert (found["address.documentation"], found["address.depth"]) == (1, 0.5)


# Types of schema.org.


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ('{"@type": "NewsArticle"}', {"article"}),
        ('{"@type": "Product", "offers": {"@type": "Offer"}}', {"product"}),
        ('[{"@type": "BreadcrumbList"}, {"@type": "ItemList"}]', {"list"}),
        ('{"@type": ["WebPage", "FAQPage"]}', {"service"}),
        ('{"@type": ["WebPage", "QAPage"]}', {"forum"}),
        ('{"@type": "WebSite", "x": [[{"y": {"@type": "DiscussionForumPosting"}}]]}',
         {"article", "forum"}),
        ('{"@type": "Blog"}', {"list"}),
        ('{"@type": "Book"}', {"article"}),
        ('{"@type": "Bookmark"}', set()),
        ('{"@type": null}', set()),
        ('{"@type": 3}', set()),
        ('{"@type": [["Article"], 4]}', set()),
        ('{"@type": {"@type": "Article"}}', {"article"}),
        ('{"@id": "Article"}', set()),
        ('{"@type": "Article",\n "text": "two\nlines"}', {"article"}),  # as people write it
        # What is no JSON.
        ("", set()),
        ("{", set()),
        ('{"@type": "Article"', set()),
        ('{"@type": "Article"}}', set()),
        ("{'@type': 'Article'}", set()),
        ("<!-- -->", set()),
        ("null", set()),
        ("3", set()),
        ('"Article"', set()),
        ("1" * 9_000, set()),
        ("[" * 200_000, set()),
        ('{"a":' * 50_000, set()),
        ("[" * 300 + '{"@type": "Article"}' + "]" * 300, {"article"}),
    ],
    ids=lambda value: named(value) or repr(value)[:40],
)  # fmt: skip
def test_types_in_json_ld(source: str, wanted: set[str]) -> None:
    assert kinds(json_ld(source)) == wanted


def test_types_in_a_graph() -> None:
    graph = {
        "@context": "https://schema.org",
        "@graph": [
            {"@type": "WebPage", "isPartOf": {"@type": "WebSite"}},
            {"@type": ["Thing", "Recipe"], "author": {"@type": "Person"}},
            {"@type": "Organization", "department": [{"@type": "Place"}]},
        ],
    }
    assert kinds(json_ld(json.dumps(graph))) == {"article", "service"}


def test_several_scripts_and_microdata_count_together() -> None:
    html = json_ld("{", '{"@type": "Comment"}', "", '{"@type": "Course"}')
    assert kinds(html) == {"forum", "service"}
    shelf = "<div itemscope itemtype='https://schema.org/ItemList'><b itemtype=Product>x</b></div>"
    assert kinds(html + shelf) == {"forum", "service", "list", "product"}
    assert kinds("<div itemtype='http://data.example/Review/'>x</div><i itemtype>y</i>") == set()


def test_scripts_that_declare_nothing() -> None:
    source = '{"@type": "Article"}'
    for opening in ("<script>", "<script type=application/json>", "<script type=module>"):
        assert kinds(f"{opening}{source}</script>") == set()
    assert kinds(f"<script type='Application/LD+JSON; charset=utf-8'>{source}</script>")
    assert kinds(f"<p>{source}") == set()


TEXT = st.sampled_from(["Article", "Product", "ItemList", "Thing", "Question", "@type"])
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXT),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(["@type", "@graph", "a", "b"]), inner, max_size=4),
    ),
    max_leaves=20,
)
KIND_OF = {"Article": "article", "Product": "product", "ItemList": "list", "Question": "forum"}


def types_in(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for each in value:
            yield from types_in(each)
    if isinstance(value, dict):
        kind = value.get("@type")
        yield from (k for k in (kind if isinstance(kind, list) else [kind]) if isinstance(k, str))
        for each in value.values():
            yield from types_in(each)


@given(VALUES)
@settings(max_examples=150, deadline=None)
def test_any_json_as_read_plainly(value: Any) -> None:
    wanted = {KIND_OF[kind] for kind in types_in(value) if kind in KIND_OF}
    assert kinds(json_ld(json.dumps(value))) == wanted


# Metadata and names.


@pytest.mark.parametrize(
    ("html", "wanted"),
    [
        ("<meta property=og:type content=Article>", {"graph.article"}),
        ("<meta name=OG:TYPE content=website>", {"graph.website"}),
        ("<meta property=og:type content=og:product>", {"graph.product"}),
        ("<meta property=og:type>", set()),
        ("<meta name=generator content='WordPress 6.1'>", {"generator.blog"}),
        (
            "<meta name=generator content=WordPress><meta name=Generator content=WooCommerce>",
            {"generator.blog", "generator.shop"},
        ),
        ("<meta name=generator content='MkDocs 1.4'>", {"generator.documentation"}),
        ("<meta name=description content=WordPress>", set()),
        ("<meta property=product:price:amount content=3>", {"price"}),
        ("<meta content=price>", set()),
        ("<body class='home blog'>", {"root.list"}),
        ("<html id=topic-page>", {"root.forum", "root.service"}),
        ("<html class=Product><body class=docs>", {"root.product", "root.documentation"}),
        ("<div class='home blog'>x</div>", set()),
    ],
    ids=named,
)
def test_metadata_and_names(html: str, wanted: set[str]) -> None:
    assert {*declared(html)} == wanted


def test_properties_stand_above_their_blocks() -> None:
    page = page_of(
        "<p>a<article itemprop=articleBody><h1 itemprop=headline>b</h1>c<p>d<i itemprop>e</i>"
        "</article><b itemprop='offers priceCurrency'><i itemprop=author>f</i></b><p itemprop=x>g"
    )
    table = table_of(page)
    found = {
        text: {
            name.removeprefix("property.")
            for name, value in zip(DECLARED.columns, row, strict=True)
            if value and name.startswith("property.")
        }
        for text, row in zip(page.text, table.tolist(), strict=True)
    }
    assert found == {
        **{"a": set(), "b": {"body", "name"}, "c": {"body"}, "d": {"body"}, "e": {"body"}},
        **{"f": {"offer", "person"}, "g": set()},
    }


# Among the others, in a browser, and in pages that mean harm.


def test_they_stand_among_the_features_of_a_block() -> None:
    page = page_of("<p itemprop=name>x<p>y" + json_ld('{"@type": "Article"}'), "http://x.example/")
    first = BLOCK.columns.index("declared.type.article")
    found = extract(page).blocks[:, first : first + len(DECLARED)]
    np.testing.assert_array_equal(found, table_of(page))
    assert found[0, 0] == 1


def test_a_rendered_page_declares_the_same(loop: LoopThread, renderer: Renderer) -> None:
    html = (
        "<!doctype html><html class=single><meta property=og:type content=article>"
        + json_ld('{"@graph": [{"@type": "NewsArticle"}]}')
        + "<body class=post><h1 itemprop=headline>Title</h1><p>Text"
    )
    url = "http://paper.example/blog/a-title"
    rendered = build_page(loop.run(renderer.replay(html.encode(), url, "utf-8")))
    np.testing.assert_array_equal(table_of(rendered), table_of(page_of(html, url)))
    assert table_of(rendered).any(axis=0).sum() >= 7


MANY = 200_000


@pytest.mark.parametrize(
    ("html", "url"),
    [
        ("", ""),
        ("<title>t</title>", "http://x.example/"),
        ("<p>x" + json_ld(json.dumps([{"@type": "Thing"}] * MANY)), ""),
        ("<p>x" + json_ld(json.dumps({"@type": ["T" * 2_000_000, "x y " * 100_000]})), ""),
        ("<p>x" + json_ld(json.dumps({str(i): {"@type": "T"} for i in range(MANY)})), ""),
        ("<p>x" + json_ld("{}") * 20_000, ""),
        ("<p>x" + json_ld('["' + "\\u0000" * 300_000 + '"]'), ""),
        ("".join(f"<b itemprop=p{i} itemtype=http://x/{i}>x</b>" for i in range(20_000)), ""),
        (f"<b itemprop='{'price ' * MANY}' itemtype='{'/' * MANY}'>x</b>", ""),
        (f"<html class='{'post-' * MANY}' id='{'-' * MANY}'><p>x", ""),
        (f"<meta name=generator content='{'w' * MANY}'><p>x" * 5, ""),
        ("<meta name=generator content=x>" * 20_000 + "<p>x", ""),
        ("<p>x", "http://x.example/" + "a/" * MANY),
        ("<p>x", "http://x.example/?" + "p-" * MANY),
        ("<p>x", "http://" + "a." * MANY),
        ("<p>x", "http://x.example/" + "%ff%00" * MANY),
        ("<p>x", "http://x.example:99999999/\ud800\x00"),
        ("<p>x", "https://[::1]x]/"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_hostile_sizes(html: str, url: str) -> None:
    seen = survey_page(page_of(html, url))
    began = time.process_time()
    table = declared_features(seen)
    assert time.process_time() - began < 4
    assert table.shape == (len(seen.page), len(DECLARED))
    assert table.dtype == np.float32
    assert np.isfinite(table).all()
    assert (table >= 0).all()
