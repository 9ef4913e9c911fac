"""What a model is: the card beside its weights, and where models lie."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

from ..layout.features import BLOCK, EDGE, WEB2TEXT_BLOCK, FeatureSet
from ..render.errors import ModelError
from ..render.files import write_whole
from .calibration import Calibration

WEIGHTS = Path(__file__).parent / "weights"
DEFAULT = "web"
# The probability that a block must exceed where no kind of error is worse than the other.
BALANCED = 0.5


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a model sees of a block, and what its chain runs over: leaves, or runs of them.

    unknown: the value of a feature that the network is to do without.
    pairwise_weight: lambda of the paper's section 3.5, unless asked otherwise.
    """

    block_set: FeatureSet
    over_runs: bool
    unknown: float
    pairwise_weight: float


# "web2text" follows the paper; the other departs from it where that pays.
RECIPES = {
    "pagesight": Recipe(BLOCK, True, float("nan"), 0.1),
    "web2text": Recipe(WEB2TEXT_BLOCK, False, 0.0, 0.1),
}


@dataclass(frozen=True, slots=True)
class Policy:
    """What counts as main content, as one data set taught it.

    sources: the data sets that taught it, each with its split.
    slope: what calibrates its probabilities.
    precision, recall: the probability that a block must exceed where adding, or missing, is worse:
    on held-out pages these halve the words that are added, or missed.
    """

    sources: tuple[tuple[str, str], ...] = ()
    slope: float = 1.0
    precision: float = 0.75
    recall: float = 0.25

    def __post_init__(self) -> None:
        Calibration(self.slope)
        if not 0 <= self.recall <= BALANCED <= self.precision <= 1:
            raise ValueError(f"thresholds {self.recall!r} and {self.precision!r} are in no order")

    @property
    def calibration(self) -> Calibration:
        """What makes its probabilities mean what they say."""
        return Calibration(self.slope)

    def threshold(self, favour: str) -> float:
        """The probability that a block must exceed; `favour` is one of FAVOURS."""
        return {"precision": self.precision, "": BALANCED, "recall": self.recall}[favour]


FAVOURS = ("precision", "", "recall")


@dataclass(frozen=True, slots=True)
class Card:
    """How a model was trained, what it fits and what was measured.

    policies: by name; the first is meant where nobody asks for one, the others follow in the
    order of the network's heads.
    recipe: one of RECIPES.
    block_digest, edge_digest: of the feature sets that it was trained on.
    pairwise_weight: lambda of the paper's section 3.5.
    weights_sha256, vision_sha256, reasons_sha256: of the networks' files, "" for none: of eyes, and
    of the one member that explains for all.
    """

    name: str
    policies: dict[str, Policy]
    block_digest: str
    edge_digest: str
    pairwise_weight: float
    weights_sha256: str
    recipe: str = "pagesight"
    vision_sha256: str = ""
    reasons_sha256: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    figures: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.recipe not in RECIPES:
            raise ValueError(f"recipe {self.recipe!r}: there are {', '.join(RECIPES)}")
        if not (isinstance(self.pairwise_weight, int | float) and isfinite(self.pairwise_weight)):
            raise ValueError(f"pairwise_weight is {self.pairwise_weight!r}, no number")
        if not self.policies:
            raise ValueError("a model without a policy")

    @property
    def home(self) -> tuple[str, str]:
        """The first data set that taught its first policy, and the split."""
        sources = self.policies[self.policy()].sources
        return sources[0] if sources else ("", "")

    def policy(self, name: str = "") -> str:
        """The name of one policy, of the first by default. Raises ModelError."""
        if name and name not in self.policies:
            known = ", ".join(self.policies)
            raise ModelError(f"{self.name}: no policy {name!r} in this model; there is {known}")
        return name or next(iter(self.policies))

    def knows(self, dataset: str, split: str) -> bool:
        """Whether it was trained on pages of a data set, but not for this split of it."""
        return any(name == dataset and part != split for name, part in self.sources())

    def sources(self) -> list[tuple[str, str]]:
        """The data sets that it was trained on, with their splits."""
        return [source for policy in self.policies.values() for source in policy.sources]

    def require_features(self) -> None:
        """Raise ModelError if this version computes other features than the model has learned."""
        digests = RECIPES[self.recipe].block_set.digest, EDGE.digest
        if (self.block_digest, self.edge_digest) != digests:
            raise ModelError(f"{self.name}: trained on other features than this version computes")

    def write(self, path: Path) -> None:
        """Write the card as JSON."""
        write_whole(path, (json.dumps(asdict(self), indent=2) + "\n").encode())


# What a file raises that is no card: `json`, the classes above, and values of other types.
_DAMAGED = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)


def _read_policy(facts: dict[str, Any]) -> Policy:
    sources = tuple((str(dataset), str(split)) for dataset, split in facts.pop("sources"))
    return Policy(sources, **facts)


def read_card(name: str | os.PathLike[str]) -> Card:
    """The card of a packaged model, or of one's own by the path of its file. Raises ModelError."""
    content = read_file(name, ".json")
    try:
        facts = json.loads(content)
        policies = {key: _read_policy(policy) for key, policy in facts.pop("policies").items()}
        return Card(policies=policies, **facts)
    except _DAMAGED as error:
        raise ModelError(f"{name}: damaged model card: {error}") from error


def read_file(name: str | os.PathLike[str], suffix: str) -> bytes:
    """A file of a model, such as `.json` or `.onnx`; `name` as in `read_card`.

    Raises ModelError.
    """
    path = Path(name)
    if path.suffix not in {".onnx", ".json"}:
        path = WEIGHTS / f"{name}.onnx"
    try:
        return path.with_suffix(suffix).read_bytes()
    except FileNotFoundError as error:
        raise ModelError(f"{name}: no such model: {error.filename} is missing") from error
    except OSError as error:
        raise ModelError(f"{name}: damaged model: {error}") from error


def packaged() -> list[str]:
    """The names of the models in the package."""
    return sorted(path.stem for path in WEIGHTS.glob("*.json"))
