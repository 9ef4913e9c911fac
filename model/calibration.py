"""Probabilities made honest: of the blocks given .8, about 80 % shall be content."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

import numpy as np
import numpy.typing as npt

# The least probability, and the least counter-probability, that is told apart from none: log odds
# end at about -13.8 and 13.8.
_LEAST = 1e-6


@dataclass(frozen=True, slots=True)
class Calibration:
    """A line over log odds, as Platt (1999) fitted it to the scores of a classifier.

    A slope below 1 makes a model less sure of itself; 1 / slope is the temperature of Guo et al.
    (2017). The defaults change nothing. Raises ValueError for a slope that is not above 0, and for
    what is no finite number.
    """

    slope: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        for name, value in (("slope", self.slope), ("offset", self.offset)):
            if not (isinstance(value, int | float) and isfinite(value)):
                raise ValueError(f"the {name} of a calibration is {value!r}, no finite number")
        if self.slope <= 0:
            raise ValueError(f"the slope of a calibration is {self.slope}, not above 0")

    def apply(self, probability: npt.NDArray[np.floating]) -> npt.NDArray[np.float32]:
        """Calibrated probabilities [b] of probabilities [b] from 0 to 1, in the same order."""
        # A steep slope may carry the odds to infinity, where the probability is 0 or 1.
        with np.errstate(over="ignore"):
            odds = self.slope * log_odds(probability) + self.offset
        return np.exp(-np.logaddexp(0, -odds)).astype(np.float32)


def log_odds(probability: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """log(p / (1 - p)) of probabilities [b]; finite for 0 and 1 too, which are moved inwards."""
    bounded = np.clip(probability.astype(np.float64), _LEAST, 1 - _LEAST)
    return np.log(bounded) - np.log1p(-bounded)
