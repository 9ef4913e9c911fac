"""What the commands `prepare` and `evaluate` do, and what `train` reads."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from ..data.datasets import ALL, Dataset, open_dataset
from ..model.card import DEFAULT, RECIPES, packaged, read_card
from ..model.predict import Model
from ..render.errors import DatasetError, ModelError
from ..train.evaluate import Evaluation, evaluate
from ..train.examples import Example, load_examples, static_snapshot
from ..train.prepare import SnapshotOf, Tally
from .progress import track
from .renderings import render_all, stored

Parts: TypeAlias = dict[str, list[Example]]


@dataclass(frozen=True, slots=True)
class Selection:
    """Which pages of which data set."""

    dataset: str
    data: Path | None
    split: str
    limit: int | None = None

    def open(self) -> Dataset:
        """Raises DatasetError."""
        return open_dataset(self.dataset, self.data)

    def ids(self, dataset: Dataset, part: str = "") -> Sequence[str]:
        """The pages of one part of the split, the first `limit` of them. Raises DatasetError."""
        return dataset.ids(self.split, part)[: self.limit]


def prepare_command(selection: Selection, tabs: int) -> Tally:
    """Render the selected pages into the store."""
    dataset = selection.open()
    return render_all(dataset, selection.ids(dataset), tabs)


def evaluate_command(
    selection: Selection, models: Sequence[str], policy: str, rendered: bool, vision: bool
) -> list[Evaluation]:
    """Score models, or the packaged one of this split, on the split's test part."""
    dataset = selection.open()
    names = models or [DEFAULT if policy else _packaged_for(dataset, selection.split)]
    loaded = [Model.load(name, policy) for name in names]
    part = "test" if selection.split != ALL else ""
    examples = list(read_examples(selection, dataset, part, rendered, twice=False))
    if not examples:
        raise DatasetError(f"{dataset.name}: no page of {selection.split!r} has gold")
    return [evaluate(model, dataset.name, selection.split, examples, vision) for model in loaded]


def summary(evaluations: Sequence[Evaluation]) -> dict[str, Any]:
    """One model's figures as they are; several models' with mean and deviation."""
    if len(evaluations) == 1:
        return evaluations[0].to_dict()
    flat = [{**e.to_dict()["block"], **_numbers(e)} for e in evaluations]
    return {
        "models": [evaluation.to_dict() for evaluation in evaluations],
        "mean": {key: statistics.fmean(row[key] for row in flat) for key in flat[0]},
        "deviation": {key: statistics.stdev(row[key] for row in flat) for key in flat[0]},
    }


def _numbers(evaluation: Evaluation) -> dict[str, float]:
    keys = ("word_f1", "rouge_lsum", "ece", "seconds_per_page")
    return {key: getattr(evaluation, key) for key in keys}


def read_parts(selection: Selection, rendered: bool, recipe: str) -> Parts:
    """The pages to train on and those to score by; DatasetError where gold labels none of them."""
    dataset = selection.open()
    parts: Parts = {"train": [], "validation": []}
    # A split without parts is trained on as a whole, and judged by what each member held out.
    asked = {"train": ""} if selection.split == ALL else {part: part for part in parts}
    for part, name in asked.items():
        parts[part] = list(read_examples(selection, dataset, name, rendered, recipe=recipe))
        if part == "validation" and not selection.ids(dataset, part):
            continue
        if not any(example.known.any() for example in parts[part]):
            where = f"{dataset.name}: the {part} part of {selection.split!r}"
            raise DatasetError(f"{where} has no page with gold labels: add pages")
    return parts


def read_examples(
    selection: Selection,
    dataset: Dataset,
    part: str,
    rendered: bool,
    twice: bool = True,
    recipe: str = "pagesight",
) -> Iterator[Example]:
    """The examples of a part: static, rendered, or with `twice` each page in both forms."""
    ids = selection.ids(dataset, part)
    makers: list[SnapshotOf] = [static_snapshot] if twice or not rendered else []
    if rendered:
        makers.append(stored(dataset, ids))
    with track(f"reading {part or 'pages'}", len(ids) * len(makers)) as advance:
        for snapshot_of in makers:
            for id in ids:
                yield from load_examples(dataset, [id], snapshot_of, RECIPES[recipe].block_set)
                advance()


def _packaged_for(dataset: Dataset, split: str) -> str:
    """Our packaged model that was trained on this split, else the default one."""
    for name in packaged():
        card = read_card(name)
        if (card.recipe, card.home) == ("pagesight", (dataset.name, split)):
            return name
    if dataset.name == "cleaneval":
        raise ModelError(f"no packaged model was trained on split {split!r} alone: give --model")
    return DEFAULT
