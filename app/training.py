"""What the commands `prepare`, `train` and `evaluate` do; each shows its progress on stderr."""

from __future__ import annotations

import hashlib
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..data.datasets import Dataset, open_dataset
from ..model.predict import DEFAULT, RECIPES, Card, Model, packaged, read_card
from ..render.errors import DatasetError, ModelError
from ..train.evaluate import Evaluation, evaluate
from ..train.examples import Example, load_examples, static_snapshot
from ..train.prepare import SnapshotOf, Tally
from .progress import track
from .renderings import render_all, stored

if TYPE_CHECKING:
    from ..train.fit import FitSettings


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


def train_command(
    selection: Selection,
    output: Path,
    seeds: int,
    rendered: bool,
    settings: FitSettings,
    recipe: str,
    pairwise_weight: float,
) -> list[Card]:
    """Train one model a seed; the one with the best validation F1 becomes `output`.

    Each seed's model stays beside it, and so does its checkpoint until all are done: the same
    command goes on after an interrupt.
    """
    from ..model.networks import NetworkSettings
    from ..train.fit import check_device, fit

    check_device(settings.device)

    dataset = selection.open()
    parts = {
        part: list(_examples(selection, dataset, part, rendered, recipe=recipe))
        for part in ("train", "validation")
    }
    output.parent.mkdir(parents=True, exist_ok=True)
    network_settings, cards, checkpoints = NetworkSettings(), [], []
    for seed in range(settings.seed, settings.seed + seeds):
        target = output if seeds == 1 else output.with_suffix(f".seed{seed}.onnx")
        checkpoints.append(target.with_suffix(".checkpoint"))
        with track(f"training seed {seed}", settings.steps) as advance:
            network, state = fit(
                parts["train"],
                parts["validation"],
                network_settings,
                replace(settings, seed=seed),
                checkpoints[-1],
                advance,
            )
        figures = {
            "validation_unary_f1": round(state.best_unary, 4),
            "validation_pairwise_accuracy": round(state.best_pairwise, 4),
            "training_pages": len({example.record.id for example in parts["train"]}),
            "rendered": rendered,
        }
        facts = asdict(replace(settings, seed=seed)) | asdict(network_settings)
        cards.append(
            _export(
                network,
                target,
                (dataset.name, selection.split),
                (recipe, pairwise_weight),
                facts,
                figures,
            )
        )
    if seeds > 1:
        best = max(cards, key=lambda card: float(card.figures["validation_unary_f1"]))
        _copy_model(output.with_name(best.name + ".onnx"), output)
    for checkpoint in checkpoints:
        checkpoint.unlink(missing_ok=True)
    return cards


def evaluate_command(
    selection: Selection, models: Sequence[str], rendered: bool
) -> list[Evaluation]:
    """Score models, or the packaged one of this split, on the split's test part."""
    dataset = selection.open()
    loaded = [Model.load(name) for name in models or [_packaged_for(dataset, selection.split)]]
    part = "test" if selection.split != "all" else ""
    examples = list(_examples(selection, dataset, part, rendered, twice=False))
    if not examples:
        raise DatasetError(f"{dataset.name}: no page of {selection.split!r} has gold")
    return [evaluate(model, dataset.name, selection.split, examples) for model in loaded]


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


def _examples(
    selection: Selection,
    dataset: Dataset,
    part: str,
    rendered: bool,
    twice: bool = True,
    recipe: str = "pagesight",
) -> Iterator[Example]:
    """The examples of a part: static, rendered, or for training each page in both forms."""
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
        if (card.recipe, card.dataset, card.split) == ("pagesight", dataset.name, split):
            return name
    if dataset.name == "cleaneval":
        raise ModelError(f"no packaged model was trained on split {split!r} alone: give --model")
    return DEFAULT


def _export(
    network: Any,
    path: Path,
    origin: tuple[str, str],
    chain: tuple[str, float],
    settings: dict[str, Any],
    figures: dict[str, Any],
) -> Card:
    from ..layout.features import EDGE
    from ..model.networks import export_onnx

    recipe, pairwise_weight = chain
    export_onnx(network, str(path))
    card = Card(
        name=path.stem,
        dataset=origin[0],
        split=origin[1],
        recipe=recipe,
        block_digest=RECIPES[recipe].block_set.digest,
        edge_digest=EDGE.digest,
        pairwise_weight=pairwise_weight,
        weights_sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        settings=settings,
        figures=figures,
    )
    card.write(path.with_suffix(".json"))
    return card


def _copy_model(source: Path, target: Path) -> None:
    target.write_bytes(source.read_bytes())
    replace(read_card(source), name=target.stem).write(target.with_suffix(".json"))
