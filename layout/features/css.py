"""Computed styles as numbers, flags and colours, a property of all style rows at a time."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ...render.snapshot import STYLES, Snapshot

Bool = npt.NDArray[np.bool_]
Float64 = npt.NDArray[np.float64]
Int = npt.NDArray[np.intp]

_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?")
_LARGEST = 1e6  # of all numbers that are read: a style may say 1e999px
_BLACK = (0.0, 0.0, 0.0, 1.0)
_CLEAR = (0.0, 0.0, 0.0, 0.0)


class StyleTable:
    """The s style rows of a Snapshot and a last one without values, which row -1 stands for."""

    def __init__(self, snapshot: Snapshot) -> None:
        rows = np.append(snapshot.styles, np.full((1, len(STYLES)), -1), axis=0)
        numbers, which = np.unique(rows, return_inverse=True)
        self._values = [snapshot.strings[i] if i >= 0 else "" for i in numbers.tolist()]
        self._which: Int = which.reshape(rows.shape)  # [s + 1, len(STYLES)]

    def _map(self, name: str, convert: Callable[[str], Any]) -> npt.NDArray[Any]:
        """What each row's value of a property converts to, [s + 1, ..]."""
        which = self._which[:, STYLES.index(name)]
        used = np.flatnonzero(np.bincount(which))
        position = np.zeros(len(self._values), np.intp)
        position[used] = np.arange(len(used))
        return np.array([convert(self._values[i]) for i in used.tolist()])[position[which]]

    def test(self, name: str, holds: Callable[[str], bool]) -> Bool:
        """Whether a property's value passes a test, [s + 1]."""
        return self._map(name, holds)

    def equals(self, name: str, *wanted: str) -> Bool:
        """Whether a property has one of the values, [s + 1]."""
        chosen = np.fromiter((value in wanted for value in self._values), bool, len(self._values))
        return chosen[self._which[:, STYLES.index(name)]]

    def number(self, name: str, default: float = 0.0) -> Float64:
        """The first number of a property, [s + 1]; the default where it has none."""
        return self._map(name, lambda value: _first_number(value, default))

    def colour(self, name: str) -> Float64:
        """Red, green, blue and alpha from 0 to 1, [s + 1, 4]; see `read_colour`."""
        return self._map(name, read_colour)

    def kinds(self, *names: str) -> Int:
        """A number for each row, the same for rows that agree in all of the properties, [s + 1]."""
        columns = self._which[:, [STYLES.index(name) for name in names]].tolist()
        numbers: dict[tuple[int, ...], int] = {}
        kinds = [numbers.setdefault(tuple(row), len(numbers)) for row in columns]
        return np.array(kinds, np.intp)


def _first_number(text: str, default: float) -> float:
    match = _NUMBER.search(text)
    return min(max(float(match[0]), -_LARGEST), _LARGEST) if match else default


def read_colour(text: str) -> tuple[float, float, float, float]:
    """Red, green, blue and alpha, 0 to 1, of a computed CSS colour.

    Of lab(), lch(), oklab() and oklch() only the lightness is read, so that they come out grey.
    No value is a clear colour, one of an unknown kind black.
    """
    kind, _, rest = text.partition("(")
    if kind == "color":
        _, _, rest = rest.partition(" ")  # the name of the colour space may hold a digit
    channels, _, after = rest.partition("/")
    numbers = [float(number) for number in _NUMBER.findall(channels)]
    if len(numbers) < 3:
        return _BLACK if text else _CLEAR
    alpha = _first_number(after, 1.0) if after else numbers[3] if len(numbers) > 3 else 1.0
    if kind in ("rgb", "rgba"):
        red, green, blue = (number / 255 for number in numbers[:3])
    elif kind == "color":
        red, green, blue = numbers[:3]
    elif kind in ("oklab", "oklch"):
        red = green = blue = _encoded(_bounded(numbers[0]) ** 3)
    elif kind in ("lab", "lch"):
        red = green = blue = _encoded(((_bounded(numbers[0] / 100) * 100 + 16) / 116) ** 3)
    else:
        return _BLACK
    return (_bounded(red), _bounded(green), _bounded(blue), _bounded(alpha))


def _bounded(value: float) -> float:
    return min(max(value, 0.0), 1.0)


def _encoded(linear: float) -> float:
    """The sRGB value of a grey of this luminance."""
    return 12.92 * linear if linear <= 0.0031308 else 1.055 * linear ** (1 / 2.4) - 0.055


def luminance(colour: Float64) -> Float64:
    """The relative luminance of [.., 3] sRGB colours: WCAG 2.2 (W3C 2023), section 6, terms."""
    linear = np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)
    return np.asarray(linear @ np.array([0.2126, 0.7152, 0.0722]), np.float64)


def contrast_ratio(colour: Float64, ground: Float64) -> Float64:
    """1 to 21, of [.., 3] colours on others: WCAG 2.2 (W3C 2023), success criterion 1.4.3."""
    one, other = luminance(colour), luminance(ground)
    return (np.maximum(one, other) + 0.05) / (np.minimum(one, other) + 0.05)
