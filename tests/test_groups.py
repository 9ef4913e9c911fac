"""What repeats in a page: a shelf worked out by hand, a plain computation, odd and large pages."""

from __future__ import annotations

import math
import re
import time
from collections import defaultdict
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagesight.layout.features import BLOCK, GROUPS, extract
from pagesight.layout.features.groups import group_features
from pagesight.layout.features.survey import survey_page
from pagesight.layout.page import Page, build_page
from pagesight.render.snapshot import ELEMENT
from pagesight.render.static import parse

Column = Callable[[str], list[float]]


def page_of(html: str) -> Page:
    return build_page(parse(html.encode("utf-8", "replace"), "utf-8"))


def features_of(page: Page) -> np.ndarray:
    return group_features(survey_page(page))


def columns_of(html: str) -> Column:
    table = features_of(page_of(html))
    return lambda name: table[:, GROUPS.columns.index(name)].tolist()


def near(*values: float) -> object:
    return pytest.approx(list(values), abs=1e-6)


# Block  text        characters  path
# 0      Home                 4  nav a
# 1      Red hat              7  li.card h3
# 2      Soft wool            9  li.card p
# 3      Cap                  3  li.card h3
# 4      Buy now              7  li.card a
# 5-7    aa, bb, cc           6  li.card p i.tag
# 8      End.                 4  p
#
# Two groups: three cards of 16, 10 and 6 characters, and in the last one three tags of 2.
SHELF = """<nav><a href=x>Home</a></nav><ul>
<li class="card new"><h3>Red hat</h3><p>Soft wool</p>
<li class=card><h3>Cap</h3><a href=y>Buy now</a>
<li class=card-2><p><i class=tag-1>aa</i><i class="tag_2 warm">bb</i><i class=tag3>cc</i></p>
</ul><p>End."""


def spread(*lengths: int) -> float:
    return float(np.std(np.log1p(lengths)))


def test_a_shelf_by_hand() -> None:
    column = columns_of(SHELF)
    cards, tags = 1 / (1 + spread(16, 10, 6)), 1.0
    inner = {
        "items": [0, *[math.log(3)] * 7, 0],
        "place": [0, 0, 0, 0.5, 0.5, 0, 0.5, 1, 0],
        "text": [0, *[32 / 40] * 4, *[6 / 40] * 3, 0],
        "item_text": [0, *[math.log1p(32 / 3)] * 4, *[math.log1p(2)] * 3, 0],
        "item_blocks": [0, *[math.log1p(7 / 3)] * 4, *[math.log1p(1)] * 3, 0],
        "links": [0, *[7 / 32] * 4, 0, 0, 0, 0],
        "even": [0, *[cards] * 4, *[tags] * 3, 0],
        "headed": [0, *[2 / 3] * 4, 0, 0, 0, 0],
    }
    outer = {
        "items": [0, *[math.log(3)] * 7, 0],
        "place": [0, 0, 0, 0.5, 0.5, 1, 1, 1, 0],
        "text": [0, *[32 / 40] * 7, 0],
        "item_text": [0, *[math.log1p(32 / 3)] * 7, 0],
        "item_blocks": [0, *[math.log1p(7 / 3)] * 7, 0],
        "links": [0, *[7 / 32] * 7, 0],
        "even": [0, *[cards] * 7, 0],
        "headed": [0, *[2 / 3] * 7, 0],
    }
    for side, values in (("inner", inner), ("outer", outer)):
        for name, wanted in values.items():
            assert column(f"{side}.{name}") == near(*wanted), f"{side}.{name}"
    assert column("nested") == [0, 1, 1, 1, 1, 2, 2, 2, 0]
    assert len(GROUPS) == len(inner) + len(outer) + 1


def items(html: str) -> list[int]:
    """How many items the innermost group above each block has."""
    return [round(math.exp(value)) if value else 0 for value in columns_of(html)("inner.items")]


@pytest.mark.parametrize(
    ("html", "wanted"),
    [
        ("<p>a<p>b", [0, 0]),  # two are none
        ("<p>a<p>b<p>c", [3, 3, 3]),
        ("<p>a<p>b<p> <p>", [0, 0]),  # what has no text is no item
        ("<p>a<div>b</div><p>c<div>d</div>", [0] * 4),  # of two names
        ("<p class=a>1<p class=a>2<p class=b>3", [0] * 3),  # of two kinds
        ("<p class='a b'>1<p class='a c'>2<p class=' a '>3", [3] * 3),  # the first class says
        ("<p class=post-1>1<p class=post_22>2<p class=post>3", [3] * 3),  # numbering does not
        ("<p id=a>1<p id=b>2<p id=c>3", [3] * 3),
        ("<p class>1<p class=' '>2<p>3<p class=7>4", [4] * 4),  # no class, by any spelling
        ("<p>a<p>b<section><p>c</section>", [0] * 3),  # below two parents
        ("<dl><dt>a<dd>b<dt>c<dd>d<dt>e<dd>f</dl>", [3] * 6),  # two groups in turn
        ("<p>a<hr><p>b<h1>x</h1><p>c", [3, 3, 0, 3]),  # others between them
    ],
)
def test_what_is_a_group(html: str, wanted: list[int]) -> None:
    assert items(html) == wanted


def test_groups_in_turn_have_places_of_their_own() -> None:
    column = columns_of("<dl><dt>a<dd>bb<dt>c<dd>dd<dt>e<dd>ff</dl>")
    assert column("inner.place") == near(0, 0, 0.5, 0.5, 1, 1)
    assert column("inner.text") == near(*[3 / 9, 6 / 9] * 3)


