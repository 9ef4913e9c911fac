"""Which systems a study can tell apart, and so what order may be claimed."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from math import isfinite

from ...train.metrics import Difference
from .result import Figure, Pair, StudyResult, SystemResult


def ranked(result: StudyResult) -> tuple[SystemResult, ...]:
    """The systems by their main figure, best first; those without one last, as given."""

    def place(system: SystemResult) -> tuple[bool, float]:
        figure = main_figure(result, system)
        return (True, 0.0) if figure is None else (False, -figure.mean)

    return tuple(sorted(result.systems, key=place))


def main_figure(result: StudyResult, system: SystemResult) -> Figure | None:
    """A system's figure by the study's main metric; None where it has none."""
    figure = system.figures.get(result.main)
    # A figure of no page is no number.
    return figure if figure is not None and isfinite(figure.mean) else None


def main_pairs(result: StudyResult) -> dict[tuple[str, str], Pair]:
    """The differences in the main metric by (first, second), each in both directions."""
    found: dict[tuple[str, str], Pair] = {}
    for pair in result.pairs:
        if (pair.metric, pair.page_type) == (result.main, "") and isfinite(pair.difference.mean):
            given = pair.difference
            back = Difference(-given.mean, -given.high, -given.low)
            found[pair.first, pair.second] = pair
            found[pair.second, pair.first] = Pair(pair.metric, pair.second, pair.first, back)
    return found


def top_group(result: StudyResult) -> tuple[str, ...]:
    """The best system and those that cannot be told apart from it; () where nothing was paired."""
    pairs, order = main_pairs(result), ranked(result)
    if not pairs:
        return ()
    best = order[0].name
    return (best, *(s.name for s in order[1:] if not _apart(pairs, best, s.name)))


def letter_groups(result: StudyResult) -> dict[str, tuple[int, ...]]:
    """For each system the groups it is in; two systems share one if they cannot be told apart.

    The letter display of all pairwise comparisons (Piepho 2004), as a cover of the pairs that are
    not told apart by maximal groups, grown greedily in rank order. A pair that was not compared
    counts as not told apart. Empty where nothing was paired.
    """
    pairs, order = main_pairs(result), [system.name for system in ranked(result)]
    if not pairs:
        return {}
    groups: list[list[str]] = []
    for first, second in combinations(order, 2):
        covered = any(first in group and second in group for group in groups)
        if not covered and not _apart(pairs, first, second):
            groups.append(_grown(pairs, order, [first, second]))
    groups += [[name] for name in order if not any(name in group for group in groups)]
    groups.sort(key=lambda group: order.index(group[0]))
    return {name: tuple(i for i, group in enumerate(groups) if name in group) for name in order}


def _grown(pairs: Mapping[tuple[str, str], Pair], order: list[str], group: list[str]) -> list[str]:
    for name in order:
        if name not in group and not any(_apart(pairs, name, other) for other in group):
            group.append(name)
    return sorted(group, key=order.index)


def _apart(pairs: Mapping[tuple[str, str], Pair], first: str, second: str) -> bool:
    return (first, second) in pairs and pairs[first, second].told_apart
