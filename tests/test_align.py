import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser, LexborNode

from pagesight.data.datasets import open_dataset
from pagesight.data.records import DROPPED
from pagesight.train.align import CONTENT, mask_labels, text_labels
from pagesight.train.metrics import word_f1
from pagesight.train.source import NO_PLACE, locate, solid, source_text

DATA = Path(os.environ.get("PAGESIGHT_DATA") or Path(__file__).parents[2] / "shared" / "data")
needs_data = pytest.mark.skipif(
    not (DATA / "cleaneval").is_dir(), reason=f"no data sets in {DATA}; set PAGESIGHT_DATA"
)

NO_TEXT = {
    *("head", "iframe", "noscript", "option", "script"),
    *("select", "style", "textarea", "title", "video"),
}

MARKUP = st.lists(
    st.sampled_from(
        [
            *(
                "<p>",
                "</p>",
                "<b>",
                "</b>",
                "<table>",
                "<tr><td>",
                "</table>",
                "<!--",
                "-->",
                "<br/>",
            ),
            *(
                "&amp;",
                "&nbsp;",
                "&ampx",
                "&",
                "&#233;",
                "<a href='>'>",
                '<a title="',
                "</",
                "<!x>",
            ),
            *("<script>", "</script>", "<title>", "</title>", "<", ">", '"', " ", "\n", "a", "bc"),
            *("one two three four five", "\0", "é"),
        ]
    ),
    max_size=30,
).map("".join)
WORDS = st.lists(st.sampled_from(["a", "b", "c", "d", "e f", "...", "A b C d", " "]), max_size=30)


def leaf_texts(html: str) -> list[str]:
    return list(texts_below(LexborHTMLParser(html).root)) if html else []


def texts_below(root: LexborNode | None) -> Iterator[str]:
    stack = [root] if root else []
    while stack:
        node = stack.pop()
        if node.tag == "-text" and solid(node.text_content or ""):
            yield node.text_content or ""
        elif node.tag not in NO_TEXT:
            stack.extend(reversed(list(node.iter(include_text=True))))


def mask_of(source: str, *kept: str) -> str:
    mask = DROPPED * len(source)
    for part in kept:
        start = source.index(part)
        mask = mask[:start] + part + mask[start + len(part) :]
    return mask


def test_source_text_knows_its_places() -> None:
    source = "<p class='>'>a &amp; b&ampc<!-- <i>x</i> -->d<script>1 < 2</script>\n<b>é</b>"
    page = source_text(source)
    assert page.text == "a&b&cdé"
    places = [place for place in page.places if place != NO_PLACE]
    assert "".join(source[place] for place in places) == "abcdé"
    assert page.runs() == ("a&b&c", "d", "é")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("", ""),
        ("1 < 2 <3", "1<2<3"),
        ("<!-->a<!--->b<!--x--!>c<!-- open", "abc"),
        ("<!doctype html>a<?php x ?>b</ x>c", "abc"),
        ("<a b=\"'>\" c='\">'>d</a>", "d"),
        ('<a b="open>c', "c"),
        ("<a don't>b</a>", "b"),
        ("<title>x</titles></title >y<TEXTAREA>z", "y"),
        ("<scripts>a</scripts>", "a"),
        ("&copy;&notanentity;&#x41;&#65", "©¬anentity;AA"),
        ("a\0b", "ab"),
    ],
)
def test_source_text_as_a_parser_reads_it(source: str, text: str) -> None:
    assert source_text(source).text == text


def test_mask_labels() -> None:
    source = "<p>kept text</p> <p>gone</p> <p>three&nbsp;of four</p>"
    mask = mask_of(source, "kept", "text", "three", "of")
    shares = mask_labels(source, mask, ["kept text", "gone", "three\xa0of four", "elsewhere"])
    assert shares.dtype == np.float32
    assert shares[:3] == pytest.approx([1, 0, 7 / 11])
    assert np.isnan(shares[3])


def test_mask_labels_tells_equal_leaves_apart() -> None:
    source = "<li>Home</li><p>Home</p><li>Home</li>"
    mask = DROPPED * 16 + "Home" + DROPPED * (len(source) - 20)
    assert source[16:20] == "Home"
    assert mask_labels(source, mask, ["Home", "Home", "Home"]) == pytest.approx([0, 1, 0])


def test_mask_labels_follow_moved_and_merged_text() -> None:
    source = "<p>top</p><table>mov<tr><td>cell</td></tr>ed</table><p>mer</foo>ged</p>"
    leaves = leaf_texts(source)
    assert leaves == ["top", "moved", "cell", "merged"]
    shares = mask_labels(source, mask_of(source, "mov", "mer", "ged"), leaves)
    # "moved" stands in two places of the source: it cannot be found
    assert np.isnan(shares[1])
    assert shares[[0, 2, 3]] == pytest.approx([0, 0, 1])
    source = "<p>top</p><table><tr><td>cell</td></tr>moved</table>"
    shares = mask_labels(source, mask_of(source, "moved"), leaf_texts(source))
    assert shares == pytest.approx([0, 1, 0])


def test_mask_labels_of_entities_only() -> None:
    assert mask_labels("&raquo;", DROPPED * 7, ["»"]) == pytest.approx([0])


