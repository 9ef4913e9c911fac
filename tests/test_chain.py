"""The chain against brute force over every sequence of labels."""

from __future__ import annotations

import itertools
import math
import time

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagesight.model.chain import marginals, viterbi

Array = npt.NDArray[np.float64]


def potentials(values: st.SearchStrategy[float]) -> st.SearchStrategy[tuple[Array, Array]]:
    """[b, 2] and [b - 1, 2, 2] for b of 1 to 8."""

    def chain(size: int) -> st.SearchStrategy[tuple[Array, Array]]:
        count = 2 * size + 4 * (size - 1)
        numbers = st.lists(values, min_size=count, max_size=count).map(np.array)
        return numbers.map(
            lambda n: (n[: 2 * size].reshape(-1, 2), n[2 * size :].reshape(-1, 2, 2))
        )

    return st.integers(1, 8).flatmap(chain)


SMOOTH = potentials(st.integers(-600, 600).map(lambda number: number / 128))
EXTREME = potentials(st.sampled_from([-1000.0, -1.0, 0.0, 1.0, 1000.0]))


def score(labels: tuple[int, ...], unary: Array, pairwise: Array) -> float:
    steps = itertools.pairwise(labels)
    return math.fsum(
        [*(unary[i, label] for i, label in enumerate(labels))]
        + [pairwise[i, a, b] for i, (a, b) in enumerate(steps)]
    )


def all_scores(unary: Array, pairwise: Array) -> dict[tuple[int, ...], float]:
    paths = itertools.product((0, 1), repeat=len(unary))
    return {labels: score(labels, unary, pairwise) for labels in paths}


def log_sum(values: list[float]) -> float:
    high = max(values)
    return high + math.log(math.fsum(math.exp(value - high) for value in values))


@given(st.one_of(SMOOTH, EXTREME))
@settings(max_examples=150, deadline=None)
def test_against_all_sequences(chain: tuple[Array, Array]) -> None:
    unary, pairwise = chain
    scores = all_scores(unary, pairwise)
    best = tuple(viterbi(unary, pairwise).tolist())
    assert {*best} <= {0, 1}
    assert scores[best] == pytest.approx(max(scores.values()), abs=1e-9)
    found = marginals(unary, pairwise)
    assert found.shape == (len(unary),)
    total = log_sum([*scores.values()])
    for i, probability in enumerate(found.tolist()):
        ones = log_sum([value for labels, value in scores.items() if labels[i]])
        assert probability == pytest.approx(math.exp(ones - total), abs=1e-9)


@given(SMOOTH)
@settings(max_examples=60, deadline=None)
def test_the_same_backwards(chain: tuple[Array, Array]) -> None:
    unary, pairwise = chain
    turned = pairwise[::-1].transpose(0, 2, 1)
    np.testing.assert_allclose(marginals(unary[::-1], turned)[::-1], marginals(unary, pairwise))


@given(SMOOTH)
@settings(max_examples=60, deadline=None)
def test_without_the_pairs_each_block_decides_alone(chain: tuple[Array, Array]) -> None:
    unary, pairwise = chain
    odds = unary[:, 1] - unary[:, 0]
    assert viterbi(unary, 0 * pairwise).tolist() == (odds > 0).astype(int).tolist()
    np.testing.assert_allclose(marginals(unary, 0 * pairwise), 1 / (1 + np.exp(-odds)))


@given(SMOOTH, st.floats(-500, 500))
@settings(max_examples=60, deadline=None)
def test_what_is_added_to_both_labels_does_not_count(
    chain: tuple[Array, Array], shift: float
) -> None:
    unary, pairwise = chain
    np.testing.assert_allclose(
        marginals(unary + shift, pairwise - shift), marginals(unary, pairwise), atol=1e-9
    )


def test_ties_are_no_content() -> None:
    assert viterbi(np.zeros((4, 2)), np.zeros((3, 2, 2))).tolist() == [0, 0, 0, 0]
    assert marginals(np.zeros((4, 2)), np.zeros((3, 2, 2))).tolist() == [0.5] * 4


def test_no_block_and_one() -> None:
    nothing = np.zeros((0, 2, 2))
    assert (
        viterbi(np.zeros((0, 2)), nothing).shape
        == marginals(np.zeros((0, 2)), nothing).shape
        == (0,)
    )
    for odds, label in ((2.0, 1), (-2.0, 0)):
        unary = np.array([[0.0, odds]], np.float32)
        assert viterbi(unary, nothing).tolist() == [label]
        assert marginals(unary, nothing).tolist() == pytest.approx([1 / (1 + math.exp(-odds))])


def test_neighbours_outvote_a_block() -> None:
    unary = np.array([[0.0, 2.0], [1.0, 0.0], [0.0, 2.0]])
    alike = np.array([[1.0, -1.0], [-1.0, 1.0]])
    assert viterbi(unary, np.stack([alike, alike])).tolist() == [1, 1, 1]
    assert viterbi(unary, np.stack([-alike, -alike])).tolist() == [1, 0, 1]
    # A pair (label, next label): only from 0 to 1 is favoured, never from 1 to 0.
    one_way = np.array([[[0.0, 9.0], [0.0, 0.0]]])
    assert viterbi(np.zeros((2, 2)), one_way).tolist() == [0, 1]


@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_long_chains(scale: float) -> None:
    rng = np.random.default_rng(0)
    unary = rng.normal(0, scale, (5000, 2)).astype(np.float32)
    pairwise = rng.normal(0, scale, (4999, 2, 2)).astype(np.float32)
    began = time.process_time()
    labels, probability = viterbi(unary, pairwise), marginals(unary, pairwise)
    assert time.process_time() - began < 4
    assert labels.shape == probability.shape == (5000,)
    assert np.isfinite(probability).all()
    assert ((probability >= 0) & (probability <= 1)).all()
    assert ((probability > 0.5) == labels)[np.abs(probability - 0.5) > 0.49].mean() > 0.95


def test_lengths_that_do_not_fit() -> None:
    for function in (viterbi, marginals):
        with pytest.raises(ValueError, match="zip"):
            function(np.zeros((3, 2)), np.zeros((3, 2, 2)))
