"""Train a model on labelled pages.

A model is a few members. Each is trained without a part (fold) of the sites; so every page is
judged by a member that has seen none of its site, which is what probabilities are calibrated on,
and what tells how good the model is on sites that it does not know. Pages come in one or more
forms, rendered and static, and an epoch takes one at random: the same weights serve all. Their
pictures are shown now and then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import torch

from ..data.records import bucket
from ..model.networks import Member, NetworkSettings
from ..model.vision import VisionSettings
from ..render.errors import DatasetError, PagesightError
from .member import MemberTraining, Trained
from .samples import Sample
from .settings import Epoch, FitSettings


def fit(
    pages: Sequence[Sequence[Sample]],
    sizes: NetworkSettings,
    vision: VisionSettings,
    settings: FitSettings,
    checkpoint: Path | None = None,
    on_epoch: Callable[[int, Epoch], None] = lambda member, epoch: None,
    start: Sequence[Member] | None = None,
) -> list[Trained]:
    """Train the members of a model on pages, each in one or more forms.

    `on_epoch` is called with the member's number after each epoch, those of a checkpoint included.
    With a `checkpoint` an interrupted training goes on after its last epoch, to the same weights
    as an undisturbed one; each member has a file of its own, see `checkpoints`. From `start` on
    members are trained further, those of a model in turn. Raises DatasetError where there are too
    few pages.
    """
    torch.set_num_threads(1)  # the networks are small: threads cost more than they bring
    if len(pages) < settings.members:
        raise DatasetError(f"{len(pages)} pages to train on, fewer than {settings.members} members")
    folds = [fold_of(page[0].site, settings) for page in pages]
    if len(set(folds)) < 2:
        raise DatasetError("all pages are of one site, or too few: none can be held out")
    trained = []
    for number, path in enumerate(checkpoints(checkpoint, settings.members)):
        inside = [page for page, fold in zip(pages, folds, strict=True) if fold != number]
        outside = [page for page, fold in zip(pages, folds, strict=True) if fold == number]
        begun = start[number % len(start)] if start else None
        training = MemberTraining(inside, outside, sizes, vision, settings, number, begun)
        trained.append(training.run(path, partial(on_epoch, number)))
    return trained


def fold_of(site: str, settings: FitSettings) -> int:
    """The number of the member that is trained without a site: pages of one site are much alike."""
    return bucket(f"{settings.seed}:{site}", settings.members)


def checkpoints(path: Path | None, members: int) -> list[Path | None]:
    """The checkpoint file of each member."""
    return [path and path.with_suffix(f".{n}{path.suffix}") for n in range(members)]


def check_device(device: str) -> None:
    """Raise PagesightError where torch cannot compute on a device, such as "cuda"."""
    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:  # the latter of a torch that is built without
        reason = str(error).partition("\n")[0]
        raise PagesightError(f"--device {device}: {reason}") from error
