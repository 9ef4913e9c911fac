"""Train the networks of Web2Text on labelled pages: one linear script.

As in the paper's section 3.4 and its code: random patches of neighbouring blocks, Adam, the best
validation score kept for each network apart. Give it each page twice, rendered and static, and the
same weights serve both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.functional import nll_loss

from ..layout.features import EDGE
from ..model.web2text import Web2TextNetwork, Web2TextSettings
from ..render.errors import DatasetError
from .checkpoint import (
    digest_of,
    load_checkpoint,
    random_states,
    restore_random,
    save_checkpoint,
)
from .examples import Example

UNKNOWN = -100  # the label that torch's losses pass over


@dataclass(frozen=True, slots=True)
class Web2TextFitSettings:
    """How long and on what to train; the defaults are the paper's.

    patch: blocks in a patch; a patch has one edge less. Pages of `shortest` blocks or fewer are
    passed over.
    """

    seed: int = 0
    steps: int = 5_000
    batch: int = 128
    patch: int = 9
    shortest: int = 10
    learning_rate: float = 1e-3
    weight_decay: float = 1e-4
    validate_every: int = 100
    device: str = "cpu"


@dataclass(slots=True)
class State:
    """Where a training stands; what a checkpoint holds."""

    step: int
    best_unary: float
    best_pairwise: float
    best: dict[str, Tensor]


def fit_web2text(
    train: Sequence[Example],
    validation: Sequence[Example],
    network_settings: Web2TextSettings,
    settings: Web2TextFitSettings,
    checkpoint: Path | None = None,
    on_step: Callable[[], None] = lambda: None,
) -> Web2TextNetwork:
    """Train on the examples; returns the network with its best weights, for use on the CPU.

    `on_step` is called once a step, those of a checkpoint included. With a `checkpoint` file an
    interrupted training goes on where it was last validated, to the same weights as an
    undisturbed one.
    """
    torch.set_num_threads(1)  # the networks are small: threads cost more than they bring
    torch.manual_seed(settings.seed)
    random = np.random.default_rng(settings.seed)
    patches = _Patches(train, settings)
    sizes = (patches.blocks.shape[1], patches.edges.shape[1])
    network = Web2TextNetwork(*sizes, network_settings).to(settings.device)
    optimizer = torch.optim.Adam(
        network.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay
    )
    state = State(0, -1.0, -1.0, {key: t.clone() for key, t in network.state_dict().items()})
    facts = {
        "settings": asdict(settings),
        "network": asdict(network_settings),
        "pages": [digest_of(_contents(side)) for side in (train, validation)],
    }
    if saved := load_checkpoint(checkpoint, facts):
        network.load_state_dict(saved["network"])
        optimizer.load_state_dict(saved["optimizer"])
        restore_random(saved["random"], random)
        state = State(**saved["state"])
    for _ in range(state.step):
        on_step()
    while state.step < settings.steps:
        state.step += 1
        network.train()
        loss = _loss(network, *patches.draw(random))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        if state.step % settings.validate_every == 0 or state.step == settings.steps:
            _keep_best(network, validation, state, settings.device)
            if checkpoint is not None:
                now = {
                    "network": network.state_dict(),
                    "optimizer": optimizer.state_dict(),
                    "random": random_states(random),
                    "state": asdict(state),
                }
                save_checkpoint(checkpoint, facts, now)
        on_step()
    network.load_state_dict(state.best)
    return network.cpu().eval()


def _contents(examples: Sequence[Example]) -> Iterator[npt.NDArray[Any]]:
    """All that a training reads of pages."""
    for example in examples:
        features = example.features
        yield from (features.blocks, features.edges, example.content, example.known)


class _Patches:
    """Draws patches: a page, then a place in it, both uniformly."""

    def __init__(self, examples: Sequence[Example], settings: Web2TextFitSettings) -> None:
        least = max(settings.shortest + 1, settings.patch)
        kept = [example for example in examples if len(example) >= least]
        if not kept:
            raise DatasetError(f"no training page has {least} blocks or more")
        device, self.settings = settings.device, settings
        edge = np.zeros((1, len(EDGE)), np.float32)  # none leads from a page to the next
        self.blocks = torch.tensor(np.concatenate([e.features.blocks for e in kept])).to(device)
        self.edges = torch.tensor(
            np.concatenate([part for e in kept for part in (e.features.edges, edge)])
        ).to(device)
        labels = np.concatenate([np.where(e.known, e.content, UNKNOWN) for e in kept])
        pairs = np.where(
            (labels[:-1] < 0) | (labels[1:] < 0), UNKNOWN, labels[:-1] * 2 + labels[1:]
        )
        self.labels = torch.tensor(labels, dtype=torch.int64).to(device)
        self.pairs = torch.tensor(np.append(pairs, UNKNOWN), dtype=torch.int64).to(device)
        self.lengths = np.array([len(example) for example in kept])
        self.starts = np.cumsum(self.lengths) - self.lengths

    def draw(self, random: np.random.Generator) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Blocks [n, p, F], edges [n, p - 1, E], labels [n, p] and pairs [n, p - 1]."""
        settings = self.settings
        page = random.integers(0, len(self.starts), settings.batch)
        room = self.lengths[page] - settings.patch + 1
        first = self.starts[page] + (random.random(settings.batch) * room).astype(np.int64)
        index = torch.tensor(first[:, None] + np.arange(settings.patch)).to(self.blocks.device)
        edges = index[:, :-1]
        return self.blocks[index], self.edges[edges], self.labels[index], self.pairs[edges]


