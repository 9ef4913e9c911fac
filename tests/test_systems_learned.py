from __future__ import annotations

import time

import pytest

from pagesight.app.systems.blocks import text_blocks
from pagesight.app.systems.dom import parse_html
from pagesight.app.systems.habr import Habr, is_listing
from pagesight.app.systems.protocol import StudyPage, System, TrainingPage
from pagesight.app.systems.victor import Victor, attributes
from pagesight.render.errors import ModelError

HARD = {
    "empty": "",
    "no tags": "just a line",
    "nested": "<div>x" * 20_000,
    "unclosed": "<b><i><p>x" * 5_000,
    "long": "<p>" + "word. " * 350_000,
    "many": "<div class=a>a b.</div>" * 20_000,
    "controls": "<p>a\x00b\x01c\x0bd\x1b\ufffee</p><p>\ud800</p>",
    "odd tags": "<a:b <1 c=>text</a:b><svg><div>in</svg>",
}


def extract(system: System, html: str) -> str:
    return system.extract(StudyPage(id="1", url="", html=html))


def page_of(number: int) -> TrainingPage:
    """Three links, and two sentences that are the content."""
    sentences = [
        f"This is sentence {part} of text {number}, and it says a thing or two." for part in "ab"
    ]
    links = "".join(f"<li><a href=x>Link {number}</a>" for _ in range(3))
    html = f"<ul>{links}</ul><p>{sentences[0]}</p><p>{sentences[1]}</p><p><b>Share</b></p>"
    return TrainingPage(StudyPage(id=str(number), url="", html=html), " ".join(sentences))


PAGES = [page_of(number) for number in range(12)]


@pytest.fixture(scope="module")
def state() -> bytes:
    return Victor().fit(PAGES)


@pytest.fixture(scope="module")
def victor(state: bytes) -> Victor:
    made = Victor()
    # a copy that nobody else keeps
    made.load(bytes(bytearray(state)))
    return made


def test_victor_learns_what_is_content(victor: Victor) -> None:
    unseen = page_of(77)
    assert extract(victor, unseen.page.html).replace("\n", " ") == unseen.gold


def test_victor_learns_the_same_from_the_same(state: bytes) -> None:
    assert Victor().fit(PAGES) == state
    assert Victor().fit(PAGES[:6]) != state


def test_victor_has_to_learn_first(state: bytes) -> None:
    with pytest.raises(ModelError, match="nothing learned"):
        extract(Victor(), "<p>a</p>")
    for damaged in (b"", b"no model at all", state[:-1], state + b"x"):
        with pytest.raises(ModelError, match=r"is damaged|not a model"):
            Victor().load(damaged)
    with pytest.raises(ModelError, match="not a model"):
        Victor().load(b"x" + state[1:])


def seen(html: str) -> list[set[str]]:
    blocks = text_blocks(parse_html(html))
    return [set(place) for place in attributes(blocks)]


def test_what_victor_sees_of_a_block() -> None:
    [place] = seen("<ul><li><i>Born (in) 1984, at 10:30.</i> <a href=x>More b2b</a></ul>")
    # 8 words, 2 of them in the link: 10 x 2 / 8 = 2.5, rounded to 2
    assert {"0|links=2", "0|in-list=True", "0|in-italic=False", "0|in-link=False"} <= place
    # Born ( in ) 1984 , at 10 : 30 . More b2b: 13 tokens, 3 of punctuation, 10 counted; by
    # letters 4, digits 3, mixed 1, other 2; counts go to the bins 1 2 3 5 8 13 ...
    assert {"0|tokens-letters=3", "0|tokens-letters-share=4"} <= place
    assert {"0|tokens-digits=3", "0|tokens-digits-share=3"} <= place
    assert {"0|tokens-mixed=1", "0|tokens-mixed-share=1"} <= place
    assert {"0|tokens-other=2", "0|tokens-other-share=2"} <= place
    # 10 counted / (3 + 1) = 2.5, rounded to 2
    assert "0|words-between-points=2" in place
    # the one full stop ends no text
    assert {"0|sentences=1", "0|sentence-begins=True", "0|sentence-ends=False"} <= place
    assert {"0|date=True", "0|time=True", "0|url=False", "0|twins=1"} <= place
    assert {"-1|outside", "3|outside"} <= place
    assert {"page-words=5", "page-blocks=1", "page-largest-cell=0", "position=0"} <= place


def test_what_victor_sees_of_a_page() -> None:
    places = seen(
        "<div><p>one two three.</p><p>Top</p></div><table><tr><td>a b<td>c</table><br><b>Top</b>"
    )
    assert len(places) == 5
    # 8 words; the div holds 4, the cells 2 and 1: shares of 10 x 4 / 8, 10 x 2 / 8, 10 x 1 / 8
    assert {"0|division=5", "0|cell=0", "page-largest-division=3"} <= places[0]
    assert {"0|division=0", "0|cell=2", "page-largest-cell=2"} <= places[2]
    assert {"0|cell=1", "-1|cell=2", "-3|division=5", "1|in-bold=True"} <= places[3]
    assert {"0|twins=2", "first-twin=True", "-1|sentence-ends=True", "-2|outside"} <= places[1]
    assert {"0|twins=2", "first-twin=False", "0|after-br", "position=8"} <= places[4]
    assert not any("4|" in feature for feature in places[0])


