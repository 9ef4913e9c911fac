"""How honest probabilities are, and the calibration that makes them so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..model.calibration import Calibration, log_odds
from .metrics import BINS

Float64 = npt.NDArray[np.float64]

# How strongly the identity holds the fit, in blocks: two classes that are wholly told apart, or
# probabilities that are all the same, have a finite answer then.
_HOLD = 1.0
_MOST_STEPS = 100
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
    probability: npt.NDArray[np.floating], gold: npt.NDArray[np.bool_]
) -> Calibration:
    """The slope under which the labels of held-out blocks [b] are the likeliest.

    Temperature scaling (Guo et al. 2017), by Newton's method with halved steps on the logarithm of
    the slope, held to the identity as by one block. Raises ValueError for lengths that differ, and
    for what is no probability.
    """
    if probability.shape != gold.shape:
        raise ValueError(f"need pairs, got {probability.shape} and {gold.shape}")
    if not ((probability >= 0) & (probability <= 1)).all():
        raise ValueError("a probability is not from 0 to 1")
    margin = np.where(gold, 1, -1) * log_odds(probability)  # [b] of the right label
    at, loss = 0.0, _loss(margin, 0.0)
    for _ in range(_MOST_STEPS):
        slope = np.exp(at)
        wrong = np.exp(-np.logaddexp(0, slope * margin))  # [b]
        pull = -slope * (wrong * margin).sum()
        gradient = pull + _HOLD * at
        curvature = slope**2 * (wrong * (1 - wrong) * margin**2).sum() + max(pull, 0) + _HOLD
        step = float(np.clip(gradient / curvature, -1, 1))
        while abs(step) > _SMALL_STEP and _loss(margin, at - step) > loss:
            step /= 2
        if abs(step) <= _SMALL_STEP:
            break
        at -= step
        loss = _loss(margin, at)
    return Calibration(float(np.exp(at)))


def _loss(margin: Float64, at: float) -> float:
    return float(np.logaddexp(0, -np.exp(at) * margin).sum() + _HOLD / 2 * at**2)


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
