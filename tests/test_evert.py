import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import LCSseq

from pagesight.train import evert
from pagesight.train.evert import WordCounts, evert_counts

WORDS = st.lists(st.sampled_from("abcde"), max_size=30).map(" ".join)


@pytest.mark.parametrize(
    ("predicted", "reference", "expected"),
    [
        # "on the mat", the longest run, then "the cat" to its left; title and "sat" are missed
        ("the cat on the mat", "<h>Title\n<p>the cat sat on the mat", (5, 5, 7)),
        ("a b", "a b", (2, 2, 2)),
        ("A b,", "a b", (0, 2, 2)),
        # the run "a b c" is the longest; what crosses it is lost, though p q r s would be four
        ("p q r s a b c", "a b c p x q x r x s", (3, 7, 10)),
        # equal runs: the first of the text is taken, and its first place in the gold
        ("x y", "y x", (1, 2, 2)),
        ("", "a", (0, 0, 1)),
        ("a", " \n", (0, 1, 0)),
    ],
)
def test_alignment(predicted: str, reference: str, expected: tuple[int, int, int]) -> None:
    assert evert_counts(predicted, reference) == WordCounts(*expected)


def test_marks() -> None:
    text, gold = "<p>a b<l>c", "<h>a\nb <l> d"
    # words of their own, whatever they say: | a b | c and | a b | d, of which "| a b |" is in both
    assert evert_counts(text, gold, marks=True) == WordCounts(4, 5, 5)
    assert evert_counts(text, gold) == WordCounts(2, 3, 3)
    assert evert_counts("<P>a", "<p>a", marks=True) == WordCounts(2, 2, 2)
    # other tags are text
    assert evert_counts("<b>a", "a") == WordCounts(0, 1, 1)


def test_words() -> None:
    # lines that begin with URL are dropped, any control character parts words, no other space does
    assert evert_counts("URL: http://a.com/\n\n \tURLs b\nan URL", "") == WordCounts(0, 2, 0)
    assert evert_counts("a\x01b\tc\N{NO-BREAK SPACE}d", "") == WordCounts(0, 3, 0)


def test_common_words_of_a_long_gold_match_only_beside_others() -> None:
    rare = [f"w{number}" for number in range(197)]
    assert evert_counts("the", " ".join([*rare, *["the"] * 3])).matched == 1
    # four of 200 are more than 1 % and one
    assert evert_counts("the", " ".join([*rare[:196], *["the"] * 4])).matched == 0
    assert evert_counts("w195 the", " ".join([*rare[:196], *["the"] * 4])).matched == 2
    assert evert_counts("the", " ".join([*rare[:195], *["the"] * 4])).matched == 1


def test_f1() -> None:
    assert WordCounts(5, 5, 7).f1 == 10 / 12
    assert (WordCounts(0, 0, 3).f1, WordCounts(0, 0, 0).f1) == (0, 1)


@given(WORDS, WORDS)
def test_matches_at_most_the_longest_common_subsequence(predicted: str, reference: str) -> None:
    counts = evert_counts(predicted, reference)
    best = LCSseq.similarity(predicted.split(), reference.split())
    assert min(best, 1) <= counts.matched <= best


def test_texts_that_share_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = ("p q r s a b c", "a b c p x q x r x s")
    # seven pairs of equal words
    monkeypatch.setattr(evert, "MOST_PAIRS", 7)
    assert evert_counts(*pair).matched == 3
    monkeypatch.setattr(evert, "MOST_PAIRS", 6)
    assert evert_counts(*pair).matched == 4


@pytest.mark.timeout(30)
def test_no_text_takes_hours() -> None:
    generator = random.Random(0)
    vocabulary = [f"w{number}" for number in range(220)]
    text, gold = (" ".join(generator.choices(vocabulary, k=size)) for size in (60_000, 20_000))
    assert evert_counts(text, gold).matched > 2_000
    assert evert_counts("\n" * 3_000_000, "\n\nURL" * 300_000) == WordCounts(0, 0, 0)