TEXT = "A sentence of the story. " * 20  # 500 characters, 20 stops


def test_habr_takes_what_stands_in_the_best_division() -> None:
    html = f"<div id=all>Menu<div id=story><p>{TEXT}</p>{TEXT}</div>below</div>"
    expected = f"{TEXT.strip()}\n{TEXT.strip()}"
    for system in (Habr(), Habr(length_only=True)):
        assert extract(system, html) == expected


def test_habr_length_is_the_length_of_the_text_alone() -> None:
    # 30 and 29 of at most 300 characters: from a tenth of it on a division is text
    html = f"<div>{'x' * 300}</div><div><a>{'y' * 30}</a></div><div>{'z' * 29}</div>"
    assert extract(Habr(length_only=True), html) == f"{'x' * 300}\n{'y' * 30}"
    # all of it is a link: its score is 0; so does the third drop, by the share of its tags
    assert extract(Habr(), html) == "x" * 300


@pytest.mark.parametrize(
    "worse",
    [
        pytest.param(f"<div><a href=x>{TEXT}</a></div>", id="links"),
        pytest.param("<div>" + "<b class=hollow></b>" * 2500 + TEXT + "</div>", id="markup"),
        pytest.param(f"<div>{TEXT.replace('.', ',')[:200]}</div>", id="short, without stops"),
    ],
)
def test_habr_signals(worse: str) -> None:
    # the rest of the page is three times as long
    best = f"<div>{TEXT} {TEXT} {TEXT}</div>"
    assert extract(Habr(), f"{worse}{best}") == f"{TEXT}{TEXT}{TEXT}".replace(".  ", ". ").strip()


def repeated(count: int, attribute: str) -> str:
    """`count` short divisions of different length in others that carry the attribute."""
    return "".join(
        f"<div {attribute.replace('#', str(number))}><div>{'c' * (40 + 11 * number)}.</div></div>"
        for number in range(count)
    )


def test_habr_demotes_what_is_repeated_by_the_count() -> None:
    # 2,500 characters with 100 stops: 2500 x 2499/2510 x (1 + ln 100) = 13,900, of it 1,390;
    # the longest of the rest, 40 + 11 x 19 + 1 = 250 characters: 250 x 250 / 261 = 239
    story = f"<div>{(TEXT * 5).strip()}</div>"
    assert extract(Habr(), repeated(20, "") + story) == (TEXT * 5).strip()


@pytest.mark.parametrize("attribute", ["class='b a'", "id=comment-#"])
def test_habr_demotes_signs_of_one_kind(attribute: str) -> None:
    # nearly as long as the best, and alone: kept; one of 20 of its kind: 1 + ln 20 = 4.0 times less
    long = "d" * 300
    story = f"<div>{'e' * 1000}</div>"
    lone = f"<div {attribute}><div>{long}</div></div>"
    assert extract(Habr(), lone + story) == f"{long}\n{'e' * 1000}"
    # 300 x 300/311 / 4.0 = 72, below a tenth of 1000 x 1000/1011 = 989
    assert extract(Habr(), lone + repeated(19, attribute) + story) == "e" * 1000
    # classes in another order are the same set; another number is the same id
    other = attribute.replace("b a", "a b").replace("#", "9999")
    many = repeated(19, attribute)
    assert extract(Habr(), f"<div {other}><div>{long}</div></div>{many}{story}") == "e" * 1000


def test_habr_demotes_many_of_one_length() -> None:
    rows = [chr(ord("a") + number) * 160 for number in range(8)]
    story = "e" * 1000
    html = f"<div>{story}</div>" + "".join(f"<div>{row}</div>" for row in rows)
    # 160 x 160/171 = 150 alone, above 99; as one of 8 alike divided by 1 + ln 8 = 3.1: 48
    assert extract(Habr(), html) == story
    assert extract(Habr(), f"<div>{story}</div><div>{rows[0]}</div>") == f"{story}\n{rows[0]}"


def test_pages_that_list_articles() -> None:
    article = f"<div>{TEXT * 3}</div><div><a href=x>next</a></div>"
    teasers = "".join(
        f"<div class=post><a href=x>{number} {'Title ' * 5}</a> {TEXT[:200]}</div>"
        for number in range(20)
    )
    assert not is_listing(article)
    assert is_listing(teasers)
    # links are no text of an article, and a page of links is none
    assert is_listing(f"<div><a href=x>{TEXT * 3}</a></div>")
    assert is_listing(article + f"<div><a href=x>{TEXT * 3}</a></div>")
    assert is_listing("")


@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("system", [Habr(), Habr(length_only=True)], ids=lambda system: system.name)
def test_hard_pages(system: System, name: str) -> None:
    start = time.process_time()
    text = extract(system, HARD[name])
    assert time.process_time() - start < 10
    assert bool(text) == bool(HARD[name])


@pytest.mark.parametrize("name", HARD)
def test_hard_pages_of_victor(victor: Victor, name: str) -> None:
    start = time.process_time()
    text = extract(victor, HARD[name])
    assert time.process_time() - start < 10
    assert len(text) <= len(HARD[name])
    training = Victor().fit([*PAGES, TrainingPage(StudyPage("h", "", HARD[name][:10_000]), "a")])
    assert training
