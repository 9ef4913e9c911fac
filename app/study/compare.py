"""A whole study: from what is asked to what was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from ...render.errors import StudyError
from ..progress import track
from .analysis import Analysis, agreement, mean_figure, system_result
from .outputs import Outputs
from .result import PageView, StudyResult
from .scores import (
    LOWER_IS_BETTER,
    METRICS,
    Reference,
    is_scorable,
    make_reference,
    needs_blocks,
)
from .scoring import Scorer
from .study import Request, Run, Study
from .views import MOST, page_view, worst_first

# What each benchmark is known by; the first one ranks.
DEFAULT_METRICS = {
    "cleaneval": ("block_f1", "block_precision", "block_recall", "word_f1", "rouge_lsum"),
    "wcxb": ("word_f1", "with_share", "without_share"),
    "aeb": ("aeb_f1", "aeb_precision", "aeb_recall", "aeb_accuracy"),
    "folder": ("word_f1", "rouge_lsum"),
}
AGREEMENT = "agreement"


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """A study's result, and what its report shows of single pages.

    ids: of the pages. page_scores: by system, in the order of `ids`.
    """

    result: StudyResult
    study: Study
    ids: Sequence[str]
    runs: Sequence[Run]
    page_scores: Mapping[str, Sequence[float]]

    def views(self) -> list[PageView]:
        """The worst pages."""
        chosen = worst_first(self.page_scores)[:MOST]
        with track("pages of the report", len(chosen)) as advance:
            snapshot_of, views = self.study.stored_renderings(), []
            for place in chosen:
                scores = {name: column[place] for name, column in self.page_scores.items()}
                record = self.study.dataset.load(self.ids[place])
                views.append(page_view(record, self.runs, scores, snapshot_of))
                advance()
        return views


def compare(request: Request, metrics: Sequence[str] = (), retrieval: bool = False) -> Finding:
    """Make a study. Without `metrics` the data set's own; without gold, agreement.

    Raises PagesightError.
    """
    study = Study(request)
    metrics = metrics or DEFAULT_METRICS[study.dataset.name]
    if unknown := [name for name in metrics if name not in METRICS]:
        raise StudyError(f"no metric {unknown[0]!r}; there are {', '.join(METRICS)}")
    if metrics[0] in LOWER_IS_BETTER:
        raise StudyError(
            f"{metrics[0]} is the better the lower: name another metric first, to rank by"
        )
    references = _references(study, needs_blocks(metrics))
    if references:
        return _with_gold(study, references, metrics, retrieval)
    if retrieval:
        raise StudyError("queries are made from gold texts, and these pages have none")
    if len(request.systems) < 2:
        raise StudyError("pages without gold show how far systems agree: name two or more")
    return _without_gold(study)


def _references(study: Study, blocks: bool) -> list[Reference]:
    """What the pages are scored against that have gold."""
    if not study.ids:
        raise StudyError(f"{study.dataset.name}: no page in this selection")
    with track("reading gold", len(study.ids)) as advance:
        references = []
        for id in study.ids:
            record = study.dataset.load(id)
            if is_scorable(record):
                references.append(make_reference(record, blocks))
            advance()
    return references


def _with_gold(
    study: Study, references: Sequence[Reference], metrics: Sequence[str], retrieval: bool
) -> Finding:
    analysis = Analysis(references, metrics, retrieval)
    ids, workers = [reference.record.id for reference in references], study.request.workers
    with closing(Outputs()) as store, Scorer(references, metrics, store, workers) as scorer:
        running = [
            (run, scorer.start([run.scored_text(id) for id in ids]))
            for run in study.run(ids, store)
        ]
        with track("scoring", len(running)) as advance:
            scored = []
            for run, scoring in running:
                scored.append(analysis.scored(run, scoring.columns()))
                advance()
    result = StudyResult(
        dataset=study.dataset.name,
        split=study.request.split,
        input=study.request.input,
        pages=len(ids),
        types=analysis.types,
        main=metrics[0],
        systems=tuple(map(analysis.system, scored)),
        pairs=tuple(analysis.pairs(scored)),
        without_gold=len(study.ids) - len(ids),
    )
    page_scores = {s.run.name: analysis.page_scores(s, metrics[0]) for s in scored}
    return Finding(result, study, ids, [run for run, _ in running], page_scores)


def _without_gold(study: Study) -> Finding:
    ids = study.ids
    with closing(Outputs()) as store:
        runs = list(study.run(ids, store))
    table = agreement(runs, ids)
    # [s, p] mean over the other systems
    with_others = (table.sum(axis=1) - 1) / (len(runs) - 1)
    result = StudyResult(
        dataset=study.dataset.name,
        split=study.request.split,
        input=study.request.input,
        pages=len(ids),
        types={},
        main=AGREEMENT,
        systems=tuple(
            system_result(run, {AGREEMENT: mean_figure(column)})
            for run, column in zip(runs, with_others, strict=True)
        ),
        agreement=tuple(map(tuple, table.mean(axis=2).tolist())),
    )
    scores = {run.name: row.tolist() for run, row in zip(runs, with_others, strict=True)}
    return Finding(result, study, ids, runs, scores)
