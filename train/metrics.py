"""Scores of labels, texts and probabilities, each as its benchmark defines it."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .rouge import rouge_lsum

__all__ = ["BlockScores", "Difference", "block_scores", "calibration_error", "rouge_lsum"]
__all__ += ["snippet_share", "word_f1"]

BINS = 15

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class BlockScores:
    """How well blocks were told apart; content is the positive class."""

    accuracy: float
    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class Difference:
    """A figure, or how far two are apart, over all pages (`mean`), with its 95 % interval."""

    mean: float
    low: float
    high: float


def block_scores(gold: npt.NDArray[np.bool_], predicted: npt.NDArray[np.bool_]) -> BlockScores:
    """Web2Text's block metrics over [b] blocks, of all test pages together, unweighted.

    A share of nothing is 0. Raises ValueError if the lengths differ or there is no block.
    """
    _require_pairs(gold, predicted)
    hits = int((gold & predicted).sum())
    given, wanted = int(predicted.sum()), int(gold.sum())
    return BlockScores(
        accuracy=float((gold == predicted).mean()),
        precision=hits / given if given else 0.0,
        recall=hits / wanted if wanted else 0.0,
        f1=2 * hits / (given + wanted) if given + wanted else 0.0,
    )


def word_f1(predicted: str, reference: str) -> float:
    r"""WCXB's F1 of one page: bags of `\w+` of the lower-cased texts.

    For a reference without words: 1 if nothing was predicted, else 0.

    >>> word_f1("The cat sat", "the cat, the mat")
    0.5714285714285714
    """
    given, wanted = _bag(predicted), _bag(reference)
    if not wanted or not given:
        return float(not wanted and not given)
    return 2 * (given & wanted).total() / (given.total() + wanted.total())


def snippet_share(text: str, snippets: Sequence[str]) -> float:
    """WCXB's share of the snippets that are in a text, case ignored; NaN without snippets."""
    lowered = text.lower()
    if not snippets:
        return float("nan")
    return sum(snippet.lower() in lowered for snippet in snippets) / len(snippets)


def calibration_error(
    probabilities: npt.NDArray[np.floating], gold: npt.NDArray[np.bool_]
) -> float:
    """Expected calibration error of P(content) over [b] blocks, with 15 bins of equal width.

    Mean over blocks of the distance, in the block's bin, of the mean probability to the share of
    content (Naeini 2015). Raises ValueError if the lengths differ or there is no block.
    """
    _require_pairs(probabilities, gold)
    bins = np.minimum((probabilities * BINS).astype(np.int64), BINS - 1)
    # [15] what each bin promises beyond what it holds, in blocks
    excess = np.bincount(bins, weights=probabilities - gold, minlength=BINS)
    return float(np.abs(excess).sum() / len(gold))


def _bag(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text.lower()))


def _require_pairs(
    first: npt.NDArray[np.bool_ | np.floating], second: npt.NDArray[np.bool_ | np.floating]
) -> None:
    if first.shape != second.shape or not first.size:
        raise ValueError(f"need pairs, got shapes {first.shape} and {second.shape}")
