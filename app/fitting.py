"""What the command `train` does: a training for each seed, the model's files and its card."""

from __future__ import annotations

import hashlib
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..layout.features import EDGE
from ..model.card import RECIPES, Card, read_card
from ..model.predict import Model
from ..render.errors import DatasetError
from ..render.files import write_whole
from ..train.settings import Epoch, FitSettings
from .progress import track
from .training import Selection, read_examples

if TYPE_CHECKING:
    from ..train.examples import Example
    from ..train.member import Trained

Parts = dict[str, list["Example"]]
_BESIDE_CARD = (".onnx", ".vision.onnx", ".md", ".reliability.svg", ".training.svg")


@dataclass(frozen=True, slots=True)
class TrainRequest:
    """What to train, and where the model goes.

    seeds: how many models; the best on the validation pages becomes `output`, all stay beside it.
    rendered: use each page in both its forms, not the static one alone.
    steps: of the recipe "web2text", which knows no epochs.
    log: folder for TensorBoard.
    """

    selection: Selection
    output: Path
    settings: FitSettings
    seeds: int = 1
    rendered: bool = True
    recipe: str = "pagesight"
    steps: int = 5_000
    log: Path | None = None


def train_command(request: TrainRequest) -> list[Card]:
    """Train a model a seed; the same command goes on after an interrupt. Raises PagesightError."""
    from ..train.fit import check_device

    check_device(request.settings.device)
    selection = request.selection
    dataset = selection.open()
    parts: Parts = {
        part: list(read_examples(selection, dataset, part, request.rendered, recipe=request.recipe))
        for part in ("train", "validation")
    }
    request.output.parent.mkdir(parents=True, exist_ok=True)
    train = _TRAINERS[request.recipe]
    cards, done = [], []
    for seed in range(request.settings.seed, request.settings.seed + request.seeds):
        path = request.output if request.seeds == 1 else _beside(request.output, seed)
        settings = replace(request.settings, seed=seed)
        done += train(request, settings, parts, path)
        cards.append(read_card(path))
    if request.seeds > 1:
        best = max(cards, key=lambda card: float(card.figures["validation_f1"]))
        _copy_model(request.output.with_name(best.name + ".onnx"), request.output)
    for checkpoint in done:
        checkpoint.unlink(missing_ok=True)
    return cards


def _train_members(
    request: TrainRequest, settings: FitSettings, parts: Parts, path: Path
) -> list[Path]:
    """Our own recipe; returns the checkpoints that the model's files replace."""
    from ..model.export import export_members
    from ..model.networks import NetworkSettings
    from ..model.vision import VisionSettings
    from ..train.fit import checkpoints, fit
    from ..train.samples import by_page

    sizes, vision = NetworkSettings(), VisionSettings()
    log = _logger(request.log, settings.seed)
    with track(f"training seed {settings.seed}", settings.members * settings.epochs) as advance:

        def on_epoch(member: int, epoch: Epoch) -> None:
            log(member, epoch)
            advance()

        checkpoint = path.with_suffix(".checkpoint")
        trained = fit(by_page(parts["train"]), sizes, vision, settings, checkpoint, on_epoch)
    vision_path = path.with_suffix(".vision.onnx")
    export_members([one.member for one in trained], path, vision_path)
    facts = asdict(settings) | asdict(sizes) | {"vision": asdict(vision)}
    card = _card(request, settings, path, facts)
    card = replace(card, vision_sha256=_digest(vision_path))
    _finish(request, card, path, parts, trained)
    return [file for file in checkpoints(checkpoint, settings.members) if file]


