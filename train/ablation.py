"""What each part of a model is worth: the same training without it, on the same test pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch

from ..layout.features import BLOCK
from ..model.chain import viterbi
from ..model.networks import Member, NetworkSettings
from ..model.vision import VisionSettings
from .batches import collate
from .fit import fit
from .judge import mean_potentials
from .losses import marginals
from .samples import Sample
from .settings import FitSettings

Int64 = npt.NDArray[np.int64]
Pages = Sequence[Sequence[Sample]]

STATIC, RENDERED = 0, -1  # places of a page's forms


@dataclass(frozen=True, slots=True)
class Variant:
    """A training without pictures: which features and forms of pages it has, and its chain."""

    hidden: str = "none."  # columns whose names start so are zero
    static_only: bool = False
    chain: str = "separate"


@dataclass(frozen=True, slots=True)
class View:
    """A way to test what was trained: the form of pages and the decoding."""

    variant: str
    form: int
    pairwise_weight: float = 0.1
    best_sequence: bool = False


VARIANTS = {
    "dom": Variant(hidden="geometry.", static_only=True),
    "geometry": Variant(),
    "joint": Variant(chain="joint"),
}
VIEWS = {
    "text and DOM": View("dom", STATIC),
    "+ geometry": View("geometry", RENDERED),
    "+ geometry, tested without": View("geometry", STATIC),
    "no chain": View("geometry", RENDERED, pairwise_weight=0.0),
    "chain trained apart, lambda 1": View("geometry", RENDERED, pairwise_weight=1.0),
    "joint chain": View("joint", RENDERED, pairwise_weight=1.0),
    "Viterbi labels": View("geometry", RENDERED, best_sequence=True),
}


def train_variant(pages: Pages, variant: Variant, settings: FitSettings) -> list[Member]:
    """The members of one training."""
    shown = [_forms(page, variant) for page in pages]
    chosen = replace(settings, sight=0, chain=variant.chain)
    trained = fit(shown, NetworkSettings.for_pages(len(pages)), VisionSettings(), chosen)
    return [one.member for one in trained]


@torch.no_grad()
def count_hits(members: Sequence[Member], pages: Pages, view: View) -> Int64:
    """Of the leaves of each page: kept ones that are content, kept ones, content, [pages, 3]."""
    variant = VARIANTS[view.variant]
    rows = []
    for page in pages:
        sample = _hide(page[view.form], variant.hidden)
        batch = collate([sample], [None], 1, "cpu")
        unary, pairwise = mean_potentials(members, batch)
        pairwise = pairwise * view.pairwise_weight
        if view.best_sequence:
            kept = viterbi(unary[0].numpy(), pairwise[0].numpy()) == 1
        else:
            kept = marginals(unary, pairwise, batch.real)[0].numpy() > 0.5
        rows.append(hits(sample, kept))
    return np.array(rows, np.int64)


def hits(sample: Sample, kept: npt.NDArray[np.bool_]) -> tuple[int, int, int]:
    """Of a page's leaves: kept ones that are content, kept ones, content; `kept` [s] of states."""
    found = sample.leaves[kept].sum(axis=0)
    return int(found[1]), int(found.sum()), int(sample.leaves[:, 1].sum())


def _forms(page: Iterable[Sample], variant: Variant) -> list[Sample]:
    hidden = [_hide(form, variant.hidden) for form in page]
    return hidden[:1] if variant.static_only else hidden


def _hide(sample: Sample, prefix: str) -> Sample:
    blocks = sample.blocks.copy()
    blocks[:, [column.startswith(prefix) for column in BLOCK.columns]] = 0
    return replace(sample, blocks=blocks)
