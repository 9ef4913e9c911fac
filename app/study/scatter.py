"""The chart of quality against time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import altair as alt

from .labels import Box, Point, place_labels
from .result import Figure
from .wording import interval_text, number_text, time_text

_WIDTH, _HEIGHT = 1080, 400
# What is faster was not measured well; a logarithm needs more than 0.
_LEAST_SECONDS = 1e-4
_TIME_LABEL = (
    "datum.value < 1 ? format(datum.value * 1000, '~g') + ' ms' : format(datum.value, '~g') + ' s'"
)


def scatter(systems: Sequence[tuple[str, float, Figure]], title: str) -> alt.LayerChart:
    """Systems, at least one, as (name, seconds a page, figure): names beside points with whiskers.

    Names that come first choose their places first.
    """
    timed = [(name, max(seconds, _LEAST_SECONDS), figure) for name, seconds, figure in systems]
    seconds = [time for _, time, _ in timed]
    times = (min(seconds) / 1.6, max(seconds) * 1.6)
    low, high = min(f.low for *_, f in timed), max(f.high for *_, f in timed)
    margin = 0.06 * (high - low) or 0.05
    values = (low - margin, high + margin)
    return _layers(_placed(timed, times, values), title, times, values)


def _placed(
    timed: Sequence[tuple[str, float, Figure]],
    times: tuple[float, float],
    values: tuple[float, float],
) -> list[dict[str, Any]]:
    """A row for each system, with where its name goes in pixels."""

    def at(time: float, value: float) -> Point:
        across = math.log(time / times[0]) / math.log(times[1] / times[0])
        return Point(across * _WIDTH, (values[1] - value) / (values[1] - values[0]) * _HEIGHT)

    whiskers = [Box.around(at(time, f.high), at(time, f.low)) for _, time, f in timed]
    points = [(name, at(time, f.mean)) for name, time, f in timed]
    labels = place_labels(points, whiskers, _WIDTH, _HEIGHT)
    return [
        {
            "name": name,
            "time": time,
            **asdict(f),
            **asdict(label),
            "says": f"{name}: {number_text(f.mean)} ({interval_text(f)}), {time_text(time)}",
        }
        for (name, time, f), label in zip(timed, labels, strict=True)
    ]


def _layers(
    rows: list[dict[str, Any]], title: str, times: tuple[float, float], values: tuple[float, float]
) -> alt.LayerChart:
    data = alt.InlineData(values=rows)
    x = alt.X("time:Q", title="time a page").scale(type="log", domain=times, nice=False)
    x = x.axis(values=_ticks(*times), labelExpr=_TIME_LABEL, grid=False)
    scale = alt.Scale(domain=values, nice=False, zero=False)
    y = alt.Y("mean:Q", title=title).scale(scale).axis(format=".2f", tickCount=6)
    base = alt.Chart(data).encode(x=x, description="says:N")
    whisker = base.mark_rule(color="var(--accent)", opacity=0.5, strokeWidth=1.5)
    dot = base.mark_point(filled=True, size=60, opacity=1, color="var(--accent)")
    name = alt.Chart(data).mark_text(
        aria=False, baseline="middle", align=alt.ExprRef("datum.align"), color="var(--ink)"
    )
    places = {side: alt.value(alt.ExprRef(f"datum.{side}")) for side in "xy"}
    layers = [
        whisker.encode(y=alt.Y("low:Q").scale(scale), y2="high:Q"),
        dot.encode(y=y),
        name.encode(text="name:N", **places),
    ]
    return alt.LayerChart(layer=layers).properties(width=_WIDTH, height=_HEIGHT)


def _ticks(low: float, high: float) -> list[float]:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    every = [step * 10.0**decade for decade in decades for step in (1, 3)]
    return [tick for tick in every if low <= tick <= high]
