"""Probabilities made honest: of the blocks given .8, about 80 % shall be content."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

# The least probability, and the least counter-probability, that is told apart from none: log odds
# end at about -13.8 and 13.8.
_LEAST = 1e-6


@dataclass(frozen=True, slots=True)
class Calibration:
    """A factor for log odds: 1 / slope is the temperature of Guo et al. (2017).

    A slope below 1 makes a model less sure of itself; labels stay what they are, since one half
    stays one half. Raises ValueError for a slope that is no finite number above 0.
    """

    slope: float = 1.0

    def __post_init__(self) -> None:
        if not (isinstance(self.slope, int | float) and 0 < self.slope <= sys.float_info.max):
            raise ValueError(f"the slope of a calibration is {self.slope!r}, no number above 0")

    def apply(self, probability: npt.NDArray[np.floating]) -> npt.NDArray[np.float32]:
        """Calibrated probabilities [b] of probabilities [b] from 0 to 1, in the same order."""
        # A steep slope may carry the odds to infinity, where the probability is 0 or 1.
        with np.errstate(over="ignore"):
            odds = self.slope * log_odds(probability)
        return np.exp(-np.logaddexp(0, -odds)).astype(np.float32)


def log_odds(probability: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """log(p / (1 - p)) of probabilities [b]; finite for 0 and 1 too, which are moved inwards."""
    bounded = np.clip(probability.astype(np.float64), _LEAST, 1 - _LEAST)
    return np.log(bounded) - np.log1p(-bounded)
