"""The table of a study's report: a row a system, a column a metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from string import ascii_lowercase

from .ranking import letter_groups, main_figure, ranked, top_group
from .result import Figure, StudyResult, SystemResult
from .wording import interval_text, memory_text, number_text, time_text

_MOST_FAILURES = 10


@dataclass(frozen=True, slots=True)
class Whisker:
    """An interval in percent of its column's range: where it begins and ends, and its mean."""

    low: float
    high: float
    mean: float


@dataclass(frozen=True, slots=True)
class Cell:
    """What a cell shows, and the value that it is sorted by, None for nothing."""

    text: str = "–"
    value: float | None = None
    interval: str = ""
    whisker: Whisker | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One system; `top`: whether it is the best or cannot be told apart from it."""

    name: str
    version: str
    top: bool
    letters: tuple[str, ...]
    metrics: tuple[Cell, ...]
    errors: int
    failures: str
    time: Cell
    memory: Cell


def metric_names(result: StudyResult) -> tuple[str, ...]:
    """All metrics, the main one first."""
    every = dict.fromkeys(metric for system in result.systems for metric in system.figures)
    return tuple(sorted(every, key=lambda metric: metric != result.main))


def table_rows(result: StudyResult) -> tuple[Row, ...]:
    """The rows by the main metric, best first, with a cell for each of `metric_names`."""
    top, groups, metrics = top_group(result), letter_groups(result), metric_names(result)
    columns = [_column(result, metric) for metric in metrics]
    return tuple(
        Row(
            name=system.name,
            version=system.version,
            top=system.name in top,
            letters=tuple(map(_letter, groups.get(system.name, ()))),
            metrics=tuple(column[system.name] for column in columns),
            errors=system.errors,
            failures=_failures(system),
            time=_time(system.seconds),
            memory=_memory(system.memory),
        )
        for system in ranked(result)
    )


def summary(result: StudyResult) -> str:
    """What the study found, in a sentence or two, "" where it has no figures."""
    order = ranked(result)
    if not order or (figure := main_figure(result, order[0])) is None:
        return ""
    found = f"{order[0].name} has the highest {result.main}: {number_text(figure.mean)}"
    found += f" ({interval_text(figure)})."
    if not (top := top_group(result)):
        return found
    if len(top) == 1:
        return f"{found} It is told apart from every other system."
    return f"{found} It cannot be told apart from {_listed(top[1:])}."


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _column(result: StudyResult, metric: str) -> Mapping[str, Cell]:
    """The cells of a metric by system, their whiskers on the range of all that are there."""
    figures = {
        system.name: figure
        for system in result.systems
        if (figure := system.figures.get(metric)) is not None and isfinite(figure.mean)
    }
    low = min((figure.low for figure in figures.values()), default=0.0)
    span = max((figure.high for figure in figures.values()), default=0.0) - low
    empty = {system.name: Cell() for system in result.systems}
    return empty | {name: _figure(figure, low, span) for name, figure in figures.items()}


def _figure(figure: Figure, low: float, span: float) -> Cell:
    ends = (figure.low, figure.high, figure.mean)
    places = [round(100 * (value - low) / span, 2) if span else 50.0 for value in ends]
    return Cell(number_text(figure.mean), figure.mean, interval_text(figure), Whisker(*places))


def _time(seconds: float | None) -> Cell:
    return Cell() if seconds is None else Cell(time_text(seconds), seconds)


def _memory(count: int | None) -> Cell:
    return Cell() if count is None else Cell(memory_text(count), count)


def _failures(system: SystemResult) -> str:
    """The first pages that failed and why, a line each."""
    lines = [f"{page}: {why}" for page, why in system.failures.items()]
    more = len(lines) - _MOST_FAILURES
    return "\n".join(lines[:_MOST_FAILURES] + ([f"and {more} more"] if more > 0 else []))


def _letter(group: int) -> str:
    """a, b, ..., z, aa, bb, ..."""
    again, place = divmod(group, len(ascii_lowercase))
    return ascii_lowercase[place] * (again + 1)
