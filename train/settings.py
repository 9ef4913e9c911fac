"""How a training is set up, and what it tells on its way."""

from __future__ import annotations

from dataclasses import dataclass

# joint: the likelihood of whole label sequences. separate: states and edges each for themselves, as
# in Web2Text, section 3.5.
CHAINS = ("joint", "separate")


@dataclass(frozen=True, slots=True)
class FitSettings:
    """How long and on what to train.

    members: how many networks are averaged; each holds out another of as many folds.
    epochs: passes over the pages; over few pages, as many as make 25 steps.
    batch: pages in a step. window: states taken of a longer page, at a random place.
    average: decay of the running mean of the weights, which is what is kept.
    sight: share of the pages of an epoch that are shown with their picture.
    chain: one of CHAINS. pairwise_weight: lambda of Web2Text, section 3.5.
    Raises ValueError for a chain that there is not, and for less than two members.
    """

    seed: int = 0
    members: int = 5
    epochs: int = 12
    batch: int = 8
    window: int = 400
    learning_rate: float = 2e-3
    weight_decay: float = 1e-2
    average: float = 0.99
    sight: float = 0.25
    chain: str = "separate"
    pairwise_weight: float = 0.1
    device: str = "cpu"

    def __post_init__(self) -> None:
        if self.chain not in CHAINS:
            raise ValueError(f"chain {self.chain!r}: there are {', '.join(CHAINS)}")
        if self.members < 2:
            raise ValueError("two members are the fewest: each is judged by what it held out")


@dataclass(frozen=True, slots=True)
class Epoch:
    """A member after an epoch, from 1: its training loss, and what the held-out pages say.

    f1: of the words in the kept blocks, a mean over pages. nll: of the blocks.
    """

    epoch: int
    loss: float
    f1: float
    nll: float
