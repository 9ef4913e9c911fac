"""What a member says of pages, in batches, and how right it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ..model.card import BALANCED
from ..model.networks import Member
from .batches import Batch, collate
from .losses import marginals
from .samples import UNKNOWN, Sample

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

_BATCH = 16
_CERTAIN = 1e-6  # a probability is no nearer to 0 or 1 where its logarithm is taken


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """Probabilities of k states of some pages, and what gold says of their leaves.

    A state counts as often as it has leaves with a label.
    """

    probability: Float64  # [k]
    leaves: Int64  # [k, 2] of boilerplate, of content
    words: Float64  # [k]
    content: Bool  # [k]
    page: Int64  # [k] number of the page, from 0 on
    policy: Int64  # [k]
    kind: Int64  # [k] that the page is taken for
    gold_kind: Int64  # [k] or UNKNOWN

    def of_policy(self, policy: int) -> Judgement:
        """The pages of one policy."""
        chosen = self.policy == policy
        return Judgement(*(getattr(self, field.name)[chosen] for field in fields(self)))

    def blocks(self) -> tuple[Float64, Bool]:
        """The probability and the label of each leaf that has one, both [leaves]."""
        sides = [np.repeat(self.probability, self.leaves[:, side]) for side in (0, 1)]
        return np.concatenate(sides), np.repeat([False, True], list(map(len, sides)))

    @property
    def f1(self) -> float:
        """Block F1 of the leaves, pooled; 0 where there is none."""
        found = self.leaves[self.probability > 0.5].sum(axis=0)
        return float(2 * found[1] / max(found.sum() + self.leaves[:, 1].sum(), 1))

    @property
    def page_f1(self) -> float:
        """F1 of the words in the kept blocks of each page, a mean over pages; 0 without pages."""
        kept = self.probability > 0.5
        pages = int(self.page.max()) + 1 if len(self.page) else 0
        hits, found, wanted = (
            np.bincount(self.page, self.words * chosen, pages)
            for chosen in (kept & self.content, kept, self.content)
        )
        there = np.bincount(self.page, minlength=pages) > 0
        # Nothing kept of a page without content is right.
        scores = (2 * hits + 1e-9) / (found + wanted + 1e-9)
        return float(scores[there].mean()) if there.any() else 0.0

    @property
    def kind_accuracy(self) -> float:
        """Share of the pages of a known kind that are taken for it; 0 where there is none."""
        first = np.unique(self.page[self.gold_kind != UNKNOWN], return_index=True)[1]
        known = np.flatnonzero(self.gold_kind != UNKNOWN)[first]
        return float((self.kind == self.gold_kind)[known].mean()) if len(known) else 0.0

    def thresholds(self) -> tuple[float, float]:
        """The probabilities above which half as many words are added, or missed, as above BALANCED.

        For `--precision` and `--recall`; BALANCED itself where nothing is wrong.
        """
        added = self.words * ~self.content
        missed = self.words * self.content
        return (
            _halved(self.probability, added),
            1 - _halved(1 - self.probability, missed),
        )

    @property
    def nll(self) -> float:
        """Mean negative log probability of the leaves' labels."""
        sure = np.clip(self.probability, _CERTAIN, 1 - _CERTAIN)
        log = np.log(np.stack([1 - sure, sure], axis=1))
        return float(-(log * self.leaves).sum() / max(self.leaves.sum(), 1))


def _halved(probability: Float64, words: Float64) -> float:
    """The least probability above which stand half of the words that stand above BALANCED."""
    order = np.argsort(-probability)
    above = np.cumsum(words[order])
    wrong = float(words[probability > BALANCED].sum())
    if not wrong:
        return BALANCED
    return float(max(probability[order[np.searchsorted(above, wrong / 2)]], BALANCED))


def together(judgements: Sequence[Judgement]) -> Judgement:
    """Judgements of different pages as one."""
    first = np.cumsum([0, *(int(one.page.max(initial=-1)) + 1 for one in judgements)])
    shifted = [
        replace(one, page=one.page + start)
        for one, start in zip(judgements, first[:-1], strict=True)
    ]
    columns = (field.name for field in fields(Judgement))
    return Judgement(*(np.concatenate([getattr(one, name) for one in shifted]) for name in columns))


def potentials(member: Member, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
    """Log potentials [n, s, 2] and [n, s - 1, 2, 2] of a batch, and the log odds of kinds.

    Pictures are looked at where there are some.
    """
    device = batch.blocks.device
    size = batch.blocks.shape[1]
    looks = []
    for picture in batch.pictures:
        if picture is None:
            looks.append(batch.blocks.new_zeros(size, member.eyes.settings.looks))
            continue
        pixels = torch.from_numpy(picture.pixels).to(device).permute(2, 0, 1)[None]
        places = (torch.from_numpy(table).to(device) for table in (picture.boxes, picture.seen))
        seen = member.eyes(pixels, *places)
        looks.append(torch.nn.functional.pad(seen, (0, 0, 0, size - len(seen))))
    found: tuple[Tensor, Tensor, Tensor] = member.page(
        batch.blocks, batch.edges, torch.stack(looks), batch.real, batch.policy
    )
    return found


def mean_potentials(members: Sequence[Member], batch: Batch) -> tuple[Tensor, Tensor]:
    """The members' log potentials of a batch, [n, s, 2] and [n, s - 1, 2, 2], on average."""
    said = [potentials(member, batch)[:2] for member in members]
    unary, pairwise = (torch.stack(part).mean(dim=0) for part in zip(*said, strict=True))
    return unary, pairwise


@torch.no_grad()
def judge(
    member: Member, samples: Sequence[Sample], pairwise_weight: float, device: str
) -> Judgement:
    """What a member says of samples, in the order of their lengths, without their pictures."""
    member.eval()
    ordered = sorted(samples, key=len)
    probability, kind = [np.zeros(0)], [np.zeros(0, np.int64)]
    for start in range(0, len(ordered), _BATCH):
        some = ordered[start : start + _BATCH]
        batch = collate(some, [None] * len(some), member.page.policies, device)
        unary, pairwise, kinds = potentials(member, batch)
        kind.append(kinds.argmax(dim=1).cpu().numpy())
        content = marginals(unary.float(), pairwise.float() * pairwise_weight, batch.real)
        probability.append(content[batch.real].cpu().numpy().astype(np.float64))
    sizes = list(map(len, ordered))
    return Judgement(
        probability=np.concatenate(probability),
        leaves=np.concatenate([np.zeros((0, 2), np.int64), *(one.leaves for one in ordered)]),
        words=np.concatenate([np.zeros(0), *(one.words for one in ordered)]),
        content=np.concatenate([np.zeros(0, bool), *(one.labels == 1 for one in ordered)]),
        page=np.repeat(np.arange(len(ordered)), sizes),
        policy=np.repeat(np.array([one.policy for one in ordered], np.int64), sizes),
        kind=np.repeat(np.concatenate(kind), sizes),
        gold_kind=np.repeat(np.array([one.kind for one in ordered], np.int64), sizes),
    )
