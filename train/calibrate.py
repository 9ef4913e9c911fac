"""How honest probabilities are, and the calibration that makes them so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..model.calibration import Calibration, log_odds
from .metrics import BINS

Float64 = npt.NDArray[np.float64]

# Order must be kept: blocks of which the surer are less often content are all given much the same.
_LEAST_SLOPE = 0.01
# How strongly the identity holds the fit, in blocks: two classes that are wholly told apart, or
# probabilities that are all the same, have a finite answer then.
_HOLD = 1.0
_MOST_STEPS, _MOST_HALVINGS = 50, 40
_SMALL_STEP = 1e-9


@dataclass(frozen=True, slots=True)
class Bin:
    """The blocks of one range of probabilities.

    probability: their mean probability. content: the share of them that is content. blocks: how
    many they are.
    """

    probability: float
    content: float
    blocks: int


def fit_calibration(
    probability: npt.NDArray[np.floating],
    gold: npt.NDArray[np.bool_],
    weight: npt.NDArray[np.floating] | None = None,
) -> Calibration:
    """The calibration under which the labels of held-out blocks [b] are the likeliest.

    Platt's logistic regression of the labels on the log odds (1999), by Newton's method with
    halved steps, held to the identity as by one block. The identity itself where there are not
    blocks of both kinds. `weight` [b] says how much a block counts, by default all the same.
    Raises ValueError for lengths that differ, and for values that are no probability or weight.
    """
    weights = np.ones(len(gold)) if weight is None else weight.astype(np.float64)
    if not probability.shape == gold.shape == weights.shape:
        raise ValueError(f"need pairs, got {probability.shape}, {gold.shape}, {weights.shape}")
    if not ((probability >= 0) & (probability <= 1)).all():
        raise ValueError("a probability is not from 0 to 1")
    if not ((weights >= 0) & np.isfinite(weights)).all():
        raise ValueError("a weight is negative or no finite number")
    counted = weights > 0
    labels = gold[counted].astype(np.float64)
    if labels.all() or not labels.any():
        return Calibration()
    weights = weights[counted] / weights.max()
    weights /= weights.mean()
    odds = log_odds(probability[counted])
    slope, offset = _newton(odds, labels, weights, np.array([1.0, 0.0]), free=slice(0, 2))
    if slope < _LEAST_SLOPE:
        start = np.array([_LEAST_SLOPE, offset])
        slope, offset = _newton(odds, labels, weights, start, free=slice(1, 2))
    return Calibration(float(slope), float(offset))


def _newton(odds: Float64, labels: Float64, weights: Float64, at: Float64, free: slice) -> Float64:
    """The (slope, offset) [2] of the least loss, of which only those in `free` move."""
    design = np.stack([odds, np.ones_like(odds)])  # [2, b]
    loss = _loss(design, labels, weights, at)
    for _ in range(_MOST_STEPS):
        content = np.exp(-np.logaddexp(0, -(at @ design)))  # [b]
        gradient = design @ (weights * (content - labels)) + _HOLD * (at - [1, 0])
        curvature = (design * (weights * content * (1 - content))) @ design.T + _HOLD * np.eye(2)
        step = np.zeros(2)
        step[free] = np.linalg.solve(curvature[free, free], gradient[free])
        for _ in range(_MOST_HALVINGS):
            if (lower := _loss(design, labels, weights, at - step)) < loss:
                break
            step /= 2
        else:
            return at  # no step goes down any more
        at, loss = at - step, lower
        if np.abs(step).max() < _SMALL_STEP:
            break
    return at


def _loss(design: Float64, labels: Float64, weights: Float64, at: Float64) -> float:
    odds = at @ design
    held = _HOLD / 2 * ((at - [1, 0]) ** 2).sum()
    return float(weights @ (np.logaddexp(0, odds) - labels * odds) + held)


def reliability(
    probability: npt.NDArray[np.floating], gold: npt.NDArray[np.bool_]
) -> tuple[Bin, ...]:
    """The bins of `metrics.calibration_error` over [b] blocks, without those that are empty.

    A reliability diagram shows them (Niculescu-Mizil and Caruana 2005). Raises ValueError if the
    lengths differ.
    """
    if probability.shape != gold.shape:
        raise ValueError(f"need pairs, got shapes {probability.shape} and {gold.shape}")
    bins = np.minimum((probability * BINS).astype(np.int64), BINS - 1)
    blocks = np.bincount(bins, minlength=BINS)
    promised = np.bincount(bins, probability, BINS)
    held = np.bincount(bins, gold, BINS)
    return tuple(
        Bin(float(promised[i] / blocks[i]), float(held[i] / blocks[i]), int(blocks[i]))
        for i in np.flatnonzero(blocks)
    )


def expected_error(bins: Sequence[Bin]) -> float:
    """The expected calibration error that bins stand for, NaN without bins (Naeini 2015)."""
    blocks = sum(each.blocks for each in bins)
    gaps = sum(each.blocks * abs(each.probability - each.content) for each in bins)
    return gaps / blocks if blocks else float("nan")
