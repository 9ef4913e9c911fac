"""How lengths, counts and shares become columns of about -1 to +1."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]

_SMALLEST_SHARE = 1e-4


def log_count(count: Float64, scale: float) -> Float64:
    """log(1 + count) / scale, of counts and lengths from 0 on."""
    return np.log1p(np.maximum(count, 0)) / scale


def signed_log(distance: Float64) -> Float64:
    """The logarithm of a distance with its sign: 0 at 0, 1 at about 20, where it is cut."""
    return np.clip(np.sign(distance) * np.log1p(np.abs(distance)) / 3, -1, 1)


def log_share(share: Float64) -> Float64:
    """A share by its powers of ten: 1 is 1, 0.01 is 0.5, up to 0.0001 is 0."""
    return np.log10(np.clip(share, _SMALLEST_SHARE, 1)) / 4 + 1


def weighted_median(value: Float64, weight: Float64) -> float:
    """The value below and above which half of the weight lies; there must be one value."""
    order = np.argsort(value, kind="stable")
    running = np.cumsum(weight[order])
    return float(value[order][np.searchsorted(running, running[-1] / 2)])


def heaviest(kind: npt.NDArray[np.intp], weight: Float64) -> int:
    """The kind, from 0 on, with the largest sum of weights."""
    return int(np.bincount(kind, weights=weight).argmax())
