"""What an interrupted training goes on from: one file, written whole or not at all."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from ..render.files import write_whole


def random_states(random: np.random.Generator) -> dict[str, Any]:
    """Where all random numbers stand."""
    return {
        "numpy": random.bit_generator.state,
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all(),
    }


def restore_random(states: dict[str, Any], random: np.random.Generator) -> None:
    """Go on with the random numbers where `random_states` was called."""
    random.bit_generator.state = states["numpy"]
    torch.set_rng_state(states["torch"])
    torch.cuda.set_rng_state_all(states["cuda"])


def digest_of(contents: Iterable[npt.NDArray[Any] | bytes]) -> str:
    """Changes whenever one of these does: what a training learns from is part of its facts."""
    digest = hashlib.sha256()
    for content in contents:
        digest.update(content if isinstance(content, bytes) else content.tobytes())
    return digest.hexdigest()


def save_checkpoint(path: Path, facts: dict[str, Any], state: dict[str, Any]) -> None:
    """Write tensors and plain values; `facts` tell what training they belong to."""
    buffer = io.BytesIO()
    torch.save({"facts": facts, "state": state}, buffer)
    write_whole(path, buffer.getvalue())


def load_checkpoint(path: Path | None, facts: dict[str, Any]) -> dict[str, Any]:
    """The state of a checkpoint of the same training, else nothing."""
    if path is None or not path.exists():
        return {}
    saved = torch.load(path, map_location="cpu", weights_only=True)
    return saved["state"] if saved["facts"] == facts else {}