def test_a_heading_around_or_inside_an_item() -> None:
    """An item of which a part is a heading is headed, and so is one below a heading."""
    assert columns_of("<p>a<p>b<p>c")("inner.headed") == [0] * 3
    assert columns_of("<h2><i>a</i><i>b</i><i>c</i></h2>")("inner.headed") == [1] * 3
    rows = "<div><h4>a</h4>x</div><div><b>b</b>x</div><div><h6>c</h6></div>"
    assert columns_of(rows)("outer.headed") == near(*[2 / 3] * 5)


def test_even_items() -> None:
    assert columns_of("<p>aaa<p>bbb<p>ccc")("inner.even") == near(1, 1, 1)
    uneven = columns_of("<p>a<p>b<p>" + "c" * 1000)("inner.even")
    assert uneven == near(*[1 / (1 + spread(1, 1, 1000))] * 3)


def test_they_stand_among_the_features_of_a_block() -> None:
    page = page_of(SHELF)
    first = BLOCK.columns.index("groups.inner.items")
    found = extract(page).blocks[:, first : first + len(GROUPS)]
    np.testing.assert_array_equal(found, features_of(page))


# Against a plain computation.


def stem(page: Page, node: int) -> str:
    classes = page.snapshot.attributes(node).get("class", "").split()
    return re.sub(r"[\d_-]+", "", classes[0]) if classes else ""


def plainly(page: Page) -> list[dict[str, float]]:
    """A row a block: the innermost group above it, the outermost, and how many."""
    snapshot, size = page.snapshot, sum(map(len, page.text))
    above = [[node, *snapshot.ancestors(node)] for node in page.tree.leaf_node.tolist()]
    below: dict[int, list[int]] = defaultdict(list)
    for block, nodes in enumerate(above):
        for node in nodes:
            if snapshot.kind[node] == ELEMENT:
                below[node].append(block)
    groups: dict[tuple[int, str, str], list[int]] = defaultdict(list)
    for node in sorted(below):
        groups[int(snapshot.parent[node]), snapshot.tag(node), stem(page, node)].append(node)

    def measured(node: int) -> dict[str, float]:
        members = groups[int(snapshot.parent[node]), snapshot.tag(node), stem(page, node)]
        parts = [below[member] for member in members]
        lengths = [sum(len(page.text[block]) for block in part) for part in parts]

        def holds(block: int, *tags: str) -> bool:
            return any(snapshot.tag(one) in tags for one in above[block])

        linked = sum(len(page.text[b]) for part in parts for b in part if holds(b, "a"))
        headed = [any(holds(b, "h1", "h2") for b in part) for part in parts]
        return {
            "items": math.log(len(members)),
            "place": members.index(node) / (len(members) - 1),
            "text": sum(lengths) / size,
            "item_text": math.log1p(sum(lengths) / len(members)),
            "item_blocks": math.log1p(sum(map(len, parts)) / len(members)),
            "links": linked / sum(lengths),
            "even": 1 / (1 + spread(*lengths)),
            "headed": sum(headed) / len(members),
        }

    rows = []
    for nodes in above:
        chosen = [
            node
            for node in nodes
            if node in below
            and len(groups[int(snapshot.parent[node]), snapshot.tag(node), stem(page, node)]) > 2
        ]
        row = dict.fromkeys(GROUPS.columns, 0.0) | {"nested": float(len(chosen))}
        for side, node in zip(("inner", "outer"), (chosen[:1], chosen[-1:]), strict=True):
            for one in node:
                row |= {f"{side}.{name}": value for name, value in measured(one).items()}
        rows.append(row)
    return rows


MARKUP = st.lists(
    st.sampled_from(
        "<p> </p> <li\tclass=x> <li\tclass=x-1> <ul> </ul> <div> </div> <a\thref=x> </a> <h2> "
        "</h2> <b> </b> <br> <template> word two 1".split(" ")
    ),
    max_size=30,
)


@given(MARKUP)
@settings(max_examples=120, deadline=None)
def test_any_page_as_computed_plainly(parts: list[str]) -> None:
    page = page_of("".join(parts))
    table = features_of(page)
    assert table.shape == (len(page), len(GROUPS))
    assert table.dtype == np.float32
    for row, wanted in zip(table.tolist(), plainly(page), strict=True):
        found = dict(zip(GROUPS.columns, row, strict=True))
        assert found == pytest.approx(wanted, abs=1e-5)


# Odd and large pages.


@pytest.mark.parametrize("html", ["", "<p>one", "\x01", "<p>-<p>-<p>-", "<frameset>", "<p>\ud800"])
def test_small_pages(html: str) -> None:
    page = page_of(html)
    table = features_of(page)
    assert table.shape == (len(page), len(GROUPS))
    assert np.isfinite(table).all()


@pytest.mark.parametrize(
    "html",
    [
        "<li class=card><h3>Name</h3><a href=x>Buy</a>" * 8_000,
        "<div>x</div><div>y</div><div>" * 12_000,
        "".join(f"<p class=c{number}-{'x' * (number % 7)}>word" for number in range(15_000)),
        "<p class='" + "long" * 500_000 + "'>a<p>b",
    ],
    ids=["shelf", "deep", "many classes", "long class"],
)
def test_large_pages(html: str) -> None:
    seen = survey_page(page_of(html))
    began = time.process_time()
    table = group_features(seen)
    assert time.process_time() - began < 5
    assert np.isfinite(table).all()
    assert np.abs(table).max() < 20_000
