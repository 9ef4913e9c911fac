"""What the rest of the page says of a block: pages worked out by hand, odd pages, large pages."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagesight.layout.features.context import CONTEXT, context_features
from pagesight.layout.features.survey import survey_page
from pagesight.layout.page import Page, build_page
from pagesight.render.static import parse

Column = Callable[[str], list[float]]


def page_of(html: str) -> Page:
    return build_page(parse(html.encode("utf-8", "replace"), "utf-8"))


def features_of(page: Page) -> np.ndarray:
    return context_features(survey_page(page))


def columns_of(html: str) -> Column:
    table = features_of(page_of(html))
    return lambda name: table[:, CONTEXT.columns.index(name)].tolist()


def near(*values: float) -> object:
    return pytest.approx(list(values), abs=1e-6)


def log(count: float, scale: float) -> float:
    return math.log(1 + count) / scale


# Twelve words, "w", of 23 characters; a sentence's worth of text.
PROSE = " ".join("w" * 12)
MORE = " ".join("v" * 14)  # 27 characters

# Block  text        words  characters  link  path
# 0      Home           1           4  yes   ul li a
# 1      News now       2           8  yes   ul li a
# 2      PROSE         12          23  no    main p
# 3      MORE          14          27  no    main p
# 4      All rights     2          10  no    main small
# 5      More           1           4  yes   ul.x li a
PAGE = f"""<ul><li><a href=x>Home</a><li><a href=y>News now</a></ul>
<main><p>{PROSE}<p>{MORE}<small>All rights</small></main><ul class=x><li><a href=z>More</a></ul>"""
# "All rights" continues the paragraph: run 3 is MORE with it.
CHARACTERS = 4 + 8 + 23 + 27 + 10 + 4  # 76


def test_the_page_as_a_whole() -> None:
    column = columns_of(PAGE)
    assert column("blocks") == near(*[log(6, 7)] * 6)
    # The small print is part of a line that is told in sentences.
    assert column("prose") == near(*[(23 + 27 + 10) / CHARACTERS] * 6)
    assert column("links") == near(*[(4 + 8 + 4) / CHARACTERS] * 6)


def test_blocks_under_one_path() -> None:
    column = columns_of(PAGE)
    menu, text, small, last = 12 / 76, 50 / 76, 10 / 76, 4 / 76
    assert column("path.text") == near(menu, menu, text, text, small, last)
    words = [log(1.5, 4)] * 2 + [log(13, 4)] * 2 + [log(2, 4), log(1, 4)]
    assert column("path.words") == near(*words)
    assert column("path.links") == [1, 1, 0, 0, 0, 1]
    assert column("path.prose") == [0, 0, 1, 1, 1, 0]
    assert column("path.spread") == near(1 / 6, 1 / 6, 1 / 6, 1 / 6, 0, 0)


def test_one_path_over_the_whole_page() -> None:
    """The first and the last of four blocks stand under the same tags; a class tells others off."""
    column = columns_of(f"<p>{PROSE}<p class=a>x<p><a href=x>y</a><p>z")
    assert column("path.spread") == near(3 / 4, 0, 0, 3 / 4)
    assert column("path.prose") == near(1 / 2, 0, 0, 1 / 2)
    assert column("path.text") == near(24 / 26, 1 / 26, 1 / 26, 24 / 26)


def test_the_stretch_with_most_words_and_fewest_tags() -> None:
    """Finn's Body Text Extraction: words are gained, a tag that opens or closes costs one.

    Tags before a block: 2 that open in a list; then 2 that close and 2 that open.

    block   one   two   w*12   v*14   end
    words     1     1     12     14     1
    tags      6     4      4      2     6

    The two in the middle give 12 - 2 + 14 = 24, with "two" before them 1 - 4 + 24 = 21.
    """
    html = (
        f"<ul><li><b>one</b><li><b>two</b></ul><p>{PROSE}</p><p>{MORE}</p><ul><li><i><u><s><q>end"
    )
    page = page_of(html)
    assert len(page) == 5
    column = columns_of(html)
    assert column("densest.inside") == [0, 0, 1, 1, 0]
    assert column("densest.side") == [-1, -1, 0, 0, 1]
    assert column("densest.distance") == near(log(2, 7), log(1, 7), 0, 0, log(1, 7))


def test_many_tags_part_a_stretch() -> None:
    """12 words, then 2 or 32 tags, then 14 words: together 24 or -6, more or less than 14."""
    for between, inside in (("", [1, 1]), ("<i></i>" * 15, [0, 1])):
        column = columns_of(f"<p>{PROSE}</p>{between}<p>{MORE}</p>")
        assert column("densest.inside") == inside


def test_the_stretch_with_most_words_outside_of_links() -> None:
    """A block costs 4 words and a linked word costs 3.

    block     menu   w*12   link   v*14   foot   x y
    words        1     12      1     14      1     2
    linked     yes            yes
    gain        -7     +8     -7    +10     -3    -2
    """
    html = f"<a href=x>menu</a><p>{PROSE}</p><a href=x>link</a><p>{MORE}</p><div>foot</div><div>x y"
    column = columns_of(html)
    assert column("unlinked.inside") == [0, 1, 1, 1, 0, 0]
    assert column("unlinked.side") == [-1, 0, 0, 0, 1, 1]
    assert column("unlinked.distance") == near(log(1, 7), 0, 0, 0, log(1, 7), log(3, 7))
    # With ten linked words between them, 30 and 4 are lost and 8 gained: the second text stands
    # alone, and what lies before it is as far as its words.
    ten = " ".join("l" * 10)
    column = columns_of(html.replace("link", ten))
    assert column("unlinked.inside") == [0, 0, 0, 1, 0, 0]
    assert column("unlinked.distance") == near(
        log(1 + 12 + 10, 7), log(12 + 10, 7), log(10, 7), 0, log(1, 7), log(3, 7)
    )


# The body holds a list, an article and a comment; the article holds a head and two paragraphs.
# Prose: 23, 27 and 23 characters of 73; all: 4 + 8 + 23 + 27 + 23 = 85.
TREE = f"""<ul><li>Home</ul>
<article><h1>The head</h1><div><p>{PROSE}</p><p>{MORE}</p></div></article>
<section>{PROSE}</section>"""


def test_the_smallest_part_with_most_of_the_prose() -> None:
    """50 of 73 stand in the div, more than .6; below .9, which only the body holds."""
    column = columns_of(TREE)
    assert column("most_prose.inside") == [0, 0, 1, 1, 0]
    # The way down: body, article, div. The head stands in the article, 1 of 2 steps down.
    assert column("most_prose.near") == near(0, 1 / 2, 1, 1, 0)
    assert column("most_prose.share") == near(*[50 / 85] * 5)
    assert column("all_prose.inside") == [1] * 5
    assert column("all_prose.near") == [1] * 5
    assert column("all_prose.share") == [1] * 5


def test_nearly_all_prose_may_stand_in_one_part_too() -> None:
    column = columns_of(TREE.replace(f"<section>{PROSE}", "<section>Thanks"))
    assert column("all_prose.inside") == column("most_prose.inside") == [0, 0, 1, 1, 0]
    assert column("all_prose.share") == near(*[50 / (4 + 8 + 50 + 6)] * 5)


def test_how_far_prose_is_away() -> None:
    column = columns_of(f"<p>a<p>b<p>{PROSE}<p>c<p>d<p>{MORE}<p>e")
    none = log(7 + 3, 6)  # what stands for no prose is as far as the page is long, and more
    since = column("since_prose")
    assert since[2:] == near(0, log(1, 6), log(2, 6), 0, log(1, 6))
    assert min(since[:2]) >= log(7, 6)
    assert max(since[:2]) < none
    until = column("until_prose")
    assert until[:6] == near(log(2, 6), log(1, 6), 0, log(2, 6), log(1, 6), 0)
    assert until[6] >= log(7, 6)
    assert column("prose_around") == near(*[50 / 55] * 7)


def test_what_stands_around_ends_after_forty_blocks() -> None:
    column = columns_of(f"<p>{PROSE}" + "<p>x" * 90)
    around = column("prose_around")
    assert around[0] == pytest.approx(23 / (23 + 40))
    assert around[40] == pytest.approx(23 / (23 + 80))
    assert around[41:] == [0] * 50


@pytest.mark.parametrize(
    ("html", "prose"),
    [
        (f"<p>{PROSE}", True),
        (f"<p>{PROSE[:-2]}", False),  # eleven words
        ("<p>" + "<b>w</b> " * 12, True),  # twelve blocks of one line
        (f"<p>{PROSE}<a href=x> {PROSE[:-2]}</a>", True),  # 12 words against 11
        (f"<p>{PROSE}<a href=x> {PROSE}</a>", False),  # most of it must be no link
        (f"<p><a href=x>{PROSE}</a>", False),
        (f"<p>{PROSE[:11]}<p>{PROSE[:11]}", False),  # two lines of six words
    ],
)
def test_prose(html: str, prose: bool) -> None:
    assert (columns_of(html)("prose")[0] == 1) is prose
    assert columns_of(html)("prose")[0] in (0, 1)


# Odd pages.


def assert_sound(page: Page) -> np.ndarray:
    found = features_of(page)
    assert found.shape == (len(page), len(CONTEXT))
    assert found.dtype == np.float32
    assert np.isfinite(found).all()
    assert found.min(initial=0) >= -1
    assert found.max(initial=0) <= 3
    named = dict(zip(CONTEXT.columns, found.T, strict=True))
    for stretch in ("densest", "unlinked"):
        assert (named[f"{stretch}.inside"] == (named[f"{stretch}.side"] == 0)).all()
        assert (named[f"{stretch}.distance"][named[f"{stretch}.inside"] == 1] == 0).all()
        if len(page):
            assert named[f"{stretch}.inside"].any()
            assert (np.diff(named[f"{stretch}.side"]) >= 0).all()
    for part in ("most_prose", "all_prose"):
        for name in ("inside", "near", "share"):
            assert ((named[f"{part}.{name}"] >= 0) & (named[f"{part}.{name}"] <= 1)).all()
    assert (named["all_prose.inside"] >= named["most_prose.inside"]).all()
    return found


def test_a_page_without_blocks() -> None:
    assert assert_sound(page_of("")).shape == (0, len(CONTEXT))


def test_a_page_of_one_block() -> None:
    row = dict(zip(CONTEXT.columns, assert_sound(page_of("<p>x"))[0].tolist(), strict=True))
    ones = {"path.text", "densest.inside", "unlinked.inside"}
    assert {name for name, value in row.items() if value == 1} == ones
    assert row["blocks"] == pytest.approx(log(1, 7))
    assert row["path.words"] == pytest.approx(log(1, 4))
    assert row["since_prose"] > 0 < row["until_prose"]
    rest = {*row} - ones - {"blocks", "path.words", "since_prose", "until_prose"}
    assert not any(row[name] for name in rest)


def test_a_page_without_prose() -> None:
    found = assert_sound(page_of("<ul><li>a<li>b</ul><p>c<p>d<a href=x>e</a>"))
    named = dict(zip(CONTEXT.columns, found.T, strict=True))
    for name in ("prose", "path.prose", "prose_around"):
        assert not named[name].any()
    for part in ("most_prose", "all_prose"):
        for name in ("inside", "near", "share"):
            assert not named[f"{part}.{name}"].any()


MARKUP = st.lists(
    st.one_of(
        st.sampled_from(
            """<p> </p> <a\thref=x> </a> <table> <td> <li> <div\tclass='a\tb'> </div> <div> <br> <b>
            <svg> <frameset> <template> <noscript> </noscript> *** 2024""".split()
        ),
        st.sampled_from([PROSE, MORE, f"<a href=x>{PROSE}</a>"]),
        st.text(max_size=6),
    ),
    max_size=20,
)


@given(MARKUP)
@settings(max_examples=150, deadline=None)
def test_any_page(parts: list[str]) -> None:
    assert_sound(page_of("".join(parts)))


def test_deep_and_large_pages() -> None:
    assert_sound(page_of("<div>" * 300 + "x" + "</div>y" * 300))
    assert_sound(page_of(f"<p>{'word ' * 100_000}<p>x"))


def test_twenty_thousand_blocks() -> None:
    lines = (
        f"<p>{PROSE if i % 9 else i}" if i % 5 else f"<a href=x>{i}</a>" for i in range(20_000)
    )
    page = page_of("".join(lines))
    assert len(page) == 20_000
    seen = survey_page(page)
    best = math.inf
    for _ in range(3):
        start = time.process_time()
        context_features(seen)
        best = min(best, time.process_time() - start)
    assert best < 0.3
