"""A study's charts, as SVG to stand inside an HTML page.

Drawn beforehand: the page then needs no chart library of about a megabyte and no `eval`. Colours
are the page's CSS variables, so that charts follow it into dark mode; what a mark says is in its
`aria-label`, for a screen reader and for the tooltips that the page makes of it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import isfinite

import altair as alt
import vl_convert

from .ranking import main_figure, main_pairs, ranked
from .result import Figure, StudyResult
from .scatter import scatter
from .wording import interval_text, number_text

# A matrix fills this width if its cells are then no wider than they may be; all in pixels.
_FULL, _WIDEST_CELL = 1040, 110
_CELL_HEIGHT, _SMALL_CELL_HEIGHT = 36, 26
# Upper bounds of the mean width of a character: of the small figures, of the names at the sides.
_SMALL_CHARACTER, _CHARACTER = 5.6, 7.0
_LONGEST_NAME = 190
# The room of a second line above the columns.
_SECOND_LINE = 18
# How strongly the least and the greatest value tint their cells.
_TINTS = (0.08, 0.5)
_ALL = "all pages"


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart: what it shows, how to read it, and the picture."""

    title: str
    note: str
    svg: str


@dataclass(frozen=True, slots=True)
class _Cell:
    """A cell of a matrix: `text` over the smaller `more`, on `colour` as strong as `weight`."""

    row: str
    column: str
    text: str
    more: str
    says: str
    colour: str
    weight: float
    ink: str = "var(--ink)"


def draw_charts(result: StudyResult) -> tuple[Chart, ...]:
    """The charts that a study has figures for."""
    drawn = (_by_time(result), _by_type(result), _differences(result), _agreement(result))
    return tuple(chart for chart in drawn if chart is not None)


def _by_time(result: StudyResult) -> Chart | None:
    timed = [
        (system.name, system.seconds, figure)
        for system in ranked(result)
        if system.seconds is not None and (figure := main_figure(result, system)) is not None
    ]
    if not timed:
        return None
    note = "Up is higher, left is faster. Whiskers are 95 % intervals."
    return Chart(f"{result.main} and time", note, _svg(scatter(timed, result.main)))


def _by_type(result: StudyResult) -> Chart | None:
    found: list[tuple[str, str, Figure]] = []
    for system in ranked(result):
        by_type = {kind: system.by_type.get(kind, {}).get(result.main) for kind in result.types}
        if any(by_type.values()):
            figures = {_ALL: main_figure(result, system), **by_type}
            shown = {kind: f for kind, f in figures.items() if f is not None and isfinite(f.mean)}
            found += [(system.name, kind, figure) for kind, figure in shown.items()]
    if not found:
        return None
    kinds = {kind for _, kind, _ in found}
    columns = [kind for kind in (_ALL, *result.types) if kind in kinds]
    heads = {kind: f"{kind}\n{count}" for kind, count in result.types.items()}
    heads[_ALL] = f"{_ALL}\n{result.pages}"
    means = [figure.mean for *_, figure in found]
    cells = [
        _Cell(
            row=name,
            column=heads[kind],
            text=number_text(figure.mean),
            more=interval_text(figure),
            says=f"{name}, {kind}: {number_text(figure.mean)} ({interval_text(figure)})",
            colour="var(--accent)",
            weight=_part(figure.mean, min(means), max(means)),
        )
        for name, kind, figure in found
    ]
    rows = list(dict.fromkeys(name for name, *_ in found))
    matrix = _matrix(cells, rows, [heads[kind] for kind in columns], angle=0)
    note = "Under each type its pages. The stronger a colour the higher. Small: 95 % intervals."
    return Chart(f"{result.main} by page type", note, _svg(matrix))


def _differences(result: StudyResult) -> Chart | None:
    pairs, order = main_pairs(result), [system.name for system in ranked(result)]
    if not pairs:
        return None
    most = max(abs(pair.difference.mean) for pair in pairs.values())
    cells = []
    for (first, second), pair in pairs.items():
        mean, interval = pair.difference.mean, interval_text(pair.difference, sign=True)
        good = "var(--good)" if mean > 0 else "var(--bad)"
        verdict = "" if pair.told_apart else ", not told apart"
        cells.append(
            _Cell(
                row=first,
                column=second,
                text=number_text(mean, sign=True),
                more=interval,
                says=f"{first} − {second}: {number_text(mean, True)} ({interval}){verdict}",
                colour=good if pair.told_apart else "var(--soft)",
                weight=_part(abs(mean), 0, most) if pair.told_apart else _TINTS[0],
                ink="var(--ink)" if pair.told_apart else "var(--soft)",
            )
        )
    note = "Row − column, the same pages. Grey: the 95 % interval includes 0, so neither is better."
    return Chart(
        f"Differences in {result.main}", note, _svg(_matrix(cells, order, order, angle=-35))
    )


