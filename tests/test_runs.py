"""Runs of a page: means by characters, boxes around them, edges between them, by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagesight.layout.features import BLOCK, EDGE, Features, extract
from pagesight.layout.page import Page, build_page
from pagesight.layout.runs import run_boxes, run_features, run_means
from pagesight.render.static import parse

NOWHERE = [math.nan] * 4
# Runs of 1 + 3, of 2 and of 4 + 1 characters.
SOURCE = "<p>a<b>bcd</b><p>ef<p>ghij<i>k</i>"


def page_of(html: str) -> Page:
    return build_page(parse(html.encode(), "utf-8"))


def with_boxes(page: Page, *boxes: list[float]) -> Page:
    return replace(page, box=np.array(boxes, np.float32).reshape(-1, 4))


def assert_boxes(page: Page, *wanted: list[float]) -> None:
    found = run_boxes(page)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, np.array(wanted, np.float32).reshape(-1, 4))


def test_means_count_characters() -> None:
    page = page_of(SOURCE)
    assert page.text == ("a", "bcd", "ef", "ghij", "k")
    assert page.run.tolist() == [0, 0, 1, 2, 2]
    table = np.array([[8, 1], [0, 1], [7, -3], [1, 0], [6, 5]], np.float32)
    means = run_means(page, table)
    assert means.dtype == np.float32
    assert means.tolist() == [[2, 1], [7, -3], [2, 1]]


def test_a_character_is_not_a_byte() -> None:
    page = page_of("<p>日<b>abc</b>")
    assert run_means(page, np.array([[4.0], [0.0]])).tolist() == [[1]]


def test_features_of_runs_and_of_the_edges_between_them() -> None:
    """Of the edges 0-1, 1-2, 2-3 and 3-4 the second and the third lie between runs."""
    page = page_of(SOURCE)
    blocks = np.arange(5 * 3, dtype=np.float32).reshape(5, 3)
    edges = np.arange(4 * 2, dtype=np.float32).reshape(4, 2)
    found = run_features(page, Features(blocks, edges))
    assert found.blocks[1].tolist() == [6, 7, 8]
    assert found.blocks[0].tolist() == pytest.approx([2.25, 3.25, 4.25])
    assert found.edges.tolist() == [[2, 3], [4, 5]]


def test_one_run_has_no_edges() -> None:
    page = page_of("<p>one<b>two</b>three")
    found = run_features(page, extract(page))
    assert (found.blocks.shape, found.edges.shape) == ((1, len(BLOCK)), (0, len(EDGE)))


def test_a_page_of_single_blocks_is_left_as_it_is() -> None:
    page = page_of("<h1>Title</h1><p>Some words.<p>Other words<ul><li>one<li>two</ul>")
    features = extract(page)
    found = run_features(page, features)
    np.testing.assert_array_equal(found.blocks, features.blocks)
    np.testing.assert_array_equal(found.edges, features.edges)


def test_a_page_without_blocks() -> None:
    page = page_of("")
    found = run_features(page, extract(page))
    assert (found.blocks.shape, found.edges.shape) == ((0, len(BLOCK)), (0, len(EDGE)))
    assert run_boxes(page).shape == (0, 4)


def test_boxes_go_around_the_whole_run() -> None:
    page = page_of(SOURCE)
    boxes = [10, 20, 30, 10], [40, 15, 5, 10], [0, 50, 9, 9], [5, 80, 1, 1], [0, 90, 50, 10]
    assert_boxes(with_boxes(page, *boxes), [10, 15, 35, 15], [0, 50, 9, 9], [0, 80, 50, 20])


def test_boxes_of_what_is_not_laid_out() -> None:
    page = page_of(SOURCE)
    boxes = [10, 20, 30, 10], NOWHERE, NOWHERE, NOWHERE, [-7, 90, 50, 10]
    assert_boxes(with_boxes(page, *boxes), [10, 20, 30, 10], NOWHERE, [-7, 90, 50, 10])
    assert_boxes(with_boxes(page, *[NOWHERE] * 5), NOWHERE, NOWHERE, NOWHERE)
    assert_boxes(page, NOWHERE, NOWHERE, NOWHERE)  # never rendered


def test_boxes_far_down_a_page() -> None:
    page = page_of("<p>a<b>b</b>")
    low = with_boxes(page, [0, 1_000_000, 8, 16], [8, 1_000_016, 8, 16])
    assert_boxes(low, [0, 1_000_000, 16, 32])


PAGES = st.lists(
    st.tuples(
        st.sampled_from(["<p>", "<b>", "<i>", "</b>", "<br>", " "]), st.text("ab€", max_size=5)
    ),
    max_size=12,
).map(lambda parts: page_of("".join(map("".join, parts))))


@given(PAGES, st.data())
@settings(max_examples=100, deadline=None)
def test_means_lie_between_the_least_and_the_most(page: Page, data: st.DataObject) -> None:
    numbers = st.floats(width=32, allow_nan=False, allow_infinity=False)
    columns = data.draw(
        st.lists(st.tuples(numbers, numbers), min_size=len(page), max_size=len(page))
    )
    table = np.array(columns, np.float32).reshape(-1, 2)
    means = run_means(page, table)
    assert len(means) == len({*page.run.tolist()})
    for run, mean in enumerate(means):
        own = table[page.run == run]
        assert ((own.min(axis=0) <= mean) & (mean <= own.max(axis=0))).all()
    # Where all of a run are alike, that is their mean.
    same = means[page.run]
    np.testing.assert_array_equal(run_means(page, same), means)


@given(PAGES, st.data())
@settings(max_examples=100, deadline=None)
def test_boxes_hold_their_blocks(page: Page, data: st.DataObject) -> None:
    """Whole pixels, which 32 bits hold: no box ends a little short of its blocks."""
    number, side = st.integers(-5000, 100_000), st.integers(1, 5000)
    one = st.none() | st.tuples(number, number, side, side)
    drawn = data.draw(st.lists(one, min_size=len(page), max_size=len(page)))
    laid_out = with_boxes(page, *(list(box) if box else NOWHERE for box in drawn))
    found = run_boxes(laid_out)
    for run, (x, y, width, height) in enumerate(found.tolist()):
        own = [box for box, of in zip(drawn, page.run.tolist(), strict=True) if of == run and box]
        if not own:
            assert math.isnan(x)
            continue
        assert (x, y) == (min(box[0] for box in own), min(box[1] for box in own))
        assert x + width == max(box[0] + box[2] for box in own)
        assert y + height == max(box[1] + box[3] for box in own)
