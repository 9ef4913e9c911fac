from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagesight.app.study.bootstrap import Bootstrap
from pagesight.app.study.retrieval import RETRIEVAL, Query, queries_of, retrieval_columns
from pagesight.data.records import PageRecord

TEXTS = {
    "zoo": "The zoo has a lion, a zebra and the LION's den.",
    "sea": "the sea, a shark",
    "empty": "",
    "den": "a den",
}
WORDS = {
    "zoo": "the zoo has a lion a zebra and the lion s den".split(),
    "sea": "the sea a shark".split(),
    "empty": [],
    "den": "a den".split(),
}
Score = Callable[[list[str], list[str], Mapping[str, list[str]]], float]


def bm25(query: list[str], text: list[str], all_texts: Mapping[str, list[str]]) -> float:
    mean = sum(map(len, all_texts.values())) / len(all_texts)
    score = 0.0
    for word in query:
        found = sum(word in other for other in all_texts.values())
        rarity = math.log(1 + (len(all_texts) - found + 0.5) / (found + 0.5))
        count = text.count(word)
        score += rarity * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * len(text) / mean))
    return score


def likelihood(query: list[str], text: list[str], all_texts: Mapping[str, list[str]]) -> float:
    everything = [word for other in all_texts.values() for word in other]
    return sum(
        math.log(text.count(word) + 2000 * everything.count(word) / len(everything))
        - math.log(len(text) + 2000)
        for word in query
        if word in everything
    )


def rank(score: Score, query: str, page: str, texts: Mapping[str, list[str]]) -> int:
    words = query.lower().split()
    scores = {name: score(words, text, texts) for name, text in texts.items()}
    return sum(other > scores[page] - 1e-9 for other in scores.values())


@pytest.mark.parametrize(("score", "column"), [(bm25, 0), (likelihood, 2)])
@pytest.mark.parametrize("query", ["lion", "the den", "a", "zebra shark", "a a den", "dragon sea"])
@pytest.mark.parametrize("page", TEXTS)
def test_ranks_are_those_of_the_formulas(score: Score, column: int, query: str, page: str) -> None:
    columns = retrieval_columns(TEXTS, [Query(page, query)])
    row = list(TEXTS).index(page)
    assert columns[row, column] == 1 / rank(score, query, page, WORDS)
    assert columns[row].tolist()[4] == 1
    assert np.delete(columns, row, axis=0).sum() == 0


def test_rank_by_hand() -> None:
    queries = [Query("zoo", "den"), Query("zoo", "lion"), Query("sea", "?a")]
    columns = retrieval_columns(TEXTS, queries)
    # zoo: "den" is 1 of the 2 words of `den` and 1 of the 12 of `zoo`, which is second. By
    # likelihood, with 2 of 18 words in all, (1 + 2000 x 2/18) / 2012 = .11095 is even less than
    # the .11111 of the empty text: third. "lion" is in `zoo` alone: first.
    assert columns[0] == pytest.approx([1 / 2 + 1, 2, 1 / 3 + 1, 2, 2])
    # sea: "a" is 1 of the 2 words of `den`, 1 of the 4 of `sea`, 2 of the 12 of `zoo`
    assert columns[1, :2].tolist() == [1 / 2, 1]
    assert columns[2:].sum() == 0
    sums = columns.sum(axis=0)
    assert RETRIEVAL["bm25_mrr"](sums) == pytest.approx(2 / 3)
    assert RETRIEVAL["bm25_recall10"](sums) == RETRIEVAL["ql_recall10"](sums) == 1


def test_ties_give_the_worst_rank() -> None:
    texts = {str(number): "same words" for number in range(11)} | {"other": "x"}
    columns = retrieval_columns(texts, [Query("3", "words"), Query("other", "words")])
    # eleven are equal, so that page 3 is 11th; the last of twelve is the one without the word
    assert columns[3].tolist() == [1 / 11, 0, 1 / 11, 0, 1]
    assert columns[11].tolist()[:2] == [1 / 12, 0]


@pytest.mark.parametrize("texts", [{"a": "", "b": ""}, {"a": "x", "b": "..."}])
def test_words_that_no_text_has(texts: dict[str, str]) -> None:
    columns = retrieval_columns(texts, [Query("a", "nowhere")])
    assert columns.tolist() == [[1 / 2, 1, 1 / 2, 1, 1], [0] * 5]


def test_no_queries() -> None:
    columns = retrieval_columns(TEXTS, [])
    assert columns.tolist() == [[0] * 5] * 4
    assert [of(columns.sum(axis=0)) for of in RETRIEVAL.values()] == [0, 0, 0, 0]
    with pytest.raises(KeyError):
        retrieval_columns(TEXTS, [Query("nowhere", "lion")])


PAGES = st.lists(st.text("ab c.é\n", max_size=8), min_size=1, max_size=5)


@settings(deadline=None)
@given(PAGES, st.text("abcdé ", min_size=1).filter(str.strip))
def test_any_texts(pages: list[str], query: str) -> None:
    texts = {str(number): text for number, text in enumerate(pages)}
    words = {page: text.replace(".", " ").lower().split() for page, text in texts.items()}
    columns = retrieval_columns(texts, [Query("0", query)])
    if any(words.values()):
        assert columns[0, 0] == 1 / rank(bm25, query, "0", words)
        assert columns[0, 2] == 1 / rank(likelihood, query, "0", words)
    else:
        assert columns[0, 0] == columns[0, 2] == 1 / len(pages)


def record(title: str | None = None, with_snippets: tuple[str, ...] = ()) -> PageRecord:
    gold = "\n ...\nFirst line\nsecond"
    return PageRecord("7", "", b"", "", gold, title=title, with_snippets=with_snippets)


def test_queries() -> None:
    def texts(page: PageRecord) -> list[str]:
        assert {query.page for query in queries_of(page)} <= {"7"}
        return [query.text for query in queries_of(page)]

    assert texts(record(title="A title", with_snippets=("one", "!", "two", "one"))) == [
        "A title",
        "one",
        "two",
    ]
    assert texts(record()) == texts(record(title=" - ")) == ["First line"]
    assert texts(PageRecord("7", "", b"", "", "")) == []


def test_a_data_set_takes_seconds() -> None:
    generator = np.random.default_rng(0)
    draws = generator.zipf(1.3, size=(1358, 400)) % 50_000
    texts = {str(page): " ".join(map(str, words)) for page, words in enumerate(draws.tolist())}
    queries = [
        Query(page, " ".join(text.split()[start : start + 12]))
        for page, text in texts.items()
        for start in range(0, 100, 10)
    ]
    start = time.process_time()
    columns = retrieval_columns(texts, queries)
    draws_of = Bootstrap(len(texts)).draw(columns)
    assert time.process_time() - start < 30
    assert columns[:, 4].sum() == 13_580
    figure = draws_of.figure(RETRIEVAL["bm25_mrr"])
    assert 0.5 < figure.low < figure.mean < figure.high < 1
