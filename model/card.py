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
# What counts as main content: CleanEval's rules, until the web has a model of its own.
POLICIES = {"web": "cleaneval-531", "cleaneval": "cleaneval-531"}
DEFAULT = POLICIES["web"]


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
    "pagesight": Recipe(BLOCK, True, float("nan"), 1.0),
    "web2text": Recipe(WEB2TEXT_BLOCK, False, 0.0, 0.1),
}


@dataclass(frozen=True, slots=True)
class Card:
    """How a model was trained, what it fits and what was measured.

    recipe: one of RECIPES.
    block_digest, edge_digest: of the feature sets that it was trained on.
    pairwise_weight: lambda of the paper's section 3.5.
    weights_sha256, vision_sha256: of the networks' files, "" for a model without eyes.
    slope: what calibrates its probabilities.
    """

    name: str
    dataset: str
    split: str
    block_digest: str
    edge_digest: str
    pairwise_weight: float
    weights_sha256: str
    recipe: str = "pagesight"
    vision_sha256: str = ""
    slope: float = 1.0
    settings: dict[str, Any] = field(default_factory=dict)
    figures: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.recipe not in RECIPES:
            raise ValueError(f"recipe {self.recipe!r}: there are {', '.join(RECIPES)}")
        if not (isinstance(self.pairwise_weight, int | float) and isfinite(self.pairwise_weight)):
            raise ValueError(f"pairwise_weight is {self.pairwise_weight!r}, no number")
        Calibration(self.slope)

    @property
    def calibration(self) -> Calibration:
        """What makes its probabilities mean what they say."""
        return Calibration(self.slope)

    def require_features(self) -> None:
        """Raise ModelError if this version computes other features than the model has learned."""
        digests = RECIPES[self.recipe].block_set.digest, EDGE.digest
        if (self.block_digest, self.edge_digest) != digests:
            raise ModelError(f"{self.name}: trained on other features than this version computes")

    def write(self, path: Path) -> None:
        """Write the card as JSON."""
        write_whole(path, (json.dumps(asdict(self), indent=2) + "\n").encode())


def read_card(name: str | os.PathLike[str]) -> Card:
    """The card of a packaged model, or of one's own by the path of its file. Raises ModelError."""
    content = read_file(name, ".json")
    try:
        return Card(**json.loads(content))
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise ModelError(f"{name}: damaged model card: {error}") from error


def read_file(name: str | os.PathLike[str], suffix: str) -> bytes:
    """A file of a model, `.json`, `.onnx` or `.vision.onnx`; `name` as in `read_card`.

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
