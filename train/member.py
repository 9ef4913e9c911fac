"""The training of one member of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.optim.lr_scheduler import OneCycleLR

from ..model.networks import Member, NetworkSettings
from ..model.vision import VisionSettings
from .batches import Batch, collate, look, window
from .checkpoint import (
    digest_of,
    load_checkpoint,
    random_states,
    restore_random,
    save_checkpoint,
)
from .judge import Judgement, judge, potentials
from .losses import batch_loss, kind_loss
from .samples import Sample
from .settings import Epoch, FitSettings

_LONGEST_STEP = 1.0  # of the gradient's norm
_WARM_UP = 0.1  # share of the steps in which the learning rate rises
_EPOCH_STEPS = 25  # the fewest of an epoch: few pages are passed over several times
_JITTER = 0.1  # batches hold pages of about one length, not always the same ones


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """One member, for use on the CPU, its epochs, and what it says of the fold that it held out."""

    member: Member
    history: tuple[Epoch, ...]
    held_out: Judgement


class MemberTraining:
    """Trains one member on the forms of some pages; others are held out to judge it by."""

    def __init__(
        self,
        pages: Sequence[Sequence[Sample]],
        held_out: Sequence[Sequence[Sample]],
        sizes: NetworkSettings,
        vision: VisionSettings,
        settings: FitSettings,
        number: int,
        begun: Member | None = None,
    ) -> None:
        torch.manual_seed(settings.seed * 1000 + number)
        self.random = np.random.default_rng([settings.seed, number])
        self.pages, self.settings = pages, settings
        self.held_out = [form for page in held_out for form in page]
        self.facts = {
            "settings": asdict(settings),
            "sizes": asdict(sizes),
            "vision": asdict(vision),
            "pages": [digest_of(_contents(side)) for side in (pages, held_out)],
        }
        self.member = _new_member(pages, sizes, vision)
        if begun is not None:
            # Features are read as they were: the weights fit no other mean and deviation.
            self.member.load_state_dict(begun.state_dict())
            self.facts["begun"] = digest_of(v.numpy() for v in begun.state_dict().values())
        self.member.to(settings.device)
        self.optimizer = torch.optim.AdamW(
            self.member.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay
        )
        batches = -(-len(pages) // settings.batch)
        self.passes = -(-_EPOCH_STEPS // batches)
        self.schedule = OneCycleLR(
            self.optimizer,
            settings.learning_rate,
            total_steps=batches * self.passes * settings.epochs,
            pct_start=_WARM_UP,
        )
        self.average = [weight.detach().clone() for weight in self.member.parameters()]
        self.history: list[Epoch] = []

    def run(self, checkpoint: Path | None, on_epoch: Callable[[Epoch], None]) -> Trained:
        """Train from where the checkpoint stands to the end."""
        self._restore(load_checkpoint(checkpoint, self.facts))
        for epoch in self.history:
            on_epoch(epoch)
        while len(self.history) < self.settings.epochs:
            self._epoch()
            if checkpoint is not None:
                save_checkpoint(checkpoint, self.facts, self._state())
            on_epoch(self.history[-1])
        self._put(self.average)
        return Trained(self.member.cpu().eval(), tuple(self.history), self._judge("cpu"))

    def _epoch(self) -> None:
        """The passes of an epoch over the pages, and what the held-out ones say of it."""
        losses = [self._step(batch) for _ in range(self.passes) for batch in self._batches()]
        trained = [weight.detach().clone() for weight in self.member.parameters()]
        self._put(self.average)
        found = self._judge(self.settings.device)
        epoch = Epoch(len(self.history) + 1, float(np.mean(losses)), found.page_f1, found.nll)
        self.history.append(epoch)
        self._put(trained)

    def _batches(self) -> Iterator[Batch]:
        """Each page once, in one of its forms, in batches of pages of about one length."""
        settings, random = self.settings, self.random
        chosen = [page[int(random.integers(len(page)))] for page in self.pages]
        cut = [window(sample, settings.window, random) for sample in chosen]
        lengths = np.array([len(sample) for sample, _ in cut])
        order = np.argsort(lengths * np.exp(random.normal(0, _JITTER, len(cut))))
        batches = np.array_split(order, range(settings.batch, len(order), settings.batch))
        shown = random.random(len(cut)) < settings.sight
        for i in random.permutation(len(batches)).tolist():
            members = batches[i].tolist()
            pictures = [look(*cut[j]) if shown[j] else None for j in members]
            yield collate(
                [cut[j][0] for j in members],
                pictures,
                self.member.page.policies,
                settings.device,
            )

    def _step(self, batch: Batch) -> float:
        device = torch.device(self.settings.device).type
        self.member.train()
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            said = potentials(self.member, batch)
        unary, pairwise, kinds = (part.float() for part in said)
        loss = batch_loss(self.settings.chain, unary, pairwise, batch)
        loss = loss + kind_loss(kinds, batch.kinds)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.member.parameters(), _LONGEST_STEP)
        self.optimizer.step()
        self.schedule.step()
        # At first the mean follows quickly: it must forget where training began.
        steps = self.schedule.last_epoch
        decay = min(self.settings.average, steps / (9 + steps))
        with torch.no_grad():
            for mean, weight in zip(self.average, self.member.parameters(), strict=True):
                mean.lerp_(weight, 1 - decay)
        return float(loss.detach())

    def _judge(self, device: str) -> Judgement:
        return judge(self.member, self.held_out, self.settings.pairwise_weight, device)

    def _put(self, weights: list[torch.Tensor]) -> None:
        with torch.no_grad():
            for weight, value in zip(self.member.parameters(), weights, strict=True):
                weight.copy_(value)

    def _state(self) -> dict[str, Any]:
        return {
            "member": self.member.state_dict(),
            "average": self.average,
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
            "random": random_states(self.random),
            "history": [asdict(epoch) for epoch in self.history],
        }

    def _restore(self, state: dict[str, Any]) -> None:
        if not state:
            return
        self.member.load_state_dict(state["member"])
        self.average = [weight.to(self.settings.device) for weight in state["average"]]
        self.optimizer.load_state_dict(state["optimizer"])
        self.schedule.load_state_dict(state["schedule"])
        restore_random(state["random"], self.random)
        self.history = [Epoch(**epoch) for epoch in state["history"]]


def _contents(pages: Sequence[Sequence[Sample]]) -> Iterator[npt.NDArray[Any] | bytes]:
    """All that a training reads of pages."""
    for page in pages:
        for form in page:
            yield from (form.blocks, form.edges, form.labels, form.leaves, form.words)
            yield f"{form.policy} {form.kind} {form.site}".encode()
            yield form.page.snapshot.screenshot


def _new_member(
    pages: Sequence[Sequence[Sample]], sizes: NetworkSettings, vision: VisionSettings
) -> Member:
    """A member that knows the mean and the deviation of each feature, over all forms of pages."""
    forms = [form for page in pages for form in page]
    blocks = np.concatenate([form.blocks for form in forms])
    edges = np.concatenate([form.edges for form in forms])
    member = Member(blocks.shape[1], edges.shape[1], sizes, vision)
    member.page.standardise.fit(torch.from_numpy(blocks))
    if len(edges):
        member.page.standardise_edges.fit(torch.from_numpy(edges))
    return member
