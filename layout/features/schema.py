"""Feature sets by name and version; a model fits exactly the set that it was trained on."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Float32 = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class FeatureSet:
    """The names of the columns of one matrix, in order."""

    name: str
    version: int
    columns: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def digest(self) -> str:
        """Changes whenever a column is added, moved, renamed or computed anew (`version`)."""
        text = f"{self.name}/{self.version}/" + ",".join(self.columns)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """What a model sees of the b blocks of a page."""

    blocks: Float32  # [b, len(BLOCK)]
    edges: Float32  # [b - 1, len(EDGE)], none for a page without blocks


def standardise(value: npt.NDArray[np.floating], mean: float, deviation: float) -> Float32:
    """(value - mean) / deviation."""
    return ((value - mean) / deviation).astype(np.float32)


def signed(flag: npt.NDArray[np.bool_]) -> Float32:
    """Booleans as -1 and +1."""
    return np.where(flag, 1.0, -1.0).astype(np.float32)