def test_mask_labels_needs_a_mask_of_the_source() -> None:
    with pytest.raises(ValueError, match="4 characters, its mask 1"):
        mask_labels("text", DROPPED, [])


@settings(deadline=None)
@given(MARKUP)
def test_mask_labels_are_shares(source: str) -> None:
    leaves = leaf_texts(source)
    for mask, extreme in ((source, 1), (DROPPED * len(source), 0)):
        shares = mask_labels(source, mask, leaves)
        assert shares.shape == (len(leaves),)
        known = shares[~np.isnan(shares)]
        assert set(known) <= {0, extreme}


@settings(deadline=None)
@given(st.lists(st.text("ab c&é", min_size=1).filter(solid), max_size=8))
def test_leaves_are_located_in_order(leaves: list[str]) -> None:
    source = "<p>".join(leaf.replace("&", "&amp;") for leaf in leaves)
    page = source_text(source)
    spans = locate(page, leaves)
    assert [page.text[start:end] for start, end in spans] == [solid(leaf) for leaf in leaves]
    assert (np.diff(spans[:, 0]) > 0).all()


def test_text_labels() -> None:
    gold = "One two three four five. Six seven"
    shares = text_labels(gold, ["Home", "one two three FOUR", "five", "six x y", "...", "seven"])
    assert shares.dtype == np.float32
    assert shares[[0, 1, 2, 5]] == pytest.approx([0, 1, 1, 1])
    assert np.isnan(shares[4])


def test_text_labels_drop_matches_by_chance() -> None:
    gold = "the quick brown fox of old jumps over the lazy dog of mine"
    leaves = ["the list of links", "the quick brown fox of old jumps over the lazy dog of mine"]
    assert text_labels(gold, leaves) == pytest.approx([0, 1])
    # "of" alone is matched, and touches no other run
    assert text_labels("a b c d e of f g h i j", ["x of y", "a b c d"]) == pytest.approx([0, 1])


def test_text_labels_keep_a_passage_whole() -> None:
    # "one" and "two" of the menu come first, but belong to the passage
    shares = text_labels("one two three four five", ["one", "two", "x", "one two three four five"])
    assert shares == pytest.approx([0, 0, 0, 1])


def test_text_labels_find_moved_leaves_once() -> None:
    gold = "side note here and the long text goes on and on"
    leaves = ["the long text goes on and on", "side note here", "side note here"]
    assert text_labels(gold, leaves) == pytest.approx([1, 1, 0])
    # two words are too few to be looked for out of order
    assert text_labels(
        "side note the long text goes on", ["the long text goes on", "side note"]
    ) == (pytest.approx([1, 0]))


def test_text_labels_of_nothing() -> None:
    assert text_labels("gold", []).shape == (0,)
    assert text_labels("", ["a b"]) == pytest.approx([0])
    assert np.isnan(text_labels("", ["..."])).all()


@settings(deadline=None)
@given(WORDS, WORDS)
def test_text_labels_are_shares(gold: list[str], leaves: list[str]) -> None:
    shares = text_labels(" ".join(gold), leaves)
    assert shares.shape == (len(leaves),)
    known = shares[~np.isnan(shares)]
    assert ((known >= 0) & (known <= 1)).all()


@settings(deadline=None)
@given(WORDS)
def test_text_labels_of_the_same_text_are_one(leaves: list[str]) -> None:
    shares = text_labels(" ".join(leaves), leaves)
    assert set(shares[~np.isnan(shares)]) <= {1}


@cache
def cleaneval_labels() -> list[tuple[list[str], str, np.ndarray, np.ndarray]]:
    dataset = open_dataset("cleaneval", DATA)
    labelled = []
    for id in dataset.ids()[::12]:
        page = dataset.load(id)
        source, mask, gold = page.content.decode(), page.mask or "", page.gold or ""
        leaves = leaf_texts(source)
        by_mask, by_text = mask_labels(source, mask, leaves), text_labels(gold, leaves)
        labelled.append((leaves, gold, by_mask, by_text))
    return labelled


@needs_data
def test_cleaneval_leaves_are_found() -> None:
    shares = np.concatenate([by_mask for _, _, by_mask, _ in cleaneval_labels()])
    assert len(shares) > 10_000
    assert np.isnan(shares).mean() < 0.0005
    # The published alignment hardly ever splits a leaf.
    assert ((shares > 0.1) & (shares < 0.9)).mean() < 0.03


@needs_data
def test_text_labels_agree_with_the_published_alignment() -> None:
    by_mask = np.concatenate([by_mask for _, _, by_mask, _ in cleaneval_labels()])
    by_text = np.concatenate([by_text for _, _, _, by_text in cleaneval_labels()])
    known = ~np.isnan(by_mask) & ~np.isnan(by_text)
    assert ((by_mask > CONTENT) == (by_text > CONTENT))[known].mean() > 0.98


@needs_data
@pytest.mark.parametrize("kind", [2, 3])
def test_content_leaves_joined_are_the_gold(kind: int) -> None:
    scores = []
    for page in cleaneval_labels():
        leaves, gold, shares = page[0], page[1], page[kind]
        content = [leaf for leaf, share in zip(leaves, shares, strict=True) if share > CONTENT]
        scores.append(word_f1(" ".join(content), gold))
    assert np.mean(scores) > 0.98
