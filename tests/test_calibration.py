"""Calibration: what it does to probabilities, how it is fitted, and the bins that show it."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagesight.model.calibration import Calibration, log_odds
from pagesight.train.calibrate import Bin, expected_error, fit_calibration, reliability
from pagesight.train.metrics import BINS, calibration_error

Floats = npt.NDArray[np.floating]
Bools = npt.NDArray[np.bool_]

PROBABILITIES = st.lists(st.floats(0, 1, width=32), max_size=40).map(
    lambda values: np.array(values, np.float32)
)
CALIBRATIONS = st.builds(Calibration, st.floats(0.01, 100), st.floats(-50, 50))


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


def nll(probability: Floats, gold: Bools) -> float:
    return float(-np.log(np.where(gold, probability, 1 - probability)).mean())


def test_a_line_over_the_log_odds() -> None:
    # The odds of .8 are 4 and of .5 are 1; squared and doubled they are 32 and 2.
    found = Calibration(slope=2, offset=math.log(2)).apply(np.array([0.8, 0.5]))
    assert found.dtype == np.float32
    assert found.tolist() == pytest.approx([32 / 33, 2 / 3])


def test_the_default_changes_nothing_but_the_ends() -> None:
    told = np.linspace(0, 1, 101)
    assert np.abs(Calibration().apply(told) - told).max() < 2e-6


@given(PROBABILITIES, CALIBRATIONS)
def test_order_is_kept_and_all_is_a_probability(told: Floats, calibration: Calibration) -> None:
    found = calibration.apply(np.sort(told))
    assert found.shape == told.shape
    assert (np.diff(found) >= 0).all()
    assert ((found >= 0) & (found <= 1)).all()


@pytest.mark.parametrize("slope", [1e-300, 1e308])
@pytest.mark.parametrize("offset", [-1e308, 0, 1e308])
def test_nothing_overflows(slope: float, offset: float) -> None:
    found = Calibration(slope, offset).apply(np.array([0, 0.3, 0.5, 1]))
    assert np.isfinite(found).all()
    assert (np.diff(found) >= 0).all()


def test_the_ends_have_finite_log_odds() -> None:
    odds = log_odds(np.array([0, 0.5, 1], np.float32))
    assert odds.tolist() == pytest.approx([-13.8155, 0, 13.8155], abs=1e-3)


@pytest.mark.parametrize(
    ("slope", "offset", "named"),
    [
        (0, 0, "slope"),
        (-1, 0, "slope"),
        (math.nan, 0, "slope"),
        (math.inf, 0, "slope"),
        (1, -math.inf, "offset"),
        (1, math.nan, "offset"),
        (1, "0", "offset"),
        (None, 0, "slope"),
    ],
)
def test_what_is_no_calibration(slope: float, offset: float, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        Calibration(slope, offset)


@pytest.mark.parametrize(
    "truth", [Calibration(0.5, -0.7), Calibration(1.8, 0.4), Calibration(1, 0), Calibration(0.2, 2)]
)
def test_a_known_calibration_is_found(truth: Calibration) -> None:
    told, gold = sample(truth, 60_000, seed=3)
    found = fit_calibration(told, gold)
    assert (found.slope, found.offset) == pytest.approx((truth.slope, truth.offset), abs=0.04)


def test_other_pages_gain() -> None:
    truth = Calibration(0.5, -0.7)
    found = fit_calibration(*sample(truth, 5_000, seed=1))
    told, gold = sample(truth, 20_000, seed=2)
    assert nll(found.apply(told), gold) < nll(np.clip(told, 1e-6, 1 - 1e-6), gold) - 0.05
    assert calibration_error(found.apply(told), gold) < 0.02 < calibration_error(told, gold)


@given(labelled())
def test_fitting_never_fails_and_never_loses(pair: tuple[Floats, Bools]) -> None:
    told, gold = pair
    found = fit_calibration(told, gold)
    odds = log_odds(told)

    def loss(slope: float, offset: float) -> float:
        line = slope * odds + offset
        return float((np.logaddexp(0, line) - gold * line).sum())

    assert found.slope > 0
    assert loss(found.slope, found.offset) <= loss(1, 0) * (1 + 1e-9) + 1e-9


@given(labelled())
def test_the_fit_is_the_least(pair: tuple[Floats, Bools]) -> None:
    """No neighbour has a lower held loss: the sum over blocks plus half the squared distance."""
    told, gold = pair
    found, odds = fit_calibration(told, gold), log_odds(told)
    if gold.all() or not gold.any():
        assert found == Calibration()
        return

    def loss(slope: float, offset: float) -> float:
        line = slope * odds + offset
        likely = (np.logaddexp(0, line) - gold * line).sum()
        return float(likely + ((slope - 1) ** 2 + offset**2) / 2)

    least = loss(found.slope, found.offset)
    for slope, offset in ((0.01, 0), (-0.01, 0), (0, 0.01), (0, -0.01)):
        if found.slope + slope >= 0.01:
            assert loss(found.slope + slope, found.offset + offset) >= least - 1e-9


def test_two_classes_wholly_apart_stay_bounded() -> None:
    gold = np.arange(1000) % 2 == 0
    found = fit_calibration(np.where(gold, 0.6, 0.4), gold)
    assert 5 < found.slope < 50
    assert abs(found.offset) < 1e-6


def test_one_class_or_none_teaches_nothing() -> None:
    told = np.array([0.2, 0.9])
    for gold in (np.array([True, True]), np.array([False, False])):
        assert fit_calibration(told, gold) == Calibration()
    assert fit_calibration(np.zeros(0), np.zeros(0, bool)) == Calibration()
    assert fit_calibration(told, np.array([True, False]), np.array([1.0, 0.0])) == Calibration()


def test_probabilities_that_are_all_the_same_become_the_share() -> None:
    gold = np.arange(4000) % 4 == 0
    for told in (0.0, 0.5, 0.9, 1.0):
        same = np.full(4000, told)
        assert fit_calibration(same, gold).apply(same[:1])[0] == pytest.approx(0.25, abs=0.005)


def test_the_surer_the_more_wrong_keeps_the_order() -> None:
    told, gold = sample(Calibration(1, 0), 4000, seed=5)
    found = fit_calibration(told, ~gold)
    assert found.slope == pytest.approx(0.01)
    assert found.apply(told).mean() == pytest.approx((~gold).mean(), abs=0.01)


def test_a_weight_counts_blocks() -> None:
    told, gold = sample(Calibration(0.6, 0.5), 3000, seed=4)
    weight = np.arange(3000) % 4  # the same as so many copies, up to the hold
    weighted = fit_calibration(told, gold, weight.astype(float))
    copied = fit_calibration(np.repeat(told, weight), np.repeat(gold, weight))
    assert weighted.slope == pytest.approx(copied.slope, abs=1e-3)
    assert weighted.offset == pytest.approx(copied.offset, abs=1e-3)
    scaled = fit_calibration(told, gold, weight * 1e200)
    assert scaled.slope == pytest.approx(weighted.slope)


def test_what_cannot_be_fitted() -> None:
    told, gold = np.array([0.2, 0.9]), np.array([False, True])
    with pytest.raises(ValueError, match="need pairs"):
        fit_calibration(told, gold[:1])
    with pytest.raises(ValueError, match="need pairs"):
        fit_calibration(told, gold, np.ones(3))
    for wrong in (math.nan, 1.01, -0.1):
        with pytest.raises(ValueError, match="from 0 to 1"):
            fit_calibration(np.array([0.2, wrong]), gold)
    for wrong in (math.nan, math.inf, -1):
        with pytest.raises(ValueError, match="weight"):
            fit_calibration(told, gold, np.array([1, wrong]))


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
