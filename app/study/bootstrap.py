"""Intervals of figures, and of differences between systems, by drawing pages anew.

A figure is a function of the sums of a few columns over the pages. Pages are drawn with
replacement (Efron 1979), as many as there are, so a round is a row of weights: how often each page
was drawn. All rounds together are one matrix product.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ...train.metrics import Difference
from .result import Figure

ROUNDS = 10_000
PERCENTILES = (2.5, 97.5)

_BATCH = 500

Float64 = npt.NDArray[np.float64]

Statistic: TypeAlias = Callable[[Float64], Float64]
"""From sums of columns [..., k] to a figure [...]."""


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """The columns of one system, summed over all pages [k] and over those of each round [r, k]."""

    sums: Float64
    drawn: Float64

    def figure(self, of: Statistic) -> Figure:
        """A figure over all pages, with its 95 % percentile interval."""
        return _interval(of(self.sums), of(self.drawn))

    def difference(self, other: Draws, of: Statistic) -> Difference:
        """A figure less the other system's; the pages are paired, as both have the same draws."""
        return _interval(of(self.sums) - of(other.sums), of(self.drawn) - of(other.drawn))


class Bootstrap:
    """The draws of one study: the same pages for all its systems and metrics.

    Holds a byte for each page and round. Raises ValueError where there is no page.
    """

    def __init__(self, pages: int, seed: int = 0) -> None:
        if pages < 1:
            raise ValueError("no page to draw")
        generator = np.random.default_rng(seed)
        # In batches [500, p] to bound the memory. A page is drawn once a round in the mean, so
        # that a byte is plenty.
        self._weights = [_draws(generator, pages, _BATCH) for _ in range(ROUNDS // _BATCH)]
        self._pages = pages

    def draw(self, columns: Float64) -> Draws:
        """Sum the columns [pages, k] of one system. Raises ValueError for other than `pages`."""
        if len(columns) != self._pages:
            raise ValueError(f"{len(columns)} pages, but {self._pages} are drawn")
        drawn = [weights.astype(np.float64) @ columns for weights in self._weights]
        return Draws(columns.sum(axis=0), np.concatenate(drawn))


def share(part: int, whole: int) -> Statistic:
    """A column's sum as a share of another's; 0 of nothing."""
    return lambda sums: _ratio(sums[..., part], sums[..., whole])


def mean(total: int, pages: int) -> Statistic:
    """A column's mean over the pages that another column counts; NaN over none."""
    return lambda sums: _ratio(sums[..., total], sums[..., pages], np.nan)


def pooled_f1(hits: int, given: int, wanted: int) -> Statistic:
    """F1 of counts: of the hits, of what was given, and of what was wanted; 0 of nothing."""
    return lambda sums: _ratio(2 * sums[..., hits], sums[..., given] + sums[..., wanted])


def harmonic_mean(first: Statistic, second: Statistic) -> Statistic:
    """The harmonic mean of two figures; 0 where both are 0."""

    def of(sums: Float64) -> Float64:
        one, other = first(sums), second(sums)
        return _ratio(2 * one * other, one + other)

    return of


def _ratio(part: Float64, whole: Float64, of_nothing: float = 0.0) -> Float64:
    # Weighted sums of nothing are exact zeros.
    return np.divide(part, whole, out=np.full(np.shape(part), of_nothing), where=whole != 0)


def _draws(generator: np.random.Generator, pages: int, rounds: int) -> npt.NDArray[np.uint8]:
    drawn = generator.integers(pages, size=(rounds, pages))
    cells = drawn + pages * np.arange(rounds)[:, None]
    counts = np.bincount(cells.ravel(), minlength=rounds * pages)
    return counts.astype(np.uint8).reshape(rounds, pages)


def _interval(value: Float64, drawn: Float64) -> Figure:
    if np.isnan(value):
        return Figure(float("nan"), float("nan"), float("nan"))
    # A draw may have none of the few pages that a figure is of.
    low, high = np.nanpercentile(drawn, PERCENTILES)
    return Figure(float(value), float(low), float(high))