def _agreement(result: StudyResult) -> Chart | None:
    names = [system.name for system in result.systems]
    found = [
        (first, second, value)
        for first, values in zip(names, result.agreement, strict=False)
        for second, value in zip(names, values, strict=True)
        if first != second and isfinite(value)
    ]
    if not found:
        return None
    low, high = (pick(value for *_, value in found) for pick in (min, max))
    cells = [
        _Cell(
            row=first,
            column=second,
            text=number_text(value),
            more="",
            says=f"{first} and {second}: {number_text(value)}",
            colour="var(--accent)",
            weight=_part(value, low, high),
        )
        for first, second, value in found
    ]
    note = "Word F1 between the texts of two systems, mean over pages. It says nothing of quality."
    return Chart("Agreement", note, _svg(_matrix(cells, names, names, angle=-35)))


def _part(value: float, low: float, high: float) -> float:
    """The tint of a value between the least and the greatest."""
    share = (value - low) / (high - low) if high > low else 0.5
    return _TINTS[0] + share * (_TINTS[1] - _TINTS[0])


def _matrix(
    cells: Sequence[_Cell], rows: Sequence[str], columns: Sequence[str], angle: int
) -> alt.LayerChart:
    """A grid of cells; small figures are left out, but for a tooltip, where they find no room."""
    width = min(_FULL / len(columns), _WIDEST_CELL)
    longest = max(len(cell.more) for cell in cells)
    shown = 0 < longest * _SMALL_CHARACTER < width
    # Not as `sort`, of which Vega makes code that some names break.
    x = (
        alt.X("column:N", title=None)
        .scale(domain=columns)
        .axis(
            orient="top",
            domain=False,
            labelAngle=angle,
            labelExpr="split(datum.label, '\\n')",
            labelPadding=_SECOND_LINE if any("\n" in column for column in columns) else 4,
        )
    )
    side = min(max(map(len, rows)) * _CHARACTER, _LONGEST_NAME)
    y = alt.Y("row:N", title=None).scale(domain=rows).axis(domain=False, minExtent=side)
    base = alt.Chart(alt.InlineData(values=[asdict(cell) for cell in cells])).encode(x=x, y=y)
    fill = base.mark_rect(stroke="var(--paper)", strokeWidth=2, cornerRadius=4).encode(
        fill=alt.Fill("colour:N", scale=None),
        fillOpacity=alt.FillOpacity("weight:Q", scale=None),
        description="says:N",
    )
    text = base.mark_text(aria=False, dy=-6 if shown else 0, fontSize=12)
    layers = [fill, text.encode(text="text:N", color=alt.Color("ink:N", scale=None))]
    if shown:
        small = base.mark_text(aria=False, dy=8, fontSize=10, color="var(--ink)", opacity=0.75)
        layers.append(small.encode(text="more:N"))
    height = _CELL_HEIGHT if shown else _SMALL_CELL_HEIGHT
    return alt.LayerChart(layer=layers).properties(width=alt.Step(width), height=alt.Step(height))


def _svg(chart: alt.LayerChart) -> str:
    axis = alt.AxisConfig(
        labelColor="var(--ink)",
        titleColor="var(--soft)",
        gridColor="var(--rule)",
        domainColor="var(--rule)",
        tickColor="var(--rule)",
        labelFontSize=11.5,
        titleFontSize=12,
        titleFontWeight="normal",
        labelLimit=_LONGEST_NAME,
    )
    view = alt.ViewConfig(stroke=None)
    styled = chart.configure(background="transparent", font="sans-serif", axis=axis, view=view)
    # Half of a surrogate pair, as a name may hold, has no bytes in UTF-8.
    spec = json.dumps(styled.to_dict(), ensure_ascii=False).encode("utf-8", "replace").decode()
    return vl_convert.vegalite_to_svg(spec)
