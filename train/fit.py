"""Train a model on labelled pages.

A model is a few members. Each is trained without a part (fold) of the pages and kept as it was when
it judged that part best; so every page is judged by a member that has not seen it, which is what
probabilities are calibrated on. Pages come in one or more forms, rendered and static, and an epoch
takes one at random: the same weights serve all. Their pictures are shown now and then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import torch

from ..model.networks import NetworkSettings
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
) -> list[Trained]:
    """Train the members of a model on pages, each in one or more forms.

    `on_epoch` is called with the member's number after each epoch, those of a checkpoint included.
    With a `checkpoint` an interrupted training goes on after its last epoch, to the same weights
    as an undisturbed one; each member has a file of its own, see `checkpoints`. Raises DatasetError
    where there are too few pages.
    """
    torch.set_num_threads(1)  # the networks are small: threads cost more than they bring
    if len(pages) < settings.members:
        raise DatasetError(f"{len(pages)} pages to train on, fewer than {settings.members} members")
    folds = np.random.default_rng(settings.seed).permutation(len(pages)) % settings.members
    trained = []
    for number, path in enumerate(checkpoints(checkpoint, settings.members)):
        inside = [page for page, fold in zip(pages, folds, strict=True) if fold != number]
        outside = [page for page, fold in zip(pages, folds, strict=True) if fold == number]
        training = MemberTraining(inside, outside, sizes, vision, settings, number)
        trained.append(training.run(path, partial(on_epoch, number)))
    return trained


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