def _finish(
    request: TrainRequest, card: Card, path: Path, parts: Parts, trained: Sequence[Trained]
) -> None:
    """Calibrate on what each member held out, score on the validation pages, write the cards."""
    import numpy as np

    from ..train.calibrate import fit_calibration, reliability
    from .model_card import CardFacts, write_page

    told, gold = (
        np.concatenate(side)
        for side in zip(*(one.held_out.blocks() for one in trained), strict=True)
    )
    calibration = fit_calibration(told, gold)
    card = replace(card, slope=calibration.slope, offset=calibration.offset)
    card = replace(card, figures=card.figures | _validation(card, path, parts))
    card.write(path.with_suffix(".json"))
    facts = CardFacts(
        name=card.name,
        dataset=card.dataset,
        split=card.split,
        recipe=card.recipe,
        settings=card.settings,
        figures=card.figures,
        calibration=calibration,
        before=reliability(told, gold),
        after=reliability(calibration.apply(told), gold),
        history=tuple(one.history for one in trained),
        command=shlex.join(["pagesight", *sys.argv[1:]]),
    )
    write_page(facts, path)


def _train_web2text(
    request: TrainRequest, settings: FitSettings, parts: Parts, path: Path
) -> list[Path]:
    """The paper's own features, networks and training."""
    from ..model.export import export_web2text
    from ..model.web2text import Web2TextSettings
    from ..train.web2text import Web2TextFitSettings, fit_web2text

    sizes = Web2TextSettings()
    paper = Web2TextFitSettings(settings.seed, request.steps, device=settings.device)
    checkpoint = path.with_suffix(".checkpoint")
    with track(f"training seed {settings.seed}", request.steps) as advance:
        network = fit_web2text(
            parts["train"], parts["validation"], sizes, paper, checkpoint, advance
        )
    export_web2text(network, path)
    card = _card(request, settings, path, asdict(paper) | asdict(sizes))
    replace(card, figures=card.figures | _validation(card, path, parts)).write(
        path.with_suffix(".json")
    )
    return [checkpoint]


_TRAINERS: dict[str, Callable[[TrainRequest, FitSettings, Parts, Path], list[Path]]] = {
    "pagesight": _train_members,
    "web2text": _train_web2text,
}


def _card(request: TrainRequest, settings: FitSettings, path: Path, facts: dict[str, Any]) -> Card:
    selection = request.selection
    return Card(
        name=path.stem,
        dataset=selection.open().name,
        split=selection.split,
        recipe=request.recipe,
        block_digest=RECIPES[request.recipe].block_set.digest,
        edge_digest=EDGE.digest,
        pairwise_weight=settings.pairwise_weight,
        weights_sha256=_digest(path),
        settings=facts,
    )


def _validation(card: Card, path: Path, parts: Parts) -> dict[str, Any]:
    """What the model says of the validation pages, in all their forms."""
    from ..train.evaluate import evaluate

    found = evaluate(Model(card, path.read_bytes()), card.dataset, card.split, parts["validation"])
    return {
        "training_pages": len({example.record.id for example in parts["train"]}),
        "validation_pages": len({example.record.id for example in parts["validation"]}),
        "validation_f1": round(found.block.f1, 4),
        "validation_word_f1": round(found.word_f1, 4),
        "validation_ece": round(found.ece, 4),
    }


def _logger(folder: Path | None, seed: int) -> Callable[[int, Epoch], None]:
    """What writes epochs where TensorBoard looks for them."""
    if folder is None:
        return lambda member, epoch: None
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        reason = f"{error.name} is not installed: pip install 'pagesight[train]'"
        raise DatasetError(f"--log: {reason}") from error

    writers: dict[int, SummaryWriter] = {}

    def write(member: int, epoch: Epoch) -> None:
        if member not in writers:
            writers[member] = SummaryWriter(str(folder / f"seed{seed}-member{member}"))
        for name in ("loss", "f1", "nll"):
            writers[member].add_scalar(name, getattr(epoch, name), epoch.epoch)
        writers[member].flush()

    return write


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _beside(output: Path, seed: int) -> Path:
    return output.with_suffix(f".seed{seed}.onnx")


def _copy_model(source: Path, target: Path) -> None:
    """A model with all that lies beside it, under another name."""
    for suffix in _BESIDE_CARD:
        if source.with_suffix(suffix).exists():
            content = source.with_suffix(suffix).read_bytes()
            if suffix == ".md":
                content = content.replace(source.stem.encode(), target.stem.encode())
            write_whole(target.with_suffix(suffix), content)
    # The card comes last: a model is there when it is.
    replace(read_card(source), name=target.stem).write(target.with_suffix(".json"))
