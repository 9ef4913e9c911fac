import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score import rouge_scorer

from pagesight.train.metrics import (
    BlockScores,
    block_scores,
    calibration_error,
    rouge_lsum,
    snippet_share,
    word_f1,
)

TEXTS = st.lists(st.sampled_from([*"aabcdef.", ". ", " ", "b b b"]), max_size=40).map("".join)


def bools(digits: str) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.array([digit == "1" for digit in digits], np.bool_)


def test_block_scores() -> None:
    scores = block_scores(gold=bools("11100000"), predicted=bools("11010000"))
    assert scores == BlockScores(accuracy=6 / 8, precision=2 / 3, recall=2 / 3, f1=2 / 3)
    scores = block_scores(gold=bools("1111"), predicted=bools("1000"))
    assert scores == BlockScores(accuracy=0.25, precision=1, recall=0.25, f1=0.4)


def test_block_scores_of_nothing() -> None:
    assert block_scores(bools("00"), bools("00")) == BlockScores(1, 0, 0, 0)
    with pytest.raises(ValueError, match="need pairs"):
        block_scores(bools(""), bools(""))
    with pytest.raises(ValueError, match="need pairs"):
        block_scores(bools("1"), bools("10"))


@pytest.mark.parametrize(
    ("predicted", "reference", "expected"),
    [
        ("a b", "A, B!", 1),
        ("a a b", "a b b", 2 / 3),
        ("a", "a a a", 0.5),
        ("x", "y", 0),
        ("", "y", 0),
        ("", "", 1),
        ("...", " ", 1),
        ("x", "", 0),
        ("naïve it_s", "naïve", 2 / 3),
    ],
)
def test_word_f1(predicted: str, reference: str, expected: float) -> None:
    assert word_f1(predicted, reference) == pytest.approx(expected)


def test_snippet_share() -> None:
    assert snippet_share("Some Text here", ["some text", "HERE", "no", "text  here"]) == 0.5
    assert math.isnan(snippet_share("text", []))


@pytest.mark.parametrize(
    ("predicted", "reference", "expected"),
    [
        ("the cat sat.", "the cat sat.", 1),
        ("the cat", "the cat sat on", 2 * 2 / 6),
        # the union over both sentences, in whatever order they come
        ("d e f. a b c.", "a b c. d e f.", 1),
        ("a b. c d.", "a b. x c d.", 2 * 4 / 9),
        # a token counts as often as both texts have it
        ("a. a. a.", "a.", 2 / 4),
        ("A b", "a b", 2 / 4),
        ("", "a", 0),
        ("a", "", 0),
        ("", " ", 1),
    ],
)
def test_rouge_lsum(predicted: str, reference: str, expected: float) -> None:
    assert rouge_lsum(predicted, reference) == pytest.approx(expected)


class WhiteSpace:
    def tokenize(self, text: str) -> list[str]:
        return text.split()


@settings(deadline=None)
@given(TEXTS, TEXTS.filter(str.strip))
def test_rouge_lsum_is_that_of_rouge_score(predicted: str, reference: str) -> None:
    scorer = rouge_scorer.RougeScorer(["rougeLsum"], tokenizer=WhiteSpace())
    lines = [
        "\n".join(" ".join(part.split()) for part in re.split(r"(?<=[.?!])\s+", text))
        for text in (reference, predicted)
    ]
    expected = scorer.score(*lines)["rougeLsum"].fmeasure
    assert rouge_lsum(predicted, reference) == pytest.approx(expected, abs=1e-12)


def test_calibration_error() -> None:
    # one bin: 0.9 is promised, 3 of 4 hold
    assert calibration_error(np.full(4, 0.9), bools("1110")) == pytest.approx(0.15)
    # two bins of different size: 1 x |0.1 - 0| and 3 x |1 - 2/3|
    probabilities = np.array([0.1, 1.0, 1.0, 1.0])
    assert calibration_error(probabilities, bools("0110")) == pytest.approx((0.1 + 1) / 4)
    assert calibration_error(np.array([0.0, 1.0]), bools("01")) == 0
    with pytest.raises(ValueError, match="need pairs"):
        calibration_error(np.array([]), bools(""))


def test_calibration_bins_are_fifteen() -> None:
    # 0.06 and 0.07 fall on two sides of 1/15, so that their errors do not cancel
    assert calibration_error(np.array([0.06, 0.07]), bools("01")) == pytest.approx(0.495)
    assert calibration_error(np.array([0.061, 0.065]), bools("01")) == pytest.approx(0.437)
