"""Calibration: what it does to probabilities, how it is fitted, and the bins that show it."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagesight.model.calibration import Calibration, log_odds
from pagesight.train.calibrate import Bin, expected_error, fit_calibration, reliability
from pagesight.train.metrics import BINS, calibration_error

Floats = npt.NDArray[np.floating]
Bools = npt.NDArray[np.bool_]

PROBABILITIES = st.lists(st.floats(0, 1, width=32), max_size=40).map(
    lambda values: np.array(values, np.float32)
)
CALIBRATIONS = st.builds(Calibration, st.floats(0.01, 100))


@st.composite
def labelled(draw: st.DrawFn) -> tuple[Floats, Bools]:
    probability = draw(PROBABILITIES)
    size = len(probability)
    return probability, np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)), bool)


def sample(truth: Calibration, blocks: int, seed: int) -> tuple[Floats, Bools]:
    """Probabilities of a model that `truth` would calibrate, with the labels that came."""
    random = np.random.default_rng(seed)
    told = random.beta(0.5, 0.8, blocks).astype(np.float32)
    return told, random.random(blocks) < truth.apply(told)


def held_loss(probability: Floats, gold: Bools, slope: float) -> float:
    """What a fit makes least: the sum over blocks, plus half the squared logarithm of the slope."""
    odds = slope * log_odds(probability)
    return float((np.logaddexp(0, odds) - gold * odds).sum() + math.log(slope) ** 2 / 2)


def nll(probability: Floats, gold: Bools) -> float:
    return float(-np.log(np.where(gold, probability, 1 - probability)).mean())


def test_a_factor_for_the_log_odds() -> None:
    # The odds of .8 are 4, of .5 are 1 and of .1 are 1/9; squared they are 16, 1 and 1/81.
    found = Calibration(slope=2).apply(np.array([0.8, 0.5, 0.1]))
    assert found.dtype == np.float32
    assert found.tolist() == pytest.approx([16 / 17, 1 / 2, 1 / 82])


def test_the_default_changes_nothing_but_the_ends() -> None:
    told = np.linspace(0, 1, 101)
    assert np.abs(Calibration().apply(told) - told).max() < 2e-6


@given(PROBABILITIES, CALIBRATIONS)
def test_order_and_labels_are_kept(told: Floats, calibration: Calibration) -> None:
    told = np.sort(told)
    found = calibration.apply(told)
    assert found.shape == told.shape
    assert (np.diff(found) >= 0).all()
    assert (found[told >= 0.5] >= 0.5).all()
    assert (found[told <= 0.5] <= 0.5).all()
    assert ((found >= 0) & (found <= 1)).all()


@pytest.mark.parametrize("slope", [1e-300, 1e308])
def test_nothing_overflows(slope: float) -> None:
    found = Calibration(slope).apply(np.array([0, 0.3, 0.5, 1]))
    wanted = [0.5] * 4 if slope < 1 else [0, 0, 0.5, 1]
    assert found.tolist() == wanted


def test_the_ends_have_finite_log_odds() -> None:
    odds = log_odds(np.array([0, 0.5, 1], np.float32))
    assert odds.tolist() == pytest.approx([-13.8155, 0, 13.8155], abs=1e-3)


@pytest.mark.parametrize("slope", [0, -1, math.nan, math.inf, -math.inf, "1", None])
def test_what_is_no_calibration(slope: float) -> None:
    with pytest.raises(ValueError, match="slope"):
        Calibration(slope)


@pytest.mark.parametrize("slope", [0.2, 0.5, 1, 1.8])
def test_a_known_calibration_is_found(slope: float) -> None:
    told, gold = sample(Calibration(slope), 60_000, seed=3)
    assert fit_calibration(told, gold).slope == pytest.approx(slope, rel=0.03)


def test_other_pages_gain() -> None:
    truth = Calibration(0.4)
    found = fit_calibration(*sample(truth, 5_000, seed=1))
    told, gold = sample(truth, 20_000, seed=2)
    assert nll(found.apply(told), gold) < nll(np.clip(told, 1e-6, 1 - 1e-6), gold) - 0.05
    assert calibration_error(found.apply(told), gold) < 0.02 < calibration_error(told, gold)


@given(labelled())
@settings(deadline=None)
def test_the_fit_is_the_least(pair: tuple[Floats, Bools]) -> None:
    """No neighbour has a lower held loss, nor has the identity."""
    slope = fit_calibration(*pair).slope
    least = held_loss(*pair, slope)
    for other in (slope * 0.99, slope * 1.01, 1.0):
        assert least <= held_loss(*pair, other) * (1 + 1e-9) + 1e-9


def test_a_fit_by_hand() -> None:
    """The odds are 9, and 3 of 4 are content: 9 ** .5 are the odds that hold."""
    gold = np.arange(40_000) % 4 > 0
    assert fit_calibration(np.full(40_000, 0.9), gold).slope == pytest.approx(0.5, abs=1e-3)
    assert fit_calibration(np.full(40_000, 0.1), ~gold).slope == pytest.approx(0.5, abs=1e-3)


def test_two_classes_wholly_apart_stay_bounded() -> None:
    """The slope s of 1000 times u / (1 + e ** u) = log(s), u = s log(1.5): between 19 and 20."""
    gold = np.arange(1000) % 2 == 0
    assert 19 < fit_calibration(np.where(gold, 0.6, 0.4), gold).slope < 20


def test_what_says_nothing_teaches_nothing() -> None:
    assert fit_calibration(np.zeros(0), np.zeros(0, bool)) == Calibration()
    assert fit_calibration(np.full(9, 0.5), np.arange(9) % 3 == 0) == Calibration()


@pytest.mark.parametrize("told", [0.0, 0.1, 0.9, 1.0])
def test_who_is_always_wrong_becomes_unsure(told: float) -> None:
    same = np.full(4000, told)
    found = fit_calibration(same, same < 0.5)
    assert 0 < found.slope < 0.01
    assert found.apply(same[:1])[0] == pytest.approx(0.5, abs=0.005)


def test_the_surer_the_more_wrong_keeps_the_order() -> None:
    told, gold = sample(Calibration(), 4000, seed=5)
    found = fit_calibration(told, ~gold)
    assert 0 < found.slope < 0.01
    assert (np.diff(found.apply(np.array([0.001, 0.2, 0.7, 0.999]))) > 0).all()


def test_what_cannot_be_fitted() -> None:
    told, gold = np.array([0.2, 0.9]), np.array([False, True])
    with pytest.raises(ValueError, match="need pairs"):
        fit_calibration(told, gold[:1])
    for wrong in (math.nan, 1.01, -0.1):
        with pytest.raises(ValueError, match="from 0 to 1"):
            fit_calibration(np.array([0.2, wrong]), gold)


def test_bins_worked_out_by_hand() -> None:
    told = np.array([0.0, 0.05, 0.5, 0.5, 1.0, 0.95])
    gold = np.array([True, False, True, False, True, True])
    assert reliability(told, gold) == (
        Bin(pytest.approx(0.025), 0.5, 2),
        Bin(0.5, 0.5, 2),
        Bin(pytest.approx(0.975), 1.0, 2),
    )
    assert expected_error(reliability(told, gold)) == pytest.approx((2 * 0.475 + 2 * 0.025) / 6)


@given(labelled())
def test_the_calibration_error_follows_from_the_bins(pair: tuple[Floats, Bools]) -> None:
    told, gold = pair
    bins = reliability(told, gold)
    assert sum(each.blocks for each in bins) == len(told)
    assert len(bins) <= BINS
    assert all(each.blocks > 0 for each in bins)
    assert all(a.probability < b.probability for a, b in pairwise(bins))
    assert sum(each.blocks * each.content for each in bins) == pytest.approx(gold.sum())
    if len(told):
        assert expected_error(bins) == pytest.approx(calibration_error(told, gold), abs=1e-6)


def test_no_blocks_have_no_bins() -> None:
    assert reliability(np.zeros(0), np.zeros(0, bool)) == ()
    assert math.isnan(expected_error(()))
    with pytest.raises(ValueError, match="need pairs"):
        reliability(np.zeros(2), np.zeros(1, bool))
