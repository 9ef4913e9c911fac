"""What the command `train` does: a training for each seed, the model's files and its card."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ..layout.features import EDGE
from ..model.card import RECIPES, Card, Policy
from ..render.errors import PagesightError
from ..render.files import write_whole
from ..train.epoch_log import epoch_log
from ..train.settings import Epoch, FitSettings
from .finishing import PartsOfPolicies, finish, validation_figures
from .model_card import CardFacts, write_page
from .progress import track
from .training import Selection, read_parts

# What the best seed is chosen by, the first that there is.
_CHOOSING = ("validation_f1", "held_out_page_f1")


@dataclass(frozen=True, slots=True)
class TrainRequest:
    """What to train, and where the model goes.

    pages: what counts as main content, by name, and the pages that teach it; one name may have
    several selections. The first name is the model's usual policy.
    start: a model to go on from, "" for none.
    seeds: how many models; the best on the validation pages becomes `output`, all stay beside it.
    rendered: use each page in both its forms, not the static one alone.
    steps: of the recipe "web2text", which knows no epochs.
    log: folder for TensorBoard.
    """

    pages: Sequence[tuple[str, Selection]]
    output: Path
    settings: FitSettings
    start: str = ""
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
    parts: PartsOfPolicies = {}
    for policy, selection in request.pages:
        read = read_parts(selection, request.rendered, request.recipe)
        for part, examples in parts.setdefault(policy, {}).items():
            read[part] = examples + read[part]
        parts[policy] = read
    request.output.parent.mkdir(parents=True, exist_ok=True)
    train = _TRAINERS[request.recipe]
    made = []
    for seed in range(request.settings.seed, request.settings.seed + request.seeds):
        path = request.output if request.seeds == 1 else _beside(request.output, seed)
        made.append(train(request, replace(request.settings, seed=seed), parts, path))
    if request.seeds > 1:
        best = max(made, key=lambda one: _quality(one.card))
        _copy_model(best, request.output)
    for one in made:
        for checkpoint in one.checkpoints:
            checkpoint.unlink(missing_ok=True)
    return [one.card for one in made]


def _quality(card: Card) -> float:
    return next(float(card.figures[name]) for name in _CHOOSING if name in card.figures)


def _check(request: TrainRequest) -> None:
    """Raise PagesightError for what would fail only when hours of training are over."""
    if request.output.suffix != ".onnx":
        raise PagesightError(f"{request.output}: the name of a model ends in .onnx")
    if request.start and len(dict(request.pages)) > 1:
        raise PagesightError("--from: a model is trained further for one policy, not for several")
    needed = ["torch", "torchvision", "onnx", "onnxscript"]
    needed += ["altair", "vl_convert"] if request.recipe == "pagesight" else []
    needed += ["tensorboard"] if request.log else []
    for name in needed:
        if importlib.util.find_spec(name) is None:
            raise PagesightError(f"{name} is not installed: pip install 'pagesight[train]'")
    from ..train.fit import check_device

    check_device(request.settings.device)


def _train_members(
    request: TrainRequest, settings: FitSettings, parts: PartsOfPolicies, path: Path
) -> _Made:
    """Our own recipe."""
    from ..model.export import export_members
    from ..model.members import read_members, write_members
    from ..model.networks import NetworkSettings
    from ..model.vision import VisionSettings
    from ..train.fit import checkpoints, fit
    from ..train.samples import by_page

    pages = [
        page
        for number, each in enumerate(parts.values())
        for page in by_page(each["train"], number)
    ]
    sizes, vision = NetworkSettings.for_pages(len(pages), len(parts)), VisionSettings()
    start = read_members(request.start) if request.start else None
    log = epoch_log(request.log, settings.seed)
    with track(f"training seed {settings.seed}", settings.members * settings.epochs) as advance:

        def on_epoch(member: int, epoch: Epoch) -> None:
            log(member, epoch)
            advance()

        checkpoint = path.with_suffix(".checkpoint")
        trained = fit(pages, sizes, vision, settings, checkpoint, on_epoch, start)
    # Eyes that no page has trained see nothing.
    pictures = (one.page.snapshot.screenshot for each in parts.values() for one in each["train"])
    sighted = settings.sight > 0 and any(pictures)
    vision_path = path.with_suffix(".vision.onnx") if sighted else None
    members = [one.member for one in trained]
    export_members(members, path, vision_path)
    export_members(members[:1], path.with_suffix(".reasons.onnx"), None)
    write_members(members, path)
    facts = asdict(settings) | asdict(sizes) | {"vision": asdict(vision)}
    card = _card(request, settings, path, facts)
    card = replace(card, reasons_sha256=_digest(path.with_suffix(".reasons.onnx")))
    if vision_path is not None:
        card = replace(card, vision_sha256=_digest(vision_path))
    card, page = finish(card, path, parts, trained)
    done = checkpoints(checkpoint, settings.members)
    return _Made(card, path, tuple(file for file in done if file), page)


def _train_web2text(
    request: TrainRequest, settings: FitSettings, parts: PartsOfPolicies, path: Path
) -> _Made:
    """The paper's own features, networks and training."""
    from ..model.export import export_web2text
    from ..model.web2text import Web2TextSettings
    from ..train.web2text import Web2TextFitSettings, fit_web2text

    sizes = Web2TextSettings()
    paper = Web2TextFitSettings(settings.seed, request.steps, device=settings.device)
    checkpoint = path.with_suffix(".checkpoint")
    with track(f"training seed {settings.seed}", request.steps) as advance:
        (only,) = parts.values()
        network = fit_web2text(only["train"], only["validation"], sizes, paper, checkpoint, advance)
    export_web2text(network, path)
    card = _card(request, settings, path, asdict(paper) | asdict(sizes))
    card = replace(card, figures=card.figures | validation_figures(card, path, parts))
    card.write(path.with_suffix(".json"))
    return _Made(card, path, (checkpoint,))


_TRAINERS: dict[str, Callable[[TrainRequest, FitSettings, PartsOfPolicies, Path], _Made]] = {
    "pagesight": _train_members,
    "web2text": _train_web2text,
}


def _card(request: TrainRequest, settings: FitSettings, path: Path, facts: dict[str, Any]) -> Card:
    return Card(
        name=path.stem,
        policies={
            policy: Policy(
                tuple(
                    (each.open().name, each.split) for name, each in request.pages if name == policy
                )
            )
            for policy in dict(request.pages)
        },
        recipe=request.recipe,
        block_digest=RECIPES[request.recipe].block_set.digest,
        edge_digest=EDGE.digest,
        pairwise_weight=settings.pairwise_weight,
        weights_sha256=_digest(path),
        settings=facts,
    )


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _beside(output: Path, seed: int) -> Path:
    return output.with_suffix(f".seed{seed}.onnx")


def _copy_model(made: _Made, target: Path) -> None:
    """A model with all that lies beside it, under another name."""
    suffixes = [".vision.onnx"] * bool(made.card.vision_sha256)
    suffixes += [".reasons.onnx", ".npz"] * bool(made.card.reasons_sha256)
    for suffix in (".onnx", *suffixes):
        write_whole(target.with_suffix(suffix), made.path.with_suffix(suffix).read_bytes())
    if made.facts is not None:
        write_page(replace(made.facts, name=target.stem), target)
    # The card comes last: a model is there when it is.
    replace(made.card, name=target.stem).write(target.with_suffix(".json"))
