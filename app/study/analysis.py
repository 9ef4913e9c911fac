"""From what the systems gave to figures, intervals and differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from ...train.metrics import word_f1
from .bootstrap import Bootstrap, Draws, Statistic, share
from .result import Figure, Pair, SystemResult
from .retrieval import RETRIEVAL, Query, queries_of, retrieval_columns
from .scores import Reference, families_of
from .study import Run

Float64 = npt.NDArray[np.float64]

FEWEST = 20
"""Pages that differences need, and types for figures of their own.

Of two equal systems, a percentile interval over 8 pages tells one in nine pairs apart, over one
page every pair.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """One system's columns by family, [p, k] each, and their draws: over all pages, and by type."""

    run: Run
    columns: Mapping[str, Float64]
    draws: Mapping[str, Draws]
    by_type: Mapping[str, Mapping[str, Draws]]


class Analysis:
    """Figures of systems that ran over the same pages.

    metrics: names of `scores.METRICS`. retrieval: adds the figures of known-item search.
    """

    def __init__(
        self, references: Sequence[Reference], metrics: Sequence[str], retrieval: bool
    ) -> None:
        self._references = references
        owners = {name: family for family in families_of(metrics) for name in family.figures}
        # metric -> its columns' name, and what makes the figure of their sums
        self._metrics: dict[str, tuple[str, Statistic]] = {
            name: (owners[name].name, owners[name].figures[name]) for name in metrics
        }
        self._queries: list[Query] = []
        if retrieval:
            self._metrics |= {name: ("retrieval", of) for name, of in RETRIEVAL.items()}
            self._queries = [query for r in references for query in queries_of(r.record)]
        types = np.array([reference.record.page_type for reference in references])
        self.types = dict(sorted(Counter(kind for kind in types.tolist() if kind).items()))
        self._all = Bootstrap(len(references))
        self._by_type = {
            kind: (np.flatnonzero(types == kind), Bootstrap(count))
            for kind, count in self.types.items()
            if count >= FEWEST and len(self.types) > 1
        }

    def scored(self, run: Run, scores: Mapping[str, Float64]) -> Scored:
        """What a system gave for every page, with its scores by family."""
        columns = dict(scores)
        if self._queries:
            texts = {r.record.id: run.text(r.record.id) for r in self._references}
            columns["retrieval"] = retrieval_columns(texts, self._queries)
        by_type = {
            kind: {key: bootstrap.draw(part[places]) for key, part in columns.items()}
            for kind, (places, bootstrap) in self._by_type.items()
        }
        draws = {key: self._all.draw(part) for key, part in columns.items()}
        return Scored(run, columns, draws, by_type)

    def system(self, scored: Scored) -> SystemResult:
        """One system's figures."""
        by_type = {kind: self._figures(draws) for kind, draws in scored.by_type.items()}
        return system_result(scored.run, self._figures(scored.draws), by_type)

    def pairs(self, systems: Sequence[Scored]) -> Iterator[Pair]:
        """Every two systems by every metric, and by the first one on each type of page."""
        if len(self._references) < FEWEST:
            return
        for metric in self._metrics:
            draws = {s.run.name: s.draws for s in systems}
            yield from self._differences(metric, draws, "")
        main = next(iter(self._metrics))
        for kind in self._by_type:
            yield from self._differences(main, {s.run.name: s.by_type[kind] for s in systems}, kind)

    def _differences(
        self, metric: str, draws: Mapping[str, Mapping[str, Draws]], page_type: str
    ) -> Iterator[Pair]:
        columns, of = self._metrics[metric]
        for first, second in combinations(draws, 2):
            difference = draws[first][columns].difference(draws[second][columns], of)
            yield Pair(metric, first, second, difference, page_type)

    def page_scores(self, scored: Scored, metric: str) -> list[float]:
        """The figure of each page alone, NaN where it has none."""
        columns, of = self._metrics[metric]
        return of(scored.columns[columns]).tolist()

    def _figures(self, draws: Mapping[str, Draws]) -> dict[str, Figure]:
        return {name: draws[key].figure(of) for name, (key, of) in self._metrics.items()}


def agreement(runs: Sequence[Run], ids: Sequence[str]) -> Float64:
    """Word F1 between what each two systems gave for each page, [s, s, p]."""
    table = np.ones((len(runs), len(runs), len(ids)))
    for page, id in enumerate(ids):
        texts = [run.text(id) for run in runs]
        for i, j in combinations(range(len(runs)), 2):
            table[i, j, page] = table[j, i, page] = word_f1(texts[i], texts[j])
    return table


def mean_figure(scores: Float64) -> Figure:
    """The mean of the scores [p] of pages."""
    columns = np.stack([scores, np.ones(len(scores))], axis=1)
    return Bootstrap(len(scores)).draw(columns).figure(share(0, 1))


def system_result(
    run: Run,
    figures: Mapping[str, Figure],
    by_type: Mapping[str, Mapping[str, Figure]] | None = None,
) -> SystemResult:
    """The figures of a system with what its run cost."""
    outputs = run.costs.values()
    return SystemResult(
        name=run.name,
        version=run.version,
        figures=figures,
        by_type=by_type or {},
        seconds=float(np.mean([o.seconds for o in outputs])) if run.timed else None,
        memory=max(o.memory for o in outputs) if run.timed else None,
        failures={id: output.error for id, output in run.costs.items() if output.error},
    )
