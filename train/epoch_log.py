"""The epochs of a training, where TensorBoard looks for them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from .settings import Epoch


def epoch_log(folder: Path | None, seed: int) -> Callable[[int, Epoch], None]:
    """What writes a member's epochs into a folder of its own; nothing where there is no folder."""
    if folder is None:
        return lambda member, epoch: None
    from torch.utils.tensorboard import SummaryWriter

    writers: dict[int, SummaryWriter] = {}

    def write(member: int, epoch: Epoch) -> None:
        if member not in writers:
            # A training that goes on tells its first epochs again: the new ones count.
            place = str(folder / f"seed{seed}-member{member}")
            writers[member] = SummaryWriter(place, purge_step=epoch.epoch)
        for name in ("loss", "f1", "nll"):
            writers[member].add_scalar(name, getattr(epoch, name), epoch.epoch)
        writers[member].flush()

    return write
