from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import _create_ngrams, _score_ngrams

from pagesight.train.ngrams import (
    ShingleShares,
    jieba_tokens,
    shingle_shares,
    webmainbench_f1,
)

TEXTS = st.text("ab c.\n#+T&é-5%", max_size=30)


@pytest.mark.parametrize(
    ("predicted", "reference", "expected"),
    [
        ("a, b; c d!", "a b c d", (1, 0, 0)),
        # 1 of 2 shingles of the prediction is in the reference, which has 3: 1, 1 and 2 of 4
        ("x a b c d", "a b c d e f", (1 / 4, 1 / 4, 2 / 4)),
        # case counts
        ("A b c d", "a b c d", (0, 1 / 2, 1 / 2)),
        # multisets: aaaa stands twice in the prediction, once in the reference
        ("a a a a a", "a a a a", (1 / 2, 1 / 2, 0)),
        # fewer than four words are one shingle
        ("a b", "a b", (1, 0, 0)),
        ("a b", "a b c", (0, 1 / 2, 1 / 2)),
        ("", "a b c d e", (0, 0, 1)),
        ("a", "...", (0, 1, 0)),
        ("", "", (0, 0, 0)),
    ],
)
def test_shingle_shares(
    predicted: str, reference: str, expected: tuple[float, float, float]
) -> None:
    assert shingle_shares(predicted, reference) == ShingleShares(*expected)


@given(TEXTS, TEXTS)
def test_shares_sum_to_one(predicted: str, reference: str) -> None:
    shares = shingle_shares(predicted, reference)
    total = shares.both + shares.extra + shares.missed
    words = any(character.isalnum() for character in predicted + reference)
    assert total == pytest.approx(1 if words else 0)
    swapped = shingle_shares(reference, predicted)
    assert (swapped.both, swapped.extra) == (shares.both, shares.missed)


# What jieba 0.42.1 gives.
@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The cat, twice", ["The", " ", "cat", ",", " ", "twice"]),
        ("a  b\r\n\tc", ["a", " ", " ", "b", "\r\n", "\t", "c"]),
        ("v1.25 is 30% up...", ["v1.25", " ", "is", " ", "30%", " ", "up", "..."]),
        ("abc++ C# x#", ["ab", "c++", " ", "C#", " ", "x", "#"]),
        ("AT&T's R&D", ["AT&T", "'", "s", " ", "R", "&", "D"]),
        ("naïve_x--y", ["na", "ï", "ve", "_", "x", "--", "y"]),
        ("a.b 1.5.6%%", ["a", ".", "b", " ", "1.5", ".", "6%", "%"]),
        ("", []),
    ],
)
def test_jieba_tokens(text: str, tokens: list[str]) -> None:
    assert jieba_tokens(text) == tokens


def test_chinese_characters_are_tokens() -> None:
    assert jieba_tokens("新闻ab网") == ["新", "闻", "ab", "网"]


@pytest.mark.parametrize(
    ("predicted", "reference", "expected"),
    [
        # 5 tokens, one 5-gram each
        ("a b c", "a b c", 1),
        # tokens of the reference: a _ b _ c _ d, three 5-grams, the first of which was given
        ("a b c", "a b c d", 2 * 1 / (1 + 3)),
        # white space counts: the line break is in both 5-grams of the reference
        ("a b c!", "a\nb c!", 0),
        ("A b c", "a b c", 0),
        # four tokens make no 5-gram
        ("a b ", "a b ", 0),
        ("", "a b c", 0),
        (" \n", "", 1),
    ],
)
def test_webmainbench_f1(predicted: str, reference: str, expected: float) -> None:
    assert webmainbench_f1(predicted, reference) == pytest.approx(expected)


@given(TEXTS, TEXTS.filter(str.strip))
def test_webmainbench_is_rouge_five(predicted: str, reference: str) -> None:
    grams = [_create_ngrams(jieba_tokens(text), 5) for text in (reference, predicted)]
    assert all(isinstance(counts, Counter) for counts in grams)
    expected = _score_ngrams(*grams).fmeasure
    assert webmainbench_f1(predicted, reference) == pytest.approx(expected)
