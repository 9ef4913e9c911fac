"""The sections that blocks stand in, by the headings before them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagesight.layout.features.phrases import phrase_features
from pagesight.layout.features.sections import SECTIONS, section_features
from pagesight.layout.features.survey import survey_page
from pagesight.layout.page import Page, build_page
from pagesight.render.static import parse

SHOP = """
<p>Free delivery
<h1>Oak <b>table</b></h1> <p>A table.
<h2>Specifications</h2> <p>Oak, oiled.
<h3>Care</h3> <p>Dry cloth.
<h2>Customer reviews</h2> <p>Very good!
<h2>You may also like</h2> <h3>Pine table</h3> <p>$20
"""


def page_of(html: str) -> Page:
    return build_page(parse(html.encode(), "utf-8"))


def sections_of(html: str) -> tuple[Page, dict[str, list[float]]]:
    page = page_of(html)
    table = section_features(survey_page(page), phrase_features(page))
    assert table.shape == (len(page), len(SECTIONS))
    return page, dict(zip(SECTIONS.columns, table.T.tolist(), strict=True))


def test_a_heading_speaks_for_its_section() -> None:
    page, columns = sections_of(SHOP)
    assert page.text == (
        "Free delivery", "Oak", "table", "A table.",
        "Specifications", "Oak, oiled.", "Care", "Dry cloth.",
        "Customer reviews", "Very good!", "You may also like", "Pine table", "$20",
    )  # fmt: skip
    assert columns["before"] == [1] + [0] * 12
    assert columns["nearest.about"] == [0] * 4 + [1, 1] + [0] * 7
    assert columns["parent.about"] == [0] * 6 + [1, 1] + [0] * 5
    assert columns["nearest.reviews"] == [0] * 8 + [1, 1] + [0] * 3
    assert columns["nearest.alike"] == [0] * 10 + [1] + [0] * 2
    assert columns["parent.alike"] == [0] * 11 + [1, 1]
    assert columns["since.alike"] == [0] * 10 + [1] * 3


def test_ranks_and_distances() -> None:
    _, columns = sections_of(SHOP)
    ranks = np.array([0, 1, 1, 1, 2, 2, 3, 3, 2, 2, 2, 3, 3])
    parents = np.array([0, 0, 0, 0, 1, 1, 2, 2, 1, 1, 1, 2, 2])
    assert columns["nearest.rank"] == pytest.approx(ranks / 6)
    assert columns["parent.rank"] == pytest.approx(parents / 6)
    since = [0, 0, 1, 2, 0, 1, 0, 1, 0, 1, 0, 0, 1]
    assert columns["nearest.distance"] == pytest.approx(np.log1p(since))
    beyond = [0, 0, 0, 0, 3, 4, 2, 3, 7, 8, 9, 1, 2]
    assert columns["parent.distance"] == pytest.approx(np.log1p(beyond))


def test_comments_are_remembered_beyond_the_next_heading() -> None:
    _, columns = sections_of("<h1>News</h1><p>Text<h2>3 comments</h2><p>Yes<h2>Other</h2><p>End")
    assert columns["since.comments"] == [0, 0, 1, 1, 1, 1]
    assert [value > 0 for value in columns["nearest.comments"]] == [False] * 2 + [True] * 2 + [
        False
    ] * 2


def test_the_inner_of_two_headings_counts() -> None:
    _, columns = sections_of("<h2><h3>Inner</h3></h2><p>Text")
    assert columns["nearest.rank"] == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize("html", ["", "<p>No heading", "<h1></h1><p>Empty heading", "<h1>Alone"])
def test_few_headings_or_none(html: str) -> None:
    page, columns = sections_of(html)
    assert columns["before"] == [float("Alone" not in page.text)] * len(page)


@given(
    st.lists(st.tuples(st.sampled_from("h1 h2 h3 h6 p".split()), st.text(max_size=9)), max_size=20)
)
def test_any_order_of_headings(parts: list[tuple[str, str]]) -> None:
    page = page_of("".join(f"<{tag}>{text}</{tag}>" for tag, text in parts))
    table = section_features(survey_page(page), phrase_features(page))
    assert np.isfinite(table).all()
    assert (table >= 0).all()
    ranks = table[:, SECTIONS.columns.index("nearest.rank")]
    parents = table[:, SECTIONS.columns.index("parent.rank")]
    assert (parents <= np.maximum(ranks - 1 / 6, 0) + 1e-6).all()
