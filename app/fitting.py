"""What the command `train` does: a training for each seed, the model's files and its card."""

from __future__ import annotations

import hashlib
import importlib.util
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..layout.features import EDGE
from ..model.card import RECIPES, Card
from ..model.predict import Model
from ..render.errors import PagesightError
from ..render.files import write_whole
from ..train.epoch_log import epoch_log
from ..train.settings import Epoch, FitSettings
from .model_card import CardFacts, write_page
from .progress import track
from .training import Parts, Selection, read_parts

if TYPE_CHECKING:
    from ..train.member import Trained


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


@dataclass(frozen=True, slots=True)
class _Made:
    """A model, the checkpoints that its files replace, and what its page says if it has one."""

    card: Card
    path: Path
    checkpoints: tuple[Path, ...]
    facts: CardFacts | None = None


def train_command(request: TrainRequest) -> list[Card]:
    """Train a model a seed; the same command goes on after an interrupt. Raises PagesightError."""
    _check(request)
    parts = read_parts(request.selection, request.rendered, request.recipe)
    request.output.parent.mkdir(parents=True, exist_ok=True)
    train = _TRAINERS[request.recipe]
    made = []
    for seed in range(request.settings.seed, request.settings.seed + request.seeds):
        path = request.output if request.seeds == 1 else _beside(request.output, seed)
        made.append(train(request, replace(request.settings, seed=seed), parts, path))
    if request.seeds > 1:
        best = max(made, key=lambda one: float(one.card.figures["validation_f1"]))
        _copy_model(best, request.output)
    for one in made:
        for checkpoint in one.checkpoints:
            checkpoint.unlink(missing_ok=True)
    return [one.card for one in made]


def _check(request: TrainRequest) -> None:
    """Raise PagesightError for what would fail only when hours of training are over."""
    if request.output.suffix != ".onnx":
        raise PagesightError(f"{request.output}: the name of a model ends in .onnx")
    needed = ["torch", "torchvision", "onnx", "onnxscript"]
    needed += ["altair", "vl_convert"] if request.recipe == "pagesight" else []
    needed += ["tensorboard"] if request.log else []
    for name in needed:
        if importlib.util.find_spec(name) is None:
            raise PagesightError(f"{name} is not installed: pip install 'pagesight[train]'")
    from ..train.fit import check_device

    check_device(request.settings.device)


def _train_members(request: TrainRequest, settings: FitSettings, parts: Parts, path: Path) -> _Made:
    """Our own recipe."""
    from ..model.export import export_members
    from ..model.networks import NetworkSettings
    from ..model.vision import VisionSettings
    from ..train.fit import checkpoints, fit
    from ..train.samples import by_page

    pages = by_page(parts["train"])
    sizes, vision = NetworkSettings.for_pages(len(pages)), VisionSettings()
    log = epoch_log(request.log, settings.seed)
    with track(f"training seed {settings.seed}", settings.members * settings.epochs) as advance:

        def on_epoch(member: int, epoch: Epoch) -> None:
            log(member, epoch)
            advance()

        checkpoint = path.with_suffix(".checkpoint")
        trained = fit(pages, sizes, vision, settings, checkpoint, on_epoch)
    # Eyes that no page has trained see nothing.
    sighted = settings.sight > 0 and any(one.page.snapshot.screenshot for one in parts["train"])
    vision_path = path.with_suffix(".vision.onnx") if sighted else None
    export_members([one.member for one in trained], path, vision_path)
    facts = asdict(settings) | asdict(sizes) | {"vision": asdict(vision)}
    card = _card(request, settings, path, facts)
    if vision_path is not None:
        card = replace(card, vision_sha256=_digest(vision_path))
    card, page = _finish(card, path, parts, trained)
    done = checkpoints(checkpoint, settings.members)
    return _Made(card, path, tuple(file for file in done if file), page)


def _finish(
    card: Card, path: Path, parts: Parts, trained: Sequence[Trained]
) -> tuple[Card, CardFacts]:
    """Calibrate on what each member held out, score on the validation pages, write the cards."""
    import numpy as np

    from ..train.calibrate import fit_calibration, reliability

    told, gold = (
        np.concatenate(side)
        for side in zip(*(one.held_out.blocks() for one in trained), strict=True)
    )
    calibration = fit_calibration(told, gold)
    card = replace(card, slope=calibration.slope)
    card = replace(card, figures=card.figures | _validation(card, path, parts))
    card.write(path.with_suffix(".json"))
    facts = CardFacts(
        name=card.name,
        dataset=card.dataset,
        split=card.split,
        recipe=card.recipe,
        settings=_origin(card, parts) | card.settings,
        figures=card.figures,
        calibration=calibration,
        before=reliability(told, gold),
        after=reliability(calibration.apply(told), gold),
        history=tuple(one.history for one in trained),
        command=shlex.join(["pagesight", *sys.argv[1:]]),
    )
    write_page(facts, path)
    return card, facts


def _origin(card: Card, parts: Parts) -> dict[str, Any]:
    """What the weights fit: the features, and the browser builds that laid the pages out."""
    snapshots = [example.page.snapshot for examples in parts.values() for example in examples]
    return {
        "block_features": f"{RECIPES[card.recipe].block_set.name} {card.block_digest}",
        "edge_features": f"{EDGE.name} {card.edge_digest}",
        "browser": sorted({snapshot.meta.browser for snapshot in snapshots} - {""}),
    }


def _train_web2text(
    request: TrainRequest, settings: FitSettings, parts: Parts, path: Path
) -> _Made:
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
    card = replace(card, figures=card.figures | _validation(card, path, parts))
    card.write(path.with_suffix(".json"))
    return _Made(card, path, (checkpoint,))


_TRAINERS: dict[str, Callable[[TrainRequest, FitSettings, Parts, Path], _Made]] = {
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


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _beside(output: Path, seed: int) -> Path:
    return output.with_suffix(f".seed{seed}.onnx")


def _copy_model(made: _Made, target: Path) -> None:
    """A model with all that lies beside it, under another name."""
    for suffix in (".onnx", *([".vision.onnx"] if made.card.vision_sha256 else [])):
        write_whole(target.with_suffix(suffix), made.path.with_suffix(suffix).read_bytes())
    if made.facts is not None:
        write_page(replace(made.facts, name=target.stem), target)
    # The card comes last: a model is there when it is.
    replace(made.card, name=target.stem).write(target.with_suffix(".json"))