def _loss(
    network: Web2TextNetwork, blocks: Tensor, edges: Tensor, labels: Tensor, pairs: Tensor
) -> Tensor:
    """The two networks share no weights: their losses add up and do not meet."""
    unary, pairwise = network(blocks, edges)
    return nll_loss(unary.flatten(0, 1), labels.flatten(), ignore_index=UNKNOWN) + nll_loss(
        pairwise.flatten(0, 1), pairs.flatten(), ignore_index=UNKNOWN
    )


def _keep_best(
    network: Web2TextNetwork, validation: Sequence[Example], state: State, device: str
) -> None:
    """Keep the unary network by the F1 of blocks, the pairwise one by the accuracy of edges."""
    f1, accuracy = _validate(network.eval(), validation, device)
    weights = network.state_dict()
    better = {"unary": f1 > state.best_unary, "pairwise": accuracy > state.best_pairwise}
    for key, tensor in weights.items():
        if better[key.partition(".")[0]]:
            state.best[key] = tensor.clone()
    state.best_unary = max(state.best_unary, f1)
    state.best_pairwise = max(state.best_pairwise, accuracy)


@torch.no_grad()
def _validate(
    network: Web2TextNetwork, examples: Sequence[Example], device: str
) -> tuple[float, float]:
    """F1 of blocks and accuracy of edges, each network alone, pooled over the pages."""
    hits = given = wanted = right = edges = 0
    for example in examples:
        if len(example) < 2:
            continue
        unary, pairwise = network(
            torch.tensor(example.features.blocks)[None].to(device),
            torch.tensor(example.features.edges)[None].to(device),
        )
        known, gold = example.known, example.known & example.content
        predicted = known & (unary[0].argmax(1).cpu().numpy() == 1)
        pairs = pairwise[0].argmax(1).cpu().numpy()
        sure = known[:-1] & known[1:]
        hits += int((predicted & gold).sum())
        given, wanted = given + int(predicted.sum()), wanted + int(gold.sum())
        right += int((sure & (pairs == gold[:-1] * 2 + gold[1:])).sum())
        edges += int(sure.sum())
    return 2 * hits / max(given + wanted, 1), right / max(edges, 1)
