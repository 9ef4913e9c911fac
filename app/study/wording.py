"""How figures are printed in tables and charts."""

from __future__ import annotations

import math

from .result import Figure


def number_text(value: float, sign: bool = False) -> str:
    """A figure with three decimals: .847, 1.000, −.012; – for no number.

    >>> number_text(0.84651), number_text(0.0312, sign=True), number_text(float("nan"))
    ('.847', '+.031', '–')
    """
    if not math.isfinite(value):
        return "–"
    digits = f"{abs(value):.3f}".removeprefix("0")
    positive = "+" if sign else ""
    return digits if digits == ".000" else ("−" if value < 0 else positive) + digits


def interval_text(figure: Figure, sign: bool = False) -> str:
    """The ends of a figure's interval: .839–.855, or −.012 to +.050 where signs matter."""
    between = " to " if sign else "–"
    return f"{number_text(figure.low, sign)}{between}{number_text(figure.high, sign)}"


def time_text(seconds: float) -> str:
    """A time with three digits.

    >>> time_text(0.01234), time_text(4)
    ('12.3 ms', '4 s')
    """
    return f"{seconds * 1000:.3g} ms" if seconds < 0.9995 else f"{seconds:.3g} s"


def memory_text(count: int) -> str:
    """Bytes in whole megabytes.

    >>> memory_text(123_456_789)
    '123 MB'
    """
    return f"{count / 1e6:,.0f} MB"
