from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagesight.app.systems.block_frequency import BlockFrequency, inverse_frequency
from pagesight.app.systems.blocks import TextBlock, joined, text_blocks
from pagesight.app.systems.dom import parse_html
from pagesight.app.systems.protocol import StudyPage, System
from pagesight.app.systems.sitewise import SiteComparison

SYSTEMS: list[System] = [SiteComparison(), BlockFrequency()]

WORDS = " ".join(f"word{number}" for number in range(400))
HARD = {
    "empty": "",
    "no tags": "just a line",
    "nested": "<div>x" * 20_000,
    "unclosed": "<b><i><p>x" * 5_000,
    "long": "<p>" + "word " * 400_000,
    "few words": "".join(f"<p>{'a ' * (n % 97)}{'b ' * (n % 89)}" for n in range(8_633)),
    "controls": "<p>a\x00b\x01c\x0bd\x1b\ufffee</p><p>\ud800</p>",
    "odd tags": "<a:b <1 c=>text</a:b><svg><div>in</svg>",
}


def blocks(html: str) -> list[TextBlock]:
    return text_blocks(parse_html(html))


def extract(system: System, html: str, *siblings: str) -> str:
    return system.extract(StudyPage(id="1", url="", html=html, siblings=siblings))


def test_blocks_end_at_tags_of_block_level() -> None:
    found = blocks("<p>One <b>two</b>\n three<br>four</p>five<ul><li>six<li> </ul>")
    assert [block.text for block in found] == ["One two three", "four", "five", "six"]
    assert joined(found[:2]) == "One two three\nfour"


def test_unseen_text_is_in_no_block() -> None:
    found = blocks("<title>no</title><script>no</script><p>a<style>no</style>b</p>")
    assert [block.text for block in found] == ["ab"]


def test_what_is_told_of_a_block() -> None:
    heading, linked, mixed, cell = blocks(
        "<div><h2><b>Big news</b></h2><hr><ul><li><a href=x>All of it</a></ul></div>"
        "<p><a>A link</a> and more words<p><table><tr><td><img>1 2</table>"
    )
    assert heading.containers == {"h2", "b"}
    assert (heading.words, heading.linked) == (2, 0)
    assert linked.containers == {"ul", "li", "a"}
    assert linked.before == {"hr"}
    assert (linked.words, linked.linked) == (3, 3)
    # the link holds 2 of the 5 words, so that the block does not stand in it
    assert (mixed.words, mixed.linked) == (5, 2)
    assert mixed.containers == {"p"}
    assert mixed.before == {"p"}
    assert cell.before == {"p", "img"}
    assert cell.cell > 0
    assert mixed.cell == heading.cell == mixed.division == 0
    assert heading.division == linked.division > 0


def test_paths_are_of_block_level_tags() -> None:
    first, second, third = blocks("<p>a<p><i><b>b</b></i><div><p>c</div>")
    assert first.path == second.path != third.path


PAGE = "<ul><li>Home<li>News</ul><h1>Title one</h1><p>Story of the day.</p><div>(c) Us</div>"
OTHER = "<ul><li>Home<li>News</ul><h1>Title two</h1><p>Another story.</p><div>(c)  us</div>"


def test_what_other_pages_have_is_template() -> None:
    # Home, News and the last line are on both pages; white space and case do not count
    assert extract(SiteComparison(), PAGE, OTHER) == "Title one\nStory of the day."
    assert extract(SiteComparison(), OTHER, PAGE) == "Title two\nAnother story."


def test_the_same_text_elsewhere_in_the_tree_is_no_template() -> None:
    assert extract(SiteComparison(), "<p>Text</p>", "<div>Text</div>") == "Text"


def test_similar_blocks_are_template() -> None:
    # 10 words, 9 of them shared, each once: cosine = 9 / (sqrt(10) * sqrt(10)) = 0.9
    page = "<p>a b c d e f g h i x</p><p>one of its own</p>"
    assert extract(BlockFrequency(), page, "<div>a b c d e f g h i y</div>") == "one of its own"
    # 8 shared: 0.8
    assert "x" in extract(BlockFrequency(), page, "<div>a b c d e f g h y z</div>")
    # 3 a and 1 b against 1 a: cosine = 3 / sqrt(10) = 0.949
    assert extract(BlockFrequency(), "<p>a a a b</p>", "<p>A</p>") == ""
    # 2 a and 1 b against 1 a: 2 / sqrt(5) = 0.894
    assert extract(BlockFrequency(), "<p>a a b</p>", "<p>A</p>") == "a a b"


def test_any_sibling_makes_a_block_template() -> None:
    page = "<p>first text here</p><p>second text there</p><p>***</p><p>third</p>"
    siblings = "<p>first text here</p>", "<p>something else</p>", "<p>second text there</p>"
    assert extract(BlockFrequency(), page, *siblings) == "third"
    assert extract(SiteComparison(), page, *siblings) == "***\nthird"


def test_inverse_frequency() -> None:
    assert [inverse_frequency(pages) for pages in (0, 1, 3)] == [1, 0.5, 0.25]


@settings(deadline=None, max_examples=60)
@given(
    *[st.lists(st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=8), max_size=6)] * 2,
)
def test_block_frequency_is_that_of_all_pairs(
    page: list[list[str]], other: list[list[str]]
) -> None:
    def cosine(first: list[str], second: list[str]) -> float:
        product = sum(first.count(word) * second.count(word) for word in "abcdefg")
        squares = [sum(words.count(word) ** 2 for word in "abcdefg") for words in (first, second)]
        return product / (squares[0] * squares[1]) ** 0.5

    def html(texts: list[list[str]]) -> str:
        return "".join(f"<p>{' '.join(text)}</p>" for text in texts)

    expected = [
        " ".join(text) for text in page if all(cosine(text, there) < 0.9 - 1e-9 for there in other)
    ]
    if html(page) == html(other):
        expected = [" ".join(text) for text in page]
    assert extract(BlockFrequency(), html(page), html(other)) == "\n".join(expected)


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_siblings_that_say_nothing(system: System) -> None:
    everything = "Home\nNews\nTitle one\nStory of the day.\n(c) Us"
    assert extract(system, PAGE) == everything
    assert extract(system, PAGE, "", " \n", PAGE, PAGE) == everything
    assert extract(system, PAGE, "<p></p>", "<script>Home</script>") == everything
    assert extract(system, PAGE, "", PAGE, OTHER) == extract(system, PAGE, OTHER)


@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_hard_pages(system: System, name: str) -> None:
    html = HARD[name]
    start = time.process_time()
    text = extract(system, html, f"<p>{WORDS}</p>{html}", "<p>other</p>")
    assert time.process_time() - start < 10
    alone = extract(system, html, "<p>other</p>")
    assert text == "" or len(text) < len(alone)
    assert bool(alone) == bool(html)
